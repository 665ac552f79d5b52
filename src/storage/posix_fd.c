/* Opening descriptors, asking the system about them, locking, and cutting transfers into pieces
 * that one system call can move: an aligned body past the cache, head and tail through it. */
#include "storage/posix_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/arith.h"
#include "storage/folder.h"
#include "storage/lock.h"
#include "storage/systems.h"

enum { LONGEST = 1 << 30 }; /* below what the kernel moves at once */

static void ask_system(int fd, const wr_tunables *tunables, wr_storage_facts *facts)
{
    const wr_system *system = wr_system_of(fd, &facts->system);
    facts->kind = system->name;
    facts->local = system->coherence == WR_OWN;
    facts->weak = tunables->coherence.which == WR_COHERENCE_AUTO
                      ? wr_system_is_weak(system)
                      : tunables->coherence.which == WR_COHERENCE_WEAK;
    facts->carries = facts->weak && system->coherence == WR_WEAK;
}

void wr_storage_ask_system(const char *path, const wr_tunables *tunables, wr_storage_facts *facts)
{
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd >= 0)
        ask_system(fd, tunables, facts);
    if (fd >= 0)
        close(fd);
}

static int system_flags(int flags)
{
    int access = O_RDONLY;
    if (flags & WR_OPEN_WRITE)
        access = flags & WR_OPEN_READ ? O_RDWR : O_WRONLY;
    return access | O_CLOEXEC | (flags & WR_OPEN_CREATE ? O_CREAT : 0) |
           (flags & WR_OPEN_EXCLUSIVE ? O_EXCL : 0);
}

/* A pipe must not keep us; what holds a lease on a file may. Then rings would take O_NONBLOCK to
 * mean that they must not wait for the device. */
static int open_at_once(int folder, const char *path, int flags)
{
    int fd = wr_open_at(folder, path, flags | O_NONBLOCK, 0666);
    if (fd < 0 && errno == EAGAIN)
        return wr_open_at(folder, path, flags, 0666);
    if (fd >= 0)
        fcntl(fd, F_SETFL, 0);
    return fd;
}

/* 0, or what is wrong with a file that is open: transfers are at offsets, and must end. */
static int check_kind(int fd, struct stat *status)
{
    if (fstat(fd, status))
        return errno;
    if (S_ISDIR(status->st_mode))
        return EISDIR;
    return S_ISFIFO(status->st_mode) || S_ISSOCK(status->st_mode) ? ESPIPE : 0;
}

