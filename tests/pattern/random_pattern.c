#include "random_pattern.h"

#include <stdlib.h>
#include <string.h>

#include "pattern/pattern.h"

enum { PARTS = 6 };

/* In [1, hi], and once in a while 0: empty patterns are worth few cases. */
static int64_t rarely_none(rng *r, int64_t hi)
{
    return rng_chance(r, 3) ? 0 : rng_within(r, 1, hi);
}

/* How far back of its end something may start that still follows it in order. */
static int64_t reach_back(rng *r, int64_t most)
{
    return rng_chance(r, 8) ? rng_within(r, 0, most) : 0;
}

static modelled empty_model(void)
{
    return (modelled){.offset = malloc(MODEL_BYTES * sizeof(int64_t))};
}

void modelled_free(modelled *m)
{
    weir_pattern_free(m->pattern);
    free(m->offset);
    *m = (modelled){0};
}

static void add_run(modelled *m, int64_t offset, int64_t bytes)
{
    CHECK(m->bytes + bytes <= MODEL_BYTES);
    for (int64_t i = 0; i < bytes; i++)
        m->offset[m->bytes++] = offset + i;
}

static void add_model(modelled *m, const modelled *part, int64_t by)
{
    CHECK(m->bytes + part->bytes <= MODEL_BYTES);
    for (int64_t i = 0; i < part->bytes; i++)
        m->offset[m->bytes++] = part->offset[i] + by;
}

static modelled random_strided(rng *r, bool forward)
{
    modelled m = empty_model();
    int64_t count = rarely_none(r, 12), run = rarely_none(r, 9), offset = rng_within(r, -40, 40);
    int64_t back = reach_back(r, run);
    int64_t stride =
        forward ? run - back + (back ? 0 : rng_within(r, 0, 9)) : rng_within(r, -12, 12);
    if (rng_chance(r, 20)) {
        CHECK(!weir_pattern_contiguous(offset, run, &m.pattern));
        count = 1;
    } else {
        CHECK(!weir_pattern_strided(offset, count, run, stride, &m.pattern));
    }
    for (int64_t i = 0; i < count; i++)
        add_run(&m, offset + i * stride, run);
    return m;
}

static modelled random_runs(rng *r, bool forward)
{
    modelled m = empty_model();
    int64_t offset[40], length[40], count = rarely_none(r, 40), at = rng_within(r, -40, 40);
    bool equal = rng_chance(r, 40), regular = rng_chance(r, 30), overlapping = rng_chance(r, 10);
    for (int64_t i = 0; i < count; i++) {
        length[i] = equal ? 3 : rarely_none(r, 8);
        int64_t shorter = i == 0 ? 0 : length[i] < length[i - 1] ? length[i] : length[i - 1];
        at -= overlapping && i ? rng_within(r, 0, shorter) : 0;
        offset[i] = forward ? at : rng_within(r, -50, 50);
        at += length[i] + (regular ? 2 : rng_within(r, 0, 9));
        add_run(&m, offset[i], length[i]);
    }
    CHECK(!weir_pattern_runs(count, offset, length, &m.pattern));
    return m;
}

static int64_t span_end(const modelled *m)
{
    int64_t end = 0;
    for (int64_t i = 0; i < m->bytes; i++)
        end = m->offset[i] + 1 > end ? m->offset[i] + 1 : end;
    return end;
}

/* By how much `b` may start before the end of `a` and still follow it in order. */
static int64_t overlap_allowed(const modelled *a, const modelled *b)
{
    int64_t last = wr_pattern_root(a->pattern)->last, first = wr_pattern_root(b->pattern)->first;
    return last < first ? last : first;
}

static modelled random_repeat(rng *r, int depth, bool forward)
{
    modelled m = empty_model(), inner = random_pattern(r, depth - 1, forward);
    int64_t most = inner.bytes ? MODEL_BYTES / inner.bytes : 5;
    int64_t count = rarely_none(r, most < 4 ? most : 4);
    int64_t lo, hi, back = reach_back(r, overlap_allowed(&inner, &inner));
    weir_pattern_bounds(inner.pattern, &lo, &hi);
    int64_t gap = back ? -back : rng_within(r, rng_chance(r, 5) ? lo - hi : 0, 20);
    int64_t extent = forward ? hi - lo + gap : rng_within(r, -60, 60);
    CHECK(!weir_pattern_repeat(inner.pattern, count, extent, &m.pattern));
    for (int64_t i = 0; i < count; i++)
        add_model(&m, &inner, i * extent);
    modelled_free(&inner);
    return m;
}

