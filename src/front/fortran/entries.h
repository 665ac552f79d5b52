/* What the module `weir` calls, in the order of weir.f90, which says what each does. Pointers that
 * are optional there may be NULL. */
#ifndef FRONT_FORTRAN_ENTRIES_H
#define FRONT_FORTRAN_ENTRIES_H

#include "front/fortran/glue.h"

/* By the module: ends the program with the latest error, which another rank may be about to say;
 * MPI_COMM_NULL as Fortran has it. */
__attribute__((noreturn)) void weir_fortran_stop(int elsewhere);
MPI_Fint weir_fortran_comm_null(void);

/* --- fortran_arrays.c --- */

void weir_fortran_open(const MPI_Fint *comm, const CFI_cdesc_t *path, wr_fortran_array *array,
                       const CFI_cdesc_t *action, const CFI_cdesc_t *hints, int *ierr);
void weir_fortran_create(const MPI_Fint *comm, const CFI_cdesc_t *path, wr_fortran_array *array,
                         const CFI_cdesc_t *shape, const int *type, const CFI_cdesc_t *fill,
                         const int *overwrite, const int *columns, const CFI_cdesc_t *grid,
                         const CFI_cdesc_t *block, const CFI_cdesc_t *tile,
                         const CFI_cdesc_t *shard, const CFI_cdesc_t *codec, const int *format,
                         const wr_fortran_array *like, const CFI_cdesc_t *hints, int *ierr);
void weir_fortran_remove(const MPI_Fint *comm, const CFI_cdesc_t *path, int *ierr);
/* The same for communicators of mpi_f08, which are integers in a type. */
__typeof__(weir_fortran_open) weir_fortran_open_f08;
__typeof__(weir_fortran_create) weir_fortran_create_f08;
__typeof__(weir_fortran_remove) weir_fortran_remove_f08;
void weir_fortran_close(wr_fortran_array *array, int *ierr);
void weir_fortran_discard(wr_fortran_array *array, int *ierr);
void weir_fortran_sync(const wr_fortran_array *array, int *ierr);
void weir_fortran_inquire(const wr_fortran_array *array, int *rank, const CFI_cdesc_t *shape,
                          int *type, int *columns, int64_t *bytes, int *format, int *members,
                          int *ierr);
int weir_fortran_type_of(const CFI_cdesc_t *u);
const char *weir_fortran_said(const wr_fortran_array *array, int what);

/* --- fortran_access.c --- */

typedef void wr_fortran_blocking(const wr_fortran_array *array, const CFI_cdesc_t *u,
                                 const CFI_cdesc_t *lo, const CFI_cdesc_t *hi,
                                 const CFI_cdesc_t *step, const int *convert, int *ierr);
wr_fortran_blocking weir_fortran_read, weir_fortran_write;
wr_fortran_blocking weir_fortran_read_all, weir_fortran_write_all;
typedef void wr_fortran_nonblocking(const wr_fortran_array *array, const CFI_cdesc_t *u,
                                    wr_fortran_request *request, const CFI_cdesc_t *lo,
                                    const CFI_cdesc_t *hi, const CFI_cdesc_t *step,
                                    const int *convert, int *ierr);
wr_fortran_nonblocking weir_fortran_iread, weir_fortran_iwrite;
wr_fortran_nonblocking weir_fortran_iread_all, weir_fortran_iwrite_all;
void weir_fortran_wait(wr_fortran_request *request, int *ierr);
void weir_fortran_wait_for(wr_fortran_request *request, const double *seconds, int *over,
                           int *ierr);
void weir_fortran_test(wr_fortran_request *request, int *over, int *ierr);
void weir_fortran_wait_all(const CFI_cdesc_t *requests, int *ierr);
void weir_fortran_read_distributed(const wr_fortran_array *array, const CFI_cdesc_t *u,
                                   const CFI_cdesc_t *grid, const CFI_cdesc_t *block,
                                   const int *convert, int *ierr);
void weir_fortran_write_distributed(const wr_fortran_array *array, const CFI_cdesc_t *u,
                                    const CFI_cdesc_t *grid, const CFI_cdesc_t *block,
                                    const int *convert, int *ierr);