static bool is_same(int a, int b)
{
    struct stat one, other;
    return !fstat(a, &one) && !fstat(b, &other) && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* The file of a descriptor, whatever has its path by now; -1 and errno, also where there is no
 * /proc. */
static int open_again(int file, int flags)
{
    char same[40];
    snprintf(same, sizeof same, "/proc/self/fd/%d", file);
    int fd = wr_open_at(AT_FDCWD, same, flags, 0);
    if (fd < 0 || is_same(fd, file))
        return fd;
    close(fd);
    errno = ESTALE;
    return -1;
}

enum { TWIN_PATH = 64 };

static bool name_twin(const wr_twin *twin, char name[TWIN_PATH])
{
    if (!twin || twin->descriptor < 0)
        return false;
    snprintf(name, TWIN_PATH, "/proc/%lld/fd/%d", (long long)twin->process, twin->descriptor);
    return true;
}

static bool is_marked(const struct stat *status, const wr_file_mark *mark)
{
    return (int64_t)status->st_dev == mark->device && (int64_t)status->st_ino == mark->number;
}

/* -1 where there is none of it, as for processes of other users or containers. */
static int open_twin(const wr_twin *twin, int flags)
{
    char name[TWIN_PATH];
    struct stat status;
    int fd = name_twin(twin, name) ? open_at_once(AT_FDCWD, name, flags) : -1;
    if (fd < 0 || (!fstat(fd, &status) && is_marked(&status, &twin->mark)))
        return fd;
    close(fd);
    return -1;
}

bool wr_twin_size(const wr_twin *twin, int64_t *size)
{
    char name[TWIN_PATH];
    struct statx facts;
    if (!name_twin(twin, name) ||
        statx(AT_FDCWD, name, AT_STATX_FORCE_SYNC, STATX_TYPE | STATX_SIZE | STATX_INO, &facts) ||
        !S_ISREG(facts.stx_mode) || (int64_t)facts.stx_ino != twin->mark.number ||
        (int64_t)makedev(facts.stx_dev_major, facts.stx_dev_minor) != twin->mark.device)
        return false;
    *size = (int64_t)facts.stx_size;
    return true;
}

static int open_origin(const wr_storage *s, const char *path, int flags)
{
    const wr_origin *origin = s->origin;
    int fd = s->twin ? open_twin(s->twin, flags) : -1;
    if (fd >= 0)
        return fd;
    if (origin && origin->file >= 0)
        return open_again(origin->file, flags);
    return origin ? open_at_once(origin->folder, origin->name, flags)
                  : open_at_once(AT_FDCWD, path, flags);
}

bool wr_fd_is_trusted(const wr_storage *s)
{
    char name[TWIN_PATH];
    const wr_origin *origin = s->origin;
    if (name_twin(s->twin, name))
        return wr_system_trusts(AT_FDCWD, name);
    if (!origin)
        return wr_system_trusts(AT_FDCWD, s->path);
    snprintf(name, sizeof name, "/proc/self/fd/%d", origin->file);
    return origin->file >= 0 ? wr_system_trusts(AT_FDCWD, name)
                             : wr_system_trusts(origin->folder, origin->name);
}

wr_file_mark wr_mark_of(const struct stat *status)
{
    const int64_t second = 1000000000;
    return (wr_file_mark){.device = (int64_t)status->st_dev,
                          .number = (int64_t)status->st_ino,
                          .size = status->st_size,
                          .modified = status->st_mtim.tv_sec * second + status->st_mtim.tv_nsec,
                          .changed = status->st_ctim.tv_sec * second + status->st_ctim.tv_nsec};
}

/* A page is the least alignment of bodies: one that is dirtied through the cache by a head must not
 * be written back over what went past the cache. */
static void ask_alignment(wr_fd *f)
{
    f->align = wr_page_bytes();
    f->memory_align = WR_DIRECT_ALIGN;
#ifdef STATX_DIOALIGN
    struct statx facts;
    if (!statx(f->buffered, "", AT_EMPTY_PATH, STATX_DIOALIGN, &facts) &&
        (facts.stx_mask & STATX_DIOALIGN) && facts.stx_dio_offset_align) {
        f->align = wr_max(facts.stx_dio_offset_align, f->align);
        f->memory_align = wr_max(facts.stx_dio_mem_align, 1);
    }
#endif
}

static void open_direct(wr_storage *s, wr_fd *f, int flags)
{
    f->direct = open_again(f->buffered, (flags & O_ACCMODE) | O_CLOEXEC | O_DIRECT);
    if (f->direct < 0) {
        wr_log_line(s->log, WR_LOG_INFO, "%s: no direct access: %s", s->path, strerror(errno));
        return;
    }
    ask_alignment(f);
    if (s->twin)
        return;
    s->facts.direct = true;
    s->facts.alignment = f->align;
}

/* 0, or what is wrong with it as the storage's file. */
static int check_file(const wr_storage *s, int fd, struct stat *status)
{
    int wrong = check_kind(fd, status);
    const bool known = !wrong && s->twin && s->twin->descriptor >= 0;
    return known && !is_marked(status, &s->twin->mark) ? ESTALE : wrong;
}

/* The newest state of the file. One that was created just now is opened again: a descriptor that
 * creates may be one that caches where others do not. 0 or an errno. */
static int see_newest(wr_storage *s, wr_fd *f, const char *path, int flags, struct stat *status)
{
    int wrong, fd = flags & O_CREAT ? open_origin(s, path, flags & ~(O_CREAT | O_EXCL)) : -1;
    if (fd >= 0) {
        close(f->buffered);
        f->buffered = fd;
    }
    wrong = wr_system_refresh(f->buffered, false); /* leaves its times as they are */
    return wrong ? wrong : check_file(s, f->buffered, status);
}

/* What the file system and the file tell; of a twin that is known, and the host has its newest
 * state since the other process opened it. */
static int ask(wr_storage *s, wr_fd *f, const char *path, int flags, struct stat *status)
{
    if (!s->twin) {
        s->facts.alignment = 1;
        s->facts.direct = false;
        ask_system(f->buffered, s->tunables, &s->facts);
    }
    const bool new = !s->twin || s->twin->descriptor < 0;
    int wrong = s->facts.weak && new ? see_newest(s, f, path, flags, status) : 0;
    if (!wrong && !s->twin) {
        s->facts.identity = (int64_t)status->st_ino;
        s->facts.mark = wr_mark_of(status);
        s->facts.descriptor = f->buffered;
    }
    return wrong;
}

int wr_fd_open(wr_storage *s, wr_fd *f, const char *path, int flags)
{
    *f = (wr_fd){.direct = -1,
                 .readable = flags & WR_OPEN_READ || !(flags & WR_OPEN_WRITE),
                 .writable = flags & WR_OPEN_WRITE};
    f->buffered = open_origin(s, path, system_flags(flags));
    if (f->buffered < 0)
        return wr_fail_system(errno, s->path, -1,
                              errno == ENXIO ? "open a pipe, socket or missing device" : "open");
    struct stat status;
    int wrong = check_file(s, f->buffered, &status);
    if (wrong) {
        wr_fd_close(f);
        return wr_fail_system(wrong, s->path, -1,
                              wrong == ESPIPE   ? "open a pipe"
                              : wrong == ESTALE ? "open: another file has its name now"
                                                : "open");
    }
    wrong = ask(s, f, path, system_flags(flags), &status);
    if (!wrong && flags & WR_OPEN_TRUNCATE && S_ISREG(status.st_mode) && ftruncate(f->buffered, 0))
        wrong = errno;
    if (wrong) {
        wr_fd_close(f);
        return wr_fail_system(wrong, s->path, -1, "open");
    }
    if (s->tunables->direct.which == WR_SWITCH_ALWAYS)
        open_direct(s, f, system_flags(flags));
    f->limit = f->writable && S_ISREG(status.st_mode) ? s->limit : INT64_MAX;
    f->plain = f->direct < 0 && f->limit == INT64_MAX;
    s->plain_fd = f->plain ? f->buffered : -1;
    return 0;
}

int wr_fd_close(wr_fd *f)
{
    int error = 0; /* a file system on a network may tell only now that a write failed */
    if (f->direct >= 0 && close(f->direct))
        error = errno;
    if (f->buffered >= 0 && close(f->buffered))
        error = errno;
    f->direct = f->buffered = -1;
    return error;
}

/* Not fstat, which says 0 for a block device. Transfers do not use the file's position. */
int wr_fd_get_size(wr_storage *s, int64_t *size)
{
    const wr_fd *f = s->state;
    off_t end = lseek(f->buffered, 0, SEEK_END);
    if (end < 0)
        return wr_fail_system(errno, s->path, -1, "get the size of");
    *size = end;
    return 0;
}

int wr_fd_set_size(wr_storage *s, int64_t size)
{
    const wr_fd *f = s->state;
    int64_t now = 0;
    int wrong = size > f->limit ? wr_fd_get_size(s, &now) : 0;
    if (wrong)
        return wrong;
    if (size > f->limit && size > now)
        return wr_fail_system(EFBIG, s->path, size, "set the size");
    do
        wrong = ftruncate(f->buffered, size);
    while (wrong && errno == EINTR);
    return wrong ? wr_fail_system(errno, s->path, size, "set the size") : 0;
}

int wr_fd_sync(wr_storage *s, enum wr_sync how)
{
    const wr_fd *f = s->state;
    int wrong = 0;
    if (how == WR_SYNC_REFRESH && s->facts.weak)
        wrong = wr_system_refresh(f->buffered, f->writable);
    else
        while (fsync(f->buffered) && (wrong = errno) == EINTR)
            wrong = 0;
    if (!wrong && f->direct >= 0 && fsync(f->direct)) /* some systems keep data by descriptor */
        wrong = errno;
    return wrong ? wr_fail_system(wrong, s->path, -1, "sync") : 0;
}

/* Behind all data: a byte that says that somebody waits at the lease barrier, then one for each
 * lease, then one for each byte of the file, where claims are made. */
static const int64_t waiting = INT64_C(1) << 62, first_lease = (INT64_C(1) << 62) + 1,
                     first_claim = (INT64_C(1) << 62) + 1 + WR_LEASES;

static int call_lock(const wr_storage *s, int command, struct flock *range)
{
    const wr_fd *f = s->state;
    if (s->facts.local ? !fcntl(f->buffered, command, range)
                       : !wr_system_lock(f->buffered, command, range))
        return 0;
    if (errno == EAGAIN || errno == EACCES || errno == EINTR)
        return 1;
    return wr_fail_system(errno, s->path, range->l_start,
                          range->l_type == F_UNLCK ? "unlock" : "lock");
}

static int set_lock(const wr_storage *s, short type, int64_t lo, int64_t hi)
{
    return call_lock(
        s, F_OFD_SETLK,
        &(struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = lo, .l_len = hi - lo});
}

/* The first lock of somebody else in a range that is in the way of one of this type, which is
 * F_UNLCK if there is none. */
static int find_lock(const wr_storage *s, short type, int64_t lo, int64_t hi, struct flock *out)
{
    *out = (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = lo, .l_len = hi - lo};
    return call_lock(s, F_OFD_GETLK, out);
}

/* Two who would take one at the same moment as somebody rings: he waits for one more lease. */
static int take_lease(const wr_storage *s, int64_t number)
{
    struct flock rung;
    int code = s->facts.local ? find_lock(s, F_WRLCK, waiting, first_lease, &rung) : 1;
    if (code || rung.l_type != F_UNLCK)
        return code ? code : 1;
    return set_lock(s, F_WRLCK, first_lease + number, first_lease + number + 1);
}

static short shared_type(const wr_fd *f)
{
    return f->readable ? F_RDLCK : F_WRLCK;
}

/* Shared by all who hold it: wake-up word and leases in one call, or else the wake-up word alone.
 */
static int enter_lease_barrier(const wr_storage *s, wr_fd *f)
{
    int code = 0;
    if (!f->barriers && s->facts.local)
        code = set_lock(s, shared_type(f), waiting, first_lease + WR_LEASES);
    if (code == 1 && set_lock(s, shared_type(f), waiting, first_lease) < 0)
        code = weir_error_last()->code;
    f->barriers += !code;
    return code;
}

static int leave_lease_barrier(const wr_storage *s, wr_fd *f)
{
    f->barriers--;
    return f->barriers || !s->facts.local ? 0
                                          : set_lock(s, F_UNLCK, waiting, first_lease + WR_LEASES);
}

static int lock_claim(const wr_storage *s, int kind, int64_t lo, int64_t hi)
{
    const int64_t end = INT64_MAX - 1 - first_claim; /* the last byte is wr_system_refresh's */
    struct flock other;
    lo = first_claim + wr_min(lo, end - 1);
    hi = first_claim + wr_min(hi, end);
    if (kind == WR_LOCK_CLAIMED)
        return !find_lock(s, F_WRLCK, lo, hi, &other) && other.l_type != F_UNLCK &&
               other.l_start >= first_claim; /* somebody's lock of all there is claims nothing */
    return set_lock(s, kind == WR_LOCK_CLAIM ? shared_type(s->state) : F_UNLCK, lo, hi);
}

static int name_holder(const wr_storage *s, int64_t lo, int64_t hi)
{
    struct flock other;
    char who[40] = "somebody (see /proc/locks)", what[160], end[32] = "the end";
    int code = find_lock(s, F_RDLCK, lo, hi, &other);
    if (!code && other.l_type == F_UNLCK)
        code = find_lock(s, F_WRLCK, lo, hi, &other);
    if (!code && other.l_type == F_UNLCK) /* or a lease */
        code = find_lock(s, F_WRLCK, waiting, first_claim, &other);
    if (code || other.l_type == F_UNLCK)
        return code;
    if (other.l_pid > 0)
        snprintf(who, sizeof who, "process %lld", (long long)other.l_pid);
    if (other.l_len)
        snprintf(end, sizeof end, "%lld", (long long)other.l_start + other.l_len);
    snprintf(what, sizeof what, "lock: %s has %s lock on bytes %lld to %s", who,
             other.l_type == F_RDLCK ? "a shared" : "an exclusive", (long long)other.l_start, end);
    return wr_fail_system(EAGAIN, s->path, lo, what);
}

/* The kernel wants a readable descriptor for a shared lock and a writable one for an exclusive one.
 * Who cannot write needs no more than that nobody else does. */
int wr_fd_lock(wr_storage *s, int kind, int64_t lo, int64_t hi)
{
    wr_fd *f = s->state;
    lo = wr_min(lo, waiting - 1);
    hi = wr_min(hi, waiting);
    switch ((enum wr_lock_kind)kind) {
    case WR_LOCK_SHARED:
        return set_lock(s, shared_type(f), lo, hi);
    case WR_LOCK_EXCLUSIVE:
    case WR_LOCK_MODIFY:
        return set_lock(s, f->writable ? F_WRLCK : F_RDLCK, lo, hi);
    case WR_LOCK_NONE:
        return set_lock(s, F_UNLCK, lo, hi);
    case WR_LOCK_BARRIER:
        return enter_lease_barrier(s, f);
    case WR_LOCK_GATE_NONE:
        return leave_lease_barrier(s, f);
    case WR_LOCK_BELL_NONE:
        return f->barriers || !s->facts.local ? 0 : set_lock(s, F_UNLCK, waiting, first_lease);
    case WR_LOCK_PASS:
        return take_lease(s, lo);
    case WR_LOCK_PASS_NONE:
        return set_lock(s, F_UNLCK, first_lease + lo, first_lease + hi);
    case WR_LOCK_CLAIM:
    case WR_LOCK_CLAIM_NONE:
    case WR_LOCK_CLAIMED:
        return lock_claim(s, kind, lo, hi);
    case WR_LOCK_HOLDER:
        return name_holder(s, lo, hi);
    }
    return wr_fail(WEIR_EINVAL, "no such lock");
}

void wr_lane_init(wr_lane *lane, wr_storage *s, wr_fd *f)
{
    *lane = (wr_lane){.storage = s, .fd = f};
}

static void *take(wr_lane *lane, int64_t bytes)
{
    if (wr_budget_take(lane->storage->budget, bytes))
        return NULL;
    void *memory = wr_alloc(bytes);
    if (!memory)
        wr_budget_give(lane->storage->budget, bytes);
    return memory;
}

static void give(wr_lane *lane, void *memory, int64_t bytes)
{
    if (memory)
        wr_budget_give(lane->storage->budget, bytes);
    wr_free(memory);
}

/* The kernel takes longer for an entry of an iovec than a copy of so many bytes does. */
enum { WORTH_AN_ENTRY = 256 };

enum { IOV_BYTES = WR_IOVS * (int)sizeof(struct iovec) };

static bool need_iov(wr_lane *lane)
{
    if (!lane->iov)
        lane->iov = take(lane, IOV_BYTES);
    return lane->iov;
}

static int64_t bounce_bytes(const wr_lane *lane)
{
    return WR_BOUNCE + lane->fd->memory_align;
}

static bool need_bounce(wr_lane *lane)
{
    if (!lane->bounce)
        lane->bounce = take(lane, bounce_bytes(lane));
    return lane->bounce;
}

static char *aligned_bounce(const wr_lane *lane)
{
    uintptr_t align = (uintptr_t)wr_max(lane->fd->memory_align, 1);
    return lane->bounce + (align - (uintptr_t)lane->bounce % align) % align;
}

void wr_lane_release(wr_lane *lane)
{
    give(lane, lane->iov, IOV_BYTES);
    if (lane->bounce)
        give(lane, lane->bounce, bounce_bytes(lane));
    lane->iov = NULL;
    lane->bounce = NULL;
}

/* A stretch of a transfer that is one extent in the file. */
typedef struct stretch {
    char *memory;
    int64_t offset, bytes;
    int64_t near; /* how much of it is one extent in memory */
} stretch;

static stretch locate(const wr_transfer *t, int64_t at, int64_t end)
{
    int64_t bytes = wr_min(end - at, LONGEST);
    if (wr_transfer_is_flat(t))
        return (stretch){t->memory + at, t->offset + at, bytes, bytes};
    int64_t i = at / t->run, in = at % t->run;
    stretch x = {.memory = t->memory + i * t->memory_stride + in,
                 .offset = t->offset + i * t->stride + in,
                 .near = wr_min(t->run - in, bytes)};
    x.bytes = t->stride == t->run ? bytes : x.near;
    if (t->memory_stride == t->run)
        x.near = x.bytes;
    return x;
}

/* Whole runs; with sizes that the compiler knows it copies the usual elements fast. */
static void copy_whole(const wr_transfer *t, char *memory, char *flat, int64_t count)
{
    const int64_t run = t->run, stride = t->memory_stride;
    const bool write = t->direction == WR_WRITE;
#define COPY(size)                                                                                 \
    for (int64_t i = 0; i < count; i++)                                                            \
    memcpy(write ? flat + i *run : memory + i * stride,                                            \
           write ? memory + i * stride : flat + i * run, (size_t)(size))
    if (run == 4)
        COPY(4);
    else if (run == 8)
        COPY(8);
    else if (run == 16)
        COPY(16);
    else
        COPY(run);
#undef COPY
}

/* Copies data [at, at + bytes) of t's memory to or from a flat buffer. */
static void copy_runs(const wr_transfer *t, int64_t at, char *flat, int64_t bytes)
{
    for (int64_t end = at + bytes; at < end;) {
        stretch x = locate(t, at, end);
        int64_t whole = at % t->run ? 0 : (end - at) / t->run;
        if (whole > 1 && x.near == t->run) {
            copy_whole(t, x.memory, flat, whole);
            flat += whole * t->run;
            at += whole * t->run;
            continue;
        }
        if (t->direction == WR_WRITE)
            memcpy(flat, x.memory, (size_t)x.near);
        else
            memcpy(x.memory, flat, (size_t)x.near);
        flat += x.near;
        at += x.near;
    }
}

static bool is_aligned(const void *memory, int64_t align)
{
    return (uintptr_t)memory % (uintptr_t)align == 0;
}

/* Whether entries for x's runs can go through the direct descriptor. */
static bool entries_aligned(const wr_fd *f, const wr_transfer *t, const stretch *x)
{
    return t->run % f->align == 0 && t->memory_stride % f->memory_align == 0 &&
           is_aligned(x->memory, f->memory_align);
}

static void list_entries(wr_lane *lane, const wr_transfer *t, int64_t at, wr_piece *piece)
{
    int64_t end = at + piece->bytes;
    while (at < end && piece->entries < WR_IOVS) {
        stretch x = locate(t, at, end);
        lane->iov[piece->entries++] = (struct iovec){x.memory, (size_t)x.near};
        at += x.near;
    }
    piece->bytes -= end - at;
}

static void bounce_piece(wr_lane *lane, const wr_transfer *t, int64_t at, wr_piece *piece)
{
    piece->bytes = wr_min(piece->bytes, WR_BOUNCE);
    piece->memory = aligned_bounce(lane);
    piece->bounced = true;
    if (t->direction == WR_WRITE)
        copy_runs(t, at, piece->memory, piece->bytes);
}

/* The body of x through the direct descriptor; false if x starts with a head or is a tail, or the
 * body would need a bounce buffer and there is none. */
static bool cut_direct(wr_lane *lane, const wr_transfer *t, int64_t at, stretch *x, wr_piece *piece)
{
    const wr_fd *f = lane->fd;
    int64_t past = x->offset % f->align;
    if (past) {
        x->bytes = wr_min(x->bytes, f->align - past);
        return false;
    }
    int64_t body = wr_round_down(x->bytes, f->align);
    if (!body)
        return false;
    bool plain = x->near >= body && is_aligned(x->memory, f->memory_align);
    bool listed = !plain && entries_aligned(f, t, x) && need_iov(lane);
    if (!plain && !listed && !need_bounce(lane))
        return false;
    piece->fd = f->direct;
    piece->bytes = body;
    if (listed)
        list_entries(lane, t, at, piece);
    else if (!plain)
        bounce_piece(lane, t, at, piece);
    return true;
}

/* What of x may be written; false: nothing. */
static bool keep_limit(const wr_fd *f, stretch *x)
{
    if (x->offset >= f->limit)
        return false;
    x->bytes = wr_min(x->bytes, f->limit - x->offset);
    x->near = wr_min(x->near, x->bytes);
    return true;
}

void wr_lane_cut(wr_lane *lane, const wr_transfer *t, int64_t at, int64_t end, wr_piece *piece)
{
    stretch x = locate(t, at, end);
    *piece = (wr_piece){.fd = lane->fd->buffered, .memory = x.memory, .offset = x.offset};
    if (t->direction == WR_WRITE && !keep_limit(lane->fd, &x)) {
        piece->fd = -1;
        piece->bytes = x.bytes;
        return;
    }
    if (lane->fd->direct >= 0 && !lane->fd->refused && cut_direct(lane, t, at, &x, piece))
        return;
    piece->bytes = x.bytes;
    if (x.bytes <= x.near)
        return;
    if (t->run < WORTH_AN_ENTRY && need_bounce(lane))
        bounce_piece(lane, t, at, piece);
    else if (need_iov(lane))
        list_entries(lane, t, at, piece);
    else
        piece->bytes = x.near;
}

int wr_lane_finish(wr_lane *lane, const wr_transfer *t, int64_t at, const wr_piece *piece,
                   int64_t result)
{
    if (piece->bounced && result > 0 && t->direction == WR_READ)
        copy_runs(t, at, piece->memory, result);
    if (result >= 0)
        return 0;
    if (result != -EINVAL || piece->fd != lane->fd->direct)
        return (int)-result;
    if (!atomic_exchange(&lane->fd->refused, true)) /* of several lanes the first says so */
        wr_log_line(lane->storage->log, WR_LOG_WARN, "%s: direct access refused, not used",
                    lane->storage->path);
    return EAGAIN;
}

int64_t wr_lane_move(const wr_lane *lane, enum wr_direction direction, const wr_piece *p)
{
    const bool reads = direction == WR_READ;
    ssize_t moved;
    if (p->fd < 0)
        return -EFBIG;
    if (p->entries)
        moved = reads ? preadv(p->fd, lane->iov, p->entries, p->offset)
                      : pwritev(p->fd, lane->iov, p->entries, p->offset);
    else
        moved = reads ? pread(p->fd, p->memory, (size_t)p->bytes, p->offset)
                      : pwrite(p->fd, p->memory, (size_t)p->bytes, p->offset);
    return moved < 0 ? -errno : moved;
}

int wr_lane_run(wr_lane *lane, const wr_transfer *t, int64_t from, int64_t to, int64_t *moved)
{
    int64_t at = from, result;
    int error = 0;
    wr_piece piece;
    do {
        wr_lane_cut(lane, t, at, to, &piece);
        result = wr_lane_move(lane, t->direction, &piece);
        error = wr_lane_finish(lane, t, at, &piece, result);
        at += wr_max(result, 0);
    } while (result == piece.bytes && at < to);
    *moved = at - from;
    return error;
}
