/* The list of files that keep shared memory. */
#include "runtime/region_cache.h"

/* All statics with the lock held. */

static void remove_entry(wr_cached_regions *entry)
{
    if (!entry->place)
        return;
    *entry->place = entry->next;
    if (entry->next)
        entry->next->place = entry->place;
    entry->place = NULL;
}

static void release(wr_cached_regions *entry)
{
    remove_entry(entry);
    entry->release(entry->owner);
    entry->dropped = true;
}

static void drop(wr_region_cache *cache, int64_t most)
{
    wr_cached_regions *entry = cache->first, *next;
    for (int64_t i = 0; entry; entry = next, i++) {
        next = entry->next;
        if (i >= most)
            release(entry);
    }
}

void wr_region_cache_leave(wr_region_cache *cache, wr_cached_regions *entry)
{
    pthread_mutex_lock(&cache->lock);
    remove_entry(entry);
    pthread_mutex_unlock(&cache->lock);
}

void wr_region_cache_enter(wr_region_cache *cache, wr_cached_regions *entry, int64_t most)
{
    pthread_mutex_lock(&cache->lock);
    entry->next = cache->first;
    entry->place = &cache->first;
    if (entry->next)
        entry->next->place = &entry->next;
    cache->first = entry;
    cache->most = most;
    drop(cache, most);
    pthread_mutex_unlock(&cache->lock);
}

bool wr_region_cache_take(wr_region_cache *cache, const struct wr_world *world, uint64_t number,
                          int64_t bytes, wr_region *out)
{
    wr_cached_regions *found = NULL;
    int64_t count = 0;
    pthread_mutex_lock(&cache->lock);
    for (wr_cached_regions *e = cache->first; e; e = e->next, count++) {
        const wr_region *r = e->region;
        if (e->world == world && r->base && r->number &&
            (number ? r->number == number : r->bytes >= bytes))
            found = e;
    }
    if (!number && count < cache->most)
        found = NULL;
    if (found) {
        *out = *found->region;
        *found->region = (wr_region){0};
        release(found);
    }
    pthread_mutex_unlock(&cache->lock);
    return found;
}

void wr_region_cache_drop(wr_region_cache *cache, int64_t most)
{
    pthread_mutex_lock(&cache->lock);
    drop(cache, most);
    pthread_mutex_unlock(&cache->lock);
}
