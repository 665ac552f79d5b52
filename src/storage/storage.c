/* The front of every backend: opening with a way back, and the only place that tries again.
 *
 * A backend makes one attempt and reports how far it came. An attempt that was interrupted is
 * repeated; one that came some way is continued; one that moved nothing has met the end of the
 * file, or, writing, a device that takes nothing. */
#include "storage/storage.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/arith.h"
#include "base/limit.h"
#include "base/wait.h"
#include "storage/backends.h"
#include "storage/costs.h"
#include "storage/lock.h"
#include "storage/patience.h"
#include "storage/posix_fd.h"
#include "storage/stripes.h"
#include "storage/systems.h"

const wr_storage_ops *const wr_storage_backends[] = {&wr_uring_ops, &wr_pool_ops,    &wr_posix_ops,
                                                     &wr_mem_ops,   &wr_striped_ops, NULL};

/* An attempt interrupted so often in a row, with pauses after the first few, fails. */
enum { STALLS = 1000, QUICK_STALLS = 8, STALL_US = 200 };

/* A file that is there knows itself whether it is striped. `auto` by measurement, decision 004. */
static const char *choose(const wr_storage *s, bool look)
{
    static const char *const names[] = {
        [WR_STORAGE_AUTO] = "pool",   [WR_STORAGE_POSIX] = "posix",     [WR_STORAGE_POOL] = "pool",
        [WR_STORAGE_URING] = "uring", [WR_STORAGE_STRIPED] = "striped", [WR_STORAGE_MEM] = "mem"};
    int64_t which = s->tunables->storage.which;
    enum wr_file_kind kind = WR_FILE_ABSENT;
    if (look && which != WR_STORAGE_MEM)
        kind = wr_stripes_look(s->path);
    if (kind == WR_FILE_STRIPED) {
        which = WR_STORAGE_STRIPED;
    } else if (kind == WR_FILE_PLAIN && which == WR_STORAGE_STRIPED) {
        wr_log_line(s->log, WR_LOG_INFO, "%s: the file is there, and not striped", s->path);
        which = WR_STORAGE_AUTO;
    }
    if (which == WR_STORAGE_AUTO && s->tunables->direct.which == WR_SWITCH_ALWAYS)
        return "uring";
    return names[which];
}

static int open_backend(wr_storage *s, int flags, bool look)
{
    const char *name = choose(s, look);
    const wr_storage_ops *const *ops = wr_storage_backends;
    while (*ops && strcmp((*ops)->name, name) != 0)
        ops++;
    for (; *ops; ops++) {
        const wr_storage_ops *next = ops[1];
        s->ops = *ops;
        int code = s->ops->open(s, flags);
        if (code != WEIR_EUNSUPPORTED || (next != &wr_pool_ops && next != &wr_posix_ops))
            return code;
        wr_log_line(s->log, WR_LOG_WARN, "%s: storage %s: %s; using %s", s->path, s->ops->name,
                    weir_error_last()->text, next->name);
    }
    return wr_fail(WEIR_EUNSUPPORTED, "no storage %s", name);
}

/* Puts a wrapper around *s; on failure *s is as before. */
static int wrap(wr_storage **s, const wr_storage_ops *ops)
{
    wr_storage *outer = wr_alloc(sizeof *outer);
    if (!outer)
        return WEIR_ENOMEM;
    *outer = **s;
    outer->ops = ops;
    outer->inner = *s;
    outer->state = NULL;
    outer->plain_fd = -1;
    int code = ops->open(outer, 0);
    if (code)
        wr_free(outer);
    else
        *s = outer;
    return code;
}

/* A storage with what it owns. */
typedef struct whole {
    wr_storage storage;
    wr_tunables tunables; /* memory and threads were had by them: they must not change */
    /* Of one that is opened later. */
    bool patient;
    wr_twin twin;
    char path[];
} whole;

static void free_storage(wr_storage *s)
{
    wr_range_table_free(s->ranges);
    wr_free(s); /* the first of `whole` */
}

