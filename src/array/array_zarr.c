/* Folders of Zarr arrays. */
#include "array/array_zarr.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array/array_owned.h"
#include "base/arith.h"
#include "base/error.h"
#include "base/memory.h"
#include "format/convert.h"
#include "format/labels.h"
#include "storage/paths.h"

enum { TILE = 1 << 20 };       /* bytes, where nothing is asked for */
enum { MOST_TILES = 4 << 20 }; /* in one file that is used as it is: its index is in memory */

/* By version - 2, and whether it is finished. */
static const char *const names[][2] = {{".zarray.partial", ".zarray"},
                                       {"zarr.json.partial", "zarr.json"}};

const char *wr_zarr_file(int version, bool finished)
{
    return names[version - 2][finished];
}

/* --- what a new one is --- */

void wr_choose_tile(const weir_array_info *info, int64_t *tile)
{
    int64_t bytes = weir_type_bytes(info->type);
    for (int d = 0; d < info->dimensions; d++)
        tile[d] = wr_max(1, info->shape[d]);
    for (;;) {
        int longest = 0;
        int64_t all = bytes;
        for (int d = 0; d < info->dimensions; d++) {
            longest = tile[d] > tile[longest] ? d : longest;
            if (!wr_mul(all, tile[d], &all))
                all = INT64_MAX / TILE;
        }
        if (all <= TILE || !info->dimensions || tile[longest] == 1)
            return;
        tile[longest] = wr_div_ceil(tile[longest], 2);
    }
}

static int describe_tiling(const weir_array_info *info, wr_tiling *t)
{
    const size_t bytes = (size_t)info->dimensions * sizeof *t->tile;
    t->levels = info->shard ? 2 : 1;
    if (info->tile)
        memcpy(t->tile, info->tile, bytes);
    else
        wr_choose_tile(info, t->tile);
    if (info->shard)
        memcpy(t->shard, info->shard, bytes);
    for (int d = 0; d < info->dimensions && info->shard; d++)
        if (!t->shard[d] && t->tile[d] > 0)
            t->shard[d] = wr_round_up(wr_max(1, info->shape[d]), t->tile[d]);
    for (int d = 0; d < info->dimensions; d++)
        t->order[d] = info->columns ? info->dimensions - 1 - d : d;
    int code =
        info->codec ? wr_codecs_parse(info->codec, weir_type_bytes(info->type), &t->codecs) : 0;
    return code ? code : wr_codecs_check(&t->codecs);
}

/* What others will read: of version 2 every NaN is the same. */
static int take_as_told(wr_zarr *z)
{
    char *text;
    int64_t length;
    wr_zarr told;
    int code = wr_zarr_print(z, &text, &length);
    if (code)
        return code;
    code = wr_zarr_parse(z->version, text, length, &told);
    wr_free(text);
    if (code)
        return code;
    memcpy(z->fill, told.fill, sizeof z->fill);
    wr_zarr_release(&told);
    return 0;
}

int wr_zarr_describe(const weir_array_info *info, const void *fill, int version, wr_zarr *out)
{
    *out = (wr_zarr){.version = version,
                     .separator = version == 3 ? '/' : '.',
                     .prefixed = version == 3,
                     .index_summed = true,
                     .index_swapped = __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__,
                     .filled = true};
    wr_description *d = &out->what;
    d->type = info->type;
    d->dimensions = info->dimensions;
    d->format = version == 3 ? WEIR_ZARR : WEIR_ZARR2;
    int code = wr_description_settle(d);
    if (code)
        return code;
    memcpy(d->shape, info->shape, (size_t)info->dimensions * sizeof *d->shape);
    if (fill)
        memcpy(out->fill, fill, (size_t)weir_type_bytes(info->type));
    code = describe_tiling(info, &d->tiling);
    if (!code)
        code = wr_description_settle(d);
    return code ? code : take_as_told(out);
}

