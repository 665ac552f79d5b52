/* Selections become axes, one per dimension; axes become a pair of patterns. Lists of indices are
 * sorted for the file, and repeated indices become copies in memory after reading. */
#include "array/mapping.h"

#include <stdlib.h>
#include <string.h>

#include "array/distribution.h"
#include "array/member_axes.h"
#include "array/tile_axes.h"
#include "base/arith.h"

void wr_mapping_release(wr_mapping *m)
{
    wr_pair_release(&m->pair);
    for (int64_t i = 0; i < m->made_count; i++)
        weir_pattern_free(m->made[i]);
    wr_free(m->made);
    wr_free(m->again);
    *m = (wr_mapping){0};
}

int wr_mapping_keep(wr_mapping *m, weir_pattern *p)
{
    int code = wr_grow((void **)&m->made, &m->made_room, m->made_count + 1, sizeof(weir_pattern *));
    if (code)
        weir_pattern_free(p);
    else
        m->made[m->made_count++] = p;
    return code;
}

int wr_mapping_add(wr_mapping *m, const wr_again *again)
{
    int code = wr_grow((void **)&m->again, &m->again_room, m->again_count + 1, sizeof *m->again);
    if (!code)
        m->again[m->again_count++] = *again;
    return code;
}

void wr_mapping_repeat(const wr_mapping *m, char *base)
{
    for (int64_t i = 0; i < m->again_count; i++) {
        const wr_again *a = &m->again[i];
        weir_pattern_copy(a->from, base + a->from_at, a->to, base + a->to_at);
    }
}

/* --- axes --- */

static int refuse_index(int64_t index, int d, int64_t n)
{
    return wr_fail(WEIR_EINVAL, "index %lld in dimension %d of size %lld", (long long)index, d,
                   (long long)n);
}

static int range_axis(const weir_selection *s, int d, int64_t n, wr_axis *out)
{
    int64_t step = s->step ? s->step[d] : 1, size, last = 0;
    int64_t lo = s->lo ? s->lo[d] : step > 0 ? 0 : n - 1;
    int64_t hi = s->hi ? s->hi[d] : step > 0 ? n : -1;
    if (step == 0 || step == INT64_MIN)
        return wr_fail(WEIR_EINVAL, "step %lld in dimension %d", (long long)step, d);
    if (!wr_sub(step > 0 ? hi : lo, step > 0 ? lo : hi, &size))
        return wr_fail(WEIR_EINVAL, "bounds %lld and %lld in dimension %d", (long long)lo,
                       (long long)hi, d);
    int64_t by = step > 0 ? step : -step;
    int64_t count = wr_div_ceil(wr_max(0, size), by);
    *out = (wr_axis){.total = count, .lo = lo, .step = by, .count = count, .blocks = 1};
    if (!count)
        return 0;
    last = lo + (count - 1) * step;
    if (lo < 0 || lo >= n || last < 0 || last >= n)
        return refuse_index(lo < 0 || lo >= n ? lo : last, d, n);
    out->lo = wr_min(lo, last);
    out->reversed = step < 0 && count > 1;
    out->mirror = count - 1;
    return 0;
}

typedef struct entry {
    int64_t index, place;
} entry;

