/* What an operator would do, in words: a line about what is in memory at a time, and how often. */
#ifndef WR_KERNELS_ESTIMATE_H
#define WR_KERNELS_ESTIMATE_H

#include "array/slab_shape.h"
#include "weir/kernels.h"

/* Adds to the line; dots take the place of what does not fit. */
void wr_estimate_say(weir_estimate *estimate, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ", 32 steps" */
void wr_estimate_say_steps(weir_estimate *estimate, int64_t steps);

/* "slabs of 512 x 16384, 32 steps", where that is what they are called. */
void wr_estimate_say_slabs(weir_estimate *estimate, const char *name, const wr_slab_shape *shape);

#endif
