/* Creating, opening and closing arrays: what rank 0 finds or makes, all ranks agree on. */
#include "array/array.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array/array_name.h"
#include "array/array_names.h"
#include "array/block_cache.h"
#include "array/distribution.h"
#include "base/arith.h"
#include "format/convert.h"
#include "format/npy.h"
#include "storage/paths.h"
#include "storage/patience.h"
#include "storage/systems.h"

/* --- what arrays are made of --- */

static void evict(wr_world_user *world_user)
{
    weir_array *a = (weir_array *)(void *)world_user;
    a->world = NULL;
}

static char *copy_text(const char *text)
{
    int64_t bytes = (int64_t)strlen(text) + 1;
    char *copy = wr_alloc(bytes);
    return copy ? memcpy(copy, text, (size_t)bytes) : NULL;
}

static weir_array *new_array(wr_world *world, const char *path, const wr_array_name *name)
{
    weir_array *a = wr_alloc(sizeof *a);
    if (!a)
        return NULL;
    memset(a, 0, sizeof *a);
    a->inside.fd = -1;
    a->users = 1;
    a->path = copy_text(path);
    a->at = copy_text(name->file);
    if (!a->path || !a->at) {
        wr_free(a->path);
        wr_free(a->at);
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
    wr_set_release(&a->set);
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
static void let_go(weir_array *a)
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
    if (!code && a->world != b->world)
        code =
            wr_blame(wr_fail(WEIR_EINVAL, "%s is open on another communicator", a->path), b->path);
    return code;
}

/* The array is known: everything that follows from that. */
static void settle(weir_array *a, const wr_description *d)
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
}

static void settle_set(weir_array *a)
{
    a->info.members = a->set.members;
    memcpy(a->info.distribution.grid, a->set.grid, sizeof a->set.grid);
    memcpy(a->info.distribution.block, a->set.block, sizeof a->set.block);
    settle(a, &a->set.whole);
    a->info.format = WEIR_SET;
}

/* With what rank 0 has found, or made, for ranks of other nodes. */
static wr_patience patience_of(const weir_array *a)
{
    const wr_transport *t = a->world->transport;
    return wr_patience_start(t->node != t->node_of[0]);
}

/* The folder of a set, which rank 0 has found or made. */
static int open_inside(weir_array *a, const char *path)
{
    wr_patience patience = patience_of(a);
    int code;
    do
        code = wr_folder_open(&wr_folder_here, path, &a->inside);
    while (code && wr_patience_again(&patience, path));
    return code;
}

/* [collective] Opens the file or the members under the name they have now. */
static int open_file(weir_array *a, const char *path, int mode, const char *hints,
                     const wr_members *members)
{
    /* what is written together is read alone, too, so it must be there at once */
    wr_opening how = {.path = path,
                      .mode = mode,
                      .hints = hints,
                      .members = members,
                      .folder = members ? path : NULL,
                      .at_once = true};
    int code = wr_file_open_as(a->world, &how, &a->file);
    if (!code)
        wr_block_cache_new(wr_file_tunables(a->file)->cache, &a->cache); /* or there is none */
    if (!code && !members && a->body.dimensions) {
        wr_file_set_unit(a->file, wr_max(1, a->body.stride[a->body.order[0]]), a->body.offset);
    }
    return code;
}

/* [collective] The members of a set as one file; skip NULL: as we make them. */
static int open_members(weir_array *a, const char *path, int mode, const char *hints,
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
        code = open_inside(a, path);
    code = wr_channel_agree(&a->world->channel, code);
    if (!code)
        code = open_file(a, path, mode, hints, &members);
    wr_arena_release(&memory);
    return code;
}

/* --- creating --- */

