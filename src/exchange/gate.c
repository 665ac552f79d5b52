/* Streams of windows, and their parts through slots. */
#include "exchange/gate.h"

#include <string.h>

#include "base/arith.h"
#include "exchange/parties.h"
#include "pattern/meet.h"

/* Of a slot: empty; data or a notice on their way; ready to be shown; shown; data on their way. */
enum state { IDLE, COMING, READY, OPEN, GOING };

static enum wr_direction direction_of(const wr_gate *g)
{
    return g->rings->call->a->direction;
}

/* --- streams --- */

/* The next window of an aggregator in which the party takes part. */
static void advance(wr_stream *s)
{
    if (wr_windows_cell(&s->walk, &s->window) == 1)
        s->number = wr_windows_number(&s->walk, s->window.lo);
    else
        s->number = INT64_MAX;
}

static int open_stream(wr_gate *g, const wr_wants *wants, int64_t i)
{
    const wr_call *c = g->rings->call;
    wr_stream *s = &g->stream[g->streams];
    *s = (wr_stream){.rank = wr_call_aggregator(c, i)};
    int code = wr_plan_realm(c->plan, i, &s->realm);
    if (code)
        return code;
    wr_windows_init(&s->walk, c->in, c->plan, s->realm, wants->count, wants->list);
    code = wr_windows_prepare(&s->walk);
    if (!code)
        advance(s);
    if (!code && s->number < INT64_MAX) {
        g->streams++;
        return 0;
    }
    wr_windows_release(&s->walk);
    weir_pattern_free(s->realm);
    return code;
}

int wr_gate_build(wr_gate *g, wr_rings *rings, const wr_wants *wants, wr_arena *memory)
{
    const wr_call *c = rings->call;
    const int64_t n = c->plan->aggregators;
    int which = 0;
    while (which < c->gates && wr_call_owner(c, c->rings + which) != c->party.self)
        which++;
    *g = (wr_gate){.rings = rings, .ring = c->rings + which, .last = which == c->gates};
    g->ended = g->last;
    if (g->last || c->gates < 1)
        return 0;
    int code = wr_call_demand(c, wants, true, memory, &g->queue);
    g->stream = wr_arena_alloc(memory, (n / c->gates + 1) * (int64_t)sizeof *g->stream);
    g->part = wr_arena_alloc(memory, c->slots * (int64_t)sizeof *g->part);
    if (code || !g->stream || !g->part)
        return WEIR_ENOMEM;
    memset(g->part, 0, (size_t)c->slots * sizeof *g->part);
    for (int64_t i = which; i < n && !code; i += c->gates)
        if (i < c->first_realm || i >= c->first_realm + c->rings)
            code = open_stream(g, wants, i);
    g->level = -1;
    return code;
}

void wr_gate_release(wr_gate *g)
{
    for (int64_t i = 0; i < g->streams; i++) {
        wr_windows_release(&g->stream[i].walk);
        weir_pattern_free(g->stream[i].realm);
    }
    g->streams = 0;
}

/* The stream that the next part is of; NULL: there are no more parts. */
static wr_stream *find_stream(wr_gate *g)
{
    for (;;) {
        for (; g->at < g->streams; g->at++)
            if (g->stream[g->at].number == g->level)
                return &g->stream[g->at];
        g->level = INT64_MAX;
        for (int64_t i = 0; i < g->streams; i++)
            g->level = wr_min(g->level, g->stream[i].number);
        g->at = 0;
        if (g->level == INT64_MAX)
            return NULL;
    }
}

/* The next part, or false. */
static bool next_part(wr_gate *g, wr_gate_part *out)
{
    for (wr_stream *s; (s = find_stream(g));) {
        g->queue.realm = s->realm;
        wr_demand_open(&g->queue, &s->window);
        while (g->active < g->queue.active) {
            const wr_stretch stretch = wr_demand_cut(&g->queue, &s->window, g->active);
            g->active += stretch.count;
            if (!stretch.bytes)
                continue;
            *out = (wr_gate_part){.stream = s, .window = s->window, .stretch = stretch};
            return true;
        }
        g->active = 0;
        advance(s);
        g->at++;
    }
    return false;
}

/* --- slots --- */

static char *buffer_of(const wr_gate *g, int which)
{
    return wr_node_windows_buffer(g->rings->nw, g->ring, which);
}

/* Where they are received or sent from; what is followed by bytes that do not exist takes a way
 * round, because these must not be touched in memory. */
