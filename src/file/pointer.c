/* Shared pointers: in shared memory, or in a small file that is locked while it is used. */
#include "file/pointer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arith.h"
#include "base/limit.h"
#include "file/inside.h"
#include "storage/folder.h"
#include "storage/patience.h"
#include "storage/systems.h"

/* View v is in place v modulo their number. */
typedef struct slot {
    int64_t view, position;
} slot;

typedef struct pointers {
    _Atomic uint32_t taken;
    slot slot[WR_POINTER_VIEWS];
} pointers;

_Static_assert(sizeof(pointers) <= WR_SCRATCH, "the pointers fit a channel's scratch");

enum { DIGITS = 15 }; /* of a pointer file's number */

static pointers *pointers_of(const weir_file *f)
{
    return (pointers *)(void *)f->group.channel.scratch;
}

static bool is_shared(const weir_file *f)
{
    return f->group.handle.world->transport->nodes == 1 && !f->group.channel.apart;
}

/* The first bytes of a name, and a number. */
static int make_name(const char *first, size_t bytes, char name[WR_PATH])
{
    unsigned long long number;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return wr_fail_system(errno, first, -1, "name a pointer for");
    if (bytes + DIGITS >= WR_PATH)
        return wr_fail(WEIR_ERANGE, "the name of the file is too long");
    snprintf(name, WR_PATH, "%.*s%0*llx", (int)bytes, first, DIGITS, number >> (64 - 4 * DIGITS));
    return 0;
}

/* Rank 0's name for it, from the root: ranks may call the file otherwise, and change folders. */
static int name_pointer(const weir_file *f, char name[WR_PATH])
{
    char folder[WR_PATH] = "", first[2 * WR_PATH];
    const char *path = f->group.handle.storage->path;
    if (*path != '/' && !getcwd(folder, WR_PATH - 1))
        return wr_fail_system(errno, path, -1, "name a pointer for");
    int length =
        snprintf(first, sizeof first, "%s%s%s.pointers-", folder, *folder ? "/" : "", path);
    return make_name(first, (size_t)length, name);
}

void wr_pointer_init(weir_file *f)
{
    f->pointer.file = -1;
    if (f->group.handle.world->transport->rank == 0)
        memset(pointers_of(f), 0, sizeof(pointers));
}

int wr_pointer_open(weir_file *f)
{
    char name[WR_PATH] = "";
    int code = 0;
    if (is_shared(f))
        return 0;
    f->pointer.name = wr_alloc(WR_PATH);
    if (!f->pointer.name)
        code = WEIR_ENOMEM;
    if (!code && f->group.handle.world->transport->rank == 0)
        code = name_pointer(f, name);
    code = wr_channel_agree(&f->group.channel, code);
    if (!code)
        code = wr_channel_broadcast(&f->group.channel, name, WR_PATH);
    if (!code && f->pointer.name)
        memcpy(f->pointer.name, name, WR_PATH);
    return code;
}

void wr_pointer_close(weir_file *f)
{
    if (f->pointer.file >= 0)
        close(f->pointer.file);
    f->pointer.file = -1;
}

void wr_pointer_remove(weir_file *f)
{
    if (f->pointer.name && *f->pointer.name && f->group.handle.world->transport->rank == 0)
        unlink(f->pointer.name);
    wr_free(f->pointer.name);
    f->pointer.name = NULL;
}

/* Moves the pointer of a view, or sets it. */
typedef struct change {
    int64_t view;
    bool set;
    bool for_all; /* by rank 0, while nobody else uses it */
    int64_t value, was;
} change;

static int apply(slot *s, change *c)
{
    if (s->view > c->view)
        return wr_fail(WEIR_EDISAGREE, "a shared pointer, while others are %d views ahead",
                       WR_POINTER_VIEWS);
    if (s->view < c->view)
        *s = (slot){.view = c->view};
    c->was = s->position;
    if (c->set)
        s->position = c->value;
    else if (!wr_add(s->position, c->value, &s->position))
        return wr_fail(WEIR_ERANGE, "a shared pointer beyond 2^63 bytes");
    return 0;
}

