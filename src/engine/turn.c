/* Turns. */
#include "engine/turn.h"

#include "engine/rounds.h"

static int lock(const wr_call *c, wr_turn *turn, enum wr_lock_kind kind)
{
    if (c->port->sole || c->port->atomic || turn->locked)
        return 0;
    int code = wr_port_try_window(c->port, &turn->window, kind, turn->scattered);
    turn->locked = !code;
    if (code != WR_BUSY)
        turn->wait = (wr_range_wait){0};
    return code;
}

static bool is_late(const wr_call *c, wr_turn *turn)
{
    return wr_range_is_late(c->port->storage, &turn->wait);
}

/* Instead of a lock that is not to be had: the window without its holes. */
static int leave_out_holes(const wr_call *c, wr_windows *walk, wr_turn *turn, bool late)
{
    wr_window *w = &turn->window;
    wr_port *port = c->port;
    int code = turn->unlistable ? 1 : wr_windows_list(walk, w);
    turn->unlistable = code == 1;
    if (code == 1)
        return late ? wr_port_fail_late(port, WR_LOCK_MODIFY, w->lo, w->hi) : WR_BUSY;
    if (code)
        return code;
    if (!port->hurried)
        wr_log_line(&port->world->log, WR_LOG_WARN,
                    "%s: bytes %lld to %lld are locked by others: written without reading what "
                    "lies between",
                    port->storage->path, (long long)w->lo, (long long)w->hi);
    port->hurried = true;
    turn->wait = (wr_range_wait){0};
    wr_range_give_up(port->storage, w->lo, w->hi);
    return 0;
}

/* Once one has waited in vain for others, those that follow do not, if they can do without. */
static int lock_to_modify(const wr_call *c, wr_windows *walk, wr_turn *turn)
{
    int code = lock(c, turn, WR_LOCK_MODIFY);
    const bool late = code == WR_BUSY && is_late(c, turn);
    if (late || (code == WR_BUSY && c->port->hurried))
        return leave_out_holes(c, walk, turn, late);
    if (!code)
        c->port->hurried = false;
    return code;
}

/* 0, WR_AWAY or a negative code. */
static int move(const wr_call *c, wr_turn *turn, enum wr_direction direction, char *buffer)
{
    wr_passage *p = &turn->passage;
    const weir_pattern *cover = turn->window.cover;
    if (!turn->away) {
        p->direction = direction;
        p->cover = cover;
        p->buffer = buffer;
        p->bell = c->bell;
        p->locked = direction == WR_WRITE && turn->locked ? &turn->window : NULL;
        p->scattered = turn->scattered;
        if (!c->away || wr_passage_start(c->port, p))
            return wr_port_move(c->port, direction, cover, buffer, &turn->valid);
        turn->away = true;
    }
    if (!wr_passage_is_over(c->port, p))
        return WR_AWAY;
    turn->away = false;
    turn->locked = turn->locked && !p->locked;
    turn->valid = p->valid;
    return p->code ? wr_error_raise(&p->error) : 0;
}

void wr_turn_drop(const wr_call *c, wr_turn *turn)
{
    if (!turn->made)
        return;
    if (turn->locked)
        wr_port_unlock_window(c->port, &turn->window, turn->scattered);
    else if (c->a->direction == WR_WRITE)
        wr_range_give_up(c->port->storage, turn->window.lo, turn->window.hi);
    wr_window_release(&turn->window);
    turn->made = turn->locked = false;
}

int wr_turn_open(const wr_call *c, wr_windows *walk, wr_turn *turn, char *buffer)
{
    const bool write = c->a->direction == WR_WRITE;
    int code = 0;
    if (!turn->made) {
        code = wr_windows_next(walk, &turn->window);
        if (code != 1) {
            turn->window.lo = walk->at;
            return code;
        }
        turn->made = true;
        turn->kept = 0;
        turn->wait = (wr_range_wait){0};
        turn->unlistable = false;
        turn->scattered = wr_plan_is_scattered(c->plan, turn->window.lo, turn->window.hi);
        turn->valid = INT64_MAX;
    }
    code = write && turn->window.holes ? lock_to_modify(c, walk, turn) : 0;
    if (!code && (!write || turn->window.holes))
        code = move(c, turn, WR_READ, buffer);
    if (code == WR_BUSY || code == WR_AWAY)
        return code;
    if (code) {
        wr_turn_drop(c, turn);
        return code;
    }
    if (write) /* what does not exist yet was read as zeros */
        turn->valid = INT64_MAX;
    return 1;
}

/* What is in its way need not lie in the window. */
static int put_behind(const wr_call *c, wr_turn *turn, char *buffer)
{
    const int64_t kept = turn->kept;
    const wr_behind *b = &c->port->behind;
    int code = wr_behind_put(c->port, turn->window.cover, buffer, &turn->kept);
    if (code != WR_BUSY || turn->kept > kept)
        turn->wait = (wr_range_wait){0};
    if (code == WR_BUSY && is_late(c, turn))
        return wr_port_fail_late(c->port, WR_LOCK_SHARED, b->busy_lo, b->busy_hi);
    return code;
}

static int write(const wr_call *c, wr_turn *turn, char *buffer)
{
    if (c->in->behind)
        return put_behind(c, turn, buffer);
    int code = lock(c, turn, WR_LOCK_SHARED);
    if (code == WR_BUSY && is_late(c, turn))
        return wr_port_fail_late(c->port, WR_LOCK_SHARED, turn->window.lo, turn->window.hi);
    return code ? code : move(c, turn, WR_WRITE, buffer);
}

int wr_turn_close(const wr_call *c, wr_turn *turn, char *buffer, bool spoiled)
{
    int code = 0;
    if (c->a->direction == WR_WRITE && !spoiled) {
        code = write(c, turn, buffer);
        if (code == WR_BUSY || code == WR_AWAY)
            return code;
    }
    wr_turn_drop(c, turn);
    return code;
}
