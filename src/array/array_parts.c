/* What an array consists of where it is stored, told entry by entry. A folder is gone through from
 * its descriptor, past no link. */
#include "array/array_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/array_name.h"
#include "array/array_names.h"
#include "array/array_zarr.h"
#include "base/error.h"
#include "base/memory.h"
#include "storage/paths.h"
#include "storage/stripes.h"

/* --- folders --- */

static bool has_file(const wr_folder *in, const char *name)
{
    wr_folder_entry found;
    return !wr_folder_look(in, name, true, &found) && found.kind == WR_ENTRY_FILE;
}

static bool is_group(const wr_folder *in)
{
    char *text = NULL;
    int64_t length;
    bool is = has_file(in, ".zgroup");
    if (!is && has_file(in, "zarr.json") &&
        !wr_folder_read(in, "zarr.json", WR_ZARR_LONGEST, &text, &length))
        is = wr_zarr_is_group(text, length);
    wr_free(text);
    return is;
}

int wr_nest_read(const wr_folder *in, wr_nest *out)
{
    memset(out, 0, sizeof *out);
    if (has_file(in, WR_SET_FILE)) {
        out->kind = WR_NEST_SET;
        return wr_set_read(in, &out->set);
    }
    if (is_group(in)) {
        out->kind = WR_NEST_GROUP;
        return 0;
    }
    out->kind = WR_NEST_ZARR;
    int code = wr_zarr_load(in, &out->zarr);
    if (code == WEIR_EFORMAT && !has_file(in, "zarr.json") && !has_file(in, ".zarray"))
        code = wr_fail(WEIR_EFORMAT, "a folder that is no array");
    return code;
}

/* Which files it has is known of some whose elements cannot be read. */
static int read_named(const wr_folder *in, wr_nest *out)
{
    const int code = wr_nest_read(in, out);
    return code == WEIR_EUNSUPPORTED && out->zarr.named ? 0 : code;
}

void wr_nest_release(wr_nest *nest)
{
    wr_set_release(&nest->set);
    wr_zarr_release(&nest->zarr);
}

/* --- names --- */

bool wr_has_suffix(const wr_folder *in, const char *name, const char *suffix)
{
    static const char label[] = "weir dra 1\n";
    char path[WR_ENTRY_NAME + WR_SUFFIX], head[sizeof label] = "";
    int64_t got, size;
    wr_folder_entry entry;
    snprintf(path, sizeof path, "%s%s", name, suffix);
    if (wr_folder_look(in, path, false, &entry) || entry.kind == WR_ENTRY_NONE)
        return false;
    return strcmp(suffix, ".dra") != 0 ||
           (entry.kind == WR_ENTRY_FILE &&
            !wr_folder_head(in, path, sizeof label - 1, head, &got, &size) && !strcmp(head, label));
}

/* How many files NAME.info tells of: after the number of dimensions, their sizes, type, layout,
 * and sizes of chunks. 0: it tells of no array. */
static int count_old_files(const wr_folder *in, const char *name)
{
    enum { MOST = 1 << 20, LONGEST = 4096, DIMENSIONS = 7 };
    char path[WR_ENTRY_NAME + WR_SUFFIX], text[LONGEST] = "", *at = text;
    int64_t got, size;
    wr_folder_entry file;
    snprintf(path, sizeof path, "%s.info", name);
    if (wr_folder_look(in, path, false, &file) || file.kind != WR_ENTRY_FILE ||
        wr_folder_head(in, path, LONGEST - 1, text, &got, &size))
        return 0;
    long word = strtol(text, &at, 10);
    const long dimensions = word;
    if (word < 1 || word > DIMENSIONS)
        return 0;
    for (long i = 0; i < 3 + 2 * dimensions; i++) {
        char *end;
        word = strtol(at, &end, 10);
        if (end == at || word < 0)
            return 0;
        at = end;
    }
    return word >= 1 && word <= MOST ? (int)word : 0;
}

bool wr_found_suffix(const wr_found *found, int i, char suffix[WR_SUFFIX])
{
    const int data = found->files;
    if (found->kind != WR_ARRAY_OLD_DRA) {
        snprintf(suffix, WR_SUFFIX, "%s", i ? "" : ".dra");
        return i < 2;
    }
    if (i >= data)
        snprintf(suffix, WR_SUFFIX, ".info");
    else if (data > 1)
        snprintf(suffix, WR_SUFFIX, ".%d", i);
    else
        *suffix = 0;
    return i <= data;
}

/* --- finding --- */

static int refuse(void)
{
    return wr_fail(WEIR_EFORMAT, "no array");
}

