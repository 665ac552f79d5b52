/* Elements of a box from one order of dimensions to another, in memory. */
#ifndef WR_KERNELS_PERMUTE_H
#define WR_KERNELS_PERMUTE_H

#include "weir/array.h"

/* Strides are in elements and by dimension; one dimension has stride 1 on each side. */
typedef struct wr_permutation {
    int dimensions;
    int64_t element; /* 1, 2, 4, 8 or 16 bytes */
    int64_t shape[WEIR_MAX_DIMENSIONS];
    int64_t from[WEIR_MAX_DIMENSIONS], to[WEIR_MAX_DIMENSIONS];
} wr_permutation;

void wr_permute(const wr_permutation *p, const void *from, void *to);

#endif
