/* What is removed when an array is replaced or deleted. Everything is looked at before anything is
 * removed: what is not provably the array's own makes the call fail, and stays. */
#include "array/array_owned.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array/array_name.h"
#include "array/array_names.h"
#include "array/array_zarr.h"
#include "base/arith.h"
#include "base/error.h"
#include "base/memory.h"
#include "storage/paths.h"

/* --- the members' name --- */

enum { STEM = 80, IDENTITY = 16 };

static bool is_alone(const wr_set *set)
{
    return set->disks == 1 && !strcmp(set->disk[0], ".");
}

int wr_set_own(const wr_folder *in, wr_set *set, const char *stem, const char *tag)
{
    uint64_t identity;
    wr_content empty = {.exclusive = true};
    int code = wr_folder_put(in, WR_SET_FILE, &empty);
    if (code || is_alone(set))
        return code;
    code = wr_folder_identify(in, WR_SET_FILE, &identity);
    if (!code)
        snprintf(set->name, sizeof set->name, "%.*s-%s-%0*llx", STEM, stem, tag, IDENTITY,
                 (unsigned long long)identity);
    return code;
}

/* Whether members say that they are of the set with the description in this very folder. */
static bool is_owner(const wr_folder *in, const wr_set *set)
{
    char own[IDENTITY + 2];
    uint64_t identity;
    wr_folder_entry file;
    if (wr_folder_look(in, WR_SET_FILE, false, &file) || file.kind != WR_ENTRY_FILE ||
        file.links != 1 || wr_folder_identify(in, WR_SET_FILE, &identity))
        return false;
    snprintf(own, sizeof own, "-%0*llx", IDENTITY, (unsigned long long)identity);
    const size_t length = strlen(set->name), end = strlen(own);
    return length > end && !strcmp(set->name + length - end, own);
}

/* --- disks --- */

enum disk_kind {
    INSIDE, /* of the set's folder */
    NAMED,  /* by the caller, and the set's members there are its own */
    HIDDEN, /* by nobody, but they are */
    FOREIGN /* or not there */
};

/* By its words: neither absolute nor upwards. */
static bool is_below(const char *path)
{
    if (*path == '/')
        return false;
    for (const char *at = path; at; at = strchr(at, '/')) {
        at += *at == '/';
        if (at[0] == '.' && at[1] == '.' && (!at[2] || at[2] == '/'))
            return false;
    }
    return true;
}

static bool is_same(const wr_folder *in, const char *path, const wr_folder_entry *disk)
{
    wr_folder_entry other;
    return !wr_folder_look(in, path, true, &other) && other.kind == WR_ENTRY_FOLDER &&
           other.device == disk->device && other.number == disk->number;
}

static bool is_named(const wr_folder *in, const wr_named_disks *named, const wr_folder_entry *disk)
{
    char path[WR_PATH];
    for (int i = 0; i < named->count; i++)
        if (!is_below(named->disk[i]) && is_same(in, named->disk[i], disk))
            return true;
    for (const char *at = named->list; at && *at; at += *at == ':') {
        const size_t length = strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s", (int)wr_min((int64_t)length, WR_PATH - 1), at);
        if (length &&
            (is_same(&wr_folder_here, path, disk) || (!is_below(path) && is_same(in, path, disk))))
            return true;
        at += length;
    }
    return false;
}

static bool has_members(const wr_folder *disk, const wr_set *set, int number)
{
    char name[WR_MEMBER_NAME];
    wr_folder_entry found;
    for (int m = 0; m < set->members; m++) {
        wr_member_name(set, m, name);
        if (set->map[m] == number && !wr_folder_look(disk, name, false, &found) &&
            found.kind != WR_ENTRY_NONE)
            return true;
    }
    return false;
}

/* `disk` is open then, unless it is foreign; it is to be closed. What is below the folder by its
 * name is inside, or, behind a link, nothing that a caller can have meant. */
static enum disk_kind judge(const wr_folder *in, const wr_set *set, int number,
                            const wr_named_disks *named, wr_folder *disk)
{
    const weir_error error = *weir_error_last();
    enum disk_kind kind = FOREIGN;
    wr_folder_entry found;
    disk->fd = -1;
    if (is_below(set->disk[number]))
        kind = wr_folder_open_inside(in, set->disk[number], disk) ? FOREIGN : INSIDE;
    else if (is_owner(in, set) && !wr_folder_open(in, set->disk[number], disk) &&
             !wr_folder_look(disk, ".", false, &found)) {
        kind = is_named(in, named, &found) ? NAMED : HIDDEN;
        if (kind == HIDDEN && !has_members(disk, set, number))
            kind = FOREIGN;
    }
    wr_error_raise(&error);
    return kind;
}

/* --- looking --- */

