/* A slab of a matrix in memory, its dimensions in storage order: slow, then fast. */
#ifndef WR_KERNELS_IMAGE_H
#define WR_KERNELS_IMAGE_H

#include "base/arith.h"

typedef struct wr_image {
    int64_t element;            /* bytes of one */
    int64_t in_lo[2], in_hi[2]; /* what is there, one after the other from `in` on */
    int64_t lo[2], hi[2];       /* what is to be made, from `out` on */
    const char *in;
    char *out;
} wr_image;

/* An element; beyond the edges, the one at the edge. */
static inline const char *wr_image_at(const wr_image *m, int64_t row, int64_t column)
{
    const int64_t r = wr_clamp(row, m->in_lo[0], m->in_hi[0] - 1) - m->in_lo[0];
    const int64_t c = wr_clamp(column, m->in_lo[1], m->in_hi[1] - 1) - m->in_lo[1];
    return m->in + (r * (m->in_hi[1] - m->in_lo[1]) + c) * m->element;
}

/* Where a result goes. */
static inline char *wr_image_to(const wr_image *m, int64_t row, int64_t column)
{
    const int64_t width = m->hi[1] - m->lo[1];
    return m->out + ((row - m->lo[0]) * width + column - m->lo[1]) * m->element;
}

#endif
