/* Tiles of an array as a storage: tile after tile, decoded, at multiples of a tile's bytes. What a
 * tile is outside is a file of its own, an entry of a shard, or a place in one file, encoded.
 *
 * Whoever reads gets whole tiles; what is written is whole shards, each of which takes the place of
 * the one before at once. A file that is missing, or an entry, stands for elements that are all
 * `fill`, and what is all fill is not written, unless hosts cache, or `fill_kept`. Tiles are
 * encoded and decoded by several threads, and by whoever waits. */
#ifndef WR_TILES_TILES_H
#define WR_TILES_TILES_H

#include "codec/codec.h"
#include "storage/storage.h"

enum { WR_TILES_DIMENSIONS = 16 };

typedef struct wr_tiles {
    int dimensions;
    int64_t grid[WR_TILES_DIMENSIONS]; /* shards along each */
    int64_t shards;                    /* their product */
    int64_t inner;                     /* tiles of a shard */
    int64_t tile_bytes;                /* decoded */
    wr_codecs codecs;
    int64_t element; /* bytes */
    char fill[16];   /* an element as the file has it */
    bool fill_kept;  /* what is all fill is written: others may take what is missing for anything */
    /* of files in a folder */
    char separator;     /* between the numbers of a file's name */
    bool prefixed;      /* which begins with c */
    bool sharded;       /* files have an index, */
    bool index_first;   /* before the tiles, */
    bool index_summed;  /* with a CRC-32C, */
    bool index_swapped; /* in the other byte order */
    const char *lock;   /* the file in the folder on which ranges are locked */
    /* of one file, otherwise NULL: as many as there are tiles, which are not written if encoded */
    const wr_tile_place *place;
    int64_t threads; /* besides whoever waits */
} wr_tiles;

/* Opened with a wr_tiles as what is given; s->path is the folder, or the file. */
extern const wr_storage_ops wr_tiles_ops;

/* The name of a shard's file in its folder. */
enum { WR_TILE_NAME = WR_TILES_DIMENSIONS * 21 + 2 };
void wr_tile_name(const wr_tiles *tiles, int64_t shard, char name[WR_TILE_NAME]);

/* Which shard has that file; -1: none. */
int64_t wr_tile_number(const wr_tiles *tiles, const char *name);

#endif
