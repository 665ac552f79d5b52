/* System calls on the entries of a folder, repeated where they are interrupted. */
#include "storage/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/arith.h"
#include "base/error.h"
#include "base/limit.h"
#include "base/memory.h"
#include "storage/paths.h"
#include "storage/systems.h"

/* Below what the kernel moves at once. */
enum { LONGEST = 1 << 30 };

enum { PERMISSIONS = 07777 };

const wr_folder wr_folder_here = {AT_FDCWD, ""};

static void note_file(const wr_folder *in, const char *name, int64_t offset)
{
    char path[WR_PATH];
    const weir_error error = *weir_error_last();
    if (!*name || wr_path_join(in->path, name, path, sizeof path)) {
        wr_error_raise(&error);
        wr_error_note_file(*name ? name : in->path, offset);
    } else {
        wr_error_note_file(path, offset);
    }
}

static int fail(const wr_folder *in, const char *name, int error, const char *what)
{
    int code = wr_fail_system(error, name, -1, what);
    note_file(in, name, -1);
    return code;
}

int wr_open_once(int folder, const char *name, int flags, mode_t mode)
{
    int fd;
    do
        fd = folder == AT_FDCWD ? open(name, flags, mode) : openat(folder, name, flags, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

int wr_open_at(int folder, const char *name, int flags, mode_t mode)
{
    int fd = wr_open_once(folder, name, flags, mode);
    const int error = errno;
    if (fd < 0 && (error == ENOENT || error == ESTALE) && wr_system_list(folder, name))
        return wr_open_once(folder, name, flags, mode); /* another host has made it meanwhile */
    errno = error;
    return fd;
}

static int open_at(const wr_folder *in, const char *name, int flags, mode_t mode)
{
    return wr_open_at(in->fd, name, flags | O_CLOEXEC, mode);
}

/* --- folders --- */

/* Without leave to read it: enough for everything but wr_folder_sync. */
static int open_folder(const wr_folder *in, const char *name, int flags)
{
    int fd = open_at(in, name, O_RDONLY | O_DIRECTORY | flags, 0);
    return fd < 0 && errno == EACCES ? open_at(in, name, O_PATH | O_DIRECTORY | flags, 0) : fd;
}

int wr_folder_open(const wr_folder *in, const char *path, wr_folder *out)
{
    out->fd = -1;
    int code = wr_path_join(in->path, path, out->path, sizeof out->path);
    if (code)
        return code;
    out->fd = open_folder(in, path, 0);
    return out->fd < 0 ? fail(in, path, errno, "open folder") : 0;
}

int wr_folder_open_inside(const wr_folder *in, const char *path, wr_folder *out)
{
    char part[NAME_MAX + 1];
    *out = *in;
    out->fd = *path == '/' ? -1 : open_folder(in, ".", 0);
    if (out->fd < 0)
        return fail(in, path, *path == '/' ? EACCES : errno, "open folder");
    while (*path) {
        const size_t length = strcspn(path, "/");
        wr_folder next = {-1, ""};
        snprintf(part, sizeof part, "%.*s", (int)wr_min((int64_t)length, NAME_MAX), path);
        int error = !strcmp(part, "..") ? EACCES : length > NAME_MAX ? ENAMETOOLONG : 0;
        if (length && !error) {
            next.fd = open_folder(out, part, O_NOFOLLOW);
            error = next.fd < 0 ? errno : 0;
            wr_path_join(out->path, part, next.path, sizeof next.path);
        }
        if (error) {
            wr_folder_close(out);
            return fail(in, path, error == ELOOP || error == ENOTDIR ? EACCES : error,
                        "open folder");
        }
        if (length) {
            wr_folder_close(out);
            *out = next;
        }
        path += length + (path[length] == '/');
    }
    return 0;
}

void wr_folder_close(wr_folder *folder)
{
    if (folder->fd >= 0)
        close(folder->fd);
    folder->fd = -1;
}

static int sync_fd(int fd)
{
    int wrong;
    do
        wrong = fsync(fd);
    while (wrong && errno == EINTR);
    return wrong ? errno : 0;
}

/* EINVAL: a file system that cannot, and so keeps names safe in its own way. */
int wr_folder_sync(const wr_folder *folder)
{
    int error = sync_fd(folder->fd);
    if (error == EBADF) /* it may not be read */
        error = EACCES;
    return error && error != EINVAL ? fail(folder, "", error, "sync folder") : 0;
}

int64_t wr_folder_longest(const wr_folder *folder)
{
    long most = fpathconf(folder->fd, _PC_NAME_MAX);
    return most > 0 && most < NAME_MAX ? most : NAME_MAX;
}

/* --- looking --- */

int wr_folder_look(const wr_folder *in, const char *name, bool follow, wr_folder_entry *out)
{
    struct stat s;
    *out = (wr_folder_entry){.kind = WR_ENTRY_NONE};
    wr_system_list(in->fd, name);
    int error = fstatat(in->fd, name, &s, follow ? 0 : AT_SYMLINK_NOFOLLOW) ? errno : 0;
    if (error == ENOENT || error == ENOTDIR)
        return 0;
    if (error)
        return fail(in, name, error, "look at");
    *out = (wr_folder_entry){.kind = S_ISREG(s.st_mode)   ? WR_ENTRY_FILE
                                     : S_ISDIR(s.st_mode) ? WR_ENTRY_FOLDER
                                     : S_ISLNK(s.st_mode) ? WR_ENTRY_LINK
                                                          : WR_ENTRY_OTHER,
                             .mode = s.st_mode & PERMISSIONS,
                             .user = s.st_uid,
                             .group = s.st_gid,
                             .links = (int64_t)s.st_nlink,
                             .device = s.st_dev,
                             .number = s.st_ino};
    return 0;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* The file system's own number rather than the device's, which may be another after a start; when
 * a file was made tells it from one that has its inode later. */
int wr_folder_identify(const wr_folder *in, const char *name, uint64_t *identity)
{
    struct statx s = {0};
    struct statfs system;
    uint64_t number;
    int fd = open_at(in, name, O_PATH | O_NOFOLLOW, 0);
    int error = fd < 0 ? errno : 0;
    if (!error &&
        (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &s) || fstatfs(fd, &system)))
        error = errno;
    if (fd >= 0)
        close(fd);
    if (error)
        return fail(in, name, error, "look at");
    _Static_assert(sizeof system.f_fsid == sizeof number, "it is copied whole");
    memcpy(&number, &system.f_fsid, sizeof number);
    *identity = mix(mix(1, number), s.stx_ino);
    if (s.stx_mask & STATX_BTIME)
        *identity = mix(mix(*identity, (uint64_t)s.stx_btime.tv_sec), s.stx_btime.tv_nsec);
    return 0;
}

/* --- names --- */

/* Where the file system knows no rename that refuses to replace. A link refuses too, but there are
 * none to folders. */
static int rename_in_steps(int at, const char *from, const char *to)
{
    struct stat status;
    if (!linkat(at, from, at, to, 0))
        return unlinkat(at, from, 0) ? errno : 0;
    if (errno == EEXIST || !fstatat(at, to, &status, AT_SYMLINK_NOFOLLOW))
        return EEXIST;
    return renameat(at, from, at, to) ? errno : 0;
}

int wr_folder_rename(const wr_folder *in, const char *from, const char *to, bool replace)
{
    unsigned how = replace ? 0 : RENAME_NOREPLACE;
    int error = renameat2(in->fd, from, in->fd, to, how) ? errno : 0;
    if (error == EINVAL || error == ENOSYS) {
        if (!replace)
            error = rename_in_steps(in->fd, from, to);
        else
            error = renameat(in->fd, from, in->fd, to) ? errno : 0;
    }
    if (error == EEXIST || error == ENOTEMPTY)
        return fail(in, to, EEXIST, "rename to");
    return error ? fail(in, from, error, "rename") : 0;
}

int wr_folder_exchange(const wr_folder *in, const char *a, const char *b)
{
    if (!renameat2(in->fd, a, in->fd, b, RENAME_EXCHANGE))
        return 0;
    int error = errno == EINVAL || errno == ENOSYS ? EOPNOTSUPP : errno;
    return fail(in, b, error, "exchange with its successor");
}

int wr_folder_link(const wr_folder *in, const char *from, const char *to)
{
    return linkat(in->fd, from, in->fd, to, 0) ? fail(in, from, errno, "link") : 0;
}

int wr_folder_restrict(const wr_folder *in, const char *name, mode_t mode)
{
    struct stat status = {0};
    int fd = open_at(in, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0);
    int error = fd < 0 || fstat(fd, &status) ? errno : 0;
    if (!error && (status.st_mode & PERMISSIONS & ~mode) &&
        fchmod(fd, status.st_mode & PERMISSIONS & mode))
        error = errno;
    if (fd >= 0)
        close(fd);
    return error ? fail(in, name, error, "set the permissions of") : 0;
}

int wr_folder_remove(const wr_folder *in, const char *name)
{
    int error = unlinkat(in->fd, name, 0) ? errno : 0;
    if (error == EISDIR || error == EPERM)
        error = unlinkat(in->fd, name, AT_REMOVEDIR) ? errno == ENOTDIR ? error : errno : 0;
    return error ? fail(in, name, error == ENOTEMPTY ? EEXIST : error, "remove") : 0;
}

/* As far as it may: where the group cannot be kept, the one it has instead gets nothing. */
static int give(int fd, const wr_owner *owner, mode_t mode)
{
    if (fchown(fd, owner->user, owner->group) && fchown(fd, (uid_t)-1, owner->group))
        mode &= ~(mode_t)(07000 | S_IRWXG);
    return fchmod(fd, mode) ? errno : 0;
}

int wr_folder_make(const wr_folder *in, const char *name, const wr_owner *owner, bool *made)
{
    struct stat status;
    int error = mkdirat(in->fd, name, owner ? 0700 : 0777) ? errno : 0;
    if (made)
        *made = !error;
    if (error == EEXIST && made && !fstatat(in->fd, name, &status, 0) && S_ISDIR(status.st_mode))
        return 0;
    if (!error && owner) {
        int fd = open_at(in, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
        error = fd < 0 ? errno : give(fd, owner, owner->folder | 0700);
        if (fd >= 0)
            close(fd);
        if (error)
            unlinkat(in->fd, name, AT_REMOVEDIR);
    }
    return error ? fail(in, name, error, "make folder") : 0;
}

/* --- whole files --- */

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

static int put_open(int fd, const wr_folder *in, const char *name, const wr_content *c)
{
    int64_t moved;
    int error = c->owner ? give(fd, c->owner, c->owner->file | 0600) : 0;
    if (error)
        return fail(in, name, error, "give away");
    error = write_all(fd, c->data, c->bytes, &moved);
    if (error) {
        int code = fail(in, name, error, "write");
        note_file(in, name, moved);
        return code;
    }
    if (c->size > c->bytes && (error = resize(fd, c->size))) {
        int code = fail(in, name, error, "set the size");
        note_file(in, name, c->size);
        return code;
    }
    if (c->sync && (error = sync_fd(fd)))
        return fail(in, name, error, "sync");
    return 0;
}

int wr_folder_put(const wr_folder *in, const char *name, const wr_content *c)
{
    const int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | (c->exclusive ? O_EXCL : O_TRUNC);
    int fd = open_at(in, name, flags, c->owner ? 0600 : 0666);
    if (fd < 0)
        return fail(in, name, errno, "create");
    int code = put_open(fd, in, name, c);
    if (close(fd) && errno != EINTR && !code)
        code = fail(in, name, errno, "close");
    if (code)
        unlinkat(in->fd, name, 0);
    return code;
}

int wr_folder_sync_file(const wr_folder *in, const char *name)
{
    int fd = open_at(in, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0);
    if (fd < 0 && errno == EACCES) /* what may be written need not be readable */
        fd = open_at(in, name, O_WRONLY | O_NONBLOCK | O_NOFOLLOW, 0);
    if (fd < 0)
        return fail(in, name, errno, "open");
    int error = sync_fd(fd);
    close(fd);
    return error ? fail(in, name, error, "sync") : 0;
}

/* What has the name by now, and its newest state, also where hosts cache. A pipe must not keep us.
 */
static int open_newest(const wr_folder *in, const char *name)
{
    int64_t number;
    int fd = open_at(in, name, O_RDONLY | O_NONBLOCK, 0);
    if (fd < 0 || !wr_system_is_weak(wr_system_of(fd, &number)))
        return fd;
    wr_system_list_open(fd);
    int again = open_at(in, name, O_RDONLY | O_NONBLOCK, 0);
    if (again >= 0) {
        close(fd);
        fd = again;
    }
    wr_system_refresh(fd, false); /* if it fails, reading will */
    return fd;
}

static int open_regular(const wr_folder *in, const char *name, struct stat *status, int *fd)
{
    *fd = open_newest(in, name);
    if (*fd < 0)
        return fail(in, name, errno, "open");
    int code = fstat(*fd, status) ? fail(in, name, errno, "look at") : 0;
    if (!code && !S_ISREG(status->st_mode)) {
        code = wr_fail(WEIR_EFORMAT, "this is no regular file");
        note_file(in, name, -1);
    }
    if (code)
        close(*fd);
    return code;
}

int wr_folder_head(const wr_folder *in, const char *name, int64_t most, char *out, int64_t *got,
                   int64_t *size)
{
    struct stat status = {0};
    int fd, code = open_regular(in, name, &status, &fd);
    if (code)
        return code;
    *size = status.st_size;
    int error = read_all(fd, out, most, got);
    close(fd);
    return error ? fail(in, name, error, "read") : 0;
}

int wr_folder_read(const wr_folder *in, const char *name, int64_t most, char **text,
                   int64_t *length)
{
    struct stat status = {0};
    char *memory = NULL;
    int fd, code = open_regular(in, name, &status, &fd);
    if (code)
        return code;
    if (status.st_size > most) {
        code = wr_fail(WEIR_EFORMAT, "not a file of at most %lld bytes", (long long)most);
        note_file(in, name, -1);
    }
    if (!code && !(memory = wr_alloc(status.st_size + 1)))
        code = WEIR_ENOMEM;
    if (memory) {
        int error = read_all(fd, memory, status.st_size, length);
        code = error ? fail(in, name, error, "read") : 0;
        memory[*length] = 0;
    }
    close(fd);
    if (code)
        wr_free(memory);
    else
        *text = memory;
    return code;
}

int wr_folder_each(const wr_folder *folder,
                   int (*each)(void *user, const wr_folder *in, const char *name), void *user)
{
    int code = 0, fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = fd < 0 ? NULL : fdopendir(fd);
    if (!entries) {
        code = wr_fail_system(errno, folder->path, -1, "list");
        if (fd >= 0)
            close(fd);
        return code;
    }
    for (struct dirent *e; !code && (e = readdir(entries));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            code = each(user, folder, e->d_name);
    closedir(entries);
    return code;
}
