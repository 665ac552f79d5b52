/* Keeping windows in a window cache. Used by cover.c only. */
#ifndef WR_PLAN_WINDOW_CACHE_H
#define WR_PLAN_WINDOW_CACHE_H

#include "plan/cover.h"

/* What came of making the next window: keeps it if there is room, and marks it as kept; after the
 * last one the window cache is whole. */
void wr_window_cache_note(wr_window_cache *window_cache, int code, wr_window *window);

#endif
