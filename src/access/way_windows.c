/* Through a buffer, window by window, with what lies between; what is to be written and has holes
 * is read first. Windows and covers are those of a realm that is the whole request. */
#include <errno.h>

#include "access/way.h"
#include "base/arith.h"

static int lock(wr_lone *x, const wr_window *w)
{
    if (x->hold == WR_HOLD_NOTHING || (x->hold == WR_HOLD_HOLES && !w->holes))
        return 0;
    enum wr_lock_kind modify = x->hold == WR_HOLD_HOLES ? WR_LOCK_EXCLUSIVE : WR_LOCK_MODIFY;
    enum wr_lock_kind kind = w->holes ? modify : WR_LOCK_SHARED;
    int code = wr_handle_lock(x->handle, kind, w->lo, w->hi);
    if (code)
        return code;
    wr_did_lock(&x->did, kind);
    return 1;
}

/* One window through a buffer. */
static int move_window(wr_lone *x, const wr_window *w, char *buffer, int64_t *stop)
{
    wr_handle *handle = x->handle;
    const wr_access_request *a = x->a;
    int64_t valid = INT64_MAX;
    const bool write = a->direction == WR_WRITE;
    wr_did_open(&x->did);
    const int locked = lock(x, w);
    int code = locked < 0 ? locked : 0;
    if (!code && (!write || w->holes))
        code = wr_handle_move(handle, WR_READ, w->cover, buffer, &valid);
    if (!code) {
        wr_access_copy(a, w->cover, buffer, w->lo, write ? w->hi : wr_min(w->hi, valid));
        if (write)
            code = wr_handle_move(handle, WR_WRITE, w->cover, buffer, &valid);
    }
    if (locked == 1)
        wr_handle_unlock(handle, w->lo, w->hi);
    if (code || (!write && valid < INT64_MAX))
        *stop = code ? w->lo : valid;
    x->did.open--;
    return code;
}

/* Whether it is done, well or not: what was to be modified may not be had, because others have
 * locked it for too long, or the system has no locks left.
 * Then it can still be written without reading what lies between. */
static bool is_done(wr_lone *x, wr_outcome o)
{
    x->outcome = o;
    const int reason = weir_error_last()->errnum;
    if (!o.code || x->hold == WR_HOLD_NOTHING ||
        !(reason == EAGAIN || wr_range_is_unsupported(reason)))
        return true;
    wr_log_line(&x->handle->world->log, WR_LOG_WARN,
                "%s; writing without reading what lies between", weir_error_last()->text);
    return false;
}

bool wr_way_sieve(wr_lone *x)
{
    const wr_access_request *a = x->a;
    const wr_plan *plan = x->plan;
    wr_want want = {a->file, a->begin, a->end, 0};
    wr_windows walk;
    wr_window w;
    wr_outcome o = {.stop = INT64_MAX};
    weir_pattern *realm = NULL;
    char *buffer = wr_alloc(wr_min(plan->window, plan->hi - plan->lo));
    o.code = buffer ? wr_plan_realm(plan, 0, &realm) : WEIR_ENOMEM;
    wr_windows_init(&walk, x->in, plan, realm, 1, &want);
    for (int more = 1; !o.code && more && o.stop == INT64_MAX;) {
        more = wr_windows_next(&walk, &w);
        if (more < 0)
            o.code = more;
        if (more == 1) {
            o.code = move_window(x, &w, buffer, &o.stop);
            wr_window_release(&w);
        }
    }
    if (o.code && o.stop == INT64_MAX)
        o.stop = walk.at;
    wr_windows_release(&walk);
    weir_pattern_free(realm);
    wr_free(buffer);
    return is_done(x, o);
}

/* Whole columns, wanted or not, as many at a time as the buffer takes: "PASSION Runtime Library for
 * Parallel I/O", section 5.1. */
bool wr_way_columns(wr_lone *x)
{
    const wr_access_request *a = x->a;
    int64_t columns = wr_max(1, x->plan->window / a->column);
    int64_t step = wr_min(columns * a->column, a->hi - a->lo);
    wr_outcome o = {.stop = INT64_MAX};
    char *buffer = wr_alloc(step);
    o.code = buffer ? 0 : WEIR_ENOMEM;
    for (int64_t lo = a->lo; lo < a->hi && !o.code && o.stop == INT64_MAX; lo += step) {
        wr_run_pattern cover;
        int64_t hi = wr_min(lo + step, a->hi);
        int64_t wanted = wr_pattern_data_below(a->file, hi) - wr_pattern_data_below(a->file, lo);
        wr_window w = {.lo = lo, .hi = hi, .holes = wanted < hi - lo};
        w.cover = (weir_pattern *)wr_run_pattern_set(&cover, lo, hi - lo);
        o.code = move_window(x, &w, buffer, &o.stop);
    }
    wr_free(buffer);
    return is_done(x, o);
}
