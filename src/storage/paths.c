/* System calls on names, repeated where they are interrupted. */
#include "storage/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arith.h"
#include "base/error.h"
#include "base/limit.h"
#include "base/memory.h"

/* Below what the kernel moves at once. */
enum { LONGEST = 1 << 30 };

int wr_path_exists(const char *path, bool *exists)
{
    struct stat status;
    int error = lstat(path, &status) ? errno : 0;
    if (error && error != ENOENT && error != ENOTDIR)
        return wr_fail_system(error, path, -1, "look at");
    *exists = !error;
    return 0;
}

/* Where the file system knows no rename that refuses to replace. A link refuses too, but there are
 * none to folders. */
static int rename_in_steps(const char *from, const char *to)
{
    struct stat status;
    if (!link(from, to))
        return unlink(from) ? errno : 0;
    if (errno == EEXIST || !lstat(to, &status))
        return EEXIST;
    return rename(from, to) ? errno : 0;
}

int wr_path_rename(const char *from, const char *to, bool replace)
{
    unsigned how = replace ? 0 : RENAME_NOREPLACE;
    int error = renameat2(AT_FDCWD, from, AT_FDCWD, to, how) ? errno : 0;
    if (error == EINVAL || error == ENOSYS) {
        if (!replace)
            error = rename_in_steps(from, to);
        else
            error = rename(from, to) ? errno : 0;
    }
    if (error == EEXIST || error == ENOTEMPTY)
        return wr_fail_system(EEXIST, to, -1, "rename to");
    return error ? wr_fail_system(error, from, -1, "rename") : 0;
}

int wr_path_exchange(const char *a, const char *b)
{
    if (!renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE))
        return 0;
    int error = errno == EINVAL || errno == ENOSYS ? EOPNOTSUPP : errno;
    return wr_fail_system(error, b, -1, "exchange with its successor");
}

int wr_path_is_folder(const char *path, bool *folder)
{
    struct stat status;
    if (stat(path, &status))
        return wr_fail_system(errno, path, -1, "look at");
    *folder = S_ISDIR(status.st_mode);
    return 0;
}

int wr_path_remove(const char *path)
{
    if (!remove(path))
        return 0;
    return wr_fail_system(errno == ENOTEMPTY ? EEXIST : errno, path, -1, "remove");
}

int wr_path_make_folder(const char *path, bool exclusive)
{
    struct stat status;
    if (!mkdir(path, 0777))
        return 0;
    int error = errno;
    if (error == EEXIST && !exclusive && !stat(path, &status) && S_ISDIR(status.st_mode))
        return 0;
    return wr_fail_system(error, path, -1, "make folder");
}

