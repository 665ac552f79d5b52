/* MPI datatypes as patterns. Only MPI_Type_get_envelope and MPI_Type_get_contents are asked, so any
 * MPI's types are understood; what a derived type came to is kept with it as an attribute. */
#ifndef WR_MPIIO_TYPES_H
#define WR_MPIIO_TYPES_H

#include <mpi.h>

#include "front/mpiio/datarep.h"
#include "pattern/pattern.h"

/* What is known of a datatype. */
typedef struct wr_type {
    weir_pattern *pattern;  /* of one item, from its origin; data in the order of the type map */
    int64_t size;           /* bytes of data */
    int64_t lb, extent;     /* items follow one another `extent` bytes apart */
    bool dense;             /* items in a row are one run */
    bool marked;            /* in a file: a constructor has set lb and extent */
    _Atomic bool committed; /* as far as we know */
} wr_type;

/* Borrowed: lives as long as the datatype, or, of a named one, for ever. */
int wr_type_get(MPI_Datatype type, const wr_type **out);

/* The same of a type that is to be used: MPI_ERR_TYPE if it is not committed. */
int wr_type_get_committed(MPI_Datatype type, const wr_type **out);

/* The same in a file of another representation: displacements in bytes are as they are, those in
 * items follow from the items there. To be released. */
int wr_type_in_file(MPI_Datatype type, const wr_datarep *rep, wr_type *out);
void wr_type_release(wr_type *type);

/* `count` items in a row; to be freed. */
int wr_type_repeat(const wr_type *type, int64_t count, weir_pattern **out);

#endif
