#include "scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "split_access.h"

/* The pattern moved so that it starts at or after byte 0. */
static modelled random_where(rng *r, bool write)
{
    modelled m = random_pattern(r, (int)rng_within(r, 1, 4), true), moved = {0};
    if (rng_chance(r, 15) || !weir_pattern_is_ordered(m.pattern) ||
        (write && !weir_pattern_is_disjoint(m.pattern))) {
        modelled_free(&m);
        CHECK(!weir_pattern_contiguous(0, 0, &m.pattern));
        m.offset = malloc(8);
    }
    int64_t lo, hi, by;
    weir_pattern_bounds(m.pattern, &lo, &hi);
    by = rng_within(r, 0, 300) - (lo < 0 ? lo : 0);
    moved.offset = malloc((size_t)(m.bytes + 1) * sizeof *moved.offset);
    moved.bytes = m.bytes;
    CHECK(!weir_pattern_concat(1, &by, (const weir_pattern *[]){m.pattern}, &moved.pattern));
    for (int64_t i = 0; i < m.bytes; i++)
        moved.offset[i] = m.offset[i] + by;
    modelled_free(&m);
    return moved;
}

/* Ranks side by side in one stride, or one after the other, up or down, with holes or without, and
 * now and then into each other: where nodes can tell that they are apart, and where they cannot.
 * The same numbers for all ranks. */
static modelled regular_where(rng r, int rank, int ranks)
{
    modelled m = {0};
    const bool beside = rng_chance(&r, 60), down = rng_chance(&r, 30);
    const int64_t run = rng_within(&r, 1, 40), count = rng_within(&r, 1, 12);
    const int64_t gap = rng_chance(&r, 50) ? rng_within(&r, 0, 20) : 0;
    const int64_t own = rng_chance(&r, 25) ? rng_within(&r, 1, run) : run + gap;
    const int64_t stride = beside ? ranks * own + rng_within(&r, run, 90) : run + gap;
    const int64_t next = beside ? own : (count - 1) * stride + own;
    int64_t at = rng_within(&r, 0, 300) + next * (down ? ranks - 1 - rank : rank);
    const bool wraps = beside && rng_chance(&r, 30); /* the last ones are a stride lower */
    if (wraps && rank >= ranks / 2)
        at += (ranks - 1) / 2 * stride;
    uint64_t idle = rng_next(&r);
    m.bytes = idle % 3 == 0 && idle >> (8 + rank) & 1 ? 0 : run * count;
    m.offset = malloc((size_t)(m.bytes + 1) * sizeof *m.offset);
    CHECK(m.offset);
    if (m.bytes)
        CHECK(!weir_pattern_strided(at, count, run, stride, &m.pattern));
    else
        CHECK(!weir_pattern_contiguous(0, 0, &m.pattern));
    for (int64_t i = 0; i < m.bytes; i++)
        m.offset[i] = at + i / run * stride + i % run;
    return m;
}

/* Memory of as many bytes: contiguous, in regular pieces, or in pieces of all sizes out of order.
 * */
static void random_memory(rng *r, part *p)
{
    int64_t n = p->where.bytes, at = rng_within(r, 0, 50), offset[64], length[64];
    int pieces = 0;
    int64_t regular = rng_chance(r, 30) ? rng_within(r, 1, 9) : 0;
    if (regular && n % regular == 0 && n / regular * (regular + 3) < MEMORY - 100) {
        CHECK(!weir_pattern_strided(at, n / regular, regular, regular + 3, &p->memory));
        for (int64_t i = 0; i < n; i++)
            p->place[i] = at + i / regular * (regular + 3) + i % regular;
        return;
    }
    int64_t left = n, top = rng_chance(r, 50) ? 1 : 60;
    for (; left > 0; pieces++, at += length[pieces - 1] + rng_within(r, 0, 20)) {
        length[pieces] = pieces == top ? left : rng_within(r, 1, left);
        offset[pieces] = at;
        left -= length[pieces];
    }
    for (int i = pieces - 1; i > 0; i--) { /* out of order */
        int j = (int)rng_within(r, 0, i);
        int64_t o = offset[i], l = length[i];
        offset[i] = offset[j], length[i] = length[j];
        offset[j] = o, length[j] = l;
    }
    CHECK(!weir_pattern_runs(pieces, offset, length, &p->memory));
    for (int64_t i = 0, k = 0; i < pieces; i++)
        for (int64_t b = 0; b < length[i]; b++)
            p->place[k++] = offset[i] + b;
}

