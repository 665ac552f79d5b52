/* Random datatypes, of all constructors, nested. */
#ifndef WR_TESTS_RANDOM_TYPE_H
#define WR_TESTS_RANDOM_TYPE_H

#include "check.h"
#include "mpiio/recipe.h"

/* What a datatype must be. */
typedef struct wish {
    bool in_file;      /* displacements neither negative nor decreasing, also of items in a row */
    bool twice;        /* bytes may come twice */
    int elements;      /* at most */
    int64_t reach;     /* no data this far from the origin */
    const typed *leaf; /* made of these; NULL: of named types */
} wish;

/* Nested so deep at most; to be released. */
void typed_random(rng *r, const wish *w, int depth, typed *out);

/* Item `rank` of `ranks`, which together leave no gap: dealt out in blocks of a random number of
 * leaves, or as a distributed array. The same draws for all of them; to be released. */
void typed_random_share(rng *r, const typed *leaf, int rank, int ranks, typed *out);

#endif
