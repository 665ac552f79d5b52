/* The elements of one transfer on their way between memory and the representation of the file:
 *
 *     n = next(most); encode(n, staging); write n bytes; pass(written)
 *     n = next(most); read n bytes; decode(read, staging); pass(read)
 *
 * Whole elements are converted, and only those that wholly arrived count. */
#ifndef WR_MPIIO_CONVERSION_H
#define WR_MPIIO_CONVERSION_H

#include "front/mpiio/signature.h"
#include "front/mpiio/types.h"

typedef struct wr_conversion {
    const wr_datarep *rep;
    char *buffer;          /* the user's */
    MPI_Datatype datatype; /* ours, for the functions of a user's representation */
    weir_pattern *memory;  /* NULL: one run from `start` on */
    char *start;
    char *window; /* packed elements on their way to or from scattered ones */
    wr_signature signature;
    wr_amount all, done;
    wr_stream at; /* behind what is done */
} wr_conversion;

/* `count` items of a datatype at `buffer`, which is borrowed until release. */
int wr_conversion_init(wr_conversion *c, const wr_datarep *rep, const void *buffer, int64_t count,
                       MPI_Datatype datatype);
void wr_conversion_release(wr_conversion *c);

/* Bytes of the next elements in the file: `most` or less, but one element at least; 0 at the end.*/
int64_t wr_conversion_next(const wr_conversion *c, int64_t most);

/* Converts what follows, in `bytes` of the file. Errors: MPI_ERR_CONVERSION. */
int wr_conversion_encode(const wr_conversion *c, int64_t bytes, char *file);
int wr_conversion_decode(const wr_conversion *c, int64_t bytes, const char *file);

/* So many bytes of the file are done. */
void wr_conversion_pass(wr_conversion *c, int64_t bytes);

#endif
