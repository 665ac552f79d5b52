/* Data representations: what elements look like in a file. Where it is not as in memory, elements
 * are converted on the way, by the rank that transfers them; whatever lies below sees bytes. */
#ifndef WR_MPIIO_DATAREP_H
#define WR_MPIIO_DATAREP_H

#include <stdbool.h>

#include "front/mpiio/kinds.h"

/* What a user converts with; one of the two variants, or neither: elements are as in memory. */
typedef int wr_large_conversion(void *memory, MPI_Datatype datatype, MPI_Count count, void *file,
                                MPI_Offset position, void *state);

typedef struct wr_user_conversion {
    MPI_Datarep_conversion_function *plain;
    wr_large_conversion *large;
} wr_user_conversion;

/* As in external32.h. */
typedef int64_t wr_convert(const wr_kind *kind, int64_t count, const char *from, char *to);

typedef struct wr_datarep {
    const char *name;
    /* bytes of an element in a file, > 0; NULL: as in memory, and nothing is ever converted */
    int (*bytes)(const struct wr_datarep *rep, const wr_kind *kind, int64_t *out);
    wr_convert *encode, *decode; /* NULL: it is a user's own, with */
    MPI_Datarep_extent_function *extent;
    wr_user_conversion write, read;
    void *state;
    struct wr_datarep *next;
} wr_datarep;

/* Representations last as long as the program. NULL: there is none of that name. */
const wr_datarep *wr_datarep_find(const char *name);
const wr_datarep *wr_datarep_native(void);

static inline bool wr_datarep_converts(const wr_datarep *rep)
{
    return rep->bytes;
}

/* Bytes of a named type in a file. */
int wr_datarep_bytes(const wr_datarep *rep, MPI_Datatype type, int64_t *out);

#endif
