/* Suite `storage`: backends against plain system calls and dd, in the same state of the cache.
 *
 * One file of up to 1 GiB next to this program, or in TMPDIR; removed at the end. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "storage/storage.h"

enum { LARGE = 4 << 20, WINDOW = 8, PAGE = 4096, BATCH = 32, SMALL_READS = 2048 };

typedef struct scene {
    char path[512];
    int64_t bytes;
    wr_tunables tunables;
    wr_storage *storage;
    int fd; /* of the reference, same kind of access */
    int64_t window;
    enum wr_direction direction;
    char *memory;     /* WINDOW times LARGE */
    int64_t *offsets; /* of random reads */
    int64_t reads, size;
} scene;

static scene x;

static void fail(const char *what)
{
    fprintf(stderr, "bench_storage: %s: %s\n", what, strerror(errno));
    if (*x.path)
        unlink(x.path);
    exit(1);
}

static void choose_path(void)
{
    char folder[400] = ".";
    const char *given = getenv("TMPDIR");
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (given && strlen(given) < sizeof folder)
        strcpy(folder, given);
    else if (length > 0) {
        folder[length] = 0;
        *strrchr(folder, '/') = 0;
    }
    snprintf(x.path, sizeof x.path, "%s/bench-storage-%d", folder, (int)getpid());
}

/* The state of the cache before every sample: nothing dirty; everything there, or, for direct
 * access, nothing. */
static void settle(bool direct)
{
    int fd = open(x.path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || fsync(fd))
        fail(x.path);
    if (direct)
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    for (int64_t at = 0; !direct && at < x.bytes; at += LARGE)
        if (pread(fd, x.memory, LARGE, at) != LARGE)
            fail("pread");
    close(fd);
}

static void open_both(const char *backend, bool direct)
{
    wr_tunables_init(&x.tunables);
    wr_storage_options options = {.tunables = &x.tunables};
    if (wr_tunables_set(&x.tunables, "storage", backend) ||
        wr_tunables_set(&x.tunables, "direct", direct ? "always" : "never") ||
        wr_storage_open(x.path, WR_OPEN_READ | WR_OPEN_WRITE, &options, &x.storage))
        fail(weir_error_last()->text);
    x.fd = open(x.path, O_RDWR | O_CLOEXEC | (direct ? O_DIRECT : 0));
    if (x.fd < 0)
        fail(x.path);
}

static void close_both(void)
{
    wr_storage_close(x.storage);
    close(x.fd);
}

/* Keeps `window` transfers of LARGE bytes under way through the whole file. */
static void sequential(void *unused)
{
    (void)unused;
    wr_transfer jobs[WINDOW];
    int64_t at = 0;
    for (int64_t i = 0; i < x.bytes / LARGE + x.window; i++) {
        wr_transfer *t = &jobs[i % x.window];
        if (i >= x.window) {
            t = wr_storage_reap(x.storage, true);
            if (wr_transfer_check(x.storage, t))
                fail(weir_error_last()->text);
        }
        if (at == x.bytes)
            continue;
        *t = (wr_transfer){.direction = x.direction,
                           .offset = at,
                           .run = LARGE,
                           .count = 1,
                           .memory = x.memory + (t - jobs) * LARGE};
        wr_storage_submit(x.storage, t);
        at += LARGE;
    }
}

/* Through as many buffers as ours: one alone would stay in the processor's cache. */
static void plain_sequential(void *unused)
{
    (void)unused;
    for (int64_t at = 0; at < x.bytes; at += LARGE) {
        char *memory = x.memory + at / LARGE % x.window * LARGE;
        if ((x.direction == WR_READ ? pread(x.fd, memory, LARGE, at)
                                    : pwrite(x.fd, memory, LARGE, at)) != LARGE)
            fail("plain transfer");
    }
}

static double time_of(void (*step)(void *unused), bool direct)
{
    settle(direct);
    double start = bench_seconds();
    step(NULL);
    return bench_seconds() - start;
}

static int repetitions(void)
{
    return bench_quick() ? 3 : 9;
}

static void bench_sequential(const char *backend, bool direct, int64_t window)
{
    char name[100];
    snprintf(name, sizeof name, "sequential 4 MiB, %s, %s, %lld under way", backend,
             direct ? "direct" : "cached", (long long)window);
    x.window = window;
    open_both(backend, direct);
    for (x.direction = WR_READ; x.direction <= WR_WRITE; x.direction++) {
        const char *figure = x.direction == WR_READ ? "read" : "write";
        bench_figure f = {name, figure, "speed", "-", "s", "wr_storage", ""};
        f.reference = x.direction == WR_READ ? "pread" : "pwrite";
        bench_declare(&f);
        time_of(sequential, direct);
        for (int i = 0; i < repetitions(); i++) {
            double ours = time_of(sequential, direct);
            bench_sample(&f, ours, time_of(plain_sequential, direct));
        }
    }
    close_both();
}

/* The seconds dd itself reports. */
static double run_dd(void)
{
    char command[700], line[300] = "";
    const char *where = x.direction == WR_READ ? "if='%s' of=/dev/null iflag=direct"
                                               : "if=/dev/zero of='%s' oflag=direct conv=notrunc";
    char arguments[600];
    snprintf(arguments, sizeof arguments, where, x.path);
    snprintf(command, sizeof command, "LC_ALL=C dd %s bs=4M count=%lld 2>&1", arguments,
             (long long)(x.bytes / LARGE));
    settle(true);
    FILE *pipe = popen(command, "r");
    double seconds = 0;
    while (pipe && fgets(line, sizeof line, pipe)) {
        const char *copied = strstr(line, "copied, ");
        if (copied)
            seconds = strtod(copied + strlen("copied, "), NULL);
    }
    if (!pipe || pclose(pipe) || seconds <= 0)
        fail("dd");
    return seconds;
}

