/* Members that are many, short, missing or refused; locks on them; what must not be lost when one
 * is closed for another. This program has its own close and fsync, which count and fail as told. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "member_set.h"
#include "storage/lock.h"
#include "storage/members.h"

enum { SKIP = 128, BYTES = 1000 };

static const char *const backends[] = {"storage=posix", "storage=pool", "storage=uring",
                                       "storage=mem"};

static _Atomic int64_t syncs;
static _Atomic int failing_closes;

int fsync(int fd)
{
    syncs++;
    return (int)syscall(SYS_fsync, fd);
}

int close(int fd)
{
    int code = (int)syscall(SYS_close, fd);
    if (!failing_closes)
        return code;
    failing_closes--;
    errno = EDQUOT;
    return -1;
}

static member_set set;

static void make_set(const char *hints, int count)
{
    memset(&set, 0, sizeof set);
    for (int i = 0; i < count; i++)
        set_add(&set, hints, SKIP, BYTES);
}

static wr_transfer run(opened *o, enum wr_direction direction, int64_t offset, int64_t bytes)
{
    static char memory[SET_MOST * BYTES];
    wr_transfer t = flat_transfer(direction, offset, memory, bytes);
    wr_storage_submit(o->storage, &t);
    CHECK(wr_storage_reap(o->storage, true) == &t);
    return t;
}

/* It came so far and then met an error in member m, so far in its file. */
static void check_failed(const opened *o, const wr_transfer *t, int64_t done, int code, int m)
{
    CHECK_EQUAL(t->done, done);
    CHECK_EQUAL(wr_transfer_check(o->storage, t), code);
    CHECK(!strcmp(weir_error_last()->file, set.path[m]));
    CHECK_EQUAL(weir_error_last()->offset, SKIP + t->offset + done - set_start(&set, m));
}

/* The members behind must not move up. */
static void test_truncated(const char *hints)
{
    opened o;
    make_set(hints, 4);
    open_well(&o, set.path[1], READ_WRITE, hints);
    CHECK_EQUAL(wr_storage_set_size(o.storage, SKIP + 400), 0);
    close_well(&o);
    set_open(&o, &set, READ_WRITE, hints);
    wr_transfer t = run(&o, WR_READ, 0, 4 * BYTES);
    CHECK_EQUAL(t.error, 0);
    check_failed(&o, &t, BYTES + 400, WEIR_EIO, 1);
    t = run(&o, WR_READ, BYTES + 400, 10);
    check_failed(&o, &t, 0, WEIR_EIO, 1);
    t = run(&o, WR_READ, 2 * BYTES, 2 * BYTES);
    CHECK_EQUAL(t.done, 2 * BYTES);
    char back[8] = {0};
    wr_transfer strided = {.offset = BYTES + 390,
                           .run = 2,
                           .count = 4,
                           .stride = 9,
                           .memory = back,
                           .memory_stride = 2};
    CHECK_FAILS(wr_storage_run(o.storage, &strided), WEIR_EIO, "after 3 of 8 bytes");
    t = run(&o, WR_WRITE, 0, 4 * BYTES); /* which makes it whole again */
    CHECK_EQUAL(t.done, 4 * BYTES);
    t = run(&o, WR_READ, 0, 4 * BYTES);
    CHECK_EQUAL(t.done, 4 * BYTES);
    close_well(&o);
    set_forget(&set);
}

static void test_missing(const char *hints)
{
    opened o;
    make_set(hints, 3);
    forget_file(set.path[1]);
    set_open(&o, &set, READ_WRITE, hints);
    for (int i = 0; i < 2; i++) {
        enum wr_direction direction = i ? WR_WRITE : WR_READ;
        wr_transfer t = run(&o, direction, 0, 3 * BYTES);
        check_failed(&o, &t, BYTES, WEIR_ENOENT, 1);
        t = run(&o, direction, BYTES + 1, 10);
        check_failed(&o, &t, 0, WEIR_ENOENT, 1);
        t = run(&o, direction, 2 * BYTES, BYTES);
        CHECK_EQUAL(wr_transfer_check(o.storage, &t), 0);
    }
    CHECK_EQUAL(wr_storage_sync(o.storage, WR_SYNC_STORE), 0);
    CHECK_EQUAL(wr_range_try(o.storage, WR_LOCK_EXCLUSIVE, 0, 3 * BYTES), WEIR_ENOENT);
    CHECK(!strcmp(weir_error_last()->file, set.path[1]));
    opened other;
    set_open(&other, &set, READ_WRITE, hints);
    CHECK_EQUAL(wr_range_try(other.storage, WR_LOCK_EXCLUSIVE, 0, BYTES), 0);
    close_well(&other);
    close_well(&o);
    set_forget(&set);
}

