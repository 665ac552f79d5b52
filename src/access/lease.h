/* Small independent writes without a lock for each.
 *
 * While a rank holds a lease (storage/lock.h) nobody can read, modify and write the file, so a
 * lease must not outlive the burst of writes it was taken for. The lease reaper, a job of the
 * progress thread, gives back leases that are too old. It starts with the first write that could
 * use a lease and stops when the file is closed. Without a progress thread there are no leases.
 *
 * Invariant
 *   K4  a rank that holds a lease waits for nothing, and gives it back without its program's help
 */
#ifndef WR_ACCESS_LEASE_H
#define WR_ACCESS_LEASE_H

#include "runtime/progress.h"

struct wr_handle;

enum wr_reaper_state { WR_REAPER_UNKNOWN, WR_REAPER_RUNNING, WR_REAPER_NONE };

typedef struct wr_lease_reaper {
    wr_job job;
    _Atomic int state;    /* enum wr_reaper_state */
    pthread_mutex_t lock; /* of starting it */
    wr_word call;         /* changes when there is a fresh lease, */
    wr_word stopping;     /* and when the file is closed */
} wr_lease_reaper;

/* Whether a little may be written without a lock; then wr_lease_give comes after it. Not for tasks,
 * which may be left in the middle of a write. */
bool wr_lease_reaper_admit(struct wr_handle *handle);

/* When nobody writes any more. */
void wr_lease_reaper_stop(struct wr_handle *handle);

#endif
