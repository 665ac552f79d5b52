/* What an open array is made of, and its end: what was written is stored, and a new one gets its
 * name. */
#include "array/array_inside.h"

#include <stdio.h>
#include <string.h>

#include "array/array_names.h"
#include "array/array_tiles.h"
#include "array/array_zarr.h"
#include "array/block_cache.h"
#include "base/arith.h"
#include "format/npy.h"
#include "storage/paths.h"

static void evict(wr_world_user *world_user)
{
    weir_array *a = (weir_array *)(void *)world_user;
    a->world = NULL;
}

char *wr_copy_text(const char *text)
{
    int64_t bytes = (int64_t)strlen(text) + 1;
    char *copy = wr_alloc(bytes);
    return copy ? memcpy(copy, text, (size_t)bytes) : NULL;
}

weir_array *wr_array_new(wr_world *world, const char *path, const wr_array_name *name)
{
    weir_array *a = wr_alloc(sizeof *a);
    if (!a)
        return NULL;
    memset(a, 0, sizeof *a);
    a->inside.fd = -1;
    a->users = 1;
    a->path = wr_copy_text(path);
    a->at = wr_copy_text(name->file);
    a->inner = wr_copy_text(name->inner ? name->inner : "");
    if (!a->path || !a->at || !a->inner) {
        wr_free(a->path);
        wr_free(a->at);
        wr_free(a->inner);
        wr_free(a);
        return NULL;
    }
    a->world = world;
    wr_world_join(world, &a->world_user, evict);
    return a;
}

void wr_array_leave(weir_array *a)
{
    /* releases what this user did, and acquires what the others did: the last one frees it all */
    if (!a || atomic_fetch_sub(&a->users, 1) > 1)
        return;
    wr_block_cache_free(a->cache);
    wr_free(a->stage);
    wr_set_release(&a->set);
    wr_zarr_release(&a->zarr);
    wr_hdf5_release(&a->hdf5);
    wr_labels_release(&a->labels);
    wr_free(a->joined);
    wr_free(a->inner);
    wr_free(a->start);
    wr_folder_close(&a->inside);
    if (a->site)
        wr_site_close(a->site);
    wr_free(a->site);
    wr_free(a->made_disk);
    wr_free(a->path);
    wr_free(a->at);
    wr_free(a->made);
    wr_free(a);
}

/* The owner's use of it ends, and its hold on the world. */
void wr_array_let_go(weir_array *a)
{
    if (a && a->world)
        wr_world_part(a->world, &a->world_user);
    if (a)
        a->world = NULL;
    wr_array_leave(a);
}

int wr_array_check_alive(const weir_array *a)
{
    if (a->world)
        return 0;
    wr_fail(WEIR_ETRANSPORT, "MPI has ended, and closed the array");
    return wr_blame(WEIR_ETRANSPORT, a->path);
}

int wr_array_check_pair(const weir_array *a, const weir_array *b)
{
    int code = wr_array_check_alive(a);
    if (!code)
        code = wr_array_check_alive(b);
    const bool alone =
        !code && wr_array_transport(a)->size == 1 && wr_array_transport(b)->size == 1;
    if (!code && a->world != b->world && !alone)
        code =
            wr_blame(wr_fail(WEIR_EINVAL, "%s is open on another communicator", a->path), b->path);
    return code;
}

/* The array is known: everything that follows from that. */
void wr_array_settle(weir_array *a, const wr_description *d)
{
    a->info.type = d->type;
    a->info.dimensions = d->dimensions;
    memcpy(a->info.shape, d->shape, sizeof a->info.shape);
    a->info.columns = d->columns;
    a->info.swapped = d->swapped;
    a->info.bytes = d->bytes;
    a->info.format = d->format;
    a->body = (wr_body){
        .dimensions = d->dimensions, .element = weir_type_bytes(d->type), .offset = d->data_offset};
    memcpy(a->body.shape, d->shape, sizeof a->body.shape);
    wr_body_settle(&a->body, d->columns); /* fits: A1 */
    if (d->record)
        a->body.stride[0] = d->record;
    a->tiling = d->tiling;
    if (!a->tiling.levels)
        return;
    memcpy(a->body.grain, a->tiling.shard, sizeof a->body.grain);
    wr_codecs_print(&a->tiling.codecs, a->codec, sizeof a->codec);
    a->info.tile = a->tiling.tile;
    a->info.shard = a->tiling.levels == 2 ? a->tiling.shard : NULL;
    a->info.codec = a->tiling.codecs.count ? a->codec : NULL;
}

void wr_array_settle_set(weir_array *a)
{
    a->info.members = a->set.members;
    memcpy(a->info.distribution.grid, a->set.grid, sizeof a->set.grid);
    memcpy(a->info.distribution.block, a->set.block, sizeof a->set.block);
    wr_array_settle(a, &a->set.whole);
    a->info.format = WEIR_SET;
}

