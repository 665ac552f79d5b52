/* Headers of classic NetCDF files, CDF-1, CDF-2 and CDF-5: where data of one variable are, which
 * are big-endian, its attributes and the names of its dimensions. Variables over the record
 * dimension, their first one, take turns: a record of each, and again. */
#ifndef WR_FORMAT_NETCDF_H
#define WR_FORMAT_NETCDF_H

#include "format/labels.h"

enum {
    WR_NETCDF_START = 4,          /* bytes that tell whether it is one */
    WR_NETCDF_LONGEST = 64 << 20, /* headers are refused above this */
    WR_NETCDF_WRITTEN = 4096      /* those we write have multiples of it, so that data is aligned */
};

/* The first `length` bytes of a file of `size`. */
typedef struct wr_netcdf_head {
    const void *bytes;
    int64_t length, size;
} wr_netcdf_head;

typedef struct wr_netcdf {
    wr_description what;
    wr_labels labels; /* to be released */
} wr_netcdf;

bool wr_netcdf_begins(const void *start, int64_t bytes);

/* The variable of that name. WEIR_EFORMAT for what is malformed or cut short, and then *cut tells
 * that the header goes on behind `length`; WEIR_ENOENT if there is no such variable, or the name is
 * NULL: the error tells which there are; WEIR_EUNSUPPORTED for text and for more than WR_DIMENSIONS
 * dimensions, WEIR_ERANGE for sizes against A1. On failure *out is zeroed. Takes memory for the
 * lengths of dimensions, less than the header's, and labels. */
int wr_netcdf_parse(const wr_netcdf_head *head, const char *name, wr_netcdf *out, bool *cut);

/* How many variables, and attributes of its own, the file has; -1 if its header does not tell. */
int64_t wr_netcdf_variables(const wr_netcdf_head *head);

/* Tells each variable by name; `d` is NULL, and the thread's error set, for one that
 * wr_netcdf_parse refuses. Other than 0 ends it, and is returned; *cut as there. */
typedef int wr_netcdf_told(void *user, const char *name, const wr_description *d);
int wr_netcdf_each(const wr_netcdf_head *head, wr_netcdf_told *each, void *user, bool *cut);

/* A header of a file whose only variable `d` is, over dimensions of its own, by wr_alloc; of
 * CDF-2 where it can hold that, otherwise of CDF-5. Data begin behind it, whatever
 * d->data_offset says. WEIR_EUNSUPPORTED for what NetCDF does not have: bool, f2, complex
 * numbers, storage by columns, no indices in another dimension than the first; WEIR_EINVAL for
 * what is no name. Of attributes those without a fit name are left out, and all behind the
 * 8192nd. */
int wr_netcdf_build(const wr_description *d, const char *name, const wr_labels *labels,
                    char **header, int64_t *length);

#endif
