/* The progress thread, and callers in its place. */
#include "runtime/progress.h"

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arith.h"
#include "base/memory.h"

enum {
    LOOK_US = 200,  /* between looks at something that has no word, at most, */
    THREAD_US = 20, /* and at least by the thread, which disturbs the program's computation */
    MOST_WORDS = 64 /* waited for at a time */
};

static void clear(wr_progress *p)
{
    for (int by = 0; by < 2; by++)
        p->moved[by] = (wr_jobs){.last = &p->moved[by].first};
    p->callers = 0;
}

void wr_progress_open(wr_progress *p, const wr_tunables *tunables)
{
    *p = (wr_progress){.nice = tunables->progress_nice, .policy = tunables->progress_policy.which};
    clear(p);
    pthread_mutex_init(&p->lock, NULL);
    pthread_mutex_init(&p->moving, NULL);
}

/* All below with the lock held. */

static void enter(wr_progress *p, wr_job *e, wr_task *task)
{
    wr_jobs *list = &p->moved[e->by];
    wr_task_set(task, e->run, e->user);
    e->task = task;
    e->next = NULL;
    e->place = list->last;
    *list->last = e;
    list->last = &e->next;
    if (e->by == WR_BY_CALLERS)
        p->callers++;
    else
        wr_word_signal(&p->call);
}

static void quit(wr_progress *p, wr_job *e)
{
    *e->place = e->next;
    if (e->next)
        e->next->place = e->place;
    else
        p->moved[e->by].last = e->place;
    if (e->by == WR_BY_CALLERS)
        p->callers--;
}

static bool is_full(const wr_queue *q)
{
    return q && q->busy == q->wide;
}

static void queue_up(wr_queue *q, wr_job *e)
{
    e->next = NULL;
    *(q->last ? q->last : &q->first) = e;
    q->last = &e->next;
}

/* The next of a queue, if any waits there, takes the place of one that is over. */
static wr_job *call_next(wr_queue *q)
{
    wr_job *e = q ? q->first : NULL;
    if (e)
        q->first = e->next;
    else if (q)
        q->busy--;
    if (q && !q->first)
        q->last = NULL;
    return e;
}

/* Out of its list, and over for its owner: the lock tells wr_progress_told when nobody looks at it
 * any more. Its task goes to the next, so that one that waits needs no memory. */
static void finish(wr_progress *p, wr_job *e)
{
    wr_task *task = e->task;
    wr_job *next = call_next(e->queue);
    quit(p, e);
    e->task = NULL;
    if (next)
        enter(p, next, task);
    else if (p->spares < WR_SPARES)
        p->spare[p->spares++] = task;
    else
        wr_task_free(task);
    wr_word_set(&e->over, 1);
}

/* --- */

void wr_progress_tell(wr_progress *p, wr_word *word, wr_word *wakeup)
{
    pthread_mutex_lock(&p->lock);
    wr_word_set(word, 1);
    if (wakeup)
        wr_word_signal(wakeup);
    pthread_mutex_unlock(&p->lock);
}

bool wr_progress_told(wr_progress *p, const wr_word *word)
{
    if (!wr_word_get(word))
        return false;
    /* whoever set it may not have let go of the lock: once we have had that, it looks no more */
    pthread_mutex_lock(&p->lock);
    pthread_mutex_unlock(&p->lock);
    return true;
}

bool wr_job_is_over(wr_progress *p, wr_job *e)
{
    return wr_progress_told(p, &e->over);
}

static bool is_ready(const wr_task *task)
{
    uint32_t seen;
    wr_word *word = wr_task_awaits(task, &seen);
    return !word || wr_task_patience(task) || wr_word_get(word) != seen;
}

/* Runs every job that can go on, once; whether one certainly did. A job that polls for something
 * without a word may have found it or not. */
static bool move_all(wr_progress *p, enum wr_mover by)
{
    bool busy = false;
    pthread_mutex_lock(&p->lock);
    wr_job *e = p->moved[by].first, *next;
    for (; e; e = next) {
        next = e->next; /* only its mover takes one off the list, and new ones come at its end */
        if (!is_ready(e->task))
            continue;
        uint32_t seen;
        busy = busy || (wr_task_awaits(e->task, &seen) && !wr_task_patience(e->task));
        pthread_mutex_unlock(&p->lock); /* a task changes movers with the lock held only */
        bool over = wr_task_move(e->task);
        pthread_mutex_lock(&p->lock);
        next = e->next;
        if (over)
            finish(p, e);
        busy = busy || over;
    }
    pthread_mutex_unlock(&p->lock);
    return busy;
}

/* The sooner of two times, of which 0 is never. */
static int64_t sooner(int64_t a, int64_t b)
{
    return a && b ? wr_min(a, b) : a + b;
}

/* What the jobs of a list wait for, behind `count` words; *look: for so long at most. Who has
 * just begun to look for something without a word, such as a message, looks again at once. */