static int look_file(const wr_array_name *name, wr_found *f)
{
    const wr_folder *in = &f->site.folder;
    char path[WR_PATH], none;
    int64_t got, size = 0;
    bool begins = false;
    f->kind = WR_ARRAY_FILE;
    f->whole = true;
    if (name->kind == WR_NAME_RAW) {
        int code = wr_folder_head(in, f->site.name, 0, &none, &got, &size);
        f->whole = !name->raw.data_offset && size == wr_description_end(&name->raw);
        return code;
    }
    int code = wr_path_join(in->path, f->site.name, path, sizeof path);
    if (!code && wr_stripes_look(path) == WR_FILE_STRIPED) {
        f->kind = WR_ARRAY_STRIPED;
        return 0;
    }
    if (!code)
        code = wr_array_file_begins(in, f->site.name, &begins);
    if (code || begins)
        return code;
    f->files = count_old_files(in, f->site.name);
    f->kind = f->files ? WR_ARRAY_OLD_DRA : f->kind;
    return f->files ? 0 : refuse();
}

static int look_entry(const wr_array_name *name, wr_found *f)
{
    wr_folder_entry entry;
    int code = wr_folder_look(&f->site.folder, f->site.name, false, &entry);
    if (code)
        return code;
    if (entry.kind == WR_ENTRY_FILE)
        return look_file(name, f);
    if (entry.kind == WR_ENTRY_FOLDER && name->kind == WR_NAME_PATH) {
        f->kind = WR_ARRAY_NEST;
        return 0;
    }
    if (entry.kind == WR_ENTRY_LINK) {
        f->kind = WR_ARRAY_LINK;
        return 0;
    }
    if (entry.kind != WR_ENTRY_NONE)
        return refuse();
    f->kind = WR_ARRAY_OLD_DRA;
    f->files = count_old_files(&f->site.folder, f->site.name);
    return f->files ? 0 : wr_fail_system(ENOENT, "", -1, "look at");
}

int wr_found_look(const char *path, bool follow, wr_found *out)
{
    char whole[WR_PATH];
    wr_array_name name;
    memset(out, 0, sizeof *out);
    out->site.folder.fd = -1;
    int code = wr_array_name_parse(path, &name);
    if (!code && name.kind == WR_NAME_INSIDE)
        code = wr_fail(WEIR_EUNSUPPORTED, "the array is a part of a file, %.150s", name.file);
    if (!code)
        code = wr_site_open(name.file, &out->site);
    if (!code)
        code = look_entry(&name, out);
    if (!code && out->kind == WR_ARRAY_LINK && follow) {
        wr_site_close(&out->site);
        if (!realpath(name.file, whole))
            code = wr_fail_system(errno, name.file, -1, "follow");
        if (!code)
            code = wr_site_open(whole, &out->site);
        if (!code)
            code = look_entry(&name, out);
    }
    return wr_blame(code, name.kind == WR_NAME_INSIDE ? path : name.file);
}

void wr_found_close(wr_found *found)
{
    wr_site_close(&found->site);
}

/* --- telling --- */

enum { DEEPEST = 64 }; /* groups in each other */

typedef struct teller {
    weir_part_told *each;
    void *user;
    const wr_nest *nest;     /* whose folder it is, */
    wr_folder_entry *inside; /* of a set: disks in its folder, by number; others are none */
    int depth;               /* so many folders down, */
    int groups;              /* in so many groups */
} teller;

static int tell(const teller *t, const wr_folder *in, const char *name, int kind, int owner)
{
    char path[WR_PATH];
    int code = wr_path_join(in->path, name, path, sizeof path);
    weir_part part = {.path = path, .folder = in->fd, .name = name, .kind = kind, .owner = owner};
    return code ? code : t->each(t->user, &part);
}

/* A file, if it is there. */
static int tell_file(const teller *t, const wr_folder *in, const char *name, int owner)
{
    wr_folder_entry entry;
    int code = wr_folder_look(in, name, false, &entry);
    if (code || entry.kind == WR_ENTRY_NONE)
        return code;
    return tell(t, in, name, entry.kind == WR_ENTRY_FILE ? WEIR_PART_FILE : WEIR_PART_OTHER,
                entry.kind == WR_ENTRY_FILE ? owner : WEIR_PART_FOREIGN);
}

static int tell_nest(const teller *t, const wr_folder *in, const char *name);
static int tell_entry(void *user, const wr_folder *in, const char *name);

static bool is_disk(const wr_folder_entry *a, const wr_folder_entry *b)
{
    return a->kind == b->kind && a->device == b->device && a->number == b->number;
}

/* Of a set: members where they should be, and disks. */
static bool is_of_set(const teller *t, const wr_folder *in, const char *name,
                      const wr_folder_entry *entry)
{
    const wr_set *set = &t->nest->set;
    wr_folder_entry here;
    const int m = wr_set_member_of(set, name);
    if (m >= 0 && entry->kind == WR_ENTRY_FILE)
        return !wr_folder_look(in, ".", false, &here) && is_disk(&here, &t->inside[set->map[m]]);
    for (int i = 0; entry->kind == WR_ENTRY_FOLDER && i < set->disks; i++)
        if (is_disk(entry, &t->inside[i]))
            return true;
    return false;
}

