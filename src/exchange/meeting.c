/* The entry and the exit of a collective call. The ranks of a node tell each other by its mailbox;
 * between nodes their leaders swap what their nodes have said, once at entry and once at exit, and
 * tell the others what all said. Where the ranks of a node share no memory, each is its own leader.
 *
 * At entry ranks are also described to all nodes, as long as that is little (descriptions.h). */
#include "exchange/meeting.h"

#include <string.h>

#include "access/readahead.h"
#include "exchange/entry.h"

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

/* Whether this rank cannot promise that it has the memory that its part will take: what is not in
 * the node's windows is set aside, unless it is unusual. */
static bool is_unready(wr_group *group, const wr_call_entry *e)
{
    return !wr_group_set_aside(group) || e->dropped || e->again || wr_call_entry_large(e);
}

/* Whether this rank could open the file, if it had not yet; one that may not does without. */
static bool is_open(wr_handle *handle)
{
    const weir_error before = *weir_error_last();
    const bool open = !wr_handle_ready(handle);
    handle->unmapped = handle->unmapped || !open;
    wr_error_raise(&before);
    return open;
}

/* Whether what this rank reads is in small pieces, and in the page cache, which all ranks of the
 * node share as they would share windows. */
static bool is_paged(const wr_call *c, const wr_summary *own)
{
    wr_handle *handle = &c->group->handle;
    const wr_tunables *t = &handle->tunables;
    const wr_storage_facts *facts = &handle->storage->facts;
    const wr_plan_input in = {.direction = (int64_t)c->a->direction,
                              .access = t->access[c->a->direction].which,
                              .map = handle->unmapped || facts->direct ? 0 : t->map,
                              .frugal = c->a->frugal,
                              .local = facts->local,
                              .weak = handle->weak};
    if (!own->active)
        return true;
    return handle->world->transport->nodes == 1 && handle->local && wr_plan_may_map(&in, own) &&
           t->collective[WR_READ].which == WR_SWITCH_AUTO &&
           t->independent.which != WR_INDEPENDENT_DISABLE && is_open(handle) &&
           wr_map_is_within(handle->storage, own->hi) && !wr_readahead_is_cold(handle, c->a);
}

