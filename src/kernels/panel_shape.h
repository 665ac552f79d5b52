/* How a product of matrices is cut into blocks of the result and panels of the factors: pure
 * arithmetic, the same on every rank.
 *
 * Ranks form a grid over the result; each one's part is cut into equally many blocks. A block stays
 * in memory while panels go by: of a, the block's rows and some of the depth, of b, that depth and
 * the block's columns. Blocks are walked to and fro, and so is the depth, so that from one block to
 * the next one of the two panels stays. */
#ifndef WR_KERNELS_PANEL_SHAPE_H
#define WR_KERNELS_PANEL_SHAPE_H

#include "base/arith.h"
#include "weir/kernels.h"

typedef struct wr_panel_need {
    int64_t rows, columns, depth; /* c is rows x columns */
    int64_t element;              /* bytes */
    int64_t memory;               /* most bytes of all buffers */
    int ranks;
    bool staged; /* writing a block takes its memory besides */
} wr_panel_need;

typedef struct wr_panel_shape {
    wr_panel_need need;
    int grid[2];                    /* ranks along rows and columns; others have nothing */
    int64_t blocks[2];              /* of a rank's part, along rows and columns */
    int64_t panels;                 /* that make up the depth; at least 1 */
    int64_t high, wide, deep;       /* rows and columns of blocks, depth of panels, at most */
    int results;                    /* buffers for blocks: with 2 they are written behind */
    int64_t a_room, b_room, c_room; /* bytes of a buffer */
    int64_t steps;                  /* panels go by so many times */
    int64_t memory;                 /* bytes of all buffers, and what staging takes */
} wr_panel_shape;

/* WEIR_EBUDGET names the least memory that would do. */
int wr_panel_shape_build(const wr_panel_need *need, wr_panel_shape *out);

/* What a rank does in a step. All spans are empty if it has no part of the result. */
typedef struct wr_panel_step {
    wr_span rows, columns, depth;
    bool new_a, new_b; /* whether that panel differs from the last step's; all ranks alike */
    bool begins, ends; /* a block */
} wr_panel_step;

wr_panel_step wr_panel_step_of(const wr_panel_shape *shape, int rank, int64_t step);

void wr_panel_estimate(const wr_panel_shape *shape, weir_estimate *out);

/* A larger number of parts worth trying: each of the first ones, then 6 % more, and `most`, the
 * last. */
static inline int64_t wr_more_parts(int64_t parts, int64_t most)
{
    return parts < most ? wr_min(most, parts + 1 + parts / 16) : most + 1;
}

/* Bytes of a buffer for x * y elements; far below 2^63 also where they are more than any memory. */
int64_t wr_panel_room(const wr_panel_need *need, int64_t x, int64_t y);

/* Bytes as which an access counts besides what it moves. */
enum { WR_ACCESS_COST = 64 << 10 };

#endif
