/* How far a window reaches whose wants are listed. Used by cover.c only. */
#ifndef WR_PLAN_LIST_END_H
#define WR_PLAN_LIST_END_H

#include "plan/cover.h"

/* Moves *hi, the end of a window that begins at lo, to the furthest one up to `most` at which what
 * is wanted fits the window and its runs are few enough to list; leaves it if there is none. 0 or a
 * negative code. */
int wr_list_end(wr_windows *w, int64_t lo, int64_t most, int64_t *hi);

#endif
