/* A kernel with pages of 64 KiB, as far as a process can tell: preloaded, this tells their size,
 * maps at multiples of it, and refuses addresses that are not. */
#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 64 << 10, SMALL_PAGE = 4 << 10, POPULATE_READ = 22 };

static size_t whole(size_t length)
{
    return (length + PAGE - 1) / PAGE * PAGE;
}

static int refuse(const void *address)
{
    errno = EINVAL;
    return (uintptr_t)address % PAGE != 0;
}

long sysconf(int name)
{
    extern long __sysconf(int name); /* the C library's other name for it */
    if (name == _SC_PAGESIZE)
        return PAGE;
    return name == _SC_PHYS_PAGES ? __sysconf(name) / (PAGE / SMALL_PAGE) : __sysconf(name);
}

int getpagesize(void)
{
    return PAGE;
}

static void *map(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
    return (void *)syscall(SYS_mmap, address, length, protection, flags, fd, offset);
}

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
    length = whole(length);
    if (address || flags & MAP_FIXED)
        return map(address, length, protection, flags, fd, offset);
    char *all =
        map(NULL, length + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED)
        return all;
    char *first = all + (PAGE - (uintptr_t)all % PAGE) % PAGE;
    if (first > all)
        syscall(SYS_munmap, all, (size_t)(first - all));
    if (first < all + PAGE)
        syscall(SYS_munmap, first + length, (size_t)(all + PAGE - first));
    return map(first, length, protection, flags | MAP_FIXED, fd, offset);
}

int munmap(void *address, size_t length)
{
    return refuse(address) ? -1 : (int)syscall(SYS_munmap, address, whole(length));
}

int mprotect(void *address, size_t length, int protection)
{
    return refuse(address) ? -1 : (int)syscall(SYS_mprotect, address, whole(length), protection);
}

/* In a file's last page what lies behind its end could be had. */
static int populate(char *address, size_t length)
{
    for (size_t at = 0; at < length; at += SMALL_PAGE)
        if (syscall(SYS_madvise, address + at, (size_t)SMALL_PAGE, POPULATE_READ))
            return at / PAGE == (length - 1) / PAGE && at % PAGE ? 0 : -1;
    return 0;
}

int madvise(void *address, size_t length, int advice)
{
    if (refuse(address))
        return -1;
    return advice == POPULATE_READ ? populate(address, whole(length))
                                   : (int)syscall(SYS_madvise, address, whole(length), advice);
}
