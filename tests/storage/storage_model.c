/* Random batches of transfers on every backend against an array of bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "storage_support.h"

enum { REGION = 6 << 20, BATCH = 8, MARGIN = 8192, STEPS = 24, GUARD = 0x5a };

enum factor { BACKEND, DIRECT, DEPTH, THREADS, PLACE, WRAPPER, FACTORS };
static const char *const backends[] = {"auto", "posix", "pool", "uring", "mem", STRIPED};
static const char *const directs[] = {"never", "always", "auto"};
static const int depths[] = {1, 3, 32};
static const int threads[] = {1, 4};
static const int64_t places[] = {0, 4097, (INT64_C(5) << 30) + 123};
static const char *const wrappers[] = {"none", "eintr:3", "delay:30"};
static const int levels[FACTORS] = {6, 3, 3, 2, 3, 3};

typedef struct job {
    wr_transfer t;
    char *block; /* memory with room for the runs and a margin */
    int64_t block_bytes;
} job;

typedef struct model {
    rng *r;
    char *bytes;
    int64_t size;  /* of the file, from `place` on; may be less than 0 */
    int64_t place; /* file offset of bytes[0] */
    opened file;
} model;

/* Mostly small, sometimes as large as the room, often near multiples of a page. */
static int64_t some_size(rng *r, int64_t most)
{
    int64_t size = rng_within(r, 0, rng_chance(r, 20) ? most : wr_min(most, 300));
    if (rng_chance(r, 40))
        size = (size + 4095) / 4096 * 4096 + (rng_chance(r, 50) ? 0 : rng_within(r, -1, 1));
    return wr_max(wr_min(size, most), 0);
}

/* Where run i of the job starts in its block. */
static char *run_memory(const job *j, int64_t i)
{
    return j->t.memory + i * j->t.memory_stride;
}

/* A transfer inside [lo, hi) of the region. */
static void make_job(model *m, job *j, int64_t lo, int64_t hi)
{
    rng *r = m->r;
    wr_transfer *t = &j->t;
    memset(t, 0, sizeof *t);
    t->direction = rng_chance(r, 50) ? WR_READ : WR_WRITE;
    int64_t start = lo + some_size(r, hi - lo);
    t->offset = m->place + start;
    t->run = some_size(r, hi - start);
    t->stride = t->run + (rng_chance(r, 50) ? 0 : some_size(r, 5000));
    t->count = t->run ? 1 : rng_within(r, 0, 3);
    if (t->stride && rng_chance(r, 60))
        t->count = rng_within(r, 0, wr_min((hi - start - t->run) / t->stride + 1, 3000));
    int64_t step = t->run + (rng_chance(r, 50) ? 0 : some_size(r, 600));
    if (rng_chance(r, 10))
        step = (step + 4095) / 4096 * 4096;
    while (step * t->count > 4 * REGION)
        t->count /= 2;
    j->block_bytes = 2 * MARGIN + step * wr_max(t->count, 1) + t->run;
    j->block = aligned_alloc(4096, (size_t)(j->block_bytes + 4095) / 4096 * 4096);
    CHECK(j->block);
    t->memory = j->block + (rng_chance(r, 50) ? 4096 : rng_within(r, 1, MARGIN - 1));
    t->memory_stride = step;
    if (t->count > 1 && rng_chance(r, 10)) {
        t->memory += (t->count - 1) * step;
        t->memory_stride = -step;
    }
    if (t->direction == WR_WRITE)
        for (int64_t i = 0; i < j->block_bytes; i++)
            j->block[i] = (char)rng_next(r);
    else
        memset(j->block, GUARD, (size_t)j->block_bytes);
}

static void model_write(model *m, const job *j)
{
    for (int64_t i = 0; i < j->t.count; i++) {
        int64_t at = j->t.offset - m->place + i * j->t.stride;
        memcpy(m->bytes + at, run_memory(j, i), (size_t)j->t.run);
        if (j->t.run)
            m->size = wr_max(m->size, at + j->t.run);
    }
}

/* What a read must have left in the block, and how far it must have come. What it leaves past the
 * end of the file is open: direct access puts zeros there, as the kernel pleases. */
static int64_t model_read(const model *m, const job *j, char *want)
{
    int64_t done = 0;
    bool ended = false;
    memset(want, GUARD, (size_t)j->block_bytes);
    for (int64_t i = 0; i < j->t.count; i++) {
        int64_t at = j->t.offset - m->place + i * j->t.stride;
        int64_t there = wr_max(wr_min(m->size - at, j->t.run), 0);
        char *place = want + (run_memory(j, i) - j->block);
        if (there < j->t.run)
            memcpy(place, run_memory(j, i), (size_t)j->t.run);
        if (!ended)
            memcpy(place, m->bytes + at, (size_t)there);
        done += ended ? 0 : there;
        ended = ended || there < j->t.run;
    }
    return done;
}

