/* Operations.
 *
 *   overlap   split, _begin returns                  nonblocking
 *   none      when it is over                        moved by callers
 *   io, auto  when its data are on their way;        moved by the progress thread
 *             then the storage is that thread's
 *             (auto: unless it is the page cache)
 *   all       at once; the progress thread moves it  moved by the progress thread
 *
 * What one rank does alone, with little data and a page cache (auto), is done at once.
 *
 * Where the thread may not call MPI and rounds are by messages, callers move operations, and the
 * thread has their storage. Without a thread callers do everything. */
#include "exchange/operation.h"

#include "base/arith.h"

enum { BRIEF = 32 << 10 };

static int run_alone(wr_operation *op)
{
    if (op->code)
        return wr_error_raise(&op->error);
    wr_outcome o = wr_alone_run(&op->group->handle, &op->a);
    op->count = wr_outcome_count(&o, &op->a);
    return o.code;
}

static int run_together(wr_operation *op)
{
    if (op->code)
        wr_error_raise(&op->error);
    int code = wr_collective_run(op->group, &op->a, op->code, op, &op->count);
    wr_word_signal(&op->group->ended);
    return code;
}

static void run(void *user)
{
    wr_operation *op = user;
    op->code = op->together ? run_together(op) : run_alone(op);
    if (op->code)
        wr_error_take(&op->error);
    wr_word_set(&op->stage, WR_OVER);
}

/* Whether the thread can make all of it. */
static bool suits_thread(const wr_operation *op)
{
    return !op->together || !wr_group_by_messages(op->group) ||
           op->group->handle.world->transport->multiple;
}

static bool may_overlap(const wr_operation *op)
{
    const wr_tunables *t = &op->group->handle.tunables;
    return t->overlap.which != WR_OVERLAP_NONE && t->overlap_memory;
}

/* Whether an access of this rank alone takes less time than a thread takes to be called: it is
 * small, and memory is all that it goes to. */
static bool is_brief(const wr_operation *op)
{
    const wr_group *group = op->group;
    const wr_access_request *a = &op->a;
    int64_t lo, hi, bytes = a->end - a->begin;
    if (op->together || op->code || group->handle.tunables.overlap.which != WR_OVERLAP_AUTO)
        return false;
    if (bytes == 0 || bytes > BRIEF || !wr_handle_is_memory(&group->handle, a->direction))
        return bytes == 0;
    wr_pattern_bounds_of(a->file, a->begin, a->end, &lo, &hi);
    return hi - lo == bytes && group->handle.storage->plain_fd >= 0 &&
           (a->direction == WR_WRITE || wr_storage_is_cached(group->handle.storage, lo));
}

static enum wr_mover choose(wr_operation *op)
{
    bool split = op->form == WR_SPLIT;
    op->away = may_overlap(op) && op->group->handle.tunables.progress.which == WR_PROGRESS_THREAD &&
               wr_progress_thread(&op->group->handle.world->process->progress);
    bool all = !split || op->group->handle.tunables.overlap.which == WR_OVERLAP_ALL;
    return op->away && all && suits_thread(op) ? WR_BY_THREAD : WR_BY_CALLERS;
}

int wr_operation_start(wr_operation *op)
{
    wr_group *group = op->group;
    const bool brief = is_brief(op);
    op->job = (wr_job){.by = WR_BY_CALLERS, .run = run, .user = op, .own = op->own};
    op->own = NULL;
    if (!brief) {
        op->job.by = choose(op);
        op->job.queue = op->together ? &group->together : &group->alone;
    }
    op->stage = (wr_word){0};
    op->count = 0;
    /* its callers may be elsewhere for long, and others wait for the lock */
    op->a.unbroken = group->handle.atomic && op->job.by == WR_BY_CALLERS;
    int code = wr_job_start(&group->handle.world->process->progress, &op->job);
    if (code)
        return code;
    if (op->together)
        group->started++;
    if (op->job.by == WR_BY_CALLERS)
        wr_progress_move(&group->handle.world->process->progress);
    return 0;
}

void wr_operation_stored(wr_operation *op)
{
    if (wr_word_get(&op->stage) == WR_STARTED)
        wr_word_set(&op->stage, WR_STORED);
}

void wr_operation_begun(wr_operation *op)
{
    if (!may_overlap(op))
        wr_operation_wait(op);
    else if (op->job.by == WR_BY_CALLERS)
        wr_world_wait(op->group->handle.world, &op->stage, WR_STARTED);
}

bool wr_operation_is_over(wr_operation *op)
{
    return wr_job_is_over(&op->group->handle.world->process->progress, &op->job);
}

void wr_operation_wait(wr_operation *op)
{
    while (!wr_operation_is_over(op))
        wr_world_wait(op->group->handle.world, &op->job.over, 0);
}

void wr_group_settle(wr_group *group)
{
    for (uint32_t now; (now = wr_word_get(&group->ended)) != group->started;)
        wr_world_wait(group->handle.world, &group->ended, now);
}
