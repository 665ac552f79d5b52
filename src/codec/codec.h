/* What the bytes of a tile go through on their way to a file, and back: compression, checksums, and
 * what makes them compress better. Codecs are pure data, in the order of encoding; each is a line
 * in one table (codec.c), and one that this build lacks is WEIR_EUNSUPPORTED, with its name. */
#ifndef WR_CODEC_CODEC_H
#define WR_CODEC_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

enum wr_codec_kind {
    WR_CODEC_GZIP = 1,   /* RFC 1952 */
    WR_CODEC_ZLIB,       /* RFC 1950: what HDF5 calls deflate */
    WR_CODEC_ZSTD,       /* RFC 8878 */
    WR_CODEC_BLOSC,      /* a container of Blosc 1 */
    WR_CODEC_CRC32C,     /* appends 4 bytes, little-endian */
    WR_CODEC_SHUFFLE,    /* first the first bytes of all elements, and so on; a rest stays behind */
    WR_CODEC_FLETCHER32, /* appends 4 bytes, as HDF5 does */
    WR_CODEC_KINDS
};

/* Compressors inside Blosc. */
enum wr_blosc {
    WR_BLOSC_LZ,
    WR_BLOSC_LZ4,
    WR_BLOSC_LZ4HC,
    WR_BLOSC_SNAPPY,
    WR_BLOSC_ZLIB,
    WR_BLOSC_ZSTD
};

typedef struct wr_codec {
    int kind;
    int level;     /* of the compressors */
    int element;   /* bytes; of SHUFFLE and BLOSC */
    int shuffle;   /* of BLOSC: 0: not, 1: bytes, 2: bits */
    int inner;     /* of BLOSC: enum wr_blosc */
    int checksum;  /* of ZSTD: 1: with one */
    int64_t block; /* of BLOSC: bytes; 0: as it likes */
} wr_codec;

enum { WR_CODECS = 8 };

/* Zeroed: bytes as they are. */
typedef struct wr_codecs {
    int count;
    wr_codec codec[WR_CODECS];
} wr_codecs;

/* Where an encoded tile is in a file. */
typedef struct wr_tile_place {
    int64_t offset, bytes; /* bytes 0: it was never written */
    int64_t skipped;       /* codecs that were not used on it, as in wr_codecs_decode */
} wr_tile_place;

/* Whether this build has them all, and their levels and sizes are such as they know: WEIR_EINVAL,
 * WEIR_EUNSUPPORTED. */
int wr_codecs_check(const wr_codecs *codecs);

/* The most that `bytes` take when encoded; -1: more than 2^62, or more than a codec can do or this
 * build has. */
int64_t wr_codecs_bound(const wr_codecs *codecs, int64_t bytes);

/* What a thread needs to encode and decode tiles of `bytes`: buffers of their bound, at most two,
 * taken when first needed, and what libraries keep between calls. One thread at a time uses it. */
typedef struct wr_codec_desk wr_codec_desk;
/* WEIR_EINVAL and WEIR_EUNSUPPORTED as wr_codecs_check; WEIR_ERANGE: their bound is -1. */
int wr_codec_desk_new(const wr_codecs *codecs, int64_t bytes, wr_codec_desk **out);
void wr_codec_desk_free(wr_codec_desk *desk); /* NULL is fine */

/* The most memory that a desk of codecs that pass wr_codecs_check takes; INT64_MAX: their bound is
 * -1. */
int64_t wr_codec_desk_bytes(const wr_codecs *codecs, int64_t bytes);

/* A tile's bytes encoded, valid until the next call; without codecs they are `from` itself. */
int wr_codecs_encode(wr_codec_desk *desk, const void *from, const void **out, int64_t *length);

/* `length` bytes become exactly the desk's `bytes` at `to`, or it is WEIR_EFORMAT, and what is at
 * `to` is unspecified; never more memory than the desk's, whatever the bytes say. Codecs whose bit
 * (1 << place) is set in `skipped` were not used on this tile. */
int wr_codecs_decode(wr_codec_desk *desk, unsigned skipped, const void *from, int64_t length,
                     void *to);

/* "zstd:3", "gzip", "blosc:lz4:5:shuffle", "shuffle,zlib:6,fletcher32", "none": names with a level
 * and more, joined by commas. `element`: bytes of an element. WEIR_EINVAL names what is wrong and
 * what there is. */
int wr_codecs_parse(const char *text, int64_t element, wr_codecs *out);

/* The same text of them; "none" if there are none. Cut if it does not fit. */
void wr_codecs_print(const wr_codecs *codecs, char *text, size_t size);

/* About what a MiB takes one core, in nanoseconds. */
int64_t wr_codecs_encode_ns(const wr_codecs *codecs);
int64_t wr_codecs_decode_ns(const wr_codecs *codecs);

#endif
