/* Opening, errors, limits and life of storages. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storage_support.h"
#include "transport/region.h"

static const char *const backends[] = {"posix", "pool", "uring", "mem", STRIPED};

static const char *hints_for(const char *backend, const char *more)
{
    static char hints[200];
    snprintf(hints, sizeof hints, "storage=%s%s", backend, more);
    return hints;
}

/* The error names the path the user gave. */
static void expect_open(const char *path, int flags, const char *hints, int code, int errnum)
{
    opened o;
    int descriptors = count_descriptors();
    CHECK_EQUAL(open_hints(&o, path, flags, hints, 1 << 20), code);
    CHECK_EQUAL(weir_error_last()->code, code);
    CHECK_EQUAL(weir_error_last()->errnum, errnum);
    CHECK(!strcmp(weir_error_last()->file, path));
    CHECK_EQUAL(count_descriptors(), descriptors);
}

static void test_open_errors(void)
{
    const char *path = test_path("open");
    for (int b = 0; b < 5; b++) {
        const char *h = hints_for(backends[b], ";direct=always");
        expect_open(path, READ_WRITE, h, WEIR_ENOENT, ENOENT);
        opened o;
        open_well(&o, path, FRESH | WR_OPEN_EXCLUSIVE, h);
        expect_open(path, FRESH | WR_OPEN_EXCLUSIVE, h, WEIR_EEXIST, EEXIST);
        close_well(&o);
        forget_file(path);
        if (b == 3)
            continue;
        expect_open("no-such-folder/file", FRESH, h, WEIR_ENOENT, ENOENT);
        expect_open(".", WR_OPEN_READ, h, WEIR_EIO, EISDIR);
        expect_open(".", READ_WRITE, h, WEIR_EIO, EISDIR);
    }
}

/* A pipe with nobody at its other end keeps nobody waiting; devices go on as they did. */
static void test_pipes(void)
{
    const char *path = test_path("pipe");
    char byte = 1;
    CHECK_EQUAL(mkfifo(path, 0666), 0);
    for (int b = 0; b < 5; b++) {
        const char *h = hints_for(backends[b], "");
        if (b == 3)
            continue;
        expect_open(path, WR_OPEN_READ, h, WEIR_EIO, ESPIPE);
        expect_open(path, WR_OPEN_WRITE, h, WEIR_EIO, ENXIO);
        expect_open(path, READ_WRITE, h, WEIR_EIO, ESPIPE);
        expect_open(path, FRESH, h, WEIR_EIO, ESPIPE);
    }
    unlink(path);
    opened o;
    open_well(&o, "/dev/null", READ_WRITE, "storage=posix");
    wr_transfer t = flat_transfer(WR_WRITE, 0, &byte, 1);
    CHECK_EQUAL(wr_storage_run(o.storage, &t), 0);
    CHECK(!(fcntl(o.storage->plain_fd, F_GETFL) & O_NONBLOCK));
    close_well(&o);
}

/* Runs `body` in a child; its checks count. */
static void in_child(void (*body)(void))
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        body();
        _exit(0);
    }
    int status;
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void open_without_permission(void)
{
    const char *path = test_path("secret");
    int fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0400);
    CHECK(fd >= 0);
    close(fd);
    if (!geteuid() && setegid(65534) + seteuid(65534))
        fprintf(stderr, "storage_unit: cannot give up root's rights\n");
    else
        expect_open(path, READ_WRITE, "storage=posix", WEIR_EACCESS, EACCES);
    if (!getuid() && seteuid(0))
        fprintf(stderr, "storage_unit: cannot take back root's rights\n");
    unlink(path);
}

static void test_folder_vanishes(void)
{
    char path[100], byte = 'x', back = 0;
    snprintf(path, sizeof path, "storage-folder-%d", (int)getpid());
    CHECK_EQUAL(mkdir(path, 0777), 0);
    strcat(path, "/file");
    opened o;
    open_well(&o, path, FRESH, "storage=posix");
    CHECK_EQUAL(unlink(path), 0);
    *strrchr(path, '/') = 0;
    CHECK_EQUAL(rmdir(path), 0);
    wr_transfer t = flat_transfer(WR_WRITE, 0, &byte, 1);
    CHECK_EQUAL(wr_storage_run(o.storage, &t), 0);
    t = flat_transfer(WR_READ, 0, &back, 1);
    CHECK_EQUAL(wr_storage_run(o.storage, &t), 0);
    CHECK_EQUAL(back, 'x');
    close_well(&o);
    strcat(path, "/file");
    expect_open(path, FRESH, "storage=posix", WEIR_ENOENT, ENOENT);
}

