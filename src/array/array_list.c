/* The arrays of a name, told from headers and descriptions alone. */
#include <stdio.h>
#include <string.h>

#include "array/array_name.h"
#include "array/array_names.h"
#include "array/array_parts.h"
#include "base/error.h"
#include "base/memory.h"
#include "format/netcdf.h"
#include "storage/paths.h"
#include "weir/files.h"

enum { DEEPEST = 64, NAME = 2 * WR_PATH };

typedef struct lister {
    weir_array_told *each;
    void *user;
    const char *name, *file; /* the name asked for, and the file or folder that it leads to */
    int groups;
} lister;

static int tell(const lister *l, const char *name, const wr_description *d, const wr_set *set)
{
    weir_array_info info = {0};
    if (!d)
        return l->each(l->user, name, NULL);
    info.type = d->type;
    info.dimensions = d->dimensions;
    memcpy(info.shape, d->shape, sizeof info.shape);
    info.columns = d->columns;
    info.swapped = d->swapped;
    info.bytes = d->bytes;
    info.format = set ? WEIR_SET : d->format;
    if (set) {
        info.members = set->members;
        memcpy(info.distribution.grid, set->grid, sizeof set->grid);
        memcpy(info.distribution.block, set->block, sizeof set->block);
    }
    return l->each(l->user, name, &info);
}

/* A dataset or a variable. */
static int tell_inside(void *user, const char *inner, const wr_description *d)
{
    const lister *l = user;
    char name[NAME];
    snprintf(name, sizeof name, "%s:/%s", l->file, inner);
    return tell(l, name, d, NULL);
}

static int tell_netcdf(void *user, const wr_netcdf_head *head, bool *cut)
{
    return wr_netcdf_each(head, tell_inside, user, cut);
}

static int list_file(lister *l, const wr_array_name *name)
{
    char start[WR_NETCDF_START] = "";
    int64_t got = 0, size;
    bool begins = false;
    wr_hdf5 found = {0};
    wr_labels labels = {0};
    int code = 0;
    if (name->kind == WR_NAME_PATH) {
        code = wr_array_file_begins(&wr_folder_here, l->file, &begins);
        if (!code && !begins)
            code = wr_fail(WEIR_EFORMAT, "no array");
        if (!code)
            code = wr_path_head(l->file, sizeof start, start, &got, &size);
        if (!code && wr_netcdf_begins(start, got))
            return wr_netcdf_head_use(l->file, tell_netcdf, l);
        if (!code && memcmp(start, "\x93NUM", 4) != 0)
            return wr_hdf5_list(l->file, tell_inside, l);
    }
    if (!code)
        code = wr_array_name_look(name, l->file, &found, &labels);
    if (!code)
        code = tell(l, l->name, &found.what, NULL);
    wr_hdf5_release(&found);
    wr_labels_release(&labels);
    return code;
}

static int list_folder(const lister *l, const wr_folder *in);

static bool is_described(const wr_folder *in)
{
    wr_folder_entry three, two;
    return !wr_folder_look(in, "zarr.json", true, &three) &&
           !wr_folder_look(in, ".zarray", true, &two) &&
           (three.kind != WR_ENTRY_NONE || two.kind != WR_ENTRY_NONE);
}

/* A group's entry, which is told of if it is an array or a group; a link may lead to a group that
 * it is in. */
static int list_entry(void *user, const wr_folder *in, const char *name)
{
    lister l = *(const lister *)user;
    wr_folder below;
    wr_folder_entry entry;
    l.groups++;
    if (l.groups > DEEPEST || wr_folder_look(in, name, false, &entry) ||
        entry.kind != WR_ENTRY_FOLDER || wr_folder_open(in, name, &below))
        return 0;
    int code = list_folder(&l, &below);
    if (code == WEIR_EUNSUPPORTED || (code == WEIR_EFORMAT && is_described(&below)))
        code = l.each(l.user, below.path, NULL);
    wr_folder_close(&below);
    return code == WEIR_EFORMAT ? 0 : code;
}

static int list_folder(const lister *l, const wr_folder *in)
{
    wr_nest nest;
    int code = wr_nest_read(in, &nest);
    if (!code && nest.kind == WR_NEST_GROUP)
        code = wr_folder_each(in, list_entry, (void *)(uintptr_t)l);
    else if (!code)
        code = nest.kind == WR_NEST_SET ? tell(l, in->path, &nest.set.whole, &nest.set)
                                        : tell(l, in->path, &nest.zarr.what, NULL);
    wr_nest_release(&nest);
    return code;
}

int weir_array_list(const char *path, weir_array_told *each, void *user)
{
    wr_array_name name;
    bool is_folder = false;
    lister l = {.each = each, .user = user, .name = path, .file = name.file};
    int code = wr_array_name_parse(path, &name);
    if (!code)
        code = wr_path_is_folder(name.file, &is_folder);
    if (!code && is_folder) {
        wr_folder in;
        code = wr_folder_open(&wr_folder_here, name.file, &in);
        if (!code)
            code = list_folder(&l, &in);
        wr_folder_close(&in);
    } else if (!code) {
        code = list_file(&l, &name);
    }
    return code < 0 ? wr_blame(code, path) : code;
}