/* Fills this rank's lane. */
static void say_entry(const wr_call *c, int code)
{
    wr_group *group = c->group;
    const wr_access_request *a = c->a;
    const wr_transport *t = group->handle.world->transport;
    wr_call_entry *e = wr_call_entry_of(c, t->local_rank);
    *e = (wr_call_entry){.call = group->calls,
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
    if (!a->known) {
        e->pattern_bytes = weir_pattern_footprint(a->file);
        e->same = wr_descriptions_hold(&group->descriptions, a->file, a->begin, a->end);
    }
    if ((group->handle.tunables.realms.which == WR_REALMS_STATIC || group->handle.owned) &&
        group->handle.ready && wr_storage_get_size(group->handle.storage, &e->file_size))
        e->file_size = 0; /* then realms are even, and the file ends where each host thinks */
    e->unpaged = !is_paged(c, &e->summary);
    if (e->pattern_bytes <= WR_ENTRY_BODY)
        memcpy(e->body, a->file, (size_t)e->pattern_bytes);
    e->unready = wr_group_by_messages(group) && is_unready(group, e);
}

/* Where one has let go of shared memory, all do, and make it anew. */
static void hear_dropped(const wr_call *c)
{
    const wr_leaders l = wr_group_leaders(c->group);
    bool dropped = false;
    for (int i = l.first; i < l.first + l.seen; i++)
        dropped = dropped || wr_call_entry_of(c, i)->dropped;
    if (dropped)
        wr_group_close_regions(c->group);
    c->group->kept.dropped = false;
}

/* The ranks that this one hears together, or the first error, of *from. */
static int hear_entries(const wr_call *c, wr_joint *all, int *from)
{
    const wr_transport *t = c->group->handle.world->transport;
    const wr_leaders l = wr_group_leaders(c->group);
    const wr_call_entry *first = wr_call_entry_of(c, l.first);
    *all = (wr_joint){.room = INT64_MAX};
    for (int i = l.first; i < l.first + l.seen; i++) {
        const wr_call_entry *e = wr_call_entry_of(c, i);
        weir_error details;
        *from = t->local[i];
        if (e->code) {
            memcpy(&details, e->body, sizeof details);
            return wr_error_raise(&details);
        }
        if (e->call != first->call || e->kind != first->kind)
            return wr_fail(WEIR_EDISAGREE, "ranks %d and %d make different collective calls",
                           t->local[l.first], t->local[i]);
        wr_summary_add(&all->wanted, &e->summary);
        all->file_size = wr_max(all->file_size, e->file_size);
        all->room = wr_min(all->room, e->room);
        all->aside |= e->aside;
        all->news |= e->news;
        all->wrote_alone |= e->wrote_alone;
        all->unready |= e->unready;
        all->unpaged |= e->unpaged;
    }
    return 0;
}

/* Adds what higher nodes have found. */
static void add_joint(wr_joint *all, const wr_joint *more)
{
    wr_summary_add_node(&all->wanted, &more->wanted);
    all->node_ns = wr_max(all->node_ns, more->node_ns);
    all->file_size = wr_max(all->file_size, more->file_size);
    all->room = wr_min(all->room, more->room);
    all->aside |= more->aside;
    all->news |= more->news;
    all->wrote_alone |= more->wrote_alone;
    all->unready |= more->unready;
    all->unpaged |= more->unpaged;
}

/* What it costs this node to go for itself, if it can. */
static int64_t price_node(const wr_call *c, const wr_joint *all)
{
    const wr_transport *t = c->group->handle.world->transport;
    if (t->local_size > WR_NODE_RANKS || c->group->node_windows.limit < 0 ||
        c->group->channel.apart)
        return INT64_MAX;
    wr_call_input(c, all);
    return wr_plan_node_price(c->in, &all->node, t->local_size);
}

/* --- the entry between nodes --- */

/* What adjacent nodes say. Behind it are the details of its error, if there is one; otherwise the
 * descriptions of the nodes' ranks, while there is room for them. */
typedef struct report {
    int32_t code;
    int32_t rank; /* the lowest that has one */
    uint64_t call;
    int64_t kind;
    int64_t leader; /* of the first node */
    wr_joint all;
    int64_t known;       /* call of the descriptions that are kept; -1: not the same everywhere */
    int64_t room;        /* that each node has for descriptions, */
    int64_t need;        /* and what all of them take, patterns included */
    int64_t count, same; /* of those behind */
    int64_t bytes;       /* behind */
} report;

/* What a leader tells its node. */
typedef struct told {
    int64_t code;
    int64_t described;
    int64_t known, count, bytes, need; /* of the descriptions kept */
    union {
        wr_joint all;
        weir_error details; /* if there is a code */
    };
} told;

_Static_assert(sizeof(told) <= WR_LANE, "what is told fits a lane");
_Static_assert(sizeof(report) + WR_DESCRIBED_BYTES <= WR_MEETING_BYTES, "a report fits a message");
_Static_assert(sizeof(weir_error) <= WR_DESCRIBED_BYTES, "and so do details");

/* The thread's error, of `rank`, instead of descriptions; unless there is one already. */
static void note_trouble(report *r, int code, int rank)
{
    if (!code || r->code)
        return;
    weir_error details = *weir_error_last();
    details.code = code;
    details.rank = details.rank < 0 ? rank : details.rank;
    r->code = code;
    r->rank = rank;
    r->count = r->same = 0;
    r->bytes = sizeof details;
    memcpy(r + 1, &details, sizeof details);
}

static void lose_report(wr_join *x, int code)
{
    report *r = x->data;
    note_trouble(r, code, x->group[x->own]);
    x->bytes = (int64_t)sizeof *r + r->bytes;
}

/* The lower rank's error is that of both. */
static void merge_troubles(wr_join *x, int64_t bytes)
{
    const report *own = x->data, *theirs = x->theirs;
    if (!theirs->code || (own->code && own->rank <= theirs->rank))
        return;
    memcpy(x->data, x->theirs, (size_t)bytes);
    x->bytes = bytes;
}

/* The descriptions of `theirs` before those of `own`, or behind them; none if it is known by now
 * that not all nodes can keep all. */
static void merge_descriptions(report *own, const report *theirs, bool below)
{
    char *list = (char *)(own + 1);
    const int64_t known = own->known == theirs->known ? own->known : -1;
    own->known = known;
    own->room = wr_min(own->room, theirs->room);
    own->need += theirs->need;
    if (known < 0 || own->need > own->room) {
        own->count = own->same = own->bytes = 0;
        return;
    }
    if (below)
        memmove(list + theirs->bytes, list, (size_t)own->bytes);
    memcpy(below ? list : list + own->bytes, theirs + 1, (size_t)theirs->bytes);
    own->count += theirs->count;
    own->same += theirs->same;
    own->bytes += theirs->bytes;
}

static void merge_reports(wr_join *x, int64_t bytes, bool below)
{
    report *own = x->data;
    const report *theirs = x->theirs;
    const report *low = below ? theirs : own, *high = below ? own : theirs;
    if (own->code || theirs->code) {
        merge_troubles(x, bytes);
        return;
    }
    const int64_t leader = low->leader;
    if (low->call != high->call || low->kind != high->kind) {
        wr_fail(WEIR_EDISAGREE, "the nodes of ranks %lld and %lld make different collective calls",
                (long long)low->leader, (long long)high->leader);
        note_trouble(own, WEIR_EDISAGREE, (int)leader);
    } else {
        wr_joint all = low->all;
        add_joint(&all, &high->all);
        own->all = all;
        merge_descriptions(own, theirs, below);
    }
    own->leader = leader;
    x->bytes = (int64_t)sizeof *own + own->bytes;
}

/* What the descriptions of the ranks that this one hears take, and, in *hidden, whether some would
 * be sent that are not in their lanes. */
static int64_t described_bytes(const wr_call *c, bool *hidden)
{
    const wr_leaders l = wr_group_leaders(c->group);
    int64_t bytes = 0;
    *hidden = false;
    for (int i = l.first; i < l.first + l.seen; i++) {
        const wr_call_entry *e = wr_call_entry_of(c, i);
        if (e->code || e->begin == e->end)
            continue;
        bytes += wr_described_room(e->pattern_bytes);
        *hidden = *hidden || (wr_call_entry_large(e) && !e->same);
    }
    return bytes;
}

/* Whether the ranks that this one hears make the same call; otherwise they do nothing together. */
static bool all_alike(const wr_call *c)
{
    const wr_leaders l = wr_group_leaders(c->group);
    for (int i = l.first; i < l.first + l.seen; i++)
        if (wr_call_entry_of(c, i)->kind != wr_call_entry_of(c, l.first)->kind)
            return false;
    return true;
}

/* [collective on the node] How many bytes of descriptions can be kept here; 0 as well if those of
 * the node itself cannot be told. How many there will be is a guess: what the latest call took, or,
 * at first, what other nodes take if they are like this one. A wrong one costs the next call, or
 * this one, its descriptions. */
static int64_t make_room(wr_call *c)
{
    wr_group *group = c->group;
    wr_descriptions *d = &group->descriptions;
    bool hidden;
    if (!all_alike(c) || c->a->known)
        return 0;
    const int64_t bytes = described_bytes(c, &hidden);
    if (bytes > WR_DESCRIBED_BYTES)
        return 0;
    const int64_t all = bytes * wr_group_leaders(group).count;
    if ((d->need ? d->need : all / 2) > WR_DESCRIBED_BYTES)
        return 0;
    wr_descriptions_grow(d, &group->inner, wr_max(d->need, 2 * all));
    if (hidden && !group->channel.apart && wr_call_show(c))
        return 0;
    return d->region.bytes;
}

/* Adds the descriptions of the ranks that this one hears. */
static void describe(const wr_call *c, report *r)
{
    const wr_transport *t = c->group->handle.world->transport;
    const wr_leaders l = wr_group_leaders(c->group);
    char *to = (char *)(r + 1);
    int64_t place = 0;
    for (int i = l.first; i < l.first + l.seen; i++) {
        const wr_call_entry *e = wr_call_entry_of(c, i);
        wr_described d = wr_described_of(t->local[i], e->begin, e->end, e->pattern_bytes);
        weir_pattern p;
        d.same = e->same;
        if (e->begin < e->end) {
            if (!d.same)
                p = wr_call_entry_pattern(c, i, c->group->requests.base, place);
            to = wr_described_put(to, d, &p);
            r->count++;
            r->same += d.same;
        }
        place += wr_call_entry_large(e);
    }
    r->bytes = to - (char *)(r + 1);
}

/* What this rank says for those that it leads. */
static void make_report(const wr_call *c, int64_t room, report *r)
{
    const wr_group *group = c->group;
    const wr_leaders l = wr_group_leaders(group);
    bool hidden;
    int from = l.rank[l.own];
    *r = (report){.call = group->calls,
                  .kind = kind_of(c),
                  .leader = from,
                  .known = group->descriptions.call,
                  .room = room};
    note_trouble(r, hear_entries(c, &r->all, &from), from);
    r->all.learned = group->learned;
    r->all.node = r->all.wanted;
    if (!r->code)
        r->all.node_ns = price_node(c, &r->all);
    if (r->code || c->a->known)
        return;
    r->need = described_bytes(c, &hidden);
    if (r->need <= room)
        describe(c, r);
}

/* What all said becomes what the node is told, and its descriptions what it keeps. */
static void settle(const wr_call *c, const wr_join *x, told *out)
{
    const report *r = x->data;
    wr_descriptions *d = &c->group->descriptions;
    *out = (told){.all = r->all, .code = r->code, .known = d->call, .need = d->need};
    if (r->code) {
        memcpy(&out->details, r + 1, sizeof out->details);
        return;
    }
    if (c->a->known)
        return;
    out->need = r->need;
    out->described = r->known >= 0 && r->need <= r->room;
    if (out->described) {
        wr_descriptions_keep(d, r->count, r->same, r + 1, x->theirs);
        out->known = (int64_t)c->group->calls;
    } else if (r->known < 0) {
        out->known = 0; /* from here on all know nothing again */
    }
    out->count = d->count;
    out->bytes = d->bytes;
}

/* A leader hears the others. */
static void meet(const wr_call *c, int64_t room, told *out)
{
    wr_group *group = c->group;
    wr_descriptions *d = &group->descriptions;
    const wr_leaders l = wr_group_leaders(group);
    enum { LITTLE = sizeof(report) + sizeof(weir_error) };
    _Alignas(16) char little[2][LITTLE]; /* to say that there is no memory */
    if (!d->messages)
        d->messages = wr_pages_alloc(WR_MEETING_MEMORY);
    wr_join x = {.tag = group->channel.tag,
                 .group = l.rank,
                 .count = l.count,
                 .own = l.own,
                 .data = d->messages ? d->messages : little[0],
                 .theirs = d->messages ? d->messages + WR_MEETING_BYTES : little[1],
                 .room = d->messages ? WR_MEETING_BYTES : LITTLE,
                 .merge = merge_reports,
                 .lose = lose_report};
    report *own = x.data;
    int lost = d->messages ? 0 : WEIR_ENOMEM;
    make_report(c, lost ? -1 : room, own);
    note_trouble(own, lost, l.rank[l.own]);
    const wr_summary node = own->all.node;
    x.bytes = (int64_t)sizeof *own + own->bytes;
    wr_join_run(group->handle.world->transport, &x);
    settle(c, &x, out);
    if (out->code)
        return;
    wr_summary_end_nodes(&out->all.wanted);
    out->all.node = node;
}

/* What the leader has told, which is the same everywhere. */
static int hear_told(wr_call *c, const told *said, wr_joint *all)
{
    wr_descriptions *d = &c->group->descriptions;
    if (said->code)
        return wr_error_raise(&said->details);
    *all = said->all;
    c->group->learned = all->learned;
    if (c->a->known)
        return 0;
    c->described = said->described;
    d->need = said->need;
    d->call = said->known;
    d->count = said->count;
    d->bytes = said->bytes;
    if (c->described) {
        d->begin = c->a->begin;
        d->end = c->a->end;
        d->hash = c->a->file->hash;
    }
    return 0;
}

/* [collective] Between nodes, or between ranks that share no memory. */
static int enter_wide(wr_call *c, wr_joint *all)
{
    wr_group *group = c->group;
    wr_transport *t = group->handle.world->transport;
    wr_waiter waiter = wr_transport_waiter(t, true);
    const bool leads = wr_group_leaders(group).leads;
    const int64_t room = make_room(c);
    told own;
    if (group->channel.apart) {
        meet(c, room, &own);
        return hear_told(c, &own, all);
    }
    if (leads)
        meet(c, room, (told *)(void *)wr_channel_lane(&group->inner, group->inner.epoch, 0));
    uint32_t epoch = wr_channel_exchange(&group->inner, &waiter);
    return hear_told(c, (const told *)(const void *)wr_channel_lane(&group->inner, epoch, 0), all);
}

int wr_call_enter(wr_call *c, int code, wr_joint *all)
{
    wr_group *group = c->group;
    wr_transport *t = group->handle.world->transport;
    wr_waiter waiter = wr_transport_waiter(t, true);
    int from;
    c->epoch = group->channel.epoch;
    say_entry(c, code);
    if (!group->channel.apart)
        wr_channel_exchange(&group->channel, &waiter);
    c->rounds.did->meetings++;
    hear_dropped(c);
    code = t->nodes > 1 || group->channel.apart ? enter_wide(c, all) : hear_entries(c, all, &from);
    if (!code)
        group->has_news |= all->news;
    return code;
}

/* --- the exit --- */

/* What adjacent nodes, or a rank, say at exit. */
typedef struct leave {
    int64_t stop;
    int32_t code;
    int32_t rank; /* the lowest that has one */
    wr_timings took;
    weir_error details; /* sent only if there is one */
} leave;

_Static_assert(sizeof(leave) <= WR_LANE, "a leave fits a lane");

static int64_t leave_bytes(const leave *l)
{
    return l->code ? (int64_t)sizeof *l : (int64_t)offsetof(leave, details);
}

static void add_leave(leave *all, const leave *more)
{
    all->stop = wr_min(all->stop, more->stop);
    wr_timings_add(&all->took, &more->took);
    if (!more->code || (all->code && all->rank <= more->rank))
        return;
    all->code = more->code;
    all->rank = more->rank;
    all->details = more->details;
}

static void merge_leaves(wr_join *x, int64_t bytes, bool below)
{
    (void)bytes;
    (void)below;
    add_leave(x->data, x->theirs);
    x->bytes = leave_bytes(x->data);
}

static void lose_leave(wr_join *x, int code)
{
    leave *l = x->data;
    if (!l->code) {
        l->code = code;
        l->rank = x->group[x->own];
        l->details = *weir_error_last();
        l->details.rank = l->rank;
    }
    x->bytes = leave_bytes(l);
}

static leave leave_of(const wr_call *c, int64_t stop, int code, const weir_error *error)
{
    leave l = {.stop = stop, .code = code, .rank = c->group->handle.world->transport->rank};
    if (code) {
        l.details = *error;
        l.details.code = code;
        l.details.rank = l.details.rank < 0 ? l.rank : l.details.rank;
    }
    return l;
}

/* A leader hears the others. */
static void part(const wr_call *c, leave *all)
{
    const wr_leaders l = wr_group_leaders(c->group);
    leave theirs, own = *all;
    wr_join x = {.tag = c->group->channel.tag,
                 .group = l.rank,
                 .count = l.count,
                 .own = l.own,
                 .data = &own,
                 .theirs = &theirs,
                 .bytes = leave_bytes(all),
                 .room = sizeof own,
                 .merge = merge_leaves,
                 .lose = lose_leave};
    wr_join_run(c->group->handle.world->transport, &x);
    memcpy(all, x.data, (size_t)x.bytes);
}

/* [collective on the node] What its ranks say. */
static void hear_node(const wr_call *c, wr_channel *channel, leave *all)
{
    wr_transport *t = c->group->handle.world->transport;
    wr_waiter waiter = wr_transport_waiter(t, true);
    memcpy(wr_channel_lane(channel, channel->epoch, t->local_rank), all, (size_t)leave_bytes(all));
    uint32_t epoch = wr_channel_exchange(channel, &waiter);
    for (int i = 0; i < t->local_size; i++)
        if (i != t->local_rank)
            add_leave(all, (const leave *)(const void *)wr_channel_lane(channel, epoch, i));
    if (!c->plan->collective && c->in->form == WR_BLOCKING) /* all begin at the same time */
        wr_timings_span(&all->took);
}

/* [collective on the node] The leader's word for all. */
static void hear_leader(const wr_call *c, leave *all)
{
    wr_channel *inner = &c->group->inner;
    wr_transport *t = c->group->handle.world->transport;
    wr_waiter waiter = wr_transport_waiter(t, true);
    char *lane = wr_channel_lane(inner, inner->epoch, 0);
    if (t->local_rank == 0) {
        part(c, all);
        memcpy(lane, all, (size_t)leave_bytes(all));
    }
    wr_channel_exchange(inner, &waiter);
    *all = *(const leave *)(const void *)lane;
}

/* [collective] What all say; on the node by `channel`. */
static void hear_all(const wr_call *c, wr_channel *channel, leave *all)
{
    const wr_group *group = c->group;
    if (!group->channel.apart)
        hear_node(c, channel, all);
    if (group->channel.apart)
        part(c, all);
    else if (group->handle.world->transport->nodes > 1)
        hear_leader(c, all);
}

int wr_call_agree(wr_call *c, int code)
{
    leave all = leave_of(c, INT64_MAX, code, weir_error_last());
    hear_all(c, &c->group->inner, &all); /* others may read entries in the channel's own mailbox */
    return all.code ? wr_error_raise(&all.details) : 0;
}

void wr_call_take_times(const wr_call *c, wr_timings *took)
{
    wr_handle *handle = &c->group->handle;
    if (pthread_mutex_trylock(&handle->moving))
        return;
    if (took)
        *took = handle->samples.took;
    handle->samples.took = (wr_timings){0};
    pthread_mutex_unlock(&handle->moving);
}

int wr_call_leave(wr_call *c)
{
    wr_handle *handle = &c->group->handle;
    leave all = leave_of(c, c->outcome.stop, c->outcome.code, c->error);
    wr_call_take_times(c, &all.took);
    c->rounds.did->meetings++;
    hear_all(c, &c->group->channel, &all);
    wr_prices_learn(&c->group->learned, handle->price, &all.took,
                    handle->cores * handle->world->transport->nodes,
                    c->in->wanted.active ? (int)c->a->direction : -1);
    c->outcome.stop = all.stop;
    c->outcome.code = all.code;
    if (!all.code)
        return 0;
    *c->error = all.details;
    return wr_error_raise(c->error);
}
