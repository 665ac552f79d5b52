/* Tiles of open arrays. */
#include "array/array_tiles.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "array/array_zarr.h"
#include "base/arith.h"
#include "base/cores.h"
#include "format/convert.h"
#include "storage/paths.h"

static const char lock_name[] = ".lock"; /* of a stage */

/* A core each; as on rank 0 everywhere, because plans count on them. */
int wr_array_count_threads(weir_array *a)
{
    enum { MOST = 64 };
    const wr_transport *t = a->world->transport;
    cpu_set_t cores;
    CPU_ZERO(&cores);
    sched_getaffinity(0, sizeof cores, &cores);
    a->threads = wr_min(MOST, wr_max(1, wr_cores_of(&cores) / t->local_size) - 1);
    return wr_channel_broadcast(&a->world->channel, &a->threads, sizeof a->threads);
}

/* A stage as an array of version 2, whose files have simple names. */
static wr_zarr stage_of(const weir_array *a)
{
    wr_zarr z = {.version = 2, .what = a->hdf5.what, .separator = '.', .filled = true};
    memcpy(z.fill, a->hdf5.fill, sizeof z.fill);
    return z;
}

void wr_array_tiles(const weir_array *a, wr_tiles *out)
{
    const wr_zarr stage = stage_of(a);
    wr_zarr_tiles(a->zarr.version ? &a->zarr : &stage, !a->made, out);
    out->threads = a->threads;
    if (!a->zarr.version) {
        out->lock = lock_name;
        out->place = a->staged ? NULL : a->hdf5.tile;
    }
}

int64_t wr_array_coding_memory(const weir_array *a, int64_t memory)
{
    const wr_tiling *t = &a->tiling;
    if (!t->levels || a->flat)
        return 0;
    const int64_t hands = a->threads + 1;
    const int64_t desk = wr_codec_desk_bytes(&t->codecs, t->tile_bytes);
    const int64_t tile = wr_codecs_bound(&t->codecs, t->tile_bytes);
    int64_t all;
    if (!wr_mul(hands, desk, &all) || !wr_add(all, 2 * hands * (t->tile_bytes + tile), &all) ||
        !wr_add(all, 2 * t->shard_bytes, &all))
        return memory / 2;
    return wr_min(all, memory / 2);
}

void wr_array_find_flat(weir_array *a)
{
    const wr_hdf5 *h = &a->hdf5;
    const int64_t bytes = h->what.tiling.tile_bytes;
    bool flat = h->tiles && !h->what.tiling.codecs.count;
    for (int64_t i = 0; i < h->tiles && flat; i++)
        flat = h->tile[i].bytes == bytes && h->tile[i].offset == h->tile[0].offset + i * bytes;
    a->flat = flat;
    if (flat)
        a->body.offset = h->tile[0].offset;
}

int wr_array_flat_path(const weir_array *a, const char *path, char out[WR_PATH])
{
    char name[WR_TILE_NAME];
    wr_tiles tiles;
    if (!a->zarr.version) {
        const int length = snprintf(out, WR_PATH, "%s", path);
        return length < WR_PATH ? 0 : wr_fail(WEIR_ERANGE, "a name of %d bytes", length);
    }
    wr_array_tiles(a, &tiles);
    wr_tile_name(&tiles, 0, name);
    return wr_path_join(path, name, out, WR_PATH);
}

/* --- new datasets --- */

/* What HDF5 and h5py call gzip is zlib's format. */
static int take_codecs(const char *text, int64_t element, wr_codecs *out)
{
    int code = text ? wr_codecs_parse(text, element, out) : 0;
    for (int i = 0; i < out->count && !code; i++) {
        wr_codec *c = &out->codec[i];
        if (c->kind == WR_CODEC_GZIP)
            c->kind = WR_CODEC_ZLIB;
        if (c->kind != WR_CODEC_ZLIB && c->kind != WR_CODEC_SHUFFLE &&
            c->kind != WR_CODEC_FLETCHER32)
            code = wr_fail(WEIR_EUNSUPPORTED, "of codecs HDF5 has gzip, shuffle and fletcher32");
    }
    return code ? code : wr_codecs_check(out);
}

