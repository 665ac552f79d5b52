/* Clerks. */
#include "engine/passage.h"

#include "engine/port.h"
#include "pattern/cursor.h"

enum { DEPTH = 4 }; /* windows with the storage at a time */

/* What a clerk has with the storage. */
typedef struct load {
    wr_port *port;
    int count;
    wr_passage *at[DEPTH];
} load;

static wr_passage *take(wr_clerk *c)
{
    pthread_mutex_lock(&c->lock);
    wr_passage *p = c->first;
    if (p)
        c->first = p->next;
    pthread_mutex_unlock(&c->lock);
    return p;
}

static bool is_dismissed(wr_clerk *c)
{
    pthread_mutex_lock(&c->lock);
    bool dismissed = c->dismissed;
    pthread_mutex_unlock(&c->lock);
    return dismissed;
}

/* Fills in the transfers; false if there are too many. */
static bool lay_out(wr_passage *p)
{
    wr_cursor c;
    wr_batch b;
    p->used = 0;
    wr_cursor_init(&c, p->cover);
    while (wr_cursor_next(&c, INT64_MAX, &b)) {
        if (p->used == WR_PASSAGE_TRANSFERS)
            return false;
        p->transfers[p->used] = wr_port_transfer(p->direction, &b, p->buffer);
        p->transfers[p->used++].user = p;
    }
    return true;
}

static bool is_complete(const wr_passage *p)
{
    for (int i = 0; i < p->used; i++)
        if (p->transfers[i].done < wr_transfer_bytes(&p->transfers[i]))
            return false;
    return true;
}

static void tell(const load *l, wr_passage *p)
{
    if (p->code)
        wr_error_take(&p->error);
    if (p->locked) /* here, because its owner may come back much later */
        wr_port_unlock_window(l->port, p->locked, p->scattered);
    wr_progress_tell(&l->port->world->process->progress, &p->over, p->bell);
}

/* With the storage held, as are all below. */
static void begin(load *l, wr_passage *p)
{
    p->code = 0;
    p->valid = INT64_MAX;
    if (!lay_out(p)) {
        p->code = wr_port_move_held(l->port, p->direction, p->cover, p->buffer, &p->valid);
        tell(l, p);
        return;
    }
    p->pending = p->used;
    l->at[l->count++] = p;
    for (int i = 0; i < p->used; i++)
        wr_storage_submit(l->port->storage, &p->transfers[i]);
}

/* What has come back as a whole; the storage must be at rest before what is missing is looked at.
 */
static void end_some(load *l)
{
    int left = 0;
    for (int i = 0; i < l->count; i++) {
        wr_passage *p = l->at[i];
        if (!p->pending && !is_complete(p)) {
            wr_port_reap_all(l->port);
            p->code = wr_port_look(l->port, p->used, p->transfers, &p->valid);
        }
        if (p->pending)
            l->at[left++] = p;
        else
            tell(l, p);
    }
    l->count = left;
}

static void run(void *user)
{
    wr_port *port = user;
    wr_clerk *c = &port->clerk;
    wr_waiter waiter = {.leaves = true};
    load l = {.port = port};
    while (!is_dismissed(c)) {
        uint32_t called = wr_word_get(&c->call);
        wr_passage *p;
        pthread_mutex_lock(&port->moving);
        while (l.count < DEPTH && (p = take(c)))
            begin(&l, p);
        bool busy = l.count;
        end_some(&l); /* others may have found them */
        if (l.count) {
            const wr_transfer *t = wr_storage_reap(port->storage, true);
            if (t)
                wr_passage_note(t);
            end_some(&l);
        }
        pthread_mutex_unlock(&port->moving);
        if (busy)
            wr_task_breathe();
        else
            wr_wait(&c->call, called, &waiter);
    }
}

static void call(wr_port *port)
{
    wr_progress_ring(&port->world->process->progress, &port->clerk.call);
}

int wr_passage_start(wr_port *port, wr_passage *p)
{
    wr_clerk *c = &port->clerk;
    if (!c->hired) {
        c->errand = (wr_errand){.by = WR_BY_THREAD, .called = true, .run = run, .user = port};
        int code = wr_errand_start(&port->world->process->progress, &c->errand);
        if (code)
            return code;
        c->hired = true;
    }
    p->over = (wr_word){0};
    p->next = NULL;
    pthread_mutex_lock(&c->lock);
    if (c->first)
        c->last->next = p;
    else
        c->first = p;
    c->last = p;
    pthread_mutex_unlock(&c->lock);
    call(port);
    return 0;
}

bool wr_passage_is_over(wr_port *port, wr_passage *p)
{
    return wr_progress_told(&port->world->process->progress, &p->over);
}

void wr_clerk_dismiss(wr_port *port)
{
    wr_clerk *c = &port->clerk;
    if (!c->hired)
        return;
    pthread_mutex_lock(&c->lock);
    c->dismissed = true;
    pthread_mutex_unlock(&c->lock);
    call(port);
    while (!wr_errand_is_over(&port->world->process->progress, &c->errand))
        wr_world_wait(port->world, &c->errand.over, 0);
    c->hired = false;
}