static void check_job(model *m, const job *j)
{
    CHECK_EQUAL(j->t.error, 0);
    if (j->t.direction == WR_WRITE) {
        CHECK_EQUAL(j->t.done, wr_transfer_bytes(&j->t));
        return;
    }
    char *want = malloc((size_t)j->block_bytes);
    CHECK(want);
    CHECK_EQUAL(j->t.done, model_read(m, j, want));
    CHECK(!memcmp(j->block, want, (size_t)j->block_bytes));
    free(want);
}

/* A batch that writes past the end may or may not be seen by its reads there: reads first. */
static void step_transfers(model *m)
{
    job jobs[BATCH];
    int count = rng_chance(m->r, 20) ? 1 : (int)rng_within(m->r, 1, BATCH);
    wr_transfer *chain = NULL;
    int64_t share = REGION / count;
    for (int i = 0; i < count; i++) {
        make_job(m, &jobs[i], i * share, (i + 1) * share);
        jobs[i].t.direction = jobs[0].t.direction;
        jobs[i].t.user = &jobs[i];
        if (jobs[0].t.direction == WR_READ)
            memset(jobs[i].block, GUARD, (size_t)jobs[i].block_bytes);
    }
    bool together = rng_chance(m->r, 50);
    for (int i = 0; i < count; i++) {
        if (!together)
            wr_storage_submit(m->file.storage, &jobs[i].t);
        jobs[i].t.next = together ? chain : jobs[i].t.next;
        chain = &jobs[i].t;
    }
    if (together)
        wr_storage_submit(m->file.storage, chain);
    for (int left = count; left > 0;) {
        wr_transfer *t = wr_storage_reap(m->file.storage, rng_chance(m->r, 80));
        if (t)
            left--;
        if (t && t->direction == WR_WRITE)
            model_write(m, t->user);
    }
    CHECK(!wr_storage_reap(m->file.storage, true));
    for (int i = 0; i < count; i++) {
        check_job(m, &jobs[i]);
        free(jobs[i].block);
    }
}

static void step_size(model *m)
{
    int64_t size = some_size(m->r, REGION), got;
    CHECK_EQUAL(wr_storage_set_size(m->file.storage, m->place + size), 0);
    if (size < m->size)
        memset(m->bytes + size, 0, (size_t)(m->size - size));
    m->size = size;
    CHECK_EQUAL(wr_storage_get_size(m->file.storage, &got), 0);
    CHECK_EQUAL(got, m->place + size);
}

/* What another finds who opens the file. */
static void check_whole(const model *m, const char *path, const char *storage)
{
    static char back[REGION];
    opened o;
    open_well(&o, path, WR_OPEN_READ, strcmp(storage, "mem") ? "storage=posix" : "storage=mem");
    int64_t size = wr_max(m->size, 0);
    wr_transfer t = flat_transfer(WR_READ, m->place, back, REGION);
    wr_storage_submit(o.storage, &t);
    CHECK(wr_storage_reap(o.storage, true) == &t && !t.error);
    CHECK_EQUAL(t.done, size);
    CHECK(!memcmp(back, m->bytes, (size_t)size));
    close_well(&o);
}

static void run_case(void *user, const int *choice)
{
    static int64_t number;
    static char bytes[REGION];
    check_case(number++);
    char hints[200];
    snprintf(hints, sizeof hints, "storage=%s;direct=%s;io_depth=%d;io_threads=%d;fault=%s",
             backends[choice[BACKEND]], directs[choice[DIRECT]], depths[choice[DEPTH]],
             threads[choice[THREADS]], wrappers[choice[WRAPPER]]);
    model m = {.r = user, .bytes = bytes, .place = places[choice[PLACE]]};
    m.size = -m.place;
    memset(bytes, 0, sizeof bytes);
    const char *path = test_path("model");
    open_well(&m.file, path, FRESH, hints);
    for (int64_t i = 0, steps = test_cases(STEPS, 4 * STEPS); i < steps; i++) {
        if (rng_chance(m.r, 10))
            step_size(&m);
        else
            step_transfers(&m);
        if (rng_chance(m.r, 5))
            CHECK_EQUAL(wr_storage_sync(m.file.storage, WR_SYNC_STORE), 0);
    }
    int64_t got;
    CHECK_EQUAL(wr_storage_get_size(m.file.storage, &got), 0);
    CHECK_EQUAL(got, m.place + m.size);
    close_well(&m.file);
    check_whole(&m, path, backends[choice[BACKEND]]);
    forget_file(path);
}

int main(void)
{
    rng r = {test_seed()};
    test_pairwise(&r, FACTORS, levels, run_case, &r);
    return 0;
}