/* The set in an open folder; WEIR_EFORMAT if it is none. */
static int read_set(const wr_folder *in, wr_set *out)
{
    char *text = NULL;
    int64_t length;
    wr_folder_entry file;
    int code = wr_folder_look(in, WR_SET_FILE, false, &file);
    if (!code && file.kind != WR_ENTRY_FILE)
        code = wr_fail(WEIR_EFORMAT, "a folder without array.json is no array");
    if (!code)
        code = wr_folder_read(in, WR_SET_FILE, WR_SET_LONGEST, &text, &length);
    if (!code)
        code = wr_set_parse(text, length, out);
    wr_free(text);
    return code;
}

/* The number of the member that has this name, or -1. */
static int member_of(const wr_set *set, const char *name)
{
    const size_t length = strlen(set->name);
    char own[WR_MEMBER_NAME], *end;
    if (strncmp(name, set->name, length) != 0 || name[length] != '-')
        return -1;
    const long m = strtol(name + length + 1, &end, 10);
    if (m < 0 || m >= set->members)
        return -1;
    wr_member_name(set, (int)m, own);
    return strcmp(name, own) ? -1 : (int)m;
}

/* What NFS calls a file that was removed while somebody has it open: it goes by itself. */
static bool is_leaving(const char *name)
{
    return !strncmp(name, ".nfs", 4) && strlen(name) > 4 &&
           strspn(name + 4, "0123456789abcdefABCDEF") == strlen(name + 4);
}

static bool is_entry(const wr_folder_entry *a, const wr_folder_entry *b)
{
    return a->kind == b->kind && a->device == b->device && a->number == b->number;
}

/* Whether erase_set takes it away: `disk` has an entry for each disk, of the kind none unless it is
 * inside; `here` is the folder that holds it. */
static bool is_own(const wr_folder *in, const wr_set *set, const wr_folder_entry *disk,
                   const wr_folder_entry *here, const char *name)
{
    wr_folder_entry found;
    const int m = member_of(set, name);
    if (is_leaving(name))
        return true;
    if (wr_folder_look(in, name, false, &found))
        return false;
    if (found.kind == WR_ENTRY_NONE) /* meanwhile */
        return true;
    if (m >= 0 && found.kind == WR_ENTRY_FILE && is_entry(here, &disk[set->map[m]]))
        return true;
    for (int i = 0; i < set->disks && found.kind == WR_ENTRY_FOLDER; i++)
        if (is_entry(&found, &disk[i]))
            return true;
    return false;
}

/* A folder of a set that is looked through. */
typedef struct looked {
    const wr_set *set;
    const wr_folder_entry *disk;
    wr_folder_entry here;
    bool top; /* it has the description */
} looked;

static int check_entry(void *user, const wr_folder *in, const char *name)
{
    const looked *l = user;
    if ((l->top && !strcmp(name, WR_SET_FILE)) || is_own(in, l->set, l->disk, &l->here, name))
        return 0;
    return wr_fail(WEIR_EEXIST, "it also holds %.100s, which is not the array's: left alone", name);
}

/* What lies in a folder of the set and is not the set's would be left without a name: it is
 * refused, and what is hidden as well. */
static int check_entries(const wr_folder *in, const wr_set *set, const wr_folder_entry *disk,
                         bool top)
{
    looked l = {.set = set, .disk = disk, .top = top};
    int code = wr_folder_look(in, ".", false, &l.here);
    return code ? code : wr_folder_each(in, check_entry, &l);
}

/* Notes what disks are inside, then looks into them. */
static int check_disks(const wr_folder *in, const wr_set *set, const wr_named_disks *named,
                       wr_folder_entry *inside)
{
    wr_folder disk;
    int code = 0;
    for (int i = 0; i < set->disks && !code; i++) {
        const enum disk_kind kind = judge(in, set, i, named, &disk);
        if (kind == HIDDEN)
            code = wr_fail(WEIR_EEXIST,
                           "it has local arrays in %.100s, a disk that this call does not name",
                           set->disk[i]);
        if (kind == INSIDE)
            code = wr_folder_look(&disk, ".", false, &inside[i]);
        wr_folder_close(&disk);
    }
    if (!code)
        code = check_entries(in, set, inside, true);
    for (int i = 0; i < set->disks && !code; i++)
        if (inside[i].kind != WR_ENTRY_NONE && !is_same(in, ".", &inside[i])) {
            code = wr_folder_open_inside(in, set->disk[i], &disk);
            if (!code)
                code = check_entries(&disk, set, inside, false);
            wr_folder_close(&disk);
        }
    return code;
}

static int check_set(const wr_folder *in, const wr_named_disks *named)
{
    wr_set set;
    int code = read_set(in, &set);
    if (code == WEIR_EFORMAT && (code = wr_zarr_check_owned(in)) != WEIR_EFORMAT)
        return code;
    if (code == WEIR_EFORMAT || code == WEIR_ENOENT)
        return wr_fail(WEIR_EEXIST, "what has that name is no array, and is left alone");
    if (code)
        return code;
    wr_folder_entry *inside = wr_alloc_array(set.disks, sizeof *inside);
    code = inside ? 0 : WEIR_ENOMEM;
    if (inside) {
        memset(inside, 0, (size_t)set.disks * sizeof *inside);
        code = check_disks(in, &set, named, inside);
    }
    wr_free(inside);
    wr_set_release(&set);
    return code;
}

