/* Worker threads that make plain system calls, several for one large transfer.
 *
 * What is small and does not wait for the device is done at once by whoever submits: to hand it
 * over would cost more. Writes through the page cache are done one at a time, because the kernel
 * admits one to a file and lets the others spin. Whoever waits for a transfer works on parts too.
 * Threads start as transfers need them and end with the storage. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "base/wait.h"
#include "storage/backends.h"
#include "storage/posix_fd.h"

/* Whether small reads would wait for the device is asked once in ASK_EVERY, because asking costs as
 * much as a small read, and every time as long as they would. Of medium ones what the page cache
 * holds is copied at once, sooner than another thread is woken, above all where ranks outnumber
 * cores; the threads get the rest. */
enum { SMALL = 64 << 10, MEDIUM = 4 << 20, ASK_EVERY = 256 };

typedef struct worker {
    struct state *pool;
    pthread_t thread;
    wr_lane lane;
    wr_word call;        /* changes when there is work, or the end */
    struct worker *next; /* while idle */
} worker;

typedef struct state {
    wr_fd fd;
    wr_lane lane;          /* of the thread that uses the storage */
    bool asks;             /* whether the kernel can say that a read would wait */
    int64_t unasked;       /* small reads left until we ask again */
    wr_word finished;      /* changes with each attempt that is over */
    pthread_mutex_t mutex; /* of the next four */
    wr_attempts attempts;
    worker *idle;
    bool writing; /* a write through the page cache is under way */
    bool stop;
    int64_t threads;
    worker workers[];
} state;

static const wr_waiter sleeper;

static int open_pool(wr_storage *s, int flags)
{
    int64_t threads = s->tunables->io_threads;
    state *p = wr_alloc((int64_t)sizeof *p + threads * (int64_t)sizeof(worker));
    if (!p)
        return WEIR_ENOMEM;
    *p = (state){.asks = true, .mutex = PTHREAD_MUTEX_INITIALIZER};
    int code = wr_fd_open(s, &p->fd, s->path, flags);
    if (code) {
        wr_free(p);
        return code;
    }
    wr_lane_init(&p->lane, s, &p->fd);
    s->state = p;
    return 0;
}

static bool writes_cached(const state *p, const wr_transfer *t)
{
    return t->direction == WR_WRITE && p->fd.direct < 0;
}

/* Called with the mutex held. */
static bool claim(state *p, wr_part *part)
{
    wr_transfer *t = p->attempts.queue.first;
    bool alone = t && writes_cached(p, t);
    if (!t || (alone && p->writing))
        return false;
    p->writing |= alone;
    int64_t end = alone ? wr_transfer_bytes(t) : wr_part_end(t, t->claimed);
    *part = (wr_part){t, t->claimed, end - t->claimed};
    wr_attempts_claim(&p->attempts, part);
    return true;
}

static void call(worker *w)
{
    wr_word_signal(&w->call);
}

/* Called with the mutex held. False if nobody is idle. */
static bool call_idle(state *p)
{
    worker *w = p->idle;
    if (w) {
        p->idle = w->next;
        call(w);
    }
    return w;
}

/* Called with the mutex held, which is released meanwhile. */
static void work(state *p, wr_lane *lane, const wr_part *part)
{
    bool alone = writes_cached(p, part->transfer);
    pthread_mutex_unlock(&p->mutex);
    int64_t moved;
    int error = wr_lane_run(lane, part->transfer, part->at, part->at + part->bytes, &moved);
    pthread_mutex_lock(&p->mutex);
    if (alone) {
        p->writing = false;
        if (p->attempts.queue.first)
            call_idle(p);
    }
    if (wr_attempts_end(&p->attempts, part, moved, error)) {
        wr_word_signal(&p->finished);
    }
}

static void *serve(void *user)
{
    worker *w = user;
    state *p = w->pool;
    wr_part part;
    pthread_mutex_lock(&p->mutex);
    while (!p->stop) {
        if (claim(p, &part)) {
            work(p, &w->lane, &part);
            continue;
        }
        uint32_t seen = wr_word_get(&w->call); /* before it is in the list: no call is missed */
        w->next = p->idle;
        p->idle = w;
        pthread_mutex_unlock(&p->mutex);
        wr_wait(&w->call, seen, &sleeper);
        pthread_mutex_lock(&p->mutex);
    }
    pthread_mutex_unlock(&p->mutex);
    return NULL;
}

static bool start_one(wr_storage *s, state *p)
{
    sigset_t all, before;
    worker *w = &p->workers[p->threads];
    *w = (worker){.pool = p};
    wr_lane_init(&w->lane, s, &p->fd);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&w->thread, NULL, serve, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    p->threads += !error;
    return !error;
}

