/* Operators on whole arrays. All ranks give the same arguments (kernels.h). */
#include <string.h>

#include "front/fortran/entries.h"

static void tell(void *user, int64_t done, int64_t all)
{
    const wr_fortran_work *w = user;
    w->progress(done, all);
}

static int begin(const wr_fortran_work *given, const wr_fortran_array *const *arrays,
                 weir_work *work)
{
    int code = 0;
    *work = (weir_work){.direct = given->direct && *given->direct,
                        .progress = given->progress ? tell : NULL,
                        .user = (void *)given,
                        .estimate = given->estimate};
    for (int i = 0; arrays[i] && !code; i++)
        code = wr_fortran_check_open(arrays[i]);
    return code ? code : wr_fortran_number(given->memory, "memory", &work->memory);
}

/* Fortran's texts end in blanks. */
static void end(int code, const wr_fortran_array *array, weir_estimate *estimate, int *ierr)
{
    if (estimate && !code) {
        const size_t length = strnlen(estimate->how, sizeof estimate->how);
        memset(estimate->how + length, ' ', sizeof estimate->how - length);
    }
    wr_fortran_end(code, ierr, &array->comm);
}

/* One dimension or a list of them, as flags by dimension. */
static int take_dimensions(const CFI_cdesc_t *dim, int dimensions, int *along)
{
    int64_t taken[WEIR_MAX_DIMENSIONS];
    const CFI_index_t count = dim->rank ? dim->dim[0].extent : 1;
    memset(along, 0, (size_t)dimensions * sizeof *along);
    if (dim->rank > 1 || count > dimensions)
        return wr_fortran_fail(WEIR_EINVAL, "dim has too many numbers: the array has %d dimensions",
                               dimensions);
    int code = dim->rank ? wr_fortran_numbers(dim, "dim", (int)count, taken)
                         : wr_fortran_number(dim, "dim", taken);
    for (CFI_index_t i = 0; i < count && !code; i++)
        if (taken[i] < 1 || taken[i] > dimensions)
            code = wr_fortran_fail(WEIR_EINVAL, "dim has %lld, and the array %d dimensions",
                                   (long long)taken[i], dimensions);
        else
            along[taken[i] - 1] = 1;
    return code;
}

/* NOLINTBEGIN(readability-function-size): as Fortran calls them */
void weir_fortran_transpose(const wr_fortran_array *from, const wr_fortran_array *to,
                            const CFI_cdesc_t *axes, const CFI_cdesc_t *memory, const int *direct,
                            wr_fortran_progress *progress, weir_estimate *estimate, int *ierr)
{
    const wr_fortran_work given = {memory, direct, progress, estimate};
    int64_t axis[WEIR_MAX_DIMENSIONS];
    int from_zero[WEIR_MAX_DIMENSIONS];
    weir_work work;
    int code = begin(&given, (const wr_fortran_array *[]){from, to, NULL}, &work);
    const int dimensions = code ? 0 : weir_array_get_info(from->handle)->dimensions;
    if (!code)
        code = wr_fortran_numbers(axes, "axes", dimensions, axis);
    for (int d = 0; axes && d < dimensions && !code; d++) {
        from_zero[d] = (int)axis[d] - 1;
        if (axis[d] < 1 || axis[d] > dimensions)
            code = wr_fortran_fail(WEIR_EINVAL, "axes has %lld, and the array %d dimensions",
                                   (long long)axis[d], dimensions);
    }
    if (!code)
        code = weir_array_transpose(from->handle, to->handle, axes ? from_zero : NULL, &work);
    end(code, from, estimate, ierr);
}

void weir_fortran_copy(const wr_fortran_array *from, const wr_fortran_array *to,
                       const CFI_cdesc_t *memory, int *ierr)
{
    const wr_fortran_work given = {memory, NULL, NULL, NULL};
    weir_work work;
    int code = begin(&given, (const wr_fortran_array *[]){from, to, NULL}, &work);
    if (!code)
        code = weir_array_copy(from->handle, to->handle, work.memory);
    end(code, from, NULL, ierr);
}