void wr_zarr_tiles(const wr_zarr *z, bool finished, wr_tiles *out)
{
    const wr_tiling *t = &z->what.tiling;
    *out = (wr_tiles){.dimensions = z->what.dimensions,
                      .shards = t->shards,
                      .inner = t->shard_bytes / t->tile_bytes,
                      .tile_bytes = t->tile_bytes,
                      .codecs = t->codecs,
                      .element = weir_type_bytes(z->what.type),
                      .fill_kept = !z->filled,
                      .separator = z->separator,
                      .prefixed = z->prefixed,
                      .sharded = t->levels == 2,
                      .index_first = z->index_first,
                      .index_summed = z->index_summed,
                      .index_swapped = z->index_swapped,
                      .lock = wr_zarr_file(z->version, finished)};
    for (int d = 0; d < out->dimensions; d++)
        out->grid[d] = wr_max(1, wr_div_ceil(z->what.shape[d], t->shard[d]));
    memcpy(out->fill, z->fill, sizeof out->fill);
    if (z->what.swapped)
        wr_swap_here(&(wr_elements){z->what.type, out->fill, out->element}, 1);
}

/* --- making --- */

static int put_metadata(const wr_folder *in, const wr_zarr *z, const wr_owner *owner)
{
    wr_content content = {.exclusive = true, .owner = owner};
    char *text;
    int code = wr_zarr_print(z, &text, &content.bytes);
    if (code)
        return code;
    content.data = text;
    content.size = content.bytes;
    code = wr_folder_put(in, wr_zarr_file(z->version, false), &content);
    wr_free(text);
    if (code || z->version != 2 || !z->attributes)
        return code;
    content.data = z->attributes;
    content.size = content.bytes = (int64_t)strlen(z->attributes);
    return wr_folder_put(in, ".zattrs", &content);
}

/* --- all tiles in one file --- */

bool wr_zarr_is_flat(const wr_zarr *z)
{
    const wr_tiling *t = &z->what.tiling;
    return t->levels == 2 && t->shards == 1 && !t->codecs.count && !z->index_first &&
           z->what.bytes > 0 && t->shard_bytes / t->tile_bytes <= MOST_TILES;
}

/* The index that says so, as the file has it. */
static int build_index(const wr_zarr *z, wr_codec_desk **desk, const void **out, int64_t *bytes)
{
    const wr_tiling *t = &z->what.tiling;
    const wr_codecs sum = {.count = z->index_summed, .codec = {{.kind = WR_CODEC_CRC32C}}};
    const int64_t tiles = t->shard_bytes / t->tile_bytes;
    uint64_t *index = wr_alloc_array(2 * tiles, sizeof *index);
    int code =
        index ? wr_codec_desk_new(&sum, 2 * tiles * (int64_t)sizeof *index, desk) : WEIR_ENOMEM;
    for (int64_t i = 0; i < 2 * tiles && !code; i++) {
        const uint64_t value = (uint64_t)(i % 2 ? t->tile_bytes : i / 2 * t->tile_bytes);
        index[i] = z->index_swapped ? __builtin_bswap64(value) : value;
    }
    if (!code)
        code = wr_codecs_encode(*desk, index, out, bytes);
    if (!code && !z->index_summed) { /* then it is the index itself */
        wr_codec_desk_free(*desk);
        *desk = NULL;
        *out = index;
        return 0;
    }
    wr_free(index);
    return code;
}

static void release_index(const wr_zarr *z, wr_codec_desk *desk, const void *index)
{
    wr_codec_desk_free(desk);
    if (!z->index_summed)
        wr_free((void *)index);
}

static int64_t find_index(const wr_zarr *z, const char *file, const void *index, int64_t bytes)
{
    const int64_t data = z->what.tiling.shard_bytes;
    struct stat status;
    char *found = wr_alloc(bytes);
    const int fd = open(file, O_RDONLY | O_CLOEXEC);
    const bool same = found && fd >= 0 && !fstat(fd, &status) && status.st_size == data + bytes &&
                      pread(fd, found, (size_t)bytes, data) == bytes &&
                      !memcmp(found, index, (size_t)bytes);
    if (fd >= 0)
        close(fd);
    wr_free(found);
    return same ? (int64_t)status.st_ino : 0;
}

