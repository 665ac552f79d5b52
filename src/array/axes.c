/* From axes to patterns: one loop nest for each side, grown from the fastest dimension outwards. */
#include "array/axes.h"

#include "base/arith.h"
#include "base/error.h"

int64_t wr_axis_at(const wr_axis *x, int64_t k)
{
    if (x->index)
        return x->index[k];
    return x->lo + k / x->count * x->jump + k % x->count * x->step;
}

int64_t wr_axis_place(const wr_axis *x, int64_t k)
{
    if (x->place)
        return x->place[k];
    const int64_t place = (x->pieces ? x->piece[0].first : 0) + k;
    return x->reversed ? x->mirror - place : place;
}

wr_axis wr_axis_part(const wr_axis *x, int64_t first, int64_t total)
{
    wr_axis part = *x;
    part.lo += first * x->step;
    part.total = part.count = total;
    part.pieces = 1;
    part.piece[0] = (wr_places){first, total, 1, 0};
    return part;
}

bool wr_body_settle(wr_body *f, bool columns)
{
    int64_t stride = f->element;
    for (int i = 0; i < f->dimensions; i++)
        f->order[i] = columns ? f->dimensions - 1 - i : i;
    for (int i = f->dimensions - 1; i >= 0; i--) {
        f->stride[f->order[i]] = stride;
        if (!wr_mul(stride, wr_max(1, f->shape[f->order[i]]), &stride))
            return false;
    }
    return true;
}

void wr_body_share_grain(wr_body *body, const wr_body *other, const int *axes)
{
    for (int d = 0; d < body->dimensions; d++) {
        const int64_t own = wr_max(1, body->grain[d]);
        const int64_t theirs = wr_max(1, other->grain[axes ? axes[d] : d]);
        int64_t both;
        if (wr_mul(own / wr_gcd(own, theirs), theirs, &both) && both <= body->shape[d])
            body->grain[d] = both;
    }
}

void wr_pair_release(wr_pair *pair)
{
    weir_pattern_free(pair->file);
    weir_pattern_free(pair->memory);
    *pair = (wr_pair){0};
}

bool wr_layout_dense(wr_layout *layout, int dimensions, const int64_t *shape, const int *order)
{
    int64_t stride = layout->element;
    for (int i = dimensions - 1; i >= 0; i--) {
        int d = order ? order[i] : i;
        layout->stride[d] = stride;
        if (!wr_mul(stride, wr_max(1, shape[d]), &stride))
            return false;
    }
    return true;
}

/* Replaces *p by what a constructor makes of it. */
static int replace(weir_pattern **p, int code, weir_pattern *made)
{
    weir_pattern_free(*p);
    *p = code ? NULL : made;
    return code;
}

int wr_axes_repeat(weir_pattern **p, int64_t count, int64_t extent)
{
    weir_pattern *made = NULL;
    if (count == 1)
        return 0;
    int code = weir_pattern_repeat(*p, count, extent, &made);
    return replace(p, code, made);
}

/* *p once for each of `count` numbers, so many times `stride` further. */
static int scatter(weir_pattern **p, int64_t count, const int64_t *number, int64_t stride)
{
    weir_pattern *made = NULL;
    int64_t *offset = wr_alloc_array(count, sizeof *offset);
    const weir_pattern **part = wr_alloc_array(count, sizeof(const weir_pattern *));
    int code = offset && part ? 0 : WEIR_ENOMEM;
    for (int64_t i = 0; i < count && !code; i++) {
        part[i] = *p;
        if (!wr_mul(number[i], stride, &offset[i]))
            code = wr_fail(WEIR_ERANGE, "index %lld times %lld bytes", (long long)number[i],
                           (long long)stride);
    }
    if (!code)
        code = weir_pattern_concat(count, offset, part, &made);
    wr_free(part);
    wr_free(offset);
    return replace(p, code, made);
}

