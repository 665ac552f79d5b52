/* Wants in the order of their next bytes: which of them touch a range is found without asking the
 * others, if ranges ascend, as the windows of a walk do.
 *
 * Some wait, in a heap with the least next byte first; others are out, because they touch the range
 * that is looked at. Those go back, with the byte that they want next, when the following range is
 * looked at.
 *
 * Invariant Q1: a want's `next` is the first byte it wants at or after the queue's `from`. */
#ifndef WR_PLAN_WANT_QUEUE_H
#define WR_PLAN_WANT_QUEUE_H

#include "plan/want.h"

enum { WR_FEW_WANTS = 16 };

/* A want in a queue. */
typedef struct wr_queued {
    int64_t next; /* byte that it wants */
    int want;
    bool wide; /* the stride there is longer than access=extent sieves */
} wr_queued;

/* Takes 16 bytes of memory for each want, if they are not few. */
typedef struct wr_want_queue {
    int64_t count;
    const wr_want *wants; /* borrowed */
    int64_t extent;       /* strides up to here are not wide; INT64_MAX: nobody asks */
    int64_t from;
    int64_t waiting, live; /* in item[]: how many wait, and with those that are out */
    int64_t wide;          /* of all these */
    bool repeating;        /* somebody's pattern is not disjoint */
    wr_queued *item;       /* NULL: not made yet */
    wr_queued few[WR_FEW_WANTS];
} wr_want_queue;

/* Of wants that stay where they are; takes no memory yet. */
void wr_want_queue_init(wr_want_queue *q, int64_t count, const wr_want *wants, int64_t extent);

void wr_want_queue_release(wr_want_queue *q);

/* 1 and the first byte at or after x that somebody wants, 0 if there is none, or a negative code.
 * Nobody is out afterwards. */
int wr_want_queue_first(wr_want_queue *q, int64_t x, int64_t *first);

/* Takes out who touches [lo, hi), but stops after `most`; 0 or a negative code. Costs what touches
 * it, and what touched the range before; if that began after lo, what all wants cost. */
int wr_want_queue_reach(wr_want_queue *q, int64_t lo, int64_t hi, int64_t most);

/* Number i, from 0 on, of those that are out, by their next bytes; NULL if that is not below hi. */
static inline const wr_queued *wr_want_queue_get(const wr_want_queue *q, int64_t i, int64_t hi)
{
    const int64_t at = q->live - 1 - i;
    return at >= q->waiting && q->item[at].next < hi ? &q->item[at] : NULL;
}

#endif