static char *data_of(const wr_gate *g, int which)
{
    const wr_gate_part *part = &g->part[which];
    return part->own && !part->heard ? part->own : buffer_of(g, which);
}

static void fail(const wr_gate *g, const wr_gate_part *part, int code)
{
    wr_call_fail(g->rings->call, code, part->window.lo);
}

/* Where the data of a part are if they are one run of this rank's memory, and nobody else's. */
static char *find_own(const wr_gate *g, wr_gate_part *part)
{
    const wr_call *c = g->rings->call;
    wr_meet meet;
    wr_meeting m;
    if (part->stretch.count != 1 ||
        wr_demand_want(&g->queue, part->stretch.first)->rank != c->party.self)
        return NULL;
    wr_meet_init(&meet, c->a->file, part->stream->realm);
    wr_cursor_limit(&meet.a, c->a->begin, c->a->end);
    wr_cursor_clip(&meet.a, part->window.lo, part->window.hi);
    if (!wr_meet_next(&meet, &m) || m.count != 1 || m.run != part->stretch.bytes)
        return NULL;
    part->from = m.offset;
    return wr_access_run(c->a, m.offset, m.offset + m.run);
}

/* Tells each rank its place in the part, in the order of the queue. */
static void admit_ranks(const wr_gate *g, int which)
{
    const wr_gate_part *part = &g->part[which];
    const wr_stretch *s = &part->stretch;
    const wr_demand *q = &g->queue;
    wr_slot *slot = wr_rings_slot(g->rings, g->ring, which);
    const wr_slot_share *shares = wr_node_windows_shares(g->rings->nw, g->ring, which);
    int64_t place = 0, turn = 0;
    for (int64_t i = s->first; i < s->first + s->count; i++) {
        const bool again = wr_demand_repeats(q, s, i);
        const int64_t bytes = again ? 1 : wr_demand_bytes(q, &part->window, i);
        const int64_t at = again ? shares[q->want[q->same[q->list[i]]]->rank].place : place;
        if (!bytes)
            continue;
        wr_rings_admit(g->rings, g->ring, which, wr_demand_want(q, i)->rank,
                       (wr_slot_share){at, turn++});
        slot->ordered = slot->ordered || (again && direction_of(g) == WR_WRITE);
        place += again ? 0 : bytes;
    }
}

/* Describes a slot for the part that it is for. */
static void describe(const wr_gate *g, int which)
{
    wr_gate_part *part = &g->part[which];
    const wr_window *w = &part->window;
    wr_slot *slot = wr_rings_change(g->rings, g->ring, which);
    weir_pattern *cover = NULL;
    part->own = find_own(g, part);
    if (part->own)
        return;
    int code = wr_pattern_clip(part->stream->realm, w->lo, w->hi, &cover);
    if (code || weir_pattern_footprint(cover) > WR_COVER_ROOM) {
        fail(g, part, code ? code : wr_fail(WEIR_ENOMEM, "a realm in too many pieces"));
        part->lost = true;
    } else {
        wr_node_windows_put_cover(g->rings->nw, g->ring, which, cover);
        admit_ranks(g, which);
    }
    weir_pattern_free(cover);
    slot->packed = 1;
    atomic_store_explicit(&slot->lo, w->lo, memory_order_relaxed);
    atomic_store_explicit(&slot->hi, w->hi, memory_order_relaxed);
}

/* Nobody takes part in what does not come. */
static void show(wr_gate *g, int which)
{
    wr_gate_part *part = &g->part[which];
    wr_slot *slot = wr_rings_slot(g->rings, g->ring, which);
    if (part->lost && direction_of(g) == WR_READ)
        slot = wr_rings_change(g->rings, g->ring, which);
    slot->valid = part->notice.valid;
    wr_rings_show(g->rings, g->ring, which, ++g->shown);
    part->state = OPEN;
}

static void receive(wr_gate *g, wr_gate_part *part, int tag, void *data, int64_t bytes)
{
    wr_transport *t = g->rings->t;
    int code = t->ops->receive(t, (wr_place){part->stream->rank, bytes, data},
                               g->rings->call->group->channel.tag + tag, &part->request);
    fail(g, part, code);
    part->lost = part->lost || code;
    part->state = code ? READY : COMING;
}

/* The data of a part, to be dropped if they are of no use. */
static void receive_data(wr_gate *g, int which, int tag)
{
    wr_gate_part *part = &g->part[which];
    receive(g, part, tag, part->lost ? NULL : data_of(g, which), part->stretch.bytes);
}

