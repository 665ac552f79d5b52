/* Several files seen as one, each behind the other.
 *
 * A transfer is cut where one member ends and the next begins. The pieces are parts of its attempt
 * (parts.h), each a transfer of the member's own storage; so those on different members run
 * together. Where a piece stops short, because the member's file does, the attempt has come no
 * further: the next member's bytes do not move up. */
#include <errno.h>

#include "storage/backends.h"
#include "storage/lock.h"
#include "storage/members.h"
#include "storage/parts.h"

/* So many pieces are under way at a time: a member for each may be open. */
enum { SLOTS = WR_MEMBERS_OPEN };

typedef struct slot {
    wr_transfer inner;
    wr_part part;
    wr_member_file *member; /* NULL: free */
    int64_t number;         /* of all pieces */
} slot;

typedef struct state {
    wr_member_files files;
    wr_attempts attempts;
    int64_t pieces; /* started so far */
    int used;       /* slots */
    slot slots[SLOTS];
} state;

/* How many runs from the one at `offset` on lie in m as a whole, that one included. */
static int64_t count_runs(const wr_transfer *t, int64_t left, const wr_member_file *m,
                          int64_t offset)
{
    if (t->stride > 0)
        return wr_min(left, 1 + (m->start + m->bytes - offset - t->run) / t->stride);
    return t->stride ? wr_min(left, 1 + (offset - m->start) / -t->stride) : left;
}

/* The piece of t that starts at data position `at`: whole runs in one member, or what there is of
 * one run. x->member is NULL behind the end of the last, where all the rest of t is one piece. */
static void cut(const state *p, wr_transfer *t, int64_t at, slot *x)
{
    const int64_t bytes = wr_transfer_bytes(t), run = wr_transfer_is_flat(t) ? bytes : t->run;
    const int64_t offset = wr_transfer_offset(t, at), into = at % run;
    wr_member_file *m = wr_member_files_find(&p->files, offset);
    x->member = m;
    x->part = (wr_part){t, at, bytes - at};
    if (!m)
        return;
    const int64_t room = m->start + m->bytes - offset;
    const bool whole = !into && run <= room;
    x->inner = (wr_transfer){.direction = t->direction,
                             .offset = m->skip + offset - m->start,
                             .run = wr_min(run - into, room),
                             .count = 1,
                             .stride = t->stride,
                             .memory = wr_transfer_memory(t, at),
                             .memory_stride = t->memory_stride,
                             .user = x};
    if (whole && run < bytes)
        x->inner.count = count_runs(t, t->count - at / run, m, offset);
    x->part.bytes = wr_transfer_bytes(&x->inner);
}

static slot *find_free(state *p)
{
    slot *x = p->slots;
    while (x->member)
        x++;
    return x;
}

/* The errno behind the thread's error. */
static int errno_of(int code)
{
    int errnum = weir_error_last()->errnum;
    return errnum ? errnum : code == WEIR_ENOMEM ? ENOMEM : EIO;
}

/* Hands the piece to its member, or ends it at once. */
static void start(state *p, slot *x)
{
    wr_member_file *m = x->member;
    bool writes = x->part.transfer->direction == WR_WRITE;
    int code = m ? wr_member_files_hold(&p->files, m) : 0;
    if (!m || code) {
        int error = code ? errno_of(code) : writes ? EFBIG : 0;
        x->member = NULL;
        wr_attempts_end(&p->attempts, &x->part, 0, error);
        return;
    }
    m->unsynced |= writes;
    x->number = ++p->pieces;
    p->used++;
    m->storage->ops->submit(m->storage, &x->inner);
}

static void fill(state *p)
{
    while (p->attempts.queue.first && p->used < SLOTS) {
        wr_transfer *t = p->attempts.queue.first;
        slot *x = find_free(p);
        cut(p, t, t->claimed, x);
        wr_attempts_claim(&p->attempts, &x->part);
        start(p, x);
    }
}

static void finish(state *p, const wr_transfer *inner)
{
    slot *x = inner->user;
    wr_attempts_end(&p->attempts, &x->part, inner->done, inner->error);
    wr_member_files_let_go(&p->files, x->member);
    x->member = NULL;
    p->used--;
}

/* Takes in what is over, without waiting. */
static void collect(state *p)
{
    for (int i = 0; i < SLOTS; i++)
        while (p->slots[i].member) {
            wr_storage *inner = p->slots[i].member->storage;
            const wr_transfer *t = inner->ops->reap(inner, false);
            if (!t)
                break;
            finish(p, t);
        }
}

/* Whatever its member has over first; what other members have meanwhile is found afterwards. */
static void wait_for_oldest(state *p)
{
    const slot *oldest = NULL;
    for (const slot *x = p->slots; x < p->slots + SLOTS; x++)
        if (x->member && (!oldest || x->number < oldest->number))
            oldest = x;
    if (oldest) {
        wr_storage *inner = oldest->member->storage;
        finish(p, inner->ops->reap(inner, true));
    }
}

static void submit(wr_storage *s, wr_transfer *t)
{
    state *p = s->state;
    for (wr_transfer *next; t; t = next) {
        next = t->next;
        wr_attempts_add(&p->attempts, t);
    }
    fill(p);
}

static wr_transfer *reap(wr_storage *s, bool wait)
{
    state *p = s->state;
    wr_transfer *t = wr_attempts_take(&p->attempts);
    while (!t && p->attempts.active) {
        collect(p);
        fill(p);
        t = wr_attempts_take(&p->attempts);
        if (t || !wait)
            break;
        wait_for_oldest(p);
    }
    return t;
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

static int sync(wr_storage *s)
{
    state *p = s->state;
    return wr_member_files_sync(&p->files);
}

static int lock(wr_storage *s, int kind, int64_t lo, int64_t hi)
{
    state *p = s->state;
    wr_member_file *m = wr_member_files_find(&p->files, lo);
    const wr_member_file *end = p->files.member + p->files.count;
    int code = 0;
    for (; !code && m && m < end && m->start < hi; m++)
        if (m->bytes)
            code = wr_member_files_lock(&p->files, s->ranges, m, kind, lo, hi);
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

int wr_joined_open(wr_storage *s, int flags, const wr_members *members)
{
    if (flags & ~(WR_OPEN_READ | WR_OPEN_WRITE)) {
        wr_fail(WEIR_EINVAL, "files joined to one cannot be created or truncated");
        wr_error_note_file(s->path, -1);
        return WEIR_EINVAL;
    }
    state *p = wr_alloc(sizeof *p);
    if (!p)
        return WEIR_ENOMEM;
    *p = (state){0};
    int code = wr_member_files_init(&p->files, s, flags, members);
    if (code) {
        wr_free(p);
        return code;
    }
    s->ops = &ops;
    s->state = p;
    return 0;
}
