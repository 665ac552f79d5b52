/* Opening arrays: what rank 0 finds, all ranks agree on. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array/array_inside.h"
#include "array/array_names.h"
#include "array/array_tiles.h"
#include "array/array_zarr.h"
#include "base/arith.h"
#include "storage/paths.h"
#include "storage/systems.h"

/* What rank 0 sees at a path. */
typedef struct sight {
    bool folder;
    int version;      /* of Zarr; 0: a file, or a set */
    int64_t identity; /* of the file or folder that is there: facts.identity once it is open */
    int64_t length;   /* of a folder's description, with its end */
    int64_t attributes, names; /* bytes of the labels, with their ends; 0: there are none */
} sight;

/* The description in a folder, whose user's name is `path`. */
static int look_inside(const wr_array_name *name, const char *where, sight *s, char **text,
                       wr_labels *labels)
{
    char named[WR_PATH];
    wr_folder in;
    wr_folder_entry set = {0};
    if (name->kind != WR_NAME_PATH)
        return wr_fail(WEIR_EFORMAT, "a folder, where the name of the array is that of a file");
    int code = wr_folder_open(&wr_folder_here, where, &in);
    if (!code)
        code = wr_folder_look(&in, WR_SET_FILE, true, &set);
    if (!code && set.kind != WR_ENTRY_NONE)
        code = wr_folder_read(&in, WR_SET_FILE, WR_SET_LONGEST, text, &s->length);
    else if (!code)
        code = wr_zarr_read(&in, &s->version, text, &s->length);
    if (!code && s->version == 2)
        code = wr_zarr_read_attributes(&in, &labels->attributes);
    wr_folder_close(&in);
    s->length++;
    const char *file = s->version ? wr_zarr_file(s->version, true) : WR_SET_FILE;
    if (code && *weir_error_last()->file && !wr_path_join(name->file, file, named, sizeof named))
        wr_error_note_file(named, -1);
    return wr_blame(code, name->file);
}

/* Reads the header of the file, or the description in the folder, that `where` leads to; errors are
 * about the array's own file. */
static int look_at(const wr_array_name *name, const char *where, sight *s, char **text,
                   weir_array *a)
{
    if (s->folder)
        return look_inside(name, where, s, text, &a->labels);
    int code = wr_array_name_look(name, where, &a->hdf5, &a->labels);
    if (code)
        wr_error_note_file(name->file, weir_error_last()->offset);
    return code;
}

/* What has the name now stays open as *held until the array is: so it is known whether that is the
 * same, whoever replaces it meanwhile. */
static int look(const wr_array_name *name, sight *s, char **text, int *held, weir_array *a)
{
    char where[40];
    struct stat status;
    const char *path = name->file;
    wr_system_list(AT_FDCWD, path);
    *held = open(path, O_PATH | O_CLOEXEC);
    if (*held < 0 || fstat(*held, &status))
        return wr_fail_system(errno, path, -1, "look at");
    s->folder = S_ISDIR(status.st_mode);
    s->identity = (int64_t)status.st_ino;
    snprintf(where, sizeof where, "/proc/self/fd/%d", *held);
    int code = look_at(name, access(where, F_OK) ? path : where, s, text, a);
    s->attributes = a->labels.attributes ? (int64_t)strlen(a->labels.attributes) + 1 : 0;
    s->names = a->labels.names ? (int64_t)strlen(a->labels.names) + 1 : 0;
    return code;
}

/* [collective] Rank 0's text reaches all. */
static int share_label(weir_array *a, int64_t bytes, char **text)
{
    wr_channel *c = &a->world->channel;
    if (!bytes)
        return 0;
    if (a->world->transport->rank)
        *text = wr_alloc(bytes);
    int code = wr_channel_agree(c, *text ? 0 : WEIR_ENOMEM);
    return code ? code : wr_channel_broadcast(c, *text, bytes);
}

/* [collective] What rank 0 has found of labels, all have. */
static int share_labels(weir_array *a, const sight *s)
{
    int code = share_label(a, s->attributes, &a->labels.attributes);
    return code ? code : share_label(a, s->names, &a->labels.names);
}

/* [collective] Version 2 has in a file of its own what version 3 has with the rest. */
static int settle_labels(weir_array *a)
{
    wr_labels found;
    int code = wr_labels_from_zarr(&a->zarr, a->labels.attributes, &found);
    if (!code) {
        wr_labels_release(&a->labels);
        a->labels = found;
    }
    return wr_channel_agree(&a->world->channel, code);
}