int wr_dataset_describe(const weir_array_info *info, const void *fill, wr_hdf5 *out)
{
    wr_description *d = &out->what;
    wr_tiling *t = &d->tiling;
    *out = (wr_hdf5){0};
    d->type = info->type;
    d->dimensions = info->dimensions;
    d->format = WEIR_HDF5;
    int code = wr_description_settle(d);
    if (!code && info->columns && info->dimensions > 1)
        code = wr_fail(WEIR_EUNSUPPORTED, "HDF5 stores by rows only");
    if (!code && info->shard)
        code = wr_fail(WEIR_EUNSUPPORTED, "HDF5 has no shards");
    if (code)
        return code;
    memcpy(d->shape, info->shape, (size_t)info->dimensions * sizeof *d->shape);
    if (fill)
        memcpy(out->fill, fill, (size_t)weir_type_bytes(info->type));
    code = take_codecs(info->codec, weir_type_bytes(info->type), &t->codecs);
    if (!code && ((info->tile && info->dimensions) || t->codecs.count)) {
        t->levels = 1;
        for (int i = 0; i < info->dimensions; i++)
            t->order[i] = i;
        if (info->tile)
            memcpy(t->tile, info->tile, (size_t)info->dimensions * sizeof *t->tile);
        else
            wr_choose_tile(info, t->tile);
    }
    return code ? code : wr_description_settle(d);
}

static int make_stage(const wr_folder *in, const char *name, const wr_owner *owner)
{
    const wr_content empty = {.exclusive = true, .owner = owner};
    wr_folder stage;
    int code = wr_folder_make(in, name, owner, NULL);
    if (code)
        return code;
    code = wr_folder_open(in, name, &stage);
    if (!code)
        code = wr_folder_put(&stage, lock_name, &empty);
    wr_folder_close(&stage);
    if (code) {
        const weir_error error = *weir_error_last();
        wr_folder_remove(in, name);
        wr_error_raise(&error);
    }
    return code;
}

/* What is encoded gets its place later; where it is known now, the array is told. */
static int join(weir_array *a)
{
    wr_hdf5 made = {.what = a->hdf5.what};
    memcpy(made.fill, a->hdf5.fill, sizeof made.fill);
    int code = wr_hdf5_join(a->at, a->joined, a->inner, &made);
    if (code || a->staged)
        wr_hdf5_release(&made);
    else
        a->hdf5 = made;
    return code;
}

int wr_dataset_create(weir_array *a, const wr_folder *in, const char *name, const wr_owner *owner)
{
    char path[WR_PATH];
    int code = a->joined ? join(a) : 0;
    if (code || (a->joined && !a->staged))
        return code;
    if (a->staged && (code = make_stage(in, name, owner)) && a->joined) {
        const weir_error error = *weir_error_last();
        wr_hdf5_remove(a->at, a->joined);
        wr_error_raise(&error);
    }
    if (a->staged)
        return code;
    code = wr_path_join(in->path, name, path, sizeof path);
    return code ? code : wr_hdf5_make(path, a->inner, &a->hdf5, &a->labels);
}

/* The files of a stage, one after the other. */
typedef struct packing {
    wr_folder stage;
    wr_tiles tiles;
    int64_t next;
    char *data;
} packing;

static int next_tile(void *user, int64_t *number, const void **data, int64_t *bytes)
{
    packing *p = user;
    wr_folder_entry found = {0};
    char name[WR_TILE_NAME];
    int code = 0;
    wr_free(p->data);
    p->data = NULL;
    for (; !code && p->next < p->tiles.shards && found.kind == WR_ENTRY_NONE; p->next++) {
        wr_tile_name(&p->tiles, p->next, name);
        code = wr_folder_look(&p->stage, name, false, &found);
    }
    if (code || found.kind == WR_ENTRY_NONE)
        return code;
    *number = p->next - 1;
    code = wr_folder_read(&p->stage, name, INT64_MAX / 2, &p->data, bytes);
    *data = p->data;
    return code ? code : 1;
}

