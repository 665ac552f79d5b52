/* Range locks between threads, between storages and between processes. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storage/lock.h"
#include "storage_support.h"

enum { CELLS = 16, WIDTH = 100, ROUNDS = 3000, THREADS = 4 };

/* What the locks protect, without any other care: a reader must see equal words, a lost update
 * shows in the sum. In memory shared with children. */
typedef struct cell {
    _Atomic int64_t a, b; /* for the thread sanitizer, which does not see locks of the kernel */
} cell;

static int64_t get(_Atomic int64_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

static void set(_Atomic int64_t *word, int64_t value)
{
    atomic_store_explicit(word, value, memory_order_relaxed);
}

typedef struct party {
    wr_storage *storage;
    cell *cells;
    uint64_t seed;
} party;

/* Exclusive on a few cells, adding one to each; or shared, comparing. */
static void *take_part(void *user)
{
    party *p = user;
    rng r = {p->seed};
    for (int i = 0; i < ROUNDS; i++) {
        int64_t lo = rng_within(&r, 0, CELLS - 1), hi = rng_within(&r, lo + 1, CELLS);
        int64_t end = hi == CELLS ? INT64_MAX : hi * WIDTH;
        bool writes = i % 2;
        CHECK_EQUAL(wr_range_lock(p->storage, writes ? WR_LOCK_EXCLUSIVE : WR_LOCK_SHARED,
                                  lo * WIDTH, end, NULL),
                    0);
        for (int64_t c = lo; c < hi; c++) {
            int64_t a = get(&p->cells[c].a);
            CHECK_EQUAL(a, get(&p->cells[c].b));
            if (!writes)
                continue;
            set(&p->cells[c].a, a + 1);
            set(&p->cells[c].b, a + 1);
        }
        CHECK_EQUAL(wr_range_unlock(p->storage, lo * WIDTH, end), 0);
    }
    return NULL;
}

/* How often take_part adds to a cell, from the same random numbers. */
static int64_t expected(uint64_t seed, int64_t c)
{
    rng r = {seed};
    int64_t sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        int64_t lo = rng_within(&r, 0, CELLS - 1), hi = rng_within(&r, lo + 1, CELLS);
        sum += i % 2 && lo <= c && c < hi;
    }
    return sum;
}

static void run_parties(uint64_t seed, wr_storage **storages, int processes, cell *cells)
{
    party parties[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        parties[i] = (party){storages[i], cells, seed + (uint64_t)i};
        if (!processes)
            CHECK(!pthread_create(&threads[i], NULL, take_part, &parties[i]));
        else if (!fork()) {
            take_part(&parties[i]);
            _exit(0);
        }
    }
    for (int i = 0; i < THREADS; i++) {
        int status = 0;
        CHECK(processes ? wait(&status) > 0 && !status : !pthread_join(threads[i], NULL));
    }
    for (int64_t c = 0; c < CELLS; c++) {
        int64_t sum = 0;
        for (int i = 0; i < THREADS; i++)
            sum += expected(seed + (uint64_t)i, c);
        CHECK_EQUAL(cells[c].a, sum);
        cells[c].a = cells[c].b = 0;
    }
}

/* One storage for all threads; one for each; one for each process. */
static void test_exclusion(uint64_t seed, const char *hints)
{
    const char *path = test_path("locks");
    opened files[THREADS];
    wr_storage *one[THREADS], *each[THREADS];
    cell *cells = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(cells != MAP_FAILED);
    for (int i = 0; i < THREADS; i++) {
        open_well(&files[i], path, FRESH, hints);
        each[i] = files[i].storage;
        one[i] = files[0].storage;
    }
    run_parties(seed, one, 0, cells);
    run_parties(seed, each, 0, cells);
    run_parties(seed, each, 1, cells);
    for (int i = 0; i < THREADS; i++)
        close_well(&files[i]);
    forget_file(path);
    munmap(cells, 4096);
}

