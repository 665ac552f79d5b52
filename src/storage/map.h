/* Pages of a file in this process's address space, for what lies in small pieces all over it: no
 * system call, and no copy but the caller's own.
 *
 * Pages are asked for first, in a way that can fail and is faster than touching them (wr_map_hold).
 * They count as held until they are given up, which bounds how long. What vanishes meanwhile,
 * because somebody cuts the file, is met only within wr_map_read. */
#ifndef WR_STORAGE_MAP_H
#define WR_STORAGE_MAP_H

#include "storage/storage.h"

/* Zeroed is closed. Used by one thread at a time. */
typedef struct wr_map {
    char *base; /* byte 0 of the file */
    int64_t bytes;
    uint64_t *held;    /* a bit a page */
    uint64_t *written; /* the same: this process wrote to it, so that storing there costs little */
    int64_t mapped;    /* bytes, at most */
    int shift;         /* a page has 1 << shift bytes */
    bool writable;
} wr_map;

/* Makes sure that bytes below `hi` can be asked for; false where that is not possible. */
bool wr_map_reach(wr_map *map, const wr_storage *s, int64_t hi);

/* Whether the file reaches that far at this moment. */
bool wr_map_is_within(const wr_storage *s, int64_t hi);

/* Whether the page of a byte is held. */
static inline bool wr_map_holds(const wr_map *map, int64_t at)
{
    enum { BITS = 64 };
    const int64_t page = at >> map->shift;
    return at < map->bytes && map->held[page / BITS] >> page % BITS & 1;
}

/* Reads what of [lo, hi) is not there yet, and holds it; false if a page cannot be read. */
bool wr_map_hold(wr_map *map, int64_t lo, int64_t hi);

/* Calls read(user), which may touch what is held below `hi` and can be left wherever it does
 * (base/guard.h). False if something of it was gone before the end: then nothing it read counts. */
bool wr_map_read(wr_map *map, const wr_storage *s, int64_t hi, void (*read)(void *user),
                 void *user);

/* Gives up everything if that is more than `limit` bytes. */
void wr_map_relax(wr_map *map, int64_t limit);

/* Whether all pages of [lo, hi) were marked as written. */
bool wr_map_was_written(const wr_map *map, int64_t lo, int64_t hi);
void wr_map_mark_written(wr_map *map, int64_t lo, int64_t hi);

/* What was stored below `hi` shows in the file's time, as if written by calls. */
void wr_map_stamp(const wr_storage *s);

void wr_map_close(wr_map *map);

/* The bytes [lo, hi) of a file will be read soon. */
void wr_storage_advise(const wr_storage *s, int64_t lo, int64_t hi);

#endif
