/* Multiplication of matrices: what its layouts share. */
#ifndef WR_KERNELS_MATMUL_H
#define WR_KERNELS_MATMUL_H

#include "kernels/panel_shape.h"
#include "kernels/work.h"

typedef struct wr_matmul {
    wr_task task;
    weir_array *a, *b, *c;
    int64_t rows, columns, depth; /* c is rows x columns */
    wr_transport *ranks;          /* borrowed */
} wr_matmul;

/* [collective] The layouts, for matrices that were checked. */
int wr_multiply_panels(wr_matmul *m);
int wr_multiply_gaxpy(wr_matmul *m);

wr_panel_need wr_matmul_need(const wr_matmul *m);

/* A part of a matrix, in the file's order. */
typedef struct wr_matrix_part {
    int64_t lo[2], hi[2];
    weir_selection selection; /* points into this struct */
    weir_layout layout;
} wr_matrix_part;

/* NULL if there is nothing in it, or this rank has failed and only takes part. */
const weir_selection *wr_matrix_select(const wr_matmul *m, const weir_array *array, wr_span rows,
                                       wr_span columns, wr_matrix_part *out);

/* Adds to a block of c the product of what memory has of a and b, each in its file's order. */
void wr_matmul_add(const wr_matmul *m, const wr_panel_step *step, void *a, void *b, void *c);

#endif