void weir_fortran_part(const wr_fortran_array *array, const CFI_cdesc_t *shape,
                       const CFI_cdesc_t *grid, const CFI_cdesc_t *block, int *ierr);

/* --- fortran_slabs.c --- */

typedef struct wr_fortran_slabs wr_fortran_slabs;
void weir_fortran_slabs_begin(wr_fortran_slabs **slabs, const CFI_cdesc_t *inputs,
                              const CFI_cdesc_t *outputs, const CFI_cdesc_t *memory,
                              const CFI_cdesc_t *halo, const CFI_cdesc_t *block, const int *deal,
                              const int *together, wr_fortran_progress *progress, int *ierr);
_Bool weir_fortran_slabs_next(wr_fortran_slabs **slabs, int *ierr);
void weir_fortran_slabs_end(wr_fortran_slabs **slabs, int *ierr);
void weir_fortran_slab_bounds(wr_fortran_slabs *const *slabs, const CFI_cdesc_t *lo,
                              const CFI_cdesc_t *hi, int *ierr);
typedef void wr_fortran_slab(wr_fortran_slabs *const *slabs, CFI_cdesc_t *pointer, const int *input,
                             const int *output, int *ierr);
wr_fortran_slab weir_fortran_slab_l1, weir_fortran_slab_i1, weir_fortran_slab_i2;
wr_fortran_slab weir_fortran_slab_i4, weir_fortran_slab_i8, weir_fortran_slab_f4;
wr_fortran_slab weir_fortran_slab_f8, weir_fortran_slab_c8, weir_fortran_slab_c16;

/* --- fortran_operators.c --- */

typedef struct wr_fortran_work {
    const CFI_cdesc_t *memory;
    const int *direct;
    wr_fortran_progress *progress;
    weir_estimate *estimate;
} wr_fortran_work;

void weir_fortran_transpose(const wr_fortran_array *from, const wr_fortran_array *to,
                            const CFI_cdesc_t *axes, const CFI_cdesc_t *memory, const int *direct,
                            wr_fortran_progress *progress, weir_estimate *estimate, int *ierr);
void weir_fortran_copy(const wr_fortran_array *from, const wr_fortran_array *to,
                       const CFI_cdesc_t *memory, int *ierr);
void weir_fortran_multiply(const wr_fortran_array *a, const wr_fortran_array *b,
                           const wr_fortran_array *c, const int *method, const CFI_cdesc_t *memory,
                           const int *direct, wr_fortran_progress *progress,
                           weir_estimate *estimate, int *ierr);
void weir_fortran_relax(const wr_fortran_array *from, const wr_fortran_array *to,
                        const int *iterations, const double *tolerance, const int *exchange,
                        int *done, double *residual, int *last, const CFI_cdesc_t *memory,
                        const int *direct, wr_fortran_progress *progress, weir_estimate *estimate,
                        int *ierr);
void weir_fortran_median(const wr_fortran_array *from, const wr_fortran_array *to,
                         const int *window, const CFI_cdesc_t *memory, const int *direct,
                         wr_fortran_progress *progress, weir_estimate *estimate, int *ierr);
void weir_fortran_reduce(const wr_fortran_array *array, weir_statistics *statistics,
                         const CFI_cdesc_t *memory, const int *direct,
                         wr_fortran_progress *progress, weir_estimate *estimate, int *ierr);
void weir_fortran_reduce_along(const wr_fortran_array *from, const wr_fortran_array *to,
                               const int *kind, const CFI_cdesc_t *dim, const int *skip_nans,
                               const CFI_cdesc_t *memory, const int *direct,
                               wr_fortran_progress *progress, weir_estimate *estimate, int *ierr);
void weir_fortran_fill(const wr_fortran_array *array, const CFI_cdesc_t *value,
                       const CFI_cdesc_t *memory, const int *direct, wr_fortran_progress *progress,
                       weir_estimate *estimate, int *ierr);

/* --- fortran_errors.c --- */

int weir_fortran_error_text(char *text, int size);

#endif