static int check_file(const wr_folder *in, const char *name)
{
    bool is_one;
    int code = wr_array_file_is_one(in, name, &is_one);
    if (code && code != WEIR_EFORMAT)
        return code;
    if (code || !is_one)
        return wr_fail(WEIR_EEXIST, "what has that name is no array, and is left alone");
    return 0;
}

/* Only the link is replaced then; but what leads nowhere, or to something else, was not meant. */
static int check_link(const wr_folder *in, const char *name)
{
    wr_folder folder;
    wr_set set;
    char *text = NULL;
    int64_t length;
    int version, code = wr_folder_open(in, name, &folder);
    if (!code && !(code = read_set(&folder, &set)))
        wr_set_release(&set);
    else if (code == WEIR_EFORMAT)
        code = wr_zarr_read(&folder, &version, &text, &length);
    wr_free(text);
    wr_folder_close(&folder);
    if (!code || !check_file(in, name))
        return 0;
    return wr_fail(WEIR_EEXIST, "what has that name is a link that leads to no array: left alone");
}

int wr_array_check_owned(const wr_folder *in, const char *name, const wr_named_disks *named,
                         wr_folder_entry *found)
{
    wr_folder folder;
    int code = wr_folder_look(in, name, false, found);
    if (code || found->kind == WR_ENTRY_NONE)
        return code;
    if (found->kind == WR_ENTRY_LINK)
        return check_link(in, name);
    if (found->kind != WR_ENTRY_FOLDER)
        return check_file(in, name);
    code = wr_folder_open(in, name, &folder);
    if (!code)
        code = check_set(&folder, named);
    wr_folder_close(&folder);
    return code;
}

/* An array file keeps its permissions; where only one of both is a folder, who may read the one may
 * read the other. */
int wr_array_owner(const wr_folder *in, const char *name, wr_owner *out)
{
    wr_folder folder = {.fd = -1};
    wr_folder_entry top, file;
    int code = wr_folder_look(in, name, true, &top);
    if (code)
        return code;
    *out = (wr_owner){top.user, top.group, top.mode & 0777, top.mode};
    if (top.kind != WR_ENTRY_FOLDER) {
        out->folder = out->file | (out->file & 0444) >> 2;
        return 0;
    }
    code = wr_folder_open(in, name, &folder);
    static const char *const names[] = {WR_SET_FILE, "zarr.json", ".zarray"};
    file.kind = WR_ENTRY_NONE;
    for (int i = 0; i < 3 && !code && file.kind == WR_ENTRY_NONE; i++)
        code = wr_folder_look(&folder, names[i], true, &file);
    if (!code)
        out->file &= file.mode;
    wr_folder_close(&folder);
    return code;
}

/* --- removing --- */

static void remove_members(const wr_folder *disk, const wr_set *set, int number)
{
    char name[WR_MEMBER_NAME];
    wr_folder_entry found;
    for (int m = 0; m < set->members; m++) {
        wr_member_name(set, m, name);
        if (set->map[m] == number && !wr_folder_look(disk, name, false, &found) &&
            found.kind == WR_ENTRY_FILE)
            wr_folder_remove(disk, name);
    }
}

/* The description goes last: what is left of a set until then can be removed once more. */
static void erase_set(const wr_folder *in, const wr_set *set, const wr_named_disks *named)
{
    for (int i = set->disks - 1; i >= 0; i--) { /* a disk may be in one before it */
        wr_folder disk;
        enum disk_kind kind = judge(in, set, i, named, &disk);
        if (kind == INSIDE || kind == NAMED)
            remove_members(&disk, set, i);
        if (kind == INSIDE && strcmp(set->disk[i], ".") != 0)
            wr_folder_remove(in, set->disk[i]);
        wr_folder_close(&disk);
    }
    wr_folder_remove(in, WR_SET_FILE);
}

void wr_array_erase(const wr_folder *in, const char *name, const wr_named_disks *named)
{
    const weir_error error = *weir_error_last(); /* often why it is removed */
    wr_folder folder;
    wr_set set;
    if (!wr_folder_open_inside(in, name, &folder)) {
        if (!read_set(&folder, &set)) {
            erase_set(&folder, &set, named);
            wr_set_release(&set);
        } else {
            wr_zarr_erase(&folder);
        }
        wr_folder_close(&folder);
    }
    wr_folder_remove(in, name);
    wr_error_raise(&error);
}

void wr_set_erase_new(const wr_folder *in, const char *name, const wr_set *set)
{
    const weir_error error = *weir_error_last();
    wr_named_disks all = {.count = set->disks, .disk = set->disk};
    wr_folder folder;
    if (!wr_folder_open_inside(in, name, &folder))
        erase_set(&folder, set, &all);
    wr_folder_close(&folder);
    wr_folder_remove(in, name);
    wr_error_raise(&error);
}
