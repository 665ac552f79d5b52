/* Locks on ranges of a file: between threads that share a storage, between storages, between
 * processes.
 *
 * A table in the storage keeps the threads of a process apart, because they share the description
 * that the kernel's locks belong to. Any thread may lock and unlock while another uses the storage.
 * No order among those who wait is promised, and no deadlock is noticed. */
#ifndef WR_STORAGE_LOCK_H
#define WR_STORAGE_LOCK_H

#include "base/wait.h"
#include "storage/storage.h"

enum wr_lock_kind { WR_LOCK_SHARED, WR_LOCK_EXCLUSIVE, WR_LOCK_NONE };

/* Waits until [lo, hi) is free and locks it; 0 <= lo < hi, and hi == INT64_MAX is the end of any
 * file. Naps of at most 200 microseconds, the waiter's poke between them; NULL: none. */
int wr_range_lock(wr_storage *s, enum wr_lock_kind kind, int64_t lo, int64_t hi,
                  const wr_waiter *waiter);

/* Locks it if it is free: 0, or 1 if it is not, or a negative code. */
int wr_range_try(wr_storage *s, enum wr_lock_kind kind, int64_t lo, int64_t hi);

/* Gives back one lock on exactly [lo, hi). */
int wr_range_unlock(wr_storage *s, int64_t lo, int64_t hi);

/* For the front: NULL with an error raised if there is no memory. */
struct wr_range_table *wr_range_table_new(void);
void wr_range_table_free(struct wr_range_table *table);

/* For a backend's lock operation: whether a lock that is held meets [lo, hi). The one that is just
 * being taken is not there yet, one that is being given back not any more. */
bool wr_range_table_meets(const struct wr_range_table *table, int64_t lo, int64_t hi);

#endif