/* Threads for `parts` more parts. With fewer than asked for, or none, the thread that reaps does
 * more of the work. */
static void start(wr_storage *s, state *p, int64_t parts)
{
    while (parts-- > 0 && p->threads < s->tunables->io_threads)
        if (!start_one(s, p)) {
            wr_log_line(s->log, WR_LOG_INFO, "%s: only %lld threads for storage", s->path,
                        (long long)p->threads);
            return;
        }
}

/* How much was read without waiting for the device: less than `bytes` if that is all, or the file
 * ends; -1: nothing can be. */
static int64_t read_cached(state *p, void *memory, int64_t bytes, int64_t offset)
{
    struct iovec one = {memory, (size_t)bytes};
    if (!p->asks)
        return -1;
    int64_t moved = preadv2(p->fd.buffered, &one, 1, offset, RWF_NOWAIT);
    p->asks = moved >= 0 || errno == EAGAIN || errno == EINTR;
    return moved;
}

/* Whether a small read finds its first byte in the page cache. */
static bool is_cached(state *p, const wr_transfer *t)
{
    char byte;
    if (p->unasked-- > 0)
        return true;
    bool cached = read_cached(p, &byte, 1, t->offset) >= 0;
    p->unasked = cached ? ASK_EVERY : 0;
    return cached;
}

/* One attempt, as far as it need not wait; whether that is all of it. */
static bool move_at_once(state *p, wr_transfer *t)
{
    if (!wr_fd_is_plain(&p->fd, t) || t->run > MEDIUM)
        return false;
    if (t->direction == WR_WRITE || (t->run <= SMALL && is_cached(p, t))) {
        wr_fd_move(&p->fd, t);
        return true;
    }
    t->error = 0;
    if (t->run > SMALL)
        t->done +=
            wr_max(0, read_cached(p, t->memory + t->done, t->run - t->done, t->offset + t->done));
    return t->done == t->run;
}

static void submit(wr_storage *s, wr_transfer *t)
{
    state *p = s->state;
    wr_transfers rest = {0};
    int64_t parts = 0;
    for (wr_transfer *next; t; t = next) {
        next = t->next;
        if (move_at_once(p, t)) {
            wr_transfers_add(&s->over, t);
        } else {
            parts += (wr_transfer_bytes(t) - t->done) / WR_PART + 1;
            wr_transfers_add(&rest, t);
        }
    }
    if (!parts)
        return;
    pthread_mutex_lock(&p->mutex);
    while ((t = wr_transfers_take(&rest)))
        wr_attempts_add(&p->attempts, t);
    while (parts > 0 && call_idle(p))
        parts--;
    pthread_mutex_unlock(&p->mutex);
    start(s, p, parts);
}

static wr_transfer *reap(wr_storage *s, bool wait)
{
    state *p = s->state;
    wr_transfer *t = wr_transfers_take(&s->over);
    wr_part part;
    if (t)
        return t;
    pthread_mutex_lock(&p->mutex);
    while (!(t = wr_attempts_take(&p->attempts)) && p->attempts.active) {
        if ((wait || !p->threads) && claim(p, &part)) {
            work(p, &p->lane, &part);
            continue;
        }
        if (!wait)
            break;
        uint32_t seen = wr_word_get(&p->finished); /* with the mutex: work() rings with it, too */
        pthread_mutex_unlock(&p->mutex);
        wr_wait(&p->finished, seen, &sleeper);
        pthread_mutex_lock(&p->mutex);
    }
    pthread_mutex_unlock(&p->mutex);
    return t;
}

static void close_pool(wr_storage *s)
{
    state *p = s->state;
    pthread_mutex_lock(&p->mutex);
    p->stop = true;
    pthread_mutex_unlock(&p->mutex);
    for (int64_t i = 0; i < p->threads; i++)
        call(&p->workers[i]);
    for (int64_t i = 0; i < p->threads; i++) {
        pthread_join(p->workers[i].thread, NULL);
        wr_lane_release(&p->workers[i].lane);
    }
    pthread_mutex_destroy(&p->mutex);
    wr_lane_release(&p->lane);
    s->close_error = wr_fd_close(&p->fd);
    wr_free(p);
}

const wr_storage_ops wr_pool_ops = {
    .name = "pool",
    .help = "plain system calls, made by several threads at a time",
    .open = open_pool,
    .close = close_pool,
    .submit = submit,
    .reap = reap,
    .get_size = wr_fd_get_size,
    .set_size = wr_fd_set_size,
    .sync = wr_fd_sync,
    .lock = wr_fd_lock,
};