static void test_read_past_end(void)
{
    char bytes[100] = {1};
    const char *path = test_path("end");
    for (int b = 0; b < 8; b++) {
        opened o;
        open_well(&o, path, FRESH, hints_for(backends[b % 4], b < 4 ? "" : ";direct=always"));
        wr_transfer t = flat_transfer(WR_WRITE, 4090, bytes, 100);
        CHECK_EQUAL(wr_storage_run(o.storage, &t), 0);
        t = flat_transfer(WR_READ, 4100, bytes, 100);
        CHECK_FAILS(wr_storage_run(o.storage, &t), WEIR_EIO, "the file ends after 90 of 100 bytes");
        CHECK_EQUAL(weir_error_last()->offset, 4190);
        CHECK(!strcmp(weir_error_last()->file, path));
        CHECK_EQUAL(t.error, 0);
        t = flat_transfer(WR_READ, INT64_C(1) << 40, bytes, 100);
        CHECK_FAILS(wr_storage_run(o.storage, &t), WEIR_EIO, "after 0 of 100");
        close_well(&o);
        forget_file(path);
    }
}

static void test_bad_transfers(void)
{
    static const struct {
        wr_transfer t;
        int code, error;
    } bad[] = {
        {{.offset = -1, .run = 1, .count = 1}, WEIR_EINVAL, EINVAL},
        {{.offset = 0, .run = -1, .count = 1}, WEIR_EINVAL, EINVAL},
        {{.offset = 0, .run = 1, .count = -1}, WEIR_EINVAL, EINVAL},
        {{.offset = 5, .run = 1, .count = 9, .stride = -1}, WEIR_EINVAL, EINVAL},
        {{.offset = INT64_MAX, .run = 1, .count = 1}, WEIR_ERANGE, EOVERFLOW},
        {{.offset = 0, .run = INT64_MAX, .count = 2}, WEIR_ERANGE, EOVERFLOW},
        {{.offset = 0, .run = 1, .count = 4, .stride = INT64_MAX / 2}, WEIR_ERANGE, EOVERFLOW},
    };
    opened o;
    const char *path = test_path("bad");
    open_well(&o, path, FRESH, "storage=posix");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        wr_transfer t = bad[i].t;
        CHECK_EQUAL(wr_storage_run(o.storage, &t), bad[i].code);
        CHECK_EQUAL(t.error, bad[i].error);
    }
    wr_transfer writes = {.direction = WR_WRITE, .run = 1, .count = 1, .memory = (char[]){1}};
    opened reader;
    open_well(&reader, path, WR_OPEN_READ, "storage=posix");
    CHECK_FAILS(wr_storage_run(reader.storage, &writes), WEIR_EIO, "cannot write");
    CHECK_EQUAL(weir_error_last()->errnum, EBADF);
    close_well(&reader);
    CHECK_FAILS(wr_storage_set_size(o.storage, -1), WEIR_EINVAL, "set the size");
    close_well(&o);
    forget_file(path);
}

/* Writes until the disk or the limit says no: an error with its place, and the rest is there. */
static void fill_up(const char *path, const char *hints, int64_t most)
{
    enum { STEP = 300000 };
    static char memory[STEP], back[STEP];
    opened o;
    open_well(&o, path, FRESH, hints);
    int64_t offset = 0;
    int code = 0;
    wr_transfer t = {0};
    for (; !code && offset <= 2 * most; offset += STEP) {
        fill_pattern(memory, STEP, offset);
        t = flat_transfer(WR_WRITE, offset, memory, STEP);
        code = wr_storage_run(o.storage, &t);
    }
    CHECK_EQUAL(code, WEIR_ENOSPC);
    offset -= STEP;
    int64_t done = t.done;
    CHECK_EQUAL(weir_error_last()->offset, offset + done);
    CHECK(!strcmp(weir_error_last()->file, path));
    CHECK(offset + done <= most && done < STEP);
    for (int64_t at = 0; at <= offset; at += STEP) {
        int64_t there = at < offset ? STEP : done;
        t = flat_transfer(WR_READ, at, back, there);
        CHECK_EQUAL(wr_storage_run(o.storage, &t), 0);
        CHECK(has_pattern(back, there, at));
    }
    close_well(&o);
    unlink(path);
}

