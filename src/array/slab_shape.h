/* How a slab loop cuts an array: pure arithmetic, the same on every rank. */
#ifndef WR_ARRAY_SLAB_SHAPE_H
#define WR_ARRAY_SLAB_SHAPE_H

#include "array/axes.h"
#include "base/arith.h"

typedef struct wr_slab_need {
    int64_t memory;              /* most bytes of all buffers, */
    int64_t besides;             /* and of these, what is not for slabs */
    int64_t in_bytes, out_bytes; /* of all buffers, by element of a slab with and without halo */
    int64_t buffers;
    const int64_t *halo, *block; /* block 0: to be found */
    int rank, ranks;
    int deal; /* 1: slabs are dealt round-robin */
} wr_slab_need;

typedef struct wr_slab_shape {
    int dimensions;
    int order[WEIR_MAX_DIMENSIONS];     /* of storage; slabs are numbered in it */
    int64_t shape[WEIR_MAX_DIMENSIONS]; /* of the array */
    int64_t halo[WEIR_MAX_DIMENSIONS];
    int64_t grain[WEIR_MAX_DIMENSIONS]; /* slabs begin at multiples of it, if memory suffices */
    int64_t block[WEIR_MAX_DIMENSIONS]; /* of a slab, at most */
    int64_t part_lo[WEIR_MAX_DIMENSIONS], part_hi[WEIR_MAX_DIMENSIONS]; /* where this rank's are */
    int64_t first, stride;             /* slab k is number first + k * stride there */
    int64_t count;                     /* slabs of this rank */
    int64_t steps;                     /* of the rank that has most */
    int64_t elements;                  /* of this rank's slabs */
    int64_t in_elements, out_elements; /* of the largest slab, with and without halo */
    int64_t memory;                    /* bytes of all buffers */
} wr_slab_shape;

typedef struct wr_slab_box {
    int64_t lo[WEIR_MAX_DIMENSIONS], hi[WEIR_MAX_DIMENSIONS];
    int64_t in_lo[WEIR_MAX_DIMENSIONS], in_hi[WEIR_MAX_DIMENSIONS];
} wr_slab_box;

/* WEIR_EBUDGET names the least memory that would do. */
int wr_slab_shape_build(const wr_body *body, const wr_slab_need *need, wr_slab_shape *out);

/* This rank's slab k; false if it has none of that number. */
bool wr_slab_find(const wr_slab_shape *shape, int64_t k, wr_slab_box *out);

int64_t wr_slab_elements(const wr_slab_shape *shape, const int64_t *lo, const int64_t *hi);

/* Buffers start at multiples of this. */
enum { WR_SLAB_ALIGN = WR_DIRECT_ALIGN };

static inline int64_t wr_slab_room(int64_t bytes)
{
    return wr_round_up(bytes, WR_SLAB_ALIGN);
}

#endif