/* 0 if nobody else holds any of the range. */
static int try_lock(wr_storage *s, int64_t lo, int64_t hi)
{
    int error = s->ops->lock(s, WR_LOCK_EXCLUSIVE, lo, hi);
    return error ? error : s->ops->lock(s, WR_LOCK_NONE, lo, hi);
}

/* Two shared locks overlap; unlocking one must not unlock what the other still covers. */
static void test_partial_release(void)
{
    const char *path = test_path("partial");
    opened a, b;
    open_well(&a, path, FRESH, "storage=posix");
    open_well(&b, path, FRESH, "storage=posix");
    CHECK_EQUAL(wr_range_lock(a.storage, WR_LOCK_SHARED, 0, 10, NULL), 0);
    CHECK_EQUAL(wr_range_lock(a.storage, WR_LOCK_SHARED, 5, 15, NULL), 0);
    CHECK_EQUAL(wr_range_lock(a.storage, WR_LOCK_SHARED, 7, 9, NULL), 0);
    CHECK_EQUAL(wr_range_unlock(a.storage, 0, 10), 0);
    CHECK_EQUAL(try_lock(b.storage, 0, 5), 0);
    CHECK(try_lock(b.storage, 5, 6) != 0);
    CHECK(try_lock(b.storage, 14, 15) != 0);
    CHECK_EQUAL(wr_range_unlock(a.storage, 5, 15), 0);
    CHECK_EQUAL(try_lock(b.storage, 5, 7), 0);
    CHECK(try_lock(b.storage, 8, 9) != 0);
    CHECK_EQUAL(wr_range_unlock(a.storage, 7, 9), 0);
    CHECK_EQUAL(try_lock(b.storage, 0, INT64_MAX), 0);
    CHECK_FAILS(wr_range_unlock(a.storage, 7, 9), WEIR_EINVAL, "not locked");
    CHECK_FAILS(wr_range_lock(a.storage, WR_LOCK_SHARED, 9, 9, NULL), WEIR_EINVAL, "empty");
    wr_alloc_fail_after(0);
    CHECK_FAILS(wr_range_lock(b.storage, WR_LOCK_SHARED, 0, 9, NULL), WEIR_ENOMEM, "lock");
    wr_alloc_fail_after(-1);
    close_well(&a);
    close_well(&b);
    forget_file(path);
}

/* One who modifies and one who has a pass keep each other out; the wake-up word keeps others from
 * taking another; what is given up is as if it had not been. */
static void test_passes(const char *hints)
{
    const char *path = test_path("passes");
    opened a, b;
    bool fresh;
    open_well(&a, path, FRESH, hints);
    open_well(&b, path, FRESH, hints);
    CHECK(wr_lease_use(a.storage, &fresh) && fresh);
    CHECK(wr_lease_use(a.storage, &fresh) && !fresh);
    CHECK_EQUAL(wr_range_try(b.storage, WR_LOCK_EXCLUSIVE, 0, INT64_MAX), 0);
    CHECK_EQUAL(wr_range_unlock(b.storage, 0, INT64_MAX), 0);
    CHECK_EQUAL(wr_range_try(b.storage, WR_LOCK_MODIFY, 0, 9), 1);
    CHECK_EQUAL(try_lock(a.storage, 0, 9), 0);
    CHECK(!wr_lease_use(b.storage, &fresh));
    CHECK_EQUAL(wr_range_try(a.storage, WR_LOCK_MODIFY, 0, 9), 1); /* its own, in use */
    wr_lease_give(a.storage);
    CHECK_EQUAL(wr_range_try(b.storage, WR_LOCK_MODIFY, 0, 9), 1);
    wr_lease_give(a.storage); /* the last, and somebody waits */
    CHECK_EQUAL(wr_range_try(b.storage, WR_LOCK_MODIFY, 0, 9), 0);
    CHECK_EQUAL(wr_range_try(a.storage, WR_LOCK_MODIFY, 20, 29), 0);
    CHECK_EQUAL(wr_range_try(a.storage, WR_LOCK_MODIFY, 30, 39), 0);
    CHECK_EQUAL(wr_range_unlock(a.storage, 20, 29), 0);
    CHECK_EQUAL(wr_range_unlock(b.storage, 0, 9), 0);
    CHECK(!wr_lease_use(b.storage, &fresh));
    CHECK_EQUAL(wr_range_unlock(a.storage, 30, 39), 0);
    for (int i = 0; i < 100 && !wr_lease_use(b.storage, &fresh); i++)
        CHECK(i < 99);
    CHECK_EQUAL(wr_range_try(a.storage, WR_LOCK_MODIFY, 0, 9), 1);
    wr_lease_give(b.storage);
    wr_lease_drop(b.storage);
    CHECK(!wr_lease_use(b.storage, &fresh)); /* the wake-up word rings */
    wr_range_give_up(a.storage, 0, 9);
    for (int i = 0; i < 100 && !wr_lease_use(b.storage, &fresh); i++)
        CHECK(i < 99);
    wr_lease_give(b.storage);
    close_well(&a);
    close_well(&b);
    forget_file(path);
}

