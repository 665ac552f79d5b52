/* A rank accesses the file for itself: what it wants is planned, and the ways of the plan are tried
 * in their order. */
#include "access/direct_read.h"
#include "access/handle.h"
#include "access/readahead.h"
#include "access/way.h"
#include "base/task.h"

/* Past the page cache, if nobody does that now and it pays. */
bool wr_way_direct(wr_lone *x)
{
    wr_handle *handle = x->handle;
    pthread_mutex_lock(&handle->moving);
    bool mine = !handle->direct_reader_busy && !wr_direct_reader_is_over(handle->direct_reader) &&
                wr_direct_reader_open(&handle->direct_reader, handle->storage);
    handle->direct_reader_busy = handle->direct_reader_busy || mine;
    pthread_mutex_unlock(&handle->moving);
    if (!mine)
        return false;
    bool good = wr_direct_reader_read(handle->direct_reader, x->a);
    pthread_mutex_lock(&handle->moving);
    handle->direct_reader_busy = false;
    pthread_mutex_unlock(&handle->moving);
    return good;
}

const wr_strategy wr_strategies[WR_WAYS] = {
    [WR_WAY_LIST] = {"from and to memory, a transfer a run", wr_way_list},
    [WR_WAY_SIEVE] = {"through a buffer, with what lies between", wr_way_sieve},
    [WR_WAY_COLUMNS] = {"through a buffer, whole slices of an array", wr_way_columns},
    [WR_WAY_MAPPED] = {"copied from pages of the file", wr_way_mapped},
    [WR_WAY_DIRECT] = {"past the page cache, windows in turn", wr_way_direct},
};

/* The prices of a collective call, in which each goes alone. The next would drop a lease. */
static void follow_call(const wr_plan_input *call, wr_plan_input *in)
{
    in->leased = false;
    in->call_ns = call->call_ns;
    in->mib_ns = call->mib_ns;
    in->read_call_ns = call->read_call_ns;
    in->read_mib_ns = call->read_mib_ns;
    in->between = call->between;
    in->write_behind = call->write_behind;
}

/* What the plan of a rank for itself is made from; looks where the data are only if that counts.
 * One run of a file takes little longer to move than to plan: tunables and prices are only asked
 * where there is something to choose. */
static void make_input(wr_handle *handle, const wr_access_request *a, const wr_moving *moving,
                       const wr_plan_input *call, wr_plan_input *in)
{
    const wr_summary *w = &in->wanted;
    wr_summary_set(&in->wanted, a->file, a->begin, a->end);
    if (w->hi - w->lo == w->bytes && !a->whole && !a->column && !wr_handle_tells(handle) &&
        !handle->storage->facts.granule[a->direction])
        wr_plan_input_plain(in, a->direction);
    else
        wr_plan_input_tune_alone(in, a->direction, &handle->tunables, handle->price);
    wr_handle_input(handle, in);
    if (call)
        follow_call(call, in);
    if (handle->storage->plain_fd < 0) /* it can only be called */
        in->direct = WR_SWITCH_NEVER;
    if (handle->storage->plain_fd < 0 || handle->unmapped)
        in->map = 0;
    in->whole = a->whole;
    in->frugal = a->frugal;
    in->column = a->column;
    in->task = wr_task_current() != NULL;
    if (moving) {
        in->form = moving->form;
        in->moving = *moving;
    }
    const bool looked = call && call->paged;
    const bool looks = wr_plan_must_look(in) || (!looked && wr_plan_may_map(in, &in->wanted));
    in->cold = looks && wr_readahead_is_cold(handle, a);
}

/* Where every way declines, nothing is known to be moved. */
static void try_ways(wr_lone *x)
{
    for (int i = 0; i < WR_TRIES && x->plan->way[i]; i++) {
        x->hold = x->plan->hold[i];
        x->outcome = (wr_outcome){.stop = INT64_MAX};
        x->did.way = x->plan->way[i];
        if (wr_strategies[x->plan->way[i]].run(x))
            return;
    }
    if (x->plan->way[0] && !x->outcome.code)
        x->outcome = (wr_outcome){.code = wr_fail(WEIR_EIO, "no way of access got through"),
                                  .stop = x->plan->lo};
}

/* Atomic mode: one lock for all of it, and no other beneath it. False: it cannot be had. */
static bool hold(wr_lone *x)
{
    static const enum wr_lock_kind kinds[WR_HOLDS] = {[WR_HOLD_SHARED] = WR_LOCK_SHARED,
                                                      [WR_HOLD_EXCLUSIVE] = WR_LOCK_EXCLUSIVE,
                                                      [WR_HOLD_MODIFY] = WR_LOCK_MODIFY};
    const wr_plan *plan = x->plan;
    const enum wr_lock_kind kind = kinds[plan->hold_all];
    int code = wr_handle_lock(x->handle, kind, plan->lo, plan->hi);
    if (!code && x->handle->weak && (code = wr_handle_sync(x->handle, WR_SYNC_REFRESH)))
        wr_handle_unlock(x->handle, plan->lo, plan->hi);
    if (code)
        x->outcome = (wr_outcome){.code = code, .stop = plan->lo};
    else
        wr_did_lock(&x->did, kind);
    return !code;
}

static void let_go(wr_lone *x)
{
    const bool stores = x->handle->weak && x->a->direction == WR_WRITE && !x->outcome.code;
    if (stores && (x->outcome.code = wr_handle_sync(x->handle, WR_SYNC_STORE)))
        x->outcome.stop = x->plan->lo;
    wr_handle_unlock(x->handle, x->plan->lo, x->plan->hi);
}

wr_outcome wr_alone_run(wr_handle *handle, const wr_access_request *a, const wr_moving *moving,
                        const wr_plan_input *call)
{
    wr_outcome o = {.stop = INT64_MAX};
    if (a->begin == a->end && !handle->ready) /* nothing was ever moved, nor is now */
        return o;
    o = (wr_outcome){.code = wr_handle_ready(handle)};
    if (!o.code)
        o.code = wr_write_behind_flush(handle);
    if (!o.code && a->direction == WR_READ)
        o.code = wr_handle_catch_up(handle);
    if (o.code)
        return o;
    if (a->direction == WR_WRITE && handle->owned)
        handle->wrote_alone = true;
    wr_plan_input in;
    wr_plan plan;
    make_input(handle, a, moving, call, &in);
    wr_plan_alone(&in, &plan);
    wr_lone x = {.handle = handle, .a = a, .in = &in, .plan = &plan, .outcome.stop = INT64_MAX};
    x.did.began = call ? 0 : wr_did_begin(&handle->watch);
    if (wr_handle_tells(handle)) {
        x.did.number = atomic_fetch_add(&handle->logged, 1);
        wr_log_plan(handle, x.did.number, &in, &plan);
    }
    if (!plan.hold_all || hold(&x)) {
        try_ways(&x);
        if (plan.hold_all)
            let_go(&x);
    }
    if (a->direction == WR_WRITE && handle->owned)
        handle->wrote_alone = true; /* a call that took this back meanwhile heard of a part */
    if (wr_handle_tells(handle))
        wr_log_did(handle, &x.did);
    x.outcome.way = x.did.way;
    if (x.did.began)
        x.outcome.class = wr_note_class(
            handle,
            &(wr_noted){.a = a, .in = &in, .plan = &plan, .did = &x.did, .exchange = wr_no_name});
    if (!x.outcome.code && a->whole)
        x.outcome.code = wr_handle_demand_all(handle, x.outcome.stop);
    return x.outcome;
}