int64_t wr_zarr_looks_flat(const wr_zarr *z, const char *path)
{
    const weir_error error = *weir_error_last();
    wr_tiles tiles;
    wr_codec_desk *desk = NULL;
    const void *index = NULL;
    char name[WR_TILE_NAME], file[WR_PATH];
    int64_t bytes = 0;
    wr_zarr_tiles(z, true, &tiles);
    wr_tile_name(&tiles, 0, name);
    int64_t number = 0;
    if (wr_zarr_is_flat(z) && !wr_path_join(path, name, file, sizeof file) &&
        !build_index(z, &desk, &index, &bytes))
        number = find_index(z, file, index, bytes);
    release_index(z, desk, index);
    wr_error_raise(&error);
    return number;
}

/* The folders on the way to a file. */
static int make_way(const wr_folder *in, const char *name, const wr_owner *owner)
{
    char part[WR_TILE_NAME];
    int code = 0;
    for (const char *at = strchr(name, '/'); at && !code; at = strchr(at + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(at - name), name);
        code = wr_folder_make(in, part, owner, NULL);
    }
    return code;
}

/* Tiles of zeros, and the index behind them. */
static int put_flat(const wr_folder *in, const wr_zarr *z, const wr_owner *owner)
{
    const int64_t data = z->what.tiling.shard_bytes;
    wr_tiles tiles;
    wr_codec_desk *desk = NULL;
    const wr_content content = {.exclusive = true, .owner = owner, .size = data};
    char name[WR_TILE_NAME];
    const void *index;
    int64_t bytes;
    wr_zarr_tiles(z, false, &tiles);
    wr_tile_name(&tiles, 0, name);
    int code = make_way(in, name, owner);
    if (!code)
        code = wr_folder_put(in, name, &content);
    if (!code)
        code = build_index(z, &desk, &index, &bytes);
    if (code)
        return code;
    const int fd = wr_open_at(in->fd, name, O_WRONLY | O_CLOEXEC, 0);
    const int64_t put = fd < 0 ? -1 : pwrite(fd, index, (size_t)bytes, data);
    if (put != bytes)
        code = wr_fail_system(put < 0 ? errno : ENOSPC, name, data, "write");
    if (fd >= 0 && close(fd) && !code)
        code = wr_fail_system(errno, name, -1, "close");
    release_index(z, desk, index);
    return code;
}

int wr_zarr_make(const wr_folder *in, const char *name, const wr_zarr *z, const wr_owner *owner)
{
    wr_folder inside;
    int code = wr_folder_make(in, name, owner, NULL);
    if (code)
        return code;
    code = wr_folder_open(in, name, &inside);
    if (!code)
        code = put_metadata(&inside, z, owner);
    if (!code && wr_zarr_is_flat(z))
        code = put_flat(&inside, z, owner);
    wr_folder_close(&inside);
    if (code)
        wr_array_erase(in, name, &(wr_named_disks){0});
    return code;
}

int wr_zarr_finish(const wr_folder *in, const char *name, const wr_zarr *z, bool durable)
{
    wr_folder inside;
    const char *from = wr_zarr_file(z->version, false), *to = wr_zarr_file(z->version, true);
    int code = wr_folder_open(in, name, &inside);
    if (!code && durable && syncfs(inside.fd)) /* files, folders and names of tiles, too */
        code = wr_fail_system(errno, inside.path, -1, "sync");
    if (!code && durable)
        code = wr_folder_sync_file(&inside, from);
    if (!code)
        code = wr_folder_rename(&inside, from, to, false);
    if (!code && durable)
        code = wr_folder_sync(&inside);
    wr_folder_close(&inside);
    return code;
}

/* --- reading --- */

static int read_as(const wr_folder *in, int version, bool finished, char **text, int64_t *length)
{
    wr_folder_entry file;
    const char *name = wr_zarr_file(version, finished);
    int code = wr_folder_look(in, name, true, &file);
    if (!code && file.kind == WR_ENTRY_NONE)
        return WEIR_ENOENT;
    return code ? code : wr_folder_read(in, name, WR_ZARR_LONGEST, text, length);
}

