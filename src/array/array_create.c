/* Creating arrays: what rank 0 makes, all ranks agree on. */
#include <stdio.h>
#include <string.h>

#include "array/array_inside.h"
#include "array/array_names.h"
#include "array/array_tiles.h"
#include "array/array_zarr.h"
#include "array/distribution.h"
#include "base/arith.h"
#include "format/convert.h"
#include "storage/paths.h"

/* Which version of Zarr a new array is to be; 0: none. */
static int zarr_version(const weir_array_info *info, const wr_array_name *name)
{
    static const char end[] = ".zarr";
    size_t length = strlen(name->file);
    while (length > 1 && name->file[length - 1] == '/')
        length--;
    if (name->kind != WR_NAME_PATH || info->members)
        return 0;
    if (info->format == WEIR_ZARR || info->format == WEIR_ZARR2)
        return info->format == WEIR_ZARR ? 3 : 2;
    return length >= sizeof end &&
                   !strncmp(name->file + length - sizeof end + 1, end, sizeof end - 1)
               ? 3
               : 0;
}

static int describe(const weir_array_info *info, const wr_array_name *name, const wr_labels *labels,
                    wr_description *out)
{
    if (info->tile || info->shard || info->codec)
        return wr_fail(WEIR_EINVAL,
                       "tiles, shards and codecs are for Zarr and HDF5: NAME.zarr, FILE.h5:/NAME");
    *out = (wr_description){
        .type = info->type, .dimensions = info->dimensions, .columns = info->columns};
    if (info->dimensions >= 0 && info->dimensions <= WEIR_MAX_DIMENSIONS)
        memcpy(out->shape, info->shape, (size_t)info->dimensions * sizeof *info->shape);
    if (info->members && name->kind != WR_NAME_PATH)
        return wr_fail(WEIR_EINVAL, "local arrays are .npy files in a folder");
    if (wr_array_name_is_unsure(name))
        return wr_fail(WEIR_EINVAL, "of a file of datasets one is named, as FILE:/NAME");
    return wr_array_name_describe(name, labels, out);
}

/* A Zarr array, with what is said of another. */
static int describe_zarr(weir_array *a, const weir_array_info *info, const void *fill, int version)
{
    char told[16];
    if (!fill && version == 2 && wr_labels_fill(&a->labels, info->type, told))
        fill = told; /* which is where xarray looks for it */
    const int code = wr_zarr_describe(info, fill, version, &a->zarr);
    return code ? code : wr_labels_to_zarr(&a->labels, &a->zarr);
}

/* What the new array is to be, by its name and what was asked for, and what is said of it. */
static int describe_any(weir_array *a, const wr_array_name *name, const weir_array_info *info,
                        const weir_array_options *o, wr_description *out)
{
    const weir_array *like = o->like;
    const int version = zarr_version(info, name);
    const bool labelled = version || (name->kind == WR_NAME_INSIDE && !info->members);
    int code = 0;
    if (like && labelled)
        code = wr_labels_copy(&like->labels, like->info.dimensions == info->dimensions, &a->labels);
    if (code)
        return code;
    if (version) {
        code = describe_zarr(a, info, o->fill, version);
        *out = a->zarr.what;
        a->flat = !code && wr_zarr_is_flat(&a->zarr);
    } else if (!info->members && wr_array_name_is_hdf5(name)) {
        code = wr_dataset_describe(info, o->fill, &a->hdf5);
        *out = a->hdf5.what;
        a->staged = out->tiling.codecs.count;
    } else {
        code = describe(info, name, &a->labels, out);
    }
    return code;
}

/* The set that is to be made, but for its name. */
static int describe_set(const weir_array_info *info, const weir_array_options *o,
                        const wr_description *whole, wr_set *out)
{
    enum { MOST_MEMBERS = 1 << 24 };
    int members, disks = o->disks > 0 ? o->disks : 1;
    int code = wr_distribution_check(&info->distribution, info->dimensions, MOST_MEMBERS, &members);
    if (!code && members != info->members)
        code = wr_fail(WEIR_EINVAL, "%d local arrays for a grid of %d", info->members, members);
    if (!code && o->disks && !o->disk)
        code = wr_fail(WEIR_EINVAL, "%d disks without names", o->disks);
    if (code)
        return code;
    *out = (wr_set){.whole = *whole, .members = members, .name = "local"};
    out->whole.data_offset = 0;
    memcpy(out->block, info->distribution.block, sizeof out->block);
    for (int i = 0; i < WEIR_MAX_DIMENSIONS; i++)
        out->grid[i] = wr_distribution_grid(&info->distribution, i);
    out->disk = wr_alloc_array(disks, sizeof *out->disk);
    out->map = wr_alloc_array(members, sizeof *out->map);
    code = out->disk && out->map ? 0 : WEIR_ENOMEM;
    for (int i = 0; i < disks && !code; i++, out->disks++) {
        out->disk[i] = wr_copy_text(o->disks ? o->disk[i] : ".");
        code = out->disk[i] ? 0 : WEIR_ENOMEM;
        if (code)
            break;
    }
    for (int m = 0; m < members && !code; m++) {
        out->map[m] = o->map ? o->map[m] : m % disks;
        if (out->map[m] < 0 || out->map[m] >= disks)
            code = wr_fail(WEIR_EINVAL, "local array %d on disk %d of %d", m, out->map[m], disks);
    }
    if (code)
        wr_set_release(out);
    return code;
}

