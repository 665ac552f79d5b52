/* What of an axis a place of the grid has: local indices, and the places in memory that the whole
 * axis gives them. A range meets a distribution in at most three regular pieces; only where steps
 * meet blocks that are dealt, and for lists of indices, is there a list. */
#include "array/member_axes.h"

#include "array/distribution.h"
#include "base/arith.h"

/* One place of the grid along one dimension. */
typedef struct dealt {
    int64_t n, grid, block, place;
} dealt;

static dealt dealt_of(const weir_array *array, int dimension, int place)
{
    const weir_distribution *d = &array->info.distribution;
    const int64_t n = array->info.shape[dimension];
    return (dealt){n, wr_distribution_grid(d, dimension), wr_distribution_block(d, dimension, n),
                   place};
}

/* A range of local indices, whose places are those of the axis. */
static wr_axis range_of(const wr_axis *x, int64_t lo, int64_t step, int64_t total)
{
    return (wr_axis){.total = total,
                     .lo = lo,
                     .step = step,
                     .count = total,
                     .blocks = 1,
                     .reversed = x->reversed,
                     .mirror = x->mirror};
}

/* One block a place: a part of the range. */
static wr_axis meet_block(const wr_axis *x, const dealt *d)
{
    const int64_t lo = d->place * d->block, hi = wr_min(lo + d->block, d->n);
    const int64_t last = x->lo + (x->total - 1) * x->step;
    if (lo >= hi || last < lo || x->lo >= hi)
        return (wr_axis){.step = 1};
    const int64_t first = x->lo >= lo ? 0 : wr_div_ceil(lo - x->lo, x->step);
    const int64_t end = last < hi ? x->total : wr_div_ceil(hi - x->lo, x->step);
    if (first >= end)
        return (wr_axis){.step = 1};
    wr_axis out = range_of(x, x->lo + first * x->step - lo, x->step, end - first);
    out.pieces = 1;
    out.piece[0] = (wr_places){first, end - first, 1, 0};
    return out;
}

static void add_piece(wr_axis *x, wr_places piece)
{
    x->total += piece.count * piece.blocks;
    x->count = x->total;
    x->piece[x->pieces++] = piece;
}

/* Blocks that are dealt, and a range without steps: a part of the first block, whole ones, a part
 * of the last. Locally they follow each other. */
static wr_axis meet_dealt(const wr_axis *x, const dealt *d)
{
    const int64_t round = d->grid * d->block, offset = d->place * d->block;
    const int64_t lo = x->lo, hi = lo + x->total;
    int64_t from = lo < offset + d->block ? 0 : (lo - offset - d->block) / round + 1;
    int64_t to = wr_div_ceil(wr_max(0, hi - offset), round); /* blocks [from, to) */
    if (from >= to)
        return (wr_axis){.step = 1};
    const int64_t first = offset + from * round, start = wr_max(lo, first);
    wr_axis out = range_of(x, from * d->block + start - first, 1, 0);
    if (start > first || first + d->block > hi) {
        int64_t end = wr_min(hi, first + d->block);
        add_piece(&out, (wr_places){start - lo, end - start, 1, 0});
        from++;
    }
    const int64_t last = offset + (to - 1) * round;
    const bool cut = to > from && last + d->block > hi;
    if (to - cut > from)
        add_piece(&out, (wr_places){offset + from * round - lo, d->block, to - cut - from, round});
    if (cut)
        add_piece(&out, (wr_places){last - lo, hi - last, 1, 0});
    return out;
}

/* Anything else, index by index. */
static int meet_list(const wr_axis *x, const dealt *d, wr_arena *memory, wr_axis *out)
{
    int64_t count = 0;
    for (int64_t k = 0; k < x->total; k++)
        count += wr_axis_at(x, k) / d->block % d->grid == d->place;
    int64_t *words = wr_arena_alloc(memory, 2 * wr_max(1, count) * (int64_t)sizeof *words);
    if (!words)
        return WEIR_ENOMEM;
    *out = (wr_axis){.total = count, .index = words, .place = words + count};
    for (int64_t k = 0, at = 0; k < x->total; k++) {
        int64_t i = wr_axis_at(x, k);
        if (i / d->block % d->grid != d->place)
            continue;
        words[at] = i / d->block / d->grid * d->block + i % d->block;
        words[count + at++] = wr_axis_place(x, k);
    }
    return 0;
}

static int meet(const wr_axis *x, const dealt *d, wr_arena *memory, wr_axis *out)
{
    *out = (wr_axis){.step = 1};
    if (!x || !x->total)
        return 0;
    const bool range = !x->index && x->blocks == 1 && !x->tail;
    if (range && d->block >= wr_div_ceil(d->n, d->grid))
        *out = meet_block(x, d);
    else if (range && x->step == 1)
        *out = meet_dealt(x, d);
    else
        return meet_list(x, d, memory, out);
    for (int i = 0; x->pieces && i < out->pieces; i++) /* a part has places of its own */
        out->piece[i].first += x->piece[0].first;
    return 0;
}

