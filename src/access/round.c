/* Rounds: locks first, then the storage. */
#include "access/round.h"

#include "access/handle.h"

static int lock(const wr_rounds *c, wr_round *round, enum wr_lock_kind kind)
{
    if (c->plan->hold[0] == WR_HOLD_NOTHING || round->locked)
        return 0;
    int code = wr_handle_try_window(c->handle, &round->window, kind, round->scattered);
    round->locked = !code;
    if (!code)
        wr_did_lock(c->did, kind);
    if (code != WR_BUSY)
        round->wait = (wr_range_wait){0};
    return code;
}

static bool is_late(const wr_rounds *c, wr_round *round)
{
    return wr_range_is_late(c->handle->storage, &round->wait);
}

/* Instead of a lock that others hold: the window without its holes. */
static int leave_out_holes(const wr_rounds *c, wr_windows *walk, wr_round *round, bool late)
{
    wr_window *w = &round->window;
    wr_handle *handle = c->handle;
    int code = round->unlistable ? 1 : wr_windows_list(walk, w);
    round->unlistable = code == 1;
    if (code == 1)
        return late ? wr_handle_fail_late(handle, WR_LOCK_MODIFY, w->lo, w->hi) : WR_BUSY;
    if (code)
        return code;
    if (!handle->hurried)
        wr_log_line(&handle->world->log, WR_LOG_WARN,
                    "%s: bytes %lld to %lld are locked by others: written without reading what "
                    "lies between",
                    handle->storage->path, (long long)w->lo, (long long)w->hi);
    handle->hurried = true;
    round->wait = (wr_range_wait){0};
    wr_range_give_up(handle->storage, w->lo, w->hi);
    return 0;
}

/* Once one has waited in vain for others, those that follow do not, if they can do without. */
static int lock_to_modify(const wr_rounds *c, wr_windows *walk, wr_round *round)
{
    int code = lock(c, round, WR_LOCK_MODIFY);
    const bool late = code == WR_BUSY && is_late(c, round);
    if (late || (code == WR_BUSY && c->handle->hurried))
        return leave_out_holes(c, walk, round, late);
    if (!code)
        c->handle->hurried = false;
    return code;
}

/* 0, WR_AWAY or a negative code. */
static int move(const wr_rounds *c, wr_round *round, enum wr_direction direction, char *buffer)
{
    wr_async_window *p = &round->async;
    const weir_pattern *cover = round->window.cover;
    if (!round->away) {
        p->direction = direction;
        p->cover = cover;
        p->buffer = buffer;
        p->wakeup = c->wakeup;
        p->locked = direction == WR_WRITE && round->locked ? &round->window : NULL;
        p->scattered = round->scattered;
        c->did->way = WR_WAY_ROUNDS;
        if (!c->plan->left || wr_async_window_start(c->handle, p))
            return wr_handle_move(c->handle, direction, cover, buffer, &round->valid);
        round->away = true;
        c->did->aside++;
    }
    if (!wr_async_window_is_over(c->handle, p))
        return WR_AWAY;
    round->away = false;
    round->locked = round->locked && !p->locked;
    round->valid = p->valid;
    return p->code ? wr_error_raise(&p->error) : 0;
}

void wr_round_drop(const wr_rounds *c, wr_round *round)
{
    if (!round->made)
        return;
    if (round->locked)
        wr_handle_unlock_window(c->handle, &round->window, round->scattered);
    else if (c->direction == WR_WRITE)
        wr_range_give_up(c->handle->storage, round->window.lo, round->window.hi);
    wr_window_release(&round->window);
    round->made = round->locked = false;
    c->did->open--;
}

int wr_round_open(const wr_rounds *c, wr_windows *walk, wr_round *round, char *buffer)
{
    const bool write = c->direction == WR_WRITE;
    int code = 0;
    if (!round->made) {
        code = wr_windows_next(walk, &round->window);
        if (code != 1) {
            round->window.lo = walk->at;
            return code;
        }
        round->made = true;
        wr_did_open(c->did);
        round->kept = 0;
        round->wait = (wr_range_wait){0};
        round->unlistable = false;
        round->scattered = wr_plan_is_scattered(c->plan, round->window.lo, round->window.hi);
        round->valid = INT64_MAX;
    }
    code = wr_handle_ready(c->handle);
    if (!code && write && round->window.holes)
        code = lock_to_modify(c, walk, round);
    if (!code && (!write || round->window.holes))
        code = move(c, round, WR_READ, buffer);
    if (code == WR_BUSY || code == WR_AWAY)
        return code;
    if (code) {
        wr_round_drop(c, round);
        return code;
    }
    if (write) /* what does not exist yet was read as zeros */
        round->valid = INT64_MAX;
    return 1;
}

/* What is in its way need not lie in the window. */
static int keep_back(const wr_rounds *c, wr_round *round, char *buffer)
{
    const int64_t kept = round->kept;
    const wr_write_behind *b = &c->handle->write_behind;
    c->did->way = WR_WAY_KEPT;
    int code = wr_write_behind_put(c->handle, round->window.cover, buffer, &round->kept);
    if (code != WR_BUSY || round->kept > kept)
        round->wait = (wr_range_wait){0};
    if (code == WR_BUSY && is_late(c, round))
        return wr_handle_fail_late(c->handle, WR_LOCK_SHARED, b->busy_lo, b->busy_hi);
    return code;
}

static int write(const wr_rounds *c, wr_round *round, char *buffer)
{
    if (c->plan->way[0] == WR_WAY_KEPT)
        return keep_back(c, round, buffer);
    int code = lock(c, round, WR_LOCK_SHARED);
    if (code == WR_BUSY && is_late(c, round))
        return wr_handle_fail_late(c->handle, WR_LOCK_SHARED, round->window.lo, round->window.hi);
    return code ? code : move(c, round, WR_WRITE, buffer);
}

int wr_round_close(const wr_rounds *c, wr_round *round, char *buffer, bool spoiled)
{
    int code = 0;
    if (c->direction == WR_WRITE && !spoiled) {
        code = write(c, round, buffer);
        if (code == WR_BUSY || code == WR_AWAY)
            return code;
    }
    wr_round_drop(c, round);
    return code;
}
