/* Shared segments are files in a memory file system. Their pages are allocated at creation, so that
 * a full file system is an error here and not a SIGBUS at the first touch. */
#include "transport/region.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/limit.h"

enum { ATTEMPTS = 100, MODE = 0600 };

static int map(int fd, const char *name, int64_t bytes, wr_region *out)
{
    void *base = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED)
        return wr_fail_system(errno, name, -1, "map shared memory");
    madvise(base, (size_t)bytes, MADV_DONTFORK);
    *out = (wr_region){base, bytes};
    return 0;
}

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int wr_segment_create(const char *folder, int64_t bytes, char name[WR_REGION_NAME], wr_region *out)
{
    int fd = -1;
    for (int i = 0; fd < 0 && i < ATTEMPTS; i++) {
        snprintf(name, WR_REGION_NAME, "%s/weir-%d-%llx", folder, (int)getpid(),
                 (unsigned long long)now());
        fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, MODE);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0)
        return wr_fail_system(errno, name, -1, "create shared memory");
    int code = 0, error;
    do
        error = bytes > wr_file_limit() ? EFBIG : posix_fallocate(fd, 0, bytes);
    while (error == EINTR);
    if (error)
        code = wr_fail_system(error, name, -1, "reserve shared memory");
    if (!code)
        code = map(fd, name, bytes, out);
    close(fd);
    if (code)
        unlink(name);
    return code;
}

int wr_segment_open(const char *name, int64_t bytes, wr_region *out)
{
    int fd = open(name, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return wr_fail_system(errno, name, -1, "open shared memory");
    int code = map(fd, name, bytes, out);
    close(fd);
    return code;
}

void wr_segment_unlink(const char *name)
{
    unlink(name);
}

void wr_region_close(wr_region *region)
{
    if (region->base)
        munmap(region->base, (size_t)region->bytes);
    *region = (wr_region){0};
}
