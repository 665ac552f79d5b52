/* Files of disk resident arrays: their names, the label beside them, and moving them. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dra_door.h"

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

/* --- labels --- */

static int write_all(const char *path, const char *text, size_t length)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return wr_dra_fail_system(path, "create the label");
    ssize_t done = write(fd, text, length);
    int code = done == (ssize_t)length ? 0 : wr_dra_fail_system(path, "write the label");
    if (close(fd) && !code)
        code = wr_dra_fail_system(path, "write the label");
    return code;
}

/* Never half a label: it is written under another name. */
int wr_dra_label_write(const char *file, const wr_dra_label *label)
{
    char path[WR_DRA_PATH], other[WR_DRA_PATH], text[256];
    path_of(file, ".dra", path);
    path_of(file, ".dra-new", other);
    int length = snprintf(text, sizeof text, label_form, label->ga_type,
                          label->writing ? "writing" : "whole", label->name);
    int code = write_all(other, text, (size_t)length);
    if (!code && rename(other, path))
        code = wr_dra_fail_system(path, "name the label");
    return code;
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

static bool find_left(const char *file, char left[WR_DRA_PATH])
{
    char escaped[2 * WR_DRA_ABSOLUTE + 16];
    size_t length = 0;
    for (const char *c = file; *c && length < sizeof escaped - 16; c++) {
        if (strchr("*?[\\", *c))
            escaped[length++] = '\\';
        escaped[length++] = *c;
    }
    snprintf(escaped + length, sizeof escaped - length, ".partial-*");
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

int wr_dra_place(const char *file, char made[WR_DRA_PATH])
{
    char scratch[1024], name[WR_DRA_PATH], left[WR_DRA_PATH];
    *made = 0;
    int code = weir_tunable_get(NULL, "dra_scratch", scratch, sizeof scratch);
    if (code)
        return code;
    if (*scratch) {
        snprintf(name, sizeof name, "%s%s.%ld", scratch, strrchr(file, '/'), (long)getpid());
        return wr_dra_absolute(name, made);
    }
    if (wr_dra_look(file, left) == WR_DRA_OLD) /* it stays until the new one is whole */
        snprintf(made, WR_DRA_PATH, "%s.new-%ld", file, (long)getpid());
    return 0;
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
    const wr_dra_door *door = &wr_dra_state;
    char text[1024];
    const char *disk[WR_DRA_DISKS];
    weir_array *from, *to;
    weir_array_options options = {.overwrite = 1};
    int code = weir_array_open(door->comm, made, WEIR_READ, NULL, &from);
    if (code)
        return code;
    weir_array_info info = *weir_array_get_info(from);
    if (info.members)
        code = wr_dra_agree(wr_dra_disks(text, sizeof text, &options, disk), 0);
    if (!code)
        code = weir_array_create(door->comm, file, &info, &options, NULL, &to);
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
    return code ? code : weir_array_remove(door->comm, made);
}

/* What is in a folder's way is set aside for that moment: a rename does not replace it. */
static int put(const char *made, const char *file)
{
    char aside[WR_DRA_PATH];
    const bool blocked = is_folder(made) && exists(file);
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

/* Whether only a copy will do: from one file system to another, where a folder is to be replaced,
 * and of a set whose disks are named from where it is. */
static bool is_far(const char *made, const char *file)
{
    char folder[WR_DRA_PATH];
    struct stat here, there;
    const bool beside = !strncmp(made, file, strlen(file));
    snprintf(folder, sizeof folder, "%s", file);
    *strrchr(folder, '/') = 0;
    return is_folder(file) || (is_folder(made) && !beside) || stat(made, &here) ||
           stat(*folder ? folder : "/", &there) || here.st_dev != there.st_dev;
}

/* How an array gets to its name: what rank 0 sees. */
typedef struct way {
    bool old, far;
    char from[WR_DRA_PATH]; /* where it is then, but for its name; "": it has that */
} way;

static way find_way(const char *made, const char *file)
{
    char left[WR_DRA_PATH];
    way w = {.old = wr_dra_look(file, left) == WR_DRA_OLD, .far = is_far(made, file)};
    if (!w.far)
        snprintf(w.from, sizeof w.from, "%s", made);
    else if (w.old) /* whose file no array may overwrite */
        snprintf(w.from, sizeof w.from, "%s.new-%ld", file, (long)getpid());
    return w;
}

static int say_where(int code, const char *made, const char *file)
{
    weir_error error = *weir_error_last();
    char text[WEIR_ERROR_TEXT];
    snprintf(text, sizeof text, "%s", error.text);
    snprintf(error.text, sizeof error.text,
             "the new array is here, for it cannot be moved to %.100s: %.100s", file, text);
    const size_t length = strlen(made), room = sizeof error.file - 1;
    snprintf(error.file, sizeof error.file, "%s", length > room ? made + length - room : made);
    return code ? weir_error_raise(&error) : 0;
}

/* The old array goes last: until the new one has its name, both are there. */
int wr_dra_move(const char *made, const char *file)
{
    way w = {0};
    if (wr_dra_state.rank == 0)
        w = find_way(made, file);
    MPI_Bcast(&w, sizeof w, MPI_BYTE, 0, wr_dra_state.comm);
    int code = 0;
    if (w.far)
        code = say_where(copy(made, *w.from ? w.from : file), made, file);
    if (code)
        return code;
    if (wr_dra_state.rank == 0) {
        if (*w.from)
            code = say_where(put(w.from, file), w.from, file);
        if (!code && w.old)
            wr_dra_old_remove(file, true);
    }
    return wr_dra_agree(code, 0);
}
