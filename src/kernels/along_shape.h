/* How a reduction along dimensions is cut: pure arithmetic, the same on every rank.
 *
 * Results are in blocks whose accumulators fit in memory, and what makes a block is read in tiles.
 * Where there are few results, one block has them all and ranks share its tiles; otherwise each
 * rank has blocks of its own. Boxes are by dimensions of the source; results have one index along
 * those that are reduced. */
#ifndef WR_KERNELS_ALONG_SHAPE_H
#define WR_KERNELS_ALONG_SHAPE_H

#include "array/slab_shape.h"
#include "weir/kernels.h"

/* Buffers of tiles, and of blocks where there are several. */
enum { WR_ALONG_READS = 2, WR_ALONG_WRITES = 2 };

typedef struct wr_along_need {
    const wr_body *from;
    const int *along;     /* by dimension */
    const int64_t *grain; /* of the target */
    int64_t memory;
    int64_t sum;    /* bytes of an accumulator */
    int64_t staged; /* bytes that writing a result takes besides */
    int64_t coding; /* bytes that encoding and decoding take */
    int64_t written;
    int rank, ranks;
    bool direct;
} wr_along_need;

typedef struct wr_along_shape {
    bool shared; /* by ranks: the only block */
    wr_slab_shape blocks, tiles;
    int64_t tiles_each; /* steps of a block */
    int64_t steps;      /* of all */
    int64_t message;    /* bytes of one between ranks; 0: there is none */
    int64_t sums;       /* bytes of a block's accumulators */
    int64_t along;      /* elements of a result */
} wr_along_shape;

/* WEIR_EBUDGET names the least memory that would do. */
int wr_along_shape_build(const wr_along_need *need, wr_along_shape *out);

/* This rank's block of a step; false if it has none. */
bool wr_along_block(const wr_along_shape *shape, int64_t step, wr_slab_box *out);

/* This rank's tile of a step: it has none, or is too small for such a tile. */
bool wr_along_tile(const wr_along_shape *shape, int64_t step, wr_slab_box *block, wr_slab_box *out);

/* Results that are a rank's to write, of a block that is shared, one after the other in its
 * accumulators; false if there are none. */
bool wr_along_share(const wr_along_shape *shape, int rank, int ranks, wr_slab_box *out);

void wr_along_estimate(const wr_along_need *need, const wr_along_shape *shape, weir_estimate *out);

#endif
