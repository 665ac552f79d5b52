/* The entry and the exit of a collective call, and what aggregators read of the entries. On one
 * node entry and exit are one exchange of mailboxes each; between nodes reductions join what the
 * nodes have found. */
#include "exchange/meeting.h"

#include <string.h>

#include "base/arith.h"

/* What a rank says at entry: with code 0 its pattern stands in `body` if it fits, otherwise the
 * details of its error do. */
typedef struct entry {
    uint64_t call;
    int32_t code;
    int32_t kind;        /* direction and form */
    int32_t aside;       /* 1: its storage is better left to the thread */
    int32_t dropped;     /* 1: it has let go of shared memory since the last call */
    int32_t news;        /* 1: it has hints that all must agree on */
    int32_t wrote_alone; /* 1: it has stored what it wrote alone since the latest sync */
    wr_summary summary;
    int64_t begin, end;
    int64_t pattern_bytes;
    int64_t file_size;
    int64_t room;  /* memory that it may keep in flight */
    int64_t again; /* bytes, if it wants some of them several times */
    _Alignas(16) char body[];
} entry;

/* What it says at exit. */
typedef struct leave {
    int64_t stop;
    int32_t code;
    weir_error details;
} leave;

_Static_assert(sizeof(entry) + sizeof(weir_error) <= WR_LANE, "an entry fits a lane");
_Static_assert(sizeof(leave) <= WR_LANE, "a leave fits a lane");

enum { BODY = WR_LANE - sizeof(entry) };

/* Large requests lie next to each other at multiples of this. */
enum { REQUEST_ALIGN = 64 };

static const entry *entry_of(const wr_group *group, uint32_t epoch, int local_rank)
{
    return (const entry *)(const void *)wr_channel_lane(&group->channel, epoch, local_rank);
}

enum { KINDS = 16 };

static int32_t kind_of(const wr_call *c)
{
    const enum wr_form form = c->access ? c->access->form : WR_BLOCKING;
    return (int32_t)c->a->direction + 2 * (int32_t)form + 8 * !!c->a->known;
}

/* Whether this rank would rather leave the storage to its thread. */
static bool prefers_aside(const wr_call *c)
{
    const wr_access_request *a = c->a;
    const wr_storage *storage = c->group->handle.storage;
    const bool ready = c->group->handle.ready;
    int64_t lo, hi;
    if (!c->access)
        return false;
    wr_moving m = c->access->moving;
    if (wr_moving_must_look(&m)) {
        wr_pattern_bounds_of(a->file, a->begin, a->end, &lo, &hi);
        m.cached = !ready || /* then it leaves that to those who know */
                   (wr_storage_is_cached(storage, lo) && wr_storage_is_cached(storage, hi - 1));
    }
    return wr_moving_prefers_aside(&m);
}

/* What this rank may still keep in flight. */
static int64_t room_of(const wr_group *group)
{
    int64_t others = atomic_load(&group->handle.world->in_flight) - group->in_flight;
    return wr_max(0, group->handle.tunables.overlap_memory - others);
}

/* Fills this rank's lane. */
static void say_entry(const wr_call *c, int code)
{
    const wr_group *group = c->group;
    const wr_access_request *a = c->a;
    const wr_transport *t = group->handle.world->transport;
    entry *e =
        (entry *)(void *)wr_channel_lane(&group->channel, group->channel.epoch, t->local_rank);
    *e = (entry){.call = group->calls,
                 .code = code,
                 .kind = kind_of(c),
                 .dropped = group->kept.dropped,
                 .news = group->news,
                 .wrote_alone = c->wrote_alone,
                 .room = room_of(group)};
    if (code) {
        weir_error details = *weir_error_last();
        details.rank = t->rank;
        memcpy(e->body, &details, sizeof details);
        return;
    }
    e->aside = prefers_aside(c);
    e->begin = a->begin;
    e->end = a->end;
    e->again = weir_pattern_is_disjoint(a->file) ? 0 : a->end - a->begin;
    if (!a->known || t->nodes > 1)
        e->summary = wr_summary_of(a->file, a->begin, a->end);
    if (!a->known)
        e->pattern_bytes = weir_pattern_footprint(a->file);
    if ((group->handle.tunables.realms.which == WR_REALMS_STATIC || group->handle.owned) &&
        group->handle.ready && wr_storage_get_size(group->handle.storage, &e->file_size))
        e->file_size = 0; /* then realms are even, and the file ends where each host thinks */
    if (e->pattern_bytes <= BODY)
        memcpy(e->body, a->file, (size_t)e->pattern_bytes);
}

/* Where one has let go of shared memory, all do, and make it anew. */
static void hear_dropped(wr_group *group, uint32_t epoch)
{
    bool dropped = false;
    for (int i = 0; i < group->handle.world->transport->local_size; i++)
        dropped = dropped || entry_of(group, epoch, i)->dropped;
    if (dropped)
        wr_group_close_regions(group);
    group->kept.dropped = false;
}

