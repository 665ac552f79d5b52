/* Making the new set: description first, then members, by links where they only get a name. */
#include "array/set_spread.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array/array_names.h"
#include "base/error.h"
#include "base/memory.h"
#include "storage/paths.h"

static char *copy_text(const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *copy = wr_alloc((int64_t)bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

/* Where a disk is, from anywhere. */
static char *find_disk(const wr_folder *from, const char *disk)
{
    char path[WR_PATH], whole[WR_PATH];
    if (wr_path_join(from->path, disk, path, sizeof path))
        return NULL;
    if (!realpath(path, whole)) {
        wr_fail_system(errno, path, -1, "find disk");
        return NULL;
    }
    return copy_text(whole);
}

static char *name_disk(const wr_spread *s, int i)
{
    const char *old = s->set->disk[i];
    if (wr_disk_is_below(old))
        return copy_text(old);
    return s->moving && !s->disks ? find_disk(s->from, old) : copy_text(".");
}

/* Where all are in the folder itself, that is one disk. */
static void gather(wr_set *set)
{
    for (int i = 0; i < set->disks; i++)
        if (strcmp(set->disk[i], ".") != 0)
            return;
    while (set->disks > 1)
        wr_free(set->disk[--set->disks]);
    memset(set->map, 0, (size_t)set->members * sizeof *set->map);
}

/* Members outside go to the disks that were named, by turns. */
static int deal(const wr_spread *s, wr_set *out)
{
    const wr_set *old = s->set;
    int turn = 0;
    *out = *old;
    if (!s->moving || s->disks)
        snprintf(out->name, sizeof out->name, "local"); /* where members are alone */
    out->disk = wr_alloc_array(old->disks + s->disks, sizeof *out->disk);
    out->map = wr_alloc_array(old->members, sizeof *out->map);
    out->disks = 0;
    if (!out->disk || !out->map)
        return WEIR_ENOMEM;
    for (int i = 0; i < old->disks + s->disks; i++) {
        char *name = i < old->disks ? name_disk(s, i) : copy_text(s->disk[i - old->disks]);
        if (!name)
            return weir_error_last()->code;
        out->disk[out->disks++] = name;
    }
    for (int m = 0; m < old->members; m++) {
        const bool outside = !wr_disk_is_below(old->disk[old->map[m]]);
        out->map[m] = outside && s->disks ? old->disks + turn++ % s->disks : old->map[m];
    }
    gather(out);
    return 0;
}

static int measure(const wr_spread *s)
{
    char path[WR_PATH];
    struct stat status;
    for (int m = 0; m < s->set->members; m++) {
        int code = wr_member_path("", s->set, m, path, sizeof path);
        if (code)
            return code;
        if (!fstatat(s->from->fd, path, &status, 0))
            s->copying->all += status.st_size;
    }
    return 0;
}

/* A second name is enough where the member stays on its disk. */
static int make_member(const wr_spread *s, const wr_folder *made, const wr_set *set, int m)
{
    char old[WR_PATH], new[WR_PATH];
    const bool outside = !wr_disk_is_below(s->set->disk[s->set->map[m]]);
    int code = wr_member_path("", s->set, m, old, sizeof old);
    if (!code)
        code = wr_member_path("", set, m, new, sizeof new);
    if (code)
        return code;
    if (outside && s->moving && !s->disks && !linkat(s->from->fd, old, made->fd, new, 0))
        return 0;
    return wr_file_copy(&(wr_copied){s->from, made, old, new}, s->copying);
}

static int make_members(const wr_spread *s, const wr_folder *made, const wr_set *set, bool refers)
{
    int code = s->copying->progress ? measure(s) : 0;
    for (int m = 0; m < set->members && !code; m++)
        if (!refers || wr_disk_is_below(s->set->disk[s->set->map[m]]))
            code = make_member(s, made, set, m);
    return code;
}

static int fill(const wr_spread *s, wr_set *set, bool refers)
{
    wr_folder made = {.fd = -1};
    bool *made_disk = wr_alloc_array(set->disks, sizeof *made_disk);
    int code = made_disk ? wr_folder_open_inside(&s->to->folder, s->to->made, &made) : WEIR_ENOMEM;
    if (made_disk)
        memset(made_disk, 0, (size_t)set->disks * sizeof *made_disk);
    if (!code && !refers)
        code = wr_set_own(&made, set, s->to->name, s->to->tag);
    if (!code)
        code = wr_set_make_folders(&made, set, NULL, made_disk);
    if (!code)
        code = make_members(s, &made, set, refers);
    if (!code)
        code = wr_file_mimic(&(wr_copied){s->from, &made, WR_SET_FILE, WR_SET_FILE}, false);
    if (!code)
        wr_folder_mimic(s->from, &made);
    if (!code && s->copying->durable)
        code = wr_set_sync_folders(&made, set, made_disk);
    if (code && made.fd >= 0)
        fchmod(made.fd, S_IRWXU); /* to be emptied again */
    wr_folder_close(&made);
    wr_free(made_disk);
    return code;
}

int wr_set_spread(wr_spread *s)
{
    wr_set set = {0};
    const bool refers = s->moving && !s->disks && !wr_set_is_owner(s->from, s->set);
    int code = deal(s, &set);
    if (!code && mkdirat(s->to->folder.fd, s->to->made, 0700)) /* nobody looks into it yet */
        code = wr_fail_system(errno, s->to->made, -1, "make folder");
    if (!code) {
        code = fill(s, &set, refers);
        if (code && refers)
            wr_tree_remove(&s->to->folder, s->to->made);
        else if (code)
            wr_set_erase_new(&s->to->folder, s->to->made, &set);
    }
    wr_set_release(&set);
    return code;
}