static void test_never_opened(void)
{
    opened o;
    make_set("storage=posix", 2);
    set.member[set.members.count++] = (wr_member){"no-such-member", 0, 0};
    set_open(&o, &set, READ_WRITE, "storage=posix");
    wr_transfer t = run(&o, WR_WRITE, 0, 2 * BYTES);
    CHECK_EQUAL(wr_transfer_check(o.storage, &t), 0);
    CHECK_EQUAL(wr_storage_sync(o.storage, WR_SYNC_STORE), 0);
    CHECK_EQUAL(wr_range_try(o.storage, WR_LOCK_EXCLUSIVE, 0, INT64_MAX), 0);
    close_well(&o);
    set.members.count--;
    set_forget(&set);
}

static void test_refused(void)
{
    make_set("storage=posix", 3);
    CHECK_EQUAL(chmod(set.path[1], 0), 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        opened o;
        CHECK(geteuid() || !(setegid(65534) + seteuid(65534)));
        set_open(&o, &set, WR_OPEN_READ, "storage=posix");
        wr_transfer t = run(&o, WR_READ, 0, 3 * BYTES);
        check_failed(&o, &t, BYTES, WEIR_EACCESS, 1);
        close_well(&o);
        _exit(0);
    }
    int status;
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    set_forget(&set);
}

static void test_misuse(void)
{
    opened o;
    int64_t size = 0;
    const wr_member long_ones[] = {{"a", 0, INT64_MAX}, {"b", 0, 1}}, far = {"a", INT64_MAX, 1},
                    negative = {"a", 0, -1};
    make_set("storage=posix", 2);
    CHECK_FAILS(open_members(&o, &set.members, FRESH, ""), WEIR_EINVAL, "created or truncated");
    CHECK_FAILS(open_members(&o, &set.members, READ_WRITE | WR_OPEN_TRUNCATE, ""), WEIR_EINVAL,
                "truncated");
    CHECK_FAILS(open_members(&o, &(wr_members){2, long_ones}, 1, ""), WEIR_ERANGE, "bytes");
    CHECK_FAILS(open_members(&o, &(wr_members){1, &far}, 1, ""), WEIR_ERANGE, "bytes");
    CHECK_FAILS(open_members(&o, &(wr_members){1, &negative}, 1, ""), WEIR_EINVAL, "negative");
    CHECK_EQUAL(open_members(&o, &(wr_members){0, NULL}, READ_WRITE, ""), 0);
    CHECK_EQUAL(run(&o, WR_READ, 0, 1).done, 0);
    CHECK_EQUAL(wr_range_try(o.storage, WR_LOCK_EXCLUSIVE, 0, INT64_MAX), 0);
    close_well(&o);
    set_open(&o, &set, READ_WRITE, "storage=posix");
    CHECK_FAILS(wr_storage_set_size(o.storage, 1), WEIR_EUNSUPPORTED, "keep their size");
    CHECK_EQUAL(wr_storage_set_size(o.storage, 2 * BYTES), 0);
    CHECK_EQUAL(wr_storage_preallocate(o.storage, BYTES), 0);
    CHECK_FAILS(wr_storage_preallocate(o.storage, 9 * BYTES), WEIR_EUNSUPPORTED, "size");
    CHECK_EQUAL(wr_storage_get_size(o.storage, &size), 0);
    CHECK_EQUAL(size, 2 * BYTES);
    wr_transfer t = run(&o, WR_WRITE, BYTES, BYTES + 1);
    CHECK_EQUAL(t.done, BYTES);
    CHECK_FAILS(wr_transfer_check(o.storage, &t), WEIR_ENOSPC, "write");
    CHECK(!strcmp(weir_error_last()->file, "set"));
    CHECK_EQUAL(weir_error_last()->offset, 2 * BYTES);
    close_well(&o);
    set_forget(&set);
}