static modelled copy_of(const modelled *m)
{
    modelled again = empty_model();
    add_model(&again, m, 0);
    CHECK(!weir_pattern_repeat(m->pattern, 1, 0, &again.pattern));
    return again;
}

static modelled random_concat(rng *r, int depth, bool forward)
{
    modelled m = empty_model(), part[PARTS] = {0};
    const weir_pattern *pattern[PARTS];
    int64_t offset[PARTS], at = 0;
    int count = (int)rarely_none(r, PARTS);
    for (int i = 0; i < count; i++) {
        part[i] = random_pattern(r, depth - 1, forward);
        int from = i;
        if (m.bytes + part[i].bytes > MODEL_BYTES || (i && rng_chance(r, 40)))
            from = i - 1; /* the same again, or too many bytes: the pattern before */
        if (from < 0 || m.bytes + part[from].bytes > MODEL_BYTES) {
            modelled_free(&part[i]);
            count = i;
            break;
        }
        if (from != i) {
            modelled_free(&part[i]);
            part[i] = copy_of(&part[from]);
        }
        int64_t lo, hi;
        weir_pattern_bounds(part[i].pattern, &lo, &hi);
        pattern[i] = part[i].pattern;
        int64_t back = i ? reach_back(r, overlap_allowed(&part[i - 1], &part[i])) : 0;
        offset[i] =
            forward ? at - lo - back + (back ? 0 : rng_within(r, 0, 5)) : rng_within(r, -99, 99);
        add_model(&m, &part[i], offset[i]);
        at = span_end(&m);
    }
    CHECK(!weir_pattern_concat(count, offset, pattern, &m.pattern));
    for (int i = 0; i < count; i++)
        modelled_free(&part[i]);
    return m;
}

static void shuffle(rng *r, int count, int *order)
{
    for (int i = 0; i < count; i++)
        order[i] = i;
    for (int i = count - 1; i > 0; i--) {
        int j = (int)rng_within(r, 0, i), swapped = order[i];
        order[i] = order[j];
        order[j] = swapped;
    }
}

static void strides_of(int dimensions, const int64_t *shape, const int *order, int64_t element,
                       int64_t *stride)
{
    for (int i = dimensions - 1; i >= 0; i--) {
        stride[order[i]] = element;
        element *= shape[order[i]];
    }
}

typedef struct grid_case {
    int dimensions;
    int64_t element;
    int64_t shape[4], lo[4], hi[4], step[4], count[4], list[4][8], stride[4];
    const int64_t *index[4];
    int order[4], walk[4];
} grid_case;

static void random_axis(rng *r, grid_case *g, int d, bool forward)
{
    g->shape[d] = rng_within(r, 1, 9);
    g->step[d] = rng_within(r, 1, 3) * (forward || rng_chance(r, 70) ? 1 : -1);
    int64_t a = rng_within(r, 0, g->shape[d]), b = rng_within(r, 0, g->shape[d]);
    if (a == b && !rng_chance(r, 10))
        a = 0, b = g->shape[d];
    bool up = g->step[d] > 0;
    g->lo[d] = up ? (a < b ? a : b) : (a > b ? a : b) - 1;
    g->hi[d] = up ? (a > b ? a : b) : (a < b ? a : b) - 1;
    if (!rng_chance(r, 25))
        return;
    g->index[d] = g->list[d];
    int64_t at = 0;
    for (g->count[d] = 0; g->count[d] < 8 && at < g->shape[d]; at += rng_within(r, 1, 3))
        g->list[d][g->count[d]++] = forward ? at : rng_within(r, 0, g->shape[d] - 1);
}

