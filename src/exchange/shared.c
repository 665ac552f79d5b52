/* Rounds through shared memory. An aggregator opens windows, clients copy between its buffer and
 * their own memory, one copy and no message; two windows per aggregator, so that one is copied
 * while the other is in the storage, or more where the storage is left to the progress thread.
 * Every rank is a client, and some are aggregators too: each turns its roles over until all windows
 * of all aggregators of the node are through. */

#include "base/arith.h"
#include "exchange/rounds.h"
#include "runtime/channel.h"

/* Of a round: none; its window being made, locked and read; ready to be shown; shown. */
enum state { IDLE, COMING, READY, OPEN };

typedef struct shared {
    wr_call *call;
    wr_transport *t;
    wr_node_windows *node_windows;
    /* as aggregator */
    wr_windows walk;
    int64_t begun, opened; /* windows, in the order of the walk; opened ones are shown */
    int64_t end;           /* how many there will be; INT64_MAX while that is not known */
    bool last;             /* all have been told */
    wr_round *round;       /* by slot, the node windows's */
    bool barred;           /* by somebody who holds a range: there is no wake-up word for that */
} shared;

static wr_ring *ring_of(const shared *s, int ring)
{
    return wr_node_windows_ring(s->node_windows, ring);
}

static void wake(const shared *s, int local_rank)
{
    wr_word_signal(wr_node_windows_wakeup(s->node_windows, local_rank));
}

