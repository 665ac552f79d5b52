/* Intersection by leapfrogging: the cursor that is behind seeks to where the other stands, until
 * both are in the same place. Equal strides are then compared batch by batch, not run by run. */
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
        wr_cursor_skip(&m->b, count * b->run);
        return true;
    }
    return false;
}

/* Two batches of one stride that overlap in part, each run of one meeting one run of the other: all
 * but the last, which what follows may concern. */
static bool meet_in_step(wr_meet *m, const wr_batch *a, const wr_batch *b, wr_meeting *out)
{
    int64_t count = wr_min(a->count, b->count) - 1, stride = a->stride;
    if (count < 1 || stride != b->stride || a->offset + a->run > b->offset + stride ||
        b->offset + b->run > a->offset + stride)
        return false;
    int64_t lo = wr_max(a->offset, b->offset);
    int64_t hi = wr_min(a->offset + a->run, b->offset + b->run);
    *out = (wr_meeting){
        lo,    hi - lo, stride, count, a->data + lo - a->offset, a->run, b->data + lo - b->offset,
        b->run};
    wr_cursor_skip(&m->a, count * a->run);
    wr_cursor_skip(&m->b, count * b->run);
    return true;
}

/* `x` lies before `y`: past everything of x that cannot meet y. Where both have one stride and x's
 * runs lie in the gaps of y, that is all of them. */
static void leap(wr_cursor *x, wr_cursor *y, const wr_batch *bx, const wr_batch *by)
{
    int64_t count = wr_min(bx->count, by->count);
    if (count > 1 && bx->stride == by->stride && bx->offset + bx->stride >= by->offset + by->run) {
        wr_cursor_skip(x, count * bx->run);
        wr_cursor_skip(y, (count - 1) * by->run);
    } else {
        wr_cursor_seek_offset(x, by->offset);
    }
}

/* What one run of a pattern that may repeat bytes has in common with b, part by part. */
static bool meet_repeating(wr_meet *m, wr_meeting *out)
{
    wr_batch a, b;
    while (wr_cursor_peek(&m->a, &a)) {
        wr_cursor_seek_offset(&m->b, a.offset);
        if (!wr_cursor_peek(&m->b, &b) || b.offset >= a.offset + a.run) {
            wr_cursor_skip(&m->a, a.run); /* a later run may start before this one's end */
            continue;
        }
        int64_t lo = wr_max(a.offset, b.offset);
        int64_t hi = wr_min(a.offset + a.run, b.offset + b.run);
        *out = (wr_meeting){
            lo,     hi - lo, hi - lo, 1, a.data + lo - a.offset, hi - lo, b.data + lo - b.offset,
            hi - lo};
        wr_cursor_skip(&m->a, hi - a.offset);
        return true;
    }
    return false;
}

bool wr_meet_next(wr_meet *m, wr_meeting *out)
{
    wr_batch a, b;
    if (!wr_pattern_root(m->a.pattern)->disjoint)
        return meet_repeating(m, out);
    while (wr_cursor_peek(&m->a, &a) && wr_cursor_peek(&m->b, &b)) {
        if (a.offset + a.run <= b.offset) {
            leap(&m->a, &m->b, &a, &b);
            continue;
        }
        if (b.offset + b.run <= a.offset) {
            leap(&m->b, &m->a, &b, &a);
            continue;
        }
        if (meet_batches(m, &a, &b, out) || meet_in_step(m, &a, &b, out))
            return true;
        int64_t lo = wr_max(a.offset, b.offset);
        int64_t hi = wr_min(a.offset + a.run, b.offset + b.run);
        *out = (wr_meeting){
            lo,     hi - lo, hi - lo, 1, a.data + lo - a.offset, hi - lo, b.data + lo - b.offset,
            hi - lo};
        wr_cursor_skip(&m->a, hi - a.offset);
        wr_cursor_skip(&m->b, hi - b.offset);
        return true;
    }
    return false;
}
