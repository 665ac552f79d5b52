/* What an array has besides its elements: attributes, and names of its dimensions; as JSON on one
 * line, whatever the format has. Texts are by wr_alloc, and at most WR_LABELS_LONGEST bytes: what
 * would be longer is left out. */
#ifndef WR_FORMAT_LABELS_H
#define WR_FORMAT_LABELS_H

#include "format/description.h"
#include "format/text.h"
#include "format/zarr.h"

enum { WR_LABELS_LONGEST = 1 << 20, WR_LABELS_NAME = 257 };

#define WR_LABELS_FILL "_FillValue"

typedef struct wr_labels {
    char *attributes; /* an object; NULL: none */
    char *names;      /* a list with a string, or null, for each dimension; NULL: none */
} wr_labels;

/* What was written so far, an object or a list, becomes one of the texts, unless it is too long; an
 * error only if there was no memory. */
int wr_labels_take(wr_text *text, char **out);

/* Without names, if they are not wanted. */
int wr_labels_copy(const wr_labels *from, bool with_names, wr_labels *out);
void wr_labels_release(wr_labels *labels); /* a zeroed one is fine */

/* Names as files can have them, one for each dimension: "dim_0" where there is none, and two
 * dimensions have the same only if they have the same size. */
typedef struct wr_names {
    char name[WR_DIMENSIONS][WR_LABELS_NAME];
    int first[WR_DIMENSIONS]; /* the first dimension of that name */
} wr_names;
int wr_names_list(const wr_labels *labels, const wr_description *d, wr_names *out);

/* The element of _FillValue; false if there is none. */
bool wr_labels_fill(const wr_labels *labels, int type, char fill[16]);

/* Between these and a Zarr array's own texts. Version 2 has its attributes apart, in `file`, the
 * text of .zattrs or NULL, where xarray puts names too; what is malformed there is left out. */
int wr_labels_from_zarr(const wr_zarr *zarr, const char *file, wr_labels *out);
int wr_labels_to_zarr(const wr_labels *labels, wr_zarr *zarr);

#endif
