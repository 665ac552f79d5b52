/* Files of disk resident arrays: their names, the label beside them, and moving them. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dra_state.h"

static const char label_form[] = "weir dra 1\ntype %d\nstate %s\nname %s\n";

static bool path_of(const char *file, const char *ending, char out[WR_DRA_PATH])
{
    return snprintf(out, WR_DRA_PATH, "%s%s", file, ending) < WR_DRA_PATH;
}

static bool exists(const char *path)
{
    struct stat facts;
    return !stat(path, &facts);
}

/* Whether names and labels are to outlast a power failure; rank 0 decides. */
static bool is_durable(void)
{
    char text[16];
    return !weir_tunable_get(NULL, "durable", text, sizeof text) && !strcmp(text, "enable");
}

/* The folder of an absolute name. */
static void folder_of(const char *file, char out[WR_DRA_PATH])
{
    snprintf(out, WR_DRA_PATH, "%.*s", (int)(strrchr(file, '/') - file), file);
    if (!*out)
        snprintf(out, WR_DRA_PATH, "/");
}

/* A name in that folder that nobody else has: of the file's own as much as leaves room for what
 * names an array until it is closed. */
static int invent(const char *folder, const char *file, const char *ending, char out[WR_DRA_PATH])
{
    enum { KEPT = 200 };
    unsigned number;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return wr_dra_fail_system(file, "find a name for it");
    const int length = snprintf(out, WR_DRA_PATH, "%s/%.*s%s%08x", folder, KEPT,
                                strrchr(file, '/') + 1, ending, number);
    return length < WR_DRA_PATH ? 0 : wr_dra_fail(WEIR_ERANGE, file, "the name is too long");
}

static int sync_folder_of(const char *file)
{
    char folder[WR_DRA_PATH];
    if (!is_durable())
        return 0;
    folder_of(file, folder);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return wr_dra_fail_system(folder, "open the folder");
    int code = fsync(fd) && errno != EINVAL ? wr_dra_fail_system(folder, "sync the folder") : 0;
    close(fd);
    return code;
}

/* --- labels --- */

static int write_all(const char *path, const char *text, size_t length)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        return wr_dra_fail_system(path, "create the label");
    errno = ENOSPC; /* of a part no reason is told */
    ssize_t done = write(fd, text, length);
    int code = done == (ssize_t)length ? 0 : wr_dra_fail_system(path, "write the label");
    if (!code && is_durable() && fsync(fd))
        code = wr_dra_fail_system(path, "sync the label");
    if (close(fd) && !code)
        code = wr_dra_fail_system(path, "write the label");
    if (code)
        unlink(path);
    return code;
}

/* Never half a label: it is written under another name. */
int wr_dra_label_write(const char *file, const wr_dra_label *label)
{
    char path[WR_DRA_PATH], other[WR_DRA_PATH], folder[WR_DRA_PATH], text[256];
    path_of(file, ".dra", path);
    folder_of(file, folder);
    int length = snprintf(text, sizeof text, label_form, label->ga_type,
                          label->writing ? "writing" : "whole", label->name);
    int code = invent(folder, file, ".dra-", other);
    if (!code)
        code = write_all(other, text, (size_t)length);
    if (!code && rename(other, path)) {
        code = wr_dra_fail_system(path, "name the label");
        unlink(other);
    }
    return code ? code : sync_folder_of(file);
}

/* An array without a label is whole, and called by its file. */
int wr_dra_label_read(const char *file, wr_dra_label *label)
{
    char path[WR_DRA_PATH], text[256] = "", state[16] = "";
    const char *slash = strrchr(file, '/');
    *label = (wr_dra_label){0};
    snprintf(label->name, sizeof label->name, "%.72s", slash ? slash + 1 : file);
    path_of(file, ".dra", path);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : wr_dra_fail_system(path, "open the label");
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    if (got < 0)
        return wr_dra_fail_system(path, "read the label");
    int name = 0, fields = sscanf(text, "weir dra 1 type %d state %15s name%n", &label->ga_type,
                                  state, &name);
    if (fields != 2 || !name || text[name] != ' ')
        return wr_dra_fail(WEIR_EFORMAT, path, "this is no label of a disk resident array");
    label->writing = !strcmp(state, "writing");
    char *own = text + name + 1;
    own[strcspn(own, "\n")] = 0;
    snprintf(label->name, sizeof label->name, "%.72s", own);
    return 0;
}

void wr_dra_label_remove(const char *file)
{
    char path[WR_DRA_PATH];
    if (path_of(file, ".dra", path))
        unlink(path);
}

/* --- what is there --- */

/* Raw data of the DRA library do not begin as a .npy file does. */
static bool is_npy(const char *path)
{
    char start[6] = "";
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, start, sizeof start);
    close(fd);
    return got == (ssize_t)sizeof start && !memcmp(start, "\x93NUMPY", sizeof start);
}