void wr_dataset_erase_stage(const weir_array *a, const wr_folder *in, const char *name)
{
    const weir_error error = *weir_error_last();
    const wr_zarr z = stage_of(a);
    wr_folder stage;
    if (!wr_folder_open_inside(in, name, &stage)) {
        wr_zarr_erase_tiles(&stage, &z);
        wr_folder_remove(&stage, lock_name);
    }
    wr_folder_close(&stage);
    wr_folder_remove(in, name);
    wr_error_raise(&error);
}

static int add_size(void *user, const wr_folder *in, const char *name)
{
    int64_t *bytes = user;
    struct stat status;
    if (!fstatat(in->fd, name, &status, AT_SYMLINK_NOFOLLOW))
        *bytes += status.st_size;
    return 0;
}

/* Into a dataset that is there. */
static int pack(weir_array *a, const wr_folder *in, const char *name, const char *path,
                const char *inner)
{
    packing p = {.stage.fd = -1};
    wr_hdf5_tiles tiles = {.next = next_tile, .user = &p};
    wr_array_tiles(a, &p.tiles);
    int code = wr_folder_open(in, name, &p.stage);
    if (!code)
        code = wr_folder_each(&p.stage, add_size, &tiles.bytes);
    if (!code)
        code = wr_hdf5_pack(path, inner, &a->hdf5, &tiles);
    wr_free(p.data);
    wr_folder_close(&p.stage);
    return code;
}

/* If it fails, the data are in the stage. */
static int pack_joined(weir_array *a, const wr_folder *in, const char *name)
{
    const int code = pack(a, in, name, a->at, a->joined);
    if (!code) {
        wr_dataset_erase_stage(a, in, name);
        return 0;
    }
    const weir_error error = *weir_error_last();
    wr_hdf5_remove(a->at, a->joined);
    wr_free(a->joined);
    a->joined = NULL;
    return wr_error_raise(&error);
}

int wr_dataset_pack_stage(weir_array *a, const wr_folder *in, const char *name)
{
    char path[WR_PATH], packed[WR_PATH];
    wr_hdf5 made = {.what = a->hdf5.what};
    if (a->joined)
        return pack_joined(a, in, name);
    memcpy(made.fill, a->hdf5.fill, sizeof made.fill);
    const int length = snprintf(packed, sizeof packed, "%.250s.h5", name);
    int code = length < (int)sizeof packed ? wr_path_join(in->path, packed, path, sizeof path)
                                           : wr_fail(WEIR_ERANGE, "a name of %d bytes", length);
    if (!code)
        code = wr_hdf5_make(path, a->inner, &made, &a->labels);
    const bool there = !code;
    if (!code)
        code = pack(a, in, name, path, a->inner);
    wr_hdf5_release(&made);
    if (!code && !(code = wr_folder_exchange(in, packed, name))) {
        wr_dataset_erase_stage(a, in, packed);
    } else if (code == WEIR_EUNSUPPORTED && there) {
        wr_dataset_erase_stage(a, in, name);
        code = wr_folder_rename(in, packed, name, false);
    } else if (there) {
        const weir_error error = *weir_error_last();
        wr_folder_remove(in, packed);
        wr_error_raise(&error);
    }
    return code;
}

int wr_dataset_share(weir_array *a)
{
    wr_channel *c = &a->world->channel;
    const bool first = !a->world->transport->rank;
    wr_tile_place *tile = a->hdf5.tile;
    int code = wr_channel_broadcast(c, &a->hdf5, sizeof a->hdf5);
    a->hdf5.tile = first ? tile : NULL;
    if (code || !a->hdf5.tiles)
        return code;
    if (!first)
        a->hdf5.tile = wr_alloc_array(a->hdf5.tiles, sizeof *a->hdf5.tile);
    code = wr_channel_agree(c, a->hdf5.tile ? 0 : WEIR_ENOMEM);
    if (!code)
        code = wr_channel_broadcast(c, a->hdf5.tile, a->hdf5.tiles * (int64_t)sizeof *a->hdf5.tile);
    if (code)
        a->hdf5.tiles = 0;
    return code;
}
