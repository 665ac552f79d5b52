/* Texts of Zarr metadata that are sound but for one key. */
#ifndef WR_TESTS_FORMAT_ZARR_TEXT_H
#define WR_TESTS_FORMAT_ZARR_TEXT_H

#include "format/zarr.h"

enum { ROOM = 8192 };

/* A text in which `key` has that value, or is left out (NULL); its length. */
int64_t zarr_text_make(int version, const char *key, const char *value, char text[ROOM]);

/* Puts `to` in the place of the first `from`; the new length. */
int64_t zarr_text_change(char text[ROOM], const char *from, const char *to);

/* Such a text parsed, which must succeed. */
wr_zarr zarr_text_accepted(int version, const char *key, const char *value);

/* That parsing fails so. */
void zarr_text_refused(int version, const char *text, int64_t length, int code, const char *what);

#define BYTES "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}"
#define BIG "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"big\"}}"
#define TRANSPOSE "{\"name\": \"transpose\", \"configuration\": {\"order\": [1, 0]}}"
#define GZIP "{\"name\": \"gzip\", \"configuration\": {\"level\": 7}}"
#define BLOSC(keys) "{\"name\": \"blosc\", \"configuration\": {" keys "}}"
#define SHARDS_OF(shape, codecs, index, more)                                                      \
    "{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": " shape                 \
    ", \"codecs\": " codecs ", \"index_codecs\": " index more "}}"
#define SHARDS SHARDS_OF("[2, 4]", "[" BYTES "]", "[" BYTES ", \"crc32c\"]", "")

#endif
