/* Turns. */
#include "engine/turn.h"

#include "engine/rounds.h"

static int lock(const wr_call *c, wr_turn *turn, bool shared)
{
    if (c->port->sole || turn->locked)
        return 0;
    int code = wr_port_try_window(c->port, &turn->window, shared, c->plan->period);
    turn->locked = !code;
    return code;
}

static void pass(void *user)
{
    wr_turn *turn = user;
    wr_passage *p = &turn->passage;
    p->code = wr_port_move(p->port, p->direction, turn->window.cover, p->buffer, &turn->valid);
    if (p->code)
        wr_error_take(&p->error);
}

/* 0, WR_AWAY or a negative code. */
static int move(const wr_call *c, wr_turn *turn, enum wr_direction direction, char *buffer)
{
    wr_passage *p = &turn->passage;
    wr_progress *progress = &c->port->world->progress;
    if (!p->under_way) {
        *p = (wr_passage){.port = c->port, .direction = direction, .buffer = buffer};
        p->errand = (wr_errand){.run = pass, .user = turn, .bell = c->bell};
        if (!c->away || wr_errand_start(progress, &p->errand, WR_BY_THREAD, false)) {
            pass(turn);
            return p->code ? wr_error_raise(&p->error) : 0;
        }
        p->under_way = true;
    }
    if (!wr_errand_is_over(progress, &p->errand))
        return WR_AWAY;
    p->under_way = false;
    return p->code ? wr_error_raise(&p->error) : 0;
}

void wr_turn_drop(const wr_call *c, wr_turn *turn)
{
    if (!turn->made)
        return;
    if (turn->locked)
        wr_port_unlock_window(c->port, &turn->window, c->plan->period);
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
        turn->valid = INT64_MAX;
    }
    code = write && turn->window.holes ? lock(c, turn, false) : 0;
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

int wr_turn_close(const wr_call *c, wr_turn *turn, char *buffer, bool spoiled)
{
    int code = 0;
    if (c->a->direction == WR_WRITE && !spoiled) {
        code = lock(c, turn, true);
        if (!code)
            code = move(c, turn, WR_WRITE, buffer);
        if (code == WR_BUSY || code == WR_AWAY)
            return code;
    }
    wr_turn_drop(c, turn);
    return code;
}