static int collect(wr_progress *p, enum wr_mover by, int count, wr_awaited *awaited, int64_t *look)
{
    pthread_mutex_lock(&p->lock);
    for (const wr_job *e = p->moved[by].first; e; e = e->next) {
        uint32_t seen;
        wr_word *word = wr_task_awaits(e->task, &seen);
        if (e->called && !is_ready(e->task))
            continue; /* the thread's own word tells when it is */
        if (word && count < MOST_WORDS)
            awaited[count++] = (wr_awaited){word, seen};
        else
            *look = sooner(*look, word ? LOOK_US : wr_max(wr_backoff_time(seen), 1));
        *look = sooner(*look, wr_task_patience(e->task));
    }
    pthread_mutex_unlock(&p->lock);
    return count;
}

/* As the tunables say; where the system refuses, as before. */
static void schedule(const wr_progress *p)
{
    static const int policies[] = {[WR_POLICY_OTHER] = SCHED_OTHER,
                                   [WR_POLICY_BATCH] = SCHED_BATCH,
                                   [WR_POLICY_IDLE] = SCHED_IDLE,
                                   [WR_POLICY_FIFO] = SCHED_FIFO};
    int policy = policies[p->policy];
    struct sched_param parameter = {.sched_priority =
                                        policy == SCHED_FIFO ? sched_get_priority_min(policy) : 0};
    if (policy != SCHED_OTHER)
        pthread_setschedparam(pthread_self(), policy, &parameter);
    if (p->nice)
        setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), (int)p->nice);
}

static _Thread_local bool is_thread;

bool wr_progress_is_thread(void)
{
    return is_thread;
}

static void *serve(void *user)
{
    wr_progress *p = user;
    is_thread = true;
    schedule(p);
    wr_alloc_share(p->meter);
    for (;;) {
        wr_awaited awaited[MOST_WORDS] = {{&p->call, wr_word_get(&p->call)}};
        int64_t look = 0;
        pthread_mutex_lock(&p->lock);
        bool stop = p->stop;
        pthread_mutex_unlock(&p->lock);
        if (stop)
            return NULL;
        if (move_all(p, WR_BY_THREAD))
            continue;
        int count = collect(p, WR_BY_THREAD, 1, awaited, &look);
        wr_nap_any(count, awaited, look ? wr_max(look, THREAD_US) : 0);
    }
}

/* With the lock held. */
static bool start_thread(wr_progress *p)
{
    sigset_t all, before;
    if (p->running)
        return true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    p->running = !pthread_create(&p->thread, NULL, serve, p);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return p->running;
}

bool wr_progress_thread(wr_progress *p)
{
    pthread_mutex_lock(&p->lock);
    bool running = start_thread(p);
    pthread_mutex_unlock(&p->lock);
    return running;
}

/* With the lock held. */
static int take_task(wr_progress *p, wr_job *e, wr_task **out)
{
    if (p->spares) {
        *out = p->spare[--p->spares];
        return 0;
    }
    int code = wr_task_new(out);
    if (code && e->own) {
        *out = e->own;
        e->own = NULL;
        code = 0;
    }
    return code;
}

int wr_job_start(wr_progress *p, wr_job *e)
{
    wr_task *task;
    int code = 0;
    pthread_mutex_lock(&p->lock);
    if (is_full(e->queue))
        queue_up(e->queue, e);
    else if (!(code = take_task(p, e, &task))) {
        if (e->queue)
            e->queue->busy++;
        enter(p, e, task);
    }
    pthread_mutex_unlock(&p->lock);
    return code;
}

void wr_progress_move(wr_progress *p)
{
    if (!wr_progress_has_callers(p) || wr_task_current() || pthread_mutex_trylock(&p->moving))
        return;
    while (move_all(p, WR_BY_CALLERS))
        ;
    pthread_mutex_unlock(&p->moving);
}

/* One step of a caller that waits for a word. Only the caller that runs jobs looks at what they
 * wait for: other jobs may end and vanish meanwhile. */
static void move_and_nap(wr_progress *p, wr_word *word, uint32_t seen)
{
    wr_awaited awaited[MOST_WORDS] = {{word, seen}};
    bool moves = !pthread_mutex_trylock(&p->moving);
    int64_t look = 0;
    int count = 1;
    if (moves) {
        while (move_all(p, WR_BY_CALLERS))
            ;
        count = collect(p, WR_BY_CALLERS, 1, awaited, &look);
    }
    int tries = 0;
    if (look == 1)
        wr_backoff(&tries);
    else if (wr_word_get(word) == seen)
        wr_nap_any(count, awaited, sooner(look, LOOK_US));
    if (moves)
        pthread_mutex_unlock(&p->moving);
}

void wr_progress_wait(wr_progress *p, wr_transport *t, wr_word *word, uint32_t seen)
{
    wr_waiter waiter = wr_transport_waiter(t, true);
    while (!wr_task_current() && wr_word_get(word) == seen && wr_progress_has_callers(p)) {
        move_and_nap(p, word, seen);
        if (waiter.poke)
            waiter.poke(waiter.user);
    }
    wr_wait(word, seen, &waiter);
}

void wr_progress_stop(wr_progress *p)
{
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_mutex_unlock(&p->lock);
    if (p->running) {
        wr_word_signal(&p->call);
        pthread_join(p->thread, NULL);
        p->running = false;
    }
    clear(p);
}

void wr_progress_close(wr_progress *p)
{
    wr_progress_stop(p);
    while (p->spares)
        wr_task_free(p->spare[--p->spares]);
    pthread_mutex_destroy(&p->lock);
    pthread_mutex_destroy(&p->moving);
}
