/* Small pieces are copied straight from the pages of the file. */
#include "access/readahead.h"
#include "access/way.h"
#include "base/task.h"
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
    return wr_map_hold(user, lo, hi);
}

/* Some of them. */
static void copy_pages(void *user)
{
    mapped *d = user;
    wr_handle *handle = d->handle;
    wr_batch b;
    for (int64_t bytes = WR_BACKGROUND_BITE; bytes > 0 && wr_cursor_peek(&d->file, &b);) {
        wr_batch_cut(&b, false);
        d->missing = !wr_batch_stretches(&b, hold, &handle->map);
        if (d->missing)
            return;
        wr_readahead_move(&d->readahead, wr_batch_span(&b));
        wr_copy_cursors(&d->file, handle->map.base, &d->memory, d->a->base, b.run * b.count);
        bytes -= wr_batch_span(&b);
    }
}

/* False if something could not be had: reading it in another way tells why. */
static bool read_mapped(mapped *d, int64_t hi)
{
    wr_handle *handle = d->handle;
    wr_batch b;
    bool good = true;
    while (good && wr_cursor_peek(&d->file, &b)) {
        pthread_mutex_lock(&handle->moving);
        good = wr_map_reach(&handle->map, handle->storage, hi) &&
               wr_map_read(&handle->map, handle->storage, hi, copy_pages, d) && !d->missing;
        wr_map_relax(&handle->map, handle->tunables.map);
        pthread_mutex_unlock(&handle->moving);
        if (wr_task_current())
            wr_task_yield();
    }
    return good;
}

/* Who reads past the end of a file finds its memory unchanged from there on, so that has to be
 * known before; an array is all there. */
bool wr_way_mapped(wr_lone *x)
{
    const wr_access_request *a = x->a;
    if (!a->whole && !wr_map_is_within(x->handle->storage, x->plan->hi))
        return false;
    mapped d = {.handle = x->handle, .a = a};
    wr_cursor_init(&d.file, a->file);
    wr_cursor_limit(&d.file, a->begin, a->end);
    wr_cursor_init(&d.memory, a->memory);
    if (x->plan->advised)
        wr_readahead_init(&d.readahead, x->handle, a);
    if (read_mapped(&d, x->plan->hi))
        return true;
    if (wr_map_is_within(x->handle->storage, x->plan->hi))
        x->handle->unmapped = true;
    return false;
}
