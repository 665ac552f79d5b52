/* Arrays copied and moved as files. What is made has an invented name until it is whole; where an
 * array is only renamed, it always has one of the two names. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array/array_name.h"
#include "array/array_names.h"
#include "array/array_parts.h"
#include "array/set_spread.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/tunables.h"
#include "storage/file_copy.h"
#include "storage/paths.h"
#include "storage/stripes.h"

typedef struct transfer {
    const weir_parts_options *options;
    wr_found from;
    wr_site to;
    wr_tunables tunables;
    wr_named_disks named; /* disks of an array that is replaced, */
    wr_copying copying;
    char tag[WR_TAG]; /* in names of files beside it until they get theirs */
    int placed;       /* so many files beside the new array's have their names */
} transfer;

/* --- what both need --- */

static int join(const wr_folder *in, const char *name, char out[WR_PATH])
{
    return wr_path_join(in->path, name, out, WR_PATH);
}

static int check_options(const weir_parts_options *o)
{
    int code = wr_check_reserved(o->reserved, "weir_parts_options");
    if (!code && (o->disks < 0 || (o->disks && !o->disk)))
        code = wr_fail(WEIR_EINVAL, "%d disks without names", o->disks);
    return code;
}

/* The folder of a new array may be that of the old one, but not in it. */
static int check_apart(const transfer *t)
{
    wr_folder_entry old, at;
    wr_folder in = t->to.folder, above;
    int code = wr_folder_look(&t->from.site.folder, t->from.site.name, false, &old);
    in.fd = dup(t->to.folder.fd);
    for (wr_folder_entry last = {0}; !code && in.fd >= 0;) {
        code = wr_folder_look(&in, ".", false, &at);
        if (code || (at.device == last.device && at.number == last.number))
            break; /* the root is in itself */
        if (at.device == old.device && at.number == old.number)
            code = wr_fail(WEIR_EINVAL, "an array cannot be put into itself");
        last = at;
        if (code || wr_folder_open(&in, "..", &above))
            break;
        wr_folder_close(&in);
        in = above;
        *in.path = 0;
    }
    wr_folder_close(&in);
    return code;
}

static int sync_folder(const transfer *t, const wr_folder *folder)
{
    return t->copying.durable ? wr_folder_sync(folder) : 0;
}

/* --- files beside the array's own name --- */

/* The label NAME.dra, or all files of an old disk resident array. */
typedef struct beside {
    char old[WR_ENTRY_NAME + WR_SUFFIX], new[WR_ENTRY_NAME + WR_SUFFIX];
    char made[WR_ENTRY_NAME + WR_SUFFIX]; /* what the new one is called until all are there */
    bool there;                           /* the old one */
} beside;

static bool has(const wr_site *s, const char *suffix)
{
    return wr_has_suffix(&s->folder, s->name, suffix);
}

/* Of the i-th of them; false after the last. */
static bool name_beside(const transfer *t, int i, beside *b)
{
    enum { STEM = 200 };
    char suffix[WR_SUFFIX];
    const wr_site *from = &t->from.site;
    if (!wr_found_suffix(&t->from, i, suffix) || (!*suffix && t->from.kind != WR_ARRAY_OLD_DRA))
        return false;
    b->there = has(from, suffix);
    snprintf(b->old, sizeof b->old, "%s%s", from->name, suffix);
    snprintf(b->new, sizeof b->new, "%s%s", t->to.name, suffix);
    snprintf(b->made, sizeof b->made, "%.*s%s.partial-%s", STEM, t->to.name, suffix, t->tag);
    return true;
}

/* What is beside an array is not replaced unless the array is; what is several files never is, for
 * that cannot be at once. */
static int check_free(const transfer *t)
{
    char path[WR_PATH];
    beside b;
    wr_folder_entry entry;
    if (t->options->overwrite && !join(&t->to.folder, t->to.name, path) &&
        wr_stripes_look(path) == WR_FILE_STRIPED)
        return wr_blame(wr_fail(WEIR_EEXIST, "a striped file is not replaced: remove it first"),
                        t->to.name);
    for (int i = 0; name_beside(t, i, &b); i++) {
        if (t->from.kind != WR_ARRAY_OLD_DRA &&
            (!b.there || (t->options->overwrite && has(&t->to, ".dra"))))
            continue;
        int code = wr_folder_look(&t->to.folder, b.new, false, &entry);
        if (code || entry.kind != WR_ENTRY_NONE)
            return code ? code : wr_fail_system(EEXIST, b.new, -1, "create");
    }
    return 0;
}