static bool is_own(const teller *t, const wr_folder *in, const char *name,
                   const wr_folder_entry *entry)
{
    switch (t->nest->kind) {
    case WR_NEST_SET:
        return is_of_set(t, in, name, entry);
    case WR_NEST_ZARR:
        return wr_zarr_is_own(&t->nest->zarr, name, t->depth);
    default:
        return false;
    }
}

/* What says that the folder is an array, in the order in which it goes. */
static const char *const descriptions[] = {".zmetadata", ".zattrs",   ".zarray.partial",
                                           ".zarray",    ".zgroup",   "zarr.json.partial",
                                           "zarr.json",  WR_SET_FILE, NULL};

static bool is_description(const teller *t, const char *name)
{
    for (int i = 0; !t->depth && descriptions[i]; i++)
        if (!strcmp(name, descriptions[i]))
            return (t->nest->kind == WR_NEST_SET) == !strcmp(name, WR_SET_FILE);
    return false;
}

static int tell_below(const teller *t, const wr_folder *in, const char *name)
{
    wr_folder below;
    teller deeper = *t;
    deeper.depth++;
    int code = tell(t, in, name, WEIR_PART_FOLDER, WEIR_PART_OWN);
    if (code)
        return code;
    code = wr_folder_open_inside(in, name, &below);
    if (!code)
        code = wr_folder_each(&below, tell_entry, &deeper);
    wr_folder_close(&below);
    return code ? code : tell(t, in, name, WEIR_PART_END, WEIR_PART_OWN);
}

static int tell_entry(void *user, const wr_folder *in, const char *name)
{
    const teller *t = user;
    wr_folder_entry entry;
    if (wr_name_is_leaving(name) || is_description(t, name))
        return 0;
    int code = wr_folder_look(in, name, false, &entry);
    if (code || entry.kind == WR_ENTRY_NONE) /* meanwhile */
        return code;
    const bool own = is_own(t, in, name, &entry);
    if (entry.kind == WR_ENTRY_FILE)
        return tell(t, in, name, WEIR_PART_FILE, own ? WEIR_PART_OWN : WEIR_PART_FOREIGN);
    if (entry.kind != WR_ENTRY_FOLDER)
        return tell(t, in, name, WEIR_PART_OTHER, WEIR_PART_FOREIGN);
    if (own)
        return tell_below(t, in, name);
    if (t->nest->kind == WR_NEST_GROUP && t->groups < DEEPEST) {
        code = tell_nest(t, in, name);
        if (code != WEIR_EFORMAT)
            return code;
    }
    return tell(t, in, name, WEIR_PART_FOLDER, WEIR_PART_FOREIGN);
}

/* Members on disks outside the set's folder. */
static int tell_outside(const teller *t, const wr_folder *in)
{
    const wr_set *set = &t->nest->set;
    const int owner = wr_set_is_owner(in, set) ? WEIR_PART_ELSEWHERE : WEIR_PART_CLAIMED;
    char name[WR_MEMBER_NAME];
    int code = 0;
    for (int i = 0; i < set->disks && !code; i++) {
        wr_folder disk;
        if (wr_disk_is_below(set->disk[i]))
            continue;
        if (wr_folder_open(in, set->disk[i], &disk)) {
            code = tell(t, in, set->disk[i], WEIR_PART_AWAY, WEIR_PART_FOREIGN);
            continue;
        }
        for (int m = 0; m < set->members && !code; m++)
            if (set->map[m] == i) {
                wr_member_name(set, m, name);
                code = tell_file(t, &disk, name, owner);
            }
        wr_folder_close(&disk);
    }
    return code;
}

static int find_inside(const wr_folder *in, const wr_set *set, wr_folder_entry **out)
{
    wr_folder disk;
    wr_folder_entry *inside = wr_alloc_array(set->disks, sizeof *inside);
    *out = inside;
    if (!inside)
        return WEIR_ENOMEM;
    memset(inside, 0, (size_t)set->disks * sizeof *inside);
    for (int i = 0; i < set->disks; i++)
        if (wr_disk_is_below(set->disk[i]) && !wr_folder_open_inside(in, set->disk[i], &disk)) {
            wr_folder_look(&disk, ".", false, &inside[i]);
            wr_folder_close(&disk);
        }
    return 0;
}

