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
    return x->reversed ? x->total - 1 - k : k;
}

wr_axis wr_axis_part(const wr_axis *x, int64_t first, int64_t total)
{
    wr_axis part = *x;
    part.lo += first * x->step;
    part.total = part.count = total;
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

static int repeat(weir_pattern **p, int64_t count, int64_t extent)
{
    weir_pattern *made = NULL;
    int code = weir_pattern_repeat(*p, count, extent, &made);
    return replace(p, code, made);
}

/* *p once for each of `count` numbers, so many times `stride` further. */
static int scatter(weir_pattern **p, int64_t count, const int64_t *number, int64_t stride)
{
    weir_pattern *made = NULL;
    int64_t *offset = wr_alloc_array(count, sizeof *offset);
    const weir_pattern **part = wr_alloc_array(count, sizeof *part);
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
        code = repeat(p, x->count, x->step * stride);
    if (!code && x->blocks > 1)
        code = repeat(p, x->blocks, x->jump * stride);
    if (!code && x->tail)
        return append(p, tail, x->blocks * x->jump * stride);
    weir_pattern_free(tail);
    return code;
}

static int grow_memory(weir_pattern **p, const wr_axis *x, int64_t stride)
{
    if (x->place)
        return scatter(p, x->total, x->place, stride);
    return repeat(p, x->total, x->reversed ? -stride : stride);
}

/* Where the first element of each side is. */
static void find_starts(const wr_body *f, const wr_axis *axes, const wr_layout *l, int64_t *file,
                        int64_t *memory)
{
    *file = f->offset;
    *memory = l->offset;
    for (int i = 0; i < f->dimensions; i++) {
        *file += axes[i].index ? 0 : axes[i].lo * f->stride[i];
        *memory += axes[i].reversed ? (axes[i].total - 1) * l->stride[i] : 0;
    }
}

static int move_by(weir_pattern **p, int64_t offset)
{
    weir_pattern *made = NULL;
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
        code = move_by(&out->file, file);
    if (!code && !empty)
        code = move_by(&out->memory, memory);
    if (code)
        wr_pair_release(out);
    return code;
}

int wr_pairs_join(int64_t count, wr_pair *pairs, wr_pair *out)
{
    const weir_pattern **part = wr_alloc_array(wr_max(1, count), sizeof *part);
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

/* The parts of a box around a smaller one, in storage order: in each dimension what is before it,
 * and what is behind it, of what the slower dimensions have in common with it. */
typedef struct around {
    const wr_body *body;
    const wr_layout *layout;
    wr_axis now[WEIR_MAX_DIMENSIONS];
    wr_layout at;
    wr_pair pairs[2 * WEIR_MAX_DIMENSIONS];
    int count;
} around;

/* The axes as they are now, but dimension d only from number `first` on, `total` of them. */
static int add_part(around *a, int d, int64_t first, int64_t total)
{
    if (total <= 0)
        return 0;
    wr_axis axes[WEIR_MAX_DIMENSIONS];
    wr_layout at = a->at;
    for (int i = 0; i < a->body->dimensions; i++)
        axes[i] = a->now[i];
    axes[d] = wr_axis_part(&axes[d], first, total);
    at.offset += first * at.stride[d];
    return wr_axes_pair(a->body, axes, &at, &a->pairs[a->count++]);
}

/* Reversed dimensions are walked forwards in memory too, by a negative stride. */
static void unfold(around *a, const wr_axis *axes)
{
    a->at = *a->layout;
    for (int i = 0; i < a->body->dimensions; i++) {
        a->now[i] = axes[i];
        if (axes[i].reversed) {
            a->now[i].reversed = false;
            a->at.offset += (axes[i].total - 1) * a->at.stride[i];
            a->at.stride[i] = -a->at.stride[i];
        }
    }
}

int wr_axes_rest(const wr_body *f, const wr_axis *axes, const wr_layout *l, const int64_t *skip_lo,
                 const int64_t *skip_hi, wr_pair *out)
{
    around a = {.body = f, .layout = l};
    wr_pair behind[WEIR_MAX_DIMENSIONS];
    int code = 0, behinds = 0;
    unfold(&a, axes);
    for (int i = 0; i < f->dimensions && !code; i++) {
        int d = f->order[i];
        code = add_part(&a, d, 0, skip_lo[d]);
        if (!code && skip_hi[d] < a.now[d].total) {
            code = add_part(&a, d, skip_hi[d], a.now[d].total - skip_hi[d]);
            if (!code)
                behind[behinds++] = a.pairs[--a.count]; /* comes after what is inside */
        }
        a.now[d] = wr_axis_part(&a.now[d], skip_lo[d], skip_hi[d] - skip_lo[d]);
        a.at.offset += skip_lo[d] * a.at.stride[d];
    }
    while (behinds)
        a.pairs[a.count++] = behind[--behinds];
    if (!code)
        return wr_pairs_join(a.count, a.pairs, out);
    for (int i = 0; i < a.count; i++)
        wr_pair_release(&a.pairs[i]);
    return code;
}