/* The node's ranks together, or the first error. */
static int hear_entries(wr_group *group, uint32_t epoch, wr_joint *all)
{
    const wr_transport *t = group->handle.world->transport;
    const entry *first = entry_of(group, epoch, 0);
    *all = (wr_joint){.room = INT64_MAX};
    if (group->channel.lost)
        return group->channel.lost;
    hear_dropped(group, epoch);
    for (int i = 0; i < t->local_size; i++) {
        const entry *e = entry_of(group, epoch, i);
        weir_error details;
        if (e->code) {
            memcpy(&details, e->body, sizeof details);
            return wr_error_raise(&details);
        }
        if (e->call != first->call || e->kind != first->kind)
            return wr_fail(WEIR_EDISAGREE, "ranks %d and %d make different collective calls",
                           t->local[0], t->local[i]);
        wr_summary_add(&all->wanted, &e->summary);
        all->file_size = wr_max(all->file_size, e->file_size);
        all->room = wr_min(all->room, e->room);
        all->aside |= e->aside;
        all->news |= e->news;
        all->wrote_alone |= e->wrote_alone;
    }
    return 0;
}

/* What it costs this node to go for itself, if it can. */
static int64_t price_node(const wr_call *c, const wr_joint *all)
{
    const wr_transport *t = c->group->handle.world->transport;
    if (t->local_size > WR_NODE_RANKS || c->group->node_windows.limit < 0)
        return INT64_MAX;
    wr_call_input(c, all);
    return wr_plan_node_price(c->in, &all->node, t->local_size);
}

/* [collective] The nodes' summaries, joined in the order of nodes: leaders hear from those of the
 * nodes after them, then all hear from the first. */
static int join_summaries(wr_transport *t, int tag, wr_summary *all)
{
    int code = 0, step = 1;
    if (t->local_rank == 0) {
        for (; !code && step < t->nodes && !(t->node & step); step *= 2) {
            wr_summary next;
            if (t->node + step >= t->nodes)
                continue;
            code =
                wr_receive(t, t->leaders[t->node + step], tag + WR_TAG_REDUCE, &next, sizeof next);
            if (!code)
                wr_summary_add_node(all, &next);
        }
        if (!code && t->node)
            code = wr_send(t, t->leaders[t->node - step], tag + WR_TAG_REDUCE, all, sizeof *all);
    }
    return code ? code : wr_broadcast(t, tag, all, sizeof *all);
}

/* Joins what the nodes have heard. */
static int join_nodes(const wr_call *c, int code, wr_joint *all)
{
    const wr_group *group = c->group;
    wr_transport *t = group->handle.world->transport;
    if (!code) {
        all->node = all->wanted;
        all->node_ns = price_node(c, all);
    }
    code = wr_agree(t, group->channel.tag, code);
    if (code)
        return code;
    c->rounds.did->meetings += 3;
    const int64_t kind = kind_of(c) + (int64_t)group->calls * KINDS;
    enum { SIZE, ROOM, PRICE, ASIDE, NEWS, WROTE, KIND, NOT_KIND, LOW };
    int64_t low[LOW] = {[SIZE] = -all->file_size,
                        [ROOM] = all->room,
                        [PRICE] = -all->node_ns,
                        [ASIDE] = -all->aside,
                        [NEWS] = -all->news,
                        [WROTE] = -all->wrote_alone,
                        [KIND] = kind,
                        [NOT_KIND] = -kind};
    code = wr_allreduce(t, group->channel.tag, WR_MIN, LOW, low);
    if (!code && low[KIND] != -low[NOT_KIND])
        code = wr_fail(WEIR_EDISAGREE, "nodes make different collective calls");
    if (!code)
        code = join_summaries(t, group->channel.tag, &all->wanted);
    wr_summary_end_nodes(&all->wanted);
    all->file_size = -low[SIZE];
    all->room = low[ROOM];
    all->node_ns = -low[PRICE];
    all->aside = -low[ASIDE];
    all->news = -low[NEWS];
    all->wrote_alone = -low[WROTE];
    return code;
}

int wr_call_enter(wr_call *c, int code, wr_joint *all)
{
    wr_group *group = c->group;
    wr_transport *t = group->handle.world->transport;
    wr_waiter waiter = wr_transport_waiter(t, true);
    say_entry(c, code);
    c->epoch = wr_channel_exchange(&group->channel, &waiter);
    c->rounds.did->meetings++;
    code = hear_entries(group, c->epoch, all);
    if (t->nodes > 1)
        code = join_nodes(c, code, all);
    if (!code)
        group->has_news |= all->news;
    return code;
}

/* --- what ranks want --- */

/* Bytes of a rank's request among the large ones; 0 if it is in its lane. */
static int64_t large_bytes(const entry *e)
{
    int64_t bytes = e->pattern_bytes <= BODY ? 0 : e->pattern_bytes;
    return wr_round_up(bytes, REQUEST_ALIGN);
}

