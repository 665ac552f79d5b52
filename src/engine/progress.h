/* What proceeds beside the caller's own work.
 *
 * An errand is a piece of work that runs as a task (base/task.h), so that it can be left where it
 * waits. It is moved along by the progress thread, or, where that must not call MPI and the errand
 * does, by callers: whenever a thread of theirs is inside the library. The thread is started when
 * the first errand for it is, blocks all signals, and calls nothing but what errands do. All worlds
 * of a process share one; where ranks are threads, each world has its own.
 *
 * Thousands of errands may be outstanding: those of a queue that is full have neither task nor turn
 * until one before them is over, so each costs the same however many there are.
 *
 * Invariants
 *   O1  an errand's memory is its owner's again once wr_errand_is_over has said so
 *   O2  nothing here waits for another rank, except through wr_progress_wait */
#ifndef WR_ENGINE_PROGRESS_H
#define WR_ENGINE_PROGRESS_H

#include <pthread.h>

#include "base/memory.h"
#include "base/task.h"
#include "base/tunables.h"
#include "transport/transport.h"

enum wr_mover { WR_BY_THREAD, WR_BY_CALLERS };

/* Errands of which at most `wide` are under way; the others wait, first come, first served. */
typedef struct wr_queue {
    int wide, busy;
    struct wr_errand *first, **last; /* of those that wait; last is NULL if there are none */
} wr_queue;

/* The owner sets by, queue, called, run, user and own. */
typedef struct wr_errand {
    enum wr_mover by;
    wr_queue *queue; /* or NULL: it is under way at once */
    bool called;     /* what it waits for changes by wr_progress_ring only; by the thread */
    void (*run)(void *user);
    void *user;
    wr_task *own; /* for when there is no memory for another, or NULL; NULL once it is used */
    wr_word over; /* 1 when it is */
    struct wr_errand *next, **place;
    wr_task *task; /* NULL while it waits */
} wr_errand;

/* Errands under way, in the order they were started. */
typedef struct wr_errands {
    wr_errand *first, **last;
} wr_errands;

enum { WR_SPARES = 4 };

typedef struct wr_progress {
    int64_t nice, policy; /* how the thread is scheduled */
    pthread_mutex_t lock; /* of the lists, and of all queues */
    pthread_mutex_t turn; /* held by the caller that moves */
    wr_errands moved[2];  /* by mover */
    _Atomic int callers;  /* errands in the second list */
    int spares;           /* tasks to be used again */
    wr_task *spare[WR_SPARES];
    pthread_t thread;
    bool running, stop;
    wr_word call;    /* changes when there is something new for the thread */
    wr_meter *meter; /* for tests: of the thread's allocations, or NULL */
} wr_progress;

/* The tunables say how the thread is scheduled. */
void wr_progress_open(wr_progress *p, const wr_tunables *tunables);

/* Stops the thread; what is not over stays where it stands, for ever, with its memory, which
 * messages and transfers under way may still use. For the end of a program. */
void wr_progress_stop(wr_progress *p);

void wr_progress_close(wr_progress *p);

/* Whether the thread can be had: it runs or could be started. */
bool wr_progress_thread(wr_progress *p);

/* Starts e->run(e->user), now or when its queue lets it. WEIR_ENOMEM: nothing is started. */
int wr_errand_start(wr_progress *p, wr_errand *e);

bool wr_errand_is_over(wr_progress *p, wr_errand *e);

/* Sets a word that somebody waits for to 1, and rings a bell if there is one; once wr_progress_told
 * says that it is set, neither is touched any more. */
void wr_progress_tell(wr_progress *p, wr_word *word, wr_word *bell);
bool wr_progress_told(wr_progress *p, const wr_word *word);

/* Changes a word that a called errand waits for. So the thread sleeps on one word for all of them,
 * and files that are open and rest cost nothing. */
static inline void wr_progress_ring(wr_progress *p, wr_word *word)
{
    wr_word_add(word, 1);
    wr_word_ring(&p->call);
}

static inline bool wr_progress_has_callers(const wr_progress *p)
{
    return p->callers > 0;
}

/* Moves callers' errands as far as they come without waiting; does nothing within a task, or while
 * another thread does it. */
void wr_progress_move(wr_progress *p);

/* Waits for a word to differ from `seen`, moving callers' errands, and messages of `t`, meanwhile.
 * Within a task leaves it. */
void wr_progress_wait(wr_progress *p, wr_transport *t, wr_word *word, uint32_t seen);

#endif
