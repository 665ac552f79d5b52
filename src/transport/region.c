/* Shared segments. Their pages are allocated at creation, so that memory that is short is an error
 * here and not a SIGBUS at the first touch. */
#include "transport/region.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limit.h"

enum { ATTEMPTS = 100, MODE = 0600 };

enum { NOEXEC_SEAL = 8 }; /* absent from older headers; a system may want to be told */

static const char prefix[] = "weir-region-";

static int map(int fd, const char *name, int64_t bytes, wr_region *out)
{
    void *base = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED)
        return wr_fail_system(errno, name, -1, "map shared memory");
    madvise(base, (size_t)bytes, MADV_DONTFORK);
    *out = (wr_region){.base = base, .bytes = bytes};
    return 0;
}

static void count(wr_region *region)
{
    region->counted = true;
    wr_memory_note(region->bytes);
}

int wr_region_own(int64_t bytes, wr_region *out)
{
    void *base =
        mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return wr_fail_system(errno, "", -1, "map memory");
    madvise(base, (size_t)bytes, MADV_DONTFORK);
    *out = (wr_region){.base = base, .bytes = bytes};
    count(out);
    return 0;
}

/* --- files: who has made one holds a lock on it as long as it has a name --- */

/* Whether it is locked now, and has its name. */
static bool hold(int fd)
{
    struct stat s;
    return !flock(fd, LOCK_EX | LOCK_NB) && !fstat(fd, &s) && s.st_nlink > 0;
}

/* Removes it, if it was left by a process that was killed: then nobody has it locked. */
static void remove_left(int folder, const char *name)
{
    struct stat s;
    if (fstatat(folder, name, &s, AT_SYMLINK_NOFOLLOW) || !S_ISREG(s.st_mode) ||
        s.st_uid != geteuid())
        return;
    int fd = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 && hold(fd))
        unlinkat(folder, name, 0);
    if (fd >= 0)
        close(fd);
}

static void clean(const char *folder)
{
    DIR *d = opendir(folder);
    if (!d)
        return;
    for (const struct dirent *e; (e = readdir(d));)
        if (!strncmp(e->d_name, prefix, sizeof prefix - 1))
            remove_left(dirfd(d), e->d_name);
    closedir(d);
}

static int make_file(const char *folder, char name[WR_REGION_NAME])
{
    int fd = -1;
    clean(folder);
    for (int i = 0; fd < 0 && i < ATTEMPTS; i++) {
        snprintf(name, WR_REGION_NAME, "%s/%s%d-%llx", folder, prefix, (int)getpid(),
                 (unsigned long long)wr_clock_day_ns());
        fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, MODE);
        if (fd < 0 && errno != EEXIST)
            break;
        if (fd >= 0 && !hold(fd)) { /* it was taken for one that is left */
            close(fd);
            fd = -1;
            errno = EEXIST;
        }
    }
    return fd;
}

/* --- anonymous memory --- */

static int make_anonymous(char name[WR_REGION_NAME])
{
    int fd = memfd_create("weir-region", MFD_CLOEXEC | NOEXEC_SEAL);
    if (fd < 0 && errno == EINVAL)
        fd = memfd_create("weir-region", MFD_CLOEXEC);
    snprintf(name, WR_REGION_NAME, "/proc/%d/fd/%d", (int)getpid(), fd);
    return fd;
}

/* --- both --- */

/* An errno, or 0. Beyond the limit of a file's size there would be a signal. */
static int reserve(int fd, int64_t bytes)
{
    int error;
    do
        error = bytes > wr_file_limit() ? EFBIG : posix_fallocate(fd, 0, bytes);
    while (error == EINTR);
    return error;
}

void wr_segment_hide(wr_segment *s)
{
    if (s->kind == WR_REGION_FILE)
        unlink(s->name);
    close(s->file);
    s->file = -1;
}

int wr_segment_create(enum wr_region_kind kind, const wr_tunables *tunables, int64_t bytes,
                      wr_segment *s, wr_region *out)
{
    const char *folder = wr_region_folder(tunables);
    struct stat found = {0};
    s->kind = kind;
    s->file = kind == WR_REGION_FILE ? make_file(folder, s->name) : make_anonymous(s->name);
    if (s->file < 0)
        return wr_fail_system(errno, s->name, -1, "create shared memory");
    int error = reserve(s->file, bytes);
    if (!error && fstat(s->file, &found))
        error = errno;
    int code = error ? wr_fail_system(error, s->name, -1, "reserve shared memory") : 0;
    if (!code)
        code = map(s->file, s->name, bytes, out);
    if (code) {
        wr_segment_hide(s);
        return code;
    }
    count(out);
    s->device = found.st_dev;
    s->inode = found.st_ino;
    return 0;
}

static bool is_segment(const wr_segment *s, const struct stat *found)
{
    return found->st_dev == s->device && found->st_ino == s->inode;
}

/* A process of the same number in another name space has other descriptors: it is looked at before
 * it is opened. */
int wr_segment_open(const wr_segment *s, int64_t bytes, wr_region *out)
{
    struct stat found;
    int fd = -1;
    if (!stat(s->name, &found) && !is_segment(s, &found))
        errno = ENXIO;
    else
        fd = open(s->name, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return wr_fail_system(errno, s->name, -1, "open shared memory");
    int code = fstat(fd, &found)       ? wr_fail_system(errno, s->name, -1, "open shared memory")
               : is_segment(s, &found) ? map(fd, s->name, bytes, out)
                                       : wr_fail_system(ENXIO, s->name, -1, "open shared memory");
    close(fd);
    return code;
}

void wr_region_close(wr_region *region)
{
    if (region->base)
        munmap(region->base, (size_t)region->bytes);
    if (region->counted)
        wr_memory_note(-region->bytes);
    *region = (wr_region){0};
}
