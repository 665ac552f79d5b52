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
    int fd = open(path, O_RDONLY | O_CLOEXEC);
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
    int fd = open(path, O_RDONLY | O_CLOEXEC);
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
    char escaped[2 * WR_DRA_FILE + 16];
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

int wr_dra_place(const char *file, char made[WR_DRA_PATH])
{
    char scratch[1024], left[WR_DRA_PATH];
    *made = 0;
    int code = weir_tunable_get(NULL, "dra_scratch", scratch, sizeof scratch);
    if (code)
        return code;
    const char *slash = strrchr(file, '/');
    if (*scratch)
        snprintf(made, WR_DRA_PATH, "%s/%s.%ld", scratch, slash ? slash + 1 : file, (long)getpid());
    else if (wr_dra_look(file, left) == WR_DRA_OLD) /* it stays until the new one is whole */
        snprintf(made, WR_DRA_PATH, "%s.new-%ld", file, (long)getpid());
    return 0;
}

/* To another file system: by all ranks, as an array. */
static int copy(const char *made, const char *file)
{
    const wr_dra_door *door = &wr_dra_state;
    weir_array *from, *to;
    const weir_array_options options = {.overwrite = 1};
    int code = weir_array_open(door->comm, made, WEIR_READ, NULL, &from);
    if (code)
        return code;
    weir_array_info info = *weir_array_get_info(from);
    code = weir_array_create(door->comm, file, &info, &options, NULL, &to);
    if (code) {
        weir_array_close(from);
        return code;
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

int wr_dra_move(const char *made, const char *file)
{
    char left[WR_DRA_PATH];
    int64_t far = 0;
    int code = 0;
    if (wr_dra_state.rank == 0) {
        if (wr_dra_look(file, left) == WR_DRA_OLD)
            wr_dra_old_remove(file);
        far = is_folder(made) || is_folder(file) || rename(made, file);
        if (far && errno != EXDEV && !is_folder(made) && !is_folder(file))
            code = wr_dra_fail_system(made, "move the array to its name");
    }
    code = wr_dra_agree(code, 0);
    MPI_Bcast(&far, 1, MPI_INT64_T, 0, wr_dra_state.comm);
    return code || !far ? code : copy(made, file);
}
