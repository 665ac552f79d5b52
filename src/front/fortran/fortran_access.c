/* Reading and writing: a section of an array, and an argument of any kind, rank and stride, which
 * the library fills or takes where it lies. */
#include <string.h>

#include "front/fortran/entries.h"

typedef struct move {
    const wr_fortran_array *array;
    const CFI_cdesc_t *u;
    wr_fortran_section section;
    const int *convert;
    int write, all;
    weir_request **request; /* NULL: blocking */
} move;

static int start(const move *m, const weir_selection *selection, const weir_layout *layout)
{
    weir_array *array = m->array->handle;
    void *base = m->u->base_addr;
    if (m->all)
        return m->write ? weir_array_write_all(array, selection, layout, base, m->request)
                        : weir_array_read_all(array, selection, layout, base, m->request);
    return m->write ? weir_array_write(array, selection, layout, base, m->request)
                    : weir_array_read(array, selection, layout, base, m->request);
}

/* Others are in the call already, and must not wait for this rank. */
static int refuse(const move *m, int code)
{
    code = wr_fortran_blame(m->array, code);
    const weir_error error = *weir_error_last();
    return m->all ? weir_array_refuse_all(m->array->handle, m->write, &error, m->request) : code;
}

static int run(const move *m)
{
    wr_fortran_memory memory;
    wr_fortran_selection s;
    int code = wr_fortran_check_open(m->array);
    if (code)
        return code;
    const weir_array_info *info = weir_array_get_info(m->array->handle);
    code = wr_fortran_look(m->u, &memory);
    if (!code)
        code = wr_fortran_check_kind(&memory, info->type, m->convert && *m->convert);
    if (!code)
        code = wr_fortran_select(&m->section, info, &memory, &s);
    if (code)
        return refuse(m, code);
    const weir_selection selection = {.lo = s.lo, .hi = s.hi, .step = s.step};
    const weir_layout layout = {.stride = s.stride, .type = memory.type};
    return start(m, s.empty ? NULL : &selection, &layout);
}

/* NOLINTBEGIN(readability-function-size): as Fortran calls them */
void weir_fortran_read(const wr_fortran_array *array, const CFI_cdesc_t *u, const CFI_cdesc_t *lo,
                       const CFI_cdesc_t *hi, const CFI_cdesc_t *step, const int *convert,
                       int *ierr)
{
    const move m = {array, u, {lo, hi, step}, convert, 0, 0, NULL};
    wr_fortran_end(run(&m), ierr, NULL);
}

void weir_fortran_write(const wr_fortran_array *array, const CFI_cdesc_t *u, const CFI_cdesc_t *lo,
                        const CFI_cdesc_t *hi, const CFI_cdesc_t *step, const int *convert,
                        int *ierr)
{
    const move m = {array, u, {lo, hi, step}, convert, 1, 0, NULL};
    wr_fortran_end(run(&m), ierr, NULL);
}

void weir_fortran_read_all(const wr_fortran_array *array, const CFI_cdesc_t *u,
                           const CFI_cdesc_t *lo, const CFI_cdesc_t *hi, const CFI_cdesc_t *step,
                           const int *convert, int *ierr)
{
    const move m = {array, u, {lo, hi, step}, convert, 0, 1, NULL};
    wr_fortran_end(run(&m), ierr, &array->comm);
}

void weir_fortran_write_all(const wr_fortran_array *array, const CFI_cdesc_t *u,
                            const CFI_cdesc_t *lo, const CFI_cdesc_t *hi, const CFI_cdesc_t *step,
                            const int *convert, int *ierr)
{
    const move m = {array, u, {lo, hi, step}, convert, 1, 1, NULL};
    wr_fortran_end(run(&m), ierr, &array->comm);
}

void weir_fortran_iread(const wr_fortran_array *array, const CFI_cdesc_t *u,
                        wr_fortran_request *request, const CFI_cdesc_t *lo, const CFI_cdesc_t *hi,
                        const CFI_cdesc_t *step, const int *convert, int *ierr)
{
    const move m = {array, u, {lo, hi, step}, convert, 0, 0, &request->handle};
    *request = (wr_fortran_request){NULL, 0, array->comm};
    wr_fortran_end(run(&m), ierr, NULL);
}

void weir_fortran_iwrite(const wr_fortran_array *array, const CFI_cdesc_t *u,
                         wr_fortran_request *request, const CFI_cdesc_t *lo, const CFI_cdesc_t *hi,
                         const CFI_cdesc_t *step, const int *convert, int *ierr)
{
    const move m = {array, u, {lo, hi, step}, convert, 1, 0, &request->handle};
    *request = (wr_fortran_request){NULL, 0, array->comm};
    wr_fortran_end(run(&m), ierr, NULL);
}

void weir_fortran_iread_all(const wr_fortran_array *array, const CFI_cdesc_t *u,
                            wr_fortran_request *request, const CFI_cdesc_t *lo,
                            const CFI_cdesc_t *hi, const CFI_cdesc_t *step, const int *convert,
                            int *ierr)
{
    const move m = {array, u, {lo, hi, step}, convert, 0, 1, &request->handle};
    *request = (wr_fortran_request){NULL, 1, array->comm};
    wr_fortran_end(run(&m), ierr, NULL);
}

void weir_fortran_iwrite_all(const wr_fortran_array *array, const CFI_cdesc_t *u,
                             wr_fortran_request *request, const CFI_cdesc_t *lo,
                             const CFI_cdesc_t *hi, const CFI_cdesc_t *step, const int *convert,
                             int *ierr)
{
    const move m = {array, u, {lo, hi, step}, convert, 1, 1, &request->handle};
    *request = (wr_fortran_request){NULL, 1, array->comm};
    wr_fortran_end(run(&m), ierr, NULL);
}
/* NOLINTEND(readability-function-size) */

