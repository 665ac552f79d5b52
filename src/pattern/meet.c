/* Intersection of two patterns by leapfrogging cursors. */
#include "pattern/meet.h"

#include "base/arith.h"

void wr_meet_init(wr_meet *meet, const weir_pattern *a, const weir_pattern *b)
{
    wr_cursor_init(&meet->a, a);
    wr_cursor_init(&meet->b, b);
}

/* How many runs of `x`, from the first, lie inside one run of `y` per run of `x`. Sets *step to the
 * distance in y's data between them. 0: the first run of x is not inside the first of y. */
static int64_t runs_inside(const wr_batch *x, const wr_batch *y, int64_t *step)
{
    int64_t room = y->offset + y->run - x->offset - x->run;
    if (x->offset < y->offset || room < 0)
        return 0;
    *step = x->stride;
    if (x->stride == 0)
        return x->count;
    int64_t count = wr_min(x->count, room / x->stride + 1);
    if (count == 1 && x->stride == y->stride) {
        *step = y->run;
        return wr_min(x->count, y->count);
    }
    return count;
}

static bool meet_batches(wr_meet *m, const wr_batch *a, const wr_batch *b, wr_meeting *out)
{
    int64_t step, count = runs_inside(a, b, &step);
    if (count) {
        *out = (wr_meeting){
            a->offset, a->run, a->stride, count, a->data, a->run, b->data + a->offset - b->offset,
            step};
        wr_cursor_skip(&m->a, count * a->run);
        return true;
    }
    count = runs_inside(b, a, &step);
    if (count) {
        *out = (wr_meeting){b->offset, b->run,  b->stride, count, a->data + b->offset - a->offset,
                            step,      b->data, b->run};
        if (wr_pattern_root(m->a.pattern)->disjoint)
            wr_cursor_skip(&m->b, count * b->run);
        else
            wr_cursor_skip(&m->a, b->offset + (count - 1) * b->stride + b->run - a->offset);
        return true;
    }
    return false;
}

bool wr_meet_next(wr_meet *m, wr_meeting *out)
{
    bool repeats = !wr_pattern_root(m->a.pattern)->disjoint;
    wr_batch a, b;
    for (;;) {
        if (!wr_cursor_peek(&m->a, &a))
            return false;
        if (repeats) {
            wr_cursor_seek_offset(&m->b, a.offset);
            a.count = 1;
        }
        if (!wr_cursor_peek(&m->b, &b)) {
            if (!repeats)
                return false;
            wr_cursor_skip(&m->a, a.run); /* a later run of a may start before this one's end */
            continue;
        }
        if (a.offset + a.run <= b.offset) {
            if (repeats)
                wr_cursor_skip(&m->a, a.run);
            else
                wr_cursor_seek_offset(&m->a, b.offset);
            continue;
        }
        if (b.offset + b.run <= a.offset) {
            wr_cursor_seek_offset(&m->b, a.offset);
            continue;
        }
        if (meet_batches(m, &a, &b, out))
            return true;
        int64_t lo = wr_max(a.offset, b.offset);
        int64_t hi = wr_min(a.offset + a.run, b.offset + b.run);
        *out = (wr_meeting){
            lo,     hi - lo, hi - lo, 1, a.data + lo - a.offset, hi - lo, b.data + lo - b.offset,
            hi - lo};
        wr_cursor_skip(&m->a, hi - a.offset);
        if (!repeats)
            wr_cursor_skip(&m->b, hi - b.offset);
        return true;
    }
}
