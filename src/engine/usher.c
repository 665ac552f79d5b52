/* Ushers. */
#include "engine/usher.h"

#include "engine/port.h"

enum { MOST_BYTES = 64 << 10 }; /* of a write: others wait for whoever has a pass */

static void run(void *user)
{
    wr_port *port = user;
    wr_usher *u = &port->usher;
    wr_waiter waiter = {.leaves = true};
    while (!wr_word_get(&u->dismissed)) {
        uint32_t called = wr_word_get(&u->call);
        int64_t next = wr_pass_tend(port->storage);
        if (next)
            wr_task_doze(&u->dismissed, 0, next);
        else
            wr_wait(&u->call, called, &waiter);
    }
}

static int hire(wr_port *port)
{
    wr_usher *u = &port->usher;
    wr_progress *p = &port->world->process->progress;
    pthread_mutex_lock(&u->lock);
    if (u->state == WR_USHER_UNKNOWN) {
        u->errand = (wr_errand){.by = WR_BY_THREAD, .called = true, .run = run, .user = port};
        bool hired = port->tunables.progress.which == WR_PROGRESS_THREAD && wr_progress_thread(p) &&
                     !wr_errand_start(p, &u->errand);
        u->state = hired ? WR_USHER_HIRED : WR_USHER_NONE;
    }
    pthread_mutex_unlock(&u->lock);
    return u->state;
}

bool wr_usher_admit(wr_port *port, int64_t bytes)
{
    wr_usher *u = &port->usher;
    bool fresh;
    if (bytes > MOST_BYTES || wr_task_current()) /* tasks may be left in the middle of a write */
        return false;
    int state = u->state;
    if ((state == WR_USHER_UNKNOWN ? hire(port) : state) != WR_USHER_HIRED)
        return false;
    bool may = wr_pass_use(port->storage, &fresh);
    if (fresh)
        wr_progress_ring(&port->world->process->progress, &u->call);
    return may;
}

void wr_usher_dismiss(wr_port *port)
{
    wr_usher *u = &port->usher;
    wr_progress *p = &port->world->process->progress;
    bool hired = u->state == WR_USHER_HIRED;
    u->state = WR_USHER_NONE;
    if (!hired)
        return;
    wr_progress_ring(p, &u->dismissed);
    wr_progress_ring(p, &u->call);
    while (!wr_errand_is_over(p, &u->errand))
        wr_world_wait(port->world, &u->errand.over, 0);
    wr_pass_drop(port->storage); /* others may still modify, while this rank waits for them */
}