/* So many files are open and no more; what was written is synced, open or not. */
static void test_many(void)
{
    opened o;
    make_set("storage=posix", SET_MOST);
    int before = count_descriptors();
    set_open(&o, &set, READ_WRITE, "storage=posix");
    CHECK_EQUAL(count_descriptors(), before);
    wr_transfer t = run(&o, WR_WRITE, 0, set.size);
    CHECK_EQUAL(t.done, set.size);
    CHECK_EQUAL(count_descriptors(), before + WR_MEMBERS_OPEN);
    syncs = 0;
    CHECK_EQUAL(wr_storage_sync(o.storage, WR_SYNC_STORE), 0);
    CHECK_EQUAL(syncs, SET_MOST);
    CHECK_EQUAL(count_descriptors(), before + WR_MEMBERS_OPEN);
    CHECK_EQUAL(wr_storage_sync(o.storage, WR_SYNC_STORE), 0);
    CHECK(syncs <= SET_MOST + WR_MEMBERS_OPEN);
    close_well(&o);
    CHECK_EQUAL(count_descriptors(), before);
    set_forget(&set);
}

/* With fewer descriptors than it would like it makes do. */
static void test_few_descriptors(const char *hints)
{
    make_set(hints, SET_MOST);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        opened o;
        CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &(struct rlimit){40, 40}), 0);
        set_open(&o, &set, READ_WRITE, hints);
        CHECK_EQUAL(run(&o, WR_READ, 0, BYTES).done, BYTES);
        for (int i = 0; i < SET_MOST; i++)
            CHECK_EQUAL(run(&o, WR_WRITE, i * BYTES, BYTES).done, BYTES);
        _exit(0);
    }
    int status;
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    set_forget(&set);
}

/* The error of closing a file for another comes with the next sync, and with closing. */
static void test_close_error(void)
{
    opened o;
    make_set("storage=posix", WR_MEMBERS_OPEN + 1);
    set_open(&o, &set, READ_WRITE, "storage=posix");
    wr_transfer t = run(&o, WR_WRITE, 0, WR_MEMBERS_OPEN * BYTES);
    CHECK_EQUAL(wr_storage_sync(o.storage, WR_SYNC_STORE), 0);
    failing_closes = 1;
    t = run(&o, WR_WRITE, WR_MEMBERS_OPEN * BYTES, BYTES);
    CHECK_EQUAL(wr_transfer_check(o.storage, &t), 0);
    CHECK_FAILS(wr_storage_sync(o.storage, WR_SYNC_STORE), WEIR_ENOSPC, "close");
    CHECK(!strcmp(weir_error_last()->file, set.path[0]));
    CHECK_FAILS(wr_storage_close(o.storage), WEIR_ENOSPC, "close");
    set_forget(&set);
}

static void test_failing_allocations(const char *hints)
{
    make_set(hints, 3);
    for (int k = 0, code = WEIR_ENOMEM; code; k++) {
        opened o;
        int before = count_descriptors();
        wr_alloc_fail_after(k);
        code = open_members(&o, &set.members, READ_WRITE, hints);
        if (!code) {
            wr_transfer t = run(&o, WR_WRITE, 0, set.size);
            code = wr_transfer_check(o.storage, &t);
            wr_alloc_fail_after(-1);
            close_well(&o);
        }
        wr_alloc_fail_after(-1);
        CHECK(!code || code == WEIR_ENOMEM);
        CHECK_EQUAL(count_descriptors(), before);
        CHECK(k < 60);
    }
    set_forget(&set);
}

/* 0: free for another; otherwise 1. */
static int is_taken(opened *o, int64_t lo, int64_t hi)
{
    int code = wr_range_try(o->storage, WR_LOCK_EXCLUSIVE, lo, hi);
    if (!code)
        CHECK_EQUAL(wr_range_unlock(o->storage, lo, hi), 0);
    wr_range_give_up(o->storage, lo, hi);
    return code;
}

/* A pass that another has on a member keeps the whole from being modified there, and only there;
 * the whole has none itself. */
