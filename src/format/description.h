/* What the header of an array says: pure data, checked. */
#ifndef WR_FORMAT_DESCRIPTION_H
#define WR_FORMAT_DESCRIPTION_H

#include <stdbool.h>
#include <stdint.h>

#include "codec/codec.h"
#include "weir/type.h"

enum { WR_DIMENSIONS = 16 };

/* How an array is cut into tiles, all of one shape, those at its end too. Tiles are dealt to files
 * in shards, blocks of whole tiles; elements of a tile are in `order`, and are encoded.
 *
 * The address of a byte of a tiled array is that of a dense one whose tiles follow each other: by
 * rows of shards, in a shard by rows of tiles, in a tile by `order`. */
typedef struct wr_tiling {
    int levels;                      /* 0: no tiles; 1: a shard is a tile; 2 */
    int64_t tile[WR_DIMENSIONS];     /* indices of a tile along each dimension, at least 1 */
    int64_t shard[WR_DIMENSIONS];    /* of a shard: multiples of these */
    int order[WR_DIMENSIONS];        /* dimensions of elements in a tile, slowest first */
    int64_t tile_bytes, shard_bytes; /* decoded */
    int64_t shards;                  /* files, or what would be one */
    wr_codecs codecs;
} wr_tiling;

/* Invariant A1: dimensions and sizes are not negative, `bytes` is their product with the element's
 * size, and data_offset + bytes stays below 2^62, also if every size 0 were 1, so that products of
 * some of the sizes fit as well; so does data_offset + shape[0] x record; and, of tiles, all their
 * bytes, and those of a tile are at most WR_TILE_MOST. */
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
    wr_tiling tiling;
} wr_description;

/* Bytes of the file from its beginning to the last element's end. */
int64_t wr_description_end(const wr_description *d);

enum { WR_TILE_MOST = 0x7fffffff };

/* Sets `bytes`, and of tiles what follows from shape, tile and shard, and checks A1. WEIR_EINVAL or
 * WEIR_ERANGE, and d left alone, if it is not sound. */
int wr_description_settle(wr_description *d);

#endif
