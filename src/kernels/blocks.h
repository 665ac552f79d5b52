/* A matrix in blocks that are dealt round-robin, with a halo of 1: which block a rank has in a
 * step, which of its neighbours other ranks have in the same step, and what is left to be read.
 * Pure arithmetic, the same on every rank. */
#ifndef WR_KERNELS_BLOCKS_H
#define WR_KERNELS_BLOCKS_H

#include "array/slab_shape.h"

/* Blocks that are not as wide as the matrix have at most so many rows (in storage order). */
enum { WR_BLOCK_ROWS = 64 };

/* Of a block, in storage order: towards smaller and larger indices of the slow dimension, then of
 * the fast one. */
enum wr_side { WR_SLOW_LO, WR_SLOW_HI, WR_FAST_LO, WR_FAST_HI, WR_SIDES };

typedef struct wr_blocks {
    wr_slab_shape shape;
    int slow, fast;       /* dimensions */
    int64_t down, across; /* blocks along them */
    int ranks;
    bool exchange; /* what another rank has in the same step is not read */
} wr_blocks;

typedef struct wr_block {
    wr_slab_box box;
    int peer[WR_SIDES];             /* rank that has the neighbour in the same step, or -1 */
    int64_t read_lo[2], read_hi[2]; /* what is read: the box with halo, but for what peers have */
} wr_block;

/* Elements of one side, as they lie in a block with its halo: its outermost ones, or, beyond them,
 * those of the halo, without corners. */
typedef struct wr_edge {
    int64_t at, stride, count;
} wr_edge;

/* `need` says everything but halo, block and deal. As wide as the matrix if then some rows fit. */
int wr_blocks_build(const wr_body *body, const wr_slab_need *need, bool exchange, wr_blocks *out);

/* This rank's block in a step; false if it has none. */
bool wr_blocks_find(const wr_blocks *blocks, int64_t step, wr_block *out);

/* Elements that are read in all steps by all ranks. */
int64_t wr_blocks_read(const wr_blocks *blocks);

wr_edge wr_block_edge(const wr_blocks *blocks, const wr_block *block, int side, bool halo);

#endif
