/* Products by plain loops, for builds without a BLAS. A block of b is brought together by rows,
 * where it stays in the cache while all rows of a go by. */
#include "base/arith.h"
#include "kernels/blas.h"
#include "weir/type.h"

enum { DEPTH = 32, WIDTH = 128 };

/* Elements from row to row and from column to column. */
typedef struct steps {
    int64_t row, column;
} steps;

static steps steps_of(const wr_matrix *m)
{
    return m->columns ? (steps){1, m->lead} : (steps){m->lead, 1};
}

typedef struct pair_f4 {
    float re, im;
} pair_f4;

typedef struct pair_f8 {
    double re, im;
} pair_f8;

static inline void add_f4(float *c, int64_t at, float a, float b)
{
    c[at] += a * b;
}

static inline void add_f8(double *c, int64_t at, double a, double b)
{
    c[at] += a * b;
}

static inline void add_c8(pair_f4 *c, int64_t at, pair_f4 a, pair_f4 b)
{
    c[at].re += a.re * b.re - a.im * b.im;
    c[at].im += a.re * b.im + a.im * b.re;
}

static inline void add_c16(pair_f8 *c, int64_t at, pair_f8 a, pair_f8 b)
{
    c[at].re += a.re * b.re - a.im * b.im;
    c[at].im += a.re * b.im + a.im * b.re;
}

/* All rows, columns from j on, depth from k on. */
#define MULTIPLY(name, type, add)                                                                  \
    static void name##_block(const wr_product *p, int64_t j, int64_t k)                            \
    {                                                                                              \
        type block[DEPTH][WIDTH];                                                                  \
        const steps at_a = steps_of(&p->a), at_b = steps_of(&p->b);                                \
        const int64_t wide = wr_min(WIDTH, p->columns - j), deep = wr_min(DEPTH, p->depth - k);    \
        const type *a = p->a.data;                                                                 \
        const type *b = p->b.data;                                                                 \
        for (int64_t y = 0; y < deep; y++)                                                         \
            for (int64_t x = 0; x < wide; x++)                                                     \
                block[y][x] = b[(k + y) * at_b.row + (j + x) * at_b.column];                       \
        for (int64_t i = 0; i < p->rows; i++)                                                      \
            for (int64_t y = 0; y < deep; y++) {                                                   \
                const type factor = a[i * at_a.row + (k + y) * at_a.column];                       \
                for (int64_t x = 0; x < wide; x++)                                                 \
                    add(p->c.data, i * p->c.lead + j + x, factor, block[y][x]);                    \
            }                                                                                      \
    }                                                                                              \
    static void name(const wr_product *p)                                                          \
    {                                                                                              \
        for (int64_t j = 0; j < p->columns; j += WIDTH)                                            \
            for (int64_t k = 0; k < p->depth; k += DEPTH)                                          \
                name##_block(p, j, k);                                                             \
    }

MULTIPLY(multiply_f4, float, add_f4)
MULTIPLY(multiply_f8, double, add_f8)
MULTIPLY(multiply_c8, pair_f4, add_c8)
MULTIPLY(multiply_c16, pair_f8, add_c16)

/* c' = b' a': so that c goes by rows. */
static wr_product by_rows(const wr_product *p)
{
    wr_product out = *p;
    if (!p->c.columns)
        return out;
    out.rows = p->columns;
    out.columns = p->rows;
    out.a = p->b;
    out.b = p->a;
    out.a.columns = !out.a.columns;
    out.b.columns = !out.b.columns;
    out.c.columns = false;
    return out;
}

void wr_blas_multiply(const wr_product *product)
{
    wr_product p = by_rows(product);
    switch (p.type) {
    case WEIR_F4:
        multiply_f4(&p);
        break;
    case WEIR_F8:
        multiply_f8(&p);
        break;
    case WEIR_C8:
        multiply_c8(&p);
        break;
    default:
        multiply_c16(&p);
    }
}

void wr_blas_enter(int threads)
{
    (void)threads;
}

void wr_blas_leave(void) {}