/* Marks the ranks that take part, and returns how many. */
static int64_t mark_clients(const shared *s, wr_slot *slot, const wr_window *w)
{
    const wr_call *c = s->call;
    uint64_t who[WR_NODE_RANKS / 64] = {0};
    int64_t count = 0;
    for (int64_t i = 0; i < c->wants.count; i++)
        if (wr_want_touches(&c->wants.list[i], w->lo, w->hi)) {
            who[c->wants.list[i].rank / 64] |= UINT64_C(1) << c->wants.list[i].rank % 64;
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

static void wake_clients(const shared *s, const wr_slot *slot)
{
    for (int i = 0; i < s->t->local_size; i++)
        if (i != s->t->local_rank && takes_part(slot, i))
            wake(s, i);
}

/* Where a window's data are if they are one run of this rank's memory, and nobody else takes part:
 * they can be written from there. */
static char *find_own(const shared *s, const wr_slot *slot, const wr_window *w, int64_t clients)
{
    if (s->call->a->direction == WR_READ || clients != 1 || w->holes ||
        !takes_part(slot, s->t->local_rank) || weir_pattern_pieces(w->cover) != 1)
        return NULL;
    return wr_access_run(s->call->a, w->lo, w->hi);
}

/* Shows window number s->opened + 1 to its clients. */
static void publish(shared *s)
{
    int which = (int)(s->opened % s->call->slots);
    wr_round *round = &s->round[which];
    const wr_window *w = &round->window;
    wr_slot *slot = &ring_of(s, s->call->ring)->slot[which];
    s->call->outcome.stop = wr_min(s->call->outcome.stop, round->valid);
    /* A rank that still looks at the window before must not take this one's fields for that one's:
     * a negative number says that they change. The fence keeps it before the stores below; it pairs
     * with the acquire fence in visit(), which looks at the number again after reading them. */
    int64_t before = atomic_load_explicit(&slot->number, memory_order_relaxed);
    atomic_store_explicit(&slot->number, -before, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    wr_node_windows_put_cover(s->node_windows, s->call->ring, which, w->cover);
    atomic_store_explicit(&slot->lo, w->lo, memory_order_relaxed);
    atomic_store_explicit(&slot->hi, w->hi, memory_order_relaxed);
    slot->valid = round->valid;
    slot->ordered = s->call->a->direction == WR_WRITE && w->overlap;
    atomic_store_explicit(&slot->acknowledged, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->next, 0, memory_order_relaxed);
    int64_t clients = mark_clients(s, slot, w);
    round->own = find_own(s, slot, w, clients);
    if (round->own) {
        atomic_store_explicit(&slot->who[s->t->local_rank / 64], 0, memory_order_relaxed);
        clients = 0;
    }
    atomic_store_explicit(&slot->expected, clients, memory_order_relaxed);
    /* releases the fields above, the cover and, when reading, the data to the load in visit() */
    atomic_store_explicit(&slot->number, ++s->opened, memory_order_release);
    s->round[which].state = OPEN;
    wake_clients(s, slot);
}

/* No more windows: everyone may go once those shown are through. */
static void conclude(shared *s)
{
    s->last = true;
    /* pairs with the first load in visit() */
    atomic_store_explicit(&ring_of(s, s->call->ring)->windows, s->opened + 1, memory_order_release);
    for (int i = 0; i < s->t->local_size; i++)
        if (i != s->t->local_rank)
            wake(s, i);
}

static char *buffer_of(const shared *s, int which)
{
    return wr_node_windows_buffer(s->node_windows, s->call->ring, which);
}

/* No window from number `k` on is shown. */
static void cut(shared *s, int64_t k)
{
    s->end = wr_min(s->end, k);
}

/* Window `k`, which is coming, as far as it gets; whether anything happened. */
static bool advance(shared *s, int64_t k)
{
    int which = (int)(k % s->call->slots);
    wr_round *round = &s->round[which];
    int code = wr_round_open(&s->call->rounds, &s->walk, round, buffer_of(s, which));
    s->barred = s->barred || code == WR_BUSY;
    if (code == WR_BUSY || code == WR_AWAY)
        return false;
    if (code < 0)
        wr_call_fail(s->call, code, round->window.lo);
    if (code != 1)
        cut(s, k);
    s->round[which].state = code == 1 ? READY : IDLE;
    return true;
}

/* All clients are done with a window. Whether anything happened. */
static bool close_window(shared *s, int which)
{
    wr_call *c = s->call;
    wr_round *round = &s->round[which];
    int64_t lo = round->window.lo;
    int code =
        wr_round_close(&c->rounds, round, round->own ? round->own : buffer_of(s, which), false);
    s->barred = s->barred || code == WR_BUSY;
    if (code == WR_BUSY || code == WR_AWAY)
        return false;
    if (code) {
        wr_call_fail(c, code, lo);
        cut(s, s->opened);
    }
    s->round[which].state = IDLE;
    return true;
}

/* What was begun and is not to be shown any more. */
static bool drop_ready(shared *s)
{
    bool busy = false;
    for (int64_t k = wr_max(s->opened, s->end); k < s->begun; k++) {
        int which = (int)(k % s->call->slots);
        if (s->round[which].state != READY)
            continue;
        wr_round_drop(&s->call->rounds, &s->round[which]);
        s->round[which].state = IDLE;
        busy = true;
    }
    return busy;
}

static bool close_windows(shared *s)
{
    bool busy = false;
    for (int which = 0; which < s->call->slots; which++) {
        if (s->round[which].state != OPEN)
            continue;
        wr_slot *slot = &ring_of(s, s->call->ring)->slot[which];
        /* acquires what the clients copied: pairs with the addition in take_part() */
        if (atomic_load_explicit(&slot->acknowledged, memory_order_acquire) == slot->expected)
            busy = close_window(s, which) || busy;
    }
    return busy;
}

/* Goes on with windows that are coming, and begins others where there is room; none behind one that
 * is barred, because whoever holds its range may wait for theirs. */
static bool begin_windows(shared *s)
{
    const int slots = s->call->slots;
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

/* Does what an aggregator can do without waiting; whether that was anything. */
static bool serve(shared *s)
{
    s->barred = false;
    bool busy = close_windows(s);
    busy = begin_windows(s) || busy;
    while (s->opened < s->end && s->opened < s->begun &&
           s->round[s->opened % s->call->slots].state == READY) {
        publish(s);
        busy = true;
    }
    busy = drop_ready(s) || busy;
    if (!s->last && s->opened >= s->end) {
        conclude(s);
        busy = true;
    }
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

static void wake_next(const shared *s, const wr_slot *slot)
{
    for (int i = s->t->local_rank + 1; i < s->t->local_size; i++)
        if (takes_part(slot, i)) {
            wake(s, i);
            return;
        }
}

/* Copies this rank's part of a window, unless a lower rank must come first. */
static bool take_part(const shared *s, int ring, int which)
{
    wr_slot *slot = &ring_of(s, ring)->slot[which];
    int64_t lo = slot->lo, hi = slot->hi;
    /* acquires the copies of the ranks before this one: pairs with the addition below */
    if (slot->ordered && atomic_load_explicit(&slot->next, memory_order_acquire) !=
                             place_in_order(slot, s->t->local_rank))
        return false;
    const weir_pattern cover = wr_node_windows_get_cover(s->node_windows, ring, which);
    char *window = wr_node_windows_buffer(s->node_windows, ring, which);
    wr_access_copy(s->call->a, &cover, window, lo, wr_min(hi, slot->valid));
    if (slot->ordered) {
        atomic_fetch_add_explicit(&slot->next, 1, memory_order_release);
        wake_next(s, slot);
    }
    /* releases this rank's copy to close_windows(); after it the slot may show another window, so
     * what is needed of it is read before */
    int64_t expected = slot->expected;
    int owner = wr_call_ring_rank(s->call, ring);
    if (atomic_fetch_add_explicit(&slot->acknowledged, 1, memory_order_acq_rel) + 1 == expected &&
        owner != s->t->local_rank)
        wake(s, owner);
    return true;
}

/* One look at a ring; whether anything happened. `*over` if all its windows are through. */
static bool visit(shared *s, int ring, bool *over)
{
    wr_ring *d = ring_of(s, ring);
    int64_t all = atomic_load_explicit(&d->windows, memory_order_acquire) - 1,
            k = s->node_windows->seen[ring];
    *over = all >= 0 && k >= all;
    if (*over)
        return false;
    int which = (int)(k % s->call->slots);
    wr_slot *slot = &d->slot[which];
    int64_t number = atomic_load_explicit(&slot->number, memory_order_acquire);
    if (number < k + 1 && -number < k + 1)
        return false;
    bool mine = number == k + 1 && takes_part(slot, s->t->local_rank);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&slot->number, memory_order_relaxed) == k + 1 && mine &&
        !take_part(s, ring, which))
        return false;
    s->node_windows->seen[ring]++;
    return true;
}

/* Does what a client can do without waiting; whether that was anything. `*over` once all rings are
 * done. */
static bool attend(shared *s, bool *over)
{
    bool busy = false, all = true;
    for (int ring = 0; ring < s->call->rings; ring++) {
        bool done;
        while (visit(s, ring, &done))
            busy = true;
        all = all && done;
    }
    *over = all;
    return busy;
}

void wr_rounds_shared_end(wr_call *call)
{
    if (call->mine < 0 || !call->slots)
        return;
    wr_ring *d = wr_node_windows_ring(&call->group->node_windows, call->ring);
    atomic_store(&d->windows, 0);
    for (int i = 0; i < call->slots; i++)
        atomic_store(&d->slot[i].number, 0);
}

static bool through(const shared *s, bool serves, bool over)
{
    if (!over || (serves && !s->last))
        return false;
    for (int which = 0; serves && which < s->call->slots; which++)
        if (s->round[which].state != IDLE)
            return false;
    return true;
}

/* Somebody else holds a range; messages of other code must go on meanwhile. */
static void wait_outside(int *tries, const wr_waiter *waiter)
{
    wr_backoff(tries);
    if (waiter->poke)
        waiter->poke(waiter->user);
}

/* What an aggregator needs, before anything is shown; if it fails there are no windows. */
static void set_up(shared *s, weir_pattern **realm)
{
    wr_call *c = s->call;
    if (!c->outcome.code)
        wr_call_fail(c, wr_plan_realm(c->plan, c->mine, realm), c->plan->lo);
    if (*realm)
        c->wants.count = wr_wants_keep(*realm, c->wants.count, c->wants.list);
    wr_windows_init(&s->walk, c->in, c->plan, *realm, c->wants.count, c->wants.list);
    if (c->outcome.code)
        s->end = 0;
    else
        wr_windows_remember(&s->walk, &c->group->window_cache[c->a->direction]);
}

/* Whether only the storage keeps this rank here: when reading, it has been asked for what there is
 * room for; when writing, it has everything. */
static bool only_storage(const shared *s, bool serves, bool over)
{
    if (s->call->a->direction == WR_READ)
        return true;
    if (!over || (serves && !s->last))
        return false;
    for (int which = 0; serves && which < s->call->slots; which++)
        if (s->round[which].state != IDLE && !s->round[which].away)
            return false;
    return true;
}

static void run_rounds(shared *s, bool serves)
{
    wr_word *wakeup = wr_node_windows_wakeup(s->node_windows, s->t->local_rank);
    wr_waiter waiter = wr_transport_waiter(s->t, true);
    bool over = false;
    int tries = 0;
    while (!through(s, serves, over)) {
        uint32_t heard = wr_word_get(wakeup);
        bool busy = serves && serve(s);
        busy = attend(s, &over) || busy;
        tries = busy ? 0 : tries;
        if (busy || through(s, serves, over))
            continue;
        if (only_storage(s, serves, over))
            wr_call_stored(s->call);
        if (s->barred)
            wait_outside(&tries, &waiter);
        else
            wr_wait(wakeup, heard, &waiter);
    }
}

static void run(wr_call *call)
{
    call->rounds.did->exchange = WR_EXCHANGE_SHM;
    shared s = {.call = call,
                .t = call->group->handle.world->transport,
                .node_windows = &call->group->node_windows,
                .round = call->group->node_windows.round,
                .end = INT64_MAX};
    weir_pattern *realm = NULL;
    bool serves = call->mine >= 0;
    for (int ring = 0; ring < call->rings; ring++)
        s.node_windows->seen[ring] = 0;
    if (serves)
        set_up(&s, &realm);
    run_rounds(&s, serves);
    if (serves)
        wr_windows_release(&s.walk);
    weir_pattern_free(realm);
}

/* [collective on the node] Memory for the windows of the plan, or of a smaller one, or
 * WR_NO_REGION. */
static int open_node_windows(wr_call *c)
{
    wr_group *group = c->group;
    wr_node_windows *nw = &group->node_windows;
    wr_node_windows_need need = {c->rings ? c->rings : 1, (int)c->plan->slots, c->plan->window};
    if (wr_node_windows_fits(nw, &need))
        return 0;
    int code;
    while ((code = wr_node_windows_open(nw, &group->inner, &need)) == WR_NO_REGION &&
           nw->limit >= 0) {
        wr_plan_shrink(c->in, c->plan);
        nw->limit = c->in->limit;
        wr_call_log(c);
        need = (wr_node_windows_need){need.rings, (int)c->plan->slots, c->plan->window};
    }
    int64_t kept = code || need.slots == 2 ? 0 : need.slots * wr_slot_bytes(need.window);
    atomic_fetch_add(&group->handle.world->in_flight, kept - group->in_flight);
    group->in_flight = kept;
    return code;
}

/* [collective on the node] There is memory for the rounds, and large requests are told; or all
 * leave. */
static int admit(wr_call *c)
{
    int code = open_node_windows(c);
    c->slots = (int)c->plan->slots;
    return code ? code : wr_call_show(c);
}

static void run_admitted(wr_call *c)
{
    wr_arena memory = {0};
    if (c->mine >= 0)
        wr_call_fail(c, wr_call_gather(c, &memory, &c->wants), c->plan->lo);
    c->rounds.wakeup = wr_node_windows_wakeup(&c->group->node_windows,
                                              c->group->handle.world->transport->local_rank);
    if (c->plan->handed)
        wr_call_hand_over(c, run);
    else
        run(c);
    wr_wants_forget(&c->wants);
    wr_arena_release(&memory);
}

void wr_rounds_shared(wr_call *c)
{
    int code = admit(c);
    if (!code) {
        run_admitted(c);
        return;
    }
    c->slots = 0;
    if (code == WR_NO_REGION)
        wr_call_run_apart(c);
    else
        wr_call_fail(c, code, c->plan->lo);
}
