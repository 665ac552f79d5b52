/* The table of who is trusted, and what makes the others forget.
 *
 * Each step of wr_system_refresh is for a cache that some client keeps and that nothing before it
 * reaches; docs/coherence.md has the measurements. */
#include "storage/systems.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

static const wr_system systems[] = {
    {0xEF53, "ext4", WR_OWN},          {0x58465342, "xfs", WR_OWN},
    {0x9123683E, "btrfs", WR_OWN},     {0x01021994, "tmpfs", WR_OWN},
    {0x858458F6, "ramfs", WR_OWN},     {0x958458F6, "hugetlbfs", WR_OWN},
    {0x2FC12FC1, "zfs", WR_OWN},       {0xF2F52010, "f2fs", WR_OWN},
    {0xCA451A4E, "bcachefs", WR_OWN},  {0x3153464A, "jfs", WR_OWN},
    {0x3434, "nilfs", WR_OWN},         {0x4D44, "vfat", WR_OWN},
    {0x2011BAB0, "exfat", WR_OWN},     {0x7366746E, "ntfs", WR_OWN},
    {0x73717368, "squashfs", WR_OWN},  {0xE0F5E1E2, "erofs", WR_OWN},
    {0x9660, "iso9660", WR_OWN},       {0x9FA0, "proc", WR_OWN},
    {0x0BD00BD0, "Lustre", WR_SHARED}, {0x47504653, "GPFS", WR_SHARED},
    {0x19830326, "BeeGFS", WR_SHARED}, {0x20030528, "OrangeFS", WR_SHARED},
    {0x00C36400, "Ceph", WR_SHARED},   {0x01161970, "GFS2", WR_SHARED},
    {0x7461636F, "OCFS2", WR_SHARED},  {0x6969, "NFS", WR_WEAK},
    {0xFF534D42, "SMB", WR_WEAK},      {0xFE534D42, "SMB", WR_WEAK},
    {0x0000517B, "SMB", WR_WEAK},      {0x65735546, "FUSE", WR_WEAK},
    {0x01021997, "9p", WR_WEAK},       {0x5346414F, "AFS", WR_WEAK},
    {0xAAD7AAEA, "PanFS", WR_WEAK},
};

enum { OVERLAY = 0x794C7630 };

static const wr_system unknown = {0, "unknown", WR_WEAK}, overlay = {OVERLAY, "overlay", WR_WEAK};

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

/* The name of an open file, as a path that opens it again whatever its own name leads to. */
static void name_open(int fd, char name[40])
{
    snprintf(name, 40, "/proc/self/fd/%d", fd);
}

bool wr_system_list(int from, const char *path)
{
    char folder[4096];
    const char *last = strrchr(path, '/'), *name = last ? last + 1 : path;
    const size_t length = last ? (size_t)(name - path) : 1;
    if (length >= sizeof folder)
        return false;
    memcpy(folder, last ? path : ".", length);
    folder[length] = 0;
    int64_t number;
    int fd = openat(from, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = NULL;
    if (fd >= 0 && wr_system_of(fd, &number)->coherence == WR_WEAK)
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
    if (fcntl(fd, F_OFD_SETLK, &range))
        return;
    range.l_type = F_UNLCK;
    fcntl(fd, F_OFD_SETLK, &range);
}

int wr_system_refresh(int fd, bool writable)
{
    char name[40];
    struct statx status;
    int wrong;
    forget_small(fd, writable);
    do
        wrong = fsync(fd); /* brings the newest size, too, where statx does not */
    while (wrong && errno == EINTR);
    if (wrong)
        return errno == EROFS || errno == EINVAL ? 0 : errno;
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
