/* Ways, locks and movers. */
#include "plan/ways.h"

#include <string.h>

#include "base/arith.h"
#include "plan/cover.h"
#include "plan/method.h"

/* --- who moves it --- */

bool wr_moving_overlaps(const wr_moving *m)
{
    return m->overlap != WR_OVERLAP_NONE && m->may_keep;
}

bool wr_moving_is_brief(const wr_moving *m)
{
    if (!m->alone || m->overlap != WR_OVERLAP_AUTO)
        return false;
    if (m->bytes == 0 || m->bytes > WR_BRIEF_BYTES || !m->memory)
        return m->bytes == 0;
    return m->one_run && (m->direction == WR_WRITE || m->cached);
}

bool wr_moving_must_look(const wr_moving *m)
{
    return m->thread && m->overlap == WR_OVERLAP_AUTO && m->memory && m->direction == WR_READ &&
           m->bytes;
}

bool wr_moving_prefers_aside(const wr_moving *m)
{
    if (!m->thread || m->overlap != WR_OVERLAP_AUTO || !m->memory)
        return m->thread;
    return wr_moving_must_look(m) && !m->cached;
}

enum wr_moved wr_moving_mover(const wr_moving *m)
{
    if (!m->beside || wr_moving_is_brief(m))
        return WR_MOVED_AT_ONCE;
    const bool split = m->form == WR_SPLIT && !m->alone; /* its caller brings it on its way */
    const bool suits = m->alone || !m->messages || m->multiple;
    return m->thread && suits && (!split || m->overlap == WR_OVERLAP_ALL) ? WR_MOVED_BY_THREAD
                                                                          : WR_MOVED_BY_CALLERS;
}

/* --- one rank for itself --- */

static bool has_gaps(const wr_summary *w)
{
    return w->hi - w->lo != w->bytes;
}

/* Whether a rank alone may read or write more than it wants: reading, where exactly that would cost
 * more. A write that reads first endangers neighbours: only if asked for, or if there are none, and
 * if the file can be read. */
static bool may_sieve(const wr_plan_input *in)
{
    if (!has_gaps(&in->wanted) || wr_methods[in->access].plain)
        return false;
    if (in->direction == WR_WRITE)
        return (in->access == WR_ACCESS_SIEVE || in->between) && !in->blind;
    return in->access != WR_ACCESS_AUTO || !wr_plan_list_is_cheaper(in);
}

static bool by_columns(const wr_plan_input *in)
{
    return in->column && in->access == WR_ACCESS_SIEVE && in->sieve_unit == WR_SIEVE_COLUMN &&
           (in->direction == WR_READ || !in->blind);
}

bool wr_plan_must_look(const wr_plan_input *in)
{
    return in->whole && in->direction == WR_READ && in->access == WR_ACCESS_AUTO &&
           (in->wanted.bytes >= WR_LOOK_BYTES || in->wanted.runs >= WR_LOOK_RUNS);
}

static bool is_mappable(const wr_plan_input *in, const wr_summary *own)
{
    if (!in->map || in->direction != WR_READ || in->access != WR_ACCESS_AUTO || in->frugal ||
        in->weak || !in->local || !own->runs)
        return false;
    return own->runs >= WR_LOOK_RUNS || (in->whole && own->bytes >= WR_LOOK_BYTES);
}

bool wr_plan_may_map(const wr_plan_input *in, const wr_summary *own)
{
    return is_mappable(in, own) && own->bytes / own->runs <= WR_MAPPED_RUN;
}

/* One rank copies long runs from pages that are there twice as fast as the system does. */
static bool may_map_alone(const wr_plan_input *in)
{
    return in->cold ? in->whole && wr_plan_may_map(in, &in->wanted) : is_mappable(in, &in->wanted);
}

/* Stored to pages of the file nothing is written but what is wanted, as by calls. */
static bool may_store(const wr_plan_input *in)
{
    const wr_summary *w = &in->wanted;
    return in->map && in->direction == WR_WRITE && in->access == WR_ACCESS_AUTO && !in->frugal &&
           !in->weak && in->local && w->runs >= WR_LOOK_RUNS && w->bytes / w->runs <= WR_STORED_RUN;
}