static void fill(rng *r, char *bytes, int64_t count)
{
    for (int64_t i = 0; i + 8 <= count; i += 8) {
        uint64_t x = rng_next(r);
        memcpy(bytes + i, &x, 8);
    }
}

/* What the call does to the file and to each rank's memory. */
static void model_call(scene *s, call *c)
{
    int64_t size = s->size;
    for (int i = 0; i < s->ranks; i++) {
        part *p = &c->part[i];
        memcpy(p->wanted, p->before, MEMORY);
        p->wanted_count = p->where.bytes;
        for (int64_t k = 0; k < p->where.bytes; k++) {
            int64_t offset = p->where.offset[k];
            CHECK(offset < FILE_BYTES);
            if (c->write) {
                s->file[offset] = p->before[p->place[k]];
                s->size = offset >= s->size ? offset + 1 : s->size;
            } else if (offset < size) {
                p->wanted[p->place[k]] = s->file[offset];
            } else {
                c->past_end = true;
                p->wanted_count = p->wanted_count < k ? p->wanted_count : k;
            }
        }
    }
}

static bool cheap_nodes; /* they go for themselves wherever they may */

int64_t __real_wr_plan_node_price(const wr_plan_input *in, const wr_summary *node, int64_t ranks);
int64_t __wrap_wr_plan_node_price(const wr_plan_input *in, const wr_summary *node, int64_t ranks);

/* Scenes are so small that nothing but the network would ever make that pay. */
int64_t __wrap_wr_plan_node_price(const wr_plan_input *in, const wr_summary *node, int64_t ranks)
{
    const int64_t price = __real_wr_plan_node_price(in, node, ranks);
    return cheap_nodes && price != INT64_MAX ? -1 : price;
}

/* What lets nodes go for themselves, and makes them want to. */
static void let_nodes_part(rng *r, scene *s)
{
    static const char *const realms[] = {"even", "static", "cyclic"};
    snprintf(s->hints, sizeof s->hints,
             "storage=%s;realms=%s;collective=auto;window=%lld;aggregators=%lld;realm_block=%lld;"
             "exchange=%s;link=%d;overlap_memory=%lld;regions_kept=%d",
             s->storage, realms[rng_within(r, 0, 2)],
             (long long)(rng_chance(r, 15) ? rng_within(r, 1, 3) : rng_within(r, 4, 20000)),
             (long long)(rng_chance(r, 50) ? rng_within(r, 0, 10) : 0),
             (long long)(rng_chance(r, 60) ? rng_within(r, 1, 900) : 0),
             rng_chance(r, 50) ? "auto" : "shm", rng_chance(r, 80) ? 1 : 0,
             (long long)(rng_chance(r, 50) ? rng_within(r, 0, 40000) : 1 << 26),
             rng_chance(r, 30) ? 0 : 4);
    s->tunables.ranks_per_node = rng_within(r, 1, 3) * (rng_chance(r, 25) ? -1 : 1);
    s->behind = false;
    cheap_nodes = rng_chance(r, 70);
}

