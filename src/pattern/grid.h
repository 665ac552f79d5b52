/* How an n-dimensional array lies in storage: shared by sections and boxes. */
#ifndef WR_PATTERN_GRID_H
#define WR_PATTERN_GRID_H

#include "weir/pattern.h"

typedef struct wr_grid {
    int dimensions;
    int order[WEIR_MAX_DIMENSIONS];      /* dimensions, slowest first */
    int64_t stride[WEIR_MAX_DIMENSIONS]; /* bytes between neighbours, by dimension */
} wr_grid;

/* Errors as for the constructors; an array of 2^62 bytes or more is
 * WEIR_ERANGE, so that products of valid indices and strides are safe. */
int wr_grid_init(wr_grid *grid, const weir_shape *array);

#endif