static void send(wr_gate *g, int which)
{
    wr_gate_part *part = &g->part[which];
    wr_transport *t = g->rings->t;
    int64_t bytes = part->lost ? 0 : part->stretch.bytes;
    int code =
        t->ops->send(t, (wr_parcel){part->stream->rank, bytes, data_of(g, which)},
                     g->rings->call->group->channel.tag + WR_TAG_WRITE, true, &part->request);
    fail(g, part, code);
    part->state = code ? IDLE : GOING;
    g->moved++;
}

/* The next part into a slot, if one is free. */
static bool take(wr_gate *g)
{
    int which = (int)(g->taken % g->rings->call->slots);
    if (g->ended || g->part[which].state != IDLE)
        return false;
    wr_gate_part *part = &g->part[which];
    g->ended = !next_part(g, part);
    if (g->ended)
        return true;
    g->taken++;
    part->notice.valid = INT64_MAX;
    describe(g, which);
    if (direction_of(g) == WR_WRITE)
        part->state = READY;
    else
        receive_data(g, which, WR_TAG_READ);
    return true;
}

/* Data have come, or, instead, a notice, which tells what comes then. */
static void hear(wr_gate *g, int which, int code)
{
    wr_gate_part *part = &g->part[which];
    if (code == WR_EMPTY && !part->told) {
        receive(g, part, WR_TAG_NOTICE, &part->notice, sizeof part->notice);
        part->told = part->state == COMING;
        return;
    }
    fail(g, part, code);
    part->lost = part->lost || code;
    if (part->told && !part->heard && !code) {
        part->heard = true;
        part->lost = part->lost || part->notice.failed;
        if (!part->notice.failed) {
            receive_data(g, which, WR_TAG_NOTICE);
            return;
        }
    }
    part->state = READY;
    if (part->own && part->heard && !part->lost)
        memcpy(part->own, buffer_of(g, which),
               (size_t)wr_max(0, wr_min(part->notice.valid - part->from, part->stretch.bytes)));
}

/* Whether data of the same aggregator come before: notices are received in the order of data. */
static bool is_behind(const wr_gate *g, int64_t k)
{
    const int slots = g->rings->call->slots;
    for (int64_t i = wr_max(0, g->taken - slots); i < k; i++)
        if (g->part[i % slots].state == COMING &&
            g->part[i % slots].stream == g->part[k % slots].stream)
            return true;
    return false;
}

/* Goes on with the part of a slot; `k` is its number. */
static bool proceed(wr_gate *g, int64_t k)
{
    int which = (int)(k % g->rings->call->slots);
    wr_gate_part *part = &g->part[which];
    bool over = false;
    if (part->state == READY && k == g->shown) {
        show(g, which);
        return true;
    }
    if (part->state == OPEN && wr_rings_is_done(g->rings, g->ring, which)) {
        if (direction_of(g) == WR_WRITE && k != g->moved)
            return false;
        if (direction_of(g) == WR_WRITE)
            send(g, which);
        else
            part->state = IDLE;
        return true;
    }
    if ((part->state != COMING && part->state != GOING) || is_behind(g, k))
        return false;
    int code = g->rings->t->ops->test(g->rings->t, &part->request, &over);
    if (!over && !code)
        return false;
    if (part->state == GOING) {
        fail(g, part, code);
        part->state = IDLE;
    } else {
        hear(g, which, code);
    }
    return true;
}

bool wr_gate_run(wr_gate *g)
{
    bool busy = false;
    for (int64_t k = wr_max(0, g->taken - g->rings->call->slots); k < g->taken; k++)
        busy = proceed(g, k) || busy;
    while (take(g))
        busy = true;
    if (g->ended && !g->last && g->shown == g->taken) {
        g->last = true;
        wr_rings_conclude(g->rings, g->ring, g->shown);
        busy = true;
    }
    return busy;
}

bool wr_gate_is_over(const wr_gate *g)
{
    if (!g->last)
        return false;
    for (int i = 0; g->part && i < g->rings->call->slots; i++)
        if (g->part[i].state != IDLE)
            return false;
    return true;
}

bool wr_gate_waits(const wr_gate *g)
{
    for (int i = 0; g->part && i < g->rings->call->slots; i++)
        if (g->part[i].state == COMING || g->part[i].state == GOING)
            return true;
    return false;
}
