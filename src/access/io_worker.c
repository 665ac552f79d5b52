/* The I/O worker. */
#include "access/io_worker.h"

#include "access/handle.h"
#include "base/timer.h"
#include "pattern/cursor.h"

enum { DEPTH = 4 }; /* windows with the storage at a time */

/* What a I/O worker has with the storage. */
typedef struct load {
    wr_handle *handle;
    int count;
    wr_async_window *at[DEPTH];
} load;

static wr_async_window *take(wr_io_worker *c)
{
    pthread_mutex_lock(&c->lock);
    wr_async_window *p = c->first;
    if (p)
        c->first = p->next;
    pthread_mutex_unlock(&c->lock);
    return p;
}

static bool is_stopping(wr_io_worker *c)
{
    pthread_mutex_lock(&c->lock);
    bool stopping = c->stopping;
    pthread_mutex_unlock(&c->lock);
    return stopping;
}

/* Fills in the transfers; false if there are too many. */
static bool lay_out(wr_async_window *p)
{
    wr_cursor c;
    wr_batch b;
    p->used = 0;
    wr_cursor_init(&c, p->cover);
    while (wr_cursor_next(&c, INT64_MAX, &b)) {
        if (p->used == WR_ASYNC_TRANSFERS)
            return false;
        p->transfers[p->used] = wr_handle_transfer(p->direction, &b, p->buffer);
        p->transfers[p->used++].user = p;
    }
    return true;
}

static bool is_complete(const wr_async_window *p)
{
    for (int i = 0; i < p->used; i++)
        if (p->transfers[i].done < wr_transfer_bytes(&p->transfers[i]))
            return false;
    return true;
}

bool wr_async_window_submit(wr_handle *handle, wr_async_window *p)
{
    p->code = 0;
    p->valid = INT64_MAX;
    if (!lay_out(p))
        return false;
    p->pending = p->used;
    for (int i = 0; i < p->used; i++)
        wr_storage_submit(handle->storage, &p->transfers[i]);
    return true;
}

/* All of it has come back; the storage must be at rest before what is missing is looked at. */
static void settle(wr_handle *handle, wr_async_window *p)
{
    if (is_complete(p))
        return;
    wr_handle_reap_all(handle);
    p->code = wr_handle_look(handle, p->used, p->transfers, &p->valid);
}

void wr_async_window_wait(wr_handle *handle, wr_async_window *p)
{
    const wr_transfer *t;
    while (p->pending && (t = wr_storage_reap(handle->storage, true)))
        wr_async_window_note(t);
    settle(handle, p);
}

static void tell(const load *l, wr_async_window *p)
{
    if (p->code)
        wr_error_take(&p->error);
    if (p->locked) /* here, because its owner may come back much later */
        wr_handle_unlock_window(l->handle, p->locked, p->scattered);
    wr_progress_tell(&l->handle->world->process->progress, &p->over, p->wakeup);
}

/* With the storage held, as are all below. */
static void begin(load *l, wr_async_window *p)
{
    if (wr_async_window_submit(l->handle, p)) {
        l->at[l->count++] = p;
    } else {
        p->code = wr_handle_move_held(l->handle, p->direction, p->cover, p->buffer, &p->valid);
        tell(l, p);
    }
}

/* What has come back as a whole. */
static void end_some(load *l)
{
    int left = 0;
    for (int i = 0; i < l->count; i++) {
        wr_async_window *p = l->at[i];
        if (!p->pending)
            settle(l->handle, p);
        if (p->pending)
            l->at[left++] = p;
        else
            tell(l, p);
    }
    l->count = left;
}

static void run(void *user)
{
    wr_handle *handle = user;
    wr_io_worker *c = &handle->io_worker;
    wr_waiter waiter = {.leaves = true};
    load l = {.handle = handle};
    while (!is_stopping(c)) {
        uint32_t called = wr_word_get(&c->call);
        wr_async_window *p;
        pthread_mutex_lock(&handle->moving);
        const wr_visit visit = wr_watch_begin(&handle->watch);
        while (l.count < DEPTH && (p = take(c)))
            begin(&l, p);
        bool busy = l.count;
        end_some(&l); /* others may have found them */
        if (l.count) {
            const wr_transfer *t = wr_storage_reap(handle->storage, true);
            if (t)
                wr_async_window_note(t);
            end_some(&l);
        }
        wr_watch_end(&handle->watch, visit);
        pthread_mutex_unlock(&handle->moving);
        if (busy)
            wr_task_yield();
        else
            wr_wait(&c->call, called, &waiter);
    }
}

static void call(wr_handle *handle)
{
    wr_progress_signal(&handle->world->process->progress, &handle->io_worker.call);
}

int wr_async_window_start(wr_handle *handle, wr_async_window *p)
{
    wr_io_worker *c = &handle->io_worker;
    if (!c->running) {
        c->job = (wr_job){.by = WR_BY_THREAD, .called = true, .run = run, .user = handle};
        int code = wr_job_start(&handle->world->process->progress, &c->job);
        if (code)
            return code;
        c->running = true;
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
    call(handle);
    return 0;
}

bool wr_async_window_is_over(wr_handle *handle, wr_async_window *p)
{
    return wr_progress_told(&handle->world->process->progress, &p->over);
}

void wr_io_worker_stop(wr_handle *handle)
{
    wr_io_worker *c = &handle->io_worker;
    if (!c->running)
        return;
    pthread_mutex_lock(&c->lock);
    c->stopping = true;
    pthread_mutex_unlock(&c->lock);
    call(handle);
    wr_world_wait_job(handle->world, &c->job);
    c->running = false;
}
