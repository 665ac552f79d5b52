/* Through buffers, window by window, with what lies between; what is to be written and has holes is
 * read first. Windows and covers are those of a realm that is the whole request. Where the plan has
 * two in flight, and so no locks, the storage has one while the other is copied. */
#include <errno.h>

#include "access/way.h"
#include "base/arith.h"
#include "base/timer.h"

enum { FLIGHTS = 2 };

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

/* A window on its way. */
typedef struct flight {
    wr_window window;
    char *buffer;
    bool made; /* there is one */
    bool away; /* the storage has it */
    wr_async_window async;
} flight;

/* With the storage as long as it takes, or only given to it. */
static int move(wr_lone *x, flight *f, enum wr_direction direction, bool leave)
{
    wr_handle *handle = x->handle;
    wr_async_window *p = &f->async;
    p->direction = direction;
    p->cover = f->window.cover;
    p->buffer = f->buffer;
    pthread_mutex_lock(&handle->moving);
    const wr_visit visit = wr_watch_begin(&handle->watch);
    f->away = leave && wr_async_window_submit(handle, p);
    if (!f->away)
        p->code = wr_handle_move_held(handle, direction, p->cover, p->buffer, &p->valid);
    wr_watch_end(&handle->watch, visit);
    pthread_mutex_unlock(&handle->moving);
    return f->away ? 0 : p->code;
}

/* Up to where the storage may be left alone with it. */
static int begin(wr_lone *x, flight *f, bool leave)
{
    const wr_window *w = &f->window;
    const bool write = x->a->direction == WR_WRITE;
    wr_did_open(&x->did);
    const int locked = lock(x, w);
    int code = locked < 0 ? locked : 0;
    f->made = true;
    if (!code && (!write || w->holes))
        code = move(x, f, WR_READ, leave && !write);
    if (!code && write) {
        wr_access_copy(x->a, w->cover, f->buffer, w->lo, w->hi);
        code = move(x, f, WR_WRITE, leave);
    }
    if (locked == 1)
        wr_handle_unlock(x->handle, w->lo, w->hi);
    return code;
}

/* `code` is that of beginning it. */
static int end(wr_lone *x, flight *f, int code, int64_t *stop)
{
    const wr_window *w = &f->window;
    const bool write = x->a->direction == WR_WRITE;
    if (f->away) {
        pthread_mutex_lock(&x->handle->moving);
        const wr_visit visit = wr_watch_begin(&x->handle->watch);
        wr_async_window_wait(x->handle, &f->async);
        wr_watch_end(&x->handle->watch, visit);
        pthread_mutex_unlock(&x->handle->moving);
        code = f->async.code;
    }
    const int64_t valid = f->async.valid;
    if (!code && !write)
        wr_access_copy(x->a, w->cover, f->buffer, w->lo, wr_min(w->hi, valid));
    if (code || (!write && valid < INT64_MAX))
        *stop = wr_min(*stop, code ? w->lo : valid);
    x->did.open--;
    f->made = f->away = false;
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

/* What is under way comes to its end, the older one first. What went wrong later does not count. */
static void end_all(wr_lone *x, flight *f, int next, wr_outcome *o)
{
    for (int i = 0; i < FLIGHTS; i++) {
        flight *one = &f[(next + i) % FLIGHTS];
        if (!one->made)
            continue;
        const weir_error error = *weir_error_last();
        const int code = end(x, one, 0, &o->stop);
        wr_window_release(&one->window);
        if (code && !o->code)
            o->code = code;
        else if (o->code)
            wr_error_raise(&error);
    }
}

/* One window; the one that was two before it is over. */
static int next_window(wr_lone *x, wr_windows *walk, flight *f, wr_outcome *o)
{
    if (f->made) {
        o->code = end(x, f, 0, &o->stop);
        wr_window_release(&f->window);
    }
    if (o->code || o->stop < INT64_MAX)
        return 0;
    const bool leave = x->plan->slots > 1;
    const int more = wr_windows_next(walk, &f->window);
    if (more != 1) {
        o->code = more;
        return 0;
    }
    o->code = begin(x, f, leave);
    if (o->code || !leave) {
        o->code = end(x, f, o->code, &o->stop);
        wr_window_release(&f->window);
    }
    return 1;
}

bool wr_way_sieve(wr_lone *x)
{
    const wr_access_request *a = x->a;
    const wr_plan *plan = x->plan;
    const int64_t bytes = wr_min(plan->window, plan->hi - plan->lo);
    const int flights = plan->slots > 1 && bytes < plan->hi - plan->lo ? FLIGHTS : 1;
    wr_want want = {a->file, a->begin, a->end, 0};
    wr_windows walk;
    wr_outcome o = {.stop = INT64_MAX};
    weir_pattern *realm = NULL;
    flight f[FLIGHTS] = {0};
    int next = 0;
    char *buffer = wr_alloc(flights * bytes);
    o.code = buffer ? wr_plan_realm(plan, 0, &realm) : WEIR_ENOMEM;
    f[0].buffer = buffer;
    f[1].buffer = buffer ? buffer + (flights - 1) * bytes : NULL;
    wr_windows_init(&walk, x->in, plan, realm, 1, &want);
    while (!o.code && o.stop == INT64_MAX && next_window(x, &walk, &f[next], &o))
        next = (next + 1) % flights;
    end_all(x, f, next, &o);
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
        flight f = {.window = {.lo = lo, .hi = hi, .holes = wanted < hi - lo}, .buffer = buffer};
        f.window.cover = (weir_pattern *)wr_run_pattern_set(&cover, lo, hi - lo);
        o.code = end(x, &f, begin(x, &f, false), &o.stop);
    }
    wr_free(buffer);
    return is_done(x, o);
}
