/* Windows from the storage to the ranks and back.
 *
 * An aggregator that fails opens no more windows. On one node that is all: the ranks learn that
 * there are no more. Other parties know the windows beforehand and wait for them, or send: so it
 * goes through the rest of its windows without the storage, tells those who read that nothing
 * comes, and drops what is written. */
#include "exchange/serve.h"

#include "base/arith.h"

/* Of a round: none; its window being made, locked and read; ready to be shown; shown. */
enum state { IDLE, COMING, READY, OPEN };

static wr_call *call_of(const wr_server *s)
{
    return s->rings->call;
}

static int ring_of(const wr_server *s)
{
    return (int)(call_of(s)->mine - call_of(s)->first_realm);
}

static char *buffer_of(const wr_server *s, int which)
{
    return wr_node_windows_buffer(s->rings->nw, ring_of(s), which);
}

/* Where a window's data are if they are one run of this rank's memory, and nobody else takes part:
 * they can be written from there. */
static char *find_own(const wr_server *s, int which, const wr_window *w, int64_t clients)
{
    const wr_call *c = call_of(s);
    const wr_slot *slot = wr_rings_slot(s->rings, ring_of(s), which);
    if (c->a->direction == WR_READ || clients != 1 || s->parts.of[which].count || w->holes ||
        !wr_slot_has(slot, c->party.self) || weir_pattern_pieces(w->cover) != 1)
        return NULL;
    return wr_access_run(c->a, w->lo, w->hi);
}

/* Shows window number s->opened + 1 to its clients. */
static void publish(wr_server *s)
{
    wr_call *c = call_of(s);
    int which = (int)(s->opened % c->slots);
    wr_round *round = &s->round[which];
    const wr_window *w = &round->window;
    const bool lost = !round->made;
    wr_slot *slot = wr_rings_change(s->rings, ring_of(s), which);
    if (!lost) {
        c->outcome.stop = wr_min(c->outcome.stop, round->valid);
        wr_node_windows_put_cover(s->rings->nw, ring_of(s), which, w->cover);
        slot->ordered = c->a->direction == WR_WRITE && w->overlap;
    }
    atomic_store_explicit(&slot->lo, w->lo, memory_order_relaxed);
    atomic_store_explicit(&slot->hi, w->hi, memory_order_relaxed);
    slot->valid = round->valid;
    int64_t clients = wr_parts_open(&s->parts, which, round, lost);
    round->own = lost ? NULL : find_own(s, which, w, clients);
    if (round->own) { /* nobody copies */
        atomic_store_explicit(&slot->who[c->party.self / 64], 0, memory_order_relaxed);
        atomic_store_explicit(&slot->expected, 0, memory_order_relaxed);
    }
    round->state = OPEN;
    wr_rings_show(s->rings, ring_of(s), which, ++s->opened);
}

/* After a failure: no window from number `k` on is made. */
static void stop(wr_server *s, int64_t k)
{
    if (call_of(s)->party.count == 1)
        s->end = wr_min(s->end, k);
    s->draining = true;
}

/* A window that goes without the storage; false: there are no more. */
static bool drain(wr_server *s, wr_round *round)
{
    round->made = false;
    round->valid = INT64_MAX;
    return wr_windows_cell(&s->walk, &round->window) == 1;
}

/* Window `k`, which is coming, as far as it gets; whether anything happened. */
static bool advance(wr_server *s, int64_t k)
{
    wr_call *c = call_of(s);
    int which = (int)(k % c->slots);
    wr_round *round = &s->round[which];
    const int64_t before = s->walk.at;
    if (!round->made && s->draining) {
        if (!drain(s, round))
            s->end = wr_min(s->end, k);
        round->state = k < s->end ? READY : IDLE;
        return true;
    }
    const bool fresh = !round->made;
    int code = wr_round_open(&c->rounds, &s->walk, round, buffer_of(s, which));
    s->barred = s->barred || code == WR_BUSY;
    if (code == WR_BUSY || code == WR_AWAY)
        return false;
    if (code < 0) {
        wr_call_fail(c, code, round->window.lo);
        stop(s, k);
        if (c->party.count > 1) { /* others know this window, too */
            if (fresh && s->walk.at == before)
                return advance(s, k);
            round->valid = INT64_MAX;
            round->state = READY;
            return true;
        }
    }
    if (code == 0)
        s->end = wr_min(s->end, k);
    round->state = code == 1 ? READY : IDLE;
    return true;
}

