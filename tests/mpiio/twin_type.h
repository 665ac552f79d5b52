/* Random datatypes twice: as they are in memory, and as the standard says they are in a file of
 * external32, where elements have other sizes. Displacements in bytes are the same in both. */
#ifndef WR_TESTS_TWIN_TYPE_H
#define WR_TESTS_TWIN_TYPE_H

#include "check.h"
#include "mpiio/recipe.h"

/* The same elements in the same order. */
typedef struct twin {
    typed memory;
    typed file;  /* no datatype of its own */
    bool marked; /* its bounds in the file were set by a constructor */
} twin;

/* One of MPI's own types; to be released. */
void twin_named(rng *r, twin *out);

/* Nested so deep at most, of leaves of that type, or NULL: of any. Nothing lies on or before what
 * comes earlier in the type map. */
void twin_random(rng *r, const twin *leaf, int depth, twin *out);

void twin_release(twin *t);

/* A random value of an element that both sides have, and the other side's bytes of any value. */
void twin_draw(rng *r, int64_t memory, int64_t file, unsigned char *out);
void twin_encode(int64_t memory, int64_t file, const unsigned char *value, unsigned char *out);
void twin_decode(int64_t memory, int64_t file, const unsigned char *bytes, unsigned char *out);

#endif
