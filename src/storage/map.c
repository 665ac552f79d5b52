/* A file is mapped as a whole. Pages are read in by MADV_POPULATE_READ, which fails where a touch
 * would be a SIGBUS, and a bitmap remembers which are there. */
#include "storage/map.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/arith.h"
#include "base/guard.h"

/* MADV_POPULATE_READ of Linux 5.14, which headers may not know yet. */
enum { POPULATE_READ = 22, BITS = 64 };

/* The system maps neighbours along that are in the cache, so many bytes in all, or a page. */
enum { AROUND = 64 << 10 };

/* The bits of a word from `first` on, up to `end` or to the word's end. */
static uint64_t bits_of(int64_t first, int64_t end)
{
    int64_t count = wr_min(end, wr_round_down(first, BITS) + BITS) - first;
    uint64_t ones = count == BITS ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1;
    return ones << first % BITS;
}

static size_t bitmap_bytes(int64_t bytes)
{
    return (size_t)(bytes / wr_page_bytes() / BITS + 1) * sizeof(uint64_t);
}

void wr_map_close(wr_map *m)
{
    if (m->base)
        munmap(m->base, (size_t)m->bytes);
    if (m->held)
        munmap(m->held, 2 * bitmap_bytes(m->bytes));
    *m = (wr_map){0};
}

/* The file's bytes; 0: not known. */
static int64_t size_of(const wr_storage *s)
{
    struct stat status;
    return fstat(s->plain_fd, &status) ? 0 : status.st_size;
}

bool wr_map_reach(wr_map *m, const wr_storage *s, int64_t hi)
{
    if (hi <= m->bytes)
        return true;
    if (s->plain_fd < 0 || !s->facts.local || s->facts.direct)
        return false;
    const int64_t bytes = size_of(s);
    if (hi > bytes)
        return false;
    wr_map_close(m);
    const bool writable = (fcntl(s->plain_fd, F_GETFL) & O_ACCMODE) == O_RDWR;
    const int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    void *base = mmap(NULL, (size_t)bytes, protection, MAP_SHARED, s->plain_fd, 0);
    if (base == MAP_FAILED)
        return false;
    m->base = base;
    m->bytes = bytes;
    m->shift = __builtin_ctzll((unsigned long long)wr_page_bytes());
    m->writable = writable;
    madvise(base, (size_t)bytes, MADV_DONTFORK);
    void *held = mmap(NULL, 2 * bitmap_bytes(bytes), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (held == MAP_FAILED) {
        wr_map_close(m);
        return false;
    }
    m->held = held;
    m->written = m->held + bitmap_bytes(bytes) / sizeof *m->held;
    return true;
}

/* Whether all bits from `first` to before `end` are set. */
static bool holds(const uint64_t *bits, int64_t first, int64_t end)
{
    for (int64_t page = first; page < end; page = wr_round_down(page, BITS) + BITS) {
        uint64_t wanted = bits_of(page, end);
        if ((bits[page / BITS] & wanted) != wanted)
            return false;
    }
    return true;
}

static void set(uint64_t *bits, int64_t first, int64_t end)
{
    for (int64_t page = first; page < end; page = wr_round_down(page, BITS) + BITS)
        bits[page / BITS] |= bits_of(page, end);
}

bool wr_map_was_written(const wr_map *m, int64_t lo, int64_t hi)
{
    return holds(m->written, lo >> m->shift, ((hi - 1) >> m->shift) + 1);
}

void wr_map_mark_written(wr_map *m, int64_t lo, int64_t hi)
{
    set(m->written, lo >> m->shift, ((hi - 1) >> m->shift) + 1);
}

bool wr_map_hold(wr_map *m, int64_t lo, int64_t hi)
{
    const int64_t first = lo >> m->shift, end = ((hi - 1) >> m->shift) + 1;
    if (holds(m->held, first, end))
        return true;
    const int64_t bytes = wr_page_bytes(), around = wr_max(AROUND, bytes);
    int failed;
    do
        failed = madvise(m->base + first * bytes, (size_t)((end - first) * bytes), POPULATE_READ);
    while (failed && errno == EINTR);
    if (failed)
        return false;
    set(m->held, first, end);
    m->mapped += wr_round_up(hi, around) - wr_round_down(lo, around);
    return true;
}

bool wr_map_is_within(const wr_storage *s, int64_t hi)
{
    return hi <= size_of(s);
}

/* The size comes last: what of a page lies behind the end reads as zeros. */
bool wr_map_read(wr_map *m, const wr_storage *s, int64_t hi, void (*read)(void *user), void *user)
{
    bool good = wr_guard_run(m->base, m->bytes, read, user) && hi <= size_of(s);
    if (!good)
        wr_map_close(m); /* what was held may be no more */
    return good;
}

void wr_map_stamp(const wr_storage *s)
{
    futimens(s->plain_fd, NULL); /* a page that is dirty is stored to unnoticed */
}

void wr_map_relax(wr_map *m, int64_t limit)
{
    if (m->mapped > limit)
        wr_map_close(m);
}

void wr_storage_advise(const wr_storage *s, int64_t lo, int64_t hi)
{
    if (s->plain_fd >= 0 && !s->facts.direct)
        posix_fadvise(s->plain_fd, lo, hi - lo, POSIX_FADV_WILLNEED);
}
