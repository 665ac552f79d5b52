/* Lists of boxes. Along the slowest dimension the boxes' borders cut the array into slabs; within a
 * slab the set of boxes is constant, so one slice of it, built the same way from the remaining
 * dimensions, repeats. The result is in storage order and holds each element once. */
#include <stdlib.h>

#include "base/arith.h"
#include "base/error.h"
#include "pattern/build.h"
#include "pattern/grid.h"

typedef struct cutter {
    const weir_boxes *boxes;
    wr_grid grid;
    wr_builder b;
} cutter;

static int64_t box_lo(const cutter *c, int64_t box, int d)
{
    return c->boxes->lo[box * c->boxes->dimensions + d];
}

static int64_t box_hi(const cutter *c, int64_t box, int d)
{
    return c->boxes->hi[box * c->boxes->dimensions + d];
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The sorted, distinct borders of `count` boxes in dimension d; returns how many. */
static int64_t find_cuts(const cutter *c, const int64_t *box, int64_t count, int d, int64_t *cuts)
{
    for (int64_t i = 0; i < count; i++) {
        cuts[2 * i] = box_lo(c, box[i], d);
        cuts[2 * i + 1] = box_hi(c, box[i], d);
    }
    qsort(cuts, (size_t)(2 * count), sizeof *cuts, compare);
    int64_t kept = 0;
    for (int64_t i = 0; i < 2 * count; i++)
        if (kept == 0 || cuts[i] != cuts[kept - 1])
            cuts[kept++] = cuts[i];
    return kept;
}

static int64_t select_boxes(const cutter *c, const int64_t *box, int64_t count, int d, int64_t at,
                            int64_t *inside)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++)
        if (box_lo(c, box[i], d) <= at && at < box_hi(c, box[i], d))
            inside[kept++] = box[i];
    return kept;
}

/* What the given boxes touch in dimensions order[level...]. */
static int cut(cutter *c, int level, const int64_t *box, int64_t count, wr_term *out)
{
    if (level == c->grid.dimensions) {
        *out = wr_term_run(0, c->boxes->element);
        return 0;
    }
    int d = c->grid.order[level];
    int64_t *cuts = wr_arena_alloc(&c->b.scratch, 3 * count * (int64_t)sizeof *cuts);
    wr_term *terms = cuts ? wr_build_terms(&c->b, 2 * count) : NULL;
    if (!terms)
        return WEIR_ENOMEM;
    int64_t *inside = cuts + 2 * count;
    int64_t slabs = find_cuts(c, box, count, d, cuts) - 1, used = 0;
    for (int64_t i = 0; i < slabs; i++) {
        int64_t n = select_boxes(c, box, count, d, cuts[i], inside);
        wr_term slice;
        int code = n ? cut(c, level + 1, inside, n, &slice) : 0;
        if (!code && n) {
            slice.offset += cuts[i] * c->grid.stride[d];
            code = wr_build_loop(&c->b, cuts[i + 1] - cuts[i], c->grid.stride[d], slice,
                                 &terms[used++]);
        }
        if (code)
            return code;
    }
    return wr_build_list(&c->b, used, terms, out);
}

/* Lists the boxes that are not empty; WEIR_EINVAL if one reaches outside the array. */
static int64_t list_boxes(const cutter *c, int64_t *box)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < c->boxes->count; i++) {
        bool empty = false;
        for (int d = 0; d < c->boxes->dimensions; d++) {
            int64_t lo = box_lo(c, i, d), hi = box_hi(c, i, d);
            if (lo < 0 || hi > c->boxes->shape[d])
                return wr_fail(WEIR_EINVAL, "box %lld: [%lld, %lld) in dimension %d of size %lld",
                               (long long)i, (long long)lo, (long long)hi, d,
                               (long long)c->boxes->shape[d]);
            empty = empty || lo >= hi;
        }
        if (!empty)
            box[kept++] = i;
    }
    return kept;
}

int weir_pattern_boxes(const weir_boxes *boxes, weir_pattern **out)
{
    cutter c = {.boxes = boxes};
    wr_term all = WR_TERM_EMPTY;
    int code = wr_grid_init(&c.grid, boxes->dimensions, boxes->element, boxes->shape, boxes->order);
    if (!code && boxes->count > 0 && boxes->dimensions && (!boxes->lo || !boxes->hi))
        code = wr_fail(WEIR_EINVAL, "boxes without bounds");
    if (!code && (boxes->count < 0 || boxes->count > INT32_MAX))
        code = wr_fail(WEIR_EINVAL, "%lld boxes", (long long)boxes->count);
    if (code)
        return code;
    int64_t *box = wr_arena_alloc(&c.b.scratch, boxes->count * (int64_t)sizeof *box);
    int64_t count = box ? list_boxes(&c, box) : WEIR_ENOMEM;
    if (count < 0)
        code = (int)count;
    else if (count > 0)
        code = cut(&c, 0, box, count, &all);
    return wr_build_end(&c.b, code, all, out);
}