/* Disks that the caller of this call names: the new set's, and those of the environment. */
wr_named_disks wr_array_named_disks(const weir_array *a)
{
    return (wr_named_disks){
        .count = a->set.disks, .disk = a->set.disk, .list = a->world->tunables.disks};
}

/* What rank 0 tells of a new array. */
typedef struct birth {
    char made[WR_PATH];
    char name[WR_SET_NAME]; /* of members */
    bool owned;
    wr_owner owner; /* if owned */
} birth;

/* Rank 0: the folder of a new set, and what is in it but for the members. */
static int make_set(weir_array *a)
{
    const wr_site *s = a->site;
    a->made_disk = wr_alloc_array(a->set.disks, sizeof *a->made_disk);
    int code =
        a->made_disk ? wr_folder_make(&s->folder, s->made, wr_site_owner(s), NULL) : WEIR_ENOMEM;
    if (code)
        return code;
    code = wr_folder_open(&s->folder, s->made, &a->inside);
    if (!code)
        code = wr_set_own(&a->inside, &a->set, s->name, s->tag);
    if (!code)
        code = wr_set_make_folders(&a->inside, &a->set, wr_site_owner(s), a->made_disk);
    if (code)
        wr_set_erase_new(&s->folder, s->made, &a->set);
    return code;
}

/* Rank 0: whether the array is to join a file, or why it cannot be made in the one that is there.
 */
static int find_others(const wr_array_name *name, bool overwrite, bool hdf5, bool *joins)
{
    wr_hdf5 found;
    wr_labels labels = {0};
    *joins = false;
    if (name->kind != WR_NAME_INSIDE)
        return 0;
    const int code = wr_array_name_look(name, name->file, &found, &labels);
    const bool there = code != WEIR_ENOENT || !weir_error_last()->errnum;
    if (!code) {
        wr_hdf5_release(&found);
        wr_labels_release(&labels);
    }
    *joins = code == WEIR_ENOENT && there && hdf5;
    if (*joins || !there || (!code && !overwrite))
        return 0;
    if (code == WEIR_ENOENT || (!code && hdf5 && wr_hdf5_count(name->file) > 1))
        return wr_fail(WEIR_EEXIST, "the file has other data than what is named: left alone");
    return overwrite ? 0 : code;
}

/* Rank 0: the array is to become a part of the file. */
static int join_file(weir_array *a, wr_site *s)
{
    char joined[WR_PATH];
    const size_t end = strlen(a->inner);
    if (!end || a->inner[end - 1] == '/')
        return wr_fail(WEIR_EINVAL, "no name for a dataset");
    int code = wr_site_join(s);
    if (code)
        return code;
    const int length = snprintf(joined, sizeof joined, "%s.partial-%s", a->inner, s->tag);
    if (length >= (int)sizeof joined)
        return wr_fail(WEIR_ERANGE, "a name of %d bytes", length);
    a->joined = wr_copy_text(joined);
    return a->joined ? 0 : WEIR_ENOMEM;
}

/* Where nothing could be made, its invented name would say nothing. */
static int name_as_asked(const weir_array *a, const birth *b, int code)
{
    if (code && *b->made && !strcmp(weir_error_last()->file, b->made))
        wr_error_note_file(a->at, weir_error_last()->offset);
    return code;
}