/* `main` and, `apart` bytes further, `tail`, of which main is replaced and tail freed. */
static int append(weir_pattern **main, weir_pattern *tail, int64_t apart)
{
    weir_pattern *made = NULL;
    const weir_pattern *part[] = {*main, tail};
    int64_t offset[] = {0, apart};
    int code = weir_pattern_concat(2, offset, part, &made);
    weir_pattern_free(tail);
    return replace(main, code, made);
}

static int grow_file(weir_pattern **p, const wr_axis *x, int64_t stride)
{
    weir_pattern *tail = NULL;
    if (x->index)
        return scatter(p, x->total, x->index, stride);
    int code = x->tail ? weir_pattern_repeat(*p, x->tail, x->step * stride, &tail) : 0;
    if (!code)
        code = wr_axes_repeat(p, x->count, x->step * stride);
    if (!code && x->blocks > 1)
        code = wr_axes_repeat(p, x->blocks, x->jump * stride);
    if (!code && x->tail)
        return append(p, tail, x->blocks * x->jump * stride);
    weir_pattern_free(tail);
    return code;
}

static int grow_pieces(weir_pattern **p, const wr_axis *x, int64_t stride)
{
    weir_pattern *part[3] = {NULL, NULL, NULL}, *made = NULL;
    int64_t offset[3] = {0};
    int code = 0;
    for (int i = 0; i < x->pieces && !code; i++) {
        const wr_places *places = &x->piece[i];
        offset[i] = places->first * stride;
        code = weir_pattern_repeat(*p, places->count, stride, &part[i]);
        if (!code && places->blocks > 1)
            code = wr_axes_repeat(&part[i], places->blocks, places->jump * stride);
    }
    if (!code)
        code = weir_pattern_concat(x->pieces, offset, (const weir_pattern *const *)part, &made);
    for (int i = 0; i < x->pieces; i++)
        weir_pattern_free(part[i]);
    return replace(p, code, made);
}

static int grow_memory(weir_pattern **p, const wr_axis *x, int64_t stride)
{
    const int64_t step = x->reversed ? -stride : stride;
    if (x->place)
        return scatter(p, x->total, x->place, stride);
    return x->pieces ? grow_pieces(p, x, step) : wr_axes_repeat(p, x->total, step);
}

/* Where the first element of each side is. */
static void find_starts(const wr_body *f, const wr_axis *axes, const wr_layout *l, int64_t *file,
                        int64_t *memory)
{
    *file = f->offset;
    *memory = l->offset;
    for (int i = 0; i < f->dimensions; i++) {
        *file += axes[i].index ? 0 : axes[i].lo * f->stride[i];
        *memory += axes[i].reversed ? axes[i].mirror * l->stride[i] : 0;
    }
}

int wr_axes_move(weir_pattern **p, int64_t offset)
{
    weir_pattern *made = NULL;
    if (!offset)
        return 0;
    int code = weir_pattern_concat(1, &offset, (const weir_pattern *const[]){*p}, &made);
    return replace(p, code, made);
}

int wr_axes_pair(const wr_body *f, const wr_axis *axes, const wr_layout *l, wr_pair *out)
{
    int64_t file, memory;
    bool empty = false;
    for (int i = 0; i < f->dimensions; i++)
        empty = empty || !axes[i].total;
    *out = (wr_pair){0};
    int code = weir_pattern_contiguous(0, empty ? 0 : f->element, &out->file);
    if (!code)
        code = weir_pattern_contiguous(0, empty ? 0 : l->element, &out->memory);
    for (int i = f->dimensions - 1; i >= 0 && !code && !empty; i--) {
        int d = f->order[i];
        code = grow_file(&out->file, &axes[d], f->stride[d]);
        if (!code)
            code = grow_memory(&out->memory, &axes[d], l->stride[d]);
    }
    find_starts(f, axes, l, &file, &memory);
    if (!code && !empty)
        code = wr_axes_move(&out->file, file);
    if (!code && !empty)
        code = wr_axes_move(&out->memory, memory);
    if (code)
        wr_pair_release(out);
    return code;
}

