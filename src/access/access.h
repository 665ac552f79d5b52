/* One rank's part of an access: which data of a file pattern, and where they are in memory. Reading
 * and writing differ in the direction only. */
#ifndef WR_ACCESS_ACCESS_H
#define WR_ACCESS_ACCESS_H

#include "base/tunables.h"
#include "plan/cover.h"

/* What all ranks want, where a call itself tells every rank: then nobody has to say. */
typedef struct wr_known {
    /* A new pattern, or NULL: that rank wants nothing. The same on all ranks. */
    int (*pattern)(void *user, int rank, weir_pattern **out);
    void *user;
    wr_summary wanted; /* by all together */
} wr_known;

/* Sets known->wanted. */
int wr_known_sum(wr_known *known, int ranks);

/* Data positions [begin, end) of `file` lie in memory at data positions [0, end - begin) of
 * `memory`, relative to `base`. Everything is borrowed until the access is over; `base` is only
 * read when writing. */
typedef struct wr_access_request {
    enum wr_direction direction;
    const weir_pattern *file;
    int64_t begin, end;
    const weir_pattern *memory;
    char *base;
    bool frugal;    /* no pages of the file are mapped for it: they would count as memory */
    bool whole;     /* a read that meets the end of the file is an error, for all ranks */
    int64_t column; /* bytes of a slice of the slowest dimension of an array, or 0; */
    int64_t lo, hi; /* the slices from bound to bound of the section: for sieve_unit=column */
    const wr_known *known; /* or NULL; blocking collective calls only */
} wr_access_request;

/* Copies between `window`, where a byte lies at its data position in `cover`, and the rank's
 * memory, everything the rank wants of the cover in offsets [lo, hi). */
void wr_access_copy(const wr_access_request *a, const weir_pattern *cover, char *window, int64_t lo,
                    int64_t hi);

/* The rank's data in a realm and in offsets [lo, hi), one after the other, to or from `packed`;
 * returns how many bytes. Those at or behind `valid` are left out, but have their place. With
 * `packed` NULL only counts. */
int64_t wr_access_pack(const wr_access_request *a, const weir_pattern *realm, char *packed,
                       int64_t lo, int64_t hi, int64_t valid);

/* Data that another rank packed by wr_access_pack, to or from the window; returns how many bytes:
 * wr_want_bytes. */
int64_t wr_want_copy(const wr_want *want, enum wr_direction direction, const weir_pattern *cover,
                     char *window, char *packed, wr_window range);

/* Where the bytes [lo, hi) of the file are in memory, if the rank has all of them in one run; or
 * NULL. */
char *wr_access_run(const wr_access_request *a, int64_t lo, int64_t hi);

/* How many bytes of the access lie below offset `stop`, which must be all up to there. */
int64_t wr_access_count(const wr_access_request *a, int64_t stop);

#endif
