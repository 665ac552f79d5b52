/* What a datatype was made from, in one form for all constructors. */
#ifndef WR_MPIIO_CONTENTS_H
#define WR_MPIIO_CONTENTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* The arguments of the constructor: its numbers in the order it takes them, whether they were int,
 * MPI_Aint or MPI_Count, and its types. */
typedef struct wr_contents {
    int combiner;
    int64_t numbers, types;
    int64_t *number;
    MPI_Datatype *type;
} wr_contents;

/* A named type has no contents. */
int wr_contents_get(MPI_Datatype type, wr_contents *out);
void wr_contents_release(wr_contents *c);

/* Whether a type is MPI's own, so that its handle is not ours to free; false if it is no type. */
bool wr_type_is_named(MPI_Datatype type);

/* A handle of our own, and giving it back; named types have none. */
int wr_type_keep(MPI_Datatype type, MPI_Datatype *out);
void wr_type_drop(MPI_Datatype *type);

#endif