static int open_path(const char *path, int flags)
{
    int fd;
    do
        fd = open(path, flags | O_CLOEXEC, 0666);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* 0 or an errno. *moved may be less than `bytes` only at the end of the file. */
static int read_all(int fd, char *memory, int64_t bytes, int64_t *moved)
{
    *moved = 0;
    while (*moved < bytes) {
        ssize_t got = read(fd, memory + *moved, (size_t)wr_min(bytes - *moved, LONGEST));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? errno : 0;
        *moved += got;
    }
    return 0;
}

int wr_path_head(const char *path, int64_t most, char *out, int64_t *got, int64_t *size)
{
    struct stat status;
    int fd = open_path(path, O_RDONLY | O_NONBLOCK), code = 0;
    if (fd < 0)
        return wr_fail_system(errno, path, -1, "open");
    int error = fstat(fd, &status) ? errno : 0;
    if (!error && !S_ISREG(status.st_mode)) {
        code = wr_fail(WEIR_EFORMAT, "this is no regular file");
        wr_error_note_file(path, -1);
    } else if (!error) {
        *size = status.st_size;
        error = read_all(fd, out, most, got);
    }
    close(fd);
    return error ? wr_fail_system(error, path, 0, "read") : code;
}

static int write_all(int fd, const char *memory, int64_t bytes, int64_t *moved)
{
    *moved = 0;
    if (bytes > wr_file_limit()) /* from the start of the file */
        return EFBIG;
    while (*moved < bytes) {
        ssize_t put = write(fd, memory + *moved, (size_t)wr_min(bytes - *moved, LONGEST));
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return put < 0 ? errno : EIO;
        *moved += put;
    }
    return 0;
}

static int sync_fd(int fd)
{
    int wrong;
    do
        wrong = fsync(fd);
    while (wrong && errno == EINTR);
    return wrong ? errno : 0;
}

static int resize(int fd, int64_t size)
{
    int wrong;
    if (size > wr_file_limit())
        return EFBIG;
    do
        wrong = ftruncate(fd, size);
    while (wrong && errno == EINTR);
    return wrong ? errno : 0;
}

static int read_open(int fd, const char *path, int64_t most, char **text, int64_t *length)
{
    struct stat status;
    if (fstat(fd, &status))
        return wr_fail_system(errno, path, -1, "look at");
    if (!S_ISREG(status.st_mode) || status.st_size > most) {
        wr_fail(WEIR_EFORMAT, "not a file of at most %lld bytes", (long long)most);
        wr_error_note_file(path, -1);
        return WEIR_EFORMAT;
    }
    char *memory = wr_alloc(status.st_size + 1);
    if (!memory)
        return WEIR_ENOMEM;
    int error = read_all(fd, memory, status.st_size, length);
    if (error) {
        wr_free(memory);
        return wr_fail_system(error, path, *length, "read");
    }
    memory[*length] = 0;
    *text = memory;
    return 0;
}

int wr_path_read(const char *path, int64_t most, char **text, int64_t *length)
{
    int fd = open_path(path, O_RDONLY | O_NONBLOCK); /* a pipe must not keep us */
    if (fd < 0)
        return wr_fail_system(errno, path, -1, "open");
    int code = read_open(fd, path, most, text, length);
    close(fd);
    return code;
}

/* What a new file gets. */
typedef struct content {
    const void *data;
    int64_t bytes;
    int64_t size; /* -1: as many as there are bytes */
    bool sync;
} content;

static int put_open(int fd, const char *path, const content *c)
{
    int64_t moved;
    int error = write_all(fd, c->data, c->bytes, &moved);
    if (error)
        return wr_fail_system(error, path, moved, "write");
    if (c->size >= 0 && (error = resize(fd, c->size)))
        return wr_fail_system(error, path, c->size, "set the size of");
    if (c->sync && (error = sync_fd(fd)))
        return wr_fail_system(error, path, -1, "sync");
    return 0;
}

static int put(const char *path, int flags, const content *c)
{
    int fd = open_path(path, O_WRONLY | O_CREAT | flags);
    if (fd < 0)
        return wr_fail_system(errno, path, -1, "create");
    int code = put_open(fd, path, c);
    if (close(fd) && errno != EINTR && !code)
        code = wr_fail_system(errno, path, -1, "close");
    if (code)
        unlink(path);
    return code;
}

int wr_path_write(const char *path, const void *data, int64_t bytes, bool exclusive)
{
    return put(path, exclusive ? O_EXCL : O_TRUNC, &(content){data, bytes, -1, true});
}

int wr_path_fill(const char *path, const void *head, int64_t head_bytes, int64_t size)
{
    if (head_bytes > size) {
        wr_fail(WEIR_EINVAL, "%lld bytes cannot start with %lld", (long long)size,
                (long long)head_bytes);
        wr_error_note_file(path, -1);
        return WEIR_EINVAL;
    }
    return put(path, O_EXCL, &(content){head, head_bytes, size, false});
}

int wr_path_sync_folder(const char *path)
{
    char folder[WR_PATH];
    int code = wr_path_folder(path, folder, sizeof folder);
    if (code)
        return code;
    int fd = open_path(folder, O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return wr_fail_system(errno, folder, -1, "open");
    int error = sync_fd(fd);
    close(fd);
    if (error == EINVAL) /* a file system that cannot, and so keeps names safe in its own way */
        error = 0;
    return error ? wr_fail_system(error, folder, -1, "sync") : 0;
}

static int too_long(const char *path)
{
    wr_fail(WEIR_ERANGE, "the path is too long");
    wr_error_note_file(path, -1);
    return WEIR_ERANGE;
}

int wr_path_join(const char *folder, const char *name, char *out, int64_t room)
{
    size_t length = strlen(folder);
    bool bare = *name == '/' || !length;
    const char *slash = bare || folder[length - 1] == '/' ? "" : "/";
    int need = snprintf(out, (size_t)room, "%s%s%s", bare ? "" : folder, slash, name);
    return need < 0 || need >= room ? too_long(name) : 0;
}

int wr_path_folder(const char *path, char *out, int64_t room)
{
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    while (end > 0 && path[end - 1] != '/')
        end--;
    while (end > 1 && path[end - 1] == '/')
        end--;
    const char *from = end ? path : ".";
    end = end ? end : 1;
    if ((int64_t)end >= room)
        return too_long(path);
    memcpy(out, from, end);
    out[end] = 0;
    return 0;
}
