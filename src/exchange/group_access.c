/* How accesses are started. Who moves one along is in its plan (plan/ways.c):
 *
 *   overlap   split, _begin returns                  nonblocking
 *   none      when it is over                        moved by callers
 *   io, auto  when its data are on their way;        moved by the progress thread
 *             then the storage is that thread's
 *             (auto: unless it is the page cache)
 *   all       at once; the progress thread moves it  moved by the progress thread
 *
 * A small access of one rank to the page cache (auto) is done at once.
 *
 * Where the thread may not call MPI and rounds are by messages, callers move accesses, and the
 * thread has their storage. Without a thread callers do everything. */
#include "exchange/group_access.h"

#include <stdatomic.h>

static int run(wr_operation *op)
{
    wr_group_access *access = (wr_group_access *)(void *)op;
    if (op->together)
        return wr_collective_run(access->group, &access->a, op->code, access, &access->count);
    if (op->code)
        return op->code;
    wr_outcome o = wr_alone_run(&access->group->handle, &access->a, &access->moving, NULL);
    access->count = wr_outcome_count(&o, &access->a);
    access->class = o.class;
    return o.code;
}

/* The page cache is asked, and the thread started, only where that makes a difference. */
static wr_moving find_moving(const wr_group_access *access)
{
    wr_group *group = access->group;
    const wr_access_request *a = &access->a;
    wr_moving m = {.beside = 1,
                   .form = access->form,
                   .alone = !access->op.together,
                   .direction = a->direction,
                   .bytes = a->end - a->begin,
                   .one_run = 1,
                   .memory = wr_handle_is_memory(&group->handle, a->direction),
                   .cached = 1,
                   .overlap = group->handle.tunables.overlap.which,
                   .may_keep = group->handle.tunables.overlap_memory,
                   .messages = access->op.together && wr_group_by_messages(group),
                   .multiple = group->handle.world->transport->multiple};
    if (m.bytes && wr_moving_is_brief(&m)) {
        int64_t lo, hi;
        wr_pattern_bounds_of(a->file, a->begin, a->end, &lo, &hi);
        m.one_run = hi - lo == m.bytes && !wr_handle_ready(&group->handle) &&
                    group->handle.storage->plain_fd >= 0;
        if (m.one_run && m.direction == WR_READ)
            m.cached = wr_storage_is_cached(group->handle.storage, lo);
    }
    m.thread = !wr_moving_is_brief(&m) && wr_moving_overlaps(&m) &&
               group->handle.tunables.progress.which == WR_PROGRESS_THREAD &&
               wr_progress_thread(&group->handle.world->process->progress);
    return m;
}

/* Once in a process, if MPI keeps the thread from moving what it could move. */
static void warn(const wr_group_access *access)
{
    static atomic_flag warned = ATOMIC_FLAG_INIT;
    const wr_moving *m = &access->moving;
    const wr_world *world = access->op.world;
    if (!m->messages || m->multiple || !m->thread || world->transport->rank != 0 ||
        atomic_flag_test_and_set(&warned))
        return;
    wr_log_line(&world->log, WR_LOG_WARN,
                "MPI runs without MPI_THREAD_MULTIPLE: collective accesses under way between nodes "
                "stand still while their program is in other calls (docs/overlap.md)");
}

int wr_group_access_start(wr_group_access *access)
{
    wr_operation *op = &access->op;
    op->world = access->group->handle.world;
    op->all = &access->group->operations;
    op->run = run;
    access->count = 0;
    access->class = 0;
    access->moving = find_moving(access);
    warn(access);
    const enum wr_moved mover = wr_moving_mover(&access->moving);
    return wr_operation_start(op, mover == WR_MOVED_BY_THREAD ? WR_BY_THREAD : WR_BY_CALLERS,
                              mover == WR_MOVED_AT_ONCE);
}

void wr_group_access_wait_begun(wr_group_access *access)
{
    if (!wr_moving_overlaps(&access->moving))
        wr_operation_wait(&access->op);
    else if (access->op.job.by == WR_BY_CALLERS)
        wr_operation_wait_stored(&access->op);
}
