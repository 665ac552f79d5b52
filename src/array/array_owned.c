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
#include "array/array_parts.h"
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

bool wr_set_is_owner(const wr_folder *in, const wr_set *set)
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

bool wr_disk_is_below(const char *path)
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
        if (!wr_disk_is_below(named->disk[i]) && is_same(in, named->disk[i], disk))
            return true;
    for (const char *at = named->list; at && *at; at += *at == ':') {
        const size_t length = strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s", (int)wr_min((int64_t)length, WR_PATH - 1), at);
        if (length && (is_same(&wr_folder_here, path, disk) ||
                       (!wr_disk_is_below(path) && is_same(in, path, disk))))
            return true;
        at += length;
    }
    return false;
}

/* Of a disk that is away there are only words to compare. */
static bool is_said(const wr_named_disks *named, const char *disk)
{
    const size_t length = strlen(disk);
    for (int i = 0; i < named->count; i++)
        if (!strcmp(named->disk[i], disk))
            return true;
    for (const char *at = named->list; at && *at; at += *at == ':') {
        if (strcspn(at, ":") == length && !strncmp(at, disk, length))
            return true;
        at += strcspn(at, ":");
    }
    return false;
}

/* An array's folder, and who asks for it. */
typedef struct asked {
    const wr_folder *in;
    const wr_named_disks *named;
    bool owner; /* of a set: of what is on other disks */
} asked;

static bool is_on_named(const asked *a, const weir_part *part)
{
    wr_folder_entry disk;
    return !wr_folder_look(&(wr_folder){.fd = part->folder}, ".", false, &disk) &&
           is_named(a->in, a->named, &disk);
}

/* --- looking --- */

int wr_set_read(const wr_folder *in, wr_set *out)
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

int wr_set_member_of(const wr_set *set, const char *name)
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

bool wr_name_is_leaving(const char *name)
{
    return !strncmp(name, ".nfs", 4) && strlen(name) > 4 &&
           strspn(name + 4, "0123456789abcdefABCDEF") == strlen(name + 4);
}

/* What would be left without a name is refused. */
static int check_part(void *user, const weir_part *part)
{
    const asked *a = user;
    char disk[WR_PATH];
    if (part->kind == WEIR_PART_AWAY && a->owner && !is_said(a->named, part->name))
        return wr_fail(WEIR_EEXIST,
                       "it has local arrays in %.100s, a disk that is away and that this call does "
                       "not name: %s",
                       part->name, strerror(weir_error_last()->errnum));
    if (part->kind == WEIR_PART_AWAY)
        return 0;
    if (part->owner == WEIR_PART_FOREIGN)
        return wr_fail(WEIR_EEXIST, "it also holds %.100s, which is not the array's: left alone",
                       part->name);
    if (part->owner != WEIR_PART_ELSEWHERE || is_on_named(a, part))
        return 0;
    int code = wr_path_folder(part->path, disk, sizeof disk);
    return code ? code
                : wr_fail(WEIR_EEXIST,
                          "it has local arrays in %.100s, a disk that this call does not name",
                          disk);
}

static int check_folder(const wr_folder *in, const wr_named_disks *named)
{
    wr_nest nest;
    int code = wr_nest_read(in, &nest);
    if (!code && nest.kind == WR_NEST_GROUP)
        code = WEIR_EFORMAT;
    const bool owner = !code && nest.kind == WR_NEST_SET && wr_set_is_owner(in, &nest.set);
    wr_nest_release(&nest);
    if (code == WEIR_EFORMAT || code == WEIR_ENOENT)
        return wr_fail(WEIR_EEXIST, "what has that name is no array, and is left alone");
    return code ? code : wr_nest_tell(in, check_part, &(asked){in, named, owner});
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
    if (!code && !(code = wr_set_read(&folder, &set)))
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
        code = check_folder(&folder, named);
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

static int erase_part(void *user, const weir_part *part)
{
    if (part->kind != WEIR_PART_FOLDER &&
        (part->owner == WEIR_PART_OWN ||
         (part->owner == WEIR_PART_ELSEWHERE && is_on_named(user, part))))
        wr_folder_remove(&(wr_folder){.fd = part->folder}, part->name);
    return 0;
}

void wr_array_erase(const wr_folder *in, const char *name, const wr_named_disks *named)
{
    const weir_error error = *weir_error_last(); /* often why it is removed */
    wr_folder folder;
    if (!wr_folder_open_inside(in, name, &folder))
        wr_nest_tell(&folder, erase_part, &(asked){.in = &folder, .named = named});
    wr_folder_close(&folder);
    wr_folder_remove(in, name);
    wr_error_raise(&error);
}

/* Its description may not be there yet. */
static void erase_set(const wr_folder *in, const wr_set *set)
{
    const bool owner = wr_set_is_owner(in, set);
    for (int i = set->disks - 1; i >= 0; i--) { /* a disk may be in one before it */
        wr_folder disk = {.fd = -1};
        const char *path = set->disk[i];
        const bool below = wr_disk_is_below(path);
        if (below ? wr_folder_open_inside(in, path, &disk)
                  : !owner || wr_folder_open(in, path, &disk))
            continue;
        remove_members(&disk, set, i);
        wr_folder_close(&disk);
        if (below && strcmp(path, ".") != 0)
            wr_folder_remove(in, path);
    }
    wr_folder_remove(in, WR_SET_FILE);
}

void wr_set_erase_new(const wr_folder *in, const char *name, const wr_set *set)
{
    const weir_error error = *weir_error_last();
    wr_folder folder;
    if (!wr_folder_open_inside(in, name, &folder))
        erase_set(&folder, set);
    wr_folder_close(&folder);
    wr_folder_remove(in, name);
    wr_error_raise(&error);
}
