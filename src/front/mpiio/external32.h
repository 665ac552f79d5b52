/* The representation "external32": all numbers with their most significant byte first, in sizes
 * that are the same everywhere; floating point as in IEEE 754. */
#ifndef WR_MPIIO_EXTERNAL32_H
#define WR_MPIIO_EXTERNAL32_H

#include "front/mpiio/kinds.h"

/* Converts `count` elements of a kind, packed on both sides, and returns how many: fewer if the
 * next one has a value that the other side does not have, or if the kind has no counterpart. The
 * memories must not overlap. */
int64_t wr_external32_encode(const wr_kind *kind, int64_t count, const char *memory, char *file);
int64_t wr_external32_decode(const wr_kind *kind, int64_t count, const char *file, char *memory);

#endif