/* Removes what was made of them; keeps the error. */
static int drop_beside(const transfer *t, int code)
{
    const weir_error error = *weir_error_last();
    beside b;
    for (int i = 0; name_beside(t, i, &b); i++)
        if (b.there)
            wr_folder_remove(&t->to.folder, i < t->placed ? b.new : b.made);
    wr_error_raise(&error);
    return code;
}

static int copy_beside(transfer *t)
{
    beside b;
    int code = 0;
    for (int i = 0; !code && name_beside(t, i, &b); i++)
        if (b.there)
            code = wr_file_copy(&(wr_copied){&t->from.site.folder, &t->to.folder, b.old, b.made},
                                &t->copying);
    return code ? drop_beside(t, code) : 0;
}

/* A label of an array that was replaced goes. */
static int drop_label(const transfer *t)
{
    beside b;
    if (t->from.kind == WR_ARRAY_OLD_DRA || !t->options->overwrite || !has(&t->to, ".dra"))
        return 0;
    return name_beside(t, 0, &b) ? wr_folder_remove(&t->to.folder, b.new) : 0;
}

/* They have been copied, and get their names. */
static int place_beside(transfer *t)
{
    beside b;
    int code = drop_label(t);
    for (int i = 0; !code && name_beside(t, i, &b); i++) {
        if (b.there)
            code = wr_folder_rename(&t->to.folder, b.made, b.new, false);
        t->placed += !code;
    }
    return code;
}

/* 0 or an errno. Where the file system cannot look and rename at once, it is looked before. */
static int rename_new(const wr_folder *in, const char *old, const wr_folder *out, const char *new)
{
    wr_folder_entry there;
    if (!renameat2(in->fd, old, out->fd, new, RENAME_NOREPLACE))
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
    if (wr_folder_look(out, new, false, &there) || there.kind != WR_ENTRY_NONE)
        return EEXIST;
    return renameat(in->fd, old, out->fd, new) ? errno : 0;
}

/* An error of a rename: WEIR_EUNSUPPORTED if copying may do what it cannot. */
static int fail_rename(int error, const char *name)
{
    return error == EXDEV || error == EINVAL || error == ENOSYS
               ? WEIR_EUNSUPPORTED
               : wr_fail_system(error, name, -1, "rename");
}

/* All or none. */
static int rename_beside(transfer *t)
{
    const wr_folder *from = &t->from.site.folder, *to = &t->to.folder;
    beside b;
    int i = 0, error = 0;
    int code = drop_label(t);
    for (; !code && name_beside(t, i, &b); i++)
        if (b.there && (error = rename_new(from, b.old, to, b.new)))
            code = fail_rename(error, b.old);
    while (error && --i >= 0 && name_beside(t, i, &b))
        if (!b.there)
            rename_new(to, b.new, from, b.old);
    return code;
}

static int remove_beside(const transfer *t)
{
    beside b;
    int code = 0;
    for (int i = 0; !code && name_beside(t, i, &b); i++)
        if (b.there)
            code = wr_folder_remove(&t->from.site.folder, b.old);
    return code;
}

static int copy_all_beside(transfer *t)
{
    int code = wr_site_invent(&t->to);
    memcpy(t->tag, t->to.tag, sizeof t->tag);
    if (!code)
        code = copy_beside(t);
    if (code)
        return code;
    code = place_beside(t);
    return code ? drop_beside(t, code) : sync_folder(t, &t->to.folder);
}

/* Where names are not enough, all files are copied before the first one goes: with some on either
 * side there would be no array. */
static int move_beside(transfer *t)
{
    int code = rename_beside(t);
    if (code != WEIR_EUNSUPPORTED)
        return code;
    t->copying.durable = true;
    code = copy_all_beside(t);
    return code ? code : remove_beside(t);
}

/* --- beginning and end --- */