/* With what rank 0 has found, or made, for ranks of other nodes. */
wr_patience wr_array_patience(const weir_array *a)
{
    const wr_transport *t = a->world->transport;
    return wr_patience_start(t->node != t->node_of[0]);
}

/* The folder of a set, which rank 0 has found or made. */
int wr_array_open_inside(weir_array *a, const char *path)
{
    wr_patience patience = wr_array_patience(a);
    int code;
    do
        code = wr_folder_open(&wr_folder_here, path, &a->inside);
    while (code && wr_patience_again(&patience, path));
    return code;
}

/* [collective] Opens the file or the members under the name they have now. */
int wr_array_open_file(weir_array *a, const char *path, int mode, const char *hints,
                       const wr_members *members)
{
    /* what is written together is read alone, too, so it must be there at once */
    wr_opening how = {.path = path,
                      .mode = mode,
                      .hints = hints,
                      .members = members,
                      .folder = members ? path : NULL,
                      .at_once = true};
    wr_tiles tiles;
    char file[WR_PATH];
    if (a->flat) {
        const int code = wr_array_flat_path(a, path, file);
        if (code)
            return code;
        how.path = file;
    } else if (a->tiling.levels) {
        const int code = wr_array_count_threads(a);
        if (code)
            return code;
        wr_array_tiles(a, &tiles);
        how.ops = &wr_tiles_ops;
        how.given = &tiles;
    }
    int code = wr_file_open_as(a->world, &how, &a->file);
    if (!code && a->flat)
        wr_file_set_unit(a->file, a->tiling.tile_bytes, a->body.offset);
    if (code || a->tiling.levels)
        return code;
    wr_block_cache_new(wr_file_tunables(a->file)->cache, &a->cache); /* or there is none */
    if (!members && a->body.dimensions)
        wr_file_set_unit(a->file, wr_max(1, a->body.stride[a->body.order[0]]), a->body.offset);
    return 0;
}

/* [collective] The members of a set as one file; skip NULL: as we make them. */
int wr_array_open_members(weir_array *a, const char *path, int mode, const char *hints,
                          const int64_t *skip)
{
    wr_arena memory = {0};
    wr_members members = {0};
    int64_t *own = skip ? NULL : wr_arena_alloc(&memory, a->set.members * (int64_t)sizeof *own);
    int code = skip || own ? 0 : WEIR_ENOMEM;
    for (int m = 0; own && m < a->set.members; m++)
        own[m] = WR_NPY_WRITTEN;
    a->start = wr_alloc_array(a->set.members + (int64_t)1, sizeof *a->start);
    if (!code)
        code = a->start
                   ? wr_set_members(path, &a->set, skip ? skip : own, &memory, a->start, &members)
                   : WEIR_ENOMEM;
    if (!code && a->inside.fd < 0)
        code = wr_array_open_inside(a, path);
    code = wr_channel_agree(&a->world->channel, code);
    if (!code)
        code = wr_array_open_file(a, path, mode, hints, &members);
    wr_arena_release(&memory);
    return code;
}

int wr_array_agree(weir_array *a, int code)
{
    weir_error error = *weir_error_last();
    wr_file_settle(a->file);
    if (code)
        wr_error_raise(&error);
    return wr_file_agree(a->file, code);
}

/* --- closing --- */

/* An array did not get its name, or has left another: why, and where that is. Returns `code`. */
static int tell_where(const weir_array *a, int code)
{
    enum { SHOWN = 100 };
    char where[WR_PATH];
    const weir_error why = *weir_error_last();
    weir_error error = why;
    const size_t length = strlen(why.file);
    const bool named = a->site && a->site->named;
    if (!code)
        return 0;
    snprintf(error.text, sizeof error.text, "the array %s: %.*s%s%s%s",
             named ? "has its name, but this is left" : "did not get its name", SHOWN, why.text,
             length ? " (" : "", why.file + (length > SHOWN ? length - SHOWN : 0),
             length ? ")" : "");
    if (a->joined)
        snprintf(where, sizeof where, "%s:/%s", a->at, a->joined);
    else if (!a->site || wr_path_join(a->site->folder.path, a->site->made, where, sizeof where))
        snprintf(where, sizeof where, "%s", a->made);
    wr_error_raise(&error);
    wr_error_note_file(where, -1);
    return code;
}

/* [collective] What was written is on stable storage: by each rank what it has, of a set by one
 * rank each what nobody need have open, and by rank 0 the folders, but for the array's own name. */
