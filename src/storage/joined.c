/* Several files seen as one, each behind the other.
 *
 * A transfer is cut where one member ends and the next begins (spread.h). Where a piece stops
 * short, because the member's file does, the attempt has come no further: the next member's bytes
 * do not move up. */
#include <errno.h>

#include "storage/backends.h"
#include "storage/lock.h"
#include "storage/members.h"
#include "storage/spread.h"

_Static_assert((int)WR_SPREAD <= (int)WR_MEMBERS_OPEN, "a member for each piece may be open");

typedef struct state {
    wr_member_files files;
    wr_spread spread;
} state;

/* The errno behind the thread's error. */
static int errno_of(int code)
{
    int errnum = weir_error_last()->errnum;
    return errnum ? errnum : code == WEIR_ENOMEM ? ENOMEM : EIO;
}

/* Behind the end of the last member all the rest of the transfer is one piece. */
static int begin(wr_storage *s, wr_spread_piece *x)
{
    state *p = s->state;
    const wr_transfer *t = x->part.transfer;
    const bool writes = t->direction == WR_WRITE;
    wr_member_file *m = wr_member_files_find(&p->files, wr_transfer_offset(t, x->part.at));
    x->part.bytes = wr_transfer_bytes(t) - x->part.at;
    if (!m)
        return writes ? EFBIG : 0;
    wr_spread_cut(x, m->start, m->start + m->bytes);
    x->inner.offset += m->skip - m->start;
    int code = wr_member_files_hold(&p->files, m);
    if (code)
        return errno_of(code);
    m->unsynced |= writes;
    x->owner = m;
    x->storage = m->storage;
    return 0;
}

static void end(wr_storage *s, wr_spread_piece *x)
{
    state *p = s->state;
    wr_member_files_let_go(&p->files, x->owner);
}

static void submit(wr_storage *s, wr_transfer *t)
{
    state *p = s->state;
    wr_spread_submit(s, &p->spread, t);
}

static wr_transfer *reap(wr_storage *s, bool wait)
{
    state *p = s->state;
    return wr_spread_reap(s, &p->spread, wait);
}

static int get_size(wr_storage *s, int64_t *size)
{
    const state *p = s->state;
    *size = p->files.size;
    return 0;
}

static int set_size(wr_storage *s, int64_t size)
{
    const state *p = s->state;
    if (size == p->files.size)
        return 0;
    wr_fail(WEIR_EUNSUPPORTED, "files joined to one keep their size of %lld bytes",
            (long long)p->files.size);
    wr_error_note_file(s->path, size);
    return WEIR_EUNSUPPORTED;
}

static int sync(wr_storage *s, enum wr_sync how)
{
    state *p = s->state;
    return wr_member_files_sync(&p->files, how);
}

/* Of the members from `first` on and before the one that could not be had. */
static void leave_lease_barriers(wr_storage *s, wr_member_file *first, const wr_member_file *end,
                                 int64_t lo, int64_t hi)
{
    state *p = s->state;
    weir_error error = *weir_error_last();
    for (wr_member_file *m = first; m < end; m++)
        if (m->bytes)
            wr_member_files_lock(&p->files, s->ranges, m, WR_LOCK_GATE_NONE, lo, hi);
    wr_error_raise(&error);
}

static int lock(wr_storage *s, int kind, int64_t lo, int64_t hi)
{
    state *p = s->state;
    wr_member_file *m = wr_member_files_find(&p->files, lo);
    wr_member_file *first = m;
    const wr_member_file *last = p->files.member + p->files.count;
    int code = 0;
    if (kind == WR_LOCK_PASS) /* it would take one on every member */
        return 1;
    for (; !code && m && m < last && m->start < hi; m++)
        if (m->bytes)
            code = wr_member_files_lock(&p->files, s->ranges, m, kind, lo, hi);
    if (code && kind == WR_LOCK_BARRIER)
        leave_lease_barriers(s, first, m - 1, lo, hi);
    return code;
}

static const char *locate(const wr_storage *s, int64_t *offset)
{
    const state *p = s->state;
    const wr_member_file *m = wr_member_files_find(&p->files, *offset);
    if (m)
        *offset += m->skip - m->start;
    return m ? m->path : s->path;
}

static void close_joined(wr_storage *s)
{
    state *p = s->state;
    s->close_error = wr_member_files_release(&p->files);
    wr_free(p);
}

static const wr_storage_ops ops = {
    .name = "joined",
    .help = "several files seen as one",
    .close = close_joined,
    .submit = submit,
    .reap = reap,
    .get_size = get_size,
    .set_size = set_size,
    .sync = sync,
    .lock = lock,
    .locate = locate,
};

int wr_joined_open(wr_storage *s, int flags, const wr_storage_options *options)
{
    if (flags & ~(WR_OPEN_READ | WR_OPEN_WRITE)) {
        wr_fail(WEIR_EINVAL, "files joined to one cannot be created or truncated");
        wr_error_note_file(s->path, -1);
        return WEIR_EINVAL;
    }
    state *p = wr_alloc(sizeof *p);
    if (!p)
        return WEIR_ENOMEM;
    *p = (state){.spread = {.begin = begin, .end = end}};
    int code = wr_member_files_init(&p->files, s, flags, options);
    if (code) {
        wr_free(p);
        return code;
    }
    s->ops = &ops;
    s->state = p;
    return 0;
}