static int begin(const char *from, const char *to, const weir_parts_options *o, bool follow,
                 transfer *t)
{
    static const weir_parts_options none = {0};
    wr_array_name name;
    memset(t, 0, sizeof *t);
    t->options = o ? o : &none;
    t->from.site.folder.fd = t->to.folder.fd = -1;
    t->copying = (wr_copying){.progress = t->options->progress, .user = t->options->user};
    wr_tunables_init(&t->tunables);
    int code = check_options(t->options);
    if (!code)
        code = wr_tunables_set_environment(&t->tunables);
    t->copying.durable = t->tunables.durable.which;
    if (!code)
        code = wr_found_look(from, follow, &t->from);
    if (!code)
        code = wr_array_name_parse(to, &name);
    if (!code && name.kind == WR_NAME_INSIDE)
        code = wr_fail(WEIR_EUNSUPPORTED, "a part of a file is made by copying elements");
    if (!code)
        code = wr_site_open(name.file, &t->to);
    if (!code && t->from.kind == WR_ARRAY_NEST)
        code = check_apart(t);
    if (!code)
        code = check_free(t);
    t->named = (wr_named_disks){.list = t->tunables.disks};
    return code;
}

static void end(transfer *t)
{
    wr_found_close(&t->from);
    wr_site_close(&t->to);
}

/* --- folders --- */

/* As it is, with all that is in it. */
static int copy_tree(transfer *t, const wr_folder *old)
{
    wr_folder made = {.fd = -1};
    int code = t->copying.progress ? wr_tree_measure(old, &t->copying.all) : 0;
    if (code)
        return code;
    if (mkdirat(t->to.folder.fd, t->to.made, 0700))
        return wr_fail_system(errno, t->to.made, -1, "make folder");
    code = wr_folder_open_inside(&t->to.folder, t->to.made, &made);
    if (!code)
        code = wr_tree_copy(old, &made, &t->copying);
    wr_folder_close(&made);
    if (code)
        wr_tree_remove(&t->to.folder, t->to.made);
    return code;
}

static bool is_spread(const wr_set *set)
{
    for (int i = 0; i < set->disks; i++)
        if (!wr_disk_is_below(set->disk[i]))
            return true;
    return false;
}

/* `spread` is set to the set if it has members outside its folder: to be released. */
static int read_nest(const transfer *t, wr_folder *old, wr_set *spread)
{
    wr_nest nest = {0};
    int code = wr_folder_open_inside(&t->from.site.folder, t->from.site.name, old);
    if (!code)
        code = wr_nest_read(old, &nest);
    if (code == WEIR_EUNSUPPORTED && nest.kind == WR_NEST_ZARR)
        code = 0; /* its elements are not looked at */
    *spread = (wr_set){0};
    if (!code && nest.kind == WR_NEST_SET && is_spread(&nest.set)) {
        *spread = nest.set;
        nest.set = (wr_set){0};
    }
    wr_nest_release(&nest);
    return wr_blame(code, t->from.site.name);
}

/* Under its invented name. */
static int copy_nest(transfer *t, bool moving)
{
    wr_folder old = {.fd = -1};
    wr_set set;
    int code = read_nest(t, &old, &set);
    wr_spread s = {.from = &old, .set = &set, .to = &t->to, .copying = &t->copying};
    s.disks = t->options->disks;
    s.disk = t->options->disk;
    s.moving = moving;
    if (!code)
        code = set.members ? wr_set_spread(&s) : copy_tree(t, &old);
    wr_set_release(&set);
    wr_folder_close(&old);
    return code;
}

/* --- striped files --- */

static int sync_part(const char *part)
{
    wr_folder disk = {.fd = -1};
    char folder[WR_PATH];
    int code = wr_path_folder(part, folder, sizeof folder);
    if (!code)
        code = wr_folder_open(&wr_folder_here, folder, &disk);
    if (!code)
        code = wr_folder_sync(&disk);
    wr_folder_close(&disk);
    return code;
}

static int copy_part(void *user, const char *old, const char *part)
{
    const wr_folder *here = &wr_folder_here;
    wr_copying *c = user;
    wr_folder_entry entry;
    int code = wr_folder_look(here, old, true, &entry);
    if (code)
        return code;
    if (entry.kind == WR_ENTRY_NONE) /* what a part lacks reads as zeros */
        code = wr_path_fill(part, "", 0, 0);
    else
        code = wr_file_copy(&(wr_copied){here, here, old, part}, c);
    if (!code && c->durable && (code = sync_part(part))) {
        const weir_error error = *weir_error_last();
        unlink(part);
        wr_error_raise(&error);
    }
    return code;
}

