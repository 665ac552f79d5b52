/* Left-overs are known by their names, and unused as far as this machine can tell. */
#include "leftovers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array_files.h"

/* --- what is open --- */

/* Open files with such names, or those of local arrays, of all processes that may be looked at. */
static void list_open(const char *process, cli_names *out)
{
    char folder[64], link[128], target[PATH_MAX];
    snprintf(folder, sizeof folder, "/proc/%.20s/fd", process);
    DIR *entries = opendir(folder);
    for (const struct dirent *e; entries && (e = readdir(entries));) {
        snprintf(link, sizeof link, "%s/%.20s", folder, e->d_name);
        const ssize_t length = readlink(link, target, sizeof target - 1);
        target[length > 0 ? length : 0] = 0;
        if (strstr(target, ".partial-") || strstr(target, ".weir-") ||
            strstr(target, ".pointers-") || strstr(target, ".dra-") || strstr(target, ".npy"))
            cli_names_add(out, strdup(target));
    }
    if (entries)
        closedir(entries);
}

static void list_all_open(cli_names *out)
{
    *out = (cli_names){0};
    DIR *processes = opendir("/proc");
    for (const struct dirent *e; processes && (e = readdir(processes));)
        if (*e->d_name >= '0' && *e->d_name <= '9')
            list_open(e->d_name, out);
    if (processes)
        closedir(processes);
}

static bool is_open(const cli_names *open, const char *path)
{
    char *whole = realpath(path, NULL);
    const size_t length = whole ? strlen(whole) : 0;
    bool found = false;
    for (size_t i = 0; whole && i < open->count && !found; i++)
        found = !strncmp(open->name[i], whole, length) &&
                (!open->name[i][length] || open->name[i][length] == '/');
    free(whole);
    return found;
}

/* A job on another host may hold a lock, which network file systems tell. */
static bool is_locked(int folder, const char *name)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const int fd = openat(folder, name, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    const bool held = fd >= 0 && !fcntl(fd, F_OFD_GETLK, &all) && all.l_type != F_UNLCK;
    if (fd >= 0)
        close(fd);
    return held;
}

/* --- finding --- */

typedef struct finder {
    cli_leftovers *list;
    cli_names open;
    time_t before;
    dev_t device;
} finder;

static int open_folder(int in, const char *name)
{
    return openat(in, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Bytes and the latest change of all that is in it. */
static void measure(int in, const char *name, cli_leftover *item)
{
    enum { BLOCK = 512 };
    struct stat s;
    if (fstatat(in, name, &s, AT_SYMLINK_NOFOLLOW))
        return;
    item->bytes += (int64_t)s.st_blocks * BLOCK;
    item->newest = s.st_mtim.tv_sec > item->newest ? s.st_mtim.tv_sec : item->newest;
    const int fd = S_ISDIR(s.st_mode) ? open_folder(in, name) : -1;
    DIR *entries = fd < 0 ? NULL : fdopendir(fd);
    for (const struct dirent *e; entries && (e = readdir(entries));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            measure(fd, e->d_name, item);
    if (entries)
        closedir(entries);
}

static void add(finder *f, cli_leftover *item)
{
    cli_leftovers *l = f->list;
    if (l->count == l->room) {
        const size_t room = l->room ? 2 * l->room : 16;
        cli_leftover *more = realloc(l->item, room * sizeof *more);
        if (!more)
            return;
        l->item = more;
        l->room = room;
    }
    l->item[l->count++] = *item;
    item->path = NULL;
}

/* Whether it is a file of an unfinished array outside what has its name. */
static bool is_elsewhere(const char *name, bool folder, const weir_part *part)
{
    return part->kind == WEIR_PART_FILE &&
           (part->owner == WEIR_PART_ELSEWHERE ||
            (!folder && part->owner == WEIR_PART_OWN && strcmp(part->name, name) != 0));
}

typedef struct unfinished {
    const cli_names *open;
    const char *name;
    cli_leftover *item;
    bool used;
} unfinished;

/* A running job may long have written nothing but what it has on other disks. */
static int weigh(void *user, const weir_part *part)
{
    unfinished *u = user;
    if (!is_elsewhere(u->name, u->item->folder, part))
        return 0;
    measure(part->folder, part->name, u->item);
    u->used = u->used || is_open(u->open, part->path) || is_locked(part->folder, part->name);
    return 0;
}

static void consider(finder *f, int in, const char *name, const char *path, bool folder)
{
    cli_leftover item = {.what = weir_leftover_kind(name), .folder = folder};
    unfinished u = {.open = &f->open, .name = name, .item = &item};
    measure(in, name, &item);
    weir_array_parts(path, weigh, &u);
    if (u.used || is_open(&f->open, path) || (!folder && is_locked(in, name))) {
        f->list->used++;
    } else if (item.newest > f->before) {
        f->list->young++;
    } else {
        item.path = strdup(path);
        if (item.path)
            add(f, &item);
        free(item.path);
    }
}

static void walk(finder *f, int fd, const char *folder);

static void look(finder *f, int in, const char *folder, const char *name)
{
    struct stat s;
    char *path = cli_join(folder, name);
    if (path && !fstatat(in, name, &s, AT_SYMLINK_NOFOLLOW) && s.st_dev == f->device) {
        const bool is_folder = S_ISDIR(s.st_mode);
        if ((is_folder || S_ISREG(s.st_mode)) && weir_leftover_kind(name))
            consider(f, in, name, path, is_folder);
        else if (is_folder)
            walk(f, open_folder(in, name), path);
    }
    free(path);
}

/* Takes `fd`. */
static void walk(finder *f, int fd, const char *folder)
{
    DIR *entries = fd < 0 ? NULL : fdopendir(fd);
    if (!entries && !*f->list->problem)
        snprintf(f->list->problem, sizeof f->list->problem, "%.200s: %s", folder, strerror(errno));
    for (const struct dirent *e; entries && (e = readdir(entries));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            look(f, fd, folder, e->d_name);
    if (entries)
        closedir(entries);
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const cli_leftover *)a)->path, ((const cli_leftover *)b)->path);
}

int cli_leftovers_find(const char *folder, int64_t seconds, cli_leftovers *out)
{
    struct stat s;
    finder f = {.list = out, .before = time(NULL) - (time_t)seconds};
    *out = (cli_leftovers){0};
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &s))
        return -1;
    f.device = s.st_dev;
    list_all_open(&f.open);
    walk(&f, fd, folder);
    cli_names_free(&f.open);
    if (out->count)
        qsort(out->item, out->count, sizeof *out->item, compare);
    return 0;
}