/* All are done with a window. Whether anything happened. */
static bool close_window(wr_server *s, int which)
{
    wr_call *c = call_of(s);
    wr_round *round = &s->round[which];
    int64_t lo = round->window.lo;
    char *data = round->own ? round->own : buffer_of(s, which);
    int code =
        round->made ? wr_round_close(&c->rounds, round, data, s->parts.of[which].spoiled) : 0;
    s->barred = s->barred || code == WR_BUSY;
    if (code == WR_BUSY || code == WR_AWAY)
        return false;
    if (code) {
        wr_call_fail(c, code, lo);
        stop(s, s->opened);
    }
    round->state = IDLE;
    return true;
}

/* What was begun and is not to be shown any more. */
static bool drop_ready(wr_server *s)
{
    bool busy = false;
    for (int64_t k = wr_max(s->opened, s->end); k < s->begun; k++) {
        wr_round *round = &s->round[k % call_of(s)->slots];
        if (round->state != READY)
            continue;
        wr_round_drop(&call_of(s)->rounds, round);
        round->state = IDLE;
        busy = true;
    }
    return busy;
}

static bool close_windows(wr_server *s)
{
    bool busy = false;
    for (int which = 0; which < call_of(s)->slots; which++)
        if (s->round[which].state == OPEN && wr_rings_is_done(s->rings, ring_of(s), which) &&
            wr_parts_are_over(&s->parts, which))
            busy = close_window(s, which) || busy;
    return busy;
}

/* Goes on with windows that are coming, and begins others where there is room; none behind one that
 * is barred, because whoever holds its range may wait for theirs. */
static bool begin_windows(wr_server *s)
{
    const int slots = call_of(s)->slots;
    bool busy = false;
    for (int64_t k = s->opened; k < s->begun; k++)
        if (s->round[k % slots].state == COMING)
            busy = advance(s, k) || busy;
    while (s->begun < s->end && s->round[s->begun % slots].state == IDLE && !s->barred) {
        s->round[s->begun % slots].state = COMING;
        advance(s, s->begun++);
        busy = true;
    }
    return busy;
}

bool wr_server_run(wr_server *s)
{
    if (call_of(s)->mine < 0)
        return false;
    s->barred = false;
    bool busy = wr_parts_run(&s->parts);
    busy = close_windows(s) || busy;
    busy = begin_windows(s) || busy;
    while (s->opened < s->end && s->opened < s->begun &&
           s->round[s->opened % call_of(s)->slots].state == READY) {
        publish(s);
        busy = true;
    }
    busy = drop_ready(s) || busy;
    if (!s->last && s->opened >= s->end) {
        s->last = true;
        wr_rings_conclude(s->rings, ring_of(s), s->opened);
        busy = true;
    }
    return busy;
}

int wr_server_build(wr_server *s, wr_rings *rings, const weir_pattern *realm, wr_arena *memory)
{
    wr_call *c = rings->call;
    *s = (wr_server){.rings = rings, .realm = realm, .end = INT64_MAX, .last = c->mine < 0};
    if (c->mine < 0)
        return 0;
    wr_windows_init(&s->walk, c->in, c->plan, realm, c->wants.count, c->wants.list);
    int code = wr_windows_prepare(&s->walk);
    return code ? code : wr_parts_build(&s->parts, rings, realm, memory);
}

void wr_server_begin(wr_server *s, int code)
{
    wr_call *c = call_of(s);
    if (c->mine < 0)
        return;
    if (code) {
        s->end = 0;
        return;
    }
    wr_windows_remember(&s->walk, &c->group->window_cache[c->a->direction]);
}

void wr_server_release(wr_server *s)
{
    if (s->walk.plan)
        wr_windows_release(&s->walk);
}

bool wr_server_is_over(const wr_server *s)
{
    if (!s->last)
        return false;
    for (int which = 0; call_of(s)->mine >= 0 && which < call_of(s)->slots; which++)
        if (s->round[which].state != IDLE)
            return false;
    return true;
}

bool wr_server_is_stored(const wr_server *s)
{
    if (!s->last)
        return false;
    for (int which = 0; call_of(s)->mine >= 0 && which < call_of(s)->slots; which++)
        if (s->round[which].state != IDLE && !s->round[which].away)
            return false;
    return true;
}

bool wr_server_waits(const wr_server *s)
{
    for (int which = 0; call_of(s)->mine >= 0 && which < call_of(s)->slots; which++)
        if (s->round[which].state == OPEN && !wr_parts_are_over(&s->parts, which))
            return true;
    return false;
}
