/* What is read in all goes with the sum of a block's sides, what fits in memory with their product:
 * blocks are as large and as square as memory allows beside panels deep enough for BLAS. */
#include "kernels/panel_shape.h"

#include "array/slab_shape.h"
#include "base/error.h"
#include "kernels/blas.h"
#include "kernels/estimate.h"

enum {
    DEEP = 256, /* of panels: BLAS is not faster with more */
    PANELS = 8, /* at least, unless they are no deeper than that: the first cannot be prefetched */
    PRODUCTS = 64 /* so many are as fast as reading an element */
};

/* The grid, of at most so many ranks, whose largest part takes the least time. */
static void choose_grid(wr_panel_shape *s)
{
    double least = -1;
    s->grid[0] = s->grid[1] = 1;
    for (int rows = 1; rows <= s->need.ranks; rows++) {
        int columns = s->need.ranks / rows;
        double high = (double)wr_div_ceil(s->need.rows, rows);
        double wide = (double)wr_div_ceil(s->need.columns, columns);
        double time = high * wide + PRODUCTS * (high + wide);
        if (least >= 0 && time >= least)
            continue;
        least = time;
        s->grid[0] = rows;
        s->grid[1] = columns;
    }
}

int64_t wr_panel_room(const wr_panel_need *n, int64_t x, int64_t y)
{
    return wr_slab_room(wr_min(x * y, (INT64_C(1) << 58) / n->element) * n->element);
}

static int64_t count_bytes(const wr_panel_shape *s)
{
    const wr_panel_need *n = &s->need;
    const int64_t times = n->staged ? 2 : 1;
    return s->results * times * wr_panel_room(n, s->high, s->wide) +
           2 * wr_panel_room(n, s->high, s->deep) + 2 * wr_panel_room(n, s->deep, s->wide);
}

/* The largest value up to `most` with which everything fits, as it does with `least`. */
static int64_t largest(wr_panel_shape *s, int64_t *value, int64_t least, int64_t most)
{
    while (least < most) {
        *value = least + (most - least + 1) / 2;
        if (count_bytes(s) <= s->need.memory)
            least = *value;
        else
            most = *value - 1;
    }
    return *value = least;
}

/* Bytes that a rank reads, and what its accesses count besides. */
static double cost_of(const wr_panel_shape *s, int64_t high, int64_t wide)
{
    const wr_panel_need *n = &s->need;
    double panels = (double)wr_div_ceil(wr_max(1, n->depth), s->deep);
    double elements = (double)n->depth *
                      ((double)high * (double)s->blocks[1] + (double)wide * (double)s->blocks[0]);
    double accesses = 2 * panels * (double)s->blocks[0] * (double)s->blocks[1];
    return elements * (double)n->element + accesses * WR_ACCESS_COST;
}

/* With panels of s->deep, for parts of high x wide: *best where that costs less than `least`. */
static double try_blocks(wr_panel_shape *s, int64_t high, int64_t wide, double least,
                         wr_panel_shape *best)
{
    for (int64_t parts = wr_div_ceil(high, WR_BLAS_MOST); parts <= high;
         parts = wr_more_parts(parts, high)) {
        s->blocks[0] = parts;
        s->high = wr_div_ceil(high, parts);
        if (!largest(s, &s->wide, 0, wr_min(wide, WR_BLAS_MOST)))
            continue;
        s->blocks[1] = wr_div_ceil(wide, s->wide);
        s->wide = wr_div_ceil(wide, s->blocks[1]);
        double cost = cost_of(s, high, wide);
        if (least < 0 || cost < least) {
            least = cost;
            *best = *s;
        }
    }
    return least;
}

/* Panels are as deep as what is left allows; then there may be room for a second result. */
static void use_rest(wr_panel_shape *s)
{
    const int64_t depth = wr_max(1, s->need.depth);
    const int64_t most = wr_max(s->deep, wr_min(wr_div_ceil(depth, PANELS), WR_BLAS_MOST));
    largest(s, &s->deep, s->deep, most);
    s->panels = wr_div_ceil(depth, s->deep);
    s->deep = wr_div_ceil(depth, s->panels);
    s->results = s->blocks[0] * s->blocks[1] > 1 ? 2 : 1;
    if (count_bytes(s) > s->need.memory)
        s->results = 1;
}

