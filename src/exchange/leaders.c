/* Rounds by messages between aggregators and nodes: each node's first rank, its leader, asks for
 * all of them and moves the data of all of them, so that there are as many messages as nodes and
 * not as ranks.
 *
 * Leaders exchange their nodes' requests among themselves and pass on what they get to the
 * aggregators of their node. In a round an aggregator (service.c) announces its window to leaders.
 * A leader has a stage, shared memory in which the data of a message lie packed, rank by rank: it
 * tells each rank its place there, ranks copy between the stage and their own memory, and the
 * leader sends the stage, or has received it before. One message at a time; that cannot deadlock,
 * see service.h. */
#include <string.h>

#include "base/arith.h"
#include "exchange/service.h"
#include "runtime/channel.h"

/* What the stage is to a leader. */
enum state { FREE, RECEIVING, SHOWN, SENDING };

/* What lies on the stage, and where; beside the slot in the node windows whose buffer is the stage.
 */
typedef struct layout {
    int64_t lo, hi; /* of the file, as far as it exists */
    int64_t realm;
    _Atomic int64_t place[]; /* by local rank; -1: it does not take part */
} layout;

typedef struct leaders {
    wr_call *call;
    wr_transport *t;
    wr_node_windows *node_windows;
    wr_service service; /* as aggregator */
    /* as client */
    int64_t seen; /* layouts */
    int64_t left; /* of this rank's data, not yet on the stage */
    bool over;    /* the leader has said so */
    /* as leader */
    wr_wants node;    /* what its ranks want, by local rank */
    int64_t expected; /* aggregators that have not said they are done */
    int64_t node_left;
    enum state state;
    int64_t shown; /* layouts */
    int from;      /* the aggregator that the stage is for, */
    int64_t bytes; /* how many of them, */
    wr_announcement announcement;
    wr_request request;
} leaders;

static bool leads(const leaders *l)
{
    return l->t->local_rank == 0;
}

static wr_slot *slot_of(const leaders *l)
{
    return &wr_node_windows_ring(l->node_windows, 0)->slot[0];
}

static layout *bill_of(const leaders *l)
{
    return wr_node_windows_note(l->node_windows, 0, 0);
}

static char *stage_of(const leaders *l)
{
    return wr_node_windows_buffer(l->node_windows, 0, 0);
}

static void fail(leaders *l, int code, int64_t stop)
{
    wr_call_fail(l->call, code, stop);
}

/* --- admission --- */

/* [collective on the node] A stage, and large requests where the leader finds them. */
static int set_stage(leaders *l)
{
    wr_call *c = l->call;
    wr_node_windows_need need = {1, 1, wr_max(c->plan->window, wr_call_widest(c))};
    int code = wr_node_windows_open(l->node_windows, &c->group->inner, &need);
    if (!code)
        code = wr_call_show(c);
    if (code == WR_NO_REGION) {
        l->node_windows->limit = -1; /* there is no need to look again */
        return wr_fail(WEIR_ENOSPC, "no shared memory for the ranks of a node");
    }
    c->slots = code ? 0 : 1;
    return code;
}

/* What the node wants of aggregators [first, end), which are on one node, as a parcel. */
static int make_parcel(leaders *l, int64_t first, int64_t end, wr_parcel *out)
{
    const wr_service *s = &l->service;
    bool *any = wr_arena_alloc(&l->service.memory, l->node.count);
    if (!any)
        return WEIR_ENOMEM;
    memset(any, 0, (size_t)l->node.count);
    *out = (wr_parcel){.rank = l->t->leaders[l->t->node_of[wr_service_rank(s, first)]]};
    for (int64_t i = first; i < end; i++) {
        bool asked = false;
        for (int64_t k = 0; k < l->node.count; k++)
            if (wr_want_meets(&l->node.list[k], s->realms[i]))
                asked = any[k] = true;
        l->expected += asked;
    }
    for (int64_t k = 0; k < l->node.count; k++)
        out->bytes += any[k] ? wr_parcel_room(&l->node.list[k]) : 0;
    char *data = wr_arena_alloc(&l->service.memory, out->bytes);
    out->data = data;
    for (int64_t k = 0; data && k < l->node.count; k++) {
        wr_want want = l->node.list[k];
        want.rank = l->t->local[want.rank];
        if (any[k])
            data = wr_parcel_put(data, &want);
    }
    return data ? 0 : WEIR_ENOMEM;
}

