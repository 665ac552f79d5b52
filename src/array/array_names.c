/* Files and folders of arrays. */
#include "array/array_names.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "array/distribution.h"
#include "base/arith.h"
#include "base/error.h"
#include "format/npy.h"
#include "storage/paths.h"

static const char description[] = "array.json";

int wr_blame(int code, const char *path)
{
    if (code && !*weir_error_last()->file)
        wr_error_note_file(path, -1);
    return code;
}

/* --- .npy files --- */

/* Parses a header that may be longer than `start`, which has the first `got` bytes. */
static int read_header(const char *path, const char *start, int64_t got, wr_description *out)
{
    int64_t length;
    int code = wr_npy_measure(start, got, &length);
    if (code || length <= got)
        return code ? code : wr_npy_parse(start, length, out);
    int64_t size;
    char *whole = wr_alloc(length); /* at most WR_NPY_LONGEST */
    if (!whole)
        return WEIR_ENOMEM;
    code = wr_path_head(path, length, whole, &got, &size);
    if (!code && got < length)
        code = wr_fail(WEIR_EFORMAT, "the file ends inside its header");
    if (!code)
        code = wr_npy_parse(whole, length, out);
    wr_free(whole);
    return code;
}

int wr_npy_look(const char *path, wr_description *out)
{
    char start[WR_NPY_WRITTEN];
    int64_t got, size;
    int code = wr_path_head(path, sizeof start, start, &got, &size);
    if (!code)
        code = read_header(path, start, got, out);
    const int64_t whole = code ? 0 : out->data_offset + out->bytes;
    if (!code && size < whole)
        code = wr_fail(WEIR_EFORMAT,
                       "the file is cut short: it has %lld bytes, its header tells of %lld",
                       (long long)size, (long long)whole);
    return wr_blame(code, path);
}

int wr_npy_make(const char *path, const wr_description *what)
{
    char header[WR_NPY_WRITTEN];
    wr_description d = *what;
    int code = wr_npy_build(&d, header);
    return code ? code : wr_path_fill(path, header, sizeof header, d.data_offset + d.bytes);
}

/* --- sets --- */

static int set_folder_disk(const char *folder, const wr_set *set, int disk, char *out)
{
    return wr_path_join(folder, set->disk[disk], out, WR_PATH);
}

int wr_member_path(const char *folder, const wr_set *set, int m, char *out, int64_t room)
{
    char disk[WR_PATH], name[WR_SET_NAME + 24];
    int code = set_folder_disk(folder, set, set->map[m], disk);
    snprintf(name, sizeof name, "%s-%d.npy", set->name, m);
    return code ? code : wr_path_join(disk, name, out, room);
}

void wr_member_describe(const wr_set *set, int m, wr_description *what)
{
    weir_distribution d = {{0}, {0}};
    *what = set->whole;
    memcpy(d.grid, set->grid, sizeof d.grid);
    memcpy(d.block, set->block, sizeof d.block);
    weir_distribution_shape(&d, what->dimensions, set->whole.shape, m, what->shape);
    wr_description_settle(what); /* a part of what was checked */
}

int wr_set_make_folders(const char *folder, const wr_set *set)
{
    char path[WR_PATH], *text = NULL;
    int64_t length;
    int code = wr_set_print(set, &text, &length);
    if (!code)
        code = wr_path_join(folder, description, path, sizeof path);
    if (!code)
        code = wr_path_write(path, text, length, true); /* first: who removes the set reads it */
    for (int i = 0; i < set->disks && !code; i++) {
        code = set_folder_disk(folder, set, i, path);
        if (!code)
            code = wr_path_make_folder(path, false);
    }
    wr_free(text);
    return code;
}

int wr_set_make_members(const char *folder, const wr_set *set, int rank, int ranks)
{
    char path[WR_PATH];
    int code = 0;
    for (int m = rank; m < set->members && !code; m += ranks) {
        wr_description d;
        wr_member_describe(set, m, &d);
        code = wr_member_path(folder, set, m, path, sizeof path);
        if (!code)
            code = wr_npy_make(path, &d);
    }
    return code;
}

