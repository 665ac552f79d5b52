/* Work that proceeds beside the caller's own.
 *
 * A job runs as a task (base/task.h), so it can be suspended wherever it waits. The progress thread
 * runs it, or, if the job calls MPI and the thread must not, callers do: any thread of the program
 * that is inside the library. The thread starts with its first job, blocks all signals, and does
 * nothing but run jobs. All worlds of a process share one thread; where ranks are threads, each
 * world has its own.
 *
 * Thousands of jobs may be outstanding: a job that waits in a full queue has no task and is never
 * looked at, so each job costs the same however many there are.
 *
 * Invariants
 *   O1  a job's memory belongs to its owner again once wr_job_is_over has said so
 *   O2  nothing here waits for another rank, except through wr_progress_wait */
#ifndef WR_RUNTIME_PROGRESS_H
#define WR_RUNTIME_PROGRESS_H

#include <pthread.h>

#include "base/memory.h"
#include "base/task.h"
#include "base/tunables.h"
#include "transport/transport.h"

enum wr_mover { WR_BY_THREAD, WR_BY_CALLERS };

/* At most `wide` jobs of a queue run at a time; the others wait, first come, first served. */
typedef struct wr_queue {
    int wide, busy;
    struct wr_job *first, **last; /* waiting jobs; last is NULL if there are none */
} wr_queue;

/* The owner sets by, queue, called, run, user and own. */
typedef struct wr_job {
    enum wr_mover by;
    wr_queue *queue; /* or NULL: the job starts at once */
    bool called;     /* what it waits for changes by wr_progress_signal only; by the thread */
    void (*run)(void *user);
    void *user;
    wr_task *own; /* for when there is no memory for another, or NULL; NULL once it is used */
    wr_word over; /* 1 when it is */
    struct wr_job *next, **place;
    wr_task *task; /* NULL while it waits */
} wr_job;

/* Running jobs, in the order they were started. */
typedef struct wr_jobs {
    wr_job *first, **last;
} wr_jobs;

enum { WR_SPARES = 4 };

typedef struct wr_progress {
    int64_t nice, policy;   /* how the thread is scheduled */
    pthread_mutex_t lock;   /* of the lists, and of all queues */
    pthread_mutex_t moving; /* held by the caller that moves */
    wr_jobs moved[2];       /* by mover */
    _Atomic int callers;    /* jobs in the second list */
    int spares;             /* tasks to be used again */
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

/* Whether the caller of this is that thread. */
bool wr_progress_is_thread(void);

/* Starts e->run(e->user), now or when its queue lets it. WEIR_ENOMEM: nothing is started. */
int wr_job_start(wr_progress *p, wr_job *e);

bool wr_job_is_over(wr_progress *p, wr_job *e);

/* Sets a word that somebody waits for to 1, and rings a wake-up word if there is one; once
 * wr_progress_told says that it is set, neither is touched any more. */
void wr_progress_tell(wr_progress *p, wr_word *word, wr_word *wakeup);
bool wr_progress_told(wr_progress *p, const wr_word *word);

/* Changes a word that a called job waits for. So the thread sleeps on one word for all of them,
 * and files that are open and rest cost nothing. */
static inline void wr_progress_signal(wr_progress *p, wr_word *word)
{
    wr_word_add(word, 1);
    wr_word_signal(&p->call);
}

static inline bool wr_progress_has_callers(const wr_progress *p)
{
    return p->callers > 0;
}

/* Moves callers' jobs as far as they come without waiting; does nothing within a task, or while
 * another thread does it. */
void wr_progress_move(wr_progress *p);

/* Waits for a word to differ from `seen`, moving callers' jobs, and messages of `t`, meanwhile.
 * Within a task leaves it. */
void wr_progress_wait(wr_progress *p, wr_transport *t, wr_word *word, uint32_t seen);

#endif