/* One parcel for each node with aggregators that are asked for something. */
static int make_parcels(leaders *l, wr_parcel **out, int *count)
{
    const wr_service *s = &l->service;
    const int64_t n = l->call->plan->aggregators;
    const int *node_of = l->t->node_of;
    *out = wr_arena_alloc(&l->service.memory, wr_min(n, l->t->nodes) * (int64_t)sizeof **out);
    int code = *out ? 0 : WEIR_ENOMEM;
    for (int64_t i = 0, end; i < n && !code; i = end) {
        for (end = i + 1; end < n; end++)
            if (node_of[wr_service_rank(s, end)] != node_of[wr_service_rank(s, i)])
                break;
        code = make_parcel(l, i, end, &(*out)[*count]);
        *count += !code && (*out)[*count].bytes;
    }
    return code;
}

/* The leader: to the node's other aggregators, in one message each; -1 bytes: it has failed. */
static int pass_on(leaders *l, int count, const wr_parcel *in, int code)
{
    int64_t bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += in[i].bytes;
    char *all = code ? NULL : wr_arena_alloc(&l->service.memory, bytes), *to = all;
    code = code || all ? code : WEIR_ENOMEM;
    for (int i = 0; all && i < count; to += in[i++].bytes)
        memcpy(to, in[i].data, (size_t)in[i].bytes);
    bytes = code ? -1 : bytes;
    for (int ring = 0; ring < l->call->rings; ring++) {
        int rank = l->t->local[wr_call_ring_rank(l->call, ring)];
        int tag = wr_service_tag(&l->service, WR_TAG_PARCELS), lost = 0;
        if (rank == l->t->rank)
            continue;
        lost = wr_send(l->t, rank, tag, &bytes, sizeof bytes);
        if (!lost && bytes > 0)
            lost = wr_send(l->t, rank, tag, all, bytes);
        code = code ? code : lost;
    }
    return code;
}

/* Another aggregator: what the leader passes on, even if it has failed. */
static int take_parcels(leaders *l, int code)
{
    int64_t bytes = 0;
    int tag = wr_service_tag(&l->service, WR_TAG_PARCELS);
    int lost = wr_receive(l->t, l->t->local[0], tag, &bytes, sizeof bytes);
    if (lost || bytes < 0) /* the leader tells why at the end of admission */
        return code ? code : lost;
    char *data = code ? NULL : wr_arena_alloc(&l->service.memory, bytes);
    code = code || data ? code : WEIR_ENOMEM;
    lost = bytes ? wr_receive(l->t, l->t->local[0], tag, data, bytes) : 0;
    code = code ? code : lost;
    return code ? code : wr_service_hear(&l->service, 1, &(wr_parcel){0, bytes, data});
}

/* [collective] Requests to the aggregators they concern. */
static int send_wants(leaders *l, int count, const wr_parcel *out, int code)
{
    wr_call *c = l->call;
    int received = 0;
    wr_parcel *in = NULL;
    if (!leads(l))
        return c->mine < 0 ? code : take_parcels(l, code);
    wr_sparse x = {.tag = wr_service_tag(&l->service, 0),
                   .round = c->group->calls,
                   .memory = &l->service.memory,
                   .group = l->t->leaders,
                   .count = l->t->nodes,
                   .own = l->t->node};
    int lost = wr_sparse_exchange(l->t, &x, code ? 0 : count, out, &received, &in);
    code = pass_on(l, received, in, code ? code : lost);
    return code || c->mine < 0 ? code : wr_service_hear(&l->service, received, in);
}

/* [collective] All have a stage, requests and memory, or none goes on. */
static int admit(leaders *l)
{
    wr_call *c = l->call;
    int count = 0;
    wr_parcel *out = NULL;
    int code = set_stage(l);
    if (!code)
        code = wr_service_open(&l->service);
    if (!code && leads(l)) {
        code = wr_call_gather(c, &l->service.memory, &l->node);
        for (int64_t i = 0; i < l->node.count; i++)
            l->node_left += l->node.list[i].end - l->node.list[i].begin;
        if (!code)
            code = make_parcels(l, &out, &count);
    }
    if (!c->a->known)
        code = send_wants(l, count, out, code);
    else if (!code && c->mine >= 0)
        code = wr_service_know(&l->service);
    if (!code && c->mine >= 0)
        code = wr_service_prepare(&l->service);
    return wr_agree(l->t, wr_service_tag(&l->service, 0), code);
}

/* --- as leader --- */