static wr_storage *new_storage(const char *path, const wr_storage_options *options)
{
    const size_t length = strlen(path) + 1;
    whole *all = wr_alloc((int64_t)(sizeof *all + length));
    if (!all)
        return NULL;
    wr_storage *s = &all->storage;
    all->tunables = *options->tunables;
    all->patient = options->patient;
    all->twin = (wr_twin){.descriptor = -1};
    *s = (wr_storage){.path = memcpy(all->path, path, length),
                      .tunables = &all->tunables,
                      .log = options->log,
                      .budget = options->budget,
                      .events = options->events,
                      .watch = options->watch,
                      .origin = options->origin,
                      .given = options->given,
                      .facts = wr_storage_default_facts(),
                      .limit = wr_file_limit(),
                      .plain_fd = -1,
                      .ranges = wr_range_table_new(options->tunables->lock_wait)};
    if (s->ranges)
        return s;
    free_storage(s);
    return NULL;
}

/* A backend that the options name is that and no other. */
static int open_as_asked(wr_storage *s, int flags, const wr_storage_options *options)
{
    if (options->members)
        return wr_joined_open(s, flags, options);
    if (!options->ops)
        return open_backend(s, flags, !options->as_it_is);
    s->ops = options->ops;
    return s->ops->open(s, flags);
}

/* Takes s. */
static int wrap_up(wr_storage *s, const wr_storage_options *options, wr_storage **out)
{
    int code = 0;
    if (options->tunables->fault.which != WR_FAULT_NONE)
        code = wrap(&s, &wr_fault_ops);
    if (!code && options->events)
        code = wrap(&s, &wr_events_ops);
    if (code)
        wr_storage_close(s);
    else
        *out = s;
    return code;
}

/* What a name leads to on this host may be old where hosts cache: then looking whether it is
 * striped, emptying or creating it would be about another file. */
static void list_anew(const char *path, const wr_storage_options *options)
{
    if (!options->members && !options->origin &&
        options->tunables->coherence.which != WR_COHERENCE_STRONG)
        wr_system_list(AT_FDCWD, path);
}

int wr_storage_open(const char *path, int flags, const wr_storage_options *options,
                    wr_storage **out)
{
    wr_storage *s = new_storage(path, options);
    wr_patience patience = wr_patience_start(options->patient);
    int code;
    if (!s)
        return WEIR_ENOMEM;
    list_anew(path, options);
    do
        code = open_as_asked(s, flags, options);
    while (code && wr_patience_again(&patience, path));
    s->origin = NULL;
    s->given = NULL;
    if (code) {
        free_storage(s);
        return code;
    }
    return wrap_up(s, options, out);
}

/* --- opened later --- */

static int refuse(const wr_storage *s)
{
    return wr_fail_system(EBADF, s->path, -1, "use before it is opened");
}

static void refuse_transfers(wr_storage *s, wr_transfer *t)
{
    for (wr_transfer *next; t; t = next) {
        next = t->next;
        t->error = EBADF;
        wr_transfers_add(&s->over, t);
    }
}

static wr_transfer *reap_refused(wr_storage *s, bool wait)
{
    (void)wait;
    return wr_transfers_take(&s->over);
}

static int refuse_get(wr_storage *s, int64_t *size)
{
    (void)size;
    return refuse(s);
}

static int refuse_set(wr_storage *s, int64_t size)
{
    (void)size;
    return refuse(s);
}

static int refuse_sync(wr_storage *s, enum wr_sync how)
{
    (void)how;
    return refuse(s);
}

static int refuse_lock(wr_storage *s, int kind, int64_t lo, int64_t hi)
{
    (void)kind, (void)lo, (void)hi;
    return refuse(s);
}

static void close_nothing(wr_storage *s)
{
    (void)s;
}

static const wr_storage_ops later_ops = {
    .name = "later",
    .help = "a file that is not open yet",
    .close = close_nothing,
    .submit = refuse_transfers,
    .reap = reap_refused,
    .get_size = refuse_get,
    .set_size = refuse_set,
    .sync = refuse_sync,
    .lock = refuse_lock,
};

static whole *innermost(wr_storage *s)
{
    while (s->inner)
        s = s->inner;
    return (whole *)(void *)s;
}

