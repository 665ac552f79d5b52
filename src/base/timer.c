/* Timing calls. Times are gathered here and told to the profile when a bin is over, and at the end
 * of the call. */
#include "base/timer.h"

#include "base/task.h"

_Thread_local wr_timer *wr_timer_now;

__attribute__((noinline)) bool wr_timer_runs(void)
{
    return wr_timer_now != NULL;
}

static void tell(wr_timer *t)
{
    t->gathered.at = t->last;
    wr_profile_add(t->watch->profile, &t->gathered);
    t->gathered = (wr_gathered){.file = t->watch->file};
}

/* The time since t->last was its phase's. */
static void pass(wr_timer *t, int64_t now)
{
    const int64_t passed = now - t->last;
    if (now < t->until) {
        t->gathered.phase[t->phase] += passed;
    } else {
        tell(t);
        wr_profile_time(t->watch->profile, t->phase, (wr_span){t->last, now});
        t->until = wr_profile_bin_end(t->watch->profile, now);
    }
    t->spent.phase[t->phase] += passed;
    if (t->phase == WR_WAITING)
        t->unnamed += passed;
    t->last = now;
}

void wr_timer_start(wr_timer *t, wr_watch *w, enum wr_phase rest)
{
    if (wr_timer_now) {
        t->spent = (wr_spent){0};
        return;
    }
    *t = (wr_timer){.watch = w, .phase = rest, .begin = wr_clock_ns(), .class = -1};
    t->last = t->begin;
    if (w->profile) {
        t->gathered.file = w->file;
        t->until = wr_profile_bin_end(w->profile, t->begin);
        wr_timer_now = t;
    }
}

void wr_timer_stop(wr_timer *t)
{
    const int64_t now = wr_clock_ns();
    t->spent.ns = now - t->begin;
    if (!t->watch->profile)
        return;
    pass(t, now);
    wr_timer_name(WR_NOBODY);
    wr_timer_now = NULL;
}

void wr_timer_tell(wr_timer *t)
{
    if (!t->watch->profile)
        return;
    tell(t);
    wr_profile_save_now_and_then(t->watch->profile, t->last);
}

int wr_timer_change(enum wr_phase phase)
{
    wr_timer *t = wr_timer_now;
    const enum wr_phase before = t->phase;
    if (phase == before || (t->visits && phase == WR_WAITING))
        return WR_SAME_PHASE;
    pass(t, wr_clock_ns());
    if (phase == WR_WAITING)
        wr_timer_name(WR_NOBODY);
    t->phase = phase;
    return (int)before;
}

void wr_timer_name(int rank)
{
    wr_timer *t = wr_timer_now;
    if (!t || !t->unnamed || wr_task_current()) /* a task waits, and not the thread that moves it */
        return;
    wr_gathered *g = &t->gathered;
    if (rank != WR_NOBODY && g->waited && rank != g->whom)
        tell(t);
    if (rank != WR_NOBODY)
        g->whom = rank;
    *(rank == WR_NOBODY ? &g->waited_nobody : &g->waited) += t->unnamed;
    t->unnamed = 0;
}

wr_visit wr_watch_start(void)
{
    wr_timer *t = wr_timer_now;
    if (!t)
        return (wr_visit){.start = wr_clock_ns()};
    if (t->phase != WR_ACCESSING)
        pass(t, wr_clock_ns());
    const wr_visit visit = {t->last, t->phase};
    t->phase = WR_ACCESSING;
    t->visits++;
    return visit;
}

/* What was moved goes with the call if it is of its file, and nothing else does. */
static void gather(wr_timer *t, wr_watch *w)
{
    if (w->file != t->gathered.file || t->gathered.moved.bytes)
        return;
    t->gathered.moved = w->moved;
    t->gathered.moved_at = t->last;
    w->moved = (wr_watched){0};
}

void wr_watch_stop(wr_watch *w, wr_visit visit)
{
    wr_timer *t = wr_timer_now;
    const int64_t now = t && t->visits > 1 ? t->last : wr_clock_ns();
    if (!t) {
        wr_profile_behind(w->profile, (wr_span){visit.start, now});
    } else {
        pass(t, now);
        t->phase = visit.before;
        t->visits--;
        gather(t, w);
    }
    wr_watch_tell(w, now);
}

void wr_watch_finished(const wr_watch *w, const wr_call_kind *kind, wr_finished *f, wr_timer *t)
{
    if (f->class < 0)
        f->class = wr_profile_class(w->profile, kind, 0, NULL);
    f->file = w->file;
    if (t)
        t->gathered.at = t->last;
    wr_profile_call(w->profile, f, t ? &t->gathered : NULL);
    if (t)
        wr_profile_save_now_and_then(w->profile, t->last);
}
