/* Which indices a section takes, dimension by dimension, and the two patterns that follow: where
 * they are in a file, and, in the same order, where they are in memory.
 *
 * A file is walked in storage order and each index once, whatever order a section lists indices in:
 * everything else happens on the memory side. */
#ifndef WR_ARRAY_AXES_H
#define WR_ARRAY_AXES_H

#include <stdbool.h>

#include "base/memory.h"
#include "weir/pattern.h"

/* Places in memory: `blocks` times `count` in a row, one time every `jump`. */
typedef struct wr_places {
    int64_t first, count, blocks, jump;
} wr_places;

/* Indices of one dimension, ascending, each once: `blocks` blocks of `count` indices `step` apart,
 * one every `jump` indices, and `tail` indices of one more; or a list. The k-th of them is at place
 * k in memory, unless it says otherwise. */
typedef struct wr_axis {
    int64_t total;
    int64_t lo, step, count;
    int64_t blocks, jump, tail;
    const int64_t *index; /* or NULL: a list */
    const int64_t *place; /* or NULL; for lists only */
    wr_places piece[3];
    int pieces;     /* or 0: places of all that is not a list, one piece after the other */
    bool reversed;  /* place p is at mirror - p; not for lists */
    int64_t mirror; /* total - 1, of the axis this one is a part of */
} wr_axis;

int64_t wr_axis_at(const wr_axis *axis, int64_t k);

/* Place in memory of the k-th, of an axis whose places are one piece. */
int64_t wr_axis_place(const wr_axis *axis, int64_t k);

/* The k-th for first <= k < first + total, of an axis that is one block; their places are
 * those they have there. */
wr_axis wr_axis_part(const wr_axis *axis, int64_t first, int64_t total);

/* How an array lies in a file. */
typedef struct wr_body {
    int dimensions;
    int64_t element;
    int64_t shape[WEIR_MAX_DIMENSIONS];
    int64_t stride[WEIR_MAX_DIMENSIONS]; /* in bytes */
    int order[WEIR_MAX_DIMENSIONS];      /* slowest first */
    int64_t offset;                      /* of the first element */
    int64_t grain[WEIR_MAX_DIMENSIONS];  /* indices that are best accessed together: of tiles; 0:
                                            each for itself */
} wr_body;

/* Sets strides and order; false if they do not fit 62 bits. */
bool wr_body_settle(wr_body *body, bool columns);

/* Grains of a body that are such of another one, too, whose dimension axes[d] is like d; as far as
 * there are common ones within the shape. axes NULL: d itself. */
void wr_body_share_grain(wr_body *body, const wr_body *other, const int *axes);

/* Two patterns of as many elements, position by position. */
typedef struct wr_pair {
    weir_pattern *file, *memory;
} wr_pair;

void wr_pair_release(wr_pair *pair);

/* Replaces *p by what is made of it; it is freed on failure. */
int wr_axes_repeat(weir_pattern **p, int64_t count, int64_t extent);
int wr_axes_move(weir_pattern **p, int64_t offset);

/* How elements lie in memory. */
typedef struct wr_layout {
    int64_t element;
    int64_t offset;
    int64_t stride[WEIR_MAX_DIMENSIONS]; /* in bytes */
} wr_layout;

/* One element after the other, slowest dimension first; order NULL: by rows. */
bool wr_layout_dense(wr_layout *layout, int dimensions, const int64_t *shape, const int *order);

/* Everything that the axes take. */
int wr_axes_pair(const wr_body *body, const wr_axis *axes, const wr_layout *layout, wr_pair *out);

/* A dimension's indices before, in and behind a range, and all of them. */
typedef struct wr_cuts {
    wr_axis before, in, behind, all;
} wr_cuts;

/* Everything but what is `in` in all dimensions. */
int wr_axes_rest(const wr_body *body, const wr_cuts *cuts, const wr_layout *layout, wr_pair *out);

/* Joins the pairs, which ascend in the file, and releases them. */
int wr_pairs_join(int64_t count, wr_pair *pairs, wr_pair *out);

#endif
