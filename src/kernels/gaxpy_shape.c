/* A rank's depth is given, so only rows and columns of sub-blocks are to be found: b is read once
 * for each row of them, a only once. */
#include "kernels/gaxpy_shape.h"

#include "base/error.h"
#include "file/swap.h"
#include "kernels/blas.h"
#include "kernels/estimate.h"

/* For the part of a sub-block of c that a rank writes. */
static int64_t part_room(const wr_gaxpy_shape *s)
{
    const wr_panel_need *n = &s->need;
    return s->by_columns ? wr_panel_room(n, s->high, wr_div_ceil(s->wide, n->ranks))
                         : wr_panel_room(n, wr_div_ceil(s->high, n->ranks), s->wide);
}

/* Sets what the sizes of sub-blocks take; returns whether there is memory for it. */
static bool fits(wr_gaxpy_shape *s)
{
    const wr_panel_need *n = &s->need;
    s->a_room = wr_panel_room(n, s->high, s->deep);
    s->b_room = wr_panel_room(n, s->deep, s->wide);
    s->c_room = wr_panel_room(n, s->high, s->wide);
    s->message_room = n->ranks > 1 ? wr_min(part_room(s), WR_SWAP_MOST) : 0;
    s->memory = s->a_room + s->b_room + s->c_room + s->message_room;
    s->memory += n->staged ? part_room(s) : 0;
    return s->memory <= n->memory;
}

/* The widest sub-blocks that fit; 0: none. */
static int64_t widest(wr_gaxpy_shape *s)
{
    int64_t least = 0, most = wr_min(wr_max(1, s->need.columns), WR_BLAS_MOST);
    while (least < most) {
        s->wide = least + (most - least + 1) / 2;
        if (fits(s))
            least = s->wide;
        else
            most = s->wide - 1;
    }
    return least;
}

static double cost_of(const wr_gaxpy_shape *s)
{
    const double rows = (double)s->blocks[0], columns = (double)s->blocks[1];
    return rows * (double)s->deep * (double)s->need.columns * (double)s->need.element +
           rows * (1 + 2 * columns) * WR_ACCESS_COST;
}

/* The last try, single rows, always fits: that was looked at before. */
static void choose_blocks(wr_gaxpy_shape *s)
{
    const int64_t rows = wr_max(1, s->need.rows), columns = wr_max(1, s->need.columns);
    wr_gaxpy_shape best = *s;
    double least = -1;
    for (int64_t parts = wr_div_ceil(rows, WR_BLAS_MOST); parts <= rows;
         parts = wr_more_parts(parts, rows)) {
        s->blocks[0] = parts;
        s->high = wr_div_ceil(rows, parts);
        const int64_t wide = widest(s);
        if (!wide)
            continue;
        s->blocks[1] = wr_div_ceil(columns, wide);
        s->wide = wr_div_ceil(columns, s->blocks[1]);
        const double cost = cost_of(s);
        if (least >= 0 && cost >= least)
            continue;
        least = cost;
        best = *s;
    }
    *s = best;
    fits(s);
}

int wr_gaxpy_shape_build(const wr_panel_need *need, bool by_columns, wr_gaxpy_shape *out)
{
    wr_gaxpy_shape *s = out;
    *s = (wr_gaxpy_shape){.need = *need, .by_columns = by_columns, .high = 1, .wide = 1};
    s->deep = wr_max(1, wr_div_ceil(need->depth, need->ranks));
    if (s->deep > WR_BLAS_MOST)
        return wr_fail(WEIR_ERANGE, "a depth of %lld on each rank is too much", (long long)s->deep);
    if (!fits(s))
        return wr_fail(WEIR_EBUDGET,
                       "multiplying in %lld bytes of memory: the least that would do is %lld",
                       (long long)need->memory, (long long)s->memory);
    choose_blocks(s);
    if (!need->rows || !need->columns)
        s->blocks[0] = 0;
    return 0;
}

void wr_gaxpy_estimate(const wr_gaxpy_shape *s, weir_estimate *out)
{
    const wr_panel_need *n = &s->need;
    const int64_t times = s->blocks[0];
    *out = (weir_estimate){.written = n->rows * n->columns * n->element,
                           .calls = times * (1 + 2 * s->blocks[1]),
                           .memory = s->memory};
    if (times)
        out->read = (n->rows + times * n->columns) * n->depth * n->element;
    wr_estimate_say(out, "sub-blocks of %lld x %lld, %lld of the depth a rank", (long long)s->high,
                    (long long)s->wide, (long long)s->deep);
    wr_estimate_say_steps(out, times * s->blocks[1]);
}