static void random_hints(rng *r, scene *s)
{
    static const char *const realms[] = {"even",       "static",   "cyclic",
                                         "persistent", "balanced", "disks"};
    static const char *const access[] = {"auto", "sieve", "list", "naive", "extent:20"};
    static const char *const together[] = {"auto", "always", "always", "never"};
    static const char *const exchange[] = {"auto", "auto", "p2p", "alltoall", "leaders", "leaders"};
    static const char *const hosts[] = {"", "*:*", "*:1", "*", "0:2, *:1", "1:*,*:1", "0:*,*:1"};
    static const char *const overlap[] = {"auto", "none", "io", "all"};
    int64_t window = rng_chance(r, 15) ? rng_within(r, 1, 3) : rng_within(r, 4, 20000);
    snprintf(s->hints, sizeof s->hints,
             "storage=%s;realms=%s;access=%s;collective=%s;window=%lld;aggregators=%lld;"
             "realm_align=%lld;realm_block=%lld;exchange=%s;sieve_buffer_read=%lld;sieve_buffer_"
             "write=%lld;"
             "overlap=%s;overlap_memory=%lld;progress=%s;aggregator_hosts=%s",
             s->storage, realms[rng_within(r, 0, 5)], access[rng_within(r, 0, 4)],
             together[rng_within(r, 0, 3)], (long long)window, (long long)rng_within(r, 0, 10),
             (long long)(rng_chance(r, 30) ? rng_within(r, 1, 700) : 1),
             (long long)(rng_chance(r, 60) ? rng_within(r, 1, 900) : 0),
             exchange[rng_within(r, 0, 5)], (long long)rng_within(r, 1, 3000),
             (long long)rng_within(r, 1, 3000), overlap[rng_within(r, 0, 3)],
             (long long)(rng_chance(r, 50) ? rng_within(r, 0, 40000) : 1 << 26),
             rng_chance(r, 20) ? "poll" : "thread",
             hosts[rng_chance(r, 50) ? 0 : rng_within(r, 1, 6)]);
    s->behind = strstr(s->hints, "realms=persistent") && rng_chance(r, 50);
    size_t used = strlen(s->hints);
    if (s->behind)
        snprintf(s->hints + used, sizeof s->hints - used,
                 ";write_behind=always;write_behind_memory=%lld",
                 (long long)(rng_chance(r, 50) ? rng_within(r, 0, 60000) : 1 << 26));
    used = strlen(s->hints);
    if (rng_chance(r, 30))
        snprintf(s->hints + used, sizeof s->hints - used, ";regions_kept=0");
    wr_tunables_init(&s->tunables);
    s->tunables.ranks_per_node = rng_chance(r, 50) ? rng_within(r, -3, 4) : 0;
    s->short_of = rng_chance(r, 50) ? 0 : rng_within(r, 1, 100);
    cheap_nodes = false;
    if (rng_chance(r, 25))
        let_nodes_part(r, s);
}

void scene_make(rng *r, scene *s)
{
    random_hints(r, s);
    bool apart = strstr(s->hints, "collective=never");
    s->size = 0;
    memset(s->file, 0, sizeof s->file);
    for (int i = 0; i < CALLS; i++) {
        call *c = &s->calls[i];
        *c = (call){0};
        const call *last = i > 0 && rng_chance(r, 30) ? c - 1 : NULL; /* the same places again */
        c->write = last ? last->write : i == 0 || rng_chance(r, 40);
        c->together = last ? last->together : !(apart && c->write) && !rng_chance(r, 10);
        c->places = last ? last->places : rng_next(r);
        c->form = rng_chance(r, 40) ? WR_BLOCKING : (int)rng_within(r, WR_SPLIT, WR_NONBLOCKING);
        if (c->form == WR_SPLIT && !c->together)
            c->form = WR_NONBLOCKING;
        c->lingers = c->form == WR_NONBLOCKING && c->together && rng_chance(r, 50);
        c->chores = rng_chance(r, 70) ? 0 : rng_within(r, 1, 300);
        rng places = {c->places};
        const bool regular = c->together && rng_chance(&places, 50);
        for (int k = 0; k < s->ranks; k++) {
            part *p = &c->part[k];
            /* alone, the order of ranks is not defined: only one of them writes */
            bool silent = c->write && !c->together && k > 0;
            p->where =
                regular ? regular_where(places, k, s->ranks) : random_where(&places, c->write);
            while (silent && p->where.bytes) {
                modelled_free(&p->where);
                p->where = random_where(&places, c->write);
            }
            random_memory(r, p);
            fill(r, p->before, MEMORY);
            memcpy(p->after, p->before, MEMORY);
        }
        model_call(s, c);
    }
}

/* Something else to do, in which the library is not called. */
static void do_chores(int64_t microseconds)
{
    struct timespec t, now;
    clock_gettime(CLOCK_MONOTONIC, &t);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - t.tv_sec) * 1000000 + (now.tv_nsec - t.tv_nsec) / 1000 < microseconds);
}

static int run_blocking(weir_file *f, const call *c, part *p)
{
    const weir_pattern *where = p->where.pattern;
    if (c->write)
        return (c->together ? weir_file_write_all : weir_file_write)(f, where, p->memory, p->after,
                                                                     &p->count, NULL);
    return (c->together ? weir_file_read_all : weir_file_read)(f, where, p->memory, p->after,
                                                               &p->count, NULL);
}

