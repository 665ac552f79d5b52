/* The table of who is trusted, and what makes the others forget.
 *
 * Each step of wr_system_refresh is for a cache that some client keeps and that nothing before it
 * reaches; docs/coherence.md has the measurements. */
#include "storage/systems.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

static const wr_system systems[] = {
    {"ext4", 0xEF53, WR_OWN},          {"xfs", 0x58465342, WR_OWN},
    {"btrfs", 0x9123683E, WR_OWN},     {"tmpfs", 0x01021994, WR_OWN},
    {"ramfs", 0x858458F6, WR_OWN},     {"hugetlbfs", 0x958458F6, WR_OWN},
    {"zfs", 0x2FC12FC1, WR_OWN},       {"f2fs", 0xF2F52010, WR_OWN},
    {"bcachefs", 0xCA451A4E, WR_OWN},  {"jfs", 0x3153464A, WR_OWN},
    {"nilfs", 0x3434, WR_OWN},         {"vfat", 0x4D44, WR_OWN},
    {"exfat", 0x2011BAB0, WR_OWN},     {"ntfs", 0x7366746E, WR_OWN},
    {"squashfs", 0x73717368, WR_OWN},  {"erofs", 0xE0F5E1E2, WR_OWN},
    {"iso9660", 0x9660, WR_OWN},       {"proc", 0x9FA0, WR_OWN},
    {"Lustre", 0x0BD00BD0, WR_SHARED}, {"GPFS", 0x47504653, WR_SHARED},
    {"BeeGFS", 0x19830326, WR_SHARED}, {"OrangeFS", 0x20030528, WR_SHARED},
    {"Ceph", 0x00C36400, WR_SHARED},   {"GFS2", 0x01161970, WR_SHARED},
    {"OCFS2", 0x7461636F, WR_SHARED},  {"NFS", 0x6969, WR_WEAK},
    {"SMB", 0xFF534D42, WR_WEAK},      {"SMB", 0xFE534D42, WR_WEAK},
    {"SMB", 0x0000517B, WR_WEAK},      {"FUSE", 0x65735546, WR_WEAK_BYTES},
    {"9p", 0x01021997, WR_WEAK},       {"AFS", 0x5346414F, WR_WEAK},
    {"PanFS", 0xAAD7AAEA, WR_WEAK},
};

enum { OVERLAY = 0x794C7630, FOLDER = 4096 };

static const wr_system unknown = {"unknown", 0, WR_WEAK}, overlay = {"overlay", OVERLAY, WR_WEAK};

static const wr_system *find(uint32_t type)
{
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        if (systems[i].type == type)
            return &systems[i];
    return &unknown;
}

/* Where the overlay of a device number keeps what is written: an option in its line of the list of
 * mounts. False: it is not told, or lies in another container's view. */
static bool find_upper(dev_t device, char *path, size_t size)
{
    char line[16384];
    bool found = false;
    FILE *mounts = fopen("/proc/self/mountinfo", "re");
    while (mounts && !found && fgets(line, sizeof line, mounts)) {
        unsigned major, minor;
        const char *upper = strstr(line, "upperdir=");
        if (!upper || sscanf(line, "%*d %*d %u:%u", &major, &minor) != 2 ||
            makedev(major, minor) != device)
            continue;
        upper += strlen("upperdir=");
        size_t length = strcspn(upper, ", \n");
        found = length < size;
        if (found) {
            memcpy(path, upper, length);
            path[length] = 0;
        }
    }
    if (mounts)
        fclose(mounts);
    return found;
}

static const wr_system *find_beneath(dev_t device)
{
    char upper[4096];
    struct statfs status;
    if (!find_upper(device, upper, sizeof upper) || statfs(upper, &status) ||
        (uint32_t)status.f_type == OVERLAY)
        return &overlay;
    return find((uint32_t)status.f_type);
}

const wr_system *wr_system_of(int fd, int64_t *number)
{
    struct statfs status;
    struct stat file;
    uint32_t id[2];
    *number = 0;
    if (fstatfs(fd, &status) || fstat(fd, &file))
        return &unknown;
    memcpy(id, &status.f_fsid, sizeof id);
    const uint64_t known = id[0] || id[1] ? (uint64_t)id[0] << 32 | id[1] : (uint64_t)file.st_dev;
    *number = (int64_t)(known * 31 + (uint32_t)status.f_type);
    return (uint32_t)status.f_type == OVERLAY ? find_beneath(file.st_dev)
                                              : find((uint32_t)status.f_type);
}

