/* The files of an array, made, checked and synced: one .npy file, or for a local-array set a folder
 * with array.json and one .npy file per member. Ranks share the members out among themselves. */
#include "array/array_names.h"

#include <stdio.h>
#include <string.h>

#include "array/distribution.h"
#include "base/arith.h"
#include "base/error.h"
#include "format/npy.h"
#include "storage/paths.h"

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

int wr_npy_make(const wr_folder *in, const char *name, const wr_description *what,
                const wr_owner *owner)
{
    char header[WR_NPY_WRITTEN];
    wr_description d = *what;
    int code = wr_npy_build(&d, header);
    wr_content content = {.data = header,
                          .bytes = sizeof header,
                          .size = d.data_offset + d.bytes,
                          .exclusive = true,
                          .owner = owner};
    return code ? code : wr_folder_put(in, name, &content);
}

/* --- sets --- */

void wr_member_name(const wr_set *set, int m, char out[WR_MEMBER_NAME])
{
    snprintf(out, WR_MEMBER_NAME, "%s-%d.npy", set->name, m);
}

int wr_member_path(const char *folder, const wr_set *set, int m, char *out, int64_t room)
{
    char disk[WR_PATH], name[WR_MEMBER_NAME];
    int code = wr_path_join(folder, set->disk[set->map[m]], disk, sizeof disk);
    wr_member_name(set, m, name);
    return code ? code : wr_path_join(disk, name, out, room);
}

/* What it holds; `what` is the whole set's but for shape and bytes. */
static void member_describe(const wr_set *set, int m, wr_description *what)
{
    weir_distribution d = {0};
    *what = set->whole;
    memcpy(d.grid, set->grid, sizeof d.grid);
    memcpy(d.block, set->block, sizeof d.block);
    weir_distribution_shape(&d, what->dimensions, set->whole.shape, m, what->shape);
    wr_description_settle(what); /* a part of what was checked */
}

int wr_set_make_folders(const wr_folder *in, const wr_set *set, const wr_owner *owner, bool *made)
{
    char *text = NULL;
    int64_t length = 0;
    int code = wr_set_print(set, &text, &length);
    wr_content content = {.data = text, .bytes = length, .sync = true, .owner = owner};
    if (!code)
        code = wr_folder_put(in, WR_SET_FILE, &content);
    for (int i = 0; i < set->disks && !code; i++)
        code = wr_folder_make(in, set->disk[i], owner, &made[i]);
    wr_free(text);
    return code;
}

int wr_set_make_members(const wr_folder *in, const wr_set *set, const wr_owner *owner, int rank,
                        int ranks)
{
    char path[WR_PATH];
    int code = 0;
    for (int m = rank; m < set->members && !code; m += ranks) {
        wr_description d;
        member_describe(set, m, &d);
        code = wr_member_path("", set, m, path, sizeof path);
        if (!code)
            code = wr_npy_make(in, path, &d, owner);
    }
    return code;
}

int wr_set_sync_members(const wr_folder *in, const wr_set *set, int rank, int ranks)
{
    char path[WR_PATH];
    int code = 0;
    for (int m = rank; m < set->members && !code; m += ranks) {
        code = wr_member_path("", set, m, path, sizeof path);
        if (!code)
            code = wr_folder_sync_file(in, path);
    }
    return code;
}

/* The folder that has the name of a disk we have made, and so no link. Others need not be ours to
 * read. */
static int sync_above(const wr_folder *disk)
{
    wr_folder above;
    int code = wr_folder_open(disk, "..", &above);
    if (!code)
        code = wr_path_folder(disk->path, above.path, sizeof above.path);
    if (!code)
        code = wr_folder_sync(&above);
    wr_folder_close(&above);
    return code;
}

static int sync_disk(const wr_folder *in, const char *path, bool made)
{
    wr_folder disk;
    int code = wr_folder_open(in, path, &disk);
    if (!code)
        code = wr_folder_sync(&disk);
    if (!code && made)
        code = sync_above(&disk);
    wr_folder_close(&disk);
    return code;
}

int wr_set_sync_folders(const wr_folder *in, const wr_set *set, const bool *made)
{
    int code = wr_folder_sync_file(in, WR_SET_FILE);
    for (int i = 0; i < set->disks && !code; i++)
        code = strcmp(set->disk[i], ".") ? sync_disk(in, set->disk[i], made && made[i]) : 0;
    return code ? code : wr_folder_sync(in);
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
    member_describe(set, m, &wanted);
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
        member_describe(set, m, &d);
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
