/* Lists of boxes. Along the slowest dimension the boxes' borders cut the array into slabs; within a
 * slab the set of boxes is constant, so one slice of it, built the same way from the remaining
 * dimensions, repeats. The result is in storage order and holds each element once. */
#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "base/error.h"
#include "pattern/build.h"
#include "pattern/grid.h"

/* Working memory of one dimension, used again for each slab above it. */
typedef struct level {
    int64_t *box;    /* sorted by where they begin in this dimension */
    int64_t *cuts;   /* their borders */
    int64_t *inside; /* boxes of the current slab */
    wr_term *terms;
} level;

typedef struct cutter {
    const weir_shape *array;
    const weir_selection *boxes;
    wr_grid grid;
    wr_builder b;
    level levels[WEIR_MAX_DIMENSIONS];
} cutter;

static int64_t box_lo(const cutter *c, int64_t box, int d)
{
    return c->boxes->box_lo[box * c->array->dimensions + d];
}

static int64_t box_hi(const cutter *c, int64_t box, int d)
{
    return c->boxes->box_hi[box * c->array->dimensions + d];
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

typedef struct keyed {
    const cutter *c;
    int d;
} keyed;

static int compare_boxes(const void *a, const void *b, void *user)
{
    const keyed *k = user;
    int64_t x = box_lo(k->c, *(const int64_t *)a, k->d),
            y = box_lo(k->c, *(const int64_t *)b, k->d);
    return (x > y) - (x < y);
}

/* The sorted, distinct borders of `count` boxes in dimension d; returns how many. */
static int64_t find_cuts(const cutter *c, const level *l, int64_t count, int d)
{
    for (int64_t i = 0; i < count; i++) {
        l->cuts[2 * i] = box_lo(c, l->box[i], d);
        l->cuts[2 * i + 1] = box_hi(c, l->box[i], d);
    }
    qsort(l->cuts, (size_t)(2 * count), sizeof *l->cuts, compare);
    int64_t kept = 0;
    for (int64_t i = 0; i < 2 * count; i++)
        if (kept == 0 || l->cuts[i] != l->cuts[kept - 1])
            l->cuts[kept++] = l->cuts[i];
    return kept;
}

/* Updates the boxes of the slab before to those of the slab that begins at `at`; `*next` is the
 * first box that begins later. Returns how many there are. */
static int64_t sweep(keyed k, const level *l, int64_t inside, int64_t count, int64_t *next,
                     int64_t at)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < inside; i++)
        if (box_hi(k.c, l->inside[i], k.d) > at)
            l->inside[kept++] = l->inside[i];
    for (; *next < count && box_lo(k.c, l->box[*next], k.d) <= at; ++*next)
        l->inside[kept++] = l->box[*next];
    return kept;
}

/* What the given boxes touch in dimensions order[depth...]. */
static int cut(cutter *c, int depth, const int64_t *box, int64_t count, wr_term *out)
{
    if (depth == c->grid.dimensions) {
        *out = wr_term_run(0, c->array->element);
        return 0;
    }
    const level *l = &c->levels[depth];
    int d = c->grid.order[depth];
    memcpy(l->box, box, (size_t)count * sizeof *box);
    qsort_r(l->box, (size_t)count, sizeof *l->box, compare_boxes, &(keyed){c, d});
    int64_t slabs = find_cuts(c, l, count, d) - 1, used = 0, inside = 0, next = 0;
    for (int64_t i = 0; i < slabs; i++) {
        wr_term slice;
        inside = sweep((keyed){c, d}, l, inside, count, &next, l->cuts[i]);
        if (!inside)
            continue;
        int code = cut(c, depth + 1, l->inside, inside, &slice);
        if (code)
            return code;
        slice.offset += l->cuts[i] * c->grid.stride[d];
        code = wr_build_loop(&c->b, l->cuts[i + 1] - l->cuts[i], c->grid.stride[d], slice,
                             &l->terms[used++]);
        if (code)
            return code;
    }
    return wr_build_list(&c->b, used, l->terms, out);
}

/* 72 bytes a box and dimension. */
static int make_levels(cutter *c)
{
    int64_t count = c->boxes->boxes;
    for (int i = 0; i < c->array->dimensions; i++) {
        level *l = &c->levels[i];
        l->box = wr_arena_alloc(&c->b.scratch, 4 * count * (int64_t)sizeof *l->box);
        l->terms = l->box ? wr_build_terms(&c->b, 2 * count) : NULL;
        if (!l->terms)
            return WEIR_ENOMEM;
        l->cuts = l->box + count;
        l->inside = l->cuts + 2 * count;
    }
    return 0;
}

/* Lists the boxes that are not empty; WEIR_EINVAL if one reaches outside the array. */
static int64_t list_boxes(const cutter *c, int64_t *box)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < c->boxes->boxes; i++) {
        bool empty = false;
        for (int d = 0; d < c->array->dimensions; d++) {
            int64_t lo = box_lo(c, i, d), hi = box_hi(c, i, d);
            if (lo < 0 || hi > c->array->size[d])
                return wr_fail(WEIR_EINVAL, "box %lld: [%lld, %lld) in dimension %d of size %lld",
                               (long long)i, (long long)lo, (long long)hi, d,
                               (long long)c->array->size[d]);
            empty = empty || lo >= hi;
        }
        if (!empty)
            box[kept++] = i;
    }
    return kept;
}

int weir_pattern_boxes(const weir_shape *array, const weir_selection *selection, weir_pattern **out)
{
    const int64_t boxes = selection->boxes;
    cutter c = {.array = array, .boxes = selection};
    wr_term all = WR_TERM_EMPTY;
    int code = wr_grid_init(&c.grid, array);
    if (!code)
        code = wr_check_reserved(selection->reserved, "weir_selection");
    if (!code && boxes > 0 && array->dimensions && (!selection->box_lo || !selection->box_hi))
        code = wr_fail(WEIR_EINVAL, "boxes without bounds");
    if (!code && (boxes < 0 || boxes > INT32_MAX || selection->local))
        code = wr_fail(WEIR_EINVAL, "%lld boxes, or indices of a local array", (long long)boxes);
    if (code)
        return code;
    int64_t *box = wr_arena_alloc(&c.b.scratch, boxes * (int64_t)sizeof *box);
    int64_t count = box && !make_levels(&c) ? list_boxes(&c, box) : WEIR_ENOMEM;
    if (count < 0)
        code = (int)count;
    else if (count > 0)
        code = cut(&c, 0, box, count, &all);
    return wr_build_end(&c.b, code, all, out);
}
