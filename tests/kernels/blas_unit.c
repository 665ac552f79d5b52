/* Products in memory: all types, orders and leads, by the BLAS or by what stands in for it. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "kernels/blas.h"
#include "weir/type.h"

enum { MOST = 300 };

/* Elements that the memory of a matrix has. */
static int64_t room_of(const wr_matrix *m, int64_t rows, int64_t columns)
{
    return m->lead * (m->columns ? columns : rows);
}

static double *element(const wr_matrix *m, int parts, int64_t row, int64_t column)
{
    int64_t at = m->columns ? row + column * m->lead : row * m->lead + column;
    return (double *)m->data + at * parts;
}

/* As whole numbers in double precision, real and imaginary part. */
static wr_matrix random_matrix(rng *r, int parts, int64_t rows, int64_t columns)
{
    wr_matrix m = wr_matrix_dense(NULL, rng_chance(r, 50), rows, columns);
    m.lead += rng_chance(r, 50) ? rng_within(r, 1, 9) : 0;
    int64_t count = room_of(&m, rows, columns) * parts;
    double *data = malloc((size_t)(count + 1) * sizeof *data);
    CHECK(data);
    for (int64_t i = 0; i < count; i++)
        data[i] = (double)rng_within(r, -9, 9);
    m.data = data;
    return m;
}

static void multiply_naively(const wr_product *p, int parts)
{
    for (int64_t i = 0; i < p->rows; i++)
        for (int64_t j = 0; j < p->columns; j++)
            for (int64_t k = 0; k < p->depth; k++) {
                const double *a = element(&p->a, parts, i, k), *b = element(&p->b, parts, k, j);
                double *c = element(&p->c, parts, i, j);
                c[0] += a[0] * b[0] - (parts == 2 ? a[1] * b[1] : 0);
                if (parts == 2)
                    c[1] += a[0] * b[1] + a[1] * b[0];
            }
}

/* The same matrix in the type of the product. */
static wr_matrix converted(const wr_matrix *m, bool single, int64_t count)
{
    wr_matrix out = *m;
    out.data = malloc((size_t)(count + 1) * sizeof(double));
    CHECK(out.data);
    for (int64_t i = 0; i < count; i++)
        if (single)
            ((float *)out.data)[i] = (float)((double *)m->data)[i];
        else
            ((double *)out.data)[i] = ((double *)m->data)[i];
    return out;
}

static void check_product(rng *r)
{
    const int type = (int)rng_within(r, WEIR_F4, WEIR_C16);
    const int parts = type == WEIR_C8 || type == WEIR_C16 ? 2 : 1;
    const bool single = type == WEIR_F4 || type == WEIR_C8;
    const int64_t most = rng_chance(r, 10) ? MOST : 20;
    wr_product p = {.type = type};
    p.rows = rng_within(r, 0, most);
    p.columns = rng_within(r, 0, most);
    p.depth = rng_within(r, 0, most);
    p.a = random_matrix(r, parts, p.rows, p.depth);
    p.b = random_matrix(r, parts, p.depth, p.columns);
    p.c = random_matrix(r, parts, p.rows, p.columns);
    wr_product own = p;
    const int64_t count = room_of(&p.c, p.rows, p.columns) * parts;
    own.a = converted(&p.a, single, room_of(&p.a, p.rows, p.depth) * parts);
    own.b = converted(&p.b, single, room_of(&p.b, p.depth, p.columns) * parts);
    own.c = converted(&p.c, single, count);
    wr_blas_multiply(&own);
    multiply_naively(&p, parts);
    for (int64_t i = 0; i < count; i++)
        CHECK((single ? (double)((float *)own.c.data)[i] : ((double *)own.c.data)[i]) ==
              ((double *)p.c.data)[i]);
    void *const taken[] = {p.a.data, p.b.data, p.c.data, own.a.data, own.b.data, own.c.data};
    for (int i = 0; i < 6; i++)
        free(taken[i]);
}

int main(void)
{
    rng r = {test_seed()};
    const int64_t cases = test_cases(300, 3000);
    for (int64_t i = 0; i < cases; i++) {
        check_case(i);
        wr_blas_enter((int)rng_within(&r, 1, 3));
        check_product(&r);
        wr_blas_leave();
    }
    return 0;
}
