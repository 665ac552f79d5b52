/* The address of an element is a sum over dimensions, of each the place of its shard, of its tile
 * in the shard, and of itself in the tile. So what axes take is a nest of loops: all dimensions of
 * shards, then of tiles, then of elements. An axis is cut where blocks end: into the end of one,
 * whole ones, and the beginning of one, each with a nest of its own. */
#include "array/tile_axes.h"

#include "base/arith.h"
#include "base/error.h"

enum { LEVELS = 2 };

/* What an axis takes of a block, and of those that follow it likewise. */
typedef struct cut {
    int64_t block, times;
    int64_t place; /* in memory, of the first; 0 where `in` tells places */
    wr_axis in;    /* by index in the block */
} cut;

typedef struct cuts {
    int64_t count, room;
    cut *item;
} cuts;

typedef struct walk {
    int levels, dimensions;
    int64_t size[LEVELS][WEIR_MAX_DIMENSIONS];   /* indices of a block, outermost level first, */
    int64_t stride[LEVELS][WEIR_MAX_DIMENSIONS]; /* bytes from block to block */
    wr_body tile;
    wr_layout layout;                  /* strides are negative where an axis is reversed */
    wr_axis axis[WEIR_MAX_DIMENSIONS]; /* of the blocks that the walk is in */
    wr_arena memory;
} walk;

static int put(cuts *c, cut item)
{
    int code = wr_grow((void **)&c->item, &c->room, c->count + 1, sizeof *c->item);
    if (!code)
        c->item[c->count++] = item;
    return code;
}

static bool follows(const cuts *c, const cut *next)
{
    const cut *last = c->count ? &c->item[c->count - 1] : NULL;
    return last && next->block == last->block + last->times && next->in.lo == last->in.lo &&
           next->in.total == last->in.total;
}

/* A range: `places` are those of its own indices, one after the other. */
static int cut_range(const wr_axis *x, int64_t size, cuts *out)
{
    int code = 0;
    for (int64_t k = 0; k < x->total && !code;) {
        const int64_t at = x->lo + k * x->step, block = at / size, lo = at - block * size;
        const int64_t here = wr_min(x->total - k, wr_div_ceil(size - lo, x->step));
        cut one = {.block = block, .times = 1, .place = k};
        one.in = (wr_axis){.total = here, .lo = lo, .step = x->step, .count = here, .blocks = 1};
        if (size % x->step == 0 && lo < x->step && here == size / x->step)
            one.times = (x->total - k) / here; /* the same in all that follow */
        k += one.times * here;
        if (follows(out, &one))
            out->item[out->count - 1].times += one.times;
        else
            code = put(out, one);
    }
    return code;
}

static int cut_list(walk *w, const wr_axis *x, int64_t size, cuts *out)
{
    int64_t *index = wr_arena_alloc(&w->memory, x->total * (int64_t)sizeof *index);
    int code = index ? 0 : WEIR_ENOMEM;
    for (int64_t k = 0, end; k < x->total && !code; k = end) {
        const int64_t block = x->index[k] / size;
        for (end = k; end < x->total && x->index[end] / size == block; end++)
            index[end] = x->index[end] - block * size;
        code = put(out, (cut){.block = block,
                              .times = 1,
                              .in = {.total = end - k, .index = index + k, .place = x->place + k}});
    }
    return code;
}

static int cut_axis(walk *w, const wr_axis *x, int64_t size, cuts *out)
{
    return x->index ? cut_list(w, x, size, out) : cut_range(x, size, out);
}

/* --- patterns --- */

static int build(walk *w, int level, int d, wr_pair *out);

/* One cut along a dimension, and all within it. */
static int build_cut(walk *w, int level, int d, const cut *c, wr_pair *out)
{
    const int64_t in_memory = w->layout.stride[d];
    w->axis[d] = c->in;
    int code = build(w, level, d + 1, out);
    if (code)
        return code;
    code = wr_axes_repeat(&out->file, c->times, w->stride[level][d]);
    if (!code)
        code = wr_axes_repeat(&out->memory, c->times, c->in.total * in_memory);
    if (!code)
        code = wr_axes_move(&out->file, c->block * w->stride[level][d]);
    if (!code)
        code = wr_axes_move(&out->memory, c->place * in_memory);
    if (code)
        wr_pair_release(out);
    return code;
}

