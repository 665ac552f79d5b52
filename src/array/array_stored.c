/* What an array takes where it is stored. Every rank lists the folders; a file is looked at by one,
 * which its number says. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "array/array_inside.h"
#include "array/array_tiles.h"
#include "base/arith.h"
#include "base/error.h"
#include "tiles/tile_files.h"

typedef struct counting {
    const weir_array *array;
    wr_tile_files files;
    wr_tile_hand hand;
    int64_t bytes, tiles;
} counting;

/* Tiles of a shard that are there; those behind the array's end do not count. */
static int64_t count_tiles(const weir_array *a, int64_t shard, const uint64_t *index)
{
    const wr_tiling *t = &a->tiling;
    int64_t count = 0;
    for (int64_t i = 0; i < t->shard_bytes / t->tile_bytes; i++) {
        int64_t outer = shard, inner = i;
        bool inside = wr_tile_is_there(index, i);
        for (int d = a->info.dimensions - 1; d >= 0 && inside; d--) {
            const int64_t side = t->shard[d] / t->tile[d];
            const int64_t grid = wr_max(1, wr_div_ceil(a->info.shape[d], t->shard[d]));
            const int64_t at = outer % grid * t->shard[d] + inner % side * t->tile[d];
            inside = at < wr_max(1, a->info.shape[d]);
            outer /= grid;
            inner /= side;
        }
        count += inside;
    }
    return count;
}

static int count_shard(counting *c, int64_t shard)
{
    int64_t bytes;
    const uint64_t *index;
    const wr_transport *t = c->array->world->transport;
    if (shard % t->size != t->rank)
        return 0;
    const int code = wr_tile_stored(&c->hand, shard, &bytes, &index);
    if (code || !bytes)
        return code;
    c->bytes += bytes;
    c->tiles += index ? count_tiles(c->array, shard, index) : 1;
    return 0;
}

static int count_folder(counting *c, const char *folder, int depth);

/* `name`: from the array's folder. */
static int count_entry(counting *c, const char *name, int depth)
{
    const wr_tiles *t = &c->files.what;
    const char *last = strrchr(name, '/');
    const int64_t shard = wr_tile_number(t, name);
    if (shard >= 0)
        return count_shard(c, shard);
    last = last ? last + 1 : name;
    const bool number = *last && strspn(last, "0123456789") == strlen(last);
    const bool folder = t->separator == '/' && depth < t->dimensions + t->prefixed - 1 &&
                        (number || (t->prefixed && !strcmp(name, "c")));
    return folder ? count_folder(c, name, depth + 1) : 0;
}

static int count_folder(counting *c, const char *folder, int depth)
{
    char name[WR_TILE_NAME + 256];
    int code = 0;
    const int fd =
        openat(c->files.folder.fd, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *entries = fd < 0 ? NULL : fdopendir(fd);
    if (!entries) {
        const int error = errno;
        if (fd >= 0)
            close(fd);
        return error == ENOENT || error == ENOTDIR || error == ELOOP
                   ? 0
                   : wr_fail_system(error, c->files.path, -1, "list");
    }
    for (struct dirent *e; !code && (e = readdir(entries));) {
        const int length = depth ? snprintf(name, sizeof name, "%s/%s", folder, e->d_name)
                                 : snprintf(name, sizeof name, "%s", e->d_name);
        if (length < WR_TILE_NAME)
            code = count_entry(c, name, depth);
    }
    closedir(entries);
    return code;
}

static int count_files(counting *c)
{
    const weir_array *a = c->array;
    c->files.path = weir_array_where(a);
    c->files.file = -1;
    wr_array_tiles(a, &c->files.what);
    int code = wr_folder_open(&wr_folder_here, c->files.path, &c->files.folder);
    wr_tile_hand_init(&c->hand, &c->files);
    if (!code)
        code = count_folder(c, ".", 0);
    wr_tile_hand_release(&c->hand);
    wr_folder_close(&c->files.folder);
    return code;
}

static void count_places(counting *c)
{
    const wr_hdf5 *h = &c->array->hdf5;
    for (int64_t i = 0; i < h->tiles; i++) {
        c->bytes += h->tile[i].bytes;
        c->tiles += h->tile[i].bytes > 0;
    }
}

int weir_array_stored(weir_array *array, int64_t *bytes, int64_t *tiles)
{
    counting c = {.array = array};
    const bool files = array->tiling.levels && (array->zarr.version || array->staged);
    int code = wr_array_check_alive(array);
    if (code)
        return code;
    if (files)
        code = wr_array_agree(array, count_files(&c));
    else if (array->tiling.levels)
        count_places(&c);
    else
        c.bytes = array->info.bytes;
    int64_t all[] = {c.bytes, c.tiles};
    if (!code && files)
        code = wr_channel_reduce(&array->world->channel, WR_SUM, 2, all);
    if (code)
        return code;
    *bytes = all[0];
    *tiles = all[1];
    return 0;
}
