/* What every operator does at its beginning and end: defaults, accesses that are collective or
 * direct as the caller says, one error for all ranks. */
#include "kernels/work.h"

#include "array/moves.h"

weir_work wr_work_of(const weir_work *work)
{
    static const weir_work none;
    weir_work w = work ? *work : none;
    if (!w.memory)
        w.memory = WR_WORK_MEMORY;
    return w;
}

int wr_work_check(const weir_work *work)
{
    if (work->memory < 0)
        return wr_fail(WEIR_EINVAL, "a budget of %lld bytes of memory", (long long)work->memory);
    const int64_t *r = work->reserved, all[4] = {r[0], r[1], r[2]};
    return wr_check_reserved(all, "weir_work");
}

int wr_work_stop(const weir_work *work)
{
    if (!work->stop || !work->stop(work->user))
        return 0;
    return wr_fail(WEIR_EINTERRUPTED, "the caller asked for it to stop");
}

static int start(const wr_task *t, weir_array *array, const weir_selection *selection,
                 const weir_layout *layout, wr_move m, weir_request **out)
{
    *out = NULL;
    if (t->work.direct && (!selection || t->error.code))
        return 0;
    m.together = !t->work.direct;
    m.frugal = true;
    m.array = array;
    if (t->error.code)
        return wr_move_start(&m, wr_error_raise(&t->error), out);
    return wr_array_move(array, selection, layout, m.base, m, out);
}

void wr_task_read(wr_task *t, weir_array *array, const weir_selection *selection,
                  const weir_layout *layout, void *base, weir_request **out)
{
    const wr_move m = {.direction = WR_READ, .base = base};
    wr_task_note(t, start(t, array, selection, layout, m, out));
}

void wr_task_write(wr_task *t, weir_array *array, const weir_selection *selection,
                   const weir_layout *layout, const void *base, weir_request **out)
{
    const wr_move m = {.direction = WR_WRITE, .base = (void *)base};
    wr_task_note(t, start(t, array, selection, layout, m, out));
}

void wr_task_wait(wr_task *t, weir_request **request)
{
    wr_task_note(t, weir_request_wait(request, NULL));
}

void wr_task_tell(wr_task *t, int64_t done, int64_t all)
{
    if (t->work.progress)
        t->work.progress(t->work.user, done, all);
    if (!t->error.code)
        wr_task_note(t, wr_work_stop(&t->work));
}

int wr_task_end(const wr_task *t, weir_array *array)
{
    if (t->error.code)
        wr_error_raise(&t->error);
    return wr_array_agree(array, t->error.code);
}

int wr_work_settle(weir_array *const *outputs, int count, int code)
{
    for (int i = 0; i < count && code; i++)
        outputs[i]->spoiled = true; /* it lacks what could not be read or computed */
    return code;
}
