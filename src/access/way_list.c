/* Straight between file and user memory, without a copy: file and memory are walked together. */
#include "access/way.h"
#include "base/arith.h"
#include "base/task.h"
#include "base/timer.h"

enum { BATCHES = 64 };

/* The transfers of a request. */
typedef struct list_walk {
    wr_handle *handle;
    const wr_access_request *a;
    wr_cursor file, memory;
    wr_transfer transfers[BATCHES];
    int used;
    int64_t piece, bite; /* the plan's */
    int64_t runs;        /* of all of it */
    wr_outcome *outcome;
} list_walk;

static void settle(list_walk *d)
{
    wr_handle_reap_all(d->handle);
    for (int i = 0; i < d->used; i++) {
        wr_transfer *t = &d->transfers[i];
        if (t->done == wr_transfer_bytes(t))
            continue;
        int code = wr_handle_judge(d->handle, t);
        d->outcome->code = d->outcome->code ? d->outcome->code : code;
        if (t->done < wr_transfer_bytes(t))
            d->outcome->stop = wr_min(d->outcome->stop, wr_transfer_missing(t));
    }
    d->used = 0;
}

/* As many runs as file and memory have in common shape; false at the end. */
static bool next_transfer(list_walk *d, wr_transfer *out)
{
    wr_batch f, m;
    if (!wr_cursor_peek(&d->file, &f) || !wr_cursor_peek(&d->memory, &m))
        return false;
    int64_t run = wr_min(f.run, m.run), count = 1;
    if (f.run == m.run)
        count = wr_min(f.count, m.count);
    else if (m.count == 1 && m.run > f.run) { /* one long run of memory */
        count = wr_min(f.count, m.run / f.run);
        m.stride = f.run;
    } else if (f.count == 1 && f.run > m.run) {
        count = wr_min(m.count, f.run / m.run);
        f.stride = m.run;
    }
    if (run > d->piece) {
        run = d->piece;
        count = 1;
    }
    count = wr_max(1, wr_min(count, d->bite / run));
    *out = (wr_transfer){.direction = d->a->direction,
                         .offset = f.offset,
                         .run = run,
                         .count = count,
                         .stride = f.stride,
                         .memory = wr_at(d->a->base, m.offset),
                         .memory_stride = m.stride};
    wr_cursor_skip(&d->file, run * count);
    wr_cursor_skip(&d->memory, run * count);
    return true;
}

/* As much as is submitted together; false at the end. */
static bool move_some(list_walk *d)
{
    int64_t bytes = 0, runs = 0;
    bool more = true;
    pthread_mutex_lock(&d->handle->moving);
    const wr_visit visit = wr_watch_begin(&d->handle->watch);
    const int64_t start = wr_sample_start(d->runs, d->a->end - d->a->begin);
    while (d->used < BATCHES && bytes < d->bite) {
        more = next_transfer(d, &d->transfers[d->used]);
        if (!more)
            break;
        bytes += wr_transfer_bytes(&d->transfers[d->used]);
        runs += d->transfers[d->used].count;
        wr_storage_submit(d->handle->storage, &d->transfers[d->used++]);
    }
    settle(d);
    if (!d->outcome->code && d->outcome->stop == INT64_MAX)
        wr_sample_end(&d->handle->samples, d->a->direction, start, runs, bytes);
    wr_watch_end(&d->handle->watch, visit);
    pthread_mutex_unlock(&d->handle->moving);
    return more;
}

/* The transfers are left as they are: to set them would take a small access longer than itself. */
static void walk_init(list_walk *d, wr_lone *x)
{
    const wr_access_request *a = x->a;
    d->handle = x->handle;
    d->a = a;
    d->used = 0;
    d->piece = x->plan->piece;
    d->bite = x->plan->bite;
    d->runs = x->in->wanted.runs;
    d->outcome = &x->outcome;
    wr_cursor_init(&d->file, a->file);
    wr_cursor_limit(&d->file, a->begin, a->end);
    wr_cursor_init(&d->memory, a->memory);
}

static void move(wr_lone *x)
{
    list_walk d;
    walk_init(&d, x);
    while (!d.outcome->code && move_some(&d))
        if (wr_task_current() && !x->plan->unbroken)
            wr_task_yield();
}

/* As the plan says, so that it does not fall between another's reading and writing. */
bool wr_lone_enter(wr_lone *x)
{
    x->did.leased = x->hold == WR_HOLD_LEASE && wr_lease_reaper_admit(x->handle);
    if (x->hold == WR_HOLD_NOTHING || x->did.leased)
        return true;
    int code = wr_handle_lock(x->handle, WR_LOCK_SHARED, x->plan->lo, x->plan->hi);
    if (code)
        x->outcome = (wr_outcome){.code = code, .stop = x->plan->lo};
    else
        wr_did_lock(&x->did, WR_LOCK_SHARED);
    return !code;
}

void wr_lone_leave(wr_lone *x)
{
    if (x->did.leased)
        wr_lease_give(x->handle->storage);
    else if (x->hold != WR_HOLD_NOTHING)
        wr_handle_unlock(x->handle, x->plan->lo, x->plan->hi);
}

bool wr_way_list(wr_lone *x)
{
    if (!wr_lone_enter(x))
        return true;
    move(x);
    wr_lone_leave(x);
    return true;
}