/* Disks as the tunable has them, from where the process is. */
static int list_disks(const transfer *t, char out[WR_TUNABLE_TEXT])
{
    const weir_parts_options *o = t->options;
    char disk[WR_PATH];
    size_t used = 0;
    *out = 0;
    for (int i = 0; i < o->disks; i++) {
        int code = join(&t->to.folder, o->disk[i], disk);
        if (code)
            return code;
        if (used + strlen(disk) + 2 >= WR_TUNABLE_TEXT || strchr(disk, ':'))
            return wr_fail(WEIR_EINVAL, "disks: names that are too long, or have a colon");
        used += (size_t)snprintf(out + used, WR_TUNABLE_TEXT - used, "%s%s", i ? ":" : "", disk);
    }
    return 0;
}

/* Removes the description, and the parts if they are its own. */
static int remove_striped(const wr_folder *in, const char *name)
{
    char path[WR_PATH];
    int code = join(in, name, path);
    return code ? code : wr_stripes_remove(path);
}

/* Under its invented name, with parts of its own. */
static int copy_striped(transfer *t)
{
    const wr_copied what = {&t->from.site.folder, &t->to.folder, t->from.site.name, t->to.made};
    char from[WR_PATH], to[WR_PATH], made[WR_PATH], disks[WR_TUNABLE_TEXT];
    struct stat s;
    wr_stripes old = {0};
    int code = list_disks(t, disks);
    if (!code)
        code = join(&t->from.site.folder, t->from.site.name, from);
    if (!code)
        code = join(&t->to.folder, t->to.name, to);
    if (!code)
        code = join(&t->to.folder, t->to.made, made);
    if (!code)
        code = wr_stripes_read(from, &old);
    for (int64_t i = 0; i < old.count; i++)
        t->copying.all += stat(old.part[i], &s) ? 0 : (int64_t)s.st_size;
    if (!code)
        code = wr_stripes_copy(&old, to, made, *disks ? disks : NULL, copy_part, &t->copying);
    wr_stripes_release(&old);
    if (code)
        return code;
    code = wr_file_mimic(&what, t->copying.durable);
    if (code) {
        const weir_error error = *weir_error_last();
        remove_striped(&t->to.folder, t->to.made);
        wr_error_raise(&error);
    }
    return code;
}

static bool owns_parts(const wr_site *s)
{
    char path[WR_PATH];
    wr_stripes x;
    if (join(&s->folder, s->name, path) || wr_stripes_read(path, &x))
        return false;
    const bool owns = wr_stripes_is_owner(&s->folder, s->name, &x);
    wr_stripes_release(&x);
    return owns;
}

/* Only the description has moved, to where it is another file. */
static int adopt_parts(const wr_site *s)
{
    char path[WR_PATH];
    int code = join(&s->folder, s->name, path);
    return code ? code : wr_stripes_adopt(path);
}

/* --- copying --- */

static int copy_file(transfer *t)
{
    const wr_copied what = {&t->from.site.folder, &t->to.folder, t->from.site.name, t->to.made};
    struct stat s;
    if (!fstatat(what.from->fd, what.name, &s, 0))
        t->copying.all = s.st_size;
    return wr_file_copy(&what, &t->copying);
}

/* What was made, of which members outside a new set's folder are proven by their names. If the new
 * array has its name, what is left is the replaced one's. */
static void discard(transfer *t)
{
    const weir_error error = *weir_error_last();
    wr_folder made;
    wr_set set;
    if (t->to.named)
        return;
    if (!wr_folder_open_inside(&t->to.folder, t->to.made, &made) && !wr_set_read(&made, &set)) {
        wr_set_erase_new(&t->to.folder, t->to.made, &set);
        wr_set_release(&set);
    }
    wr_folder_close(&made);
    if (t->from.kind == WR_ARRAY_STRIPED)
        remove_striped(&t->to.folder, t->to.made);
    else
        wr_tree_remove(&t->to.folder, t->to.made);
    wr_error_raise(&error);
}

/* A label comes first, so that nothing has the array's name if it cannot; but until the array is
 * replaced its label must stay. */
static int publish(transfer *t)
{
    const bool replaces = t->options->overwrite;
    int code = replaces ? 0 : place_beside(t);
    if (!code)
        code = wr_site_publish(&t->to, t->copying.durable, &t->named);
    if (code) {
        discard(t);
        return code;
    }
    code = replaces ? place_beside(t) : 0;
    return code || !replaces ? code : sync_folder(t, &t->to.folder);
}

