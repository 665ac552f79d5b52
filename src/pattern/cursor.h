/* A place in a pattern, and the way on from there.
 *
 * A cursor stands before a data position and hands out what follows as batches: runs of equal
 * length at a constant stride. Seeking costs O(depth x log list), whatever the number of runs. A
 * cursor is plain data: a copy of it is a second place, and copying it back resumes there. It
 * borrows the pattern. */
#ifndef WR_PATTERN_CURSOR_H
#define WR_PATTERN_CURSOR_H

#include "pattern/pattern.h"

/* `count` runs of `run` bytes, the i-th at offset + i * stride, its data at data + i * run. */
typedef struct wr_batch {
    int64_t offset, run, stride, count;
    int64_t data;
} wr_batch;

typedef struct wr_frame {
    const wr_node *node;
    int64_t index;
    int64_t base; /* offset of the node's first data byte */
} wr_frame;

typedef struct wr_cursor {
    const weir_pattern *pattern;
    int64_t begin, end; /* data positions it stays within */
    int64_t lo, hi;     /* offsets it stays within: looked at only if not disjoint */
    wr_batch now;       /* what comes next; count 0 at the end */
    wr_batch rest;      /* what follows of the same loop once `now`, a part of a run, is used up */
    bool partial;       /* `now` is the rest of a run that started before it */
    int depth;
    wr_frame frame[WR_DEPTH];
} wr_cursor;

/* Before the first byte. */
void wr_cursor_init(wr_cursor *c, const weir_pattern *pattern);

/* Confines the cursor to data positions [begin, end) and goes to the first. Only narrows what it
 * was confined to before. */
void wr_cursor_limit(wr_cursor *c, int64_t begin, int64_t end);

/* Confines it to offsets [lo, hi), for ordered patterns, and goes to the first byte there. Only
 * narrows. Where the pattern is not disjoint, data positions of successive batches may then have
 * gaps. */
void wr_cursor_clip(wr_cursor *c, int64_t lo, int64_t hi);

/* To a data position; outside the limits: to the nearer end of them. */
void wr_cursor_seek_data(wr_cursor *c, int64_t data);

/* For ordered patterns: to the first run that ends after offset x, at x if that lies in the run. */
void wr_cursor_seek_offset(wr_cursor *c, int64_t x);

/* Data position of the next byte; the end of the limits if there is none. */
int64_t wr_cursor_data(wr_cursor *c);

/* Hands out the next batch, at most `max` > 0 bytes of it: whole runs, or a part of one if it is
 * longer than max. False at the end. */
bool wr_cursor_next(wr_cursor *c, int64_t max, wr_batch *out);

/* As wr_cursor_next, one run. */
bool wr_cursor_next_run(wr_cursor *c, int64_t max, wr_batch *out);

/* Goes on by `bytes` data. */
void wr_cursor_skip(wr_cursor *c, int64_t bytes);

/* Shows what wr_cursor_next would hand out with no maximum, and stays. */
bool wr_cursor_peek(wr_cursor *c, wr_batch *out);

#endif
