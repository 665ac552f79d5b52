/* Products by OpenBLAS. Its number of threads is one for the whole process. */
#include <cblas.h>
#include <pthread.h>

#include "kernels/blas.h"
#include "weir/type.h"

/* A matrix that lies otherwise than c is transposed to cblas. */
static enum CBLAS_TRANSPOSE turned(const wr_matrix *m, const wr_matrix *c)
{
    return m->columns == c->columns ? CblasNoTrans : CblasTrans;
}

void wr_blas_multiply(const wr_product *p)
{
    static const float one_f4[] = {1, 0};
    static const double one_f8[] = {1, 0};
    const enum CBLAS_ORDER order = p->c.columns ? CblasColMajor : CblasRowMajor;
    const enum CBLAS_TRANSPOSE a = turned(&p->a, &p->c), b = turned(&p->b, &p->c);
    const int m = (int)p->rows, n = (int)p->columns, k = (int)p->depth;
    const int la = (int)p->a.lead, lb = (int)p->b.lead, lc = (int)p->c.lead;
    if (!m || !n || !k)
        return;
    switch (p->type) {
    case WEIR_F4:
        cblas_sgemm(order, a, b, m, n, k, 1, p->a.data, la, p->b.data, lb, 1, p->c.data, lc);
        break;
    case WEIR_F8:
        cblas_dgemm(order, a, b, m, n, k, 1, p->a.data, la, p->b.data, lb, 1, p->c.data, lc);
        break;
    case WEIR_C8:
        cblas_cgemm(order, a, b, m, n, k, one_f4, p->a.data, la, p->b.data, lb, one_f4, p->c.data,
                    lc);
        break;
    default:
        cblas_zgemm(order, a, b, m, n, k, one_f8, p->a.data, la, p->b.data, lb, one_f8, p->c.data,
                    lc);
    }
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int inside, before; /* who has entered, and what the number was without them */

void wr_blas_enter(int threads)
{
    pthread_mutex_lock(&lock);
    if (!inside++) {
        before = openblas_get_num_threads();
        openblas_set_num_threads(threads);
    }
    pthread_mutex_unlock(&lock);
}

void wr_blas_leave(void)
{
    pthread_mutex_lock(&lock);
    if (!--inside)
        openblas_set_num_threads(before);
    pthread_mutex_unlock(&lock);
}
