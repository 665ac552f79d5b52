/* Shared memory that open files keep between their collective calls, so that a call like the one
 * before finds it ready. Only the files used last keep any: many open files hold little. A file
 * that needs memory may take over the region of the file used longest ago.
 *
 * A rank gives up memory on its own; the others learn it at the entry of that file's next call. An
 * entry is in the list while no collective call of its file is under way. */
#ifndef WR_RUNTIME_REGION_CACHE_H
#define WR_RUNTIME_REGION_CACHE_H

#include <pthread.h>

#include "transport/transport.h"

/* What one file keeps. */
typedef struct wr_cached_regions {
    struct wr_cached_regions *next, **place; /* of the list; place NULL: not in it */
    const struct wr_world *world;
    wr_region *region;            /* the one that another file can take over */
    void (*release)(void *owner); /* gives up everything kept */
    void *owner;
    bool dropped; /* given up since the file's last call */
} wr_cached_regions;

/* The one used last comes first. */
typedef struct wr_region_cache {
    pthread_mutex_t lock;
    wr_cached_regions *first;
    int64_t most; /* entries, as the latest file to enter says */
} wr_region_cache;

/* Before a call, and before the file is closed: from here on nobody else takes its memory. */
void wr_region_cache_leave(wr_region_cache *cache, wr_cached_regions *entry);

/* After a call; `most` entries stay. */
void wr_region_cache_enter(wr_region_cache *cache, wr_cached_regions *entry, int64_t most);

/* Takes over a region of a file of this world: region `number`, or, with 0, the one used longest
 * ago of those of at least `bytes`, once as many files keep theirs as may. */
bool wr_region_cache_take(wr_region_cache *cache, const struct wr_world *world, uint64_t number,
                          int64_t bytes, wr_region *out);

/* All but the first `most` give up theirs. */
void wr_region_cache_drop(wr_region_cache *cache, int64_t most);

#endif
