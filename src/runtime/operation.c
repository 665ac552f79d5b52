/* Operations are jobs with a stage, and with a place in the order of their file. */
#include "runtime/operation.h"

#include "base/error.h"

/* One rank's operations on a file run side by side up to this number; the storage takes their
 * transfers one after another anyway. */
enum { ALONE_AT_A_TIME = 16 };

void wr_operations_init(wr_operations *all)
{
    *all = (wr_operations){.together.wide = 1, .alone.wide = ALONE_AT_A_TIME};
}

static void run(void *user)
{
    wr_operation *op = user;
    if (op->code)
        wr_error_raise(&op->error);
    op->code = op->run(op);
    if (op->together)
        wr_word_signal(&op->all->ended);
    if (op->code)
        wr_error_take(&op->error);
    wr_word_set(&op->stage, WR_OVER);
}

int wr_operation_start(wr_operation *op, enum wr_mover by, bool at_once)
{
    wr_progress *p = &op->world->process->progress;
    op->job = (wr_job){.by = by, .run = run, .user = op, .own = op->own};
    op->own = NULL;
    if (!at_once)
        op->job.queue = op->together ? &op->all->together : &op->all->alone;
    op->stage = (wr_word){0};
    int code = wr_job_start(p, &op->job);
    if (code)
        return code;
    if (op->together)
        op->all->started++;
    if (by == WR_BY_CALLERS)
        wr_progress_move(p);
    return 0;
}

void wr_operation_stored(wr_operation *op)
{
    if (wr_word_get(&op->stage) == WR_STARTED)
        wr_word_set(&op->stage, WR_STORED);
}

void wr_operation_wait_stored(wr_operation *op)
{
    wr_world_wait(op->world, &op->stage, WR_STARTED);
}

bool wr_operation_is_over(wr_operation *op)
{
    return wr_job_is_over(&op->world->process->progress, &op->job);
}

void wr_operation_wait(wr_operation *op)
{
    wr_world_wait_job(op->world, &op->job);
}

void wr_operations_settle(wr_operations *all, wr_world *world)
{
    for (uint32_t now; (now = wr_word_get(&all->ended)) != all->started;)
        wr_world_wait(world, &all->ended, now);
}
