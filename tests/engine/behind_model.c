#include "behind_model.h"
#include "file/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "split_access.h"

/* One rank's part of a call: runs in the file, one behind the other in memory. */
typedef struct strip {
    int64_t offset, run, stride, count;
} strip;

typedef struct actor {
    behind_play *play;
    weir_file *f;
    int rank;
    rng r; /* the same on all ranks */
    char *memory;
} actor;

static bool keeps_model(const actor *a)
{
    return a->rank == 0 || !a->play->shared;
}

static int64_t strip_bytes(const strip *s)
{
    return s->run * s->count;
}

static strip random_strip(rng *r)
{
    strip s = {.offset = rng_within(r, 0, BEHIND_BYTES - 1)};
    s.run = rng_chance(r, 70) ? rng_within(r, 1, 300) : rng_within(r, 1, 300000);
    s.stride = s.run + (rng_chance(r, 30) ? 0 : rng_within(r, 1, 100000));
    int64_t fitting = (BEHIND_BYTES - s.offset) / s.stride, most = rng_within(r, 0, 200);
    s.count = fitting < most ? fitting : most;
    return s;
}

static char byte_of(uint64_t key, int rank, int64_t i)
{
    return (char)(key + (uint64_t)rank * 41 + (uint64_t)i * 7);
}

static int access_as(actor *a, int form, bool write, const weir_pattern *where,
                     const weir_pattern *memory)
{
    weir_request *request = NULL;
    int code;
    if (form == WR_BLOCKING)
        return (write ? weir_file_write_all(a->f, where, memory, a->memory, NULL, NULL)
                      : weir_file_read_all(a->f, where, memory, a->memory, NULL, NULL));
    if (form == WR_SPLIT)
        code = begin_all(a->f, wr_request_of(write ? WR_WRITE : WR_READ, where, memory, a->memory),
                         &request);
    else
        code = write ? weir_file_write_all(a->f, where, memory, a->memory, NULL, &request)
                     : weir_file_read_all(a->f, where, memory, a->memory, NULL, &request);
    CHECK_EQUAL(code, 0);
    return weir_request_wait(&request, NULL);
}

static void check_read(const actor *a, const strip *s)
{
    const behind_play *p = a->play;
    for (int64_t i = 0; i < s->count; i++) {
        int64_t offset = s->offset + i * s->stride, there = p->size - offset;
        there = there < 0 ? 0 : there < s->run ? there : s->run;
        CHECK(!memcmp(a->memory + i * s->run, p->model + offset, (size_t)there));
    }
}

/* A collective access; every rank knows what all do. */
static void transfer(actor *a, bool write)
{
    behind_play *p = a->play;
    strip strips[BEHIND_RANKS];
    weir_pattern *where, *memory;
    uint64_t key = rng_next(&a->r);
    int form = (int)rng_within(&a->r, WR_BLOCKING, WR_NONBLOCKING);
    bool same = rng_chance(&a->r, 20);
    for (int i = 0; i < p->ranks; i++)
        strips[i] = same && i ? strips[0] : random_strip(&a->r);
    const strip *own = &strips[a->rank];
    CHECK(!weir_pattern_strided(own->offset, own->count, own->run, own->stride, &where));
    CHECK(!weir_pattern_contiguous(0, strip_bytes(own), &memory));
    a->memory = realloc(a->memory, (size_t)strip_bytes(own) + 1);
    CHECK(a->memory);
    for (int64_t i = 0; write && i < strip_bytes(own); i++)
        a->memory[i] = byte_of(key, a->rank, i);
    CHECK_EQUAL(access_as(a, form, write, where, memory), 0);
    for (int k = 0; write && keeps_model(a) && k < p->ranks; k++)
        for (int64_t i = 0; i < strip_bytes(&strips[k]); i++) {
            int64_t at =
                strips[k].offset + i / strips[k].run * strips[k].stride + i % strips[k].run;
            p->model[at] = byte_of(key, k, i);
            p->size = at >= p->size ? at + 1 : p->size;
        }
    if (!write)
        check_read(a, own);
    weir_pattern_free(where);
    weir_pattern_free(memory);
}

