/* How a product of matrices is cut where the depth is dealt to the ranks: pure arithmetic, the same
 * on every rank. */
#ifndef WR_KERNELS_GAXPY_SHAPE_H
#define WR_KERNELS_GAXPY_SHAPE_H

#include "kernels/panel_shape.h"

typedef struct wr_gaxpy_shape {
    wr_panel_need need;
    bool by_columns;   /* the order of c, along whose slow dimension ranks share a sub-block */
    int64_t blocks[2]; /* sub-blocks of c, along rows and columns */
    int64_t high, wide, deep; /* rows and columns of one, and a rank's depth, at most */
    int64_t a_room, b_room, c_room, message_room; /* bytes of buffers */
    int64_t memory;                               /* of all, and what staging takes */
} wr_gaxpy_shape;

/* WEIR_EBUDGET names the least memory that would do; WEIR_ERANGE: the depth is more than a BLAS
 * takes. */
int wr_gaxpy_shape_build(const wr_panel_need *need, bool by_columns, wr_gaxpy_shape *out);

void wr_gaxpy_estimate(const wr_gaxpy_shape *shape, weir_estimate *out);

#endif
