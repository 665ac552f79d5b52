/* What the module `weir` calls, and what its parts share.
 *
 * Fortran calls C directly: an argument that is absent is NULL, an array or a text is a descriptor
 * (ISO_Fortran_binding), so nothing is copied and nothing is looped over in Fortran. Sections are
 * 1-based and inclusive out there, and become selections here. */
#ifndef FRONT_FORTRAN_GLUE_H
#define FRONT_FORTRAN_GLUE_H

#include <ISO_Fortran_binding.h>

#include "weir/weir.h"

/* As the module's types of these names have them. */
typedef struct wr_fortran_array {
    weir_array *handle; /* NULL: not open */
    MPI_Fint comm;
} wr_fortran_array;

typedef struct wr_fortran_request {
    weir_request *handle; /* NULL: over */
    int together;         /* 1: all ranks of comm have started it */
    MPI_Fint comm;
} wr_fortran_request;

/* A subroutine of the caller's, with arguments by value. */
typedef void wr_fortran_progress(int64_t done, int64_t all);

/* --- errors: fortran_errors.c --- */

/* Makes this the latest failure, and returns the code. */
__attribute__((format(printf, 2, 3))) int wr_fortran_fail(int code, const char *format, ...);

/* Adds the file of an open array to an error about arguments of a call on it; returns the code. */
int wr_fortran_blame(const wr_fortran_array *array, int code);

/* The end of every call: the code is *ierr's, or, without ierr, one that is not 0 ends the program
 * with the error's text. If all ranks of `comm` have this error, the one where it arose says it;
 * NULL: it is this rank's own. */
void wr_fortran_end(int code, int *ierr, const MPI_Fint *comm);

/* The communicator. Only MPI_COMM_NULL, the process alone, is there before MPI is. */
MPI_Comm wr_fortran_comm(MPI_Fint comm);

/* 0, or an error if it is not open. */
int wr_fortran_check_open(const wr_fortran_array *array);

/* --- arguments: fortran_arguments.c --- */

/* Without blanks at its end, terminated; "" if absent. WEIR_ERANGE if it does not fit. */
int wr_fortran_text(const CFI_cdesc_t *text, char *out, size_t size);

/* A whole number of either kind; absent: *out stays. `what` names it in errors. */
int wr_fortran_number(const CFI_cdesc_t *from, const char *what, int64_t *out);

/* So many of them; absent: out stays. */
int wr_fortran_numbers(const CFI_cdesc_t *from, const char *what, int count, int64_t *out);

/* The other way: into the caller's, which has room for so many; what is more becomes 1. */
int wr_fortran_give(const CFI_cdesc_t *to, const char *what, int count, const int64_t *numbers);

/* Handles of a list of arrays, at most WEIR_MAX_SLAB_ARRAYS, and the communicator of the last;
 * absent: none. */
int wr_fortran_arrays(const CFI_cdesc_t *from, weir_array **out, int *count, MPI_Fint *comm);

/* How an argument lies in memory. */
typedef struct wr_fortran_memory {
    void *base;
    int type;    /* that of memory, which the library converts to and from */
    int logical; /* 1: it holds logicals, whatever their size */
    int rank;
    int64_t extent[CFI_MAX_RANK], stride[CFI_MAX_RANK]; /* elements; bytes */
} wr_fortran_memory;

/* The type that has elements of this kind, WEIR_BOOL for logicals; 0: none. */
int wr_fortran_type(const CFI_cdesc_t *u);

/* WEIR_EINVAL, with a text for users, if it is nothing that can be read or written. */
int wr_fortran_look(const CFI_cdesc_t *u, wr_fortran_memory *out);

/* WEIR_EINVAL unless its kind is that of the array's type, or converts and may. */
int wr_fortran_check_kind(const wr_fortran_memory *memory, int type, int convert);

/* One element, of the array's type, in 16 bytes. */
int wr_fortran_element(const CFI_cdesc_t *value, int type, void *out);

/* --- sections: fortran_section.c --- */

typedef struct wr_fortran_section {
    const CFI_cdesc_t *lo, *hi, *step; /* as the caller gives them, each may be absent */
} wr_fortran_section;

typedef struct wr_fortran_selection {
    int64_t lo[WEIR_MAX_DIMENSIONS], hi[WEIR_MAX_DIMENSIONS], step[WEIR_MAX_DIMENSIONS];
    int64_t extent[WEIR_MAX_DIMENSIONS]; /* how many indices are taken */
    int64_t stride[WEIR_MAX_DIMENSIONS]; /* of these, in memory */
    int empty;                           /* nothing is taken */
} wr_fortran_selection;

/* What is meant, and how it lies in memory, whose shape must fit. */
int wr_fortran_select(const wr_fortran_section *section, const weir_array_info *info,
                      const wr_fortran_memory *memory, wr_fortran_selection *out);

/* Sets out->stride from out->extent, of so many dimensions: those of extent 1 need not be in
 * memory. */
int wr_fortran_fit(const wr_fortran_memory *memory, int dimensions, wr_fortran_selection *out);

#endif