/* Where each rank's data lie on the stage; returns how many take part. */
static int64_t write_bill(leaders *l, const wr_announcement *g)
{
    layout *b = bill_of(l);
    int64_t clients = 0;
    b->lo = g->lo;
    b->hi = wr_min(g->hi, g->valid);
    b->realm = g->realm;
    l->bytes = 0;
    for (int i = 0; i < l->t->local_size; i++)
        atomic_store_explicit(&b->place[i], -1, memory_order_relaxed);
    for (int64_t i = 0; i < l->node.count; i++) {
        const wr_want *w = &l->node.list[i];
        int rank = l->t->local[w->rank];
        if (rank < g->first || rank >= g->end)
            continue;
        int64_t bytes =
            wr_want_bytes(w, l->service.realms[g->realm], (wr_window){.lo = b->lo, .hi = b->hi});
        if (!bytes)
            continue;
        atomic_store_explicit(&b->place[w->rank], l->bytes, memory_order_relaxed);
        l->bytes += bytes;
        clients++;
    }
    return clients;
}

/* Takes up a announcement. */
static void set_up(leaders *l, int from, const wr_announcement *g)
{
    wr_slot *slot = slot_of(l);
    /* A rank that still looks at the layout before must not take this one for it: a negative number
     * says that it changes. The fence keeps it before the stores below, and pairs with the acquire
     * fence in attend(). */
    atomic_store_explicit(&slot->number, -l->shown, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&slot->expected, write_bill(l, g), memory_order_relaxed);
    atomic_store_explicit(&slot->acknowledged, 0, memory_order_relaxed);
    l->from = from;
    l->announcement = *g;
    l->node_left -= l->bytes;
    if (!l->bytes)
        return;
    int code = l->call->a->direction == WR_READ
                   ? l->t->ops->receive(l->t, (wr_place){from, l->bytes, stage_of(l)},
                                        wr_service_tag(&l->service, WR_TAG_READ), &l->request)
                   : 0;
    fail(l, code, g->lo);
    l->state = code ? FREE : RECEIVING;
    if (l->call->a->direction == WR_WRITE)
        l->request = (wr_request){0}; /* nothing comes: it is shown at once */
}

/* The ranks that take part may copy. */
static void show(leaders *l)
{
    const layout *b = bill_of(l);
    l->state = SHOWN;
    /* releases the layout and, when reading, the stage to the load in attend() */
    atomic_store_explicit(&slot_of(l)->number, ++l->shown, memory_order_release);
    for (int i = 0; i < l->t->local_size; i++)
        if (i != l->t->local_rank && atomic_load_explicit(&b->place[i], memory_order_relaxed) >= 0)
            wr_word_signal(wr_node_windows_wakeup(l->node_windows, i));
}

/* Looks whether the message under way is over; whether it is. */
static bool finish(leaders *l)
{
    bool over = true;
    int code = l->request.parts ? l->t->ops->test(l->t, &l->request, &over) : 0;
    if (!over && !code)
        return false;
    fail(l, code, l->announcement.lo);
    if (l->state == RECEIVING && !code)
        show(l);
    else
        l->state = FREE;
    return true;
}

/* Sends what all have put on the stage, if they have; or, when reading, they have it. */
static bool pass_stage(leaders *l)
{
    wr_slot *slot = slot_of(l);
    /* acquires what the clients put on the stage: pairs with the addition in attend() */
    if (atomic_load_explicit(&slot->acknowledged, memory_order_acquire) != slot->expected)
        return false;
    l->state = FREE;
    if (l->call->a->direction == WR_READ)
        return true;
    int code = l->t->ops->send(l->t, (wr_parcel){l->from, l->bytes, stage_of(l)},
                               wr_service_tag(&l->service, WR_TAG_WRITE), false, &l->request);
    fail(l, code, l->announcement.lo);
    l->state = code ? FREE : SENDING;
    return true;
}

/* Nobody on the node has to wait for anything more. */
static bool conclude(leaders *l)
{
    if (l->expected > 0 || l->over)
        return false;
    l->over = true;
    /* pairs with the load in attend() */
    atomic_store_explicit(&wr_node_windows_ring(l->node_windows, 0)->windows, 1,
                          memory_order_release);
    for (int i = 1; i < l->t->local_size; i++)
        wr_word_signal(wr_node_windows_wakeup(l->node_windows, i));
    return true;
}