/* [collective] The description of a set, or of a Zarr array, reaches all. */
static int share_text(weir_array *a, const sight *s, char *text)
{
    const wr_transport *t = a->world->transport;
    char *own = t->rank ? wr_alloc(s->length) : text;
    int code = wr_channel_agree(&a->world->channel, own ? 0 : WEIR_ENOMEM);
    if (!code && own)
        code = wr_channel_broadcast(&a->world->channel, own, s->length);
    if (!code && own) {
        code = s->version ? wr_zarr_parse(s->version, own, s->length - 1, &a->zarr)
                          : wr_set_parse(own, s->length - 1, &a->set);
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
    wr_patience patience = wr_array_patience(a);
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

static int open_folder(weir_array *a, sight *s, char *text, int mode, const char *hints)
{
    int code = share_text(a, s, text);
    if (code)
        return code;
    if (s->version) {
        int64_t file = a->world->transport->rank ? 0 : wr_zarr_looks_flat(&a->zarr, a->at);
        code = wr_channel_broadcast(&a->world->channel, &file, sizeof file);
        if (code)
            return code;
        a->flat = file;
        s->identity = file ? file : s->identity; /* what is open then */
        wr_array_settle(a, &a->zarr.what);
        code = settle_labels(a);
        return code ? code : wr_array_open_file(a, a->at, mode, hints, NULL);
    }
    int64_t *skip = wr_alloc_array(a->set.members, sizeof *skip);
    code = wr_channel_agree(&a->world->channel, skip ? 0 : WEIR_ENOMEM);
    if (!code && skip) {
        memset(skip, 0, (size_t)a->set.members * sizeof *skip);
        code = share_skips(a, skip);
    }
    if (!code) {
        wr_array_settle_set(a);
        code = wr_array_open_members(a, a->at, mode, hints, skip);
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

/* Tiles of a file have their place, and cannot grow, nor come into being. */
static int check_mode(const weir_array *a, int mode)
{
    const wr_hdf5 *h = &a->hdf5;
    if (!h->tiles || !(mode & WEIR_WRITE))
        return 0;
    if (h->what.tiling.codecs.count)
        return wr_fail(WEIR_EUNSUPPORTED, "chunks of HDF5 that are encoded are not written again");
    for (int64_t i = 0; i < h->tiles; i++)
        if (!h->tile[i].bytes)
            return wr_fail(WEIR_EUNSUPPORTED, "chunk %lld of the dataset has no place in the file",
                           (long long)i);
    return 0;
}

static int open_once(wr_world *world, const char *path, int mode, const char *hints,
                     weir_array **out)
{
    sight s = {0};
    wr_array_name name;
    char *text = NULL;
    int held = -1;
    int code = wr_array_name_parse(path, &name);
    weir_array *a = wr_array_new(world, path, &name);
    if (!code && !a)
        code = WEIR_ENOMEM;
    if (!code && mode != WEIR_READ && mode != (WEIR_READ | WEIR_WRITE))
        code =
            wr_fail(WEIR_EINVAL, "mode %d: arrays are opened to read, or to read and write", mode);
    if (!code && !*path)
        code = wr_fail(WEIR_EINVAL, "no name for an array");
    if (!code && world->transport->rank == 0)
        code = look(&name, &s, &text, &held, a);
    code = wr_channel_agree(&world->channel, code);
    if (!a)
        return wr_blame(code, path);
    if (!code)
        code = wr_channel_broadcast(&world->channel, &s, sizeof s);
    if (!code)
        code = share_labels(a, &s);
    if (!code && s.folder) {
        code = open_folder(a, &s, text, mode, hints);
    } else if (!code) {
        code = wr_dataset_share(a);
        if (!code)
            code = check_mode(a, mode);
        if (!code) {
            wr_array_settle(a, &a->hdf5.what);
            wr_array_find_flat(a);
            code = wr_array_open_file(a, a->at, mode, hints, NULL);
        }
    }
    if (!code)
        code = check_same(a, &s);
    if (held >= 0)
        close(held);
    wr_free(text);
    if (code) {
        wr_blame(code, path);
        weir_error error = *weir_error_last();
        wr_array_let_go(a);
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
