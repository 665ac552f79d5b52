/* Turns. */
#include "engine/turn.h"

static int lock(const wr_call *c, wr_turn *turn, bool shared)
{
    if (c->port->sole)
        return 0;
    int code = wr_port_try_window(c->port, &turn->window, shared, c->plan->period);
    turn->locked = !code;
    return code;
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
    }
    code = write && turn->window.holes ? lock(c, turn, false) : 0;
    if (code == WR_BUSY)
        return code;
    turn->valid = INT64_MAX;
    if (!code && (!write || turn->window.holes))
        code = wr_port_move(c->port, WR_READ, turn->window.cover, buffer, &turn->valid);
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
        int64_t valid;
        code = turn->locked ? 0 : lock(c, turn, true);
        if (code == WR_BUSY)
            return code;
        if (!code)
            code = wr_port_move(c->port, WR_WRITE, turn->window.cover, buffer, &valid);
    }
    wr_turn_drop(c, turn);
    return code;
}