/* Does what a leader can do without waiting; whether that was anything. */
static bool lead(leaders *l)
{
    wr_parcel found;
    bool any = false;
    wr_announcement g;
    int tag = wr_service_tag(&l->service, WR_TAG_ANNOUNCE);
    if (l->state != FREE)
        return l->state == SHOWN ? pass_stage(l) : finish(l);
    if (conclude(l))
        return true;
    fail(l, l->t->ops->probe(l->t, tag, &found, &any), l->call->plan->lo);
    if (!any)
        return false;
    int code = wr_receive(l->t, found.rank, tag, &g, sizeof g);
    fail(l, code, l->call->plan->lo);
    if (!code && g.last)
        l->expected--;
    else if (!code)
        set_up(l, found.rank, &g);
    return true;
}

/* --- as client --- */

/* One look at the stage; whether anything happened. */
static bool attend(leaders *l)
{
    wr_slot *slot = slot_of(l);
    const layout *b = bill_of(l);
    int64_t number = atomic_load_explicit(&slot->number, memory_order_acquire);
    if (!leads(l))
        l->over = atomic_load_explicit(&wr_node_windows_ring(l->node_windows, 0)->windows,
                                       memory_order_acquire);
    if (number <= l->seen)
        return false;
    int64_t place = atomic_load_explicit(&b->place[l->t->local_rank], memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&slot->number, memory_order_relaxed) != number)
        return true; /* it was not for this rank, or the leader would wait */
    l->seen = number;
    if (place < 0)
        return true;
    l->left -=
        wr_access_pack(l->call->a, l->service.realms[b->realm], stage_of(l) + place, b->lo, b->hi);
    int64_t expected = atomic_load_explicit(&slot->expected, memory_order_relaxed);
    /* releases this rank's part of the stage to pass_stage() */
    if (atomic_fetch_add_explicit(&slot->acknowledged, 1, memory_order_acq_rel) + 1 == expected)
        wr_word_signal(wr_node_windows_wakeup(l->node_windows, 0));
    return true;
}

/* Whether only the storage keeps this rank here, as in messages.c. */
static bool only_storage(const leaders *l)
{
    if (l->call->a->direction == WR_READ)
        return true;
    return l->left <= 0 && (!leads(l) || (l->node_left <= 0 && l->state == FREE)) &&
           wr_service_is_stored(&l->service);
}

static void run_rounds(leaders *l)
{
    wr_word *wakeup = wr_node_windows_wakeup(l->node_windows, l->t->local_rank);
    wr_waiter waiter = wr_transport_waiter(l->t, true);
    for (int tries = 0;;) {
        uint32_t heard = wr_word_get(wakeup);
        bool busy = wr_service_run(&l->service);
        busy = (leads(l) && lead(l)) || busy;
        busy = attend(l) || busy;
        tries = busy ? 0 : tries;
        if (l->over && wr_service_is_over(&l->service))
            return;
        if (busy)
            continue;
        if (only_storage(l))
            wr_call_stored(l->call);
        if (wr_service_is_over(&l->service) && (!leads(l) || l->state == SHOWN))
            wr_wait(wakeup, heard, &waiter); /* for ranks of the node only */
        else
            wr_transport_rest(l->t, &tries);
    }
}

void wr_rounds_leaders(wr_call *call)
{
    wr_transport *t = call->group->handle.world->transport;
    leaders l = {.call = call,
                 .t = t,
                 .node_windows = &call->group->node_windows,
                 .service = {.call = call, .t = t, .by_node = true},
                 .left = call->a->end - call->a->begin};
    call->rounds.did->exchange = WR_EXCHANGE_LEADERS;
    int code = admit(&l);
    bool apart = code == WEIR_ENOSPC; /* on some node: nothing else is about space here */
    if (!apart)
        wr_call_fail(call, code, call->plan->lo);
    if (!code) {
        wr_service_begin(&l.service);
        run_rounds(&l);
    }
    wr_wants_forget(&l.node);
    wr_service_close(&l.service);
    if (!apart)
        return;
    call->slots = 0;
    call->wants = (wr_wants){0};
    wr_plan_do_without(call->in, call->plan, false);
    wr_call_log(call);
    wr_rounds_messages(call);
}

void wr_rounds_leaders_end(wr_call *call)
{
    if (call->group->handle.world->transport->local_rank || !call->slots)
        return;
    wr_ring *d = wr_node_windows_ring(&call->group->node_windows, 0);
    atomic_store(&d->windows, 0);
    atomic_store(&d->slot[0].number, 0);
}