static bool is_alike(const wr_description *a, const wr_description *b)
{
    return a->type == b->type && a->dimensions == b->dimensions &&
           (a->columns == b->columns || a->dimensions < 2) &&
           !memcmp(a->shape, b->shape, (size_t)a->dimensions * sizeof *a->shape);
}

/* Member m as it should be, but for the place of its data and its byte order. */
static int check_member(const char *folder, const wr_set *set, int m, wr_description *found)
{
    char path[WR_PATH];
    wr_description wanted;
    int code = wr_member_path(folder, set, m, path, sizeof path);
    if (!code)
        code = wr_npy_look(path, found);
    if (code)
        return code;
    wr_member_describe(set, m, &wanted);
    if (!is_alike(found, &wanted))
        code = wr_fail(WEIR_EFORMAT, "this is not local array %d of %s: type or shape differ", m,
                       folder);
    return wr_blame(code, path);
}

int wr_set_check_members(const char *folder, const wr_set *set, int rank, int ranks, int64_t *skip,
                         int64_t *swapped)
{
    int code = 0;
    *swapped = 0;
    for (int m = rank; m < set->members && !code; m += ranks) {
        wr_description found = {0};
        code = check_member(folder, set, m, &found);
        skip[m] = found.data_offset;
        *swapped |= found.swapped ? 2 : 1;
    }
    return code;
}

int wr_set_members(const char *folder, const wr_set *set, const int64_t *skip, wr_arena *memory,
                   int64_t *start, wr_members *out)
{
    char path[WR_PATH];
    wr_member *member = wr_arena_alloc(memory, set->members * (int64_t)sizeof *member);
    int code = member ? 0 : WEIR_ENOMEM;
    start[0] = 0;
    for (int m = 0; m < set->members && !code; m++) {
        wr_description d;
        wr_member_describe(set, m, &d);
        code = wr_member_path(folder, set, m, path, sizeof path);
        char *kept = code ? NULL : wr_arena_alloc(memory, (int64_t)strlen(path) + 1);
        if (!kept)
            return code ? code : WEIR_ENOMEM;
        memcpy(kept, path, strlen(path) + 1);
        member[m] = (wr_member){kept, skip[m], d.bytes};
        start[m + 1] = start[m] + d.bytes;
    }
    *out = (wr_members){set->members, member};
    return code;
}

/* --- names --- */

/* Whether a disk is a folder of the set's own: others are not ours to remove. */
static bool is_inside(const char *disk)
{
    while (disk[0] == '.' && disk[1] == '/')
        disk += 2;
    return *disk && *disk != '/' && strcmp(disk, ".") != 0 && strcmp(disk, "..") != 0 &&
           strncmp(disk, "../", 3) != 0;
}

static void remove_set(const char *folder, const wr_set *set)
{
    char path[WR_PATH];
    for (int m = 0; m < set->members; m++)
        if (!wr_member_path(folder, set, m, path, sizeof path))
            wr_path_remove(path);
    for (int i = 0; i < set->disks; i++)
        if (is_inside(set->disk[i]) && !set_folder_disk(folder, set, i, path))
            wr_path_remove(path);
}

void wr_array_remove(const char *path)
{
    const weir_error error = *weir_error_last(); /* often why it is removed */
    char json[WR_PATH], *text = NULL;
    int64_t length;
    wr_set set;
    bool folder = false;
    wr_path_is_folder(path, &folder);
    if (folder && !wr_path_join(path, description, json, sizeof json)) {
        if (!wr_path_read(json, WR_SET_LONGEST, &text, &length) &&
            !wr_set_parse(text, length, &set)) {
            remove_set(path, &set);
            wr_set_release(&set);
        }
        wr_free(text);
        wr_path_remove(json);
    }
    wr_path_remove(path);
    wr_error_raise(&error);
}

