/* What a process has done with files so far: a few numbers that cost an addition each, so that they
 * are always there. Figures, not signals: nothing is handed over by them. */
#ifndef WR_BASE_TALLY_H
#define WR_BASE_TALLY_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct wr_tally {
    _Atomic int64_t wanted[2]; /* bytes that calls asked for, by direction */
    _Atomic int64_t moved[2];  /* bytes between memory and files */
    _Atomic int64_t calls, errors;
    _Atomic int64_t ns;      /* in calls, where somebody times them, */
    _Atomic int64_t rest_ns; /* and in opening, closing, syncing */
} wr_tally;

static inline void wr_tally_add(_Atomic int64_t *sum, int64_t by)
{
    atomic_fetch_add_explicit(sum, by, memory_order_relaxed);
}

static inline int64_t wr_tally_get(const _Atomic int64_t *sum)
{
    return atomic_load_explicit(sum, memory_order_relaxed);
}

#endif