static void bench_dd(void)
{
    open_both("uring", true);
    for (x.direction = WR_READ; x.direction <= WR_WRITE; x.direction++) {
        int64_t best = 1;
        double best_time = 1e9;
        for (x.window = 1; x.window <= WINDOW; x.window *= 2)
            for (int i = 0; i < 2; i++) {
                double seconds = time_of(sequential, true);
                best = seconds < best_time ? x.window : best;
                best_time = seconds < best_time ? seconds : best_time;
            }
        x.window = best;
        static const char name[] = "sequential 4 MiB, uring, direct, against dd";
        const char *figure = x.direction == WR_READ ? "read" : "write";
        bench_figure f = {name, figure, "speed", ">=1.0", "s", "wr_storage", "dd with direct I/O"};
        printf("note\t%s\t%s: best with %lld transfers under way\n", name, figure, (long long)best);
        bench_declare(&f);
        for (int i = 0; i < repetitions(); i++) {
            double ours = time_of(sequential, true);
            bench_sample(&f, ours, run_dd());
        }
    }
    close_both();
}

static void choose_offsets(int64_t span)
{
    uint64_t state = 88172645463325252u;
    for (int64_t i = 0; i < x.reads; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        x.offsets[i] = (int64_t)(state % (uint64_t)(span / x.size)) * x.size;
    }
}

static void batched_reads(void *unused)
{
    (void)unused;
    static wr_transfer jobs[BATCH];
    for (int64_t i = 0; i < x.reads; i += BATCH) {
        for (int64_t k = 0; k < BATCH; k++)
            jobs[k] = (wr_transfer){.direction = WR_READ,
                                    .offset = x.offsets[i + k],
                                    .run = x.size,
                                    .count = 1,
                                    .memory = x.memory + k * x.size,
                                    .next = k + 1 < BATCH ? &jobs[k + 1] : NULL};
        wr_storage_submit(x.storage, jobs);
        for (int64_t k = 0; k < BATCH; k++)
            if (wr_transfer_check(x.storage, wr_storage_reap(x.storage, true)))
                fail(weir_error_last()->text);
    }
}

static void single_reads(void *unused)
{
    (void)unused;
    for (int64_t i = 0; i < x.reads; i++) {
        wr_transfer t = {.direction = WR_READ,
                         .offset = x.offsets[i],
                         .run = x.size,
                         .count = 1,
                         .memory = x.memory};
        if (wr_storage_run(x.storage, &t))
            fail(weir_error_last()->text);
    }
}

static void plain_reads(void *unused)
{
    (void)unused;
    for (int64_t i = 0; i < x.reads; i++)
        if (pread(x.fd, x.memory + i % x.window * x.size, (size_t)x.size, x.offsets[i]) != x.size)
            fail("pread");
}

static void bench_random_direct(const char *backend, const char *goal)
{
    char name[100];
    snprintf(name, sizeof name, "random 4 KiB, %s, direct, batches of 32", backend);
    bench_figure f = {name, "read", "speed", goal, "s", "wr_storage", "pread loop with O_DIRECT"};
    x.size = PAGE;
    x.window = BATCH;
    x.reads = bench_quick() ? 1024 : 8192;
    choose_offsets(x.bytes);
    open_both(backend, true);
    bench_declare(&f);
    for (int i = 0; i < repetitions(); i++) {
        double ours = time_of(batched_reads, true);
        bench_sample(&f, ours, time_of(plain_reads, true));
    }
    close_both();
}

static void bench_small_cached(const char *backend, int64_t size, bool batched, const char *goal)
{
    char name[100];
    snprintf(name, sizeof name, "random %lld B, %s, cached, %s", (long long)size, backend,
             batched ? "batches of 32" : "one by one");
    bench_figure f = {name, "read", "speed", goal, "s", "wr_storage", "pread loop"};
    x.size = size;
    x.window = batched ? BATCH : 1;
    x.reads = SMALL_READS;
    choose_offsets(64 << 20);
    settle(false);
    open_both(backend, false);
    bench_pair(&f, batched ? batched_reads : single_reads, plain_reads, NULL);
    close_both();
}

static void create_file(void)
{
    x.bytes = INT64_C(1) << (bench_quick() ? 27 : 30);
    x.memory = aligned_alloc(PAGE, (size_t)WINDOW * LARGE);
    x.offsets = malloc(8192 * sizeof *x.offsets);
    choose_path();
    if (!x.memory || !x.offsets)
        fail("memory");
    memset(x.memory, 1, (size_t)WINDOW * LARGE);
    x.fd = open(x.path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    x.direction = WR_WRITE;
    x.window = 1;
    if (x.fd < 0)
        fail(x.path);
    plain_sequential(NULL);
    close(x.fd);
}

int main(int argc, char **argv)
{
    static const char *const backends[] = {"auto", "posix", "pool", "uring"};
    bench_init(argc, argv);
    create_file();
    for (int b = 0; b < 4; b++) {
        const char *goal = b ? "-" : ">=0.95";
        bench_small_cached(backends[b], 64, false, goal);
        bench_small_cached(backends[b], PAGE, false, goal);
        bench_small_cached(backends[b], PAGE, true, goal);
    }
    bench_sequential("posix", false, 1);
    bench_sequential("pool", false, 4);
    bench_sequential("uring", false, 4);
    bench_sequential("posix", true, 1);
    bench_sequential("pool", true, 4);
    bench_sequential("uring", true, 4);
    bench_dd();
    bench_random_direct("posix", "-");
    bench_random_direct("pool", "-");
    bench_random_direct("uring", ">=4");
    unlink(x.path);
    return 0;
}
