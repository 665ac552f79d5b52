/* The metadata of a Zarr array, zarr.json of version 3 and .zarray of version 2: an array in tiles,
 * what its files are called, and what those that are missing stand for. */
#ifndef WR_FORMAT_ZARR_H
#define WR_FORMAT_ZARR_H

#include "format/description.h"

enum { WR_ZARR_LONGEST = 64 << 20 }; /* metadata is refused above this */

typedef struct wr_zarr {
    int version;         /* 2 or 3 */
    wr_description what; /* with its tiling; columns is false; format as version */
    char separator;      /* in names of files: '/' or '.' */
    bool prefixed;       /* they begin with c: version 3's own names */
    bool named;          /* these two, and how many dimensions there are, are known */
    bool index_first;    /* of shards: the index comes before the tiles, */
    bool index_summed;   /* has a CRC-32C behind it, */
    bool index_swapped;  /* and the other byte order than this machine's */
    char fill[16];       /* an element as memory has it; zeros where there is none (null) */
    bool filled;         /* there is one */
    char *attributes;    /* their JSON text, an object; NULL: none, or empty; by wr_alloc */
    char *names;         /* the list of dimension_names, JSON text; NULL: none; by wr_alloc */
} wr_zarr;

/* WEIR_EFORMAT names what is missing or wrong, WEIR_EUNSUPPORTED the codec, data type or extension
 * that is not known here, or what a description cannot say: shards in shards, or transposed ones;
 * codecs that this build lacks are no error here (wr_codecs_check). Memory is bounded by the text's
 * length. On failure there is nothing to be released; after WEIR_EUNSUPPORTED `named` may be true
 * nevertheless. */
int wr_zarr_parse(int version, const char *text, int64_t length, wr_zarr *out);

/* Whether zarr.json is that of a group. */
bool wr_zarr_is_group(const char *text, int64_t length);

/* The text, with a 0 after it, to be freed by wr_free; of version 2 that of .zarray, which has no
 * attributes and names: these are a file of their own, .zattrs. Version 3 must have a fill value,
 * zeros where there is none here; version 2 has one not-a-number for all. WEIR_EUNSUPPORTED for
 * what the version cannot say: codecs that it does not have, shards in version 2. WEIR_EINVAL and
 * WEIR_ERANGE for what is not sound, the texts too. */
int wr_zarr_print(const wr_zarr *zarr, char **text, int64_t *length);

void wr_zarr_release(wr_zarr *zarr); /* a zeroed one is fine */

#endif