int wr_zarr_read(const wr_folder *in, int *version, char **text, int64_t *length)
{
    int code = WEIR_ENOENT;
    for (*version = 3; code == WEIR_ENOENT && *version >= 2; --*version)
        code = read_as(in, *version, true, text, length);
    ++*version;
    if (code == WEIR_ENOENT)
        code =
            wr_fail(WEIR_EFORMAT, "a folder without array.json, zarr.json or .zarray is no array");
    return code;
}

int wr_zarr_read_attributes(const wr_folder *in, char **text)
{
    wr_folder_entry file;
    int64_t length;
    *text = NULL;
    if (wr_folder_look(in, ".zattrs", true, &file) || file.kind == WR_ENTRY_NONE)
        return 0;
    int code = wr_folder_read(in, ".zattrs", WR_LABELS_LONGEST, text, &length);
    if (code)
        *text = NULL;
    return code == WEIR_ENOMEM ? code : 0;
}

/* --- what is its own --- */

int wr_zarr_load(const wr_folder *in, wr_zarr *out)
{
    char *text = NULL;
    int64_t length;
    int code = WEIR_ENOENT;
    for (int i = 0; i < 4 && code == WEIR_ENOENT; i++) {
        code = read_as(in, 3 - i % 2, i < 2, &text, &length);
        if (!code)
            code = wr_zarr_parse(3 - i % 2, text, length, out);
    }
    wr_free(text);
    return code == WEIR_ENOENT ? wr_fail(WEIR_EFORMAT, "no metadata") : code;
}

static bool is_metadata(const char *name)
{
    for (int i = 0; i < 4; i++)
        if (!strcmp(name, names[i / 2][i % 2]))
            return true;
    return !strcmp(name, ".zattrs");
}

/* So many numbers, with that between them, and at the end perhaps what an unfinished file has. */
static bool is_numbers(const char *name, int count, char separator)
{
    static const char digits[] = "0123456789", between[] = ".partial-";
    for (int i = 0; i < count; i++) {
        const size_t length = strspn(name, digits);
        if (!length || (i && *(name - 1) != separator) || (i + 1 < count && !name[length]))
            return false;
        name += length + (i + 1 < count);
    }
    return !*name || !strncmp(name, between, sizeof between - 1);
}

bool wr_zarr_is_own(const wr_zarr *z, const char *name, int depth)
{
    const int dimensions = z->what.dimensions;
    if (!depth && is_metadata(name))
        return true;
    if (!depth && z->prefixed && *name == 'c') {
        if (z->separator == '/' || !dimensions)
            return !name[1] || !strncmp(name + 1, ".partial-", 9);
        return name[1] == z->separator && is_numbers(name + 2, dimensions, z->separator);
    }
    if (z->prefixed && !depth)
        return false;
    if (z->separator == '/')
        return depth - z->prefixed < wr_max(1, dimensions) && is_numbers(name, 1, '/');
    return !depth && is_numbers(name, (int)wr_max(1, dimensions), z->separator);
}

/* Entries of a folder, `depth` down from the array's. */
typedef struct visit {
    const wr_zarr *zarr;
    int depth;
} visit;

static int erase_one(void *user, const wr_folder *in, const char *name)
{
    visit v = *(const visit *)user;
    wr_folder below;
    wr_folder_entry found;
    if (wr_folder_look(in, name, false, &found) || !wr_zarr_is_own(v.zarr, name, v.depth) ||
        (!v.depth && is_metadata(name)))
        return 0;
    v.depth++;
    if (found.kind == WR_ENTRY_FOLDER) {
        if (!wr_folder_open_inside(in, name, &below))
            wr_folder_each(&below, erase_one, &v);
        wr_folder_close(&below);
    }
    wr_folder_remove(in, name);
    return 0;
}

void wr_zarr_erase_tiles(const wr_folder *in, const wr_zarr *z)
{
    wr_folder_each(in, erase_one, &(visit){.zarr = z});
}
