/* Headers of .npy files: versions 1.0, 2.0 and 3.0 are read, 1.0 is written, padded to 4096 bytes
 * so that data is aligned for direct access. */
#ifndef WR_FORMAT_NPY_H
#define WR_FORMAT_NPY_H

#include "format/description.h"

enum {
    WR_NPY_START = 12,        /* bytes that tell how long a header is */
    WR_NPY_LONGEST = 1 << 20, /* headers are refused above this */
    WR_NPY_WRITTEN = 4096     /* bytes of those we write */
};

/* Bytes of the whole header, whose first `bytes` (at least WR_NPY_START, or the whole file) are
 * given. WEIR_EFORMAT if it is no .npy file, or none that can be read. */
int wr_npy_measure(const void *start, int64_t bytes, int64_t *length);

/* The whole header, and perhaps what follows it, in `length` bytes. WEIR_EFORMAT for what is
 * malformed or cut short, WEIR_EUNSUPPORTED for elements that are objects, structures or of another
 * kind that is none of enum weir_type, and for more than WR_DIMENSIONS dimensions, WEIR_ERANGE for
 * sizes against A1. On failure *out is left alone. */
int wr_npy_parse(const void *header, int64_t length, wr_description *out);

/* A header for `d`, whose data_offset is set to WR_NPY_WRITTEN and swapped to false: it is always
 * this machine's byte order. WEIR_EINVAL or WEIR_ERANGE, and d left alone, if it is not sound. */
int wr_npy_build(wr_description *d, char header[WR_NPY_WRITTEN]);

#endif