static int describe(const weir_array_info *info, const wr_array_name *name, wr_description *out)
{
    *out = (wr_description){
        .type = info->type, .dimensions = info->dimensions, .columns = info->columns};
    if (info->dimensions >= 0 && info->dimensions <= WEIR_MAX_DIMENSIONS)
        memcpy(out->shape, info->shape, (size_t)info->dimensions * sizeof *info->shape);
    if (info->members && name->kind != WR_NAME_PATH)
        return wr_fail(WEIR_EINVAL, "local arrays are .npy files in a folder");
    return wr_array_name_describe(name, out);
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
        out->disk[i] = copy_text(o->disks ? o->disk[i] : ".");
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
static wr_named_disks named_disks(const weir_array *a)
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

/* Rank 0: a name, and the file or the folder of that name. */
static int give_birth(weir_array *a, const wr_array_name *name, const wr_description *d,
                      bool overwrite, birth *b)
{
    const wr_named_disks named = named_disks(a);
    wr_site *s = a->site = wr_alloc(sizeof *s);
    int code = s ? wr_site_open(a->at, s) : WEIR_ENOMEM;
    if (!code && s)
        code = wr_site_prepare(s, overwrite, &named);
    if (!code && s)
        code = wr_path_join(s->folder.path, s->made, b->made, sizeof b->made);
    if (code || !s)
        return code;
    b->owned = s->owned;
    b->owner = s->owner;
    code = a->info.members ? make_set(a)
                           : wr_array_name_make(name, &s->folder, s->made, d, wr_site_owner(s));
    memcpy(b->name, a->set.name, sizeof b->name);
    return code;
}

/* Rank 0: of what was made nothing is left. */
static void abandon(const weir_array *a)
{
    if (a->site && a->info.members)
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
    if (code) {
        if (born)
            abandon(a);
        return code;
    }
    a->made = copy_text(b.made);
    memcpy(a->set.name, b.name, sizeof b.name);
    code = a->made ? 0 : WEIR_ENOMEM;
    if (!code && a->info.members && t->rank)
        code = open_inside(a, a->made);
    if (!code && a->info.members)
        code =
            wr_set_make_members(&a->inside, &a->set, b.owned ? &b.owner : NULL, t->rank, t->size);
    code = wr_channel_agree(&a->world->channel, code);
    if (code)
        abandon(a);
    return code;
}

/* Fills this rank's share of all elements. */
static int fill(weir_array *a, const char *element)
{
    enum { PIECE = 1 << 20 };
    const wr_transport *t = a->world->transport;
    const int64_t size = a->body.element, all = a->info.bytes / size;
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

/* [collective] All ranks ask for the same. */
static int agree_on_info(wr_world *world, const wr_description *d, const weir_array_info *info,
                         const weir_array_options *o, int code)
{
    const int64_t head[] = {d->type,       d->dimensions, d->columns,
                            info->members, o->overwrite,  o->disks};
    uint64_t h = 0;
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        h = mix(h, head[i]);
    for (int i = 0; i < d->dimensions && !code; i++) {
        h = mix(h, d->shape[i]);
        h = mix(h, info->members ? info->distribution.grid[i] : 0);
        h = mix(h, info->members ? info->distribution.block[i] : 0);
    }
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
    int code = a->info.members ? open_members(a, a->made, mode, hints, NULL)
                               : open_file(a, a->made, mode, hints, NULL);
    if (code || !element || is_zero(element, a->body.element))
        return code;
    memcpy(stored, element, (size_t)a->body.element);
    if (a->info.swapped)
        wr_swap_bytes(&(wr_elements){a->info.type, stored, a->body.element}, 1);
    return wr_channel_agree(&a->world->channel, fill(a, stored));
}

static int check_reserves(const weir_array_info *info, const weir_array_options *o)
{
    int code = wr_check_reserved(info->reserved, "weir_array_info");
    return code ? code : wr_check_reserved(o->reserved, "weir_array_options");
}

int wr_array_create(wr_world *world, const char *path, const weir_array_info *info,
                    const weir_array_options *options, const char *hints, weir_array **out)
{
    static const weir_array_options none;
    const weir_array_options *o = options ? options : &none;
    wr_description d = {0};
    wr_array_name name;
    int code = wr_array_name_parse(path, &name);
    weir_array *a = new_array(world, path, &name);
    if (!code)
        code = a ? check_reserves(info, o) : WEIR_ENOMEM;
    if (!code)
        code = describe(info, &name, &d);
    if (!code && info->members)
        code = describe_set(info, o, &d, &a->set);
    code = agree_on_info(world, &d, info, o, code);
    if (code) {
        let_go(a);
        return wr_blame(code, path);
    }
    if (info->members)
        settle_set(a);
    else
        settle(a, &d);
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
            abandon(a);
        let_go(a);
    }
    return wr_error_raise(&error);
}

/* --- opening --- */

/* What rank 0 sees at a path. */
typedef struct sight {
    bool set;
    int64_t identity; /* of the file or folder that is there: facts.identity once it is open */
    int64_t length;   /* of a set's description, with its end */
    wr_description what;
} sight;

/* Reads the header of the file, or the description in the folder, that `where` leads to; errors are
 * about `path`. */
static int look_at(const wr_array_name *name, const char *where, sight *s, char **text)
{
    char json[WR_PATH], named[WR_PATH];
    const char *path = name->file;
    int code = s->set ? wr_path_join(where, "array.json", json, sizeof json) : 0;
    if (!code && s->set)
        code = wr_path_join(path, "array.json", named, sizeof named);
    if (code)
        return code;
    code = s->set ? wr_path_read(json, WR_SET_LONGEST, text, &s->length)
                  : wr_array_name_look(name, where, &s->what);
    s->length++;
    if (s->set && name->kind != WR_NAME_PATH)
        wr_fail(code = WEIR_EFORMAT, "a folder, where the name of the array is that of a file");
    else if (code == WEIR_ENOENT && s->set)
        wr_fail(code = WEIR_EFORMAT, "a folder without array.json is no array");
    else if (s->set && code)
        path = named;
    if (code)
        wr_error_note_file(path, weir_error_last()->offset);
    return code;
}

/* What has the name now stays open as *held until the array is: so it is known whether that is the
 * same, whoever replaces it meanwhile. */
static int look(const wr_array_name *name, sight *s, char **text, int *held)
{
    char where[40];
    struct stat status;
    const char *path = name->file;
    wr_system_list(AT_FDCWD, path);
    *held = open(path, O_PATH | O_CLOEXEC);
    if (*held < 0 || fstat(*held, &status))
        return wr_fail_system(errno, path, -1, "look at");
    s->set = S_ISDIR(status.st_mode);
    s->identity = (int64_t)status.st_ino;
    snprintf(where, sizeof where, "/proc/self/fd/%d", *held);
    return look_at(name, access(where, F_OK) ? path : where, s, text);
}

/* [collective] The description of a set reaches all. */
static int share_set(weir_array *a, const sight *s, char *text)
{
    const wr_transport *t = a->world->transport;
    char *own = t->rank ? wr_alloc(s->length) : text;
    int code = wr_channel_agree(&a->world->channel, own ? 0 : WEIR_ENOMEM);
    if (!code && own)
        code = wr_channel_broadcast(&a->world->channel, own, s->length);
    if (!code && own) {
        code = wr_set_parse(own, s->length - 1, &a->set);
        if (code)
            wr_error_note_file(a->path, -1);
        code = wr_channel_agree(&a->world->channel, code);
    }
    if (t->rank)
        wr_free(own);
    return code;
}

/* [collective] Where each member's data begin; every rank has looked at some. */
static int share_skips(weir_array *a, int64_t *skip)
{
    wr_channel *c = &a->world->channel;
    const wr_transport *t = a->world->transport;
    wr_patience patience = patience_of(a);
    int64_t swapped = 0;
    int code;
    do
        code = wr_set_check_members(a->at, &a->set, t->rank, t->size, skip, &swapped);
    while (code && wr_patience_again(&patience, weir_error_last()->file));
    code = wr_channel_agree(c, code);
    for (int m = 0; m < a->set.members && !code; m += WR_CHANNEL_VALUES)
        code = wr_channel_reduce(c, WR_OR, (int)wr_min(a->set.members - m, WR_CHANNEL_VALUES),
                                 skip + m);
    if (!code)
        code = wr_channel_reduce(c, WR_OR, 1, &swapped);
    if (!code && swapped == 3)
        code = wr_fail(WEIR_EUNSUPPORTED, "local arrays have different byte orders");
    a->set.whole.swapped = swapped == 2;
    return code;
}

static int open_set(weir_array *a, const sight *s, char *text, int mode, const char *hints)
{
    int code = share_set(a, s, text);
    if (code)
        return code;
    int64_t *skip = wr_alloc_array(a->set.members, sizeof *skip);
    code = wr_channel_agree(&a->world->channel, skip ? 0 : WEIR_ENOMEM);
    if (!code && skip) {
        memset(skip, 0, (size_t)a->set.members * sizeof *skip);
        code = share_skips(a, skip);
    }
    if (!code) {
        settle_set(a);
        code = open_members(a, a->at, mode, hints, skip);
    }
    wr_free(skip);
    return code;
}

/* What rank 0 has looked at and what it has open are the same, or somebody has replaced it between;
 * the others have the same open as rank 0. */
static int check_same(weir_array *a, const sight *s)
{
    if (wr_file_identity(a->file) == s->identity)
        return 0;
    weir_file_close(a->file);
    a->file = NULL;
    return wr_fail(WEIR_EDISAGREE, "the array was replaced while it was opened");
}

static int open_once(wr_world *world, const char *path, int mode, const char *hints,
                     weir_array **out)
{
    sight s = {0};
    wr_array_name name;
    char *text = NULL;
    int held = -1;
    int code = wr_array_name_parse(path, &name);
    weir_array *a = new_array(world, path, &name);
    if (!code && !a)
        code = WEIR_ENOMEM;
    if (!code && mode != WEIR_READ && mode != (WEIR_READ | WEIR_WRITE))
        code =
            wr_fail(WEIR_EINVAL, "mode %d: arrays are opened to read, or to read and write", mode);
    if (!code && !*path)
        code = wr_fail(WEIR_EINVAL, "no name for an array");
    if (!code && world->transport->rank == 0)
        code = look(&name, &s, &text, &held);
    code = wr_channel_agree(&world->channel, code);
    if (!code)
        code = wr_channel_broadcast(&world->channel, &s, sizeof s);
    if (!code && s.set) {
        code = open_set(a, &s, text, mode, hints);
    } else if (!code) {
        settle(a, &s.what);
        code = open_file(a, a->at, mode, hints, NULL);
    }
    if (!code)
        code = check_same(a, &s);
    if (held >= 0)
        close(held);
    wr_free(text);
    if (code) {
        wr_blame(code, path);
        weir_error error = *weir_error_last();
        let_go(a);
        return wr_error_raise(&error);
    }
    *out = a;
    return 0;
}

/* Who replaces it again and again while it is opened is waited for no longer than this. */
int wr_array_open(wr_world *world, const char *path, int mode, const char *hints, weir_array **out)
{
    enum { TRIES = 4 };
    int code = WEIR_EDISAGREE;
    for (int i = 0; i < TRIES && code == WEIR_EDISAGREE; i++)
        code = open_once(world, path, mode, hints, out);
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
    if (!a->site || wr_path_join(a->site->folder.path, a->site->made, where, sizeof where))
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

/* [collective] A new array, closed with `code` and details, gets its name, or stays under the
 * one it was made under. */
static int publish(weir_array *a, int code, bool durable)
{
    const wr_named_disks named = named_disks(a);
    if (!code && a->site)
        code = wr_site_publish(a->site, durable, &named);
    return wr_channel_agree(&a->world->channel, tell_where(a, code));
}

/* [collective] Of a new array nothing is left. */
static void destroy(weir_array *a)
{
    wr_channel_agree(&a->world->channel, 0); /* nobody has it open */
    abandon(a);
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
    let_go(a);
    return code ? wr_error_raise(&error) : 0;
}

int wr_array_delete(wr_world *world, const char *path)
{
    int code = 0;
    if (world->transport->rank == 0) {
        wr_tunables now = world->tunables; /* a program may name its disks later on */
        wr_site site;
        code = wr_site_open(path, &site);
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

const char *weir_array_where(const weir_array *array)
{
    return array->made ? array->made : array->at;
}
