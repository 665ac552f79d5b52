/* A file dealt in blocks over several logical disks (stripes.h).
 *
 * A transfer is cut where blocks end (spread.h), and pieces on different disks run together; runs
 * that are whole rows apart stay on one disk, and stay one piece. A part may be shorter than its
 * share, because nothing was written there: as far as the file goes that reads as zeros. Ranges are
 * locked on the description, which all who use the file have open. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "storage/backends.h"
#include "storage/spread.h"
#include "storage/stripes.h"

typedef struct state {
    wr_stripes stripes;
    wr_storage *description;
    wr_storage **part;
    wr_spread spread;
} state;

static int get_size(wr_storage *s, int64_t *size)
{
    const state *p = s->state;
    int64_t bytes;
    *size = 0;
    for (int64_t i = 0; i < p->stripes.count; i++) {
        int code = wr_storage_get_size(p->part[i], &bytes);
        if (code)
            return code;
        *size = wr_max(*size, wr_stripes_reach(&p->stripes, i, bytes));
    }
    return 0;
}

/* Each part gets its share, so that the last byte shows how long the file is, even if it is in a
 * hole. */
static int set_size(wr_storage *s, int64_t size)
{
    const state *p = s->state;
    int code = size < 0 ? wr_fail_system(EINVAL, s->path, size, "set the size") : 0;
    for (int64_t i = 0; !code && i < p->stripes.count; i++)
        code = wr_storage_set_size(p->part[i], wr_stripes_share(&p->stripes, i, size));
    return code;
}

static int sync_parts(wr_storage *s, enum wr_sync how)
{
    const state *p = s->state;
    weir_error first = {0};
    for (int64_t i = 0; i < p->stripes.count; i++)
        if (wr_storage_sync(p->part[i], how) && !first.code)
            first = *weir_error_last();
    return first.code ? wr_error_raise(&first) : 0;
}

static int lock(wr_storage *s, int kind, int64_t lo, int64_t hi)
{
    const state *p = s->state;
    return p->description->ops->lock(p->description, kind, lo, hi);
}

/* Which part has the byte at *offset, which becomes its offset there. */
static int64_t find(const wr_stripes *x, int64_t *offset)
{
    const int64_t number = *offset / x->block;
    *offset = number / x->count * x->block + *offset % x->block;
    return number % x->count;
}

static const char *locate(const wr_storage *s, int64_t *offset)
{
    const state *p = s->state;
    return p->stripes.part[find(&p->stripes, offset)];
}

static int begin(wr_storage *s, wr_spread_piece *x)
{
    const state *p = s->state;
    const wr_transfer *t = x->part.transfer;
    const int64_t block = p->stripes.block, count = p->stripes.count, at = x->part.at;
    const int64_t offset = wr_transfer_offset(t, at), lo = wr_round_down(offset, block);
    wr_spread_cut(x, lo, lo + wr_min(block, INT64_MAX - lo));
    if (at % t->run == 0 && x->inner.run == t->run && t->stride % (count * block) == 0) {
        x->inner.count = t->count - at / t->run;
        x->inner.stride = t->stride / count;
        x->part.bytes = wr_transfer_bytes(&x->inner);
    }
    x->storage = p->part[find(&p->stripes, &x->inner.offset)];
    return 0;
}

/* Counts what the file has and the part, of `bytes`, has not. */
static void fill_hole(wr_spread_piece *x, int64_t bytes, int64_t size)
{
    wr_transfer *t = &x->inner;
    int64_t there = 1;
    while (there > 0 && t->done < wr_transfer_bytes(t) && wr_transfer_offset(t, t->done) >= bytes) {
        int64_t offset = wr_transfer_offset(x->part.transfer, x->part.at + t->done);
        there = wr_min(t->run - t->done % t->run, size - offset);
        if (there > 0) {
            memset(wr_transfer_memory(t, t->done), 0, (size_t)there);
            t->done += there;
        }
    }
}

/* Reads on in a part that has grown since it was read; whether anything came. */
static bool read_on(wr_spread_piece *x)
{
    wr_transfer *t = &x->inner;
    const size_t rest = (size_t)(t->run - t->done % t->run);
    const ssize_t got = pread(x->storage->plain_fd, wr_transfer_memory(t, t->done), rest,
                              wr_transfer_offset(t, t->done));
    if (got < 0 && errno != EINTR)
        t->error = errno;
    t->done += wr_max(0, got);
    return got > 0 || (got < 0 && errno == EINTR);
}

