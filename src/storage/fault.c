/* Storage that misbehaves as told: for tests of everything above it.
 *
 * Attempts are counted as they are submitted. The K-th fails, is interrupted, is cut short or
 * corrupted; or each attempt comes back late, at a fixed delay or bandwidth, while the storage
 * inside works as fast as it can. */
#include <errno.h>

#include "base/arith.h"
#include "base/clock.h"
#include "base/wait.h"
#include "storage/backends.h"
#include "storage/parts.h"

/* How long a wait for a due attempt may overlook one that is done earlier. */
enum { LOOK_US = 500 };

typedef struct state {
    int64_t attempts;
    int64_t inside;    /* submitted to the storage inside and not back */
    int64_t free_from; /* when everything submitted so far has passed, in ns */
    wr_transfers held; /* back from inside, earliest due first */
    wr_transfer half;  /* stands for `cut` inside */
    wr_transfer *cut;
    wr_transfer flip; /* overwrites a byte of what `flipped` wrote */
    wr_transfer *flipped;
    char flip_byte;
} state;

static int open_fault(wr_storage *s, int flags)
{
    (void)flags;
    state *p = wr_alloc(sizeof *p);
    if (!p)
        return WEIR_ENOMEM;
    *p = (state){0};
    s->state = p;
    return 0;
}

static void close_fault(wr_storage *s)
{
    wr_free(s->state);
}

static void hold(state *p, wr_transfer *t)
{
    wr_transfer **place = &p->held.first;
    if (*place && p->held.last->due <= t->due)
        place = &p->held.last->next;
    while (*place && (*place)->due <= t->due)
        place = &(*place)->next;
    t->next = *place;
    *place = t;
    if (!t->next)
        p->held.last = t;
}

static void send(wr_storage *s, wr_transfer *t)
{
    state *p = s->state;
    p->inside++;
    t->next = NULL;
    s->inner->ops->submit(s->inner, t);
}

static void set_due(state *p, const wr_choice *fault, wr_transfer *t)
{
    t->due = 0;
    if (fault->which == WR_FAULT_DELAY)
        t->due = wr_clock_ns() + fault->number * 1000;
    if (fault->which == WR_FAULT_BANDWIDTH) {
        int64_t left = wr_transfer_bytes(t) - t->done;
        p->free_from = wr_max(p->free_from, wr_clock_ns()) + left * 1000 / wr_max(fault->number, 1);
        t->due = p->free_from;
    }
}

/* The first half of t goes inside; what is left makes no progress ever after. */
static void submit_half(wr_storage *s, wr_transfer *t)
{
    state *p = s->state;
    if (t->marked) {
        hold(p, t);
        return;
    }
    t->marked = true;
    p->cut = t;
    p->half = *t;
    p->half.count = t->count > 1 ? t->count / 2 : 1;
    p->half.run = t->count > 1 ? t->run : t->run / 2;
    if (s->facts.granule[t->direction])
        p->half.run = wr_round_down(p->half.run, s->facts.granule[t->direction]);
    if (wr_transfer_bytes(&p->half) > t->done)
        send(s, &p->half);
    else
        hold(p, t);
}

static void submit_one(wr_storage *s, wr_transfer *t)
{
    static const int errors[] = {
        [WR_FAULT_EIO] = EIO, [WR_FAULT_ENOSPC] = ENOSPC, [WR_FAULT_EINTR] = EINTR};
    state *p = s->state;
    const wr_choice *fault = &s->tunables->fault;
    bool chosen = ++p->attempts == fault->number;
    set_due(p, fault, t);
    if (chosen && fault->which <= WR_FAULT_EINTR) {
        t->error = errors[fault->which];
        hold(p, t);
    } else if (fault->which == WR_FAULT_SHORT && (chosen || t->marked)) {
        submit_half(s, t);
    } else {
        t->marked |= chosen && fault->which == WR_FAULT_CORRUPT;
        send(s, t);
    }
}

static void submit(wr_storage *s, wr_transfer *t)
{
    for (wr_transfer *next; t; t = next) {
        next = t->next;
        submit_one(s, t);
    }
}

/* Flips the first byte that t's attempt moved. True if t comes back later for that. */
static bool corrupt(wr_storage *s, wr_transfer *t)
{
    state *p = s->state;
    char *byte = wr_transfer_memory(t, t->tried);
    t->marked = false;
    if (t->direction == WR_READ ||
        s->facts.granule[WR_WRITE]) { /* which is only read and written whole */
        *byte = (char)~*byte;
        return false;
    }
    p->flip_byte = (char)~*byte;
    p->flip = (wr_transfer){.direction = WR_WRITE,
                            .offset = wr_transfer_offset(t, t->tried),
                            .run = 1,
                            .count = 1,
                            .memory = &p->flip_byte};
    p->flipped = t;
    send(s, &p->flip);
    return true;
}

/* Takes in what came back from inside. */
static void receive(wr_storage *s, wr_transfer *t)
{
    state *p = s->state;
    p->inside--;
    if (t == &p->half) {
        p->cut->done = t->done;
        p->cut->error = t->error;
        t = p->cut;
    } else if (t == &p->flip) {
        t = p->flipped;
    } else if (t->marked && t->done > t->tried && corrupt(s, t)) {
        return;
    }
    hold(p, t);
}

static wr_transfer *reap(wr_storage *s, bool wait)
{
    state *p = s->state;
    for (;;) {
        wr_transfer *t;
        while (p->inside && (t = s->inner->ops->reap(s->inner, wait && !p->held.first)))
            receive(s, t);
        t = p->held.first;
        int64_t early = t && t->due ? t->due - wr_clock_ns() : 0;
        if (t && early <= 0)
            return wr_transfers_take(&p->held);
        if (!wait || !t)
            return NULL;
        int64_t nap = early / 1000 + 1;
        wr_pause(p->inside ? wr_min(nap, LOOK_US) : nap);
    }
}

const wr_storage_ops wr_fault_ops = {
    .name = "fault",
    .help = "fails, cuts, corrupts or slows down transfers as the tunable `fault` says",
    .open = open_fault,
    .close = close_fault,
    .submit = submit,
    .reap = reap,
    .get_size = wr_inner_get_size,
    .set_size = wr_inner_set_size,
    .sync = wr_inner_sync,
    .lock = wr_inner_lock,
};
