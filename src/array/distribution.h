/* How indices are dealt to a grid; pure arithmetic. */
#ifndef WR_ARRAY_DISTRIBUTION_H
#define WR_ARRAY_DISTRIBUTION_H

#include "array/axes.h"
#include "weir/array.h"

/* The ranks a grid has; WEIR_EINVAL if it makes no sense, or has more than `most`. */
int wr_distribution_check(const weir_distribution *d, int dimensions, int most, int *ranks);

/* Indices along a dimension of n that are dealt at a time. */
int64_t wr_distribution_block(const weir_distribution *d, int dimension, int64_t n);

/* Where in the grid a rank is. */
void wr_distribution_place(const weir_distribution *d, int dimensions, int rank, int *place);

/* Those of n indices that belong to `place` of the grid along a dimension. */
wr_axis wr_distribution_axis(const weir_distribution *d, int dimension, int64_t n, int place);

static inline int wr_distribution_grid(const weir_distribution *d, int dimension)
{
    return d->grid[dimension] ? d->grid[dimension] : 1;
}

#endif
