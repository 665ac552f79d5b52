/* Rounds through shared memory. An aggregator opens windows, clients copy between its buffer and
 * their own memory, one copy and no message; two windows per aggregator, so that one is copied
 * while the other is in the storage. Every rank is a client, and some are aggregators too: each
 * turns its roles over until all windows of all aggregators of the node are through. */
#include <string.h>

#include "base/arith.h"
#include "engine/turn.h"

enum state { IDLE, OPEN };

typedef struct shared {
    wr_call *call;
    wr_transport *t;
    wr_hall *hall;
    /* as aggregator */
    wr_windows walk;
    bool last; /* no more windows will come */
    int64_t opened;
    enum state state[2];
    wr_turn turn[2];
    bool barred; /* by somebody who holds a range: there is no bell for that */
} shared;

static wr_desk *desk_of(const shared *s, int desk)
{
    return wr_hall_desk(s->hall, s->t->local_size, desk);
}

static void ring(const shared *s, int local_rank)
{
    wr_bell_ring(wr_hall_bell(s->hall, local_rank));
}

/* Marks the ranks that take part, and returns how many. */
static int64_t mark_clients(const shared *s, wr_slot *slot, const wr_window *w)
{
    const wr_call *c = s->call;
    uint64_t who[WR_HALL_RANKS / 64] = {0};
    int64_t count = 0;
    for (int64_t i = 0; i < c->wants_count; i++)
        if (wr_want_touches(&c->wants[i], w->lo, w->hi)) {
            who[c->wants[i].rank / 64] |= UINT64_C(1) << c->wants[i].rank % 64;
            count++;
        }
    for (int i = 0; i < (s->t->local_size + 63) / 64; i++)
        atomic_store_explicit(&slot->who[i], who[i], memory_order_relaxed);
    return count;
}

static bool takes_part(const wr_slot *slot, int local_rank)
{
    uint64_t word = atomic_load_explicit(&slot->who[local_rank / 64], memory_order_relaxed);
    return word >> local_rank % 64 & 1;
}

static void ring_clients(const shared *s, const wr_slot *slot)
{
    for (int i = 0; i < s->t->local_size; i++)
        if (i != s->t->local_rank && takes_part(slot, i))
            ring(s, i);
}

/* Shows window number s->opened + 1 to its clients. */
static void publish(shared *s, const wr_window *w, int64_t valid)
{
    int which = (int)(s->opened & 1);
    wr_slot *slot = &desk_of(s, s->call->desk)->slot[which];
    /* who is still to look at the window before must not take this one's ranks for that one's */
    int64_t before = atomic_load_explicit(&slot->turn, memory_order_relaxed);
    atomic_store_explicit(&slot->turn, -before, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    wr_hall_put_cover(s->hall, s->t->local_size, 2 * s->call->desk + which, w->cover);
    atomic_store_explicit(&slot->lo, w->lo, memory_order_relaxed);
    atomic_store_explicit(&slot->hi, w->hi, memory_order_relaxed);
    slot->valid = valid;
    slot->ordered = s->call->a->direction == WR_WRITE && w->overlap;
    atomic_store_explicit(&slot->acknowledged, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->next, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->expected, mark_clients(s, slot, w), memory_order_relaxed);
    atomic_store_explicit(&slot->turn, ++s->opened, memory_order_release);
    s->state[which] = OPEN;
    ring_clients(s, slot);
}

/* No more windows: everyone may go once those shown are through. */
static void conclude(shared *s)
{
    s->last = true;
    atomic_store_explicit(&desk_of(s, s->call->desk)->windows, s->opened + 1, memory_order_release);
    for (int i = 0; i < s->t->local_size; i++)
        if (i != s->t->local_rank)
            ring(s, i);
}

static char *buffer_of(const shared *s, int which)
{
    return wr_hall_buffer(s->hall, s->t->local_size, s->call->desk, which);
}

/* Prepares and shows the next window; a failure concludes. Whether anything happened. */
static bool open_window(shared *s)
{
    wr_call *c = s->call;
    int which = (int)(s->opened & 1);
    wr_turn *turn = &s->turn[which];
    int more = wr_turn_open(c, &s->walk, turn, buffer_of(s, which));
    s->barred = s->barred || more == WR_BUSY;
    if (more == WR_BUSY)
        return false;
    if (more < 0)
        wr_call_fail(c, more, turn->window.lo);
    if (more <= 0) {
        conclude(s);
        return true;
    }
    c->outcome.stop = wr_min(c->outcome.stop, turn->valid);
    publish(s, &turn->window, turn->valid);
    return true;
}

/* All clients are done with a window. Whether anything happened. */
static bool close_window(shared *s, int which)
{
    wr_call *c = s->call;
    wr_turn *turn = &s->turn[which];
    int64_t lo = turn->window.lo;
    int code = wr_turn_close(c, turn, buffer_of(s, which), false);
    s->barred = s->barred || code == WR_BUSY;
    if (code == WR_BUSY)
        return false;
    if (code) {
        wr_call_fail(c, code, lo);
        if (!s->last)
            conclude(s);
    }
    s->state[which] = IDLE;
    return true;
}

/* One turn as aggregator; whether anything happened. */
static bool serve(shared *s)
{
    bool busy = false;
    s->barred = false;
    for (int which = 0; which < 2; which++) {
        wr_slot *slot = &desk_of(s, s->call->desk)->slot[which];
        int64_t done = atomic_load_explicit(&slot->acknowledged, memory_order_acquire);
        if (s->state[which] == OPEN && done == slot->expected)
            busy = close_window(s, which) || busy;
    }
    while (!s->last && s->state[s->opened & 1] == IDLE && open_window(s))
        busy = true;
    return busy;
}

/* How many ranks below this one take part. */
static int64_t place_in_order(const wr_slot *slot, int local_rank)
{
    int64_t below = 0;
    for (int i = 0; i < local_rank; i++)
        below += takes_part(slot, i);
    return below;
}

static void ring_next(const shared *s, const wr_slot *slot)
{
    for (int i = s->t->local_rank + 1; i < s->t->local_size; i++)
        if (takes_part(slot, i)) {
            ring(s, i);
            return;
        }
}

/* Copies this rank's part of a window, unless a lower rank must come first. */
static bool take_part(const shared *s, int desk, int which)
{
    wr_slot *slot = &desk_of(s, desk)->slot[which];
    int64_t lo = slot->lo, hi = slot->hi;
    if (slot->ordered && atomic_load_explicit(&slot->next, memory_order_acquire) !=
                             place_in_order(slot, s->t->local_rank))
        return false;
    const weir_pattern cover = wr_hall_get_cover(s->hall, s->t->local_size, 2 * desk + which);
    char *window = wr_hall_buffer(s->hall, s->t->local_size, desk, which);
    wr_access_copy(s->call->a, &cover, window, lo, wr_min(hi, slot->valid));
    if (slot->ordered) {
        atomic_fetch_add_explicit(&slot->next, 1, memory_order_release);
        ring_next(s, slot);
    }
    int64_t expected = slot->expected;
    int owner = wr_call_desk_rank(s->call, desk);
    if (atomic_fetch_add_explicit(&slot->acknowledged, 1, memory_order_acq_rel) + 1 == expected &&
        owner != s->t->local_rank)
        ring(s, owner);
    return true;
}

/* One look at a desk; whether anything happened. `*over` if all its windows are through. */
static bool visit(shared *s, int desk, bool *over)
{
    wr_desk *d = desk_of(s, desk);
    int64_t all = atomic_load_explicit(&d->windows, memory_order_acquire) - 1,
            k = s->hall->seen[desk];
    *over = all >= 0 && k >= all;
    if (*over)
        return false;
    wr_slot *slot = &d->slot[k & 1];
    int64_t turn = atomic_load_explicit(&slot->turn, memory_order_acquire);
    if (turn < k + 1 && -turn < k + 1)
        return false;
    bool mine = turn == k + 1 && takes_part(slot, s->t->local_rank);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&slot->turn, memory_order_relaxed) == k + 1 && mine &&
        !take_part(s, desk, (int)(k & 1)))
        return false;
    s->hall->seen[desk]++;
    return true;
}