/* A pass is good for so many writes, and for so long. */
static void test_pass_ends(void)
{
    const char *path = test_path("pass-ends");
    opened a, b;
    bool fresh;
    open_well(&a, path, FRESH, "storage=posix");
    open_well(&b, path, FRESH, "storage=posix");
    for (int i = 0; i < 3 * WR_LEASE_USES; i++) {
        CHECK(wr_lease_use(a.storage, &fresh));
        CHECK_EQUAL(fresh, i == 0);
        wr_lease_give(a.storage);
    }
    CHECK_EQUAL(wr_range_try(b.storage, WR_LOCK_MODIFY, 0, 9), 0);
    CHECK_EQUAL(wr_range_unlock(b.storage, 0, 9), 0);
    CHECK(wr_lease_use(a.storage, &fresh) && !fresh);
    usleep(2 * WR_LEASE_US);
    CHECK_EQUAL(wr_lease_tend(a.storage), WR_LEASE_US); /* in use: given back by its user */
    CHECK(!wr_lease_use(a.storage, &fresh));
    CHECK_EQUAL(wr_range_try(b.storage, WR_LOCK_MODIFY, 0, 9), 1);
    wr_lease_give(a.storage);
    CHECK_EQUAL(wr_range_try(b.storage, WR_LOCK_MODIFY, 0, 9), 0);
    CHECK_EQUAL(wr_range_unlock(b.storage, 0, 9), 0);
    CHECK(wr_lease_use(a.storage, &fresh) && !fresh);
    wr_lease_give(a.storage);
    usleep(2 * WR_LEASE_US);
    CHECK_EQUAL(wr_lease_tend(a.storage), WR_LEASE_US);
    CHECK_EQUAL(wr_range_try(b.storage, WR_LOCK_MODIFY, 0, 9), 0);
    CHECK_EQUAL(wr_range_unlock(b.storage, 0, 9), 0);
    for (int i = 0; i < WR_LEASE_IDLE; i++)
        CHECK_EQUAL(wr_lease_tend(a.storage), WR_LEASE_US);
    CHECK_EQUAL(wr_lease_tend(a.storage), 0);
    CHECK(wr_lease_use(a.storage, &fresh) && fresh);
    wr_lease_give(a.storage);
    close_well(&a);
    close_well(&b);
    forget_file(path);
}

/* Who claims a range and is not seen again keeps nobody out for long, not even who also tries for
 * others, which nobody claims. */
static void test_lost_claim(void)
{
    const char *path = test_path("claim");
    opened a, b;
    int tries = 0;
    open_well(&a, path, FRESH, "storage=posix");
    open_well(&b, path, FRESH, "storage=posix");
    CHECK_EQUAL(wr_range_try(a.storage, WR_LOCK_SHARED, 450, 460), 0);
    CHECK_EQUAL(wr_range_try(b.storage, WR_LOCK_EXCLUSIVE, 450, 451), 1);
    CHECK_EQUAL(wr_range_unlock(a.storage, 450, 460), 0);
    for (; wr_range_try(a.storage, WR_LOCK_SHARED, 400, 500) == 1; tries++) {
        CHECK_EQUAL(wr_range_try(a.storage, WR_LOCK_SHARED, 0, 100), 0);
        CHECK_EQUAL(wr_range_unlock(a.storage, 0, 100), 0);
        CHECK(tries < 2000);
        usleep(1000);
    }
    CHECK(tries > 0);
    CHECK_EQUAL(wr_range_unlock(a.storage, 400, 500), 0);
    close_well(&a);
    close_well(&b);
    forget_file(path);
}