static int sync_data(weir_array *a)
{
    int code = weir_file_sync(a->file);
    if (code || !a->info.members)
        return code;
    const wr_transport *t = a->world->transport;
    code = wr_set_sync_members(&a->inside, &a->set, t->rank, t->size);
    if (!code && t->rank == 0)
        code = wr_set_sync_folders(&a->inside, &a->set, a->made_disk);
    return wr_array_agree(a, code);
}

static bool is_durable(const weir_array *a)
{
    return wr_file_tunables(a->file)->durable.which;
}

/* [collective] A new array is about to be closed: whether it may get its name. */
static int prepare(weir_array *a)
{
    const int wrong = a->site ? wr_site_restrict(a->site) : 0;
    int64_t any[] = {wr_file_has_failed(a->file) || a->spoiled, wrong};
    int code = wr_channel_reduce(&a->world->channel, WR_OR, 2, any);
    if (!code && any[1])
        code = wr_channel_agree(&a->world->channel, wrong);
    if (!code && any[0])
        code = wr_fail(WEIR_EIO, "a write to it has failed");
    return code ? code : weir_array_sync_durable(a);
}

/* Rank 0: of a file that was there. */
static int name_joined(weir_array *a, bool durable)
{
    wr_site *s = a->site;
    int code = durable ? wr_folder_sync_file(&s->folder, s->name) : 0;
    if (!code)
        code = wr_hdf5_name(a->at, a->joined, a->inner, &a->hdf5, &a->labels);
    if (code || !durable)
        return code;
    code = wr_folder_sync_file(&s->folder, s->name);
    s->named = code;
    return code;
}

/* Rank 0: a file or folder of its own. */
static int name_made(weir_array *a, bool durable)
{
    wr_site *s = a->site;
    const wr_named_disks named = wr_array_named_disks(a);
    int code = a->staged ? wr_site_restrict(s) : 0; /* it is a file only now */
    if (!code && a->staged && durable)
        code = wr_folder_sync_file(&s->folder, s->made);
    if (!code && a->zarr.version)
        code = wr_zarr_finish(&s->folder, s->made, &a->zarr, durable);
    return code ? code : wr_site_publish(s, durable, &named);
}

/* [collective] A new array, closed with `code` and details, gets its name, or stays under the
 * one it was made under. */
static int publish(weir_array *a, int code, bool durable)
{
    if (!code && a->site && a->staged)
        code = wr_dataset_pack_stage(a, &a->site->folder, a->site->made);
    if (!code && a->joined)
        code = name_joined(a, durable);
    else if (!code && a->site)
        code = name_made(a, durable);
    return wr_channel_agree(&a->world->channel, tell_where(a, code));
}

/* [collective] Of a new array nothing is left. */
static void destroy(weir_array *a)
{
    wr_channel_agree(&a->world->channel, 0); /* nobody has it open */
    wr_array_abandon(a);
}

static int finish(weir_array *a, bool keep)
{
    const bool named = a->world && a->made && keep;
    const bool durable = named && (a->synced || is_durable(a));
    int code = named ? prepare(a) : 0;
    weir_error error = *weir_error_last();
    int closed = weir_file_close(a->file);
    if (code)
        wr_error_raise(&error);
    code = code ? code : closed;
    if (a->world && named)
        code = publish(a, code, durable);
    error = *weir_error_last();
    if (a->world && a->made && !keep)
        destroy(a);
    wr_array_let_go(a);
    return code ? wr_error_raise(&error) : 0;
}

int wr_array_delete(wr_world *world, const char *path)
{
    int code = 0;
    if (world->transport->rank == 0) {
        wr_tunables now = world->tunables; /* a program may name its disks later on */
        wr_site site = {.folder.fd = -1};
        wr_array_name name;
        code = wr_array_name_parse(path, &name); /* of several in a file none is removed */
        if (!code)
            code = wr_site_open(name.file, &site);
        if (!code)
            code = wr_tunables_set_environment(&now);
        if (!code)
            code = wr_site_delete(&site, &(wr_named_disks){.list = now.disks});
        wr_site_close(&site);
    }
    return wr_channel_agree(&world->channel, code);
}

int weir_array_close(weir_array *array)
{
    return finish(array, true);
}

int weir_array_discard(weir_array *array)
{
    return finish(array, false);
}

int weir_array_sync(weir_array *array)
{
    array->synced = true;
    return sync_data(array);
}

int weir_array_sync_durable(weir_array *array)
{
    return is_durable(array) ? weir_array_sync(array) : 0;
}

const weir_array_info *weir_array_get_info(const weir_array *array)
{
    return &array->info;
}

const char *weir_array_attributes(const weir_array *array)
{
    return array->labels.attributes ? array->labels.attributes : "{}";
}

const char *weir_array_names(const weir_array *array)
{
    return array->labels.names ? array->labels.names : "[]";
}

const char *weir_array_where(const weir_array *array)
{
    return array->made ? array->made : array->at;
}
