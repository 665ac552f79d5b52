/* The wrapper `fault`: the k-th attempt misbehaves, for every k, on every backend. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "storage_support.h"

enum { JOBS = 5, PIECE = 10000, WHOLE = JOBS * PIECE, GAP = 64 };

static const char *const backends[] = {"posix", "pool", "uring", "mem", STRIPED};

typedef struct scene {
    opened file;
    wr_transfer jobs[JOBS]; /* strided: PIECE bytes in runs of GAP, each GAP apart */
    char memory[WHOLE];
} scene;

static void prepare(scene *x, const char *path, const char *hints, enum wr_direction direction)
{
    static char zeros[2 * WHOLE];
    open_well(&x->file, path, FRESH, hints);
    if (direction == WR_READ) {
        char bytes[WHOLE];
        fill_pattern(bytes, WHOLE, 7);
        wr_transfer t = flat_transfer(WR_WRITE, 0, bytes, WHOLE);
        CHECK_EQUAL(wr_storage_run(x->file.storage, &t), 0);
        memset(x->memory, 0, sizeof x->memory);
    } else {
        wr_transfer t = flat_transfer(WR_WRITE, 0, zeros, WHOLE);
        CHECK_EQUAL(wr_storage_run(x->file.storage, &t), 0);
        fill_pattern(x->memory, WHOLE, 7);
    }
    close_well(&x->file);
    for (int i = 0; i < JOBS; i++) {
        x->jobs[i] = flat_transfer(direction, i * PIECE, x->memory + i * PIECE, PIECE);
        if (i % 2)
            x->jobs[i] = (wr_transfer){.direction = direction,
                                       .offset = i * PIECE,
                                       .run = PIECE / 100,
                                       .stride = PIECE / 100,
                                       .memory = x->memory + i * PIECE,
                                       .memory_stride = PIECE / 100,
                                       .count = 100};
        x->jobs[i].next = i ? &x->jobs[i - 1] : NULL;
    }
}

/* What is in the file, or was read from it. */
static void result(scene *x, const char *path, enum wr_direction direction, char *bytes)
{
    memcpy(bytes, x->memory, WHOLE);
    if (direction == WR_READ)
        return;
    opened plain;
    open_well(&plain, path, WR_OPEN_READ, "storage=posix");
    wr_transfer t = flat_transfer(WR_READ, 0, bytes, WHOLE);
    CHECK_EQUAL(wr_storage_run(plain.storage, &t), 0);
    close_well(&plain);
}

/* Bytes of job i that are not as they should be. */
static int64_t wrong_bytes(const char *bytes, int i)
{
    int64_t wrong = 0;
    for (int64_t at = i * PIECE; at < (i + 1) * PIECE; at++)
        wrong += bytes[at] != pattern_byte(7, at);
    return wrong;
}

static void check_job(const scene *x, const char *fault, const char *bytes, int i, int *hit)
{
    const wr_transfer *t = &x->jobs[i];
    int64_t wrong = wrong_bytes(bytes, i);
    if (t->done == PIECE && !t->error && !wrong)
        return;
    ++*hit;
    if (!strcmp(fault, "eio") || !strcmp(fault, "enospc")) {
        CHECK_EQUAL(t->error, strcmp(fault, "eio") ? ENOSPC : EIO);
        CHECK_EQUAL(t->done, 0);
        CHECK_EQUAL(wrong, PIECE);
    } else if (!strcmp(fault, "short")) {
        CHECK_EQUAL(t->error, t->direction == WR_READ ? 0 : EIO);
        CHECK_EQUAL(t->done, PIECE / 2);
        CHECK_EQUAL(wrong, PIECE / 2);
        CHECK_FAILS(wr_transfer_check(x->file.storage, t), WEIR_EIO, "cannot");
        int64_t offset = i * PIECE + PIECE / 2;
        CHECK(!strcmp(weir_error_last()->file, wr_storage_locate(x->file.storage, &offset)));
        CHECK_EQUAL(weir_error_last()->offset, offset);
    } else {
        CHECK(!strcmp(fault, "corrupt"));
        CHECK_EQUAL(t->error, 0);
        CHECK_EQUAL(t->done, PIECE);
        CHECK_EQUAL(wrong, 1);
    }
}