int wr_call_show(wr_call *c)
{
    wr_group *group = c->group;
    const wr_transport *t = group->handle.world->transport;
    int64_t all = 0, own = 0;
    for (int i = 0; i < t->local_size; i++) {
        own = i == t->local_rank ? all : own;
        all += large_bytes(entry_of(group, c->epoch, i));
    }
    if (!all)
        return 0;
    if (group->requests.bytes < all) {
        wr_region_close(&group->requests);
        int code = wr_channel_region(&group->inner, 0, all, &group->requests);
        if (code)
            return code;
    }
    if (large_bytes(entry_of(group, c->epoch, t->local_rank)))
        memcpy(group->requests.base + own, c->a->file, (size_t)weir_pattern_footprint(c->a->file));
    wr_waiter waiter = wr_transport_waiter(group->handle.world->transport, true);
    wr_channel_barrier(&group->inner, &waiter);
    return 0;
}

/* The pattern of a rank, where the call tells it. */
static int add_known(const wr_call *c, int rank, const weir_pattern *realm, int as, wr_wants *wants)
{
    weir_pattern *p = NULL;
    int code = c->a->known->pattern(c->a->known->user, rank, &p);
    if (code || !p)
        return code;
    wr_want want = {p, 0, weir_pattern_bytes(p), as};
    if (want.end && (!realm || wr_want_meets(&want, realm))) {
        wants->list[wants->count++] = want;
        wants->made++;
    } else {
        weir_pattern_free(p);
    }
    return 0;
}

int wr_call_know(const wr_call *c, int ranks, const int *rank, const weir_pattern *realm,
                 wr_wants *wants)
{
    int code = 0;
    for (int i = 0; i < ranks && !code; i++)
        code = add_known(c, rank ? rank[i] : i, realm, i, wants);
    return code;
}

void wr_wants_forget(wr_wants *wants)
{
    for (int64_t i = 0; i < wants->made; i++)
        weir_pattern_free((weir_pattern *)wants->list[i].pattern);
    wants->made = 0;
}

int64_t wr_call_widest(const wr_call *c)
{
    int64_t most = 0;
    for (int i = 0; i < c->group->handle.world->transport->local_size; i++)
        most = wr_max(most, entry_of(c->group, c->epoch, i)->again);
    return most;
}

int wr_call_gather(const wr_call *c, wr_arena *memory, wr_wants *out)
{
    const wr_transport *t = c->group->handle.world->transport;
    weir_pattern *patterns = wr_arena_alloc(memory, t->local_size * (int64_t)sizeof *patterns);
    out->list = wr_arena_alloc(memory, t->local_size * (int64_t)sizeof *out->list);
    if (!patterns || !out->list)
        return WEIR_ENOMEM;
    if (c->a->known)
        return wr_call_know(c, t->local_size, t->local, NULL, out);
    int64_t place = 0;
    for (int i = 0; i < t->local_size; i++) {
        const entry *e = entry_of(c->group, c->epoch, i);
        int64_t large = large_bytes(e);
        const void *where = large ? (const void *)(c->group->requests.base + place) : e->body;
        place += large;
        if (e->begin == e->end)
            continue;
        patterns[i] = i == t->local_rank ? *c->a->file : wr_pattern_attach(where);
        out->list[out->count++] = (wr_want){&patterns[i], e->begin, e->end, i};
    }
    return 0;
}

/* --- the exit --- */

/* The ranks of the node tell how it went; the lowest rank's error counts, and the lowest stop. */
static int leave_node(wr_call *c)
{
    wr_group *group = c->group;
    const wr_transport *t = group->handle.world->transport;
    wr_waiter waiter = wr_transport_waiter(group->handle.world->transport, true);
    leave *own =
        (leave *)(void *)wr_channel_lane(&group->channel, group->channel.epoch, t->local_rank);
    own->stop = c->outcome.stop;
    own->code = c->outcome.code;
    if (own->code)
        own->details = *c->error;
    uint32_t epoch = wr_channel_exchange(&group->channel, &waiter);
    if (group->channel.lost) {
        c->outcome.code = group->channel.lost;
        return c->outcome.code;
    }
    c->outcome.code = 0;
    for (int i = 0; i < t->local_size; i++) {
        const leave *l = (const leave *)(const void *)wr_channel_lane(&group->channel, epoch, i);
        c->outcome.stop = wr_min(c->outcome.stop, l->stop);
        if (l->code && !c->outcome.code) {
            c->outcome.code = l->code;
            *c->error = l->details;
        }
    }
    return c->outcome.code ? wr_error_raise(c->error) : 0;
}

int wr_call_leave(wr_call *c)
{
    wr_transport *t = c->group->handle.world->transport;
    int code = leave_node(c);
    c->rounds.did->meetings++;
    if (t->nodes == 1)
        return code;
    c->rounds.did->meetings += 2;
    int tag = c->group->channel.tag;
    int lost = wr_allreduce(t, tag, WR_MIN, 1, &c->outcome.stop);
    c->outcome.code = wr_agree(t, tag, code ? code : lost);
    return c->outcome.code;
}
