/* The union of what ranks want in one window: by sorting runs, or by marking granules in a bitmap.
 * Used by cover.c, list_end.c and method.c only. */
#ifndef WR_PLAN_UNION_H
#define WR_PLAN_UNION_H

#include "plan/cover.h"

enum { WR_PIECES = 32 << 10, WR_UNION_ROOM = 1 << 20 };

/* WR_UNION_ROOM bytes that are free until something is listed; NULL: no memory. */
void *wr_union_room(wr_windows *w);

/* Sets out->cover to the exact union in [out->lo, out->hi) and the realm, with gaps of at most
 * `gap` bytes filled, and holes and overlap to what is true of it. Returns 1, and sets nothing, if
 * there are too many runs, or if the cover would exceed the window. */
int wr_union_list(wr_windows *w, int64_t gap, wr_window *out);

/* The same of the whole granules that it touches, in a window that ends with one. Unless that is
 * fixed, one that is read goes on to where its buffer is full, at most to `end`. */
int wr_union_granules(wr_windows *w, int64_t end, wr_window *out);

/* How many runs, and bytes in them, wr_union_list would make of range->lo to range->hi; sets
 * range->holes. Returns 1 if there are too many. */
int wr_union_count(wr_windows *w, int64_t gap, wr_window *range, int64_t *runs, int64_t *bytes);

/* With who touches the window out of the queue: finds out whether out->cover, given, has holes or
 * overlap; leaves them true if it cannot. */
int wr_union_survey(wr_windows *w, wr_window *out);

#endif