/* Whether writes need no protection: nobody reads to write back, and bytes go out alone. */
static bool is_plain(const wr_plan_input *in)
{
    return in->weak && !in->carries;
}

/* Straight from and to memory. A write must not fall between another's reading and writing; who
 * could not lock a window is not the only one, whatever was promised. */
static enum wr_hold hold_of_list(const wr_plan_input *in, bool first)
{
    if (in->direction == WR_READ || in->atomic || is_plain(in) || (in->sole && first))
        return WR_HOLD_NOTHING;
    return in->leased && !in->task && in->wanted.bytes <= WR_LEASE_BYTES ? WR_HOLD_LEASE
                                                                         : WR_HOLD_RANGE;
}

static enum wr_hold hold_of_windows(const wr_plan_input *in)
{
    if (in->direction == WR_READ || in->atomic || (is_plain(in) && !in->sole && !in->granule))
        return WR_HOLD_NOTHING;
    return in->sole ? WR_HOLD_HOLES : WR_HOLD_WINDOWS;
}

/* Atomic mode: from the first byte to the last, gaps included, and as long as it takes (K3). */
static enum wr_hold hold_of_all(const wr_plan_input *in)
{
    if (!in->atomic)
        return WR_HOLD_NOTHING;
    if (in->direction == WR_READ)
        return WR_HOLD_SHARED;
    return in->alone && !has_gaps(&in->wanted) && !in->column ? WR_HOLD_EXCLUSIVE : WR_HOLD_MODIFY;
}

/* The last resort, which comes last, always has a place. */
static void set_way(wr_plan *out, int place, enum wr_way way, enum wr_hold hold)
{
    place = (int)wr_min(place, WR_TRIES - 1);
    out->way[place] = way;
    out->hold[place] = hold;
}

/* What is read can come by other ways than calls, which fail where a page or a device does not give
 * what it should. Windows that others have locked for too long are written without what lies
 * between. */
static void choose_ways(const wr_plan_input *in, wr_plan *out)
{
    int n = 0;
    const bool columns = by_columns(in);
    if (in->granule) {
        set_way(out, n, WR_WAY_SIEVE, hold_of_windows(in));
        out->window = wr_plan_granules(in, in->sieve_buffer);
        return;
    }
    if (wr_plan_must_look(in) && in->cold && in->direct != WR_SWITCH_NEVER)
        set_way(out, n++, WR_WAY_DIRECT, WR_HOLD_NOTHING);
    if (may_map_alone(in))
        set_way(out, n++, WR_WAY_MAPPED, WR_HOLD_NOTHING);
    const bool stores = !columns && !may_sieve(in) && may_store(in);
    if (stores)
        set_way(out, n++, WR_WAY_MAPPED, hold_of_list(in, true));
    if (columns || may_sieve(in)) {
        set_way(out, n++, columns ? WR_WAY_COLUMNS : WR_WAY_SIEVE, hold_of_windows(in));
        out->window = in->sieve_buffer;
        if (in->direction == WR_READ || in->atomic)
            return;
    }
    set_way(out, n, WR_WAY_LIST, hold_of_list(in, n == 0 || stores));
}

void wr_plan_alone(const wr_plan_input *in, wr_plan *out)
{
    const wr_summary *w = &in->wanted;
    memset(out, 0, sizeof *out);
    out->reason = WR_ONE_RANK;
    out->aggregators = 1;
    out->lo = out->base = wr_plan_down(in, w->lo);
    out->hi = wr_plan_up(in, w->hi);
    out->block = out->hi - out->lo;
    out->most = w->bytes;
    out->fits = 1;
    out->mover = wr_moving_mover(&in->moving);
    out->handed = in->moving.handed;
    out->unbroken = in->atomic && in->moving.beside && out->mover != WR_MOVED_BY_THREAD;
    out->advised = in->cold;
    out->piece = in->task ? WR_BACKGROUND_PIECE : INT64_MAX;
    out->bite = in->task ? WR_BACKGROUND_BITE : INT64_MAX;
    if (!w->active)
        return;
    out->hold_all = hold_of_all(in);
    choose_ways(in, out);
    out->slots = out->way[0] == WR_WAY_DIRECT ? WR_DIRECT_WINDOWS : out->window > 0;
    if (in->granule && out->hold[0] == WR_HOLD_NOTHING && out->window >= 2 * in->granule) {
        /* one is copied, one with the codecs */
        out->slots = 2;
        out->window = wr_plan_down(in, out->window / 2);
    }
}