/* A striped file that moves keeps its parts, unless they are to be elsewhere. */
static bool has_new_parts(const transfer *t, bool moving)
{
    return t->from.kind == WR_ARRAY_STRIPED && (!moving || t->options->disks);
}

/* To invented names, then to its own. */
static int copy_and_publish(transfer *t, bool moving)
{
    int code = wr_site_prepare(&t->to, t->options->overwrite, &t->named);
    memcpy(t->tag, t->to.tag, sizeof t->tag);
    if (!code)
        code = copy_beside(t);
    if (code)
        return code;
    code = t->from.kind == WR_ARRAY_NEST ? copy_nest(t, moving)
           : has_new_parts(t, moving)    ? copy_striped(t)
                                         : copy_file(t);
    if (!code)
        code = publish(t);
    return code && !(t->to.named && t->placed) ? drop_beside(t, code) : code;
}

int weir_parts_copy(const char *from, const char *to, const weir_parts_options *options)
{
    transfer t;
    int code = begin(from, to, options, true, &t);
    if (!code && t.from.kind == WR_ARRAY_OLD_DRA)
        code = copy_all_beside(&t);
    else if (!code)
        code = copy_and_publish(&t, false);
    end(&t);
    return code < 0 ? wr_blame(code, from) : code;
}

/* --- moving --- */

/* Of what was removed nothing may be left. */
static int check_gone(const wr_folder *in, const char *name)
{
    wr_folder_entry left;
    int code = wr_folder_look(in, name, false, &left);
    if (!code && left.kind != WR_ENTRY_NONE)
        code = wr_folder_remove(in, name); /* tells why it cannot be */
    return code;
}

static bool is_same(const wr_folder_entry *a, const wr_folder_entry *b)
{
    return a->kind != WR_ENTRY_NONE && a->device == b->device && a->number == b->number;
}

/* What is to be moved, and what has the new name already, if that may be replaced: not the array
 * itself, nor, by a link that is moved, what that leads to. */
static int look_at_both(const transfer *t, wr_folder_entry *own, wr_folder_entry *found)
{
    const wr_site *from = &t->from.site, *to = &t->to;
    wr_folder_entry behind = {0}, there = {0};
    int code = wr_folder_look(&to->folder, to->name, false, found);
    if (!code)
        code = wr_folder_look(&from->folder, from->name, false, own);
    if (code || found->kind == WR_ENTRY_NONE)
        return code;
    if (!t->options->overwrite)
        return wr_blame(wr_fail(WEIR_EEXIST, WR_SITE_TAKEN), to->name);
    if (own->kind == WR_ENTRY_LINK && !wr_folder_look(&to->folder, to->name, true, &there))
        wr_folder_look(&from->folder, from->name, true, &behind);
    if (is_same(own, found) || is_same(&behind, &there))
        return wr_fail(WEIR_EINVAL, "both names are the same array's");
    return wr_array_check_owned(&to->folder, to->name, &t->named, found);
}

/* Two arrays, of which one is a folder, change their names; what is replaced goes from its own
 * folder, where its description leads to its members. 0, an errno or a negative code. */
static int exchange(transfer *t)
{
    const wr_folder *in = &t->from.site.folder, *out = &t->to.folder;
    const char *old = t->from.site.name, *new = t->to.name;
    wr_folder_entry found;
    const char *away = t->to.made;
    int code = wr_site_invent(&t->to);
    if (code)
        return code;
    if (renameat2(in->fd, old, out->fd, new, RENAME_EXCHANGE))
        return errno;
    const int error = rename_new(in, old, out, away);
    if (!error) /* somebody may have put another there since */
        code = wr_array_check_owned(out, away, &t->named, &found);
    if (code)
        rename_new(out, away, in, old);
    if (code || error) {
        renameat2(in->fd, old, out->fd, new, RENAME_EXCHANGE);
        return code ? code : error;
    }
    wr_array_erase(out, away, &t->named);
    return check_gone(out, away);
}

