/* Where the time of a call goes, on the thread that makes it: whoever reaches for the file or waits
 * says so, and the rest is exchange. The call that is timed is known to its thread, so that nobody
 * has to pass it on; where nothing is timed that costs a comparison.
 *
 * Work of the background that a caller moves on while it waits counts for the caller: it is what
 * its thread does. */
#ifndef WR_BASE_TIMER_H
#define WR_BASE_TIMER_H

#include "base/clock.h"
#include "base/profile.h"

typedef struct wr_timer {
    wr_watch *watch; /* NULL: it is not timed */
    enum wr_phase phase;
    int visits; /* to the storage, of which this is part: who waits there waits for the file */
    int64_t begin, last;
    wr_spent spent;
    wr_gathered gathered; /* what the profile has not been told, of the bin */
    int64_t until;        /* that ends then */
    int64_t unnamed;      /* waited just now, not yet known for whom */
    int class;            /* of the call, once the engine knows it; or -1 */
} wr_timer;

/* Of this thread, or NULL. Where a function comes back from a task's leave it may be on another
 * thread, and asks by wr_timer_runs, because compilers keep the address. */
extern _Thread_local wr_timer *wr_timer_now;
bool wr_timer_runs(void);

/* What is neither waiting nor said to be access counts as `rest`. Within another call that is timed
 * it does nothing. The watch is borrowed until the end. */
void wr_timer_start(wr_timer *t, wr_watch *w, enum wr_phase rest);
void wr_timer_stop(wr_timer *t);

static inline void wr_timer_begin(wr_timer *t, wr_watch *w, enum wr_phase rest)
{
    t->watch = NULL;
    if (w->timed)
        wr_timer_start(t, w, rest);
}

/* Then t->spent is what it took, and t->watch stays as it is. The profile has not been told all of
 * it: that is done by wr_watch_finished, or by this. */
void wr_timer_tell(wr_timer *t);

static inline void wr_timer_end(wr_timer *t)
{
    if (t->watch) {
        wr_timer_stop(t);
        wr_timer_tell(t);
    }
}

/* A call on the file is over; of the kind given, if f->class is -1. `t` has timed it on this
 * thread, or is NULL. */
void wr_watch_finished(const wr_watch *w, const wr_call_kind *kind, wr_finished *f, wr_timer *t);

/* From here on, until leave, which gets what enter returned. */
enum { WR_SAME_PHASE = -1 };
int wr_timer_change(enum wr_phase phase);

static inline int wr_timer_enter(enum wr_phase phase)
{
    return wr_timer_now ? wr_timer_change(phase) : WR_SAME_PHASE;
}

static inline void wr_timer_leave(int before)
{
    if (before != WR_SAME_PHASE)
        wr_timer_change((enum wr_phase)before);
}

/* It turns out that this rank of MPI_COMM_WORLD was waited for just now; WR_NOBODY: what was waited
 * until now is nobody's, and not to be taken for what follows. */
void wr_timer_name(int rank);

/* A visit to the storage, by whoever has it: part of the call that is timed on this thread, or in
 * the background. It is not left half way by a task, and in the background not within another. */
typedef struct wr_visit {
    int64_t start; /* 0: nobody asks */
    enum wr_phase before;
} wr_visit;

wr_visit wr_watch_start(void);
void wr_watch_stop(wr_watch *w, wr_visit visit);

static inline wr_visit wr_watch_begin(const wr_watch *w)
{
    return w->profile ? wr_watch_start() : (wr_visit){0};
}

static inline void wr_watch_end(wr_watch *w, wr_visit visit)
{
    if (visit.start)
        wr_watch_stop(w, visit);
}

#endif
