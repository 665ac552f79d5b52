/* Products of matrices in memory, by a BLAS or, where there was none to build with, plain loops. */
#ifndef WR_KERNELS_BLAS_H
#define WR_KERNELS_BLAS_H

#include <stdbool.h>
#include <stdint.h>

/* Element (i, j) is number i * lead + j, or, by columns, i + j * lead. */
typedef struct wr_matrix {
    void *data;
    bool columns;
    int64_t lead;
} wr_matrix;

/* Of one type: f4, f8, c8 or c16. Sizes and leads are below 2^31. */
typedef struct wr_product {
    int type; /* enum weir_type */
    int64_t rows, columns, depth;
    wr_matrix a, b, c;
} wr_product;

enum { WR_BLAS_MOST = 1 << 30 }; /* for sizes */

/* c = a b + c */
void wr_blas_multiply(const wr_product *p);

/* From enter to leave products are computed by so many threads; of several who have entered in one
 * process the first one's number counts. */
void wr_blas_enter(int threads);
void wr_blas_leave(void);

/* One after the other, without gaps. */
static inline wr_matrix wr_matrix_dense(void *data, bool by_columns, int64_t rows, int64_t columns)
{
    int64_t lead = by_columns ? rows : columns;
    return (wr_matrix){data, by_columns, lead > 0 ? lead : 1};
}

#endif
