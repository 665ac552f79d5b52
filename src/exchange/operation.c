/* Operations. Who moves them is in their plans (plan/ways.c):
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

static int run_alone(wr_operation *op)
{
    if (op->code)
        return wr_error_raise(&op->error);
    wr_outcome o = wr_alone_run(&op->group->handle, &op->a, &op->moving);
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

/* The page cache is asked, and the thread started, only where that makes a difference. */
static wr_moving find_moving(const wr_operation *op)
{
    const wr_group *group = op->group;
    const wr_access_request *a = &op->a;
    wr_moving m = {.beside = 1,
                   .form = op->form,
                   .alone = !op->together,
                   .direction = a->direction,
                   .bytes = a->end - a->begin,
                   .one_run = 1,
                   .memory = wr_handle_is_memory(&group->handle, a->direction),
                   .cached = 1,
                   .overlap = group->handle.tunables.overlap.which,
                   .may_keep = group->handle.tunables.overlap_memory,
                   .messages = op->together && wr_group_by_messages(group),
                   .multiple = group->handle.world->transport->multiple};
    if (m.bytes && wr_moving_is_brief(&m)) {
        int64_t lo, hi;
        wr_pattern_bounds_of(a->file, a->begin, a->end, &lo, &hi);
        m.one_run = hi - lo == m.bytes && group->handle.storage->plain_fd >= 0;
        if (m.one_run && m.direction == WR_READ)
            m.cached = wr_storage_is_cached(group->handle.storage, lo);
    }
    m.thread = !wr_moving_is_brief(&m) && wr_moving_overlaps(&m) &&
               group->handle.tunables.progress.which == WR_PROGRESS_THREAD &&
               wr_progress_thread(&group->handle.world->process->progress);
    return m;
}

int wr_operation_start(wr_operation *op)
{
    wr_group *group = op->group;
    op->moving = find_moving(op);
    const enum wr_moved mover = wr_moving_mover(&op->moving);
    op->job = (wr_job){.by = mover == WR_MOVED_BY_THREAD ? WR_BY_THREAD : WR_BY_CALLERS,
                       .run = run,
                       .user = op,
                       .own = op->own};
    op->own = NULL;
    if (mover != WR_MOVED_AT_ONCE)
        op->job.queue = op->together ? &group->together : &group->alone;
    op->stage = (wr_word){0};
    op->count = 0;
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
    if (!wr_moving_overlaps(&op->moving))
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
