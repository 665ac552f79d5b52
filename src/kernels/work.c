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
    return wr_check_reserved(work->reserved, "weir_work");
}

static wr_move how_to(const weir_work *work, enum wr_direction direction)
{
    return (wr_move){.direction = direction, .together = !work->direct, .frugal = true};
}

int wr_work_read(const weir_work *work, weir_array *array, const weir_selection *selection,
                 const weir_layout *layout, void *base, weir_request **out)
{
    *out = NULL;
    if (!selection && work->direct)
        return 0;
    return wr_array_move(array, selection, layout, base, how_to(work, WR_READ), out);
}

int wr_work_write(const weir_work *work, weir_array *array, const weir_selection *selection,
                  const weir_layout *layout, const void *base, weir_request **out)
{
    *out = NULL;
    if (!selection && work->direct)
        return 0;
    return wr_array_move(array, selection, layout, base, how_to(work, WR_WRITE), out);
}

int wr_work_end(weir_array *array, const wr_first_error *first)
{
    if (first->error.code)
        wr_error_raise(&first->error);
    return wr_array_agree(array, first->error.code);
}

int wr_work_settle(weir_array *const *outputs, int count, int code)
{
    for (int i = 0; i < count && code; i++)
        outputs[i]->spoiled = true; /* it lacks what could not be read or computed */
    return code;
}