int wr_panel_shape_build(const wr_panel_need *need, wr_panel_shape *out)
{
    wr_panel_shape s = {.need = *need, .high = 1, .wide = 1, .deep = 1, .results = 1};
    if (count_bytes(&s) > need->memory)
        return wr_fail(WEIR_EBUDGET,
                       "multiplying in %lld bytes of memory: the least that would do is %lld",
                       (long long)need->memory, (long long)count_bytes(&s));
    choose_grid(&s);
    const int64_t high = wr_max(1, wr_div_ceil(need->rows, s.grid[0]));
    const int64_t wide = wr_max(1, wr_div_ceil(need->columns, s.grid[1]));
    double least = -1;
    *out = s;
    for (int64_t deep = wr_max(1, wr_min(DEEP, need->depth)); deep; deep /= 2) {
        s.deep = deep;
        least = try_blocks(&s, high, wide, least, out);
    }
    use_rest(out);
    out->a_room = wr_panel_room(need, out->high, out->deep);
    out->b_room = wr_panel_room(need, out->deep, out->wide);
    out->c_room = wr_panel_room(need, out->high, out->wide);
    out->memory = count_bytes(out);
    out->steps = need->rows && need->columns ? out->blocks[0] * out->blocks[1] * out->panels : 0;
    return 0;
}

/* Block k of a place's part of a dimension. */
static wr_span block_of(const wr_panel_shape *s, int dimension, int place, int64_t k)
{
    const int64_t n = dimension ? s->need.columns : s->need.rows;
    wr_span part = wr_share(n, place, s->grid[dimension]);
    wr_span block = wr_share(part.hi - part.lo, k, s->blocks[dimension]);
    return (wr_span){part.lo + block.lo, part.lo + block.hi};
}

/* Which blocks and panel a step is about. */
typedef struct position {
    int64_t row, column, panel;
    bool new_a, new_b;
} position;

static position find_position(const wr_panel_shape *s, int64_t step)
{
    const int64_t block = step / s->panels, panel = step % s->panels;
    const int64_t across = block % s->blocks[1];
    position at = {.row = block / s->blocks[1]};
    at.column = at.row % 2 ? s->blocks[1] - 1 - across : across;
    at.panel = block % 2 ? s->panels - 1 - panel : panel;
    at.new_a = panel || across == 0;
    at.new_b = panel || across || block == 0;
    return at;
}

wr_panel_step wr_panel_step_of(const wr_panel_shape *s, int rank, int64_t step)
{
    const position at = find_position(s, step);
    wr_panel_step out = {.new_a = at.new_a,
                         .new_b = at.new_b,
                         .begins = step % s->panels == 0,
                         .ends = (step + 1) % s->panels == 0};
    if (rank >= s->grid[0] * s->grid[1])
        return out;
    wr_span rows = wr_share(s->need.rows, rank / s->grid[1], s->grid[0]);
    wr_span columns = wr_share(s->need.columns, rank % s->grid[1], s->grid[1]);
    if (rows.lo == rows.hi || columns.lo == columns.hi)
        return out;
    out.rows = block_of(s, 0, rank / s->grid[1], at.row);
    out.columns = block_of(s, 1, rank % s->grid[1], at.column);
    out.depth = wr_share(s->need.depth, at.panel, s->panels);
    return out;
}

/* Indices of blocks k of all places along a dimension. */
static int64_t sum_blocks(const wr_panel_shape *s, int dimension, int64_t k)
{
    int64_t sum = 0;
    for (int place = 0; place < s->grid[dimension]; place++) {
        wr_span block = block_of(s, dimension, place, k);
        sum += block.hi - block.lo;
    }
    return sum;
}

void wr_panel_estimate(const wr_panel_shape *s, weir_estimate *out)
{
    const wr_panel_need *n = &s->need;
    const int64_t users_a = wr_min(s->grid[1], n->columns), users_b = wr_min(s->grid[0], n->rows);
    *out = (weir_estimate){.written = n->rows * n->columns * n->element, .memory = s->memory};
    for (int64_t i = 0; i < s->steps; i += s->panels) { /* by blocks: only the first panels stay */
        const position at = find_position(s, i);
        const wr_span first = wr_share(n->depth, at.panel, s->panels);
        const int64_t rest = n->depth - (first.hi - first.lo);
        const int64_t a = sum_blocks(s, 0, at.row) * users_a * (at.new_a ? n->depth : rest);
        const int64_t b = sum_blocks(s, 1, at.column) * users_b * (at.new_b ? n->depth : rest);
        out->read += (a + b) * n->element;
        out->calls += 2 * (s->panels - 1) + at.new_a + at.new_b + 1;
    }
    wr_estimate_say(out, "blocks of %lld x %lld on a grid of %d x %d, %lld panel%s of %lld",
                    (long long)s->high, (long long)s->wide, s->grid[0], s->grid[1],
                    (long long)s->panels, s->panels == 1 ? "" : "s", (long long)s->deep);
    wr_estimate_say_steps(out, s->steps);
}