/* What is missing in a part, as far as the file goes. */
static void end(wr_storage *s, wr_spread_piece *x)
{
    wr_transfer *t = &x->inner;
    int64_t bytes, size;
    if (t->direction == WR_WRITE)
        return;
    while (!t->error && t->done < wr_transfer_bytes(t)) {
        if (wr_storage_get_size(x->storage, &bytes) || get_size(s, &size)) {
            t->error = weir_error_last()->errnum;
            return;
        }
        fill_hole(x, bytes, size);
        if (t->done == wr_transfer_bytes(t) || wr_transfer_offset(t, t->done) >= bytes ||
            x->storage->plain_fd < 0 || !read_on(x))
            return;
    }
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

static void close_striped(wr_storage *s)
{
    state *p = s->state;
    for (int64_t i = 0; p->part && i < p->stripes.count; i++)
        if (wr_storage_close(p->part[i]) && !s->close_error)
            s->close_error = weir_error_last()->errnum;
    wr_storage_close(p->description);
    wr_free(p->part);
    wr_stripes_release(&p->stripes);
    wr_free(p);
}

/* What is there is opened as it is; *made tells whether it was not there. */
static int find_file(wr_storage *s, int flags, bool *made)
{
    state *p = s->state;
    int code = 0;
    if (wr_stripes_look(s->path) != WR_FILE_ABSENT) {
        if (flags & WR_OPEN_EXCLUSIVE)
            return wr_fail_system(EEXIST, s->path, -1, "open");
    } else if (flags & WR_OPEN_CREATE) {
        code = wr_stripes_make(s->path, s->tunables);
        *made = !code;
        if (code == WEIR_EEXIST && !(flags & WR_OPEN_EXCLUSIVE)) /* somebody else was faster */
            code = 0;
    }
    return code ? code : wr_stripes_read(s->path, &p->stripes);
}

static void join_facts(wr_storage_facts *all, const wr_storage_facts *part)
{
    all->direct |= part->direct;
    all->local &= part->local;
    all->weak |= part->weak;
    all->carries |= part->carries;
    all->kind = part->kind;
    all->system = all->system ? all->system : part->system;
    all->alignment = wr_max(all->alignment, part->alignment);
}

/* The description, and all parts. */
static int open_files(wr_storage *s, int flags)
{
    state *p = s->state;
    const int how = flags & (WR_OPEN_READ | WR_OPEN_WRITE);
    wr_tunables tunables = *s->tunables;
    wr_storage_options options = {
        .tunables = &tunables, .log = s->log, .budget = s->budget, .as_it_is = true};
    tunables.fault = (wr_choice){WR_FAULT_NONE, 0};
    tunables.storage = (wr_choice){WR_STORAGE_AUTO, 0};
    p->part = wr_alloc_array(p->stripes.count, sizeof(wr_storage *));
    if (!p->part)
        return WEIR_ENOMEM;
    memset(p->part, 0, (size_t)p->stripes.count * sizeof(wr_storage *));
    wr_storage_facts facts = {.cost = {s->facts.cost[0], s->facts.cost[1]},
                              .alignment = 1,
                              .local = true,
                              .descriptor = -1,
                              .disks = p->stripes.count,
                              .stripe = p->stripes.block,
                              .identity = (int64_t)p->stripes.id};
    if (s->twin && facts.identity != s->facts.identity)
        return wr_fail_system(ESTALE, s->path, -1, "open: another file has its name now");
    int code = wr_storage_open(s->path, how | WR_OPEN_READ, &options, &p->description);
    for (int64_t i = 0; !code && i < p->stripes.count; i++) {
        code = wr_storage_open(p->stripes.part[i], how, &options, &p->part[i]);
        if (!code)
            join_facts(&facts, &p->part[i]->facts);
    }
    if (!code && !s->twin)
        s->facts = facts;
    return code;
}

static int open_striped(wr_storage *s, int flags)
{
    bool made = false;
    state *p = wr_alloc(sizeof *p);
    if (!p)
        return WEIR_ENOMEM;
    *p = (state){.spread = {.begin = begin, .end = end}};
    s->state = p;
    int code = find_file(s, flags, &made);
    if (!code)
        code = open_files(s, flags);
    if (!code && flags & WR_OPEN_TRUNCATE)
        code = set_size(s, 0);
    if (code) {
        weir_error error = *weir_error_last();
        close_striped(s);
        if (made)
            wr_stripes_remove(s->path);
        wr_error_raise(&error);
    }
    return code;
}

const wr_storage_ops wr_striped_ops = {
    .name = "striped",
    .help = "blocks dealt over several logical disks",
    .open = open_striped,
    .close = close_striped,
    .submit = submit,
    .reap = reap,
    .get_size = get_size,
    .set_size = set_size,
    .sync = sync_parts,
    .lock = lock,
    .locate = locate,
};