/* Whether what is there begins as an array does, damaged or not; so does an empty file. */
static int looks_like_array(const char *path, bool *array)
{
    char json[WR_PATH], start[WR_NPY_START];
    int64_t got, size, length;
    bool folder;
    int code = wr_path_is_folder(path, &folder);
    if (code)
        return code;
    if (folder) {
        code = wr_path_join(path, description, json, sizeof json);
        return code ? code : wr_path_exists(json, array);
    }
    code = wr_path_head(path, sizeof start, start, &got, &size);
    *array = !code && (!size || !wr_npy_measure(start, got, &length) || got < WR_NPY_START);
    return code == WEIR_EFORMAT ? 0 : code;
}

int wr_array_may_be_made(const char *path, bool overwrite)
{
    bool exists = false, array = false;
    int code = wr_path_exists(path, &exists);
    if (code || !exists)
        return code;
    if (!overwrite)
        code =
            wr_fail(WEIR_EEXIST, "there is something of that name; overwriting was not asked for");
    if (!code)
        code = looks_like_array(path, &array);
    if (!code && !array)
        code = wr_fail(WEIR_EEXIST, "what has that name is no array, and is left alone");
    return wr_blame(code, path);
}

/* Where names cannot be exchanged at once: for a moment there is nothing of that name. */
static int exchange_in_steps(const char *made, const char *path)
{
    char aside[WR_PATH];
    int length = snprintf(aside, sizeof aside, "%s.old", made);
    if (length >= (int)sizeof aside)
        return wr_fail(WEIR_ERANGE, "the name is too long");
    int code = wr_path_rename(path, aside, false);
    if (code)
        return code;
    code = wr_path_rename(made, path, false);
    if (code) {
        weir_error error = *weir_error_last();
        wr_path_rename(aside, path, false);
        return wr_error_raise(&error);
    }
    wr_array_remove(aside);
    return 0;
}

int wr_array_name(const char *made, const char *path, bool overwrite)
{
    bool exists = false, new_folder = false, old_folder = false;
    int code = wr_path_exists(path, &exists);
    if (!code && exists && overwrite)
        code = wr_path_is_folder(path, &old_folder);
    if (!code)
        code = wr_path_is_folder(made, &new_folder);
    if (code)
        return code;
    if (exists && overwrite && (new_folder || old_folder)) {
        code = wr_path_exchange(made, path);
        if (!code)
            wr_array_remove(made); /* the old one has that name now */
        else if (code == WEIR_EUNSUPPORTED)
            code = exchange_in_steps(made, path);
    } else {
        code = wr_path_rename(made, path, overwrite);
    }
    return code;
}

int wr_array_sync_names(const char *path, const wr_set *set)
{
    char at[WR_PATH], disk[WR_PATH];
    int code = wr_path_sync_folder(path);
    for (int i = -1; i < set->disks && !code; i++) { /* -1: the folder itself */
        if (!set->disks)
            break;
        code = i < 0 ? wr_path_join(path, description, at, sizeof at)
                     : set_folder_disk(path, set, i, disk);
        if (!code && i >= 0)
            code = wr_path_join(disk, set->name, at, sizeof at);
        if (!code)
            code = wr_path_sync_folder(at);
    }
    return code;
}

int wr_array_invent(const char *path, char *made, int64_t room, char tag[WR_TAG])
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t mixed = (uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec * 2654435761u +
                     (uint64_t)getpid() * 40503u;
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    snprintf(tag, WR_TAG, "%08x", (unsigned)(mixed ^ mixed >> 32));
    if (length == 0 || (int64_t)length + 32 > room)
        return wr_blame(wr_fail(WEIR_EINVAL, "no name for an array"), path);
    snprintf(made, (size_t)room, "%.*s.partial-%s", (int)length, path, tag);
    return 0;
}