static int change_shared(weir_file *f, change *c)
{
    pointers *b = pointers_of(f);
    int tries = 0;
    while (atomic_exchange_explicit(&b->taken, 1, memory_order_acquire))
        wr_backoff(&tries);
    int code = apply(&b->slot[c->view % WR_POINTER_VIEWS], c);
    atomic_store_explicit(&b->taken, 0, memory_order_release);
    return code;
}

/* Who has the file open holds, shared, the byte behind the pointers: one that nobody holds was left
 * by a program that was killed. */
enum { POINTERS = WR_POINTER_VIEWS * sizeof(slot) };

static int lock_bytes(int file, short how, off_t from, bool waits)
{
    struct flock range = {.l_type = how, .l_whence = SEEK_SET, .l_start = from};
    range.l_len = from == POINTERS ? 1 : POINTERS;
    int result;
    do
        result = wr_system_lock(file, waits ? F_OFD_SETLKW : F_OFD_SETLK, &range);
    while (result && errno == EINTR);
    return result;
}

/* Removes a file of this name if it is a pointer of ours that nobody holds. */
static void remove_left(int folder, const char *name)
{
    struct stat s;
    if (fstatat(folder, name, &s, AT_SYMLINK_NOFOLLOW) || !S_ISREG(s.st_mode) ||
        s.st_uid != geteuid() || s.st_size > POINTERS)
        return;
    int file = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file >= 0 && !lock_bytes(file, F_WRLCK, POINTERS, false))
        unlinkat(folder, name, 0);
    if (file >= 0)
        close(file);
}

/* Removes what others have left beside the file; `name` is the own pointer's. */
static void remove_all_left(const char *name)
{
    char folder[WR_PATH];
    const char *base = strrchr(name, '/') + 1; /* names are from the root */
    size_t known = strlen(base) - DIGITS;
    memcpy(folder, name, (size_t)(base - name));
    folder[base - name] = 0;
    DIR *d = opendir(folder);
    if (!d)
        return;
    for (const struct dirent *e; (e = readdir(d));)
        if (!strncmp(e->d_name, base, known) && strlen(e->d_name) == known + DIGITS &&
            strspn(e->d_name + known, "0123456789abcdef") == DIGITS && strcmp(e->d_name, base))
            remove_left(dirfd(d), e->d_name);
    closedir(d);
}

/* -1 and errno: ESTALE if it has no name any more. */
static int hold(int file)
{
    struct stat s;
    if (lock_bytes(file, F_RDLCK, POINTERS, true) || fstat(file, &s))
        return -1;
    errno = ESTALE;
    return s.st_nlink > 0 ? 0 : -1;
}

static bool has_no_links(int error)
{
    return error == EPERM || error == EOPNOTSUPP || error == ENOSYS || error == EMLINK;
}

/* The file, which has its name once it is whole and held: of one that another host looks for while
 * it is made, GlusterFS makes two. -1 and errno; EEXIST: somebody else's is there. */
static int make_file(const char *name)
{
    const int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
    char own[WR_PATH];
    if (make_name(name, strlen(name) - DIGITS, own))
        return -1;
    int file = wr_open_once(AT_FDCWD, own, flags, 0600);
    if (file < 0)
        return -1;
    const bool held = !hold(file), made = held && !link(own, name);
    const int error = errno;
    unlink(own);
    if (made)
        return file;
    close(file);
    if (held && has_no_links(error))
        return wr_open_once(AT_FDCWD, name, flags, 0600);
    errno = error;
    return -1;
}

static int try_open(weir_file *f)
{
    const char *name = f->pointer.name;
    const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
    bool made = false;
    int file = wr_open_once(AT_FDCWD, name, flags, 0);
    if (file < 0 && errno == ENOENT) {
        file = make_file(name);
        made = file >= 0;
        if (!made && errno == EEXIST)
            file = wr_open_at(AT_FDCWD, name, flags, 0);
    }
    if (file < 0)
        return wr_fail_system(errno, name, -1, "open");
    if (hold(file)) {
        int code = wr_fail_system(errno, name, -1, "lock");
        close(file);
        return code;
    }
    f->pointer.file = file;
    if (made)
        remove_all_left(name);
    return 0;
}