/* --- all of them together --- */

/* Whether the storage is left to the thread; the same on all ranks that have one. */
static bool goes_aside(const wr_plan_input *in, const wr_plan *plan)
{
    const int64_t price = wr_min(plan->price_alone, plan->price_together);
    return in->aside && (in->overlap != WR_OVERLAP_AUTO || price > WR_THREAD_NS);
}

/* How many windows each aggregator may have under way, and whether these are all. By all-to-all
 * there is one. Otherwise there are two, so that one is copied while the other is with the storage,
 * and one more between parties, where one is on its way; or, where callers leave once the storage
 * has all, as many as there is memory for. */
static void choose_slots(const wr_plan_input *in, wr_plan *plan)
{
    const int64_t windows = plan->most / plan->window + 1;
    if (plan->exchange == WR_EXCHANGE_ALLTOALL) {
        plan->slots = 1;
        plan->fits = plan->most <= plan->window;
        return;
    }
    plan->slots = plan->cell ? 3 : 2;
    plan->fits = 1;
    if (plan->aside && in->form == WR_SPLIT && in->overlap != WR_OVERLAP_ALL) {
        /* between parties there is a gate's slot for each, and room for parts */
        const int64_t fitting = in->room / wr_slot_bytes(plan->window) / (plan->cell ? 3 : 1);
        plan->slots = wr_max(plan->slots, wr_min(wr_min(windows, WR_SLOTS), fitting));
        plan->fits = windows <= plan->slots;
    }
}

void wr_ways_limit(const wr_plan_input *in, wr_plan *plan)
{
    if (in->limit > 0)
        plan->window = wr_max(in->granule, wr_plan_down(in, wr_min(plan->window, in->limit)));
}

/* Callers leave to the thread what they would have to come back for, if it may make it. */
static bool is_handed(const wr_plan_input *in, const wr_plan *plan)
{
    if (!plan->left || plan->mover != WR_MOVED_BY_CALLERS || !in->wanted.active)
        return false;
    return !plan->collective ||
           (!plan->fits && (plan->exchange == WR_EXCHANGE_SHM || in->moving.multiple));
}

void wr_ways_together(const wr_plan_input *in, wr_plan *plan)
{
    const bool busy = plan->collective && in->wanted.active;
    const bool locks = in->direction == WR_WRITE && !in->sole && !in->atomic &&
                       (!is_plain(in) || in->granule) && !in->write_behind;
    if (!plan->cell)
        wr_ways_limit(in, plan);
    plan->aside = goes_aside(in, plan);
    plan->mover = wr_moving_mover(&in->moving);
    plan->left = plan->aside && in->moving.thread;
    plan->hold_all = busy ? hold_of_all(in) : WR_HOLD_NOTHING;
    set_way(plan, 0,
            !busy              ? WR_WAY_NONE
            : in->write_behind ? WR_WAY_KEPT
                               : WR_WAY_ROUNDS,
            busy && locks ? WR_HOLD_WINDOWS : WR_HOLD_NOTHING);
    choose_slots(in, plan);
    plan->handed = is_handed(in, plan);
}

void wr_plan_shrink(wr_plan_input *in, wr_plan *plan)
{
    if (plan->slots > 2) {
        plan->fits = 0;
    } else {
        const int64_t smaller = wr_max(WR_SMALLEST_WINDOW, plan->window / 4);
        in->limit = plan->window > wr_max(in->granule, WR_SMALLEST_WINDOW) ? smaller : -1;
        wr_ways_limit(in, plan);
    }
    plan->slots = 2;
    plan->handed = is_handed(in, plan);
}
