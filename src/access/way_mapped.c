/* Small pieces are copied straight from and to the pages of the file. */
#include "access/readahead.h"
#include "access/way.h"
#include "base/task.h"
#include "base/timer.h"
#include "pattern/pack.h"

typedef struct mapped {
    wr_handle *handle;
    const wr_access_request *a;
    wr_cursor file, memory;
    wr_readahead readahead;
    bool missing; /* a page cannot be had */
} mapped;

static bool hold(void *user, int64_t lo, int64_t hi)
{
    wr_map *m = user;
    const bool one = lo >> m->shift == (hi - 1) >> m->shift; /* page: an element, mostly */
    return (one && wr_map_holds(m, lo)) || wr_map_hold(m, lo, hi);
}

/* Some of them. */
static void copy_pages(void *user)
{
    mapped *d = user;
    wr_handle *handle = d->handle;
    wr_batch b;
    for (int64_t bytes = WR_BACKGROUND_BITE; bytes > 0 && wr_cursor_peek(&d->file, &b);) {
        wr_batch_cut(&b, false);
        if (d->a->direction == WR_WRITE) {
            wr_copy_cursors(&d->memory, d->a->base, &d->file, handle->map.base, b.run * b.count);
        } else {
            d->missing = !wr_batch_stretches(&b, hold, &handle->map);
            if (d->missing)
                return;
            wr_readahead_move(&d->readahead, wr_batch_span(&b));
            wr_copy_cursors(&d->file, handle->map.base, &d->memory, d->a->base, b.run * b.count);
        }
        bytes -= wr_batch_span(&b);
    }
}

/* False if something could not be had: moving it in another way tells why. */
static bool move_mapped(mapped *d, int64_t hi)
{
    wr_handle *handle = d->handle;
    wr_batch b;
    const bool write = d->a->direction == WR_WRITE;
    bool good = true;
    while (good && wr_cursor_peek(&d->file, &b)) {
        const int64_t before = wr_cursor_data(&d->file), from = b.offset;
        pthread_mutex_lock(&handle->moving);
        const wr_visit visit = wr_watch_begin(&handle->watch);
        good = wr_map_reach(&handle->map, handle->storage, hi) &&
               (!write || handle->map.writable) &&
               wr_map_read(&handle->map, handle->storage, hi, copy_pages, d) && !d->missing;
        wr_map_relax(&handle->map, handle->tunables.map);
        if (good)
            wr_watch_moved(&handle->watch, d->a->direction,
                           (wr_span){from, wr_cursor_peek(&d->file, &b) ? b.offset : hi},
                           wr_cursor_data(&d->file) - before, 0);
        wr_watch_end(&handle->watch, visit);
        pthread_mutex_unlock(&handle->moving);
        if (wr_task_current())
            wr_task_yield();
    }
    return good;
}

static bool was_written(void *user, int64_t lo, int64_t hi)
{
    return wr_map_was_written(user, lo, hi);
}

static bool mark(void *user, int64_t lo, int64_t hi)
{
    wr_map_mark_written(user, lo, hi);
    return true;
}

/* To store to a page that is clean takes as long as a call, and to one that is not there yet much
 * longer: it pays where several pieces share a page, or for pages that were written to before,
 * which the beginning tells of all. What is not stored now is next time. */
static bool storing_pays(wr_lone *x)
{
    wr_handle *handle = x->handle;
    wr_cursor c;
    wr_batch b;
    wr_cursor_init(&c, x->a->file);
    wr_cursor_limit(&c, x->a->begin, x->a->end);
    pthread_mutex_lock(&handle->moving);
    bool pays = wr_map_reach(&handle->map, handle->storage, x->plan->hi);
    if (pays && wr_cursor_peek(&c, &b) && (b.count == 1 || b.stride > wr_page_bytes() / 2)) {
        wr_batch_cut(&b, false);
        pays = wr_batch_stretches(&b, was_written, &handle->map);
        while (!pays && wr_cursor_peek(&c, &b)) {
            wr_batch_cut(&b, false);
            wr_batch_stretches(&b, mark, &handle->map);
            wr_cursor_skip(&c, b.run * b.count);
        }
    }
    pthread_mutex_unlock(&handle->moving);
    return pays;
}

/* Who reads past the end of a file finds its memory unchanged from there on, so that has to be
 * known before; an array is all there. */
bool wr_way_mapped(wr_lone *x)
{
    const wr_access_request *a = x->a;
    const bool write = a->direction == WR_WRITE;
    if ((write || !a->whole) && !wr_map_is_within(x->handle->storage, x->plan->hi))
        return false;
    if (write && !storing_pays(x))
        return false;
    mapped d = {.handle = x->handle, .a = a};
    wr_cursor_init(&d.file, a->file);
    wr_cursor_limit(&d.file, a->begin, a->end);
    wr_cursor_init(&d.memory, a->memory);
    if (x->plan->advised)
        wr_readahead_init(&d.readahead, x->handle, a);
    if (write && !wr_lone_enter(x))
        return true;
    const bool good = move_mapped(&d, x->plan->hi);
    if (write && good)
        wr_map_stamp(x->handle->storage);
    if (write)
        wr_lone_leave(x);
    if (good)
        return true;
    if (!write && wr_map_is_within(x->handle->storage, x->plan->hi))
        x->handle->unmapped = true;
    return false;
}
