/* The progress thread, and callers in its place. */
#include "engine/progress.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arith.h"
#include "base/memory.h"

enum {
    LOOK_US = 200,  /* between looks at something that has no word */
    MOST_WORDS = 64 /* waited for at a time */
};

int wr_progress_open(wr_progress *p, wr_transport *transport, const wr_tunables *tunables)
{
    *p = (wr_progress){.transport = transport, .tunables = tunables};
    pthread_mutex_init(&p->lock, NULL);
    pthread_mutex_init(&p->turn, NULL);
    int code = wr_task_new(&p->spare[0]);
    p->spares = !code;
    return code;
}

/* With the lock held: out of its list, and over for its owner. The lock tells wr_progress_told when
 * nobody looks at it any more. */
static void finish(wr_progress *p, enum wr_mover by, wr_errand *e)
{
    wr_errand **at = &p->first[by];
    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    if (by == WR_BY_CALLERS)
        p->callers--;
    if (p->spares < WR_SPARES)
        p->spare[p->spares++] = e->task;
    else
        wr_task_free(e->task);
    e->task = NULL;
    wr_word_set(&e->over, 1);
}

void wr_progress_tell(wr_progress *p, wr_word *word, wr_word *bell)
{
    pthread_mutex_lock(&p->lock);
    wr_word_set(word, 1);
    if (bell)
        wr_word_ring(bell);
    pthread_mutex_unlock(&p->lock);
}

bool wr_progress_told(wr_progress *p, const wr_word *word)
{
    if (!wr_word_get(word))
        return false;
    pthread_mutex_lock(&p->lock);
    pthread_mutex_unlock(&p->lock);
    return true;
}

bool wr_errand_is_over(wr_progress *p, wr_errand *e)
{
    return wr_progress_told(p, &e->over);
}

static bool is_ready(const wr_task *task)
{
    uint32_t seen;
    wr_word *word = wr_task_awaits(task, &seen);
    return !word || wr_task_patience(task) || wr_word_get(word) != seen;
}

/* One turn of everything that can go on; whether anything did for sure. An errand that looks for
 * something without a word may have found it or not. */
static bool move_all(wr_progress *p, enum wr_mover by)
{
    bool busy = false;
    pthread_mutex_lock(&p->lock);
    wr_errand *e = p->first[by], *next;
    for (; e; e = next) {
        next = e->next; /* only its mover takes one off the list, and new ones come at its end */
        if (!is_ready(e->task))
            continue;
        uint32_t seen;
        busy = busy || (wr_task_awaits(e->task, &seen) && !wr_task_patience(e->task));
        pthread_mutex_unlock(&p->lock);
        bool over = wr_task_move(e->task);
        pthread_mutex_lock(&p->lock);
        next = e->next;
        if (over)
            finish(p, by, e);
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

/* What the errands of a list wait for, behind `count` words; *look: for so long at most. */
static int collect(wr_progress *p, enum wr_mover by, int count, wr_awaited *awaited, int64_t *look)
{
    pthread_mutex_lock(&p->lock);
    for (const wr_errand *e = p->first[by]; e; e = e->next) {
        uint32_t seen;
        wr_word *word = wr_task_awaits(e->task, &seen);
        if (word && count < MOST_WORDS)
            awaited[count++] = (wr_awaited){word, seen};
        else
            *look = sooner(*look, LOOK_US);
        *look = sooner(*look, wr_task_patience(e->task));
    }
    pthread_mutex_unlock(&p->lock);
    return count;
}

/* As the tunables say; where the system refuses, as before. */
static void schedule(const wr_progress *p)
{
    static const int policies[] = {SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_FIFO};
    const wr_tunables *t = p->tunables;
    int policy = policies[t->progress_policy.which];
    struct sched_param parameter = {.sched_priority =
                                        policy == SCHED_FIFO ? sched_get_priority_min(policy) : 0};
    if (policy != SCHED_OTHER)
        pthread_setschedparam(pthread_self(), policy, &parameter);
    if (t->progress_nice)
        setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), (int)t->progress_nice);
}

static void *serve(void *user)
{
    wr_progress *p = user;
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
        wr_nap_any(count, awaited, look);
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
static int take_task(wr_progress *p, wr_errand *e, bool last_resort)
{
    if (p->spares > !last_resort) {
        e->task = p->spare[--p->spares];
        return 0;
    }
    return wr_task_new(&e->task);
}

int wr_errand_start(wr_progress *p, wr_errand *e, enum wr_mover by, bool last_resort)
{
    pthread_mutex_lock(&p->lock);
    int code = take_task(p, e, last_resort);
    if (!code) {
        wr_errand **at = &p->first[by];
        wr_task_set(e->task, e->run, e->user);
        e->next = NULL;
        while (*at)
            at = &(*at)->next;
        *at = e;
        if (by == WR_BY_CALLERS)
            p->callers++;
    }
    pthread_mutex_unlock(&p->lock);
    if (!code && by == WR_BY_THREAD) {
        wr_word_ring(&p->call);
    }
    return code;
}

void wr_progress_move(wr_progress *p)
{
    if (!wr_progress_has_callers(p) || wr_task_current() || pthread_mutex_trylock(&p->turn))
        return;
    while (move_all(p, WR_BY_CALLERS))
        ;
    pthread_mutex_unlock(&p->turn);
}

/* One turn of a caller that waits for a word. Only who moves looks at what the errands wait for:
 * others may end and go meanwhile. */
static void move_and_nap(wr_progress *p, wr_word *word, uint32_t seen)
{
    wr_awaited awaited[MOST_WORDS] = {{word, seen}};
    bool moves = !pthread_mutex_trylock(&p->turn);
    int64_t look = 0;
    int count = 1;
    if (moves) {
        while (move_all(p, WR_BY_CALLERS))
            ;
        count = collect(p, WR_BY_CALLERS, 1, awaited, &look);
    }
    if (wr_word_get(word) == seen)
        wr_nap_any(count, awaited, LOOK_US);
    if (moves)
        pthread_mutex_unlock(&p->turn);
}

void wr_progress_wait(wr_progress *p, wr_word *word, uint32_t seen)
{
    wr_waiter waiter = wr_transport_waiter(p->transport, true);
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
        wr_word_ring(&p->call);
        pthread_join(p->thread, NULL);
        p->running = false;
    }
    p->first[WR_BY_THREAD] = p->first[WR_BY_CALLERS] = NULL;
    p->callers = 0;
}

void wr_progress_close(wr_progress *p)
{
    wr_progress_stop(p);
    while (p->spares)
        wr_task_free(p->spare[--p->spares]);
    pthread_mutex_destroy(&p->lock);
    pthread_mutex_destroy(&p->turn);
}