/* A striped file may be as large as three parts. */
static void grow_too_far(const char *path, const char *hints, int64_t most)
{
    opened o;
    int64_t size;
    open_well(&o, path, FRESH, hints);
    CHECK_EQUAL(wr_storage_set_size(o.storage, most), 0);
    CHECK_FAILS(wr_storage_set_size(o.storage, 4 * most), WEIR_ENOSPC, "set the size");
    CHECK_EQUAL(weir_error_last()->errnum, EFBIG);
    CHECK_FAILS(wr_storage_preallocate(o.storage, 4 * most), WEIR_ENOSPC, "");
    CHECK_EQUAL(wr_storage_get_size(o.storage, &size), 0);
    CHECK_EQUAL(size, most);
    close_well(&o);
    forget_file(path);
}

/* A limit on file sizes is what every system lets us have, and nobody has to be ready for its
 * signal; the disk is tried where we may mount. */
static void meet_size_limit(void)
{
    enum { MOST = 2 << 20 };
    CHECK_EQUAL(setrlimit(RLIMIT_FSIZE, &(struct rlimit){MOST + 10, MOST + 10}), 0);
    for (int b = 0; b < 6; b++)
        fill_up(test_path("limit"), hints_for(backends[b % 3], b < 3 ? "" : ";direct=always"),
                MOST + 10);
    for (int b = 0; b < 5; b++)
        grow_too_far(test_path("limit"), hints_for(backends[b], ""), MOST + 10);
    wr_region region;
    wr_segment segment;
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    for (int kind = 0; kind < WR_REGION_KINDS; kind++) {
        CHECK_FAILS(
            wr_segment_create((enum wr_region_kind)kind, &tunables, 2 * MOST, &segment, &region),
            WEIR_ENOSPC, "shared memory");
        CHECK_EQUAL(weir_error_last()->errnum, EFBIG);
    }
}

static void meet_full_disk(void)
{
    enum { MOST = 2 << 20 };
    char folder[100], path[120];
    snprintf(folder, sizeof folder, "storage-disk-%d", (int)getpid());
    CHECK_EQUAL(mkdir(folder, 0777), 0);
    snprintf(path, sizeof path, "%s/file", folder);
    if (mount("weir", folder, "tmpfs", 0, "size=2M")) {
        fprintf(stderr, "storage_unit: no full disk: mount: %s\n", strerror(errno));
    } else {
        for (int b = 0; b < 6; b++)
            fill_up(path, hints_for(backends[b % 3], b < 3 ? "" : ";direct=always"), MOST);
        CHECK_EQUAL(umount(folder), 0);
    }
    CHECK_EQUAL(rmdir(folder), 0);
}

/* Every allocation of opening and of a transfer fails once: an error or success, never a leak. */
static void test_failing_allocations(void)
{
    static char memory[40000];
    const char *path = test_path("memory");
    for (int b = 0; b < 5; b++) {
        int descriptors = -1;
        int code = WEIR_ENOMEM;
        for (int k = 0; code; k++) {
            opened o;
            const char *h = hints_for(backends[b], ";direct=always;fault=delay:1");
            if (descriptors < 0)
                descriptors = count_descriptors();
            wr_alloc_fail_after(k);
            code = open_hints(&o, path, FRESH, h, 64 << 20);
            wr_alloc_fail_after(-1);
            CHECK(k > 0 || code);
            if (code)
                CHECK_EQUAL(code, WEIR_ENOMEM);
            else
                close_well(&o);
            if (b != 3)
                CHECK_EQUAL(count_descriptors(), descriptors);
            CHECK(k < 100);
        }
        for (int k = 0; k < 4; k++) {
            opened o;
            open_well(&o, path, FRESH, hints_for(backends[b], ";direct=always"));
            wr_transfer t = {.direction = WR_WRITE,
                             .run = 1000,
                             .stride = 1000,
                             .count = 20,
                             .memory = memory + 1,
                             .memory_stride = 1001};
            wr_alloc_fail_after(k);
            CHECK_EQUAL(wr_storage_run(o.storage, &t), 0);
            wr_alloc_fail_after(-1);
            close_well(&o);
        }
        forget_file(path);
    }
}

/* Without budget for bounce buffers and entries everything still works, through the page cache. */
static void test_budget(void)
{
    static char memory[3 << 20], back[3 << 20];
    const char *path = test_path("budget");
    fill_pattern(memory, sizeof memory, 1);
    static const int64_t limits[] = {0, 1000, 20000, 2 << 20};
    for (int b = 0; b < 5; b++)
        for (int i = 0; i < 4; i++) {
            opened o;
            const char *h = hints_for(backends[b], ";direct=always");
            CHECK_EQUAL(open_hints(&o, path, FRESH, h, limits[i]), 0);
            wr_transfer t = flat_transfer(WR_WRITE, 10, memory + 1, sizeof memory - 1);
            CHECK_EQUAL(wr_storage_run(o.storage, &t), 0);
            t = (wr_transfer){.direction = WR_READ,
                              .offset = 10,
                              .run = 3000,
                              .stride = 3000,
                              .count = 1000,
                              .memory = back,
                              .memory_stride = 3001};
            CHECK_EQUAL(wr_storage_run(o.storage, &t), 0);
            for (int64_t at = 0; at < 3000000; at++)
                CHECK(back[at / 3000 * 3001 + at % 3000] == memory[1 + at]);
            close_well(&o);
            forget_file(path);
        }
}

