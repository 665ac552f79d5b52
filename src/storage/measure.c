/* Costs by measuring, where that is asked for: small and large transfers, by one thread and by two
 * at a time, the fastest burst of each. */
#include "storage/costs.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arith.h"
#include "base/clock.h"
#include "storage/backends.h"

/* Each of two sides has a region of the file and a chunk of memory; six phases and writing the
 * regions stay below the 15 ms promised. */
enum { SIDES = 2, CHUNK = 1 << 20, REGION = 2 * CHUNK, SMALL = 64, PHASE_NS = 1200000 };

/* Small transfers are timed so many at a time, each some pages behind the one before: what is
 * written in one place again and again is cheaper than in practice. */
enum { BURST = 16, STEP_PAGES = 5 };

typedef struct side {
    wr_storage *storage;
    char *memory;
    int64_t base;
    enum wr_direction direction;
    int64_t moved, elapsed_ns; /* of the latest phase; -1: failed */
} side;

/* Transfers of `size` bytes through the region again and again, for at least `limit_ns`. Returns ns
 * per transfer in the fastest burst, which nothing else on the machine has disturbed, or -1. */
static int64_t run_phase(side *x, int64_t size, int64_t limit_ns)
{
    const int64_t burst = size < CHUNK ? BURST : 1;
    const int64_t step = size < CHUNK ? STEP_PAGES * wr_page_bytes() : size;
    const int64_t start = wr_clock_ns();
    int64_t done = 0, best = INT64_MAX;
    do {
        int64_t before = wr_clock_ns();
        for (int64_t i = 0; i < burst; i++) {
            wr_transfer t = {.direction = x->direction,
                             .offset =
                                 x->base + done++ * step % (size < CHUNK ? REGION - step : REGION),
                             .run = size,
                             .count = 1,
                             .memory = x->memory};
            if (wr_storage_run(x->storage, &t)) {
                x->moved = -1;
                return -1;
            }
        }
        x->elapsed_ns = wr_clock_ns() - start;
        best = wr_min(best, (wr_clock_ns() - before) / burst);
    } while (x->elapsed_ns < limit_ns);
    x->moved = done * size;
    return wr_max(best, 1);
}

static void *run_large(void *user)
{
    run_phase(user, CHUNK, PHASE_NS);
    return NULL;
}

/* Bytes per ms of both sides at a time, or -1. */
static int64_t run_together(side *sides)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&thread, NULL, run_large, &sides[1]);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed)
        return -1;
    run_phase(&sides[0], CHUNK, PHASE_NS);
    pthread_join(thread, NULL);
    int64_t rate = 0;
    for (int i = 0; i < SIDES; i++) {
        if (sides[i].moved < 0)
            return -1;
        rate += sides[i].moved * 1000000 / wr_max(sides[i].elapsed_ns, 1);
    }
    return rate;
}

/* Two move between half and twice of what one does: the rest is noise. */
static bool measure_direction(side *sides, enum wr_direction direction, wr_price *cost)
{
    for (int i = 0; i < SIDES; i++)
        sides[i].direction = direction;
    int64_t large = run_phase(&sides[0], CHUNK, PHASE_NS);
    int64_t small = run_phase(&sides[0], SMALL, PHASE_NS);
    int64_t both = run_together(sides);
    if (large < 0 || small < 0 || both < 0)
        return false;
    int64_t alone = (int64_t)CHUNK * 1000000 / large;
    int64_t scaling = both * 100 / wr_max(alone, 1);
    *cost =
        (wr_price){.call_ns = small, .mib_ns = large, .scaling = wr_max(wr_min(scaling, 200), 50)};
    return true;
}

/* Writes a region for the first time, as most files are: the price of a MiB written, or -1. */
static int64_t write_region(side *x)
{
    int64_t price = 0, each = 0;
    x->direction = WR_WRITE;
    for (int64_t at = 0; at < REGION && each >= 0; at += CHUNK) {
        side chunk = *x;
        chunk.base += at;
        each = run_phase(&chunk, CHUNK, 0);
        price += each;
    }
    return each < 0 ? -1 : price * CHUNK / REGION;
}

static bool measure_all(side *sides, wr_storage_facts *out)
{
    int64_t first = write_region(&sides[0]);
    if (first < 0 || write_region(&sides[1]) < 0 ||
        !measure_direction(sides, WR_WRITE, &out->cost[WR_WRITE]) ||
        !measure_direction(sides, WR_READ, &out->cost[WR_READ]))
        return false;
    out->cost[WR_WRITE].mib_ns = first;
    return true;
}

static bool open_side(side *x, const char *path, const wr_storage_options *options, int i)
{
    int flags = WR_OPEN_READ | WR_OPEN_WRITE | (i ? 0 : WR_OPEN_CREATE | WR_OPEN_EXCLUSIVE);
    x->base = i * (int64_t)REGION;
    x->memory = wr_alloc(CHUNK);
    if (!x->memory)
        return false;
    memset(x->memory, 1, CHUNK);
    return !wr_storage_open(path, flags, options, &x->storage);
}

static void ask_direct(const char *path, const wr_storage_options *options, wr_storage_facts *out)
{
    wr_tunables tunables = *options->tunables;
    tunables.direct.which = WR_SWITCH_ALWAYS;
    tunables.storage.which = WR_STORAGE_POSIX;
    wr_storage_options other = {.tunables = &tunables};
    wr_storage *s;
    if (wr_storage_open(path, WR_OPEN_READ, &other, &s))
        return;
    out->direct = s->facts.direct;
    out->alignment = s->facts.alignment;
    wr_storage_close(s);
}

static bool measure_file(const char *path, const wr_tunables *tunables, wr_storage_facts *out)
{
    side sides[SIDES] = {0};
    wr_tunables plain = *tunables;
    plain.fault.which = WR_FAULT_NONE;
    if (plain.storage.which == WR_STORAGE_STRIPED) /* its parts are moved by `auto` */
        plain.storage.which = WR_STORAGE_AUTO;
    wr_storage_options options = {.tunables = &plain};
    bool good = true;
    for (int i = 0; i < SIDES && good; i++)
        good = open_side(&sides[i], path, &options, i);
    if (good)
        ask_direct(path, &options, out);
    if (sides[0].storage) {
        out->local = sides[0].storage->facts.local;
        unlink(path);
    }
    good = good && measure_all(sides, out);
    for (int i = 0; i < SIDES; i++) {
        wr_storage_close(sides[i].storage);
        wr_free(sides[i].memory);
    }
    return good;
}

void wr_storage_measure(const char *folder, const wr_tunables *tunables, const wr_log *log,
                        wr_storage_facts *out)
{
    char path[WR_TUNABLE_TEXT];
    wr_storage_facts facts = wr_storage_default_facts();
    int length = snprintf(path, sizeof path, "%s/.weir-costs-%lld-%lld", folder,
                          (long long)getpid(), (long long)wr_clock_ns());
    *out = facts;
    if (tunables->storage.which == WR_STORAGE_MEM)
        return;
    if (length < (int)sizeof path && measure_file(path, tunables, &facts)) {
        *out = facts;
        return;
    }
    wr_log_line(log, WR_LOG_INFO, "%s: costs not measured: %s; using built-in ones", folder,
                length < (int)sizeof path ? weir_error_last()->text : "path too long");
}