/* One turn as client; whether anything happened. `*over` once all desks are done. */
static bool attend(shared *s, bool *over)
{
    bool busy = false, all = true;
    for (int desk = 0; desk < s->call->desks; desk++) {
        bool done;
        while (visit(s, desk, &done))
            busy = true;
        all = all && done;
    }
    *over = all;
    return busy;
}

void wr_rounds_shared_end(wr_call *call)
{
    const wr_port *port = call->port;
    if (call->mine < 0)
        return;
    wr_desk *d = wr_hall_desk(&port->hall, port->world->transport->local_size, call->desk);
    atomic_store(&d->windows, 0);
    for (int i = 0; i < 2; i++)
        atomic_store(&d->slot[i].turn, 0);
}

static bool through(const shared *s, bool serves, bool over)
{
    return over && (!serves || (s->last && s->state[0] == IDLE && s->state[1] == IDLE));
}

/* Somebody else holds a range; messages of other code must go on meanwhile. */
static void wait_outside(int *tries, const wr_waiter *waiter)
{
    wr_backoff(tries);
    if (waiter->poke)
        waiter->poke(waiter->user);
}

void wr_rounds_shared(wr_call *call)
{
    shared s = {.call = call, .t = call->port->world->transport, .hall = &call->port->hall};
    wr_word *bell = wr_hall_bell(s.hall, s.t->local_rank);
    wr_waiter waiter = wr_transport_waiter(s.t, true);
    weir_pattern *realm = NULL;
    bool serves = call->mine >= 0, over = false;
    int tries = 0;
    for (int desk = 0; desk < call->desks; desk++)
        s.hall->seen[desk] = 0;
    if (serves) {
        if (!call->outcome.code)
            wr_call_fail(call, wr_plan_realm(call->plan, call->mine, &realm), call->plan->lo);
        if (realm)
            call->wants_count = wr_wants_keep(realm, call->wants_count, call->wants);
        wr_windows_init(&s.walk, call->in, call->plan, realm, call->wants_count, call->wants);
        if (call->outcome.code)
            conclude(&s);
        else
            wr_windows_remember(&s.walk, &call->port->course[call->a->direction]);
    }
    while (!through(&s, serves, over)) {
        uint32_t heard = wr_word_get(bell);
        bool busy = serves && serve(&s);
        busy = attend(&s, &over) || busy;
        tries = busy ? 0 : tries;
        if (busy || through(&s, serves, over))
            continue;
        if (s.barred)
            wait_outside(&tries, &waiter);
        else
            wr_wait(bell, heard, &waiter);
    }
    for (int which = 0; which < 2; which++)
        wr_turn_drop(call, &s.turn[which]);
    if (serves)
        wr_windows_release(&s.walk);
    weir_pattern_free(realm);
}
