/* Copying: by the file system itself where it can share blocks, by the kernel where it can, and
 * otherwise through a buffer; only where there are data. */
#include "storage/file_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arith.h"
#include "base/error.h"
#include "base/limit.h"
#include "base/memory.h"
#include "storage/paths.h"

enum { AT_ONCE = 8 << 20 }; /* between two looks at whether it should go on */

static int fail(const wr_folder *in, const char *name, int error, const char *what)
{
    char path[WR_PATH];
    const bool joined = !wr_path_join(in->path, name, path, sizeof path);
    return wr_fail_system(error, joined ? path : name, -1, what);
}

/* --- one file --- */

typedef struct pair {
    int from, to;
    int64_t size;
    bool buffered; /* the kernel does not copy between these */
    bool reading;  /* what has failed is that */
    char *buffer;
} pair;

static int told(wr_copying *c, int64_t bytes)
{
    c->done += bytes;
    if (c->progress && c->progress(c->user, c->done, c->all))
        return wr_fail(WEIR_EINTERRUPTED, "interrupted");
    return 0;
}

/* 0 or an errno; *moved is 0 at the end of the file. */
static int move_buffered(pair *p, int64_t at, int64_t bytes, int64_t *moved)
{
    if (!p->buffer && !(p->buffer = wr_alloc(AT_ONCE)))
        return ENOMEM;
    ssize_t got = pread(p->from, p->buffer, (size_t)bytes, at);
    *moved = got;
    p->reading = got <= 0;
    for (int64_t put = 0; put < got;) {
        ssize_t done = pwrite(p->to, p->buffer + put, (size_t)(got - put), at + put);
        if (done < 0 && errno != EINTR)
            return errno;
        put += done > 0 ? done : 0;
    }
    return got < 0 && errno != EINTR ? errno : 0;
}

static int move(pair *p, int64_t at, int64_t bytes, int64_t *moved)
{
    off_t in = at, out = at;
    if (!p->buffered) {
        *moved = copy_file_range(p->from, &in, p->to, &out, (size_t)bytes, 0);
        if (*moved > 0)
            return 0;
        const int error = *moved < 0 ? errno : 0;
        if (error == ENOSPC || error == EDQUOT || error == EFBIG)
            return error;
        p->buffered = error != EINTR; /* also to learn which of both files has an error */
    }
    return move_buffered(p, at, bytes, moved);
}

/* Where data begin from `at` on, and where they end. */
static bool find_data(const pair *p, int64_t *at, int64_t *end)
{
    off_t data = lseek(p->from, *at, SEEK_DATA);
    if (data < 0 && errno == ENXIO)
        return false;
    if (data < 0) { /* it does not know */
        *end = p->size;
        return *at < p->size;
    }
    off_t hole = lseek(p->from, data, SEEK_HOLE);
    *end = hole > data ? wr_min(hole, p->size) : p->size;
    *at = data;
    return *at < p->size;
}

/* 0 or an errno, or a negative code if it was interrupted. */
static int move_all(pair *p, wr_copying *c)
{
    int64_t at = 0, end = 0, told_at = 0, moved = 0;
    if (p->size > wr_file_limit())
        return EFBIG;
    if (!ioctl(p->to, FICLONE, p->from))
        return told(c, p->size);
    if (ftruncate(p->to, p->size))
        return errno;
    while (find_data(p, &at, &end))
        while (at < end) {
            int code = move(p, at, wr_min(end - at, AT_ONCE), &moved);
            if (!code && !moved)
                return EIO; /* the file has become shorter */
            at += moved > 0 ? moved : 0;
            if (!code)
                code = told(c, at - told_at);
            if (code)
                return code;
            told_at = at;
        }
    return told(c, p->size - told_at);
}

