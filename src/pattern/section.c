/* Sections of n-dimensional arrays: lo:hi:step or a list of indices per dimension, stored in any
 * order and visited in any order. "An extended two-phase method", section 3, for any rank. */
#include "base/arith.h"
#include "base/error.h"
#include "pattern/build.h"
#include "pattern/grid.h"

/* Copies `order` (NULL: 0 1 2 ...) into out if it is a permutation. */
static int copy_order(int dimensions, const int *order, int *out)
{
    if (order && !wr_is_permutation(dimensions, order))
        return wr_fail(WEIR_EINVAL, "order of dimensions: not a permutation of 0 to %d",
                       dimensions - 1);
    for (int i = 0; i < dimensions; i++)
        out[i] = order ? order[i] : i;
    return 0;
}

int wr_grid_init(wr_grid *grid, const weir_shape *a)
{
    if (a->dimensions < 0 || a->dimensions > WEIR_MAX_DIMENSIONS)
        return wr_fail(WEIR_EINVAL, "array of %d dimensions; at most %d are possible",
                       a->dimensions, WEIR_MAX_DIMENSIONS);
    if (a->dimensions && !a->size)
        return wr_fail(WEIR_EINVAL, "array of %d dimensions without a size", a->dimensions);
    if (a->element <= 0 || a->element > WR_OFFSET_MAX)
        return wr_fail(WEIR_EINVAL, "array elements of %lld bytes", (long long)a->element);
    grid->dimensions = a->dimensions;
    int code = wr_check_reserved(a->reserved, "weir_shape");
    if (!code)
        code = copy_order(a->dimensions, a->order, grid->order);
    if (code)
        return code;
    int64_t bytes = a->element;
    for (int i = a->dimensions - 1; i >= 0; i--) {
        int d = grid->order[i];
        if (a->size[d] < 0)
            return wr_fail(WEIR_EINVAL, "array has size %lld in dimension %d",
                           (long long)a->size[d], d);
        grid->stride[d] = bytes;
        if (!wr_mul(bytes, wr_max(a->size[d], 1), &bytes) || bytes > WR_OFFSET_MAX)
            return wr_fail(WEIR_ERANGE, "array of 2^62 bytes or more");
    }
    return 0;
}

/* The indices of one dimension. */
typedef struct axis {
    int64_t lo, step, count;
    const int64_t *index; /* or NULL */
} axis;

static int outside(int64_t index, int d, int64_t size)
{
    return wr_fail(WEIR_EINVAL, "section: takes index %lld in dimension %d, which has size %lld",
                   (long long)index, d, (long long)size);
}

static int check_list(const axis *a, int d, int64_t size)
{
    if (a->count < 0)
        return wr_fail(WEIR_EINVAL, "section: index list without its count in dimension %d", d);
    for (int64_t i = 0; i < a->count; i++)
        if (a->index[i] < 0 || a->index[i] >= size)
            return outside(a->index[i], d, size);
    return 0;
}

/* Bounds of an empty range are not looked at. */
static int get_axis(const weir_selection *s, int d, int64_t n, axis *a)
{
    if (s->index && s->index[d]) {
        *a = (axis){.index = s->index[d], .count = s->count ? s->count[d] : -1};
        return check_list(a, d, n);
    }
    int64_t step = s->step ? s->step[d] : 1, span;
    int64_t lo = s->lo ? s->lo[d] : step > 0 ? 0 : n - 1;
    int64_t hi = s->hi ? s->hi[d] : step > 0 ? n : -1;
    if (step == 0 || step == INT64_MIN)
        return wr_fail(WEIR_EINVAL, "section: step %lld in dimension %d", (long long)step, d);
    if (!(step > 0 ? wr_sub(hi, lo, &span) : wr_sub(lo, hi, &span)))
        return wr_fail(WEIR_ERANGE, "section: range in dimension %d does not fit 64 bits", d);
    int64_t size = step > 0 ? step : -step;
    *a = (axis){.lo = lo, .step = step, .count = wr_div_ceil(wr_max(0, span), size)};
    if (a->count == 0)
        return 0;
    int64_t last = lo + (a->count - 1) * step;
    if (lo < 0 || lo >= n)
        return outside(lo, d, n);
    return last < 0 || last >= n ? outside(last, d, n) : 0;
}

/* Repeats `inner` along one dimension. */
static int along(wr_builder *b, const axis *a, int64_t stride, wr_term inner, wr_term *out)
{
    if (!a->index) {
        int64_t step = a->count > 1 ? a->step * stride : 0; /* safe: two indices lie within */
        inner.offset += a->lo * stride;
        return wr_build_loop(b, a->count, step, inner, out);
    }
    wr_term *terms = wr_build_terms(b, a->count);
    if (!terms)
        return WEIR_ENOMEM;
    for (int64_t i = 0; i < a->count; i++) {
        terms[i] = inner;
        terms[i].offset += a->index[i] * stride;
    }
    return wr_build_list(b, a->count, terms, out);
}

/* WEIR_EINVAL if it is not made of ranges and lists. */
static int check_selection(const weir_selection *s)
{
    if (s->boxes || s->box_lo || s->box_hi || s->local)
        return wr_fail(WEIR_EINVAL, "section: boxes, or indices of a local array");
    return wr_check_reserved(s->reserved, "weir_selection");
}

int weir_pattern_section(const weir_shape *array, const weir_selection *selection, const int *walk,
                         weir_pattern **out)
{
    wr_grid grid = {0};
    axis axes[WEIR_MAX_DIMENSIONS] = {0};
    int visited[WEIR_MAX_DIMENSIONS] = {0};
    int code = wr_grid_init(&grid, array);
    if (!code)
        code = check_selection(selection);
    if (!code)
        code = copy_order(array->dimensions, walk ? walk : grid.order, visited);
    bool empty = false;
    for (int d = 0; !code && d < array->dimensions; d++) {
        code = get_axis(selection, d, array->size[d], &axes[d]);
        empty = empty || (!code && axes[d].count == 0);
    }
    wr_builder b = {0};
    wr_term all = wr_term_run(0, code || empty ? 0 : array->element);
    for (int i = array->dimensions - 1; !code && !empty && i >= 0; i--)
        code = along(&b, &axes[visited[i]], grid.stride[visited[i]], all, &all);
    return wr_build_end(&b, code, all, out);
}
