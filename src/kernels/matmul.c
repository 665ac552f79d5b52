/* Out-of-core multiplication of matrices: checks, and what the layouts share. Parts are in memory
 * as their files have them, and the BLAS is told how that is. */
#include "kernels/matmul.h"

#include "base/arith.h"
#include "kernels/blas.h"

wr_panel_need wr_matmul_need(const wr_matmul *m)
{
    return (wr_panel_need){.rows = m->rows,
                           .columns = m->columns,
                           .depth = m->depth,
                           .element = m->c->body.element,
                           .memory = m->task.work.memory,
                           .ranks = m->ranks->size,
                           .staged = m->c->info.swapped};
}

const weir_selection *wr_matrix_select(const wr_matmul *m, const weir_array *array, wr_span rows,
                                       wr_span columns, wr_matrix_part *out)
{
    out->layout = (weir_layout){.order = array->body.order};
    if (rows.lo == rows.hi || columns.lo == columns.hi || m->task.error.code)
        return NULL;
    out->lo[0] = rows.lo;
    out->hi[0] = rows.hi;
    out->lo[1] = columns.lo;
    out->hi[1] = columns.hi;
    out->selection = (weir_selection){.lo = out->lo, .hi = out->hi};
    return &out->selection;
}

void wr_matmul_add(const wr_matmul *m, const wr_panel_step *step, void *a, void *b, void *c)
{
    const int64_t rows = step->rows.hi - step->rows.lo, depth = step->depth.hi - step->depth.lo;
    const int64_t columns = step->columns.hi - step->columns.lo;
    wr_product p = {.type = m->c->info.type,
                    .rows = rows,
                    .columns = columns,
                    .depth = depth,
                    .a = wr_matrix_dense(a, m->a->info.columns, rows, depth),
                    .b = wr_matrix_dense(b, m->b->info.columns, depth, columns),
                    .c = wr_matrix_dense(c, m->c->info.columns, rows, columns)};
    wr_blas_multiply(&p);
}

static int check(const weir_array *a, const weir_array *b, const weir_array *c, int method)
{
    const int type = c->info.type;
    int code = wr_array_check_pair(c, a);
    if (!code)
        code = wr_array_check_pair(c, b);
    if (code)
        return code;
    if (method != WEIR_PANELS && method != WEIR_GAXPY)
        return wr_fail(WEIR_EINVAL, "there is no method %d", method);
    if (c == a || c == b)
        return wr_fail(WEIR_EINVAL, "%s is both factor and product", c->path);
    if (a->info.dimensions != 2 || b->info.dimensions != 2 || c->info.dimensions != 2)
        return wr_fail(WEIR_EINVAL, "%s, %s and %s are not all matrices", a->path, b->path,
                       c->path);
    if (a->info.type != type || b->info.type != type)
        return wr_fail(WEIR_EINVAL, "%s, %s and %s differ in type", a->path, b->path, c->path);
    if (type != WEIR_F4 && type != WEIR_F8 && type != WEIR_C8 && type != WEIR_C16)
        return wr_fail(WEIR_EINVAL, "type %s is not f4, f8, c8 or c16", weir_type_name(type));
    if (a->info.shape[1] != b->info.shape[0])
        return wr_fail(WEIR_EINVAL,
                       "%s is %lld x %lld and %s is %lld x %lld: %lld columns, %lld rows", a->path,
                       (long long)a->info.shape[0], (long long)a->info.shape[1], b->path,
                       (long long)b->info.shape[0], (long long)b->info.shape[1],
                       (long long)a->info.shape[1], (long long)b->info.shape[0]);
    if (a->info.shape[0] != c->info.shape[0] || b->info.shape[1] != c->info.shape[1])
        return wr_fail(WEIR_EINVAL, "%lld x %lld times %lld x %lld does not make %lld x %lld",
                       (long long)a->info.shape[0], (long long)a->info.shape[1],
                       (long long)b->info.shape[0], (long long)b->info.shape[1],
                       (long long)c->info.shape[0], (long long)c->info.shape[1]);
    return 0;
}

int weir_array_multiply(weir_array *a, weir_array *b, weir_array *c, int method,
                        const weir_work *work)
{
    const weir_work how = wr_work_of(work);
    int code = wr_work_check(&how);
    if (!code)
        code = check(a, b, c, method);
    if (code)
        return code; /* on all ranks */
    wr_matmul m = {.task = {.work = how},
                   .a = a,
                   .b = b,
                   .c = c,
                   .rows = c->info.shape[0],
                   .columns = c->info.shape[1],
                   .depth = a->info.shape[1],
                   .ranks = wr_array_transport(c)};
    wr_blas_enter((int)wr_max(1, m.ranks->cores / m.ranks->local_size));
    code = method == WEIR_GAXPY ? wr_multiply_gaxpy(&m) : wr_multiply_panels(&m);
    wr_blas_leave();
    return code;
}