static bool is_folder(const char *path)
{
    struct stat facts;
    return !stat(path, &facts) && S_ISDIR(facts.st_mode);
}

/* Of a long name only so much is in that of an unfinished array. */
static bool find_left(const char *file, char left[WR_DRA_PATH])
{
    enum { KEPT = 230 };
    char escaped[2 * WR_DRA_ABSOLUTE + 16];
    const char *name = strrchr(file, '/') + 1, *end = name + strnlen(name, KEPT);
    size_t length = 0;
    for (const char *c = file; c < end && length < sizeof escaped - 16; c++) {
        if (strchr("*?[\\", *c))
            escaped[length++] = '\\';
        escaped[length++] = *c;
    }
    snprintf(escaped + length, sizeof escaped - length, "%s.partial-*", *end ? "*" : "");
    glob_t found = {0};
    bool any = !glob(escaped, 0, NULL, &found) && found.gl_pathc > 0;
    if (any)
        snprintf(left, WR_DRA_PATH, "%s", found.gl_pathv[0]);
    globfree(&found);
    return any;
}

enum wr_dra_kind wr_dra_look(const char *file, char left[WR_DRA_PATH])
{
    char info[WR_DRA_PATH];
    *left = 0;
    if (is_folder(file) || is_npy(file))
        return WR_DRA_ARRAY;
    if (path_of(file, ".info", info) && exists(info))
        return WR_DRA_OLD;
    if (exists(file))
        return WR_DRA_ARRAY; /* damaged, perhaps: who opens it says so */
    return find_left(file, left) ? WR_DRA_UNFINISHED : WR_DRA_NOTHING;
}

/* --- moving --- */

int wr_dra_absolute(const char *file, char out[WR_DRA_ABSOLUTE + 1])
{
    char here[WR_DRA_ABSOLUTE] = "";
    if (*file != '/' && !getcwd(here, sizeof here))
        return wr_dra_fail_system(file, "find the folder it is in");
    const int length = snprintf(out, WR_DRA_ABSOLUTE + 1, "%s%s%s", here, *here ? "/" : "", file);
    return length <= WR_DRA_ABSOLUTE ? 0 : wr_dra_fail(WEIR_ERANGE, file, "the name is too long");
}

/* Whether something has that name that no array may replace. */
static bool is_other(const char *file, bool old)
{
    struct stat facts;
    return !old && !lstat(file, &facts) && !is_folder(file) && !is_npy(file);
}

static int refuse(const char *file)
{
    return wr_dra_fail(WEIR_EEXIST, file, "what has that name is no array, and is left alone");
}

int wr_dra_place(const char *file, char made[WR_DRA_PATH])
{
    char scratch[1024], whole[WR_DRA_ABSOLUTE + 1], folder[WR_DRA_PATH], left[WR_DRA_PATH];
    const bool old = wr_dra_look(file, left) == WR_DRA_OLD;
    *made = 0;
    int code = weir_tunable_get(NULL, "dra_scratch", scratch, sizeof scratch);
    if (!code && is_other(file, old))
        code = refuse(file);
    if (code)
        return code;
    if (*scratch) {
        code = wr_dra_absolute(scratch, whole);
        return code ? code : invent(whole, file, ".", made);
    }
    folder_of(file, folder);
    return old ? invent(folder, file, ".new-", made) : 0; /* it stays until the new one is whole */
}

int wr_dra_disks(char *text, size_t room, weir_array_options *options, const char **disk)
{
    int code = weir_tunable_get(NULL, "disks", text, room);
    options->disk = disk;
    for (char *rest = NULL, *d = code ? NULL : strtok_r(text, ":", &rest);
         d && options->disks < WR_DRA_DISKS; d = strtok_r(NULL, ":", &rest))
        disk[options->disks++] = d;
    return code;
}

/* [collective] By all ranks, as an array; what was copied is removed. */
static int copy(const char *made, const char *file)
{
    const wr_dra_library *library = &wr_dra_state;
    char text[1024];
    const char *disk[WR_DRA_DISKS];
    weir_array *from, *to;
    weir_array_options options = {.overwrite = 1};
    int code = weir_array_open(library->comm, made, WEIR_READ, NULL, &from);
    if (code)
        return code;
    weir_array_info info = *weir_array_get_info(from);
    if (info.members)
        code = wr_dra_agree(wr_dra_disks(text, sizeof text, &options, disk), 0);
    if (!code)
        code = weir_array_create(library->comm, file, &info, &options, NULL, &to);
    if (code) {
        weir_error error = *weir_error_last();
        weir_array_close(from);
        return weir_error_raise(&error);
    }
    code = weir_array_copy(from, to, wr_dra_budget());
    weir_error error = *weir_error_last();
    weir_array_close(from);
    if (code) {
        weir_array_discard(to);
        return weir_error_raise(&error);
    }
    code = weir_array_close(to);
    return code ? code : weir_array_remove(library->comm, made);
}