void weir_fortran_multiply(const wr_fortran_array *a, const wr_fortran_array *b,
                           const wr_fortran_array *c, const int *method, const CFI_cdesc_t *memory,
                           const int *direct, wr_fortran_progress *progress,
                           weir_estimate *estimate, int *ierr)
{
    const wr_fortran_work given = {memory, direct, progress, estimate};
    weir_work work;
    int code = begin(&given, (const wr_fortran_array *[]){a, b, c, NULL}, &work);
    if (!code)
        code = weir_array_multiply(a->handle, b->handle, c->handle, method ? *method : WEIR_PANELS,
                                   &work);
    end(code, a, estimate, ierr);
}

void weir_fortran_relax(const wr_fortran_array *from, const wr_fortran_array *to,
                        const int *iterations, const double *tolerance, const int *exchange,
                        int *done, double *residual, int *last, const CFI_cdesc_t *memory,
                        const int *direct, wr_fortran_progress *progress, weir_estimate *estimate,
                        int *ierr)
{
    const wr_fortran_work given = {memory, direct, progress, estimate};
    weir_relaxation how = {.iterations = iterations ? *iterations : 0,
                           .tolerance = tolerance ? *tolerance : 0,
                           .exchange = exchange && *exchange};
    weir_work work;
    int latest = 0;
    int code = begin(&given, (const wr_fortran_array *[]){from, &to[0], &to[1], NULL}, &work);
    if (!code)
        code = weir_array_relax(from->handle, (weir_array *[]){to[0].handle, to[1].handle}, &how,
                                &work, &latest);
    if (done)
        *done = how.done;
    if (residual)
        *residual = how.residual;
    *last = latest + 1;
    end(code, from, estimate, ierr);
}

void weir_fortran_median(const wr_fortran_array *from, const wr_fortran_array *to,
                         const int *window, const CFI_cdesc_t *memory, const int *direct,
                         wr_fortran_progress *progress, weir_estimate *estimate, int *ierr)
{
    const wr_fortran_work given = {memory, direct, progress, estimate};
    weir_work work;
    int code = begin(&given, (const wr_fortran_array *[]){from, to, NULL}, &work);
    if (!code)
        code = weir_array_median(from->handle, to->handle, *window, &work);
    end(code, from, estimate, ierr);
}

void weir_fortran_reduce(const wr_fortran_array *array, weir_statistics *statistics,
                         const CFI_cdesc_t *memory, const int *direct,
                         wr_fortran_progress *progress, weir_estimate *estimate, int *ierr)
{
    const wr_fortran_work given = {memory, direct, progress, estimate};
    weir_work work;
    int code = begin(&given, (const wr_fortran_array *[]){array, NULL}, &work);
    if (!code)
        code = weir_array_reduce(array->handle, statistics, &work);
    end(code, array, estimate, ierr);
}

void weir_fortran_reduce_along(const wr_fortran_array *from, const wr_fortran_array *to,
                               const int *kind, const CFI_cdesc_t *dim, const int *skip_nans,
                               const CFI_cdesc_t *memory, const int *direct,
                               wr_fortran_progress *progress, weir_estimate *estimate, int *ierr)
{
    const wr_fortran_work given = {memory, direct, progress, estimate};
    int along[WEIR_MAX_DIMENSIONS];
    const weir_reduction what = {
        .kind = *kind, .along = along, .skip_nans = skip_nans && *skip_nans};
    weir_work work;
    int code = begin(&given, (const wr_fortran_array *[]){from, to, NULL}, &work);
    if (!code)
        code = take_dimensions(dim, weir_array_get_info(from->handle)->dimensions, along);
    if (!code)
        code = weir_array_reduce_along(from->handle, to->handle, &what, &work);
    end(code, from, estimate, ierr);
}

void weir_fortran_fill(const wr_fortran_array *array, const CFI_cdesc_t *value,
                       const CFI_cdesc_t *memory, const int *direct, wr_fortran_progress *progress,
                       weir_estimate *estimate, int *ierr)
{
    const wr_fortran_work given = {memory, direct, progress, estimate};
    char element[16];
    weir_work work;
    int code = begin(&given, (const wr_fortran_array *[]){array, NULL}, &work);
    if (!code)
        code = wr_fortran_element(value, weir_array_get_info(array->handle)->type, element);
    if (!code)
        code = weir_array_fill(array->handle, element, &work);
    end(code, array, estimate, ierr);
}
/* NOLINTEND(readability-function-size) */