static int build_cuts(walk *w, int level, int d, const cuts *c, wr_pair *out)
{
    if (c->count == 1)
        return build_cut(w, level, d, &c->item[0], out);
    int64_t made = 0;
    wr_pair *pairs = wr_alloc_array(c->count, sizeof *pairs);
    int code = pairs ? 0 : WEIR_ENOMEM;
    while (made < c->count && !code) {
        code = build_cut(w, level, d, &c->item[made], &pairs[made]);
        made += !code;
    }
    if (!code)
        code = wr_pairs_join(made, pairs, out);
    else
        while (made)
            wr_pair_release(&pairs[--made]);
    wr_free(pairs);
    return code;
}

/* What w->axis takes, from dimension d of a level on. */
static int build(walk *w, int level, int d, wr_pair *out)
{
    cuts c = {0};
    if (d == w->dimensions && level + 1 < w->levels)
        return build(w, level + 1, 0, out);
    if (d == w->dimensions)
        return wr_axes_pair(&w->tile, w->axis, &w->layout, out);
    const wr_axis axis = w->axis[d];
    int code = cut_axis(w, &axis, w->size[level][d], &c);
    if (!code)
        code = build_cuts(w, level, d, &c, out);
    w->axis[d] = axis;
    wr_free(c.item);
    return code;
}

/* --- what the walk is about --- */

static void set_blocks(walk *w, const wr_tiled *tiled)
{
    const wr_tiling *t = tiled->tiling;
    int64_t outer = t->shard_bytes, inner = t->tile_bytes;
    w->levels = t->levels;
    w->tile = (wr_body){.dimensions = w->dimensions, .element = tiled->body->element};
    for (int d = w->dimensions - 1; d >= 0; d--) {
        w->size[0][d] = t->shard[d];
        w->size[1][d] = t->tile[d];
        w->stride[0][d] = outer;
        w->stride[1][d] = inner;
        outer *= wr_max(1, wr_div_ceil(tiled->body->shape[d], t->shard[d]));
        inner *= t->shard[d] / t->tile[d];
        w->tile.shape[d] = t->tile[d];
    }
    int64_t stride = tiled->body->element;
    for (int i = w->dimensions - 1; i >= 0; i--) {
        const int d = w->tile.order[i] = t->order[i];
        w->tile.stride[d] = stride;
        stride *= t->tile[d];
    }
}

/* Any axis as a list: of indices that are dealt. */
static int list_all(walk *w, const wr_axis *x, wr_axis *out)
{
    int64_t *words = wr_arena_alloc(&w->memory, 2 * x->total * (int64_t)sizeof *words);
    if (!words)
        return WEIR_ENOMEM;
    for (int64_t k = 0; k < x->total; k++) {
        words[k] = wr_axis_at(x, k);
        words[x->total + k] = wr_axis_place(x, k);
    }
    *out = (wr_axis){.total = x->total, .index = words, .place = words + x->total};
    return 0;
}

/* Axes as cut_axis takes them; what they are in memory goes to the layout. */
static int set_axes(walk *w, const wr_axis *axes)
{
    int code = 0;
    for (int d = 0; d < w->dimensions && !code; d++) {
        const wr_axis *x = &axes[d];
        const int64_t first = x->pieces ? x->piece[0].first : 0, stride = w->layout.stride[d];
        w->axis[d] = *x;
        if (x->index)
            continue;
        if (x->blocks != 1 || x->tail || x->pieces > 1) {
            code = list_all(w, x, &w->axis[d]);
            continue;
        }
        w->layout.offset += (x->reversed ? x->mirror - first : first) * stride;
        w->layout.stride[d] = x->reversed ? -stride : stride;
        w->axis[d].pieces = 0;
        w->axis[d].reversed = false;
    }
    return code;
}

int wr_tiled_pair(const wr_tiled *tiled, const wr_axis *axes, const wr_layout *layout, wr_pair *out)
{
    walk w = {.dimensions = tiled->body->dimensions, .layout = *layout};
    bool empty = false;
    for (int d = 0; d < w.dimensions; d++)
        empty = empty || !axes[d].total;
    if (empty)
        return wr_axes_pair(tiled->body, axes, layout, out);
    set_blocks(&w, tiled);
    *out = (wr_pair){0};
    int code = set_axes(&w, axes);
    const int64_t memory = w.layout.offset;
    w.layout.offset = 0;
    if (!code)
        code = build(&w, 0, 0, out);
    if (!code)
        code = wr_axes_move(&out->file, tiled->body->offset);
    if (!code)
        code = wr_axes_move(&out->memory, memory);
    if (code)
        wr_pair_release(out);
    wr_arena_release(&w.memory);
    return code;
}
