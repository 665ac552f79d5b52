/* Random batches of transfers on random members, with every backend inside, against an array of
 * bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "member_set.h"

enum { REGION = 400000, BATCH = 8, STEPS = 20, GUARD = 0x5b };

enum factor { BACKEND, DIRECT, DEPTH, THREADS, MEMBERS, WRAPPER, FACTORS };
static const char *const backends[] = {"auto", "posix", "pool", "uring", "mem"};
static const char *const directs[] = {"never", "always"};
static const int depths[] = {1, 32};
static const int threads[] = {1, 4};
static const int counts[] = {1, 3, 20, 150};
static const char *const wrappers[] = {"none", "eintr:3", "delay:30"};
static const int levels[FACTORS] = {5, 2, 2, 2, 4, 3};

typedef struct job {
    wr_transfer t;
    char *block;
    int64_t block_bytes;
} job;

typedef struct model {
    rng *r;
    char *bytes;
    member_set set;
    opened file;
} model;

/* Empty, a byte, about its share of the region, sometimes whole pages. */
static int64_t some_size(rng *r, int count)
{
    int64_t kind = rng_within(r, 0, 9), share = REGION / count;
    int64_t size = kind < 2 ? kind : rng_within(r, 1, share);
    return kind == 9 ? wr_min((size + 4095) / 4096 * 4096, share) : size;
}

static void make_members(model *m, int count, const char *hints)
{
    static const int64_t skips[] = {0, 1, 128, 4096};
    for (int i = 0; i < count; i++)
        set_add(&m->set, hints, skips[rng_within(m->r, 0, 3)], some_size(m->r, count));
}

/* A transfer inside [lo, hi). A stride may lead back, and memory too. */
static void make_job(model *m, job *j, enum wr_direction direction, int64_t lo, int64_t hi)
{
    rng *r = m->r;
    int64_t room = hi - lo, run = rng_within(r, 0, rng_chance(r, 50) ? room : wr_min(room, 40));
    int64_t gap = rng_chance(r, 50) ? 0 : rng_within(r, 0, rng_chance(r, 20) ? room : 50);
    int64_t stride = run + gap, most = stride ? (room - run) / stride + 1 : 3;
    int64_t count = rng_chance(r, 40) ? 1 : rng_within(r, 0, wr_min(most, 5000));
    int64_t span = count && run ? (count - 1) * stride + run : 0;
    int64_t step = run + (rng_chance(r, 50) ? 0 : rng_within(r, 1, 50));
    j->block_bytes = step * count + 1;
    j->block = malloc((size_t)j->block_bytes);
    CHECK(j->block);
    j->t = (wr_transfer){.direction = direction,
                         .offset = lo + rng_within(r, 0, room - span),
                         .run = run,
                         .count = count,
                         .stride = stride,
                         .memory = j->block,
                         .memory_stride = step,
                         .user = j};
    if (count > 1 && rng_chance(r, 20)) {
        j->t.offset += (count - 1) * stride;
        j->t.stride = -stride;
    }
    if (count > 1 && rng_chance(r, 20)) {
        j->t.memory += (count - 1) * step;
        j->t.memory_stride = -step;
    }
    for (int64_t i = 0; i < j->block_bytes; i++)
        j->block[i] = direction == WR_WRITE ? (char)rng_next(r) : GUARD;
}

static void model_write(model *m, const job *j)
{
    for (int64_t i = 0; i < j->t.count; i++)
        memcpy(m->bytes + j->t.offset + i * j->t.stride, j->t.memory + i * j->t.memory_stride,
               (size_t)j->t.run);
}

/* The data come one after the other, and the rest of the block is as it was. */
static void check_read(const model *m, const job *j)
{
    char *want = malloc((size_t)j->block_bytes);
    CHECK(want);
    memset(want, GUARD, (size_t)j->block_bytes);
    for (int64_t i = 0; i < j->t.count; i++)
        memcpy(want + (j->t.memory - j->block) + i * j->t.memory_stride,
               m->bytes + j->t.offset + i * j->t.stride, (size_t)j->t.run);
    CHECK(!memcmp(j->block, want, (size_t)j->block_bytes));
    free(want);
}

static void submit_jobs(model *m, int count, job *jobs)
{
    bool together = rng_chance(m->r, 50);
    wr_transfer *chain = NULL;
    for (int i = 0; i < count; i++) {
        jobs[i].t.next = together ? chain : NULL;
        chain = &jobs[i].t;
        if (!together)
            wr_storage_submit(m->file.storage, chain);
    }
    if (together)
        wr_storage_submit(m->file.storage, chain);
}

/* All read, or all write and keep apart. */
static void step(model *m)
{
    job jobs[BATCH];
    int count = (int)rng_within(m->r, 1, BATCH);
    enum wr_direction direction = rng_chance(m->r, 50) ? WR_READ : WR_WRITE;
    for (int i = 0; i < count; i++)
        make_job(m, &jobs[i], direction, m->set.size * i / count, m->set.size * (i + 1) / count);
    submit_jobs(m, count, jobs);
    for (int left = count; left > 0;)
        left -= wr_storage_reap(m->file.storage, rng_chance(m->r, 80)) != NULL;
    CHECK(!wr_storage_reap(m->file.storage, true));
    for (int i = 0; i < count; i++) {
        CHECK_EQUAL(jobs[i].t.error, 0);
        CHECK_EQUAL(jobs[i].t.done, wr_transfer_bytes(&jobs[i].t));
        if (direction == WR_WRITE)
            model_write(m, &jobs[i]);
        else
            check_read(m, &jobs[i]);
        free(jobs[i].block);
    }
}

/* A read across the end comes as far as that. */
static void check_end(model *m)
{
    char back[300];
    int64_t there = wr_min(m->set.size, 200);
    wr_transfer t = flat_transfer(WR_READ, m->set.size - there, back, sizeof back);
    wr_storage_submit(m->file.storage, &t);
    CHECK(wr_storage_reap(m->file.storage, true) == &t && !t.error);
    CHECK_EQUAL(t.done, there);
    CHECK(!memcmp(back, m->bytes + m->set.size - there, (size_t)there));
    int64_t size;
    CHECK_EQUAL(wr_storage_get_size(m->file.storage, &size), 0);
    CHECK_EQUAL(size, m->set.size);
}

static void run_case(void *user, const int *choice)
{
    static int64_t number;
    static char bytes[REGION];
    static model m;
    char hints[200];
    check_case(number++);
    check_within(120);
    snprintf(hints, sizeof hints, "storage=%s;direct=%s;io_depth=%d;io_threads=%d;fault=%s",
             backends[choice[BACKEND]], directs[choice[DIRECT]], depths[choice[DEPTH]],
             threads[choice[THREADS]], wrappers[choice[WRAPPER]]);
    m = (model){.r = user, .bytes = bytes};
    memset(bytes, 0, sizeof bytes);
    make_members(&m, counts[choice[MEMBERS]], hints);
    set_open(&m.file, &m.set, READ_WRITE, hints);
    for (int64_t i = 0, steps = test_cases(STEPS, 4 * STEPS); i < steps; i++) {
        step(&m);
        if (rng_chance(m.r, 5))
            CHECK_EQUAL(wr_storage_sync(m.file.storage, WR_SYNC_STORE), 0);
    }
    check_end(&m);
    close_well(&m.file);
    set_check(&m.set, hints, bytes);
    set_forget(&m.set);
}

int main(void)
{
    rng r = {test_seed()};
    test_pairwise(&r, FACTORS, levels, run_case, &r);
    return 0;
}