/* As far as it may. Who may not be given a file gets one without its set-user-id. */
static void mimic(const struct stat *s, int to)
{
    struct timespec times[] = {s->st_atim, s->st_mtim};
    mode_t mode = s->st_mode & 07777;
    struct stat own;
    if (!fstat(to, &own) && (own.st_uid != s->st_uid || own.st_gid != s->st_gid) &&
        fchown(to, s->st_uid, s->st_gid)) {
        mode &= ~(mode_t)07000;
        if (own.st_gid != s->st_gid && fchown(to, (uid_t)-1, s->st_gid))
            mode &= ~(mode_t)S_IRWXG | (mode & (mode_t)S_IRWXO) << 3;
    }
    fchmod(to, mode);
    futimens(to, times);
}

static bool has_changed(const struct stat *a, int fd)
{
    struct stat b;
    return fstat(fd, &b) || a->st_size != b.st_size || a->st_mtim.tv_sec != b.st_mtim.tv_sec ||
           a->st_mtim.tv_nsec != b.st_mtim.tv_nsec;
}

static int copy_open(const wr_copied *w, pair *p, wr_copying *c, bool sync)
{
    struct stat s;
    if (fstat(p->from, &s))
        return fail(w->from, w->name, errno, "look at");
    if (!S_ISREG(s.st_mode))
        return fail(w->from, w->name, EINVAL, "copy what is no file");
    p->size = s.st_size;
    int code = move_all(p, c);
    if (code < 0)
        return code;
    if ((!code || p->reading) && has_changed(&s, p->from)) {
        code = wr_fail(WEIR_EIO, "the file has changed while it was copied");
        wr_error_note_file(w->name, -1);
        return code;
    }
    if (code)
        return p->reading ? fail(w->from, w->name, code, "read")
                          : fail(w->to, w->made, code, "write");
    mimic(&s, p->to);
    return sync && fsync(p->to) ? fail(w->to, w->made, errno, "sync") : 0;
}