/* What replaces an array is its owner's, as far as that may be. */
static void keep_owner(const char *made, const char *file)
{
    struct stat facts;
    if (is_folder(made) || lstat(file, &facts) || !S_ISREG(facts.st_mode))
        return;
    int fd = open(made, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return;
    mode_t mode = facts.st_mode & 0777;
    if (fchown(fd, facts.st_uid, facts.st_gid) && fchown(fd, (uid_t)-1, facts.st_gid))
        mode &= ~(mode_t)S_IRWXG; /* it is another group then */
    fchmod(fd, mode);
    close(fd);
}

/* What is in a folder's way is set aside for that moment: a rename does not replace it. */
static int put(const char *made, const char *file, bool old)
{
    char aside[WR_DRA_PATH];
    const bool blocked = is_folder(made) && exists(file);
    if (is_other(file, old))
        return refuse(file);
    keep_owner(made, file);
    if (blocked && (!path_of(made, ".aside", aside) || rename(file, aside)))
        return wr_dra_fail_system(file, "set the older array aside");
    if (rename(made, file)) {
        int code = wr_dra_fail_system(file, "move the array to its name");
        if (blocked)
            rename(aside, file);
        return code;
    }
    if (blocked)
        unlink(aside);
    return 0;
}

/* [collective] What is moved by name only is on stable storage first. */
static int sync_made(const char *made)
{
    weir_array *array;
    int code = weir_array_open(wr_dra_state.comm, made, WEIR_READ, NULL, &array);
    if (code)
        return code;
    code = weir_array_sync(array);
    weir_error error = *weir_error_last();
    int closed = weir_array_close(array);
    return code ? weir_error_raise(&error) : closed;
}

/* Whether only a copy will do: from one file system to another, where a folder is to be replaced,
 * and of a set whose disks are named from where it is. */
static bool is_far(const char *made, const char *file)
{
    char folder[WR_DRA_PATH], other[WR_DRA_PATH];
    struct stat here, there;
    folder_of(file, folder);
    folder_of(made, other);
    return is_folder(file) || (is_folder(made) && strcmp(folder, other) != 0) ||
           stat(made, &here) || stat(folder, &there) || here.st_dev != there.st_dev;
}

/* How an array gets to its name: what rank 0 sees. */
typedef struct way {
    bool old, far, durable;
    char from[WR_DRA_PATH]; /* where it is then, but for its name; "": it has that */
} way;

static int find_way(const char *made, const char *file, way *w)
{
    char left[WR_DRA_PATH], folder[WR_DRA_PATH];
    *w = (way){.old = wr_dra_look(file, left) == WR_DRA_OLD,
               .far = is_far(made, file),
               .durable = is_durable()};
    if (!w->far) {
        snprintf(w->from, sizeof w->from, "%s", made);
        return 0;
    }
    folder_of(file, folder);
    return w->old ? invent(folder, file, ".new-", w->from)
                  : 0; /* no array may overwrite its file */
}

/* A failure says where the new array is, and in words that end with `file` what is wrong. */
static int say_where(int code, const char *where, const char *what, const char *file)
{
    weir_error error = *weir_error_last();
    char text[WEIR_ERROR_TEXT];
    if (!code)
        return 0;
    memcpy(text, error.text, sizeof text);
    snprintf(error.text, sizeof error.text, "the new array is here, %s %.100s: %.100s", what, file,
             text);
    const size_t length = strlen(where), room = sizeof error.file - 1;
    snprintf(error.file, sizeof error.file, "%s", length > room ? where + length - room : where);
    return weir_error_raise(&error);
}

/* Rank 0: an array that is beside its name gets it. */
static int finish(const way *w, const char *file)
{
    int code = *w->from ? put(w->from, file, w->old) : 0;
    if (code)
        return say_where(code, w->from, "for it cannot be moved to", file);
    if (*w->from)
        code = sync_folder_of(file);
    return say_where(code, file, "but a power failure may undo its move to", file);
}

/* The old array goes last: until the new one has its name, both are there. */
int wr_dra_move(const char *made, const char *file)
{
    way w = {0};
    int code = wr_dra_state.rank == 0 ? find_way(made, file, &w) : 0;
    code = wr_dra_agree(code, 0);
    MPI_Bcast(&w, sizeof w, MPI_BYTE, 0, wr_dra_state.comm);
    if (!code && w.far)
        code = copy(made, *w.from ? w.from : file);
    else if (!code && w.durable)
        code = sync_made(made);
    if (code)
        return say_where(code, made, "for it cannot be moved to", file);
    if (wr_dra_state.rank == 0) {
        code = finish(&w, file);
        if (!code && w.old)
            wr_dra_old_remove(file, true);
    }
    return wr_dra_agree(code, 0);
}
