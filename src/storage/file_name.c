/* A name is an open folder, a name in it, and the device and inode found there: before it is
 * removed the file must still be the same one. */
#include "storage/file_name.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/paths.h"

const wr_file_name wr_file_name_none = {.folder = -1};

/* 0 or an errno. */
static int find(wr_file_name *n, const char *path, const wr_storage *s)
{
    char folder[WR_PATH];
    struct stat status;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const size_t length = strlen(name) + 1;
    if (wr_path_folder(path, folder, sizeof folder))
        return ENAMETOOLONG;
    n->name = wr_alloc((int64_t)length);
    if (!n->name)
        return ENOMEM;
    memcpy(n->name, name, length);
    n->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (n->folder < 0 || fstatat(n->folder, name, &status, 0))
        return errno;
    n->device = status.st_dev;
    n->number = status.st_ino;
    /* a striped file has another identity */
    return s->facts.disks || s->facts.identity == (int64_t)status.st_ino ? 0 : ENOENT;
}

void wr_file_name_open(wr_file_name *n, const char *path, const wr_storage *s)
{
    *n = wr_file_name_none;
    n->error = find(n, path, s);
}

void wr_file_name_close(wr_file_name *n)
{
    if (n->folder >= 0)
        close(n->folder);
    wr_free(n->name);
    *n = wr_file_name_none;
}

/* Of a striped file: all, as far as they are there. */
static int remove_parts(const wr_storage *s)
{
    int code = 0;
    for (int64_t i = 0; i < s->facts.disks; i++) {
        int64_t offset = i * s->facts.stripe;
        const char *part = wr_storage_locate(s, &offset);
        if (unlink(part) && errno != ENOENT && errno != ENOTDIR && !code)
            code = wr_fail_system(errno, part, -1, "remove");
    }
    return code;
}

int wr_file_name_remove(const wr_file_name *n, const wr_storage *s)
{
    struct stat status;
    int error = n->error;
    if (!error && fstatat(n->folder, n->name, &status, 0))
        error = errno;
    if (!error && (status.st_dev != n->device || status.st_ino != n->number)) {
        wr_fail(WEIR_ENOENT, "another file has that name by now, and is left alone");
        wr_error_note_file(s->path, -1);
        return WEIR_ENOENT;
    }
    if (!error && unlinkat(n->folder, n->name, 0))
        error = errno;
    return error ? wr_fail_system(error, s->path, -1, "remove") : remove_parts(s);
}
