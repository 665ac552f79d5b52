/* What the two versions of Zarr metadata share; for zarr*.c only. */
#ifndef WR_FORMAT_ZARR_PARTS_H
#define WR_FORMAT_ZARR_PARTS_H

#include "format/json.h"
#include "format/text.h"
#include "format/zarr.h"

/* Whole documents: what is parsed is settled by the caller, who also releases it on failure; what
 * is printed was checked by wr_zarr_print. */
int wr_zarr2_parse(wr_json root, wr_zarr *zarr);
int wr_zarr3_parse(wr_json root, wr_zarr *zarr);
int wr_zarr2_print(const wr_zarr *zarr, wr_text *text);
int wr_zarr3_print(const wr_zarr *zarr, wr_text *text);

/* A list of numbers, one a dimension: how many, or a negative code that names `key`. */
int wr_zarr_sizes_read(wr_json list, const char *key, int64_t lo, int64_t out[WR_DIMENSIONS]);
void wr_zarr_sizes_print(const int64_t *sizes, int count, wr_text *text);

/* {"name": ..., "configuration": {...}}, or the name alone; a configuration that is not there is an
 * empty one. WEIR_EFORMAT begins with `what`. */
typedef struct wr_zarr_named {
    char name[WR_JSON_NAME];
    wr_json configuration;
} wr_zarr_named;
int wr_zarr_named_read(wr_json value, const char *what, wr_zarr_named *out);

/* All codecs of version 3: order, byte order, shards and tiling.codecs. The description has type,
 * dimensions and one level of tiles, in the order of rows. */
int wr_zarr_codecs_read(wr_json list, wr_zarr *zarr);
int wr_zarr_codecs_print(const wr_zarr *zarr, wr_text *text);

/* Where a codec may stand. */
enum wr_zarr_place { WR_ZARR_CODEC = 1, WR_ZARR_FILTER = 2, WR_ZARR_COMPRESSOR = 4 };

/* A codec from bytes to bytes: its configuration, of version 2 with its "id", behind those that
 * zarr has already. */
int wr_zarr_codec_read(const wr_zarr_named *codec, enum wr_zarr_place place, wr_zarr *zarr);
int wr_zarr_codec_print(const wr_codec *codec, enum wr_zarr_place place, wr_text *text);

/* An element as memory has it. */
int wr_zarr_fill_read(wr_json value, int type, char fill[16]);
void wr_zarr_fill_print(const wr_zarr *zarr, wr_text *text);

#endif
