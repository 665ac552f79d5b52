/* What axes take of an array in tiles: patterns over its tiles' addresses
 * (format/description.h). */
#ifndef WR_ARRAY_TILE_AXES_H
#define WR_ARRAY_TILE_AXES_H

#include "array/axes.h"
#include "format/description.h"

/* A tiled array: its shape, and where the first tile's bytes are. */
typedef struct wr_tiled {
    const wr_tiling *tiling;
    const wr_body *body; /* dimensions, shape, element, offset */
} wr_tiled;

/* As wr_axes_pair. Takes memory for 3 pieces in each dimension, where ranges meet tiles, and for
 * each tile along a dimension, where lists and odd steps do. */
int wr_tiled_pair(const wr_tiled *tiled, const wr_axis *axes, const wr_layout *layout,
                  wr_pair *out);

#endif
