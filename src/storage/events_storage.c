/* Storage that reports each finished attempt to the events: where it begins, in which file. */
#include "storage/backends.h"

static int open_events(wr_storage *s, int flags)
{
    (void)s;
    (void)flags;
    return 0;
}

static void close_events(wr_storage *s)
{
    (void)s;
}

static void submit(wr_storage *s, wr_transfer *t)
{
    s->inner->ops->submit(s->inner, t);
}

static wr_transfer *reap(wr_storage *s, bool wait)
{
    wr_transfer *t = s->inner->ops->reap(s->inner, wait);
    if (t) {
        int64_t offset = t->offset;
        const char *file = wr_storage_locate(s, &offset);
        WR_EVENT(s->events, t->direction == WR_READ ? "read" : "write", file, {"offset", offset},
                 {"bytes", wr_transfer_bytes(t)}, {"runs", t->count}, {"done", t->done},
                 {"error", t->error});
    }
    return t;
}

const wr_storage_ops wr_events_ops = {
    .name = "events",
    .help = "reports each finished attempt to the events",
    .open = open_events,
    .close = close_events,
    .submit = submit,
    .reap = reap,
    .get_size = wr_inner_get_size,
    .set_size = wr_inner_set_size,
    .sync = wr_inner_sync,
    .lock = wr_inner_lock,
};
