/* Lower bound and extent of a datatype in a file, by the rules of the constructors: MPI knows them
 * in memory only. */
#ifndef WR_MPIIO_REACH_H
#define WR_MPIIO_REACH_H

#include "front/mpiio/contents.h"
#include "front/mpiio/types.h"

/* Of what has been added so far. */
typedef struct wr_reach {
    bool some, marked, too_far;
    int64_t lo, hi;
} wr_reach;

/* `count` items in a row, from `place` on. */
void wr_reach_add(wr_reach *r, const wr_type *item, int64_t place, int64_t count);

/* Sets the bounds of a type to what was added. */
int wr_reach_end(const wr_reach *r, wr_type *out);

/* The same for a type made of one other. */
int wr_reach_of(const wr_type *item, const wr_contents *c, wr_type *out);

#endif