static int compare(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* A list in ascending order, each index once; where the others are goes to `repeat`. */
static int list_axis(const weir_selection *s, int d, bool write, wr_axes *out)
{
    const int64_t count = s->count[d];
    entry *list = wr_arena_alloc(&out->memory, count * (int64_t)sizeof *list);
    int64_t *words = wr_arena_alloc(&out->memory, 4 * count * (int64_t)sizeof *words);
    if (!list || !words)
        return WEIR_ENOMEM;
    int64_t *index = words, *place = words + count, *repeat = words + 2 * count;
    int64_t used = 0, repeats = 0;
    for (int64_t i = 0; i < count; i++)
        list[i] = (entry){s->index[d][i], i};
    qsort(list, (size_t)count, sizeof *list, compare);
    for (int64_t i = 0; i < count; i++)
        if (used && index[used - 1] == list[i].index) {
            repeat[2 * repeats] = place[used - 1];
            repeat[2 * repeats++ + 1] = list[i].place;
        } else {
            index[used] = list[i].index;
            place[used++] = list[i].place;
        }
    if (write && repeats)
        return wr_fail(WEIR_EINVAL, "an index comes twice in dimension %d of what is written", d);
    out->axis[d] = (wr_axis){.total = used, .index = index, .place = place};
    out->repeat[d] = repeat;
    out->repeats[d] = repeats;
    return 0;
}

static int check_list(const weir_selection *s, int d, int64_t n)
{
    if (!s->count || s->count[d] < 0 || s->count[d] > INT64_MAX / 64)
        return wr_fail(WEIR_EINVAL, "no valid length of the index list in dimension %d", d);
    for (int64_t i = 0; i < s->count[d]; i++)
        if (s->index[d][i] < 0 || s->index[d][i] >= n)
            return refuse_index(s->index[d][i], d, n);
    return 0;
}

static int set_layout(const weir_layout *given, int dimensions, const int64_t *taken,
                      wr_layout *out)
{
    static const weir_layout dense;
    const weir_layout *l = given ? given : &dense;
    int code = wr_check_reserved(l->reserved, "weir_layout");
    if (code)
        return code;
    if (l->order && !wr_is_permutation(dimensions, l->order))
        return wr_fail(WEIR_EINVAL, "the order in memory is no permutation of the dimensions");
    if (l->stride)
        memcpy(out->stride, l->stride, (size_t)dimensions * sizeof *l->stride);
    else if (!wr_layout_dense(out, dimensions, taken, l->order))
        return wr_fail(WEIR_ERANGE, "what is selected does not fit 64 bits");
    return 0;
}

int wr_axes_build(const wr_body *f, const weir_selection *s, const weir_layout *layout,
                  int64_t element, bool write, wr_axes *out)
{
    int code = wr_check_reserved(s->reserved, "weir_selection");
    *out = (wr_axes){.dimensions = f->dimensions, .layout.element = element};
    for (int d = 0; d < f->dimensions && !code; d++) {
        if (s->index && s->index[d]) {
            code = check_list(s, d, f->shape[d]);
            if (!code)
                code = list_axis(s, d, write, out);
            out->taken[d] = code ? 0 : s->count[d];
        } else {
            code = range_axis(s, d, f->shape[d], &out->axis[d]);
            out->taken[d] = out->axis[d].total;
        }
    }
    if (!code)
        code = set_layout(layout, f->dimensions, out->taken, &out->layout);
    if (code)
        wr_axes_release(out);
    return code;
}

void wr_axes_release(wr_axes *axes)
{
    wr_arena_release(&axes->memory);
}

wr_body wr_array_member(const weir_array *array, int m)
{
    const weir_array_info *info = &array->info;
    wr_body f = {
        .dimensions = info->dimensions, .element = array->body.element, .offset = array->start[m]};
    weir_distribution_shape(&info->distribution, info->dimensions, info->shape, m, f.shape);
    wr_body_settle(&f, info->columns);
    return f;
}

/* --- mappings --- */

int wr_selection_body(const weir_array *array, const weir_selection *s, wr_body *out)
{
    *out = array->body;
    if (s->local < 0 || s->local > array->info.members)
        return wr_fail(WEIR_EINVAL, "local array %d of an array that has %d", s->local - 1,
                       array->info.members);
    if (s->local)
        *out = wr_array_member(array, s->local - 1);
    return 0;
}

int wr_layout_type(const weir_array *array, const weir_layout *layout)
{
    return layout && layout->type ? layout->type : array->info.type;
}

int64_t wr_layout_element(const weir_array *array, const weir_layout *layout)
{
    return weir_type_bytes(wr_layout_type(array, layout));
}

int wr_axes_place(const weir_array *array, const wr_body *body, bool whole, const wr_axes *axes,
                  wr_pair *out)
{
    if (array->tiling.levels)
        return wr_tiled_pair(&(wr_tiled){&array->tiling, body}, axes->axis, &axes->layout, out);
    if (array->info.members && whole)
        return wr_members_pair(array, axes->axis, &axes->layout, out);
    return wr_axes_pair(body, axes->axis, &axes->layout, out);
}

/* Everything that is selected at one place of dimension d, as it lies in memory. */
static int slice_at(const wr_axes *axes, int d, weir_pattern **out)
{
    wr_body memory = {.dimensions = axes->dimensions, .element = axes->layout.element};
    wr_axis all[WEIR_MAX_DIMENSIONS];
    wr_pair pair;
    for (int i = 0; i < axes->dimensions; i++) {
        int64_t n = i == d ? 1 : axes->taken[i];
        all[i] = (wr_axis){.total = n, .step = 1, .count = n, .blocks = 1};
        memory.order[i] = i;
        memory.stride[i] = axes->layout.stride[i];
    }
    int code = wr_axes_pair(&memory, all, &axes->layout, &pair);
    if (code)
        return code;
    weir_pattern_free(pair.file);
    *out = pair.memory;
    return 0;
}

/* Repeated indices: a dimension's copies have what earlier dimensions copied. */
static int add_repeats(const wr_axes *axes, wr_mapping *out)
{
    int code = 0;
    for (int d = 0; d < axes->dimensions && !code; d++) {
        weir_pattern *slice = NULL;
        if (!axes->repeats[d])
            continue;
        code = slice_at(axes, d, &slice);
        if (!code)
            code = wr_mapping_keep(out, slice);
        for (int64_t i = 0; i < axes->repeats[d] && !code; i++) {
            int64_t stride = axes->layout.stride[d];
            wr_again again = {slice, slice, axes->repeat[d][2 * i] * stride,
                              axes->repeat[d][2 * i + 1] * stride};
            code = wr_mapping_add(out, &again);
        }
    }
    return code;
}

/* For sieve_unit=column: slices of the slowest dimension from bound to bound, wanted or not. */
static void set_columns(const wr_body *f, const weir_selection *s, wr_mapping *out)
{
    if (!f->dimensions || (s->index && s->index[f->order[0]]) || !out->elements)
        return;
    int d = f->order[0];
    int64_t step = s->step ? s->step[d] : 1;
    int64_t lo = s->lo ? s->lo[d] : 0, hi = s->hi ? s->hi[d] : f->shape[d];
    if (step < 0)
        return;
    out->column = f->stride[d];
    out->lo = f->offset + lo * f->stride[d];
    out->hi = f->offset + wr_min(hi, f->shape[d]) * f->stride[d];
}

static int build_ranges(const weir_array *array, const weir_selection *s, const weir_layout *layout,
                        bool write, wr_mapping *out)
{
    wr_body body;
    wr_axes axes;
    bool whole = !s->local;
    int code = wr_selection_body(array, s, &body);
    if (!code)
        code = wr_axes_build(&body, s, layout, wr_layout_element(array, layout), write, &axes);
    if (code)
        return code;
    code = wr_axes_place(array, &body, whole, &axes, &out->pair);
    if (!code)
        code = add_repeats(&axes, out);
    if (!code) {
        out->elements = weir_pattern_bytes(out->pair.file) / body.element;
        if ((!array->info.members || !whole) && !array->tiling.levels)
            set_columns(&body, s, out);
    }
    wr_axes_release(&axes);
    return code;
}

static int build_nothing(wr_mapping *out)
{
    int code = weir_pattern_contiguous(0, 0, &out->pair.file);
    return code ? code : weir_pattern_contiguous(0, 0, &out->pair.memory);
}

int wr_mapping_build(const weir_array *array, const weir_selection *s, const weir_layout *layout,
                     bool write, wr_mapping *out)
{
    int code = 0;
    *out = (wr_mapping){0};
    if (!s)
        code = build_nothing(out);
    else if (!wr_layout_element(array, layout))
        code = wr_fail(WEIR_EINVAL, "type %d in memory", layout->type);
    else if (s->boxes || s->box_lo || s->box_hi)
        code = wr_mapping_boxes(array, s, layout, write, out);
    else
        code = build_ranges(array, s, layout, write, out);
    if (code)
        wr_mapping_release(out);
    return code;
}

int wr_mapping_build_part(const weir_array *array, const weir_distribution *d, int rank,
                          const weir_layout *layout, wr_mapping *out)
{
    const weir_array_info *info = &array->info;
    int ranks, place[WEIR_MAX_DIMENSIONS];
    wr_axes axes = {.dimensions = info->dimensions,
                    .layout.element = wr_layout_element(array, layout)};
    *out = (wr_mapping){0};
    int code = wr_distribution_check(d, info->dimensions, INT32_MAX, &ranks);
    if (code || rank >= ranks)
        return code ? code : wr_mapping_build(array, NULL, NULL, true, out);
    wr_distribution_place(d, info->dimensions, rank, place);
    for (int i = 0; i < info->dimensions; i++) {
        axes.axis[i] = wr_distribution_axis(d, i, info->shape[i], place[i]);
        axes.taken[i] = axes.axis[i].total;
    }
    code = axes.layout.element ? set_layout(layout, info->dimensions, axes.taken, &axes.layout)
                               : wr_fail(WEIR_EINVAL, "type %d in memory", layout->type);
    if (!code)
        code = wr_axes_place(array, &array->body, true, &axes, &out->pair);
    if (!code)
        out->elements = weir_pattern_bytes(out->pair.file) / array->body.element;
    return code;
}