static void start(weir_file *f, const call *c, part *p, weir_request **out)
{
    const weir_pattern *where = p->where.pattern;
    enum wr_direction direction = c->write ? WR_WRITE : WR_READ;
    if (c->form == WR_SPLIT)
        CHECK(!begin_all(f, wr_request_of(direction, where, p->memory, p->after), out));
    else if (c->write)
        CHECK(!(c->together ? weir_file_write_all : weir_file_write)(f, where, p->memory, p->after,
                                                                     NULL, out));
    else
        CHECK(!(c->together ? weir_file_read_all : weir_file_read)(f, where, p->memory, p->after,
                                                                   NULL, out));
}

/* Waits, or looks until it is over. */
static void finish(const call *c, part *p, weir_request **request)
{
    int over = !*request;
    while (!over && c->chores % 2) {
        p->code = weir_request_test(request, &over, &p->count);
        wr_pause(10);
    }
    if (!over)
        p->code = weir_request_wait(request, &p->count);
}

void scene_run(scene *s, wr_world *w)
{
    weir_file *f;
    weir_request *pending[CALLS] = {0};
    const int rank = w->transport->rank, mode = WEIR_READ | WEIR_WRITE | WEIR_CREATE;
    CHECK(!wr_file_open(w, s->path, mode, s->hints, &f));
    if (s->atomic)
        CHECK(!weir_file_set_atomic(f, 1));
    for (int i = 0; i < CALLS; i++) {
        call *c = &s->calls[i];
        part *p = &c->part[rank];
        for (int k = 0; !c->together && k < i; k++) /* it does not queue behind others */
            finish(&s->calls[k], &s->calls[k].part[rank], &pending[k]);
        if (!c->together)
            CHECK(!wr_agree(w->transport, 0, 0));
        if (!c->together && (s->behind || test_weak()))
            CHECK(!weir_file_sync(f));
        if (c->form == WR_BLOCKING)
            p->code = run_blocking(f, c, p);
        if (c->form != WR_BLOCKING) {
            start(f, c, p, &pending[i]);
            do_chores(c->chores);
        }
        if (!c->lingers) {
            finish(c, p, &pending[i]);
            CHECK(!wr_agree(w->transport, 0, 0));
        }
        if (!c->together && test_weak())
            CHECK(!weir_file_sync(f));
    }
    for (int k = 0; k < CALLS; k++)
        finish(&s->calls[k], &s->calls[k].part[rank], &pending[k]);
    CHECK(!weir_file_close(f));
}

/* Behind the first byte that does not exist, a read may bring what does exist, or leave it. */
static void allow_either(part *p)
{
    for (int64_t k = p->wanted_count; k < p->where.bytes; k++)
        if (p->after[p->place[k]] == p->before[p->place[k]])
            p->wanted[p->place[k]] = p->before[p->place[k]];
}

void scene_check_rank(scene *s, int rank)
{
    for (int i = 0; i < CALLS; i++) {
        part *p = &s->calls[i].part[rank];
        CHECK_EQUAL(p->code, 0);
        CHECK_EQUAL(p->count, p->wanted_count);
        allow_either(p);
        CHECK(!memcmp(p->after, p->wanted, MEMORY));
        modelled_free(&p->where);
        weir_pattern_free(p->memory);
    }
}

void scene_check_file(const scene *s)
{
    static char bytes[FILE_BYTES + 1];
    wr_storage *file;
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    char hints[200];
    snprintf(hints, sizeof hints, "storage=%s", s->storage);
    CHECK(!wr_tunables_set_hints(&tunables, hints));
    wr_storage_options options = {.tunables = &tunables};
    CHECK(!wr_storage_open(s->path, WR_OPEN_READ, &options, &file));
    wr_transfer t = {.run = FILE_BYTES + 1, .count = 1, .memory = bytes};
    wr_storage_submit(file, &t);
    CHECK(wr_storage_reap(file, true) == &t);
    CHECK_EQUAL(t.done, s->size);
    CHECK(!memcmp(bytes, s->file, (size_t)s->size));
    wr_storage_close(file);
}
