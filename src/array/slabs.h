/* What a slab loop would be. */
#ifndef WR_ARRAY_SLABS_H
#define WR_ARRAY_SLABS_H

#include "array/array.h"
#include "array/slab_shape.h"

/* How a loop with these options would cut its arrays, as `rank` sees it, or why there can be none;
 * pure. */
int wr_slabs_shape(const weir_slabs_options *options, int rank, wr_slab_shape *out);

/* What the caller made of a slab has failed: the loop ends with this rank's last error, on all
 * ranks that take part in it. 0: it has not. */
void wr_slabs_fail(weir_slabs *slabs, int code);

#endif
