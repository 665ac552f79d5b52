/* Plain system calls, made by whoever submits: the reference for every other backend. */
#include "storage/backends.h"
#include "storage/posix_fd.h"

typedef struct state {
    wr_fd fd;
    wr_lane lane;
} state;

int wr_posix_open_at(wr_storage *s, const char *path, int flags)
{
    state *p = wr_alloc(sizeof *p);
    if (!p)
        return WEIR_ENOMEM;
    int code = wr_fd_open(s, &p->fd, path, flags);
    if (code) {
        wr_free(p);
        return code;
    }
    wr_lane_init(&p->lane, s, &p->fd);
    s->state = p;
    return 0;
}

static int open_path(wr_storage *s, int flags)
{
    return wr_posix_open_at(s, s->path, flags);
}

void wr_posix_close(wr_storage *s)
{
    state *p = s->state;
    wr_lane_release(&p->lane);
    s->close_error = wr_fd_close(&p->fd);
    wr_free(p);
}

static void attempt(state *p, wr_transfer *t)
{
    int64_t moved;
    t->error = wr_lane_run(&p->lane, t, t->done, wr_transfer_bytes(t), &moved);
    t->done += moved;
}

void wr_posix_submit(wr_storage *s, wr_transfer *t)
{
    state *p = s->state;
    for (wr_transfer *next; t; t = next) {
        next = t->next;
        if (wr_fd_is_plain(&p->fd, t))
            wr_fd_move(&p->fd, t);
        else
            attempt(p, t);
        wr_transfers_add(&s->over, t);
    }
}

wr_transfer *wr_posix_reap(wr_storage *s, bool wait)
{
    (void)wait;
    return wr_transfers_take(&s->over);
}

const wr_storage_ops wr_posix_ops = {
    .name = "posix",
    .help = "plain system calls, made by the thread that submits",
    .open = open_path,
    .close = wr_posix_close,
    .submit = wr_posix_submit,
    .reap = wr_posix_reap,
    .get_size = wr_fd_get_size,
    .set_size = wr_fd_set_size,
    .sync = wr_fd_sync,
    .lock = wr_fd_lock,
};
