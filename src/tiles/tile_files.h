/* Reading and writing tiles where they are: files of a folder, or places of one file. */
#ifndef WR_TILES_TILE_FILES_H
#define WR_TILES_TILE_FILES_H

#include <sys/stat.h>

#include "storage/folder.h"
#include "tiles/tiles.h"

typedef struct wr_tile_files {
    wr_tiles what;    /* `place` is its own */
    wr_folder folder; /* fd -1: one file, */
    int file;         /* or -1 */
    const char *path; /* of either; borrowed */
    bool weak;        /* hosts may take names for what they were before */
    bool writable;
} wr_tile_files;

/* What a thread needs: encoded bytes of a tile, codecs' own, and the shard it read last. One thread
 * at a time uses it; zeroed but for files. */
typedef struct wr_tile_hand {
    const wr_tile_files *files;
    int64_t epoch; /* of the storage, when the shard was read */
    wr_codec_desk *desk, *index_desk;
    char *encoded;
    int64_t room;
    /* the shard; entries are pairs of offset and bytes */
    int64_t shard; /* -1: none */
    int fd;        /* -1: it has no file */
    struct stat seen;
    uint64_t *index;
    bool listed; /* the folder below was, since the latest refresh */
    char folder[WR_TILE_NAME];
} wr_tile_hand;

void wr_tile_hand_init(wr_tile_hand *hand, const wr_tile_files *files);
void wr_tile_hand_release(wr_tile_hand *hand);

/* What was read of a shard may be old. */
void wr_tile_hand_forget(wr_tile_hand *hand);

/* Nothing more is read for a while: it holds no lock. */
void wr_tile_hand_rest(wr_tile_hand *hand);

/* A tile, decoded; errors name the file and the tile. */
int wr_tile_read(wr_tile_hand *hand, int64_t tile, char *to);

/* Bytes of a shard's file, 0 if it has none, and which of its tiles are there: borrowed, the hand's
 * until its next use; NULL: all that a file can have. */
int wr_tile_stored(wr_tile_hand *hand, int64_t shard, int64_t *bytes, const uint64_t **index);

/* Whether tile i of the index is there. */
static inline bool wr_tile_is_there(const uint64_t *index, int64_t i)
{
    return index[2 * i] != UINT64_MAX || index[2 * i + 1] != UINT64_MAX;
}

/* A tile's bytes encoded, the hand's until its next use; no bytes if it is all fill. */
int wr_tile_encode(wr_tile_hand *hand, const char *from, const void **out, int64_t *length);

/* Encoded tiles of a shard; those of no bytes are fill. */
typedef struct wr_tile_bytes {
    const void *data;
    int64_t length;
} wr_tile_bytes;
int wr_tile_write(wr_tile_hand *hand, int64_t shard, const wr_tile_bytes *tiles);

#endif