int wr_pairs_join(int64_t count, wr_pair *pairs, wr_pair *out)
{
    const weir_pattern **part = wr_alloc_array(wr_max(1, count), sizeof(const weir_pattern *));
    int code = part ? 0 : WEIR_ENOMEM;
    *out = (wr_pair){0};
    for (int64_t i = 0; i < count && !code; i++)
        part[i] = pairs[i].file;
    if (!code)
        code = weir_pattern_concat(count, NULL, part, &out->file);
    for (int64_t i = 0; i < count && !code; i++)
        part[i] = pairs[i].memory;
    if (!code)
        code = weir_pattern_concat(count, NULL, part, &out->memory);
    if (code)
        wr_pair_release(out);
    for (int64_t i = 0; i < count; i++)
        wr_pair_release(&pairs[i]);
    wr_free(part);
    return code;
}

/* One side of a box without a smaller one inside it, of the dimensions so far. */
typedef struct shell {
    weir_pattern *whole, *rest;
} shell;

static void release_shell(shell *s)
{
    weir_pattern_free(s->whole);
    weir_pattern_free(s->rest);
}

/* `inner` for each index of an axis, on one side. */
static int along(const weir_pattern *inner, const wr_axis *x, int64_t stride, bool in_memory,
                 weir_pattern **out)
{
    int64_t start = x->index ? 0 : x->lo;
    if (in_memory)
        start = x->reversed ? x->mirror : 0;
    *out = NULL;
    if (!x->total)
        return weir_pattern_contiguous(0, 0, out);
    int code = weir_pattern_concat(1, NULL, &inner, out);
    if (!code)
        code = (in_memory ? grow_memory : grow_file)(out, x, stride);
    return code ? code : wr_axes_move(out, start * stride);
}

/* One more dimension: before and behind the range there is everything, in it what is around the
 * inside. */
static int grow_shell(shell *s, const wr_cuts *cuts, int64_t stride, bool in_memory)
{
    weir_pattern *part[3] = {NULL, NULL, NULL}, *whole = NULL, *made = NULL;
    int code = along(s->whole, &cuts->before, stride, in_memory, &part[0]);
    if (!code)
        code = along(s->rest, &cuts->in, stride, in_memory, &part[1]);
    if (!code)
        code = along(s->whole, &cuts->behind, stride, in_memory, &part[2]);
    if (!code)
        code = along(s->whole, &cuts->all, stride, in_memory, &whole);
    if (!code)
        code = weir_pattern_concat(3, NULL, (const weir_pattern *const *)part, &made);
    for (int i = 0; i < 3; i++)
        weir_pattern_free(part[i]);
    code = replace(&s->rest, code, made);
    if (code)
        weir_pattern_free(whole);
    return code ? code : replace(&s->whole, 0, whole);
}

static int start_shell(shell *s, int64_t element)
{
    int code = weir_pattern_contiguous(0, element, &s->whole);
    return code ? code : weir_pattern_contiguous(0, 0, &s->rest);
}

int wr_axes_rest(const wr_body *f, const wr_cuts *cuts, const wr_layout *l, wr_pair *out)
{
    shell file = {0}, memory = {0};
    int code = start_shell(&file, f->element);
    if (!code)
        code = start_shell(&memory, l->element);
    for (int i = f->dimensions - 1; i >= 0 && !code; i--) {
        int d = f->order[i];
        code = grow_shell(&file, &cuts[d], f->stride[d], false);
        if (!code)
            code = grow_shell(&memory, &cuts[d], l->stride[d], true);
    }
    if (!code)
        code = wr_axes_move(&file.rest, f->offset);
    if (!code)
        code = wr_axes_move(&memory.rest, l->offset);
    *out = code ? (wr_pair){0} : (wr_pair){file.rest, memory.rest};
    if (!code)
        file.rest = memory.rest = NULL;
    release_shell(&file);
    release_shell(&memory);
    return code;
}
