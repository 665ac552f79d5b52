/* What the header of an array says: pure data, checked. */
#ifndef WR_FORMAT_DESCRIPTION_H
#define WR_FORMAT_DESCRIPTION_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/type.h"

enum { WR_DIMENSIONS = 16 };

/* Invariant A1: dimensions and sizes are not negative, `bytes` is their product with the element's
 * size, and data_offset + bytes stays below 2^62, also if every size 0 were 1, so that products of
 * some of the sizes fit as well; so does data_offset + shape[0] x record. */
typedef struct wr_description {
    int type; /* enum weir_type */
    int dimensions;
    int64_t shape[WR_DIMENSIONS];
    bool columns; /* the first dimension is the fastest, not the last */
    bool swapped; /* bytes of an element are in the other order than this machine's */
    int64_t data_offset;
    int64_t bytes;  /* of the data */
    int64_t record; /* from index to index of the first dimension, which is the slowest, where other
                       data are between them; 0: nothing is */
    int format;     /* enum weir_format */
} wr_description;

/* Bytes of the file from its beginning to the last element's end. */
int64_t wr_description_end(const wr_description *d);

/* Sets `bytes` and checks A1. WEIR_EINVAL or WEIR_ERANGE, and d left alone, if it is not sound. */
int wr_description_settle(wr_description *d);

#endif