static void test_passes(const char *hints)
{
    opened whole, one;
    bool fresh;
    make_set(hints, 3);
    set_open(&whole, &set, READ_WRITE, hints);
    open_well(&one, set.path[1], READ_WRITE, hints);
    CHECK(!wr_lease_use(whole.storage, &fresh));
    CHECK(wr_lease_use(one.storage, &fresh));
    CHECK_EQUAL(wr_range_try(whole.storage, WR_LOCK_MODIFY, 0, 3 * BYTES), 1);
    CHECK_EQUAL(wr_range_try(whole.storage, WR_LOCK_MODIFY, 0, BYTES), 0);
    CHECK_EQUAL(wr_range_try(whole.storage, WR_LOCK_MODIFY, BYTES, BYTES + 1), 1);
    wr_lease_give(one.storage);
    wr_lease_drop(one.storage);
    CHECK_EQUAL(wr_range_try(whole.storage, WR_LOCK_MODIFY, BYTES, 3 * BYTES), 0);
    CHECK(!wr_lease_use(one.storage, &fresh));
    CHECK_EQUAL(wr_range_unlock(whole.storage, 0, BYTES), 0);
    CHECK_EQUAL(is_taken(&one, set.member[1].skip, set.member[1].skip + 1), 1);
    CHECK_EQUAL(wr_range_unlock(whole.storage, BYTES, 3 * BYTES), 0);
    CHECK_EQUAL(is_taken(&one, 0, INT64_MAX), 0);
    for (int i = 0; i < 100 && !wr_lease_use(one.storage, &fresh); i++)
        CHECK(i < 99);
    CHECK_EQUAL(wr_range_try(whole.storage, WR_LOCK_MODIFY, 0, 3 * BYTES), 1);
    wr_range_give_up(whole.storage, 0, 3 * BYTES);
    wr_lease_give(one.storage);
    wr_lease_drop(one.storage);
    CHECK(wr_lease_use(one.storage, &fresh));
    close_well(&one);
    close_well(&whole);
    set_forget(&set);
}

static void test_locks(const char *hints)
{
    opened a, b, c;
    make_set(hints, 4);
    set_open(&a, &set, READ_WRITE, hints);
    set_open(&b, &set, READ_WRITE, hints);
    set_open(&c, &set, READ_WRITE, hints);
    CHECK_EQUAL(wr_range_try(a.storage, WR_LOCK_EXCLUSIVE, BYTES + 500, 3 * BYTES + 1), 0);
    CHECK_EQUAL(is_taken(&b, 0, BYTES + 500), 0);
    CHECK_EQUAL(is_taken(&b, BYTES + 500, BYTES + 501), 1);
    CHECK_EQUAL(is_taken(&b, 2 * BYTES + 9, 2 * BYTES + 10), 1);
    CHECK_EQUAL(is_taken(&b, 3 * BYTES, INT64_MAX), 1);
    CHECK_EQUAL(is_taken(&b, 3 * BYTES + 1, INT64_MAX), 0);
    CHECK_EQUAL(wr_range_try(b.storage, WR_LOCK_SHARED, 0, 500), 0);
    CHECK_EQUAL(wr_range_try(b.storage, WR_LOCK_SHARED, 400, 2 * BYTES), 1); /* takes some first */
    CHECK_EQUAL(is_taken(&c, 500, BYTES + 500), 0);
    CHECK_EQUAL(is_taken(&c, 450, 451), 1);
    CHECK_EQUAL(wr_range_unlock(a.storage, BYTES + 500, 3 * BYTES + 1), 0);
    CHECK_EQUAL(wr_range_try(b.storage, WR_LOCK_SHARED, 400, 2 * BYTES), 0);
    CHECK_EQUAL(wr_range_try(c.storage, WR_LOCK_SHARED, 0, INT64_MAX), 0);
    CHECK_EQUAL(wr_range_unlock(c.storage, 0, INT64_MAX), 0);
    CHECK_EQUAL(wr_range_unlock(b.storage, 0, 500), 0);
    CHECK_EQUAL(is_taken(&c, 0, 400), 0);
    CHECK_EQUAL(is_taken(&c, 400, 401), 1);
    CHECK_EQUAL(wr_range_unlock(b.storage, 400, 2 * BYTES), 0);
    CHECK_EQUAL(is_taken(&c, 0, INT64_MAX), 0);
    close_well(&a);
    close_well(&b);
    close_well(&c);
    set_forget(&set);
}

