/* The bytes two patterns have in common, in file order: a request and a realm, a request and a
 * window's cover. Both are ordered and `b` is disjoint. Neither is ever expanded: where strides are
 * equal, or one has runs that hold many of the other's, the answer comes as batches, and stretches
 * that only one of them touches are skipped. Loops of unrelated strides cost a step per meeting or
 * miss; a pattern `a` that is not disjoint costs a step per run. */
#ifndef WR_PATTERN_MEET_H
#define WR_PATTERN_MEET_H

#include "pattern/cursor.h"

/* `count` runs of `run` bytes, the i-th at offset + i * stride; its data are at position
 * a + i * a_step of the one pattern and b + i * b_step of the other. */
typedef struct wr_meeting {
    int64_t offset, run, stride, count;
    int64_t a, a_step, b, b_step;
} wr_meeting;

/* The cursors are the caller's to limit, clip and save; wr_meet_next moves them. */
typedef struct wr_meet {
    wr_cursor a, b;
} wr_meet;

void wr_meet_init(wr_meet *meet, const weir_pattern *a, const weir_pattern *b);

/* False when there is no more. */
bool wr_meet_next(wr_meet *meet, wr_meeting *out);

#endif