/* Whose ranks have the errors of a request; NULL: nobody else. */
static const MPI_Fint *comm_of(const wr_fortran_request *request)
{
    return request->together ? &request->comm : NULL;
}

void weir_fortran_wait(wr_fortran_request *request, int *ierr)
{
    wr_fortran_end(weir_request_wait(&request->handle, NULL), ierr, comm_of(request));
}

void weir_fortran_wait_for(wr_fortran_request *request, const double *seconds, int *over, int *ierr)
{
    *over = 1;
    wr_fortran_end(weir_request_wait_for(&request->handle, *seconds, over, NULL), ierr,
                   comm_of(request));
}

void weir_fortran_test(wr_fortran_request *request, int *over, int *ierr)
{
    *over = 1;
    wr_fortran_end(weir_request_test(&request->handle, over, NULL), ierr, comm_of(request));
}

void weir_fortran_wait_all(const CFI_cdesc_t *requests, int *ierr)
{
    weir_error first = {0};
    wr_fortran_request culprit = {0};
    char *at = requests->base_addr;
    for (CFI_index_t i = 0; i < requests->dim[0].extent; i++, at += requests->dim[0].sm) {
        wr_fortran_request request;
        memcpy(&request, at, sizeof request);
        if (weir_request_wait(&request.handle, NULL) && !first.code) {
            first = *weir_error_last();
            culprit = request;
        }
        memcpy(at, &request, sizeof request);
    }
    wr_fortran_end(first.code ? weir_error_raise(&first) : 0, ierr, comm_of(&culprit));
}

/* --- distributed --- */

/* How the caller has dealt an array of these dimensions: what is not said is as square as it can
 * be. Also this rank's part. */
static int deal(const wr_fortran_array *array, const CFI_cdesc_t *grid, const CFI_cdesc_t *block,
                weir_distribution *out, int64_t *part)
{
    const weir_array_info *info = weir_array_get_info(array->handle);
    int64_t places[WEIR_MAX_DIMENSIONS] = {0};
    const MPI_Comm comm = wr_fortran_comm(array->comm);
    int rank = 0, ranks = 1;
    *out = (weir_distribution){0};
    if (comm != MPI_COMM_NULL) {
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &ranks);
    }
    int code = wr_fortran_numbers(grid, "grid", info->dimensions, places);
    if (!code)
        code = wr_fortran_numbers(block, "block", info->dimensions, out->block);
    for (int d = 0; d < info->dimensions && !code; d++) {
        if (places[d] < 0 || places[d] > INT32_MAX)
            code = wr_fortran_fail(WEIR_EINVAL, "the grid has %lld places in dimension %d",
                                   (long long)places[d], d + 1);
        out->grid[d] = (int)places[d];
    }
    if (!code && !grid && info->dimensions)
        code = weir_distribution_grid(ranks, info->dimensions, out->grid);
    return code ? code : weir_distribution_shape(out, info->dimensions, info->shape, rank, part);
}

static int distribute(const move *m, const CFI_cdesc_t *grid, const CFI_cdesc_t *block)
{
    weir_distribution distribution;
    wr_fortran_memory memory;
    wr_fortran_selection s;
    int code = wr_fortran_check_open(m->array);
    if (code)
        return code;
    weir_array *array = m->array->handle;
    const weir_array_info *info = weir_array_get_info(array);
    code = deal(m->array, grid, block, &distribution, s.extent);
    if (!code)
        code = wr_fortran_look(m->u, &memory);
    if (!code)
        code = wr_fortran_check_kind(&memory, info->type, m->convert && *m->convert);
    if (!code)
        code = wr_fortran_fit(&memory, info->dimensions, &s);
    if (code)
        return refuse(m, code);
    for (int d = 0; s.empty && d < info->dimensions; d++)
        s.stride[d] = weir_type_bytes(memory.type);
    const weir_layout layout = {.stride = s.stride, .type = memory.type};
    return m->write ? weir_array_write_distributed(array, &distribution, &layout, m->u->base_addr)
                    : weir_array_read_distributed(array, &distribution, &layout, m->u->base_addr);
}

void weir_fortran_read_distributed(const wr_fortran_array *array, const CFI_cdesc_t *u,
                                   const CFI_cdesc_t *grid, const CFI_cdesc_t *block,
                                   const int *convert, int *ierr)
{
    const move m = {array, u, {NULL, NULL, NULL}, convert, 0, 1, NULL};
    wr_fortran_end(distribute(&m, grid, block), ierr, &array->comm);
}

void weir_fortran_write_distributed(const wr_fortran_array *array, const CFI_cdesc_t *u,
                                    const CFI_cdesc_t *grid, const CFI_cdesc_t *block,
                                    const int *convert, int *ierr)
{
    const move m = {array, u, {NULL, NULL, NULL}, convert, 1, 1, NULL};
    wr_fortran_end(distribute(&m, grid, block), ierr, &array->comm);
}

void weir_fortran_part(const wr_fortran_array *array, const CFI_cdesc_t *shape,
                       const CFI_cdesc_t *grid, const CFI_cdesc_t *block, int *ierr)
{
    weir_distribution distribution;
    int64_t part[WEIR_MAX_DIMENSIONS];
    int code = wr_fortran_check_open(array);
    if (!code)
        code = deal(array, grid, block, &distribution, part);
    if (!code)
        code =
            wr_fortran_give(shape, "shape", weir_array_get_info(array->handle)->dimensions, part);
    wr_fortran_end(code, ierr, NULL);
}
