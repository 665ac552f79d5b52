/* System calls that are interrupted, cut short or refused: this program has its own pread and
 * pwrite, which misbehave as told, its own set-up of rings, and its own way to enter them. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "storage_support.h"

enum { BYTES = 3 << 20, RUN = 1000 };

/* Every so many calls one misbehaves; all are counted. */
static _Atomic int64_t calls;
static int64_t period;
static enum { FINE, INTERRUPT, AGAIN, CUT, REFUSE_DIRECT, FAIL, ALWAYS_AGAIN } mode;
static int ring_error;

static bool is_direct(int fd)
{
    return fcntl(fd, F_GETFL) & O_DIRECT;
}

/* Whether this call fails, with errno set; or how many bytes it may move. */
static bool misbehaves(int fd, size_t *bytes)
{
    int64_t number = ++calls;
    bool now = period && number % period == 0;
    if (mode == REFUSE_DIRECT && is_direct(fd))
        errno = EINVAL;
    else if (mode == ALWAYS_AGAIN)
        errno = EAGAIN;
    else if (now && (mode == INTERRUPT || mode == AGAIN || mode == FAIL))
        errno = mode == INTERRUPT ? EINTR : mode == AGAIN ? EAGAIN : EIO;
    else {
        if (now && mode == CUT && *bytes > 1)
            *bytes = is_direct(fd) && *bytes > 8192 ? *bytes / 8192 * 4096 : *bytes / 2;
        return false;
    }
    return true;
}

ssize_t pread64(int fd, void *memory, size_t bytes, off64_t offset)
{
    return misbehaves(fd, &bytes) ? -1 : syscall(SYS_pread64, fd, memory, bytes, offset);
}

ssize_t pwrite64(int fd, const void *memory, size_t bytes, off64_t offset)
{
    return misbehaves(fd, &bytes) ? -1 : syscall(SYS_pwrite64, fd, memory, bytes, offset);
}

/* A cut of several entries moves the first only. */
static ssize_t vectored(long number, int fd, const struct iovec *iov, int count, off64_t offset)
{
    size_t bytes = iov->iov_len, whole = bytes;
    if (misbehaves(fd, &bytes))
        return -1;
    struct iovec first = {iov->iov_base, bytes};
    return bytes < whole ? syscall(number, fd, &first, 1, (long)offset, 0L)
                         : syscall(number, fd, iov, count, (long)offset, 0L);
}

ssize_t preadv64(int fd, const struct iovec *iov, int count, off64_t offset)
{
    return vectored(SYS_preadv, fd, iov, count, offset);
}

ssize_t pwritev64(int fd, const struct iovec *iov, int count, off64_t offset)
{
    return vectored(SYS_pwritev, fd, iov, count, offset);
}

#if __has_include(<liburing.h>)
#include <liburing.h>

/* What rings say of what they have done: nothing moved, or an error. */
static bool ring_lies;
static int ring_says;

static int spoil(struct io_uring *ring, int entered)
{
    struct io_uring_cqe *cqe;
    unsigned head;
    io_uring_for_each_cqe(ring, head, cqe)
    {
        if (ring_lies)
            cqe->res = ring_says;
    }
    return entered;
}

int io_uring_submit(struct io_uring *ring)
{
    union {
        void *symbol;
        int (*call)(struct io_uring *ring);
    } next = {dlsym(RTLD_NEXT, "io_uring_submit")};
    return spoil(ring, next.call(ring));
}

int io_uring_submit_and_wait(struct io_uring *ring, unsigned wanted)
{
    union {
        void *symbol;
        int (*call)(struct io_uring *ring, unsigned wanted);
    } next = {dlsym(RTLD_NEXT, "io_uring_submit_and_wait")};
    return spoil(ring, next.call(ring, wanted));
}
#else
struct io_uring;
struct io_uring_params;
static bool ring_lies;
static int ring_says;
int io_uring_queue_init_params(unsigned entries, struct io_uring *ring,
                               struct io_uring_params *params);
#endif

int io_uring_queue_init_params(unsigned entries, struct io_uring *ring,
                               struct io_uring_params *params)
{
    if (ring_error)
        return -ring_error;
    union {
        void *symbol;
        int (*call)(unsigned entries, struct io_uring *ring, struct io_uring_params *params);
    } next = {dlsym(RTLD_NEXT, "io_uring_queue_init_params")};
    return next.call(entries, ring, params);
}

static wr_transfer strided(enum wr_direction direction, char *memory)
{
    return (wr_transfer){.direction = direction,
                         .offset = 100,
                         .run = RUN,
                         .stride = RUN,
                         .count = BYTES / RUN / 2,
                         .memory = memory,
                         .memory_stride = 2 * RUN};
}