void cli_leftovers_free(cli_leftovers *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->item[i].path);
    free(list->item);
    *list = (cli_leftovers){0};
}

/* --- removing --- */

/* Whether a file of an array may be called so. */
static bool is_of_array(const char *name)
{
    static const char *const known[] = {"array.json", "zarr.json",       "zarr.json.partial",
                                        ".zarray",    ".zarray.partial", ".zattrs",
                                        ".zgroup",    ".zmetadata"};
    const size_t length = strlen(name);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(name, known[i]))
            return true;
    if (length > 4 && !strcmp(name + length - 4, ".npy"))
        return true;
    if (weir_leftover_kind(name))
        return true;
    return strspn(name + (*name == 'c'), "0123456789.") == length - (*name == 'c');
}

static int remove_folder(int in, const char *name)
{
    const int fd = open_folder(in, name);
    DIR *entries = fd < 0 ? NULL : fdopendir(fd);
    if (!entries)
        return errno;
    int error = 0;
    fchmod(fd, S_IRWXU); /* copies of folders may be read-only, as these were */
    for (const struct dirent *e; (e = readdir(entries));) {
        struct stat s;
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
            fstatat(fd, e->d_name, &s, AT_SYMLINK_NOFOLLOW))
            continue;
        int one = 0;
        if (S_ISDIR(s.st_mode))
            one = remove_folder(fd, e->d_name);
        else if (!S_ISREG(s.st_mode) || !is_of_array(e->d_name))
            one = ENOTEMPTY;
        else if (unlinkat(fd, e->d_name, 0))
            one = errno;
        error = error ? error : one;
    }
    closedir(entries);
    if (!error && unlinkat(in, name, AT_REMOVEDIR))
        error = errno;
    return error;
}

/* Other than 0: a disk is away, and what is there would be found no more. */
static int remove_elsewhere(void *user, const weir_part *part)
{
    const cli_leftover *item = user;
    const char *slash = strrchr(item->path, '/');
    if (is_elsewhere(slash ? slash + 1 : item->path, item->folder, part))
        unlinkat(part->folder, part->name, 0);
    return part->kind == WEIR_PART_AWAY;
}

int cli_leftover_remove(const cli_leftover *item)
{
    cli_leftover copy = *item;
    if (weir_array_parts(item->path, remove_elsewhere, &copy) > 0)
        return ENODEV;
    if (item->folder)
        return remove_folder(AT_FDCWD, item->path);
    return unlink(item->path) && errno != ENOENT ? errno : 0;
}
