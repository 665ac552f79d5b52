/* Small writes without a lock each, beside read-modify-writes of the same file: nothing is lost,
 * and whoever reads before writing gets on. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "file/inside.h"
#include "storage/storage_support.h"
#include "transport/local.h"

enum { CELLS = 40, CELL = 16, HALF = 8, BYTES = CELLS * CELL, SHARES = 2 };

/* Two sides with a world each, or one world and one file for both. */
typedef struct play {
    const char *path;
    char hints[200];
    bool together; /* the modifier calls collectively */
    bool one_file;
    bool sleeps; /* the writer writes now and then only */
    int64_t rounds;
    wr_tunables tunables;
    _Atomic bool writing, over;
    _Atomic int64_t leases;
    int64_t longest_us; /* of a read-modify-write */
} play;

typedef struct side {
    play *play;
    weir_file *file; /* NULL: one of its own */
    void (*run)(const struct side *s, weir_file *f);
    int share, shares; /* of those who write */
} side;

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void rest(int64_t us)
{
    nanosleep(&(struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000}, NULL);
}

/* The first half of every cell, the second left out. */
static void modify(const side *s, weir_file *f)
{
    play *p = s->play;
    char data[CELLS * HALF], back[CELLS * HALF];
    weir_pattern *where, *memory;
    CHECK(!weir_pattern_strided(0, CELLS, HALF, CELL, &where));
    CHECK(!weir_pattern_contiguous(0, sizeof data, &memory));
    while (!p->writing)
        rest(100);
    for (int64_t i = 0; i < p->rounds; i++) {
        int64_t count, start = now_us();
        memset(data, (int)(1 + i % 100), sizeof data);
        CHECK_EQUAL((p->together ? weir_file_write_all : weir_file_write)(f, where, memory, data,
                                                                          &count, NULL),
                    0);
        start = now_us() - start;
        p->longest_us = start > p->longest_us ? start : p->longest_us;
        CHECK_EQUAL(weir_file_read(f, where, memory, back, &count, NULL), 0);
        CHECK(!memcmp(data, back, sizeof data));
        if (p->sleeps)
            rest(2000);
    }
    p->over = true;
    weir_pattern_free(where);
    weir_pattern_free(memory);
}

static int cell_of(const side *s, int64_t i)
{
    return (int)(i * s->shares + s->share) % CELLS;
}

/* The second half of one of this side's cells, another each time. */
static void write_holes(const side *s, weir_file *f)
{
    play *p = s->play;
    weir_pattern *where[CELLS], *memory;
    int64_t held[CELLS] = {0}, count, back;
    CHECK(!weir_pattern_contiguous(0, HALF, &memory));
    for (int i = 0; i < CELLS; i++)
        CHECK(!weir_pattern_contiguous(i * CELL + HALF, HALF, &where[i]));
    for (int64_t i = 1; !p->over; i++) {
        int at = cell_of(s, i);
        held[at] = i;
        CHECK_EQUAL(weir_file_write(f, where[at], memory, &held[at], &count, NULL), 0);
        p->writing = i > CELLS;
        if (p->sleeps && p->writing)
            rest(20000);
        at = cell_of(s, i * 7 + 3);
        CHECK_EQUAL(weir_file_read(f, where[at], memory, &back, &count, NULL), 0);
        CHECK_EQUAL(back, held[at]);
    }
    for (int i = 0; i < CELLS; i++) {
        CHECK_EQUAL(weir_file_read(f, where[i], memory, &back, &count, NULL), 0);
        if (i % s->shares == s->share)
            CHECK_EQUAL(back, held[i]);
        weir_pattern_free(where[i]);
    }
    weir_pattern_free(memory);
    p->leases = wr_lease_uses(f->group.handle.storage);
}

static void rank_body(wr_transport *t, void *user)
{
    const side *s = user;
    weir_file *f;
    wr_world *w;
    CHECK(!wr_world_open(t, &s->play->tunables, &w));
    CHECK(!wr_file_open(w, s->play->path, WEIR_READ | WEIR_WRITE, s->play->hints, &f));
    s->run(s, f);
    CHECK(!weir_file_close(f));
    wr_world_release(w);
}

static void *run_side(void *user)
{
    side *s = user;
    if (s->file)
        s->run(s, s->file);
    else
        CHECK(!wr_local_run(1, &s->play->tunables, rank_body, s));
    return NULL;
}

/* All on a file that this side has opened. */
static void run_all(const side *own, weir_file *f)
{
    pthread_t other[SHARES];
    side s[SHARES];
    for (int i = 0; i < SHARES; i++) {
        s[i] = (side){own->play, f, write_holes, i, SHARES};
        CHECK(!pthread_create(&other[i], NULL, run_side, &s[i]));
    }
    modify(own, f);
    for (int i = 0; i < SHARES; i++)
        pthread_join(other[i], NULL);
}

static void test_play(play *p)
{
    static char zeros[BYTES];
    pthread_t other = 0;
    side a = {p, NULL, p->one_file ? run_all : modify, 0, 1}, b = {p, NULL, write_holes, 0, 1};
    wr_tunables_init(&p->tunables);
    put_file(p->path, p->hints, zeros, sizeof zeros);
    check_within(60);
    if (!p->one_file)
        CHECK(!pthread_create(&other, NULL, run_side, &b));
    run_side(&a);
    if (!p->one_file)
        pthread_join(other, NULL);
    CHECK(p->leases > CELLS / 4); /* otherwise this was no test */
    CHECK(p->longest_us < 5000000);
    if (getenv("WEIR_TEST_SHOW"))
        fprintf(stderr, "%s%s%s%s: %lld with a lease, longest %lld us\n", p->hints,
                p->together ? ", together" : "", p->one_file ? ", one file" : "",
                p->sleeps ? ", sleeps" : "", (long long)p->leases, (long long)p->longest_us);
}

int main(void)
{
    static const char *const storages[] = {"posix", "pool", "uring", "mem"};
    for (int i = 0; i < 4; i++)
        for (int how = 0; how < 6; how++) {
            play p = {.path = i == 3 ? "engine-lease" : test_path("engine-lease"),
                      .together = how % 2,
                      .one_file = how / 2 == 1,
                      .sleeps = how / 2 == 2};
            p.rounds = p.sleeps ? 20 : test_cases(300, 20000);
            snprintf(p.hints, sizeof p.hints,
                     "storage=%s;access=sieve;collective=always;window=%d;sieve_buffer_write=%d",
                     storages[i], BYTES / 2, BYTES / 2);
            test_play(&p);
            if (i == 3)
                wr_mem_unlink(p.path);
            else
                forget_file(p.path);
        }
    return 0;
}