/* What is in the open folder of an array. */
static int tell_inside(const teller *t, const wr_folder *in)
{
    teller own = *t;
    wr_nest nest;
    int code = read_named(in, &nest);
    own.nest = &nest;
    own.depth = 0;
    own.inside = NULL;
    own.groups += nest.kind == WR_NEST_GROUP;
    if (!code && nest.kind == WR_NEST_SET) {
        code = find_inside(in, &nest.set, &own.inside);
        if (!code)
            code = tell_outside(&own, in);
    }
    if (!code)
        code = wr_folder_each(in, tell_entry, &own);
    for (int i = 0; !code && descriptions[i]; i++)
        if (is_description(&own, descriptions[i]))
            code = tell_file(&own, in, descriptions[i], WEIR_PART_OWN);
    wr_free(own.inside);
    wr_nest_release(&nest);
    return code;
}

int wr_nest_tell(const wr_folder *in, weir_part_told *each, void *user)
{
    return tell_inside(&(teller){.each = each, .user = user}, in);
}

/* An array's folder that is open is told of before it is gone through. */
static int tell_nest(const teller *t, const wr_folder *in, const char *name)
{
    wr_folder below;
    wr_nest nest;
    char path[WR_PATH];
    int code = wr_folder_open_inside(in, name, &below);
    if (!code) {
        code = read_named(&below, &nest);
        wr_nest_release(&nest);
    }
    if (code) {
        wr_folder_close(&below);
        return wr_path_join(in->path, name, path, sizeof path) ? code : wr_blame(code, path);
    }
    code = tell(t, in, name, WEIR_PART_FOLDER, WEIR_PART_OWN);
    if (!code)
        code = tell_inside(t, &below);
    wr_folder_close(&below);
    return code ? code : tell(t, in, name, WEIR_PART_END, WEIR_PART_OWN);
}

/* A part, from the folder that it is in. */
static int tell_part(const teller *t, const char *part, int owner)
{
    wr_folder disk;
    char folder[WR_PATH];
    int code = wr_path_folder(part, folder, sizeof folder);
    if (code)
        return code;
    if (wr_folder_open(&wr_folder_here, folder, &disk))
        return tell(t, &wr_folder_here, folder, WEIR_PART_AWAY, WEIR_PART_FOREIGN);
    code = tell_file(t, &disk, strrchr(part, '/') + 1, owner);
    wr_folder_close(&disk);
    return code;
}

static int tell_stripes(const teller *t, const wr_site *s)
{
    char path[WR_PATH];
    wr_stripes x = {0};
    int code = wr_path_join(s->folder.path, s->name, path, sizeof path);
    if (!code)
        code = wr_stripes_read(path, &x);
    const int owner = !x.self                                        ? WEIR_PART_UNPROVEN
                      : wr_stripes_is_owner(&s->folder, s->name, &x) ? WEIR_PART_OWN
                                                                     : WEIR_PART_CLAIMED;
    for (int64_t i = 0; i < x.count && !code; i++)
        code = tell_part(t, x.part[i], owner);
    wr_stripes_release(&x);
    return code ? code : tell_file(t, &s->folder, s->name, WEIR_PART_OWN);
}

static int tell_beside(const teller *t, const wr_found *f)
{
    char name[WR_ENTRY_NAME + WR_SUFFIX], suffix[WR_SUFFIX];
    int code = 0;
    for (int i = 0; !code && wr_found_suffix(f, i, suffix); i++) {
        if ((!*suffix && f->kind != WR_ARRAY_OLD_DRA) ||
            !wr_has_suffix(&f->site.folder, f->site.name, suffix))
            continue;
        snprintf(name, sizeof name, "%s%s", f->site.name, suffix);
        code = tell_file(t, &f->site.folder, name, WEIR_PART_OWN);
    }
    return code;
}

int weir_array_parts(const char *path, weir_part_told *each, void *user)
{
    wr_found f;
    const teller t = {.each = each, .user = user};
    int code = wr_found_look(path, true, &f);
    if (!code && f.kind == WR_ARRAY_NEST) { /* what is no array is not told of */
        wr_folder below;
        wr_nest nest = {0};
        code = wr_folder_open_inside(&f.site.folder, f.site.name, &below);
        if (!code)
            code = read_named(&below, &nest);
        wr_nest_release(&nest);
        wr_folder_close(&below);
        code = wr_blame(code, path);
    }
    if (!code)
        code = tell_beside(&t, &f);
    if (!code && f.kind == WR_ARRAY_NEST)
        code = tell_nest(&t, &f.site.folder, f.site.name);
    else if (!code && f.kind == WR_ARRAY_STRIPED)
        code = tell_stripes(&t, &f.site);
    else if (!code && f.kind == WR_ARRAY_FILE)
        code =
            tell_file(&t, &f.site.folder, f.site.name, f.whole ? WEIR_PART_OWN : WEIR_PART_FOREIGN);
    wr_found_close(&f);
    return code;
}