static void test_many_opens(void)
{
    const char *path = test_path("many");
    char byte = 1;
    opened o;
    for (int b = 0; b < 5; b++) {
        open_well(&o, path, FRESH, hints_for(backends[b], ""));
        close_well(&o);
        int before = count_descriptors();
        for (int i = 0; i < (b < 4 ? 10000 : 1000); i++) {
            open_well(&o, path, READ_WRITE, hints_for(backends[b], ";io_depth=2;io_threads=2"));
            wr_transfer t = flat_transfer(WR_WRITE, i, &byte, 1);
            CHECK_EQUAL(wr_storage_run(o.storage, &t), 0);
            close_well(&o);
        }
        CHECK_EQUAL(count_descriptors(), before);
        forget_file(path);
    }
}

static void test_close_reaps(void)
{
    static char memory[8][1 << 20];
    const char *path = test_path("close");
    for (int b = 0; b < 5; b++) {
        opened o;
        wr_transfer t[8];
        open_well(&o, path, FRESH, hints_for(backends[b], ";fault=delay:2000"));
        for (int i = 0; i < 8; i++) {
            t[i] = flat_transfer(WR_WRITE, i << 20, memory[i], 1 << 20);
            wr_storage_submit(o.storage, &t[i]);
        }
        close_well(&o);
        for (int i = 0; i < 8; i++)
            CHECK_EQUAL(t[i].done, 1 << 20);
        forget_file(path);
    }
    wr_storage_close(NULL);
}

static void test_mem_is_shared_by_name(void)
{
    char text[6] = "hello", back[6] = "";
    opened a, b;
    open_well(&a, "name", FRESH, "storage=mem");
    open_well(&b, "name", READ_WRITE, "storage=mem");
    wr_transfer t = flat_transfer(WR_WRITE, 0, text, 6);
    CHECK_EQUAL(wr_storage_run(a.storage, &t), 0);
    t = flat_transfer(WR_READ, 0, back, 6);
    CHECK_EQUAL(wr_storage_run(b.storage, &t), 0);
    CHECK(!strcmp(back, text));
    CHECK_EQUAL(wr_mem_unlink("name"), 0);
    CHECK_FAILS(wr_mem_unlink("name"), WEIR_ENOENT, "unlink");
    memset(back, 0, 6);
    t = flat_transfer(WR_READ, 0, back, 6);
    CHECK_EQUAL(wr_storage_run(b.storage, &t), 0);
    CHECK(!strcmp(back, text));
    close_well(&a);
    close_well(&b);
}

/* What was had by a tunable when a storage was opened does not depend on its value later. */
static void test_tunables_change(void)
{
    static const char *const hints[] = {"storage=posix", "storage=pool;io_threads=2",
                                        "storage=uring;io_depth=4", ("storage=" STRIPED)};
    enum { BYTES = 24 << 20 };
    char *memory = calloc(1, BYTES);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        opened o;
        const char *path = test_path("change");
        open_well(&o, path, FRESH, hints[i]);
        memset(&o.tunables, 0, sizeof o.tunables);
        o.tunables.io_threads = 64;
        o.tunables.io_depth = 1024;
        wr_transfer t = flat_transfer(WR_WRITE, 0, memory, BYTES);
        CHECK_EQUAL(wr_storage_run(o.storage, &t), 0);
        t = flat_transfer(WR_READ, 0, memory, BYTES);
        CHECK_EQUAL(wr_storage_run(o.storage, &t), 0);
        close_well(&o);
        forget_file(path);
    }
    free(memory);
}

int main(void)
{
    check_within(60);
    test_tunables_change();
    test_open_errors();
    test_pipes();
    in_child(open_without_permission);
    test_folder_vanishes();
    test_read_past_end();
    test_bad_transfers();
    in_child(meet_size_limit);
    in_child(meet_full_disk);
    test_failing_allocations();
    test_budget();
    test_many_opens();
    test_close_reaps();
    test_mem_is_shared_by_name();
    return 0;
}