/* Rank 0: a name, and the file or the folder of that name. */
static int give_birth(weir_array *a, const wr_array_name *name, const wr_description *d,
                      bool overwrite, birth *b)
{
    const wr_named_disks named = wr_array_named_disks(a);
    wr_site *s = a->site = wr_alloc(sizeof *s);
    int code = s ? wr_site_open(a->at, s) : WEIR_ENOMEM;
    bool joins = false;
    if (!code)
        code = find_others(name, overwrite, d->format == WEIR_HDF5, &joins);
    if (!code && s)
        code = joins ? join_file(a, s) : wr_site_prepare(s, overwrite, &named);
    if (!code && joins && !a->staged)
        snprintf(b->made, sizeof b->made, "%s", a->at);
    else if (!code && s)
        code = wr_path_join(s->folder.path, s->made, b->made, sizeof b->made);
    if (code || !s)
        return code;
    b->owned = s->owned;
    b->owner = s->owner;
    if (a->zarr.version)
        code = wr_zarr_make(&s->folder, s->made, &a->zarr, wr_site_owner(s));
    else if (d->format == WEIR_HDF5)
        code = wr_dataset_create(a, &s->folder, s->made, wr_site_owner(s));
    else
        code = a->info.members
                   ? make_set(a)
                   : wr_array_name_make(name, &(wr_new_file){&s->folder, s->made, wr_site_owner(s)},
                                        d, &a->labels);
    memcpy(b->name, a->set.name, sizeof b->name);
    return name_as_asked(a, b, code);
}

/* Rank 0: of what was made nothing is left. */
void wr_array_abandon(const weir_array *a)
{
    if (a->site && a->staged)
        wr_dataset_erase_stage(a, &a->site->folder, a->site->made);
    if (a->joined)
        wr_hdf5_remove(a->at, a->joined);
    else if (a->site && a->info.members)
        wr_set_erase_new(&a->site->folder, a->site->made, &a->set);
    else if (a->site)
        wr_array_erase(&a->site->folder, a->site->made, &(wr_named_disks){0});
}

/* [collective] All know what rank 0 has made; members are made by all. If it fails nothing is left.
 */
static int make(weir_array *a, const wr_array_name *name, const wr_description *d, bool overwrite)
{
    const wr_transport *t = a->world->transport;
    birth b = {{0}, {0}, false, {0}};
    int code = t->rank ? 0 : give_birth(a, name, d, overwrite, &b);
    const bool born = !code;
    code = wr_channel_agree(&a->world->channel, code);
    if (!code)
        code = wr_channel_broadcast(&a->world->channel, &b, sizeof b);
    if (!code && d->format == WEIR_HDF5)
        code = wr_dataset_share(a);
    if (code) {
        if (born)
            wr_array_abandon(a);
        return code;
    }
    if (d->format == WEIR_HDF5) {
        wr_array_settle(a, &a->hdf5.what);
        wr_array_find_flat(a);
    }
    a->made = wr_copy_text(b.made);
    memcpy(a->set.name, b.name, sizeof b.name);
    code = a->made ? 0 : WEIR_ENOMEM;
    if (!code && a->info.members && t->rank)
        code = wr_array_open_inside(a, a->made);
    if (!code && a->info.members)
        code =
            wr_set_make_members(&a->inside, &a->set, b.owned ? &b.owner : NULL, t->rank, t->size);
    code = wr_channel_agree(&a->world->channel, code);
    if (code)
        wr_array_abandon(a);
    return code;
}

/* Fills this rank's share of all elements. */
static int fill(weir_array *a, const char *element)
{
    enum { PIECE = 1 << 20 };
    const wr_transport *t = a->world->transport;
    const int64_t size = a->body.element,
                  all = (a->tiling.levels ? a->tiling.shards * a->tiling.shard_bytes
                                          : a->info.bytes) /
                        size;
    wr_span own = wr_share(all, t->rank, t->size);
    char *piece = wr_alloc(PIECE);
    int code = piece ? 0 : WEIR_ENOMEM;
    for (int64_t i = 0; piece && i < PIECE / size; i++)
        memcpy(piece + i * size, element, (size_t)size);
    for (int64_t part; own.lo < own.hi && !code; own.lo += part) {
        wr_run_pattern where, memory;
        part = wr_min(own.hi - own.lo, PIECE / size);
        code = weir_file_write(
            a->file, wr_run_pattern_set(&where, a->body.offset + own.lo * size, part * size),
            wr_run_pattern_set(&memory, 0, part * size), piece, NULL, NULL);
    }
    wr_free(piece);
    return code;
}

static bool is_zero(const char *bytes, int64_t count)
{
    while (count && !bytes[count - 1])
        count--;
    return !count;
}

