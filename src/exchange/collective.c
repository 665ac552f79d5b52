/* A collective call from entry to exit: the law that nobody leaves early lives here.
 *
 *   entry      every rank says what it wants, or that it cannot take part; all learn of all
 *   plan       the same input gives every rank the same plan
 *   admission  shared memory and descriptions are there before anyone copies
 *   rounds     nobody leaves, nobody fails alone: a failed aggregator stops opening windows
 *   exit       every rank says how it went; all return the same
 *
 * On one node entry and exit are one exchange of mailboxes each. */
#include <string.h>

#include "base/arith.h"
#include "exchange/rounds.h"
#include "plan/balance.h"
#include "runtime/channel.h"

/* What a rank says at entry: with code 0 its pattern stands in `body` if it fits, otherwise the
 * details of its error do. */
typedef struct entry {
    uint64_t call;
    int32_t code;
    int32_t kind;    /* direction and form */
    int32_t aside;   /* 1: its storage is better left to the thread */
    int32_t dropped; /* 1: it has let go of shared memory since the last call */
    int32_t news;    /* 1: it has hints that all must agree on */
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

/* Large requests lie next to each other at multiples of this; memory for so many is kept. */
enum { REQUEST_ALIGN = 64, REQUESTS_KEPT = 1 << 20 };

void wr_call_fail(wr_call *call, int code, int64_t stop)
{
    if (!code)
        return;
    call->outcome.stop = wr_min(call->outcome.stop, stop);
    if (call->outcome.code)
        return;
    call->outcome.code = code;
    if (weir_error_last()->rank < 0) /* otherwise it was agreed on */
        wr_error_note_rank(call->group->handle.world->transport->rank);
    *call->error = *weir_error_last();
}

static const entry *entry_of(const wr_group *group, uint32_t epoch, int local_rank)
{
    return (const entry *)(const void *)wr_channel_lane(&group->channel, epoch, local_rank);
}

enum { KINDS = 16 };

static int32_t kind_of(const wr_access_request *a, const wr_group_access *access)
{
    return (int32_t)a->direction + 2 * (int32_t)(access ? access->form : WR_BLOCKING) +
           8 * !!a->known;
}

/* Whether this rank would rather leave the storage to its thread. */
static bool prefers_aside(const wr_group *group, const wr_access_request *a,
                          const wr_group_access *access)
{
    int64_t lo, hi;
    if (!access)
        return false;
    wr_moving m = access->moving;
    if (wr_moving_must_look(&m)) {
        wr_pattern_bounds_of(a->file, a->begin, a->end, &lo, &hi);
        m.cached = wr_storage_is_cached(group->handle.storage, lo) &&
                   wr_storage_is_cached(group->handle.storage, hi - 1);
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
static void say_entry(wr_group *group, const wr_access_request *a, const wr_group_access *access,
                      int code)
{
    const wr_transport *t = group->handle.world->transport;
    entry *e =
        (entry *)(void *)wr_channel_lane(&group->channel, group->channel.epoch, t->local_rank);
    *e = (entry){.call = group->calls,
                 .code = code,
                 .kind = kind_of(a, access),
                 .dropped = group->kept.dropped,
                 .news = group->news,
                 .room = room_of(group)};
    if (code) {
        weir_error details = *weir_error_last();
        details.rank = t->rank;
        memcpy(e->body, &details, sizeof details);
        return;
    }
    e->aside = prefers_aside(group, a, access);
    e->begin = a->begin;
    e->end = a->end;
    e->again = weir_pattern_is_disjoint(a->file) ? 0 : a->end - a->begin;
    if (!a->known) {
        e->summary = wr_summary_of(a->file, a->begin, a->end);
        e->pattern_bytes = weir_pattern_footprint(a->file);
    }
    if (group->handle.tunables.realms.which == WR_REALMS_STATIC &&
        wr_storage_get_size(group->handle.storage, &e->file_size))
        e->file_size = 0; /* then realms are even */
    if (e->pattern_bytes <= BODY)
        memcpy(e->body, a->file, (size_t)e->pattern_bytes);
}

/* What all ranks want and have. */
typedef struct joint {
    wr_summary wanted;
    int64_t file_size;
    int64_t room;  /* of who has least */
    int64_t aside; /* of any */
    int64_t news;  /* of any */
} joint;

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
static int hear_entries(wr_group *group, uint32_t epoch, joint *all)
{
    const wr_transport *t = group->handle.world->transport;
    const entry *first = entry_of(group, epoch, 0);
    *all = (joint){.room = INT64_MAX};
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
    }
    return 0;
}

/* Joins the nodes' summaries; bounds in different nodes are not compared. */
static int join_nodes(wr_group *group, int64_t kind, int code, bool known, joint *all, wr_did *did)
{
    wr_transport *t = group->handle.world->transport;
    const wr_summary *w = &all->wanted;
    bool first = t->local_rank == 0;
    code = wr_agree(t, group->channel.tag, code);
    if (code)
        return code;
    did->meetings += known ? 2 : 3;
    bool any = first && w->active;
    kind += (int64_t)group->calls * KINDS;
    enum { LO, HI, SIZE, ROOM, ASIDE, NEWS, KIND, NOT_KIND, LOW };
    int64_t low[LOW] = {[LO] = any ? w->lo : INT64_MAX,
                        [HI] = any ? -w->hi : INT64_MAX,
                        [SIZE] = -all->file_size,
                        [ROOM] = all->room,
                        [ASIDE] = -all->aside,
                        [NEWS] = -all->news,
                        [KIND] = kind,
                        [NOT_KIND] = -kind};
    int64_t sums[] = {w->active, w->bytes, w->runs, w->spans, w->once_bytes, w->once_runs};
    if (!first)
        memset(sums, 0, sizeof sums);
    code = wr_allreduce(t, group->channel.tag, WR_MIN, LOW, low);
    if (!code && low[KIND] != -low[NOT_KIND])
        code = wr_fail(WEIR_EDISAGREE, "nodes make different collective calls");
    if (!code && !known)
        code = wr_allreduce(t, group->channel.tag, WR_SUM, sizeof sums / sizeof *sums, sums);
    *all = (joint){
        .file_size = -low[SIZE], .room = low[ROOM], .aside = -low[ASIDE], .news = -low[NEWS]};
    if (sums[0] && !known)
        all->wanted = (wr_summary){.lo = low[LO],
                                   .hi = -low[HI],
                                   .active = sums[0],
                                   .bytes = sums[1],
                                   .runs = sums[2],
                                   .spans = sums[3],
                                   .once_bytes = wr_min(sums[4], -low[HI] - low[LO]),
                                   .once_runs = sums[5]};
    return code;
}

/* Which aggregators are on this node, and whether this rank is one. */
static void find_rings(wr_call *c)
{
    const wr_transport *t = c->group->handle.world->transport;
    const int64_t n = c->plan->aggregators;
    while (c->first_realm < n && wr_call_place(c, c->first_realm) < t->local_first)
        c->first_realm++;
    while (c->first_realm + c->rings < n && wr_call_ring_rank(c, c->rings) < t->local_size) {
        if (wr_call_ring_rank(c, c->rings) == t->local_rank) {
            c->ring = c->rings;
            c->mine = c->first_realm + c->ring;
        }
        c->rings++;
    }
}

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

static void access_alone(wr_call *c)
{
    wr_outcome o = wr_alone_run(&c->group->handle, c->a, c->access ? &c->in->moving : NULL);
    c->outcome.stop = o.stop;
    wr_call_fail(c, o.code, o.stop);
}

void wr_call_log(const wr_call *c)
{
    if (wr_handle_tells(&c->group->handle))
        wr_log_plan(&c->group->handle, c->rounds.did->number, c->in, c->plan);
}

/* A part of a call that needs no caller. */
typedef struct part {
    wr_call *call;
    void (*run)(wr_call *call);
} part;

static void run_part(void *user)
{
    const part *p = user;
    p->run(p->call);
}

void wr_call_hand_over(wr_call *c, void (*run)(wr_call *call))
{
    wr_progress *p = &c->group->handle.world->process->progress;
    wr_waiter waiter = wr_transport_waiter(c->group->handle.world->transport, true);
    part away = {c, run};
    wr_job job = {.by = WR_BY_THREAD, .run = run_part, .user = &away};
    if (wr_job_start(p, &job)) {
        run(c);
        return;
    }
    c->rounds.did->handed = 1;
    wr_call_stored(c);
    while (!wr_job_is_over(p, &job))
        wr_wait(&job.over, 0, &waiter);
}

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

static int leave_all(wr_call *c)
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

/* Callers make message rounds themselves, unless they do not fit memory and the thread may. */
static void run_messages(wr_call *c, void (*run)(wr_call *call))
{
    int64_t kept = c->plan->left ? 3 * c->plan->window : 0;
    atomic_fetch_add(&c->group->handle.world->in_flight, kept);
    if (c->plan->handed)
        wr_call_hand_over(c, run);
    else
        run(c);
    atomic_fetch_sub(&c->group->handle.world->in_flight, kept);
}

/* Every rank for itself; one after the other where they may write the same bytes. */
static void run_alone(wr_call *c)
{
    wr_group *group = c->group;
    const wr_transport *t = group->handle.world->transport;
    wr_waiter waiter = wr_transport_waiter(group->handle.world->transport, true);
    const bool in_turn = c->plan->in_turn;
    if (c->holds) /* what is alone holds its own */
        wr_handle_unlock(&group->handle, c->plan->lo, c->plan->hi);
    c->holds = false;
    for (int i = 0; i < (in_turn ? t->local_size : 1); i++) {
        if (!in_turn || i == t->local_rank)
            access_alone(c);
        if (in_turn)
            wr_channel_barrier(&group->inner, &waiter);
    }
}

/* By messages, unless the thread of some rank has the call and may send none. */
void wr_call_run_apart(wr_call *c)
{
    wr_group *group = c->group;
    int64_t mute = c->plan->mover == WR_MOVED_BY_THREAD && !c->in->moving.multiple;
    int code = wr_channel_reduce(&group->inner, WR_OR, 1, &mute);
    wr_plan_do_without(c->in, c->plan, mute);
    wr_call_log(c);
    if (!code && !mute) {
        run_messages(c, wr_rounds_messages);
        return;
    }
    if (!code) /* what aggregators keep must not come after it */
        code = wr_channel_agree(&group->inner, wr_write_behind_flush(&group->handle));
    if (code)
        wr_call_fail(c, code, c->plan->lo);
    else
        run_alone(c);
}

/* [collective] In atomic mode rank 0 holds all that is accessed until all are through, and nobody
 * goes on before it does. It may wait: who holds a range needs nobody who waits here (K3). */
static int hold(wr_call *c)
{
    wr_group *group = c->group;
    wr_transport *t = group->handle.world->transport;
    const enum wr_lock_kind kind =
        c->plan->hold_all == WR_HOLD_SHARED ? WR_LOCK_SHARED : WR_LOCK_MODIFY;
    int code = 0;
    if (t->rank == 0) {
        code = wr_handle_lock(&group->handle, kind, c->plan->lo, c->plan->hi);
        c->holds = !code;
        if (!code)
            wr_did_lock(c->rounds.did, kind);
    }
    c->rounds.did->meetings++;
    return t->nodes > 1 ? wr_agree(t, group->channel.tag, code)
                        : wr_channel_agree(&group->inner, code);
}

static void run_plan(wr_call *c)
{
    if (!c->plan->collective) {
        c->in->moving.handed = c->plan->handed;
        if (c->plan->handed)
            wr_call_hand_over(c, access_alone);
        else
            access_alone(c);
        return;
    }
    int code = c->plan->hold_all ? hold(c) : 0;
    if (code) {
        wr_call_fail(c, code, c->plan->lo);
        return;
    }
    find_rings(c);
    c->exchange = &wr_exchanges[c->plan->exchange];
    if (c->plan->exchange != WR_EXCHANGE_SHM)
        run_messages(c, c->exchange->run);
    else
        c->exchange->run(c);
}

/* [collective] Where balanced realms are cut. */
static int balance(wr_group *group, const wr_access_request *a, wr_plan_input *in,
                   int64_t cut[WR_CUTS], wr_did *did)
{
    wr_transport *t = group->handle.world->transport;
    const wr_want own = {a->file, a->begin, a->end, 0};
    wr_balance b;
    int64_t at[WR_CUTS];
    wr_balance_init(&b, in);
    for (int count; (count = wr_balance_ask(&b, at)) > 0;) {
        int64_t below[WR_CUTS] = {0};
        if (own.begin < own.end)
            wr_balance_count(&own, count, at, below);
        int code = t->nodes > 1 ? wr_allreduce(t, group->channel.tag, WR_SUM, count, below)
                                : wr_channel_reduce(&group->inner, WR_SUM, count, below);
        did->meetings += t->nodes > 1 ? 2 : 1;
        if (t->nodes > 1) /* messages may fail on some ranks only */
            code = wr_agree(t, group->channel.tag, code);
        if (code)
            return code;
        wr_balance_hear(&b, count, at, below);
    }
    wr_balance_settle(&b, in, cut);
    return 0;
}

/* What the plan of a call is made from, the same on all ranks but for what moves it. */
static void make_input(const wr_group *group, const wr_access_request *a,
                       const wr_group_access *access, const joint *all, wr_plan_input *in)
{
    wr_group_input(group, a->direction, in);
    in->wanted = a->known ? a->known->wanted : all->wanted;
    in->file_size = all->file_size;
    in->known = a->known != NULL;
    in->room = all->room;
    in->aside = all->aside;
    if (access) {
        in->form = access->form;
        in->moving = access->moving;
    }
}

static int run_call(wr_group *group, const wr_access_request *a, int code, wr_group_access *access,
                    int64_t *count)
{
    wr_transport *t = group->handle.world->transport;
    wr_waiter waiter = wr_transport_waiter(t, true);
    joint all;
    int64_t cut[WR_CUTS];
    wr_plan_input in;
    wr_plan plan;
    weir_error error;
    wr_did did = {0};
    *count = 0;
    group->calls++;
    if (!code && a->direction == WR_READ) /* nobody passes the entry before all have */
        code = wr_write_behind_flush(&group->handle);
    if (a->direction == WR_WRITE) /* so that aggregators find none */
        wr_lease_drop(group->handle.storage);
    say_entry(group, a, access, code);
    uint32_t epoch = wr_channel_exchange(&group->channel, &waiter);
    did.meetings++;
    code = hear_entries(group, epoch, &all);
    if (t->nodes > 1)
        code = join_nodes(group, kind_of(a, access), code, a->known, &all, &did);
    if (code)
        return code;
    group->has_news |= all.news;
    make_input(group, a, access, &all, &in);
    code = in.realms == WR_REALMS_BALANCED ? balance(group, a, &in, cut, &did) : 0;
    if (!code)
        code = wr_plan_build(&in, &plan);
    if (code)
        return code; /* the same on all ranks, like the input */
    if (in.realms == WR_REALMS_PERSISTENT && plan.collective && in.wanted.active) {
        group->base = plan.base;
        group->block = plan.block;
        group->owners = plan.aggregators;
    }
    wr_call c = {
        .group = group,
        .a = a,
        .rounds = {.handle = &group->handle, .direction = a->direction, .plan = &plan, .did = &did},
        .in = &in,
        .plan = &plan,
        .epoch = epoch,
        .mine = -1,
        .access = access,
        .outcome.stop = INT64_MAX,
        .error = &error};
    did.number = (int64_t)group->calls;
    wr_call_log(&c);
    if (in.wanted.active)
        run_plan(&c);
    wr_call_stored(&c); /* others may still be in the storage */
    code = leave_all(&c);
    if (wr_handle_tells(&group->handle))
        wr_log_did(&group->handle, &did);
    if (c.holds)
        wr_handle_unlock(&group->handle, plan.lo, plan.hi);
    if (c.exchange && c.exchange->end)
        c.exchange->end(&c);
    if (group->requests.bytes > REQUESTS_KEPT)
        wr_region_close(&group->requests);
    *count = wr_outcome_count(&c.outcome, a);
    return code || !a->whole ? code : wr_handle_demand_all(&group->handle, c.outcome.stop);
}

int wr_collective_run(wr_group *group, const wr_access_request *a, int code,
                      wr_group_access *access, int64_t *count)
{
    wr_region_cache *regions = &group->handle.world->process->regions;
    wr_region_cache_leave(regions, &group->kept);
    code = run_call(group, a, code, access, count);
    if (group->node_windows.region.base || group->requests.base)
        wr_region_cache_enter(regions, &group->kept, group->handle.tunables.regions_kept);
    return code;
}