int wr_system_lock(int fd, int command, struct flock *range)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int result = fcntl(fd, command, range), wrong = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = wrong;
    return result;
}

/* The name of an open file, as a path that opens it again whatever its own name leads to. */
static void name_open(int fd, char name[40])
{
    snprintf(name, 40, "/proc/self/fd/%d", fd);
}

/* One call where the file system is trusted. */
static bool may_be_weak(int from, const char *folder)
{
    struct statfs status;
    const bool known = from == AT_FDCWD ? !statfs(folder, &status) : !fstatfs(from, &status);
    return known && wr_system_is_weak(find((uint32_t)status.f_type));
}

/* The folder of a path; returns the name in it, or NULL if the path is too long. */
static const char *split(const char *path, char folder[FOLDER])
{
    const char *last = strrchr(path, '/');
    const size_t length = last ? (size_t)(last + 1 - path) : 1;
    if (length >= FOLDER)
        return NULL;
    memcpy(folder, last ? path : ".", length);
    folder[length] = 0;
    return last ? last + 1 : path;
}

bool wr_system_trusts(int from, const char *path)
{
    char folder[FOLDER];
    struct statfs status;
    int64_t number;
    int fd = openat(from, path, O_PATH | O_CLOEXEC);
    if (fd < 0 && split(path, folder))
        fd = openat(from, folder, O_PATH | O_CLOEXEC);
    const wr_system *system = fd < 0 || fstatfs(fd, &status)       ? &unknown
                              : (uint32_t)status.f_type == OVERLAY ? wr_system_of(fd, &number)
                                                                   : find((uint32_t)status.f_type);
    if (fd >= 0)
        close(fd);
    return !wr_system_is_weak(system);
}

bool wr_system_list(int from, const char *path)
{
    char folder[FOLDER];
    const char *name = split(path, folder);
    if (!name || !may_be_weak(from, folder))
        return false;
    int64_t number;
    int fd = openat(from, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = NULL;
    if (fd >= 0 && wr_system_is_weak(wr_system_of(fd, &number)))
        names = fdopendir(fd);
    if (!names) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    const struct dirent *e;
    do
        e = readdir(names);
    while (e && strcmp(e->d_name, name) != 0);
    closedir(names);
    return true;
}

void wr_system_list_open(int fd)
{
    char name[40], path[4096];
    name_open(fd, name);
    ssize_t length = readlink(name, path, sizeof path - 1);
    if (length <= 0)
        return;
    path[length] = 0;
    wr_system_list(AT_FDCWD, path);
}

/* Clients keep small files whole, and give them up when they themselves change them: so much may be
 * allocated without a change. Who may not write lists the folder, which tells the client about all
 * in it. */
static void forget_small(int fd, bool writable)
{
    enum { SMALL = 1 << 20 };
    struct stat status;
    if (!fstat(fd, &status) && status.st_size <= SMALL &&
        (!writable || fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 1)))
        wr_system_list_open(fd);
}

/* NFS asks for the newest state when a lock is had. */
static void lock_for_a_moment(int fd, bool writable)
{
    struct flock range = {.l_type = writable ? F_WRLCK : F_RDLCK,
                          .l_whence = SEEK_SET,
                          .l_start = INT64_MAX - 1,
                          .l_len = 1};
    if (wr_system_lock(fd, F_OFD_SETLK, &range))
        return;
    range.l_type = F_UNLCK;
    wr_system_lock(fd, F_OFD_SETLK, &range);
}

int wr_system_refresh(int fd, bool writable)
{
    forget_small(fd, writable);
    return wr_system_refresh_listed(fd, writable);
}

int wr_system_refresh_listed(int fd, bool writable)
{
    char name[40];
    struct statx status;
    int wrong;
    do
        wrong = fsync(fd); /* brings the newest size, too, where statx does not */
    while (wrong && errno == EINTR);
    if (wrong && (writable || errno == EIO || errno == ESTALE))
        return errno;
    lock_for_a_moment(fd, writable);
    name_open(fd, name);
    int again = open(name, O_RDONLY | O_CLOEXEC); /* makes the kernel drop its pages */
    if (again < 0)
        again = open(name, O_WRONLY | O_CLOEXEC);
    if (again >= 0)
        close(again);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    statx(fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &status);
    return 0;
}