static uint64_t mix(uint64_t hash, int64_t value)
{
    hash = (hash ^ (uint64_t)value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static uint64_t mix_text(uint64_t hash, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        hash = mix(hash, text[i]);
    return hash;
}

static uint64_t mix_labels(const wr_labels *l)
{
    const uint64_t h = l->attributes ? mix_text(0, l->attributes, strlen(l->attributes)) : 0;
    return l->names ? mix_text(h, l->names, strlen(l->names)) : h;
}

/* [collective] All ranks ask for the same, and say the same of it. */
static int agree_on_info(wr_world *world, const wr_description *d, const weir_array_info *info,
                         const weir_array_options *o, uint64_t said, int code)
{
    const int64_t head[] = {d->type,       d->dimensions, info->columns,
                            info->members, o->overwrite,  o->disks};
    uint64_t h = said;
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        h = mix(h, head[i]);
    for (int i = 0; i < d->dimensions && !code; i++) {
        h = mix(h, d->shape[i]);
        h = mix(h, info->members ? info->distribution.grid[i] : 0);
        h = mix(h, info->members ? info->distribution.block[i] : 0);
    }
    h = mix(h, d->format);
    for (int i = 0; d->tiling.levels && i < d->dimensions && !code; i++)
        h = mix(mix(h, d->tiling.tile[i]), d->tiling.shard[i]);
    if (info->codec && !code)
        h = mix_text(h, info->codec, strlen(info->codec));
    for (int i = 0; i < info->members && o->map && !code; i++)
        h = mix(h, o->map[i]);
    for (int i = 0; i < o->disks && o->disk && !code; i++)
        h = mix_text(h, o->disk[i], strlen(o->disk[i]));
    static const char zeros[16];
    if (!code)
        h = mix_text(h, o->fill ? o->fill : zeros, (size_t)weir_type_bytes(d->type));
    int64_t both[] = {(int64_t)h, (int64_t)~h, code != 0};
    int lost = wr_channel_reduce(&world->channel, WR_OR, 3, both);
    if (lost || both[2])
        return lost ? lost : wr_channel_agree(&world->channel, code);
    return both[0] & both[1] ? wr_fail(WEIR_EDISAGREE, "ranks create different arrays") : 0;
}

/* [collective] The file is there: opens and fills it. */
static int raise_array(weir_array *a, const char *hints, const void *element)
{
    const int mode = WEIR_READ | WEIR_WRITE;
    char stored[16]; /* as the file has it */
    int code = a->info.members ? wr_array_open_members(a, a->made, mode, hints, NULL)
                               : wr_array_open_file(a, a->made, mode, hints, NULL);
    const bool told = a->tiling.levels && !a->flat && !a->hdf5.tile; /* what is missing is fill */
    const bool zero = !element || is_zero(element, a->body.element);
    if (code || !a->info.bytes || told || (zero && !a->hdf5.reused))
        return code;
    memset(stored, 0, sizeof stored);
    if (element)
        memcpy(stored, element, (size_t)a->body.element);
    if (a->info.swapped)
        wr_swap_here(&(wr_elements){a->info.type, stored, a->body.element}, 1);
    return wr_channel_agree(&a->world->channel, fill(a, stored));
}

static int check_reserves(const weir_array_info *info, const weir_array_options *o)
{
    const bool other = o->reserved[0] || o->reserved[1] || o->reserved[2];
    if (*info->reserved || other)
        return wr_fail(WEIR_EINVAL, "the reserve of a %s is not 0",
                       other ? "weir_array_options" : "weir_array_info");
    return 0;
}

int wr_array_create(wr_world *world, const char *path, const weir_array_info *info,
                    const weir_array_options *options, const char *hints, weir_array **out)
{
    static const weir_array_options none;
    const weir_array_options *o = options ? options : &none;
    wr_description d = {0};
    wr_array_name name;
    int code = wr_array_name_parse(path, &name);
    weir_array *a = wr_array_new(world, path, &name);
    if (!code)
        code = a ? check_reserves(info, o) : WEIR_ENOMEM;
    if (!code)
        code = describe_any(a, &name, info, o, &d);
    if (!code && info->members)
        code = describe_set(info, o, &d, &a->set);
    code = agree_on_info(world, &d, info, o, code ? 0 : mix_labels(&a->labels), code);
    if (code || !a) {
        wr_array_let_go(a);
        return wr_blame(code, path);
    }
    if (info->members)
        wr_array_settle_set(a);
    else
        wr_array_settle(a, &d);
    code = make(a, &name, &d, o->overwrite);
    const bool made = !code;
    if (made)
        code = raise_array(a, hints, o->fill);
    if (!code) {
        *out = a;
        return 0;
    }
    wr_blame(code, path);
    weir_error error = *weir_error_last();
    if (made && a->file)
        weir_array_discard(a);
    else {
        if (made)
            wr_array_abandon(a);
        wr_array_let_go(a);
    }
    return wr_error_raise(&error);
}