static int copy_file(const wr_copied *w, wr_copying *c, bool sync)
{
    pair p = {.from = wr_open_at(w->from->fd, w->name, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0)};
    if (p.from < 0)
        return fail(w->from, w->name, errno, "open");
    p.to =
        wr_open_once(w->to->fd, w->made, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int code = p.to < 0 ? fail(w->to, w->made, errno, "create") : copy_open(w, &p, c, sync);
    if (p.to >= 0 && close(p.to) && !code)
        code = fail(w->to, w->made, errno, "write");
    close(p.from);
    wr_free(p.buffer);
    if (code && p.to >= 0)
        unlinkat(w->to->fd, w->made, 0);
    return code;
}

int wr_file_copy(const wr_copied *w, wr_copying *c)
{
    return copy_file(w, c, c->durable);
}

/* --- folders --- */

/* More files than these are synced together with all else on their file system. */
enum { ONE_BY_ONE = 256 };

void wr_folder_mimic(const wr_folder *from, const wr_folder *to)
{
    struct stat s;
    if (!fstat(from->fd, &s))
        mimic(&s, to->fd);
}

int wr_file_mimic(const wr_copied *w, bool sync)
{
    struct stat s;
    if (fstatat(w->from->fd, w->name, &s, 0))
        return fail(w->from, w->name, errno, "look at");
    const int fd = wr_open_once(w->to->fd, w->made, O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0);
    int code = fd < 0 ? fail(w->to, w->made, errno, "open") : 0;
    if (!code)
        mimic(&s, fd);
    if (!code && sync && fsync(fd))
        code = fail(w->to, w->made, errno, "sync");
    if (fd >= 0)
        close(fd);
    return code;
}

typedef struct copier {
    const wr_folder *to;
    wr_copying *copying;
} copier;

static int copy_link(const wr_folder *from, const wr_folder *to, const char *name)
{
    char target[PATH_MAX];
    ssize_t length = readlinkat(from->fd, name, target, sizeof target - 1);
    if (length < 0)
        return fail(from, name, errno, "read the link");
    target[length] = 0;
    return symlinkat(target, to->fd, name) ? fail(to, name, errno, "create") : 0;
}

static int copy_entries(const wr_folder *from, const wr_folder *to, wr_copying *c);

static int copy_folder(const wr_folder *from, const wr_folder *to, const char *name, wr_copying *c)
{
    wr_folder old = {.fd = -1}, made = {.fd = -1};
    int code = wr_folder_open_inside(from, name, &old);
    if (!code && mkdirat(to->fd, name, 0700))
        code = fail(to, name, errno, "make folder");
    if (!code)
        code = wr_folder_open_inside(to, name, &made);
    if (!code)
        code = copy_entries(&old, &made, c);
    wr_folder_close(&made);
    wr_folder_close(&old);
    return code;
}

static int copy_entry(void *user, const wr_folder *in, const char *name)
{
    const copier *c = user;
    wr_folder_entry entry, behind = {0};
    int code = wr_folder_look(in, name, false, &entry);
    if (!code && entry.kind == WR_ENTRY_LINK)
        code = wr_folder_look(in, name, true, &behind);
    if (code || entry.kind == WR_ENTRY_NONE)
        return code;
    if (entry.kind == WR_ENTRY_FOLDER)
        return copy_folder(in, c->to, name, c->copying);
    if (entry.kind == WR_ENTRY_LINK && behind.kind == WR_ENTRY_NONE)
        return copy_link(in, c->to, name);
    if (entry.kind == WR_ENTRY_FILE || behind.kind == WR_ENTRY_FILE)
        return copy_file(&(wr_copied){in, c->to, name, name}, c->copying,
                         c->copying->durable && c->copying->files++ < ONE_BY_ONE);
    code = wr_fail(WEIR_EUNSUPPORTED, "neither a file nor a folder, and so not copied");
    wr_error_note_file(name, -1);
    return code;
}

/* And the folder's own permissions, which may forbid to write to it. */
static int copy_entries(const wr_folder *from, const wr_folder *to, wr_copying *c)
{
    copier user = {to, c};
    int code = wr_folder_each(from, copy_entry, &user);
    if (code)
        return code;
    wr_folder_mimic(from, to);
    return c->durable && c->files <= ONE_BY_ONE ? wr_folder_sync(to) : 0;
}

int wr_tree_copy(const wr_folder *from, const wr_folder *to, wr_copying *c)
{
    c->files = 0;
    int code = copy_entries(from, to, c);
    if (!code && c->durable && c->files > ONE_BY_ONE && syncfs(to->fd))
        code = fail(to, "", errno, "sync");
    return code;
}

static int measure_entry(void *user, const wr_folder *in, const char *name)
{
    struct stat s;
    wr_folder below;
    if (fstatat(in->fd, name, &s, AT_SYMLINK_NOFOLLOW))
        return 0;
    if (!S_ISDIR(s.st_mode)) {
        *(int64_t *)user += S_ISREG(s.st_mode) ? s.st_size : 0;
        return 0;
    }
    int code = wr_folder_open_inside(in, name, &below);
    if (!code)
        code = wr_folder_each(&below, measure_entry, user);
    wr_folder_close(&below);
    return code;
}

int wr_tree_measure(const wr_folder *in, int64_t *bytes)
{
    *bytes = 0;
    return wr_folder_each(in, measure_entry, bytes);
}

static int remove_entry(void *user, const wr_folder *in, const char *name)
{
    (void)user;
    wr_tree_remove(in, name);
    return 0;
}

void wr_tree_remove(const wr_folder *in, const char *name)
{
    const weir_error error = *weir_error_last();
    wr_folder_entry entry;
    wr_folder below;
    if (!wr_folder_look(in, name, false, &entry) && entry.kind == WR_ENTRY_FOLDER &&
        !wr_folder_open_inside(in, name, &below)) {
        fchmod(below.fd, S_IRWXU); /* a copy has the permissions of the original */
        wr_folder_each(&below, remove_entry, NULL);
        wr_folder_close(&below);
    }
    wr_folder_remove(in, name);
    wr_error_raise(&error);
}
