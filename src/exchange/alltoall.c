/* Rounds in lockstep, by all-to-all straight from and to the memory of clients: exchange=alltoall.
 * "A New Flexible MPI Collective I/O Implementation", section 5.4.
 *
 * In a round every aggregator shows a window, or that it has none now, or no more; one all-to-all
 * tells all ranks, a second one moves the data. A rank's side of it is its own memory, as strided
 * lanes, unless these are too many or descend; an aggregator's side is packed by rank, as far as
 * there is memory: a window whose ranks want more than that takes several rounds. Nobody waits for
 * a lock in a round, or two calls on one file would wait for each other. An error in an all-to-all
 * is all ranks' error, and ends the rounds of all.
 *
 * The all-to-alls have a transport of their own, as they must not meet those of another file. */
#include <string.h>

#include "base/arith.h"
#include "exchange/parties.h"
#include "pattern/meet.h"

/* What an aggregator tells of a round. */
typedef struct wr_announcement {
    int64_t lo, hi;
    int64_t valid;      /* when reading: bytes from here on do not exist */
    int64_t last;       /* 1: there are no more windows */
    int64_t realm;      /* the aggregator's */
    int64_t first, end; /* whose data move: of ranks [first, end) */
} wr_announcement;

enum { MOST_LANES = 4096 }; /* of a rank in a round; beyond, data are packed */

/* Of an aggregator: it opens a window, shows it, writes it, is through. */
enum state { OPENING, SHOWING, CLOSING, THROUGH };

typedef struct lanes {
    int64_t count, room;
    wr_lane *list;
} lanes;

/* Data of a rank for one aggregator that are packed. */
typedef struct bundle {
    int64_t realm, lo, hi;
    char *data;
} bundle;

typedef struct alltoall {
    wr_call *call;
    wr_transport *t;
    wr_transport *wide; /* of the all-to-alls */
    wr_arena memory;
    weir_pattern **realms; /* by aggregator */
    wr_windows walk;       /* as aggregator, as are these */
    wr_round round;
    char *buffer, *packed;
    wr_announcement *announcement; /* by aggregator, of this round */
    wr_announcement own;           /* as aggregator, from here */
    enum state state;
    int64_t first, end; /* wants of this round */
    int64_t packed_room;
    lanes send, receive; /* from here as client */
    int64_t bundles;
    bundle *bundle; /* by aggregator */
} alltoall;

/* What of its window exists. */
static wr_window range_of(const alltoall *x)
{
    const wr_window *w = &x->round.window;
    return (wr_window){.lo = w->lo, .hi = wr_min(w->hi, x->round.valid)};
}

static void fail(alltoall *x, int code, int64_t stop)
{
    wr_call_fail(x->call, code, stop);
}

/* --- lanes --- */

static int add_lane(lanes *to, wr_lane lane)
{
    wr_lane *last = to->count ? &to->list[to->count - 1] : NULL;
    if (last && last->rank == lane.rank && last->count == 1 && lane.count == 1 &&
        last->memory + last->run == lane.memory) {
        last->run += lane.run;
        return 0;
    }
    int code = wr_grow((void **)&to->list, &to->room, to->count + 1, sizeof *to->list);
    if (code || !to->list)
        return code;
    to->list[to->count++] = lane;
    return 0;
}

/* The memory of `bytes` data from the cursor on. 1: it cannot be a lane, because runs descend, and
 * Open MPI 4.1 sends two bytes of stride -1 in the wrong order. */
static int add_memory(const wr_access_request *a, wr_cursor *memory, int64_t bytes, int rank,
                      lanes *to)
{
    int code = 0;
    wr_batch b;
    while (bytes && !code && wr_cursor_next(memory, bytes, &b)) {
        if (b.count > 1 && b.stride < b.run)
            return 1;
        code = add_lane(to, (wr_lane){rank, wr_at(a->base, b.offset), b.run, b.stride, b.count});
        bytes -= b.run * b.count;
    }
    return code;
}

