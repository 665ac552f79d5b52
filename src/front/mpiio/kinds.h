/* What MPI's own datatypes hold: the elements of which all others are made. */
#ifndef WR_MPIIO_KINDS_H
#define WR_MPIIO_KINDS_H

#include <mpi.h>
#include <stdint.h>

enum wr_nature {
    WR_NATURE_BYTES,    /* whatever it is, it has no byte order */
    WR_NATURE_SIGNED,   /* integers; logicals, too */
    WR_NATURE_UNSIGNED, /* integers; characters, too */
    WR_NATURE_IEEE,     /* a floating-point number as IEEE 754 interchanges them */
    WR_NATURE_EXTENDED  /* long double */
};

/* One kind of element. A complex one has two parts, side by side. */
typedef struct wr_kind {
    MPI_Datatype type;
    enum wr_nature nature;
    int parts;
    int memory;     /* bytes in memory */
    int external32; /* bytes there */
} wr_kind;

enum { WR_MOST_KINDS = 2 };

/* The elements of a named type, in order: one, or of a pair of value and index two. How many, or a
 * negative code for a type that is not known. */
int wr_kinds_get(MPI_Datatype type, wr_kind *out);

#endif