int wr_storage_open_later(const char *path, const wr_storage_options *options, wr_storage **out)
{
    wr_storage *s = new_storage(path, options);
    if (!s)
        return WEIR_ENOMEM;
    s->ops = &later_ops;
    return wrap_up(s, options, out);
}

void wr_storage_set_later(wr_storage *s, const wr_storage_facts *facts, const wr_twin *twin)
{
    innermost(s)->twin = *twin;
    for (; s; s = s->inner)
        s->facts = *facts;
}

int wr_storage_open_now(wr_storage *s, int flags)
{
    whole *all = innermost(s);
    wr_storage *inner = &all->storage;
    const bool look = inner->facts.disks || inner->tunables->storage.which == WR_STORAGE_STRIPED;
    wr_patience patience = wr_patience_start(all->patient);
    int code;
    if (inner->ops != &later_ops)
        return 0;
    inner->twin = &all->twin;
    do {
        code = open_backend(inner, flags, look);
        if (!code && inner->facts.disks && inner->ops != &wr_striped_ops) {
            inner->ops->close(inner);
            code = wr_fail_system(ESTALE, inner->path, -1, "open: another file has its name now");
        }
    } while (code && wr_patience_again(&patience, inner->path));
    inner->twin = NULL;
    if (code) {
        inner->ops = &later_ops;
        inner->plain_fd = -1;
    }
    return code;
}

bool wr_storage_peek_size(const wr_storage *s, int64_t *size)
{
    while (s->inner)
        s = s->inner;
    return wr_twin_size(&((const whole *)(const void *)s)->twin, size);
}

int wr_storage_remove(const char *path)
{
    wr_system_list(AT_FDCWD, path);
    if (wr_stripes_look(path) == WR_FILE_STRIPED)
        return wr_stripes_remove(path);
    return unlink(path) ? wr_fail_system(errno, path, -1, "remove") : 0;
}

int wr_storage_close(wr_storage *s)
{
    int code = 0;
    if (!s)
        return 0;
    for (wr_transfer *t; (t = wr_storage_reap(s, true));)
        if (t->direction == WR_WRITE && !code)
            code = wr_transfer_check(s, t);
    while (s->inner) {
        wr_storage *inner = s->inner;
        s->ops->close(s);
        wr_free(s);
        s = inner;
    }
    s->ops->close(s);
    if (s->close_error && !code)
        code = wr_fail_system(s->close_error, s->path, -1, "close");
    free_storage(s);
    return code;
}

/* 0 if every offset and the number of bytes fit. */
static int check_shape(const wr_transfer *t)
{
    int64_t bytes, last, end;
    if (t->count == 1 && t->run >= 0 && t->offset >= 0 && t->run <= INT64_MAX - t->offset)
        return 0;
    if (t->run < 0 || t->count < 0 || t->offset < 0)
        return EINVAL;
    if (!wr_mul(t->run, t->count, &bytes))
        return EOVERFLOW;
    if (!bytes)
        return 0;
    if (!wr_mul(t->count - 1, t->stride, &last) || !wr_add(t->offset, last, &last) ||
        !wr_add(wr_max(last, t->offset), t->run, &end))
        return EOVERFLOW;
    return last < 0 ? EINVAL : 0;
}

void wr_storage_submit(wr_storage *s, wr_transfer *t)
{
    wr_transfers good = {0};
    for (wr_transfer *next; t; t = next) {
        next = t->next;
        t->done = t->tried = t->stalls = 0;
        t->marked = false;
        t->error = check_shape(t);
        s->outstanding++;
        wr_transfers_add(t->error || !t->run || !t->count ? &s->over : &good, t);
    }
    if (good.first)
        s->ops->submit(s, good.first);
}

static bool try_again(wr_transfer *t)
{
    if (!t->error && t->done == wr_transfer_bytes(t))
        return false;
    bool interrupted = t->error == EINTR || t->error == EAGAIN;
    bool moved = t->done > t->tried;
    if (t->error && !interrupted)
        return false;
    if (!moved && !interrupted) {
        t->error = t->direction == WR_READ ? 0 : EIO;
        return false;
    }
    t->stalls = moved ? 0 : t->stalls + 1;
    if (t->stalls == STALLS)
        return false;
    if (t->stalls > QUICK_STALLS)
        wr_pause(STALL_US);
    t->error = 0;
    t->tried = t->done;
    return true;
}