/* Where this rank's data of a window are, in file order; 1: they must be packed. */
static int add_lanes(const alltoall *x, const wr_announcement *g, int rank, lanes *to)
{
    const wr_access_request *a = x->call->a;
    const int64_t before = to->count;
    int code = 0;
    wr_meet meet;
    wr_meeting m;
    wr_cursor memory;
    wr_meet_init(&meet, a->file, x->realms[g->realm]);
    wr_cursor_limit(&meet.a, a->begin, a->end);
    wr_cursor_clip(&meet.a, g->lo, wr_min(g->hi, g->valid));
    wr_cursor_init(&memory, a->memory);
    while (!code && wr_meet_next(&meet, &m))
        for (int64_t i = 0; i < m.count && !code; i++) {
            wr_cursor_seek_data(&memory, m.a + i * m.a_step - a->begin);
            code = add_memory(a, &memory, m.run, rank, to);
            if (!code && to->count - before > MOST_LANES)
                code = 1;
        }
    if (code)
        to->count = before;
    return code;
}

/* Instead, packed. */
static int add_bundle(alltoall *x, const wr_announcement *g, int rank, lanes *to)
{
    const wr_access_request *a = x->call->a;
    const weir_pattern *realm = x->realms[g->realm];
    bundle b = {g->realm, g->lo, wr_min(g->hi, g->valid), NULL};
    int64_t bytes = wr_access_pack(a, realm, NULL, b.lo, b.hi, INT64_MAX);
    b.data = wr_alloc(bytes);
    if (!b.data)
        return WEIR_ENOMEM;
    if (a->direction == WR_WRITE)
        wr_access_pack(a, realm, b.data, b.lo, b.hi, INT64_MAX);
    x->bundle[x->bundles++] = b;
    return add_lane(to, (wr_lane){rank, b.data, bytes, bytes, 1});
}

/* --- as aggregator --- */

/* Waits for the storage, which the progress thread has; when reading, that is all that keeps the
 * caller of a split call. */
static void wait_away(alltoall *x, int *tries)
{
    if (x->call->a->direction == WR_READ)
        wr_call_stored(x->call);
    wr_transport_rest(x->t, tries);
}

static void try_close(alltoall *x)
{
    int64_t lo = x->round.window.lo;
    int code, tries = 0;
    while ((code = wr_round_close(&x->call->rounds, &x->round, x->buffer, false)) == WR_AWAY)
        wait_away(x, &tries);
    if (code == WR_BUSY)
        return;
    fail(x, code, lo);
    x->state = code ? THROUGH : OPENING;
}

static void try_open(alltoall *x)
{
    wr_call *c = x->call;
    int more, tries = 0;
    while ((more = wr_round_open(&c->rounds, &x->walk, &x->round, x->buffer)) == WR_AWAY)
        wait_away(x, &tries);
    if (more == WR_BUSY)
        return;
    fail(x, more < 0 ? more : 0, x->round.window.lo);
    x->state = more == 1 ? SHOWING : THROUGH;
    if (more != 1)
        return;
    c->outcome.stop = wr_min(c->outcome.stop, x->round.valid);
    x->end = 0;
}

/* The next wants whose data fit, one at least, as lanes of packed memory. */
static int choose_wants(alltoall *x, lanes *to)
{
    const wr_wants *w = &x->call->wants;
    const wr_window range = range_of(x);
    int64_t used = 0;
    int code = 0;
    x->first = x->end;
    for (; x->end < w->count && !code; x->end++) {
        int64_t bytes = wr_want_bytes(&w->list[x->end], x->walk.realm, range.lo, range.hi);
        const wr_want *want = &w->list[x->end];
        if (used && used + bytes > x->packed_room)
            break;
        if (!bytes)
            continue;
        if (x->call->a->direction == WR_READ)
            wr_want_copy(want, WR_READ, x->round.window.cover, x->buffer, x->packed + used, range);
        code = add_lane(to, (wr_lane){want->rank, x->packed + used, bytes, bytes, 1});
        used += bytes;
    }
    x->own.lo = x->round.window.lo;
    x->own.hi = x->round.window.hi;
    x->own.valid = x->round.valid;
    x->own.first = x->first < x->end ? w->list[x->first].rank : 0;
    x->own.end = x->first < x->end ? w->list[x->end - 1].rank + 1 : 0;
    return code;
}

