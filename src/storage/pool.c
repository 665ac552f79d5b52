/* Worker threads that make plain system calls, several for one large transfer.
 *
 * Whoever waits for a transfer works on parts too: a small one is then done without a change of
 * thread. Threads start with the first transfer and end with the storage. */
#include <pthread.h>
#include <signal.h>

#include "base/wait.h"
#include "storage/backends.h"
#include "storage/posix_fd.h"

typedef struct worker {
    struct state *pool;
    pthread_t thread;
    wr_lane lane;
    wr_word call;        /* changes when there is work, or the end */
    struct worker *next; /* while idle */
} worker;

typedef struct state {
    wr_fd fd;
    wr_lane lane; /* of the thread that uses the storage */
    bool started;
    pthread_mutex_t mutex; /* of what follows, up to workers */
    wr_attempts attempts;
    worker *idle;
    bool stop;
    wr_word finished; /* changes with each attempt that is over */
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
    *p = (state){.mutex = PTHREAD_MUTEX_INITIALIZER};
    int code = wr_fd_open(s, &p->fd, s->path, flags);
    if (code) {
        wr_free(p);
        return code;
    }
    wr_lane_init(&p->lane, s, &p->fd);
    s->state = p;
    return 0;
}

/* Called with the mutex held. */
static bool claim(state *p, wr_part *part)
{
    wr_transfer *t = p->attempts.queue.first;
    if (!t)
        return false;
    *part = (wr_part){t, t->claimed, wr_part_end(t, t->claimed) - t->claimed};
    wr_attempts_claim(&p->attempts, part);
    return true;
}

/* Called with the mutex held, which is released meanwhile. */
static void work(state *p, wr_lane *lane, const wr_part *part)
{
    pthread_mutex_unlock(&p->mutex);
    int64_t moved;
    int error = wr_lane_run(lane, part->transfer, part->at, part->at + part->bytes, &moved);
    pthread_mutex_lock(&p->mutex);
    if (wr_attempts_end(&p->attempts, part, moved, error)) {
        wr_word_add(&p->finished, 1);
        wr_word_wake(&p->finished);
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
        uint32_t seen = wr_word_get(&w->call);
        w->next = p->idle;
        p->idle = w;
        pthread_mutex_unlock(&p->mutex);
        wr_wait(&w->call, seen, &sleeper);
        pthread_mutex_lock(&p->mutex);
    }
    pthread_mutex_unlock(&p->mutex);
    return NULL;
}

/* With fewer threads than asked for, or none, the one that reaps does more of the work. */
static void start(wr_storage *s, state *p)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (; p->threads < s->tunables->io_threads; p->threads++) {
        worker *w = &p->workers[p->threads];
        *w = (worker){.pool = p};
        wr_lane_init(&w->lane, s, &p->fd);
        if (pthread_create(&w->thread, NULL, serve, w)) {
            wr_log_line(s->log, WR_LOG_WARN, "%s: only %lld threads for storage", s->path,
                        (long long)p->threads);
            break;
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    p->started = true;
}

static void call(worker *w)
{
    wr_word_add(&w->call, 1);
    wr_word_wake(&w->call);
}

static void submit(wr_storage *s, wr_transfer *t)
{
    state *p = s->state;
    if (!p->started)
        start(s, p);
    int64_t parts = 0;
    pthread_mutex_lock(&p->mutex);
    for (wr_transfer *next; t; t = next) {
        next = t->next;
        parts += (wr_transfer_bytes(t) - t->done) / WR_PART + 1;
        wr_attempts_add(&p->attempts, t);
    }
    for (; parts > 0 && p->idle; parts--) {
        worker *w = p->idle;
        p->idle = w->next;
        call(w);
    }
    pthread_mutex_unlock(&p->mutex);
}

static wr_transfer *reap(wr_storage *s, bool wait)
{
    state *p = s->state;
    wr_transfer *t;
    wr_part part;
    pthread_mutex_lock(&p->mutex);
    while (!(t = wr_attempts_take(&p->attempts)) && p->attempts.active) {
        if ((wait || !p->threads) && claim(p, &part)) {
            work(p, &p->lane, &part);
            continue;
        }
        if (!wait)
            break;
        uint32_t seen = wr_word_get(&p->finished);
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
    wr_fd_close(&p->fd);
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
