/* The kernel's rings: many requests handed over in one system call, or none.
 *
 * What completes interrupts what the thread that asked for it waits for by then, and so does the
 * end of a ring: as a signal does, but none that could be blocked. On FUSE that reaches the file
 * system's own program, where it may end in waiting for ever (wr_system_lock). So there are rings
 * only on file systems that are trusted.
 *
 * Each slot holds one piece under way; there are as many as io_depth says, so that completions can
 * never overflow. What does not fit waits in the queue and follows as slots come free. */
#include "storage/backends.h"

#ifdef WR_HAVE_URING

#include <liburing.h>
#include <string.h>

#include "base/wait.h"
#include "storage/posix_fd.h"

/* The kernel splits large requests itself, and better: it knows the device. */
enum { RETRY_US = 200, LARGEST = 16 << 20 };

typedef struct slot {
    wr_lane lane;
    wr_part part;
    wr_piece piece;
    struct slot *next; /* while free */
} slot;

typedef struct state {
    wr_fd fd;
    struct io_uring ring;
    wr_attempts attempts;
    slot *free;
    slot slots[];
} state;

/* The operations we use, and a round trip: some systems allow the ring but not to enter it. */
static int probe(struct io_uring *ring)
{
    struct io_uring_probe *known = io_uring_get_probe_ring(ring);
    bool enough = known && io_uring_opcode_supported(known, IORING_OP_READ) &&
                  io_uring_opcode_supported(known, IORING_OP_WRITE);
    io_uring_free_probe(known);
    struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
    if (!enough || !sqe)
        return ENOSYS;
    io_uring_prep_nop(sqe);
    int entered = io_uring_submit_and_wait(ring, 1);
    if (entered < 0)
        return -entered;
    struct io_uring_cqe *cqe;
    if (io_uring_peek_cqe(ring, &cqe))
        return EIO;
    io_uring_cqe_seen(ring, cqe);
    return 0;
}

static int open_ring(const wr_storage *s, state *p)
{
    struct io_uring_params params = {0};
    if (!wr_fd_is_trusted(s))
        return wr_fail(WEIR_EUNSUPPORTED, "no ring where hosts cache");
    int error = -io_uring_queue_init_params((unsigned)s->tunables->io_depth, &p->ring, &params);
    if (!error && (error = probe(&p->ring)))
        io_uring_queue_exit(&p->ring);
    if (error)
        return wr_fail(WEIR_EUNSUPPORTED, "cannot set up a ring: %s", strerror(error));
    io_uring_ring_dontfork(&p->ring);
    return 0;
}

/* The ring before the file: a file that was created must not be created again by a backend that
 * takes over. */
static int open_uring(wr_storage *s, int flags)
{
    int64_t depth = s->tunables->io_depth;
    state *p = wr_alloc((int64_t)sizeof *p + depth * (int64_t)sizeof(slot));
    if (!p)
        return WEIR_ENOMEM;
    *p = (state){0};
    int code = open_ring(s, p);
    if (code)
        goto out_memory;
    code = wr_fd_open(s, &p->fd, s->path, flags);
    if (code)
        goto out_ring;
    for (int64_t i = 0; i < depth; i++) {
        p->slots[i] = (slot){.next = p->free};
        wr_lane_init(&p->slots[i].lane, s, &p->fd);
        p->free = &p->slots[i];
    }
    s->state = p;
    return 0;
out_ring:
    io_uring_queue_exit(&p->ring);
out_memory:
    wr_free(p);
    return code;
}

static void close_uring(wr_storage *s)
{
    state *p = s->state;
    io_uring_queue_exit(&p->ring);
    for (int64_t i = 0; i < s->tunables->io_depth; i++)
        wr_lane_release(&p->slots[i].lane);
    s->close_error = wr_fd_close(&p->fd);
    wr_free(p);
}