/* What the aggregator has for this round. */
static int prepare(alltoall *x)
{
    bool read = x->call->a->direction == WR_READ;
    x->send.count = x->receive.count = 0;
    if (x->call->mine < 0)
        return 0;
    if (x->state == CLOSING)
        try_close(x);
    if (x->state == OPENING)
        try_open(x);
    x->own = (wr_announcement){.realm = x->call->mine, .last = x->state == THROUGH};
    return x->state == SHOWING ? choose_wants(x, read ? &x->send : &x->receive) : 0;
}

/* Data have come, or have gone. */
static void settle(alltoall *x)
{
    if (x->state != SHOWING)
        return;
    char *packed = x->packed;
    for (int64_t i = x->first; i < x->end && x->call->a->direction == WR_WRITE; i++) {
        const wr_want *want = &x->call->wants.list[i];
        packed +=
            wr_want_copy(want, WR_WRITE, x->round.window.cover, x->buffer, packed, range_of(x));
    }
    if (x->end == x->call->wants.count)
        x->state = CLOSING;
}

/* --- rounds --- */

/* [collective] Everyone learns what aggregators have; with a code as in wr_agree. */
static int tell(alltoall *x, int code)
{
    const int64_t n = x->call->plan->aggregators;
    const int64_t sends = x->call->mine < 0 ? 0 : x->t->size;
    wr_lane *all = wr_alloc_array(sends + n, sizeof *all);
    const int64_t bytes = sizeof(wr_announcement);
    for (int64_t i = 0; all && i < sends; i++)
        all[i] = (wr_lane){(int)i, (char *)&x->own, bytes, bytes, 1};
    for (int64_t i = 0; all && i < n; i++)
        all[sends + i] =
            (wr_lane){wr_call_aggregator(x->call, i), (char *)&x->announcement[i], bytes, bytes, 1};
    code = code || all ? code : WEIR_ENOMEM;
    code = x->wide->ops->alltoall(x->wide, code, (int)sends, all, (int)n, all ? all + sends : NULL);
    wr_free(all);
    return code;
}

static bool is_for(const wr_announcement *g, int rank)
{
    return rank >= g->first && rank < g->end;
}

/* [collective] Moves what was told. */
static int exchange(alltoall *x)
{
    const wr_access_request *a = x->call->a;
    lanes *own = a->direction == WR_WRITE ? &x->send : &x->receive;
    int code = 0;
    for (int64_t i = 0; i < x->call->plan->aggregators && !code; i++) {
        const wr_announcement *g = &x->announcement[i];
        int rank = wr_call_aggregator(x->call, i);
        if (!is_for(g, x->t->rank))
            continue;
        code = add_lanes(x, g, rank, own);
        if (code == 1)
            code = add_bundle(x, g, rank, own);
    }
    code = x->wide->ops->alltoall(x->wide, code, (int)x->send.count, x->send.list,
                                  (int)x->receive.count, x->receive.list);
    for (int64_t i = 0; i < x->bundles; i++) {
        const bundle *b = &x->bundle[i];
        if (!code && a->direction == WR_READ)
            wr_access_pack(a, x->realms[b->realm], b->data, b->lo, b->hi, INT64_MAX);
        wr_free(b->data);
    }
    x->bundles = 0;
    return code;
}

static int run_rounds(alltoall *x)
{
    const int64_t n = x->call->plan->aggregators;
    for (int tries = 0;;) {
        int64_t through = 0, showing = 0;
        int code = tell(x, prepare(x));
        for (int64_t i = 0; i < n && !code; i++) {
            through += x->announcement[i].last;
            showing += x->announcement[i].first < x->announcement[i].end;
        }
        if (code || through == n)
            return code;
        if (showing)
            code = exchange(x);
        if (code)
            return code;
        settle(x);
        if (showing)
            tries = 0;
        else
            wr_transport_rest(x->t, &tries);
    }
}

