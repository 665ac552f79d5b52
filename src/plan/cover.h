/* Windows of a realm, and their covers.
 *
 * A window is the part of a realm handled in one round. Its cover is the pattern actually read or
 * written: one run with whatever lies between (sieve), the exact union of what is wanted (list), or
 * something between, where runs closer than the price of a gap are joined. The place of a byte in
 * the round's buffer is its data position in the cover. Which of these is cheapest is decided here,
 * window by window.
 *
 * Invariants
 *   C1  a cover lies within its realm and window, holds every wanted byte there, and at most
 *       `window` bytes
 *   C2  what is not proved counts: holes (bytes of the cover that nobody wants) and overlap (bytes
 *       two ranks want) are true unless known to be false */
#ifndef WR_PLAN_COVER_H
#define WR_PLAN_COVER_H

#include "base/arith.h"
#include "base/memory.h"
#include "plan/plan.h"
#include "plan/want_queue.h"

enum { WR_COVER_BYTES = 516 << 10 }; /* most memory a cover's description takes */

/* Memory of a window in shared memory: its description, and its bytes in whole pages. */
static inline int64_t wr_slot_bytes(int64_t window)
{
    return WR_COVER_BYTES + wr_round_up(window, wr_page_bytes());
}

typedef struct wr_window {
    int64_t lo, hi; /* range of the file */
    weir_pattern *cover;
    bool holes, overlap;
    bool kept;          /* the cover belongs to a window cache */
    bool fixed;         /* its end stays where it is */
    const char *method; /* "sieve" or "list" */
    const char *reason;
} wr_window;

/* When the window is through. */
void wr_window_release(wr_window *w);

/* The windows of the latest walk, kept: one that repeats it, because a program accesses the same
 * sections again, finds them made. */
typedef struct wr_window_cache {
    wr_hash key; /* of everything the walk depends on */
    bool whole;  /* all its windows are here */
    bool full;   /* there were too many */
    int64_t bytes;
    int64_t count, room;
    wr_window *window;
} wr_window_cache;

enum { WR_WINDOW_CACHE_BYTES = 1 << 20 };

/* {0} is an empty one. */
void wr_window_cache_release(wr_window_cache *window_cache);

enum { WR_WALK_BYTES = 2 << 20, WR_WALK_WANT_BYTES = 48 };

/* A walk over the windows of one realm. Takes at most WR_WALK_BYTES of memory while under way, and
 * WR_WALK_WANT_BYTES more for each want where these are not few. A window costs what the wants that
 * touch it cost, and the first one also a look at all of them. */
typedef struct wr_windows {
    const wr_plan_input *in; /* borrowed, like everything given to init */
    const wr_plan *plan;
    const weir_pattern *realm;
    int64_t count;
    const wr_want *wants;
    wr_window_cache *window_cache; /* or NULL */
    bool repeats;                  /* it is in the window cache */
    int64_t number;                /* of the next window */
    int64_t at;                    /* everything below is done */
    uint64_t *bits;
    int64_t bit_words;
    struct wr_piece *pieces;
    uint64_t *same;    /* a bit for each want that repeats another; NULL: not known yet */
    uint64_t few_same; /* the same of few */
    bool twice;        /* there is such a want */
    int64_t *touching; /* who touches a window, and bits to sort them; or NULL */
    int64_t few_touching[WR_FEW_WANTS + 1];
    wr_want_queue queue;
} wr_windows;

void wr_windows_init(wr_windows *w, const wr_plan_input *in, const wr_plan *plan,
                     const weir_pattern *realm, int64_t count, const wr_want *wants);

/* Repeats the window cache if it is the same walk, or records this one; every window of the one
 * before must have been released. */
void wr_windows_remember(wr_windows *w, wr_window_cache *window_cache);

/* 1 and the next window, to be released, 0 after the last one, or a negative code. */
int wr_windows_next(wr_windows *w, wr_window *out);

/* Takes the memory of a walk's wants; without it, the first window does. */
int wr_windows_prepare(wr_windows *w);

/* Where the plan has cells: 1 and the next window, but no cover of it, 0 after the last one, or a
 * negative code, but not of a walk that is prepared. */
int wr_windows_cell(wr_windows *w, wr_window *out);

/* The number, in its realm, of the cell that has this byte. */
int64_t wr_windows_number(const wr_windows *w, int64_t offset);

/* Sets *list to who touches a window that this walk gave, made or out of the window cache: their
 * numbers in w->wants, ascending, valid until the next call on the walk. Returns how many, or a
 * negative code. Asked of each window before the walk goes on it costs what touches the window; of
 * an earlier one, or after wr_windows_end, what all wants cost. */
int64_t wr_windows_touching(wr_windows *w, const wr_window *window, const int64_t **list);

/* Makes the cover of a window that this walk gave, and nobody has seen yet, exact. Returns 1, and
 * changes nothing, if there are too many runs to list. */
int wr_windows_list(wr_windows *w, wr_window *window);

/* Whether the latest was the last, as far as that is known without making another. */
bool wr_windows_end(wr_windows *w);

void wr_windows_release(wr_windows *w);

#endif
