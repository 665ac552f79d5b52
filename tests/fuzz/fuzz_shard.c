/* Fuzz target: whatever bytes a shard has, the first saying what its index is like, each of its
 * tiles is read, or is an error; and nothing is written beyond a tile. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "tiles/tile_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { TILES = 3, TILE = 48, GUARD = 16 };

static const char *folder(void)
{
    static char name[] = "shard-XXXXXX";
    static bool made;
    if (!made)
        CHECK(mkdtemp(name));
    made = true;
    return name;
}

static void put(const char *in, const uint8_t *bytes, size_t size)
{
    char path[40];
    snprintf(path, sizeof path, "%s/c", in);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && !close(fd));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const wr_codecs codecs[] = {
        {0},
        {.count = 1, .codec = {{.kind = WR_CODEC_CRC32C}}},
        {.count = 1, .codec = {{.kind = WR_CODEC_ZSTD, .level = 1}}},
        {.count = 1, .codec = {{.kind = WR_CODEC_GZIP, .level = 1}}},
    };
    char tile[TILE + GUARD];
    if (!size)
        return 0;
    wr_tile_files files = {.what = {.shards = 1,
                                    .inner = TILES,
                                    .tile_bytes = TILE,
                                    .codecs = codecs[*bytes >> 3 & 3],
                                    .element = 4,
                                    .fill = "fill",
                                    .separator = '/',
                                    .prefixed = true,
                                    .sharded = true,
                                    .index_first = *bytes & 1,
                                    .index_summed = *bytes & 2,
                                    .index_swapped = *bytes & 4},
                           .file = -1,
                           .path = folder()};
    wr_tile_hand hand;
    put(files.path, bytes + 1, size - 1);
    CHECK(!wr_folder_open(&wr_folder_here, files.path, &files.folder));
    wr_tile_hand_init(&hand, &files);
    for (int i = 0; i < TILES; i++) {
        memset(tile, 7, sizeof tile);
        const int code = wr_tile_read(&hand, i, tile);
        CHECK(!code || code == WEIR_EFORMAT);
        for (int k = TILE; k < TILE + GUARD; k++)
            CHECK(tile[k] == 7);
    }
    wr_tile_hand_release(&hand);
    wr_folder_close(&files.folder);
    return 0;
}