static int make_realms(alltoall *x)
{
    const wr_plan *plan = x->call->plan;
    int64_t bytes = plan->aggregators * (int64_t)sizeof(weir_pattern *);
    int code = 0;
    x->realms = wr_arena_alloc(&x->memory, bytes);
    if (!x->realms)
        return WEIR_ENOMEM;
    memset(x->realms, 0, (size_t)bytes);
    for (int64_t i = 0; i < plan->aggregators && !code; i++)
        code = wr_plan_realm(plan, i, &x->realms[i]);
    return code;
}

/* An aggregator's window, and a window's or the largest want's data, packed. */
static int take_memory(alltoall *x)
{
    const wr_call *c = x->call;
    x->packed_room = c->plan->window;
    for (int64_t i = 0; i < c->wants.count; i++) {
        const wr_want *w = &c->wants.list[i];
        if (!weir_pattern_is_disjoint(w->pattern))
            x->packed_room = wr_max(x->packed_room, w->end - w->begin);
    }
    x->buffer = wr_arena_alloc(&x->memory, c->plan->window);
    x->packed = wr_arena_alloc(&x->memory, x->packed_room);
    return x->buffer && x->packed ? 0 : WEIR_ENOMEM;
}

/* [collective] Requests and memory: all have them, or none goes on. */
static int admit(alltoall *x)
{
    wr_call *c = x->call;
    const int64_t n = c->plan->aggregators;
    int code = make_realms(x);
    int served =
        wr_call_served(c, &x->memory, code || c->mine < 0 ? NULL : x->realms[c->mine], &c->wants);
    code = code ? code : served;
    x->announcement = wr_arena_alloc(&x->memory, n * (int64_t)sizeof *x->announcement);
    x->bundle = wr_arena_alloc(&x->memory, n * (int64_t)sizeof *x->bundle);
    if (!x->announcement || !x->bundle)
        code = code ? code : WEIR_ENOMEM;
    if (c->mine >= 0 && !code)
        code = take_memory(x);
    c->rounds.did->meetings += x->t->size > 1;
    return wr_agree(x->t, c->group->channel.tag, code);
}

static void run(wr_call *call)
{
    wr_transport *t = call->group->handle.world->transport;
    alltoall x = {.call = call, .t = t, .wide = call->group->wide, .state = OPENING};
    int code = admit(&x);
    if (!code && call->mine >= 0) {
        wr_windows_init(&x.walk, call->in, call->plan, x.realms[call->mine], call->wants.count,
                        call->wants.list);
        wr_windows_remember(&x.walk, &call->group->window_cache[call->a->direction]);
    }
    if (!code)
        code = run_rounds(&x);
    /* nobody can tell what has come of the windows that were open, nor of those behind them */
    wr_call_fail(call, code, x.round.made ? x.round.window.lo : call->plan->lo);
    wr_round_drop(&call->rounds, &x.round);
    if (x.walk.plan)
        wr_windows_release(&x.walk);
    for (int64_t i = 0; x.realms && i < call->plan->aggregators; i++)
        weir_pattern_free(x.realms[i]);
    wr_free(x.send.list);
    wr_free(x.receive.list);
    wr_wants_forget(&call->wants);
    wr_arena_release(&x.memory);
}

void wr_rounds_alltoall(wr_call *call)
{
    _Atomic int64_t *in_flight = &call->group->handle.world->in_flight;
    const int64_t kept = call->plan->left ? 3 * call->plan->window : 0;
    call->rounds.did->exchange = WR_EXCHANGE_ALLTOALL;
    wr_call_find_party(call, true);
    atomic_fetch_add(in_flight, kept);
    if (call->plan->handed)
        wr_call_hand_over(call, run);
    else
        run(call);
    atomic_fetch_sub(in_flight, kept);
}