/* Locks of one's own that are shared are in nobody's way who locks shared. */
static void test_whose_lock(void)
{
    const char *path = test_path("whose");
    opened a, b;
    open_well(&a, path, FRESH, "storage=posix;lock_wait=20");
    open_well(&b, path, FRESH, "storage=posix");
    CHECK_EQUAL(wr_range_try(a.storage, WR_LOCK_SHARED, 0, 5), 0);
    CHECK_EQUAL(wr_range_try(b.storage, WR_LOCK_EXCLUSIVE, 7, 9), 0);
    CHECK_FAILS(wr_range_lock(a.storage, WR_LOCK_SHARED, 0, 10, NULL), WEIR_EIO,
                "has an exclusive lock on bytes 7 to 9");
    CHECK_FAILS(wr_range_lock(a.storage, WR_LOCK_EXCLUSIVE, 0, 5, NULL), WEIR_EIO,
                "another thread");
    close_well(&a);
    close_well(&b);
    forget_file(path);
}

static void unlock_at_third(void *user)
{
    static int pokes;
    if (++pokes == 3)
        CHECK_EQUAL(wr_range_unlock(user, 0, 1), 0);
}

/* Whoever waits pokes: here the poke is what lets the lock go. */
static void test_poke(void)
{
    const char *path = test_path("poke");
    opened a, b;
    open_well(&a, path, FRESH, "storage=posix");
    open_well(&b, path, WR_OPEN_READ, "storage=posix");
    CHECK_EQUAL(wr_range_lock(a.storage, WR_LOCK_EXCLUSIVE, 0, 1, NULL), 0);
    wr_waiter waiter = {.poke = unlock_at_third, .user = a.storage};
    CHECK_EQUAL(wr_range_lock(b.storage, WR_LOCK_EXCLUSIVE, 0, 1, &waiter), 0);
    CHECK_EQUAL(wr_range_unlock(b.storage, 0, 1), 0);
    close_well(&a);
    close_well(&b);
    forget_file(path);
}

/* A process that ends lets go. */
static void test_holder_dies(void)
{
    const char *path = test_path("dies");
    int ready[2];
    char byte;
    CHECK_EQUAL(pipe(ready), 0);
    pid_t child = fork();
    if (!child) {
        opened o;
        open_well(&o, path, FRESH, "storage=posix");
        CHECK_EQUAL(wr_range_lock(o.storage, WR_LOCK_EXCLUSIVE, 0, INT64_MAX, NULL), 0);
        CHECK_EQUAL(write(ready[1], "x", 1), 1);
        pause();
    }
    CHECK_EQUAL(read(ready[0], &byte, 1), 1);
    opened o;
    open_well(&o, path, FRESH, "storage=posix");
    CHECK(try_lock(o.storage, 5, 6) != 0);
    kill(child, SIGKILL);
    CHECK_EQUAL(wr_range_lock(o.storage, WR_LOCK_SHARED, 5, 6, NULL), 0);
    waitpid(child, NULL, 0);
    close_well(&o);
    forget_file(path);
    close(ready[0]);
    close(ready[1]);
}

int main(void)
{
    uint64_t seed = test_seed();
    test_exclusion(seed, "storage=posix");
    test_exclusion(seed, "storage=mem;fault=delay:1");
    test_exclusion(seed, "storage=" STRIPED);
    test_passes("storage=posix");
    test_passes("storage=mem;fault=delay:1");
    test_passes("storage=" STRIPED);
    test_pass_ends();
    test_lost_claim();
    test_whose_lock();
    test_partial_release();
    test_poke();
    test_holder_dies();
    return 0;
}