static void walk_axis(const grid_case *g, modelled *m, int level, int64_t offset)
{
    if (level == g->dimensions) {
        add_run(m, offset, g->element);
        return;
    }
    int d = g->walk[level];
    if (g->index[d]) {
        for (int64_t i = 0; i < g->count[d]; i++)
            walk_axis(g, m, level + 1, offset + g->list[d][i] * g->stride[d]);
        return;
    }
    for (int64_t i = g->lo[d]; g->step[d] > 0 ? i < g->hi[d] : i > g->hi[d]; i += g->step[d])
        walk_axis(g, m, level + 1, offset + i * g->stride[d]);
}

static modelled random_section(rng *r, bool forward)
{
    modelled m = empty_model();
    grid_case g = {.dimensions = (int)rng_within(r, 0, 3), .element = rng_within(r, 1, 4)};
    for (int d = 0; d < g.dimensions; d++)
        random_axis(r, &g, d, forward);
    shuffle(r, g.dimensions, g.order);
    shuffle(r, g.dimensions, g.walk);
    strides_of(g.dimensions, g.shape, g.order, g.element, g.stride);
    weir_shape whole = {
        .dimensions = g.dimensions, .element = g.element, .size = g.shape, .order = g.order};
    weir_selection s = {.lo = g.lo, .hi = g.hi, .step = g.step, .index = g.index, .count = g.count};
    if (forward)
        memcpy(g.walk, g.order, sizeof g.walk);
    CHECK(!weir_pattern_section(&whole, &s, forward ? NULL : g.walk, &m.pattern));
    walk_axis(&g, &m, 0, 0);
    return m;
}

static bool in_boxes(int dimensions, const weir_selection *b, const int64_t *at)
{
    for (int64_t i = 0; i < b->boxes; i++) {
        bool inside = true;
        for (int d = 0; d < dimensions; d++)
            inside = inside && at[d] >= b->box_lo[i * dimensions + d] &&
                     at[d] < b->box_hi[i * dimensions + d];
        if (inside)
            return true;
    }
    return false;
}

static modelled random_boxes(rng *r)
{
    modelled m = empty_model();
    int order[3];
    int64_t shape[3], stride[3], lo[15], hi[15], at[3] = {0}, elements = 1;
    weir_shape whole = {.dimensions = (int)rng_within(r, 0, 3),
                        .element = rng_within(r, 1, 3),
                        .size = shape,
                        .order = order};
    weir_selection b = {.boxes = rarely_none(r, 5), .box_lo = lo, .box_hi = hi};
    for (int d = 0; d < whole.dimensions; d++)
        elements *= shape[d] = rng_within(r, 1, 8);
    for (int64_t i = 0; i < b.boxes * whole.dimensions; i++) {
        int64_t x = rng_within(r, 0, shape[i % whole.dimensions]);
        int64_t y = rng_within(r, 0, shape[i % whole.dimensions]);
        lo[i] = x < y || rng_chance(r, 10) ? x : y;
        hi[i] = x < y ? y : x;
    }
    shuffle(r, whole.dimensions, order);
    strides_of(whole.dimensions, shape, order, whole.element, stride);
    CHECK(!weir_pattern_boxes(&whole, &b, &m.pattern));
    for (int64_t e = 0; e < elements; e++) { /* elements in storage order */
        for (int d = 0; d < whole.dimensions; d++)
            at[d] = e * whole.element / stride[d] % shape[d];
        if (in_boxes(whole.dimensions, &b, at))
            add_run(&m, e * whole.element, whole.element);
    }
    return m;
}

static modelled any_pattern(rng *r, int depth, bool forward)
{
    int most = depth > 1 ? 5 : 3;
    switch (rng_within(r, depth > 1 && rng_chance(r, 80) ? 4 : 0, most)) {
    case 0:
        return random_strided(r, forward);
    case 1:
        return random_runs(r, forward);
    case 2:
        return random_section(r, forward);
    case 3:
        return random_boxes(r);
    case 4:
        return random_repeat(r, depth, forward);
    default:
        return random_concat(r, depth, forward);
    }
}

modelled random_pattern(rng *r, int depth, bool forward)
{
    modelled m = any_pattern(r, depth, forward);
    int64_t lo, hi;
    weir_pattern_bounds(m.pattern, &lo, &hi);
    if (lo >= -MODEL_SPAN && hi <= MODEL_SPAN)
        return m;
    modelled_free(&m);
    return random_strided(r, forward);
}
