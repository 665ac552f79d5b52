/* Headers of classic NetCDF files, CDF-1, CDF-2 and CDF-5: where data of one variable are, which
 * are big-endian. Variables over the record dimension, their first one, take turns: a record of
 * each, and again. */
#ifndef WR_FORMAT_NETCDF_H
#define WR_FORMAT_NETCDF_H

#include "format/description.h"

enum {
    WR_NETCDF_START = 4,          /* bytes that tell whether it is one */
    WR_NETCDF_LONGEST = 64 << 20, /* headers are refused above this */
    WR_NETCDF_WRITTEN = 4096      /* bytes of those we write, so that data is aligned */
};

/* The first `length` bytes of a file of `size`. */
typedef struct wr_netcdf_head {
    const void *bytes;
    int64_t length, size;
} wr_netcdf_head;

bool wr_netcdf_begins(const void *start, int64_t bytes);

/* The variable of that name. WEIR_EFORMAT for what is malformed or cut short, and then *cut tells
 * that the header goes on behind `length`; WEIR_ENOENT if there is no such variable, or the name is
 * NULL: the error tells which there are; WEIR_EUNSUPPORTED for text and for more than WR_DIMENSIONS
 * dimensions, WEIR_ERANGE for sizes against A1. On failure *out is left alone. Takes memory for the
 * lengths of dimensions, less than the header's. */
int wr_netcdf_parse(const wr_netcdf_head *head, const char *name, wr_description *out, bool *cut);

/* How many variables the file has; -1 if its header does not tell. */
int64_t wr_netcdf_variables(const wr_netcdf_head *head);

/* A header of a file whose only variable `d` is, over dimensions of its own; of CDF-2 where it can
 * hold that, otherwise of CDF-5. WEIR_EUNSUPPORTED for what NetCDF does not have: bool, f2, complex
 * numbers, storage by columns, no indices in another dimension than the first; WEIR_EINVAL for what
 * is no name. */
int wr_netcdf_build(const wr_description *d, const char *name, char header[WR_NETCDF_WRITTEN]);

#endif