static void prepare(struct io_uring_sqe *sqe, slot *x)
{
    const wr_piece *piece = &x->piece;
    uint64_t offset = (uint64_t)piece->offset;
    unsigned bytes = (unsigned)piece->bytes, entries = (unsigned)piece->entries;
    bool reads = x->part.transfer->direction == WR_READ;
    if (piece->fd < 0)
        io_uring_prep_nop(sqe);
    else if (entries && reads)
        io_uring_prep_readv(sqe, piece->fd, x->lane.iov, entries, offset);
    else if (entries)
        io_uring_prep_writev(sqe, piece->fd, x->lane.iov, entries, offset);
    else if (reads)
        io_uring_prep_read(sqe, piece->fd, piece->memory, bytes, offset);
    else
        io_uring_prep_write(sqe, piece->fd, piece->memory, bytes, offset);
    io_uring_sqe_set_data(sqe, x);
}

/* Puts pieces into the ring while there are slots. */
static void fill(state *p)
{
    struct io_uring_sqe *sqe;
    while (p->attempts.queue.first && p->free && (sqe = io_uring_get_sqe(&p->ring))) {
        wr_transfer *t = p->attempts.queue.first;
        slot *x = p->free;
        p->free = x->next;
        int64_t end = wr_min(wr_transfer_bytes(t), t->claimed + LARGEST);
        wr_lane_cut(&x->lane, t, t->claimed, end, &x->piece);
        x->part = (wr_part){t, t->claimed, x->piece.bytes};
        wr_attempts_claim(&p->attempts, &x->part);
        prepare(sqe, x);
    }
}

/* What the kernel does not take now stays in the ring for the next time. */
static void enter(state *p, bool wait)
{
    int entered = wait ? io_uring_submit_and_wait(&p->ring, 1) : io_uring_submit(&p->ring);
    if (entered < 0 && entered != -EINTR && wait)
        wr_pause(RETRY_US);
}

static void submit(wr_storage *s, wr_transfer *t)
{
    state *p = s->state;
    for (wr_transfer *next; t; t = next) {
        next = t->next;
        wr_attempts_add(&p->attempts, t);
    }
    fill(p);
    enter(p, false);
}

/* What moved nothing is tried by a plain call before it is believed: requests of a thread that has
 * ended meanwhile are cancelled, and there are file systems that fail what is asked of them
 * asynchronously, or that move nothing. */
static void finish(state *p, slot *x, int64_t result)
{
    const wr_part *part = &x->part;
    if (result <= 0)
        result = wr_lane_move(&x->lane, part->transfer->direction, &x->piece);
    int error = wr_lane_finish(&x->lane, part->transfer, part->at, &x->piece, result);
    wr_attempts_end(&p->attempts, part, result > 0 ? result : 0, error);
    x->next = p->free;
    p->free = x;
}

static void collect(state *p)
{
    struct io_uring_cqe *cqe;
    unsigned head, count = 0;
    io_uring_for_each_cqe(&p->ring, head, cqe)
    {
        finish(p, io_uring_cqe_get_data(cqe), cqe->res);
        count++;
    }
    io_uring_cq_advance(&p->ring, count);
}

static wr_transfer *reap(wr_storage *s, bool wait)
{
    state *p = s->state;
    wr_transfer *t = wr_attempts_take(&p->attempts);
    while (!t && p->attempts.active) {
        collect(p);
        fill(p);
        t = wr_attempts_take(&p->attempts);
        if (io_uring_sq_ready(&p->ring) || (!t && wait))
            enter(p, !t && wait);
        if (!wait)
            break;
    }
    return t;
}

const wr_storage_ops wr_uring_ops = {
    .name = "uring",
    .help = "the kernel's rings: many requests at a time without a thread",
    .open = open_uring,
    .close = close_uring,
    .submit = submit,
    .reap = reap,
    .get_size = wr_fd_get_size,
    .set_size = wr_fd_set_size,
    .sync = wr_fd_sync,
    .lock = wr_fd_lock,
};

#else

static int open_uring(wr_storage *s, int flags)
{
    (void)s;
    (void)flags;
    return wr_fail(WEIR_EUNSUPPORTED, "built without liburing");
}

const wr_storage_ops wr_uring_ops = {
    .name = "uring", .help = "not in this build: liburing was missing", .open = open_uring};

#endif
