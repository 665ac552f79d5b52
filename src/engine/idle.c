/* The list of ports that keep shared memory. */
#include "engine/idle.h"

#include "engine/port.h"

/* With the lock held. */
static void leave(wr_port *port)
{
    if (!port->idle_place)
        return;
    *port->idle_place = port->idle_next;
    if (port->idle_next)
        port->idle_next->idle_place = port->idle_place;
    port->idle_place = NULL;
}

/* With the lock held. */
static void drop(wr_idle *idle, int64_t kept)
{
    wr_port *port = idle->first, *next;
    for (int64_t i = 0; port; port = next, i++) {
        next = port->idle_next;
        if (i < kept)
            continue;
        leave(port);
        wr_port_close_regions(port);
        port->dropped = true;
    }
}

void wr_idle_take(wr_port *port)
{
    wr_idle *idle = &port->world->process->idle;
    pthread_mutex_lock(&idle->lock);
    leave(port);
    pthread_mutex_unlock(&idle->lock);
}

void wr_idle_put(wr_port *port)
{
    wr_idle *idle = &port->world->process->idle;
    if (!port->hall.region.base && !port->requests.base)
        return;
    pthread_mutex_lock(&idle->lock);
    port->idle_next = idle->first;
    port->idle_place = &idle->first;
    if (port->idle_next)
        port->idle_next->idle_place = &port->idle_next;
    idle->first = port;
    idle->kept = port->tunables.regions_kept;
    drop(idle, idle->kept);
    pthread_mutex_unlock(&idle->lock);
}

bool wr_idle_lend(wr_world *w, uint64_t number, int64_t bytes, wr_region *out)
{
    wr_idle *idle = &w->process->idle;
    wr_port *found = NULL;
    int64_t count = 0;
    pthread_mutex_lock(&idle->lock);
    for (wr_port *port = idle->first; port; port = port->idle_next, count++) {
        const wr_region *r = &port->hall.region;
        if (port->world == w && r->base && (number ? r->number == number : r->bytes >= bytes))
            found = port;
    }
    if (!number && count < idle->kept)
        found = NULL;
    if (found) {
        leave(found);
        *out = found->hall.region;
        found->hall.region = (wr_region){0};
        wr_port_close_regions(found);
        found->dropped = true;
    }
    pthread_mutex_unlock(&idle->lock);
    return found;
}

void wr_idle_drop(wr_idle *idle, int64_t kept)
{
    pthread_mutex_lock(&idle->lock);
    drop(idle, kept);
    pthread_mutex_unlock(&idle->lock);
}
