/* Read with reuse: what is in memory already is copied, the rest around it is read. */
#include "array/reuse.h"

#include "array/member_axes.h"
#include "array/moves.h"
#include "base/arith.h"

/* What a dimension of two selections has in common: `count` indices, from number `want` of the one
 * on, and from number `hold` of the other, `pace` numbers apart there. Numbers ascend by index. */
typedef struct common {
    int64_t want, hold, count, pace;
} common;

/* False if nothing, or nothing that is found, is in common. */
static bool find_common(const wr_axis *wanted, const wr_axis *held, common *out)
{
    if (wanted->index || held->index || !wanted->total || !held->total ||
        wanted->step % held->step || (wanted->lo - held->lo) % held->step)
        return false;
    const int64_t held_last = held->lo + (held->total - 1) * held->step;
    int64_t first = 0, last = wanted->total - 1;
    if (held->lo > wanted->lo)
        first = wr_div_ceil(held->lo - wanted->lo, wanted->step);
    if (held_last < wanted->lo + last * wanted->step)
        last = wr_div_floor(held_last - wanted->lo, wanted->step);
    *out = (common){.want = first,
                    .hold = (wanted->lo + first * wanted->step - held->lo) / held->step,
                    .count = last - first + 1,
                    .pace = wanted->step / held->step};
    return last >= first && first < wanted->total;
}

/* Where in memory number `first` of a dimension is, and how far it is to the next. */
static void walk(const wr_axis *x, int64_t first, int64_t pace, int64_t *offset, int64_t *stride)
{
    *offset += *stride * (x->reversed ? x->mirror - first : first);
    *stride = x->reversed ? -*stride * pace : *stride * pace;
}

/* Copies what is in common, which lies in memory as strides say. */
static int copy_common(const wr_axes *wanted, char *base, const wr_axes *held, const char *from,
                       const common *both)
{
    wr_body source = {.dimensions = wanted->dimensions, .element = wanted->layout.element};
    wr_layout target = wanted->layout;
    wr_axis axes[WEIR_MAX_DIMENSIONS];
    wr_pair pair;
    for (int d = 0; d < wanted->dimensions; d++) {
        int64_t n = both[d].count;
        source.order[d] = d;
        source.stride[d] = held->layout.stride[d];
        walk(&held->axis[d], both[d].hold, both[d].pace, &source.offset, &source.stride[d]);
        walk(&wanted->axis[d], both[d].want, 1, &target.offset, &target.stride[d]);
        axes[d] = (wr_axis){.total = n, .step = 1, .count = n, .blocks = 1};
    }
    int code = wr_axes_pair(&source, axes, &target, &pair);
    if (!code)
        code = weir_pattern_copy(pair.file, from, pair.memory, base);
    wr_pair_release(&pair);
    return code;
}

static bool is_plain(const weir_array *array, const weir_selection *s, const weir_layout *layout)
{
    return !s->boxes && !s->box_lo && wr_layout_type(array, layout) == array->info.type;
}

/* Two selections of one array, and what they have in common. */
typedef struct meeting {
    wr_body body;
    wr_axes wanted, held;
    common both[WEIR_MAX_DIMENSIONS];
} meeting;

static void part(meeting *m)
{
    wr_axes_release(&m->wanted);
    wr_axes_release(&m->held);
}

/* 1, and then to be parted, 0 if there is nothing in common, or a negative code. */
static int meet(const weir_array *array, const weir_selection *wanted, const weir_layout *layout,
                const weir_held *held, meeting *m)
{
    const weir_selection *there = held ? held->selection : NULL;
    if (!there || array->tiling.levels || !is_plain(array, wanted, layout) ||
        !is_plain(array, there, held->layout) || wanted->local != there->local)
        return 0;
    int code = wr_selection_body(array, wanted, &m->body);
    if (!code)
        code = wr_axes_build(&m->body, wanted, layout, m->body.element, false, &m->wanted);
    if (code)
        return code;
    code = wr_axes_build(&m->body, there, held->layout, m->body.element, false, &m->held);
    if (code) {
        wr_axes_release(&m->wanted);
        return code;
    }
    bool some = true;
    for (int d = 0; d < m->body.dimensions && some; d++)
        some = find_common(&m->wanted.axis[d], &m->held.axis[d], &m->both[d]);
    if (!some)
        part(m);
    return some;
}

int wr_reuse_copy(const weir_array *array, const weir_selection *wanted, const weir_layout *layout,
                  char *base, const weir_held *held)
{
    meeting m;
    int code = meet(array, wanted, layout, held, &m);
    if (code <= 0)
        return code;
    code = copy_common(&m.wanted, base, &m.held, held->base, m.both);
    part(&m);
    return code;
}

int wr_reuse_map_rest(const weir_array *array, const weir_selection *wanted,
                      const weir_layout *layout, const weir_held *held, wr_mapping *out)
{
    meeting m;
    wr_cuts cuts[WEIR_MAX_DIMENSIONS];
    int code = meet(array, wanted, layout, held, &m);
    if (code < 0)
        return code;
    if (!code)
        return wr_mapping_build(array, wanted, layout, false, out);
    *out = (wr_mapping){0};
    for (int d = 0; d < m.body.dimensions; d++) {
        const wr_axis *x = &m.wanted.axis[d];
        const int64_t lo = m.both[d].want, hi = lo + m.both[d].count;
        cuts[d] = (wr_cuts){wr_axis_part(x, 0, lo), wr_axis_part(x, lo, hi - lo),
                            wr_axis_part(x, hi, x->total - hi), *x};
    }
    code = array->info.members && !wanted->local
               ? wr_members_rest(array, cuts, &m.wanted.layout, &out->pair)
               : wr_axes_rest(&m.body, cuts, &m.wanted.layout, &out->pair);
    if (!code)
        out->elements = weir_pattern_bytes(out->pair.file) / m.body.element;
    part(&m);
    return code;
}

int weir_array_read_reuse(weir_array *array, const weir_selection *selection,
                          const weir_layout *layout, void *base, const weir_held *held)
{
    wr_mapping mapping;
    wr_move m = {.array = array, .direction = WR_READ};
    int code = held ? wr_check_reserved(held->reserved, "weir_held") : 0;
    if (!code)
        code = wr_reuse_map_rest(array, selection, layout, held, &mapping);
    if (!code)
        code = wr_move_prepare(&m, &mapping, wr_layout_type(array, layout), base);
    if (!code)
        code = wr_move_run(&m, NULL, 0);
    else
        wr_error_note_file(array->path, -1);
    return code ? code : wr_reuse_copy(array, selection, layout, base, held);
}