static void count(wr_watch *watch, const wr_transfer *t)
{
    const int64_t last = t->offset + (t->count - 1) * t->stride;
    const wr_span where = {wr_min(t->offset, last), wr_max(t->offset, last) + t->run};
    if (t->done)
        wr_watch_moved(watch, t->direction, where, t->done, t->count);
}

wr_transfer *wr_storage_reap(wr_storage *s, bool wait)
{
    wr_transfer *t;
    while ((t = s->over.first ? wr_transfers_take(&s->over) : s->ops->reap(s, wait)) &&
           try_again(t))
        s->ops->submit(s, t);
    s->outstanding -= t != NULL;
    if (t && s->watch)
        count(s->watch, t);
    return t;
}

/* One system call where one is enough: neither threads nor rings make a transfer of one part
 * faster. Whatever else comes of it is found out by the long way. No function in between: after a
 * system call each return costs as much as dozens of instructions. */
static inline bool run_part(const wr_storage *s, wr_transfer *t)
{
    if (t->count != 1 || t->run <= 0 || t->run > WR_PART || s->plain_fd < 0)
        return false;
    size_t bytes = (size_t)t->run;
    t->done = t->direction == WR_READ ? pread(s->plain_fd, t->memory, bytes, t->offset)
                                      : pwrite(s->plain_fd, t->memory, bytes, t->offset);
    t->error = 0;
    return t->done == t->run;
}

int wr_storage_run(wr_storage *s, wr_transfer *t)
{
    if (run_part(s, t))
        return 0;
    t->next = NULL;
    wr_storage_submit(s, t);
    wr_storage_reap(s, true);
    return wr_transfer_check(s, t);
}

const char *wr_storage_locate(const wr_storage *s, int64_t *offset)
{
    while (s->inner)
        s = s->inner;
    return s->ops->locate ? s->ops->locate(s, offset) : s->path;
}

static int explain(const wr_storage *s, const wr_transfer *t)
{
    while (s->inner)
        s = s->inner;
    return s->ops->explain ? s->ops->explain(s, t) : 0;
}

int wr_transfer_check(const wr_storage *s, const wr_transfer *t)
{
    int64_t offset = wr_transfer_offset(t, t->done);
    const char *path = wr_storage_locate(s, &offset);
    int code = t->error ? explain(s, t) : 0;
    if (code)
        return code;
    if (t->error)
        return wr_fail_system(t->error, path, offset, t->direction == WR_READ ? "read" : "write");
    int64_t bytes = wr_transfer_bytes(t);
    if (t->done == bytes)
        return 0;
    wr_fail(WEIR_EIO, "cannot read: the file ends after %lld of %lld bytes", (long long)t->done,
            (long long)bytes);
    wr_error_note_file(path, offset);
    return WEIR_EIO;
}

bool wr_storage_is_cached(const wr_storage *s, int64_t offset)
{
    char byte;
    struct iovec one = {&byte, 1};
    return s->plain_fd >= 0 && preadv2(s->plain_fd, &one, 1, offset, RWF_NOWAIT) >= 0;
}

int wr_storage_get_size(wr_storage *s, int64_t *size)
{
    return s->ops->get_size(s, size);
}

int wr_storage_set_size(wr_storage *s, int64_t size)
{
    return s->ops->set_size(s, size);
}

int wr_storage_preallocate(wr_storage *s, int64_t size)
{
    int64_t now;
    if (s->plain_fd >= 0 && size > 0) {
        int error = posix_fallocate(s->plain_fd, 0, size);
        if (error != EBADF && error != EOPNOTSUPP && error != EINVAL)
            return error ? wr_fail_system(error, s->path, size, "preallocate") : 0;
    }
    int code = wr_storage_get_size(s, &now);
    return code || now >= size ? code : wr_storage_set_size(s, size);
}

int wr_storage_sync(wr_storage *s, enum wr_sync how)
{
    return s->ops->sync(s, how);
}
