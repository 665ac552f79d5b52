/* A collective call from entry to exit. The law that nobody leaves early lives here.
 *
 *   entry      every rank says what it wants, or that it cannot take part; all learn of all
 *   plan       the same input gives every rank the same plan
 *   admission  shared memory and descriptions are there before anyone copies
 *   rounds     nobody leaves, nobody fails alone: a failed aggregator stops opening windows
 *   exit       every rank says how it went; all return the same
 *
 * Entry and exit are in meeting.c, admission and rounds in the exchanges (exchanges.c). */
#include "base/arith.h"
#include "base/timer.h"
#include "exchange/meeting.h"
#include "plan/balance.h"

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

static void access_alone(wr_call *c)
{
    if (c->plan->between) /* its windows stay in its own processor's cache */
        wr_group_prices(c->group, 1, c->in);
    wr_outcome o = wr_alone_run(&c->group->handle, c->a, c->access ? &c->in->moving : NULL, c->in);
    c->outcome.stop = o.stop;
    c->rounds.did->alone = o.way;
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
    part rest = {c, run};
    wr_job job = {.by = WR_BY_THREAD, .run = run_part, .user = &rest};
    if (wr_job_start(p, &job)) {
        run(c);
        return;
    }
    c->rounds.did->handed = 1;
    wr_call_stored(c);
    while (!wr_job_is_over(p, &job))
        wr_wait(&job.over, 0, &waiter);
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

/* By messages, unless the thread of some rank has the call and may send none, or they would reach
 * other nodes, which go for themselves. */
void wr_call_run_apart(wr_call *c)
{
    wr_group *group = c->group;
    int64_t mute =
        c->plan->per_node || (c->plan->mover == WR_MOVED_BY_THREAD && !c->in->moving.multiple);
    int code = wr_channel_reduce(&group->inner, WR_OR, 1, &mute);
    wr_plan_do_without(c->in, c->plan, mute);
    wr_call_log(c);
    if (!code && !mute) {
        wr_rounds_windows(c);
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
 * goes on before it does. It may wait: a rank that holds a range never
 * waits for one that waits here (K3). */
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
    return wr_call_agree(c, code);
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
    if (c->plan->hold_all && c->group->handle.weak)
        wr_call_fail(c, wr_handle_sync(&c->group->handle, WR_SYNC_REFRESH), c->plan->lo);
    c->exchange = &wr_exchanges[c->plan->exchange];
    c->exchange->run(c);
}

/* [collective] Where balanced realms are cut. */
static int balance(const wr_call *c, int64_t cut[WR_CUTS])
{
    wr_group *group = c->group;
    const wr_access_request *a = c->a;
    wr_transport *t = group->handle.world->transport;
    const wr_want own = {a->file, a->begin, a->end, 0};
    wr_balance b;
    int64_t at[WR_CUTS];
    wr_balance_init(&b, c->in);
    for (int count; (count = wr_balance_ask(&b, at)) > 0;) {
        int64_t below[WR_CUTS] = {0};
        if (own.begin < own.end)
            wr_balance_count(&own, count, at, below);
        int code = t->nodes > 1 ? wr_allreduce(t, group->channel.tag, WR_SUM, count, below)
                                : wr_channel_reduce(&group->inner, WR_SUM, count, below);
        c->rounds.did->meetings += t->nodes > 1 ? 2 : 1;
        if (t->nodes > 1) /* messages may fail on some ranks only */
            code = wr_agree(t, group->channel.tag, code);
        if (code)
            return code;
        wr_balance_hear(&b, count, at, below);
    }
    wr_balance_settle(&b, c->in, cut);
    return 0;
}

/* In hundredths. */
static int64_t trust(const wr_call *c)
{
    const wr_summary *w = &c->in->wanted;
    return c->a->direction == WR_READ
               ? WR_TRUSTED
               : wr_prices_trust(&c->group->learned, w->once_runs, w->once_bytes);
}

void wr_call_input(const wr_call *c, const wr_joint *all)
{
    const wr_learned *learned = &c->group->learned;
    const wr_access_request *a = c->a;
    wr_plan_input *in = c->in;
    wr_group_input(c->group, a->direction, in);
    in->wanted = a->known ? a->known->wanted : all->wanted;
    in->wanted.loose = all->wanted.loose;
    in->among = in->wanted.lo < learned->hi && learned->lo < in->wanted.hi;
    in->call_ns = in->call_ns * trust(c) / WR_TRUSTED;
    if (in->write_behind && !learned->keeps &&
        wr_plan_keeping_saves(in, learned->saved) <= WR_KEEP_NS)
        in->write_behind = WR_BEHIND_DISABLE;
    in->node_ns = in->nodes > 1 ? all->node_ns : INT64_MAX;
    in->file_size = all->file_size;
    in->known = a->known != NULL;
    in->described = c->described || (in->nodes == 1 && !c->group->channel.apart);
    in->room = all->room;
    in->ready = !all->unready;
    in->paged = !all->unpaged && a->direction == WR_READ && !in->known;
    in->aside = all->aside;
    if (c->access) {
        in->form = c->access->form;
        in->moving = c->access->moving;
    }
}

/* From here on the call is the node's own, between entry and exit. The log tells the plan of all,
 * and how this rank goes on. */
static int plan_node(wr_call *c, const wr_joint *all)
{
    wr_plan_input own = *c->in;
    c->group->held =
        (wr_held){0}; /* nodes may make other windows, and one that wants nothing none */
    own.limit = c->group->node_windows.limit;
    int code =
        wr_plan_for_node(&all->node, c->group->handle.world->transport->local_size, &own, c->plan);
    wr_call_log(c);
    *c->in = own;
    return code;
}

/* What later plans go by. */
static void note_plan(const wr_call *c)
{
    wr_learned *learned = &c->group->learned;
    learned->doubts = trust(c) == WR_DOUBTED;
    if (c->group->handle.tunables.write_behind.which && c->a->direction == WR_WRITE) {
        learned->saved = wr_plan_keeping_saves(c->in, learned->saved);
        learned->lo = c->in->wanted.lo;
        learned->hi = c->in->wanted.hi;
    }
    learned->keeps = learned->keeps || c->plan->way[0] == WR_WAY_KEPT;
}

/* [collective] The same on all ranks, like its input, but for what is the node's own. */
static int make_plan(wr_call *c, const wr_joint *all, int64_t cut[WR_CUTS])
{
    wr_group *group = c->group;
    wr_plan *plan = c->plan;
    wr_call_input(c, all);
    int code = c->in->realms == WR_REALMS_BALANCED ? balance(c, cut) : 0;
    if (!code)
        code = wr_plan_build(c->in, plan);
    if (code)
        return code;
    if (c->in->realms == WR_REALMS_PERSISTENT && plan->collective && c->in->wanted.active) {
        group->base = plan->base;
        group->block = plan->block;
        group->owners = plan->aggregators;
    }
    note_plan(c);
    c->in->between = plan->between;
    if (plan->per_node)
        return plan_node(c, all);
    wr_call_log(c);
    return 0;
}

/* What a call keeps besides; memory for large requests only if it is little. */
static void clean_up(wr_call *c)
{
    enum { REQUESTS_KEPT = 1 << 20 };
    wr_group *group = c->group;
    if (wr_handle_tells(&group->handle))
        wr_log_did(&group->handle, c->rounds.did);
    if (c->holds)
        wr_handle_unlock(&group->handle, c->plan->lo, c->plan->hi);
    if (c->exchange && c->exchange->end)
        c->exchange->end(c);
    if (group->requests.bytes > REQUESTS_KEPT)
        wr_region_close(&group->requests);
}

/* What this rank has written alone is with the file system before it enters, so that owners can
 * see it. */
static int tell_alone(wr_call *c)
{
    wr_handle *handle = &c->group->handle;
    c->wrote_alone = atomic_exchange(&handle->wrote_alone, false);
    return c->wrote_alone ? wr_handle_sync(handle, WR_SYNC_STORE) : 0;
}

/* Owners look at the file anew if somebody else has written it. */
static void hear_alone(wr_call *c, const wr_joint *all)
{
    wr_handle *handle = &c->group->handle;
    handle->reach = c->in->owned && c->a->direction == WR_READ ? all->file_size : 0;
    if (all->wrote_alone)
        wr_call_fail(c, wr_handle_sync(handle, WR_SYNC_REFRESH), c->plan->lo);
}

/* Only owners see what they have written, until the next sync. But whose it is may read it alone,
 * or write over it, which must not be undone when the owner's host stores it; and in atomic mode
 * it may be read by another handle. */
static void store_owned(wr_call *c)
{
    wr_handle *handle = &c->group->handle;
    if (!handle->weak || c->a->direction == WR_READ)
        return;
    if (c->mine >= 0 && (handle->owned || handle->atomic) && !c->in->write_behind)
        wr_call_fail(c, wr_handle_sync(handle, WR_SYNC_STORE), c->plan->lo);
}

/* When all have: who looks before others have stored would look too early. */
static void note_owned(const wr_call *c)
{
    wr_handle *handle = &c->group->handle;
    if (!c->in->owned || c->a->direction == WR_READ || !c->in->wanted.active)
        return;
    handle->aged = c->group->unsettled = true;
}

/* For whoever made the call. */
static void note_class(const wr_call *c)
{
    const wr_did *did = c->rounds.did;
    if (!did->began)
        return;
    const char *exchange = did->exchange ? wr_exchanges[did->exchange].name : wr_no_name;
    const int class = wr_note_class(
        &c->group->handle,
        &(wr_noted){.a = c->a, .in = c->in, .plan = c->plan, .did = did, .exchange = exchange});
    if (c->access)
        c->access->class = class;
    else if (wr_timer_now)
        wr_timer_now->class = class - 1;
}

static int run_call(wr_call *c, int code, int64_t *count)
{
    wr_handle *handle = &c->group->handle;
    wr_joint all;
    int64_t cut[WR_CUTS];
    if (!code && c->a->direction == WR_READ) /* nobody passes the entry before all have */
        code = wr_write_behind_flush(handle);
    if (c->a->direction == WR_WRITE) /* so that aggregators find none */
        wr_lease_drop(handle->storage);
    if (!code && handle->owned)
        code = tell_alone(c);
    wr_call_take_times(c, NULL); /* of accesses besides */
    code = wr_call_enter(c, code, &all);
    if (!code)
        code = make_plan(c, &all, cut);
    if (code) {
        if (c->wrote_alone) /* nobody has heard */
            handle->wrote_alone = true;
        return code;
    }
    hear_alone(c, &all);
    if (c->in->wanted.active) {
        run_plan(c);
        store_owned(c);
    }
    wr_call_stored(c); /* others may still be in the storage */
    code = wr_call_leave(c);
    handle->reach = 0;
    note_owned(c);
    note_class(c);
    clean_up(c);
    *count = wr_outcome_count(&c->outcome, c->a);
    return code || !c->a->whole ? code : wr_handle_demand_all(handle, c->outcome.stop);
}

int wr_collective_run(wr_group *group, const wr_access_request *a, int code,
                      wr_group_access *access, int64_t *count)
{
    wr_region_cache *regions = &group->handle.world->process->regions;
    wr_plan_input in;
    wr_plan plan;
    weir_error error;
    wr_did did = {.number = (int64_t)++group->calls, .began = wr_did_begin(&group->handle.watch)};
    wr_call c = {
        .group = group,
        .a = a,
        .rounds = {.handle = &group->handle, .direction = a->direction, .plan = &plan, .did = &did},
        .in = &in,
        .plan = &plan,
        .mine = -1,
        .access = access,
        .outcome.stop = INT64_MAX,
        .error = &error};
    *count = 0;
    wr_region_cache_leave(regions, &group->kept);
    code = run_call(&c, code, count);
    if (group->node_windows.region.base || group->requests.base)
        wr_region_cache_enter(regions, &group->kept, group->handle.tunables.regions_kept);
    return code;
}