static void run_fault(const char *backend, const char *fault, int k, enum wr_direction direction)
{
    static scene x;
    const char *path = test_path("fault");
    char hints[100], bytes[WHOLE];
    snprintf(hints, sizeof hints, "storage=%s;fault=%s:%d", backend, fault, k);
    if (!strcmp(backend, "mem")) { /* whose files posix does not see */
        snprintf(hints, sizeof hints, "storage=posix;direct=always;fault=%s:%d", fault, k);
    }
    prepare(&x, path, strcmp(backend, STRIPED) ? "storage=posix" : "storage=" STRIPED, direction);
    open_well(&x.file, path, READ_WRITE, hints);
    wr_storage_submit(x.file.storage, &x.jobs[JOBS - 1]);
    for (int i = 0; i < JOBS; i++)
        CHECK(wr_storage_reap(x.file.storage, true));
    CHECK(!wr_storage_reap(x.file.storage, true));
    result(&x, path, direction, bytes);
    int hit = 0;
    for (int i = 0; i < JOBS; i++)
        check_job(&x, fault, bytes, i, &hit);
    CHECK_EQUAL(hit, strcmp(fault, "eintr") && k <= JOBS);
    close_well(&x.file);
    forget_file(path);
}

static void test_every_attempt(void)
{
    static const char *const faults[] = {"eio", "enospc", "eintr", "short", "corrupt"};
    for (int b = 0; b < 5; b++)
        for (int f = 0; f < 5; f++)
            for (int k = 1; k <= JOBS + 1; k++)
                for (int d = WR_READ; d <= WR_WRITE; d++) {
                    check_case(((b * 5 + f) * 10 + k) * 2 + d);
                    run_fault(backends[b], faults[f], k, (enum wr_direction)d);
                }
}

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Paced transfers: reaping is late, the processor idle meanwhile. Returns whether submitting
 * returned at once, as it does unless the machine is busy. */
static bool run_paced(const char *backend, const char *fault, double first, double at_least)
{
    enum { BYTES = 1 << 20, COUNT = 4 };
    static char memory[COUNT][BYTES];
    char hints[100];
    snprintf(hints, sizeof hints, "storage=%s;fault=%s", backend, fault);
    opened o;
    const char *path = test_path("paced");
    open_well(&o, path, FRESH, hints);
    double start = seconds(CLOCK_MONOTONIC);
    wr_transfer jobs[COUNT];
    for (int i = 0; i < COUNT; i++) {
        jobs[i] = flat_transfer(WR_WRITE, i * BYTES, memory[i], BYTES);
        wr_storage_submit(o.storage, &jobs[i]);
    }
    const wr_transfer *early = wr_storage_reap(o.storage, false);
    const double asked = seconds(CLOCK_MONOTONIC) - start; /* late on a busy machine */
    CHECK(!early || (early == &jobs[0] && asked >= first));
    double idle = seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = early ? 1 : 0; i < COUNT; i++)
        CHECK(wr_storage_reap(o.storage, true) == &jobs[i]);
    double took = seconds(CLOCK_MONOTONIC) - start;
    CHECK(took >= at_least && took < asked + at_least + 1);
    CHECK(seconds(CLOCK_PROCESS_CPUTIME_ID) - idle < at_least / 2);
    close_well(&o);
    forget_file(path);
    return !early;
}

static void test_pace(void)
{
    enum { TRIES = 10 };
    for (int b = 0; b < 5; b++) {
        for (int tries = 1; !run_paced(backends[b], "delay:100000", 0.1, 0.1); tries++)
            CHECK(tries < TRIES);
        for (int tries = 1; !run_paced(backends[b], "bandwidth:40", 0.026, 0.104); tries++)
            CHECK(tries < TRIES);
    }
}

static int keep(void *user, const char *lines, int64_t length)
{
    char *text = user;
    strncat(text, lines, (size_t)length);
    return 0;
}

/* One event an attempt: what was interrupted is there twice. */
static void test_events(void)
{
    char text[4096] = "", byte[10] = "123456789";
    wr_events *events;
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    CHECK_EQUAL(wr_tunables_set_hints(&tunables, "fault=eintr:1"), 0);
    CHECK_EQUAL(wr_events_new(&events, keep, text), 0);
    wr_storage_options options = {.tunables = &tunables, .events = events};
    wr_storage *s;
    const char *path = test_path("events");
    CHECK_EQUAL(wr_storage_open(path, FRESH, &options, &s), 0);
    wr_transfer t = flat_transfer(WR_WRITE, 100, byte, 10);
    CHECK_EQUAL(wr_storage_run(s, &t), 0);
    t = flat_transfer(WR_READ, 105, byte, 10);
    CHECK_FAILS(wr_storage_run(s, &t), WEIR_EIO, "the file ends after 5 of 10 bytes");
    wr_storage_close(s);
    CHECK_EQUAL(wr_events_close(events), 0);
    static const char *const wanted[] = {"write offset=100 bytes=10 runs=1 done=0 error=4",
                                         "write offset=100 bytes=10 runs=1 done=10 error=0",
                                         "read offset=105 bytes=10 runs=1 done=5 error=0"};
    for (int i = 0; i < 3; i++) {
        char line[400];
        snprintf(line, sizeof line, " %s file=%s\n", wanted[i], path);
        CHECK(strstr(text, line));
    }
    forget_file(path);
}

int main(void)
{
    test_events();
    test_every_attempt();
    test_pace();
    return 0;
}