/* At once, if that can be: WEIR_EUNSUPPORTED if not. */
static int rename_only(transfer *t)
{
    const wr_folder *in = &t->from.site.folder, *out = &t->to.folder;
    const char *old = t->from.site.name, *new = t->to.name;
    wr_folder_entry found = {0}, own = {0};
    int error = look_at_both(t, &own, &found);
    if (error)
        return error;
    if (found.kind == WR_ENTRY_NONE)
        error = rename_new(in, old, out, new);
    else if (own.kind == WR_ENTRY_FOLDER || found.kind == WR_ENTRY_FOLDER)
        error = exchange(t);
    else if (renameat2(in->fd, old, out->fd, new, 0))
        error = errno;
    return error > 0 ? fail_rename(error, old) : error;
}

/* Whether the description of a set would lead elsewhere from another folder. */
static bool is_bound(const transfer *t, const wr_set *set)
{
    wr_folder_entry a, b;
    if (!wr_folder_look(&t->from.site.folder, ".", false, &a) &&
        !wr_folder_look(&t->to.folder, ".", false, &b) && a.device == b.device &&
        a.number == b.number)
        return false;
    for (int i = 0; i < set->disks; i++)
        if (!wr_disk_is_below(set->disk[i]) && *set->disk[i] != '/')
            return true;
    return false;
}

/* The old one, of which all was copied. */
static int remove_old(transfer *t, const wr_set *spread)
{
    const wr_site *s = &t->from.site;
    int code = remove_beside(t);
    if (code)
        return code;
    if (t->from.kind == WR_ARRAY_NEST && spread->members)
        wr_set_erase_new(&s->folder, s->name, spread);
    else if (has_new_parts(t, true))
        return remove_striped(&s->folder, s->name);
    else
        wr_tree_remove(&s->folder, s->name);
    return check_gone(&s->folder, s->name);
}

/* A link whose array is elsewhere is moved as a link. */
static int move_link(transfer *t)
{
    char target[WR_PATH];
    ssize_t length =
        readlinkat(t->from.site.folder.fd, t->from.site.name, target, sizeof target - 1);
    if (length < 0)
        return wr_fail_system(errno, t->from.site.name, -1, "read the link");
    target[length] = 0;
    int code = wr_site_prepare(&t->to, t->options->overwrite, &t->named);
    if (!code && symlinkat(target, t->to.folder.fd, t->to.made))
        return wr_fail_system(errno, t->to.name, -1, "create");
    if (!code && (code = wr_site_publish(&t->to, true, &t->named)) && !t->to.named)
        wr_tree_remove(&t->to.folder, t->to.made);
    if (!code)
        code = wr_folder_remove(&t->from.site.folder, t->from.site.name);
    return code ? code : move_beside(t);
}

static int move_far(transfer *t, const wr_set *spread)
{
    wr_folder_entry own, found;
    int code = look_at_both(t, &own, &found);
    t->copying.durable = true; /* the old one goes */
    if (!code && t->from.kind == WR_ARRAY_LINK)
        return move_link(t);
    if (!code && spread->members) { /* what is not the array's would stay */
        const wr_named_disks all = {.count = spread->disks, .disk = spread->disk};
        code = wr_array_check_owned(&t->from.site.folder, t->from.site.name, &all, &found);
    }
    const bool adopts =
        t->from.kind == WR_ARRAY_STRIPED && !has_new_parts(t, true) && owns_parts(&t->from.site);
    if (!code)
        code = copy_and_publish(t, true);
    if (!code)
        code = remove_old(t, spread);
    return code || !adopts ? code : adopt_parts(&t->to);
}

int weir_parts_move(const char *from, const char *to, const weir_parts_options *options)
{
    transfer t;
    wr_folder old = {.fd = -1};
    wr_set spread = {0};
    int code = begin(from, to, options, false, &t);
    if (!code && t.from.kind == WR_ARRAY_NEST)
        code = read_nest(&t, &old, &spread);
    wr_folder_close(&old);
    if (!code && t.from.kind == WR_ARRAY_OLD_DRA) {
        code = move_beside(&t);
    } else if (!code) {
        const bool far = (spread.members && (t.options->disks || is_bound(&t, &spread))) ||
                         has_new_parts(&t, true);
        code = far ? WEIR_EUNSUPPORTED : rename_only(&t);
        if (!code)
            code = move_beside(&t);
        else if (code == WEIR_EUNSUPPORTED)
            code = move_far(&t, &spread);
    }
    if (!code)
        code = sync_folder(&t, &t.to.folder);
    if (!code)
        code = sync_folder(&t, &t.from.site.folder);
    wr_set_release(&spread);
    end(&t);
    return code < 0 ? wr_blame(code, from) : code;
}