/* A file with a lock on it is not closed for another; later it may be. */
static void test_locks_stay(void)
{
    opened a, b;
    make_set("storage=posix", SET_MOST);
    int before = count_descriptors();
    set_open(&a, &set, READ_WRITE, "storage=posix");
    set_open(&b, &set, READ_WRITE, "storage=posix");
    CHECK_EQUAL(wr_range_try(a.storage, WR_LOCK_EXCLUSIVE, 10, 2 * BYTES + 10), 0);
    CHECK_EQUAL(run(&a, WR_WRITE, 0, set.size).done, set.size);
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(is_taken(&b, i * BYTES, (i + 1) * BYTES), 1);
    CHECK_EQUAL(wr_range_unlock(a.storage, 10, 2 * BYTES + 10), 0);
    close_well(&b);
    CHECK_EQUAL(wr_range_try(a.storage, WR_LOCK_SHARED, 0, INT64_MAX), 0);
    CHECK_EQUAL(count_descriptors(), before + SET_MOST);
    CHECK_EQUAL(run(&a, WR_READ, 0, set.size).done, set.size);
    CHECK_EQUAL(wr_range_unlock(a.storage, 0, INT64_MAX), 0);
    CHECK_EQUAL(count_descriptors(), before + WR_MEMBERS_OPEN);
    set_open(&b, &set, READ_WRITE, "storage=posix");
    CHECK_EQUAL(is_taken(&b, 0, INT64_MAX), 0);
    close_well(&b);
    close_well(&a);
    set_forget(&set);
}

typedef struct locker {
    wr_storage *storage;
    _Atomic int64_t *inside; /* by member: who has it */
    uint64_t seed;
    bool moves; /* has transfers meanwhile; only one of a storage's may */
} locker;

static void *lock_and_move(void *user)
{
    const locker *l = user;
    rng r = {l->seed};
    char byte = 0;
    for (int i = 0; i < 400; i++) {
        int64_t lo = rng_within(&r, 0, SET_MOST - 1), hi = rng_within(&r, lo + 1, SET_MOST);
        hi = hi > lo + 4 ? lo + 4 : hi;
        CHECK_EQUAL(wr_range_lock(l->storage, WR_LOCK_EXCLUSIVE, lo * BYTES, hi * BYTES, NULL), 0);
        for (int64_t m = lo; m < hi; m++)
            CHECK_EQUAL(atomic_fetch_add(&l->inside[m], 1), 0);
        for (int k = 0; l->moves && k < 20; k++) {
            wr_transfer t = flat_transfer(WR_READ, rng_within(&r, 0, set.size - 1), &byte, 1);
            CHECK_EQUAL(wr_storage_run(l->storage, &t), 0);
        }
        for (int64_t m = lo; m < hi; m++)
            CHECK_EQUAL(atomic_fetch_sub(&l->inside[m], 1), 1);
        CHECK_EQUAL(wr_range_unlock(l->storage, lo * BYTES, hi * BYTES), 0);
    }
    return NULL;
}

/* Two storages, two threads each; files come and go under their hands. */
static void test_threads(uint64_t seed)
{
    static _Atomic int64_t inside[SET_MOST];
    opened o[2];
    pthread_t threads[4];
    locker lockers[4];
    make_set("storage=posix", SET_MOST);
    for (int i = 0; i < 4; i++) {
        if (i % 2 == 0)
            set_open(&o[i / 2], &set, READ_WRITE, i ? "storage=pool" : "storage=posix");
        lockers[i] = (locker){o[i / 2].storage, inside, seed + (uint64_t)i, i % 2};
        CHECK(!pthread_create(&threads[i], NULL, lock_and_move, &lockers[i]));
    }
    for (int i = 0; i < 4; i++)
        CHECK(!pthread_join(threads[i], NULL));
    close_well(&o[0]);
    close_well(&o[1]);
    set_forget(&set);
}

/* Where the kernel refuses rings, that is said once and not for every member. */
static void test_log_once(void)
{
    opened o;
    make_set("storage=posix", 20);
    set_open(&o, &set, READ_WRITE, "storage=uring");
    CHECK_EQUAL(run(&o, WR_READ, 0, set.size).done, set.size);
    const char *line = strstr(o.logged, "using pool");
    CHECK(!line || !strstr(line + 1, "using pool"));
    close_well(&o);
    set_forget(&set);
}

int main(void)
{
    uint64_t seed = test_seed();
    for (int b = 0; b < 4; b++) {
        test_truncated(backends[b]);
        test_missing(backends[b]);
        test_passes(backends[b]);
        test_locks(backends[b]);
        test_failing_allocations(backends[b]);
        if (b < 3)
            test_few_descriptors(backends[b]);
    }
    test_never_opened();
    test_refused();
    test_misuse();
    test_many();
    test_close_error();
    test_locks_stay();
    test_threads(seed);
    test_log_once();
    return 0;
}