/* Writes and reads back a large flat transfer and one that is strided in memory. */
static void write_and_read(const char *hints)
{
    static char memory[BYTES], back[BYTES];
    opened o;
    const char *path = test_path("syscalls");
    fill_pattern(memory, BYTES, 3);
    for (int shape = 0; shape < 2; shape++) {
        memset(back, 0, BYTES);
        open_well(&o, path, FRESH, hints);
        wr_transfer out =
            shape ? strided(WR_WRITE, memory) : flat_transfer(WR_WRITE, 0, memory, BYTES);
        wr_transfer in = shape ? strided(WR_READ, back) : flat_transfer(WR_READ, 0, back, BYTES);
        CHECK_EQUAL(wr_storage_run(o.storage, &out), 0);
        CHECK_EQUAL(wr_storage_run(o.storage, &in), 0);
        for (int64_t i = 0; i < BYTES - BYTES % (2 * RUN); i++)
            if (!shape || i % (2 * RUN) < RUN)
                CHECK(back[i] == memory[i]);
        close_well(&o);
        forget_file(path);
    }
}

static void test_retries(void)
{
    static const char *const all[] = {"storage=posix",
                                      "storage=pool",
                                      "storage=mem",
                                      ("storage=" STRIPED),
                                      "storage=posix;direct=always",
                                      "storage=pool;direct=always;io_threads=3"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (mode = INTERRUPT; mode <= CUT; mode++)
            for (period = mode == CUT ? 1 : 2; period < 5; period++)
                write_and_read(all[i]);
    mode = FINE;
}

static void test_direct_refused(void)
{
    mode = REFUSE_DIRECT;
    write_and_read("storage=posix;direct=always");
    write_and_read("storage=pool;direct=always");
    mode = FINE;
}

/* What always says "again" ends some time, with an error. */
static void test_endless_again(void)
{
    opened o;
    char byte = 1;
    const char *path = test_path("again");
    open_well(&o, path, FRESH, "storage=posix");
    mode = ALWAYS_AGAIN;
    wr_transfer t = flat_transfer(WR_WRITE, 5, &byte, 1);
    CHECK_FAILS(wr_storage_run(o.storage, &t), WEIR_EIO, "cannot write");
    mode = FINE;
    CHECK_EQUAL(weir_error_last()->errnum, EAGAIN);
    CHECK_EQUAL(weir_error_last()->offset, 5);
    close_well(&o);
    forget_file(path);
}

/* An error in the k-th call: done is right, and what lies before it is in the file. */
static void test_error_keeps_prefix(void)
{
    static char memory[BYTES], back[BYTES];
    fill_pattern(memory, BYTES, 5);
    static const char *const all[] = {"storage=posix;direct=always", "storage=pool;direct=always"};
    for (int i = 0; i < 2; i++)
        for (int k = 1; k <= 4; k++) {
            opened o;
            const char *path = test_path("prefix");
            open_well(&o, path, FRESH, all[i]);
            calls = 0;
            mode = FAIL;
            period = k;
            wr_transfer t = flat_transfer(WR_WRITE, 1, memory, BYTES);
            int code = wr_storage_run(o.storage, &t);
            mode = FINE;
            CHECK_EQUAL(code, WEIR_EIO);
            CHECK_EQUAL(weir_error_last()->offset, 1 + t.done);
            CHECK(t.done < BYTES);
            wr_transfer in = flat_transfer(WR_READ, 1, back, t.done);
            CHECK_EQUAL(wr_storage_run(o.storage, &in), 0);
            CHECK(!memcmp(back, memory, (size_t)t.done));
            close_well(&o);
            forget_file(path);
        }
}

/* Where the kernel refuses rings threads take over, and the log says so. */
static void test_fallback(void)
{
    static const int errors[] = {ENOSYS, EPERM, EINVAL, ENOMEM};
    for (int i = 0; i < 4; i++) {
        opened o;
        const char *path = test_path("fallback");
        ring_error = errors[i];
        open_well(&o, path, FRESH | WR_OPEN_EXCLUSIVE, "storage=uring");
        CHECK(!strcmp(o.storage->ops->name, "pool"));
        CHECK(strstr(o.logged, "storage uring: "));
        CHECK(strstr(o.logged, "using pool"));
        close_well(&o);
        forget_file(path);
        write_and_read("storage=uring;direct=always");
    }
    ring_error = 0;
    write_and_read("storage=uring");
}

/* Some file systems fail what they are asked for asynchronously, or move nothing, and do it when
 * they are asked again: only what a plain call says is believed. */
static void test_ring_lies(void)
{
    static const int says[] = {0, -EIO, -EINVAL, -EOPNOTSUPP, -ECANCELED};
    static char memory[BYTES];
    ring_lies = true;
    for (size_t i = 0; i < sizeof says / sizeof *says; i++) {
        ring_says = says[i];
        int64_t before = calls;
        write_and_read("storage=uring");
        CHECK(calls > before);
        write_and_read("storage=uring;direct=always");
    }
    opened o;
    const char *path = test_path("lies");
    open_well(&o, path, FRESH, "storage=uring");
    ring_says = -EIO;
    mode = FAIL; /* the truth */
    period = 1;
    wr_transfer t = flat_transfer(WR_WRITE, 0, memory, BYTES);
    CHECK_FAILS(wr_storage_run(o.storage, &t), WEIR_EIO, "write");
    mode = FINE;
    ring_lies = false;
    close_well(&o);
    forget_file(path);
}

int main(void)
{
    test_retries();
    test_direct_refused();
    test_endless_again();
    test_error_keeps_prefix();
    test_fallback();
    test_ring_lies();
    return 0;
}