static void check_file(const behind_play *p)
{
    static char bytes[BEHIND_BYTES + 1];
    CHECK_EQUAL(p->get(p, bytes, sizeof bytes), p->size);
    CHECK(!memcmp(bytes, p->model, (size_t)p->size));
}

static void resize(actor *a)
{
    behind_play *p = a->play;
    int64_t size = rng_within(&a->r, 0, BEHIND_BYTES);
    bool grow = rng_chance(&a->r, 50);
    CHECK_EQUAL(grow ? wr_file_preallocate(a->f, size) : weir_file_set_size(a->f, size), 0);
    if (!keeps_model(a))
        return;
    if (!grow && size < p->size)
        memset(p->model + size, 0, (size_t)(p->size - size));
    p->size = grow && size < p->size ? p->size : size;
}

/* A meeting: the model is as all left it. */
static void meet(const actor *a)
{
    CHECK(!wr_agree(a->f->group.handle.world->transport, 0, 0));
}

static void check_budget(const actor *a)
{
    wr_budget *b = &a->f->group.handle.write_behind.budget;
    CHECK(b->used >= 0 && b->peak <= b->limit);
}

static void change_hints(actor *a)
{
    char hints[sizeof a->play->hints + 100];
    static const char *const behind[] = {"disable", "enable", "always"};
    snprintf(hints, sizeof hints, "%s;aggregators=%lld;write_behind=%s", a->play->hints,
             (long long)rng_within(&a->r, 0, 4), behind[rng_within(&a->r, 0, 2)]);
    check_budget(a);
    CHECK_EQUAL(wr_file_set_hints(a->f, hints, 0), 0);
    CHECK_EQUAL(a->f->group.handle.write_behind.budget.used, 0);
}

static void step(actor *a)
{
    int64_t what = rng_within(&a->r, 0, 99);
    if (what < 60) {
        transfer(a, true);
    } else if (what < 80) {
        transfer(a, false);
    } else if (what < 90) {
        CHECK_EQUAL(weir_file_sync(a->f), 0);
        CHECK_EQUAL(a->f->group.handle.write_behind.budget.used, 0);
        meet(a);
        if (a->rank == 0)
            check_file(a->play);
    } else if (what < 95) {
        resize(a);
    } else {
        change_hints(a);
    }
    check_budget(a);
    meet(a);
}

void behind_make(rng *r, behind_play *p)
{
    static const int64_t budgets[] = {0, 5000, 100000, 2 << 20, 64 << 20};
    p->seed = rng_next(r);
    p->steps = rng_within(r, 1, 25);
    p->size = 0;
    memset(p->model, 0, sizeof p->model);
    snprintf(p->hints, sizeof p->hints,
             "storage=%s;realms=persistent;write_behind=always;write_behind_memory=%lld;"
             "aggregators=%lld;realm_block=%lld;realm_align=%lld;window=%lld;exchange=%s;"
             "overlap=%s",
             p->storage, (long long)budgets[rng_within(r, 0, 4)], (long long)rng_within(r, 0, 6),
             (long long)(rng_chance(r, 50) ? rng_within(r, 1000, 3 << 20) : 0),
             (long long)(rng_chance(r, 30) ? 2 << 20 : 1), (long long)rng_within(r, 20000, 2 << 20),
             rng_chance(r, 30) ? "p2p" : "auto", rng_chance(r, 50) ? "auto" : "all");
}

void behind_run(behind_play *p, wr_world *w)
{
    actor a = {.play = p, .rank = w->transport->rank, .r = {p->seed}};
    const int mode = WEIR_READ | WEIR_WRITE | WEIR_CREATE;
    CHECK(!wr_file_open(w, p->path, mode, p->hints, &a.f));
    for (int64_t i = 0; i < p->steps; i++)
        step(&a);
    CHECK_EQUAL(weir_file_close(a.f), 0);
    CHECK(!wr_agree(w->transport, 0, 0));
    if (a.rank == 0)
        check_file(p);
    free(a.memory);
}