/* Again, if before it was held it was taken for one that is left. */
static int open_file(weir_file *f)
{
    wr_patience patience = wr_patience_start(true);
    int code;
    do
        code = try_open(f);
    while (code && wr_patience_again(&patience, f->pointer.name));
    return code;
}

/* Bytes that are not there yet are zeros. */
static int change_in_file(weir_file *f, change *c)
{
    const char *name = f->pointer.name;
    slot s = {0};
    off_t at = c->view % WR_POINTER_VIEWS * (off_t)sizeof s;
    int code = 0;
    if (f->pointer.file < 0)
        code = open_file(f);
    if (code)
        return code;
    if (lock_bytes(f->pointer.file, F_WRLCK, 0, true))
        return wr_fail_system(errno, name, -1, "lock");
    const bool weak = f->group.handle.weak;
    int stale = weak ? wr_system_refresh(f->pointer.file, true) : 0;
    if (stale)
        code = wr_fail_system(stale, name, -1, "refresh");
    if (!code && pread(f->pointer.file, &s, sizeof s, at) < 0)
        code = wr_fail_system(errno, name, -1, "read");
    if (!code)
        code = apply(&s, c);
    if (!code && at + (off_t)sizeof s > wr_file_limit())
        code = wr_fail_system(EFBIG, name, -1, "write");
    if (!code && pwrite(f->pointer.file, &s, sizeof s, at) != sizeof s)
        code = wr_fail_system(errno, name, -1, "write");
    if (!code && weak && fsync(f->pointer.file))
        code = wr_fail_system(errno, name, -1, "sync");
    lock_bytes(f->pointer.file, F_UNLCK, 0, true);
    return code;
}

/* Where the file cannot be locked, rank 0 has the pointers to itself. The lock is for threads,
 * which share the descriptor. */
static int make_change(weir_file *f, change *c)
{
    if (!f->group.handle.world)
        return wr_fail(WEIR_ETRANSPORT, "MPI has ended, and closed the file");
    if (is_shared(f) || (f->group.handle.lockless && c->for_all))
        return change_shared(f, c);
    if (f->group.handle.lockless)
        return wr_file_fail_lockless(f, "no shared pointer between nodes");
    pthread_mutex_lock(&f->lock);
    int code = change_in_file(f, c);
    pthread_mutex_unlock(&f->lock);
    return code;
}

int wr_pointer_advance(weir_file *f, int64_t view, int64_t by, int64_t *was)
{
    change c = {.view = view, .value = by};
    int code = make_change(f, &c);
    *was = c.was;
    return code;
}

int wr_pointer_look(weir_file *f, int64_t view, int64_t *position)
{
    change c = {.view = view, .for_all = true};
    int code = make_change(f, &c);
    *position = c.was;
    return code;
}

int wr_pointer_set(weir_file *f, int64_t view, int64_t position)
{
    return make_change(f, &(change){.view = view, .set = true, .for_all = true, .value = position});
}

/* What rank 0 tells about the pointer. */
typedef struct told {
    int code;
    weir_error error;
    int64_t was;
} told;

int wr_pointer_deal(weir_file *f, int64_t view, int64_t by, int code, int64_t *was)
{
    enum { BYTES, FAILED, VALUES };
    int64_t own[VALUES] = {code ? 0 : by, code != 0}, before[VALUES], total[VALUES];
    weir_error error = *weir_error_last();
    int lost = wr_file_settle(f);
    if (!lost)
        lost = wr_channel_sums(&f->group.channel, VALUES, own, before, total);
    *was = 0;
    if (lost || total[FAILED])
        return lost ? lost : code ? wr_error_raise(&error) : 0;
    told t = {0};
    if (f->group.handle.world->transport->rank == 0) {
        change c = {.view = view, .for_all = true, .value = total[BYTES]};
        t.code = make_change(f, &c);
        t.was = c.was;
        if (t.code)
            t.error = *weir_error_last();
    }
    lost = wr_channel_broadcast(&f->group.channel, &t, sizeof t);
    *was = t.was + before[BYTES];
    return lost ? lost : t.code ? wr_error_raise(&t.error) : 0;
}
