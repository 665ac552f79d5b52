/* Locks on ranges of a file: between threads that share a storage, between storages, between
 * processes.
 *
 * A table in the storage keeps the threads of a process apart, because they share the description
 * that the kernel's locks belong to. Any thread may lock and unlock while another uses the storage.
 * No deadlock is noticed, and no order among those who wait is promised but one: who tries to lock
 * shared lets those go first who wait to have some of the range alone, for a moment.
 *
 * Where the file system has no locks there is only the table. */
#ifndef WR_STORAGE_LOCK_H
#define WR_STORAGE_LOCK_H

#include "base/wait.h"
#include "storage/storage.h"

enum wr_lock_kind {
    WR_LOCK_SHARED,
    WR_LOCK_EXCLUSIVE,
    WR_LOCK_MODIFY, /* exclusive, and nobody holds a lease: to read, modify and write */
    WR_LOCK_NONE,
    /* A backend's alone. The lease barrier of a file is open while nobody holds a lease to it. Who
     * cannot have it rings the wake-up word, and while that rings nobody takes a lease. */
    WR_LOCK_BARRIER,
    WR_LOCK_GATE_NONE,
    WR_LOCK_BELL_NONE, /* for who rang it and did not come in */
    WR_LOCK_PASS,      /* the range is its number and the next */
    WR_LOCK_PASS_NONE,
    WR_LOCK_CLAIM, /* says that somebody waits to have the range alone, and keeps nobody out */
    WR_LOCK_CLAIM_NONE,
    WR_LOCK_CLAIMED, /* 1 if another claims some of the range; locks nothing */
    WR_LOCK_HOLDER   /* fails, and says who else holds some of the range */
};

/* Numbers of leases to a file, and for how long one is good: so many writes and microseconds; and
 * how often one looks for it in vain before nobody does. To wake who looks, for each burst of
 * writes, took longer than the burst where there are more ranks than cores. */
enum { WR_LEASES = 1 << 20, WR_LEASE_USES = 64, WR_LEASE_US = 4000, WR_LEASE_IDLE = 8 };

/* Waits until [lo, hi) is free and locks it; 0 <= lo < hi, and hi == INT64_MAX is the end of any
 * file. Naps of at most 200 microseconds, the waiter's poke between them; NULL: none. After
 * lock_wait it fails with EAGAIN and says who has the lock. */
int wr_range_lock(wr_storage *s, enum wr_lock_kind kind, int64_t lo, int64_t hi,
                  const wr_waiter *waiter);

/* Locks it if it is free: 0, or 1 if it is not, or a negative code. */
int wr_range_try(wr_storage *s, enum wr_lock_kind kind, int64_t lo, int64_t hi);

/* Gives back one lock on exactly [lo, hi). */
int wr_range_unlock(wr_storage *s, int64_t lo, int64_t hi);

/* For who tried in vain to lock some of [lo, hi) other than shared and does not go on. */
void wr_range_give_up(wr_storage *s, int64_t lo, int64_t hi);

/* How long somebody has tried to have a lock; {0} before he does. */
typedef struct wr_range_wait {
    int64_t last, waited; /* when he last tried, and for how long: nanoseconds */
} wr_range_wait;

/* For who tries again and again, after each time: whether that has taken longer than lock_wait.
 * While he does something else time counts little: who has hardly tried is not late. */
bool wr_range_is_late(const wr_storage *s, wr_range_wait *wait);

/* Fails as wr_range_lock does when it is late. */
int wr_range_fail_late(wr_storage *s, enum wr_lock_kind kind, int64_t lo, int64_t hi);

/* Another lock_wait, in milliseconds, than it was opened with. While nobody locks. */
void wr_range_set_wait(wr_storage *s, int64_t lock_wait);

/* Whether the file can be locked between processes. */
bool wr_range_probe(wr_storage *s);

/* Whether it says that there are no locks: no such call, none for this file system, none left. */
bool wr_range_is_unsupported(int errnum);

/* From now on only the threads that share the storage are kept apart. */
void wr_range_go_without(wr_storage *s);

/* --- leases: many small writes without a lock for each --- */

/* Whether this thread may write without a lock until wr_lease_give; *fresh: somebody must begin to
 * tend leases. False: it has to lock. */
bool wr_lease_use(wr_storage *s, bool *fresh);
void wr_lease_give(wr_storage *s);

/* Gives back a lease that nobody uses. */
void wr_lease_drop(wr_storage *s);

/* Gives back one that is too old, or sees to it that its last user does. Returns after how many
 * microseconds to look again; 0: when one is fresh. */
int64_t wr_lease_tend(wr_storage *s);

/* How many writes had a lease so far. */
int64_t wr_lease_uses(wr_storage *s);

/* For the front: NULL with an error raised if there is no memory. */
struct wr_range_table *wr_range_table_new(int64_t lock_wait);
void wr_range_table_free(struct wr_range_table *table);

/* For a backend's lock operation: whether a lock that is held meets [lo, hi). The one that is just
 * being taken is not there yet, one that is being given back not any more. */
bool wr_range_table_meets(const struct wr_range_table *table, int64_t lo, int64_t hi);

#endif