/* --- all members --- */

/* Pairs of one member after the other. */
typedef struct members {
    const weir_array *array;
    wr_arena memory;
    int64_t count, room;
    wr_pair *pairs;
} members;

static int join(members *m, int code, wr_pair *out)
{
    if (!code)
        code = wr_pairs_join(m->count, m->pairs, out);
    else
        while (m->count)
            wr_pair_release(&m->pairs[--m->count]);
    wr_free(m->pairs);
    wr_arena_release(&m->memory);
    return code;
}

static wr_pair *next_pair(members *m)
{
    if (wr_grow((void **)&m->pairs, &m->room, m->count + 1, sizeof *m->pairs))
        return NULL;
    return &m->pairs[m->count];
}

/* An axis in each dimension, for all places of the grid. */
static int meet_all(members *m, const wr_axis *const *axes, wr_axis **out)
{
    const weir_array_info *info = &m->array->info;
    int code = 0;
    for (int d = 0; d < info->dimensions && !code; d++) {
        const int grid = wr_distribution_grid(&info->distribution, d);
        out[d] = wr_arena_alloc(&m->memory, grid * (int64_t)sizeof(wr_axis));
        code = out[d] ? 0 : WEIR_ENOMEM;
        for (int place = 0; place < grid && !code; place++) {
            dealt at = dealt_of(m->array, d, place);
            code = meet(axes[d], &at, &m->memory, &out[d][place]);
        }
    }
    return code;
}

/* The axes of a member; false if it has nothing. */
static bool pick(const weir_array *array, int member, wr_axis *const *all, wr_axis *out)
{
    const weir_array_info *info = &array->info;
    int place[WEIR_MAX_DIMENSIONS];
    bool some = true;
    wr_distribution_place(&info->distribution, info->dimensions, member, place);
    for (int d = 0; d < info->dimensions; d++) {
        out[d] = all[d][place[d]];
        some = some && out[d].total;
    }
    return some;
}

int wr_members_pair(const weir_array *array, const wr_axis *axes, const wr_layout *layout,
                    wr_pair *out)
{
    members m = {.array = array};
    const wr_axis *given[WEIR_MAX_DIMENSIONS] = {NULL};
    wr_axis *all[WEIR_MAX_DIMENSIONS], one[WEIR_MAX_DIMENSIONS];
    for (int d = 0; d < array->info.dimensions; d++)
        given[d] = &axes[d];
    int code = meet_all(&m, given, all);
    for (int i = 0; i < array->info.members && !code; i++) {
        if (!pick(array, i, all, one))
            continue;
        wr_body body = wr_array_member(array, i);
        wr_pair *pair = next_pair(&m);
        code = pair ? wr_axes_pair(&body, one, layout, pair) : WEIR_ENOMEM;
        m.count += !code;
    }
    return join(&m, code, out);
}

enum { CUTS = 4 };

static const wr_axis *cut_axis(const wr_cuts *cuts, int which)
{
    const wr_axis *const axis[CUTS] = {&cuts->before, &cuts->in, &cuts->behind, &cuts->all};
    return axis[which];
}

/* The cuts of a member; false if it has nothing at all. */
static bool pick_cuts(const weir_array *array, int member,
                      wr_axis *(*const all)[WEIR_MAX_DIMENSIONS], wr_cuts *out)
{
    wr_axis one[CUTS][WEIR_MAX_DIMENSIONS];
    bool some = false;
    for (int which = 0; which < CUTS; which++)
        some = pick(array, member, all[which], one[which]);
    for (int d = 0; d < array->info.dimensions; d++)
        out[d] = (wr_cuts){one[0][d], one[1][d], one[2][d], one[3][d]};
    return some; /* of the last: everything */
}

int wr_members_rest(const weir_array *array, const wr_cuts *cuts, const wr_layout *layout,
                    wr_pair *out)
{
    members m = {.array = array};
    wr_axis *all[CUTS][WEIR_MAX_DIMENSIONS];
    int code = 0;
    for (int which = 0; which < CUTS && !code; which++) {
        const wr_axis *given[WEIR_MAX_DIMENSIONS] = {NULL};
        for (int d = 0; d < array->info.dimensions; d++)
            given[d] = cut_axis(&cuts[d], which);
        code = meet_all(&m, given, all[which]);
    }
    for (int i = 0; i < array->info.members && !code; i++) {
        wr_cuts own[WEIR_MAX_DIMENSIONS];
        if (!pick_cuts(array, i, all, own))
            continue;
        wr_body body = wr_array_member(array, i);
        wr_pair *pair = next_pair(&m);
        code = pair ? wr_axes_rest(&body, own, layout, pair) : WEIR_ENOMEM;
        m.count += !code;
    }
    return join(&m, code, out);
}
