/* Slabs are whole along the fast dimensions and as thick along the slow ones as memory allows, so
 * that they are long runs in the file; of arrays in tiles they are whole tiles. */
#include "array/slab_shape.h"

#include <string.h>

#include "base/arith.h"
#include "base/error.h"

/* A rank's part is walked in at least so many slabs, unless they would be smaller than the second
 * number: the first one cannot be prefetched. */
enum { SLABS = 8, SMALL = 4 << 20 };

/* Elements of a slab, with its halo as far as the array goes; -1 if that does not fit. */
static int64_t count_elements(const wr_slab_shape *s, bool halo)
{
    int64_t all = 1;
    for (int d = 0; d < s->dimensions; d++) {
        int64_t size = wr_min(s->block[d] + (halo ? 2 * s->halo[d] : 0), wr_max(1, s->shape[d]));
        if (!wr_mul(all, size, &all))
            return -1;
    }
    return all;
}

/* Bytes of all buffers; INT64_MAX if they do not fit. */
static int64_t count_bytes(const wr_slab_shape *s, const wr_slab_need *need)
{
    int64_t in = count_elements(s, true), out = count_elements(s, false), sum;
    if (in < 0 || out < 0 || !wr_mul(in, need->in_bytes, &in) ||
        !wr_mul(out, need->out_bytes, &out) || !wr_add(in, out, &sum) ||
        !wr_add(sum, need->buffers * WR_SLAB_ALIGN, &sum) || !wr_add(sum, need->besides, &sum))
        return INT64_MAX;
    return sum;
}

/* Makes slabs thinner along one dimension, until they fit `limit` or are one grain thick. */
static void thin(wr_slab_shape *s, const wr_slab_need *need, int d, int64_t limit)
{
    const int64_t grain = s->grain[d], all = wr_div_ceil(s->block[d], grain);
    int64_t least = 1, most = all;
    while (least < most) {
        const int64_t middle = least + (most - least + 1) / 2;
        s->block[d] = middle * grain;
        if (count_bytes(s, need) <= limit)
            least = middle;
        else
            most = middle - 1;
    }
    s->block[d] = wr_div_ceil(all, wr_div_ceil(all, least)) * grain; /* slabs of equal size */
}

static void fit(wr_slab_shape *s, const wr_slab_need *need, int64_t limit)
{
    for (int i = 0; i < s->dimensions && count_bytes(s, need) > limit; i++)
        if (!need->block[s->order[i]])
            thin(s, need, s->order[i], limit);
}

static int fit_memory(wr_slab_shape *s, const wr_slab_need *need)
{
    fit(s, need, need->memory);
    if (count_bytes(s, need) > need->memory) { /* not even tiles fit */
        for (int d = 0; d < s->dimensions; d++)
            s->grain[d] = 1;
        fit(s, need, need->memory);
    }
    if (count_bytes(s, need) > need->memory)
        return wr_fail(WEIR_EBUDGET,
                       "slabs in %lld bytes of memory: the least that would do is %lld",
                       (long long)need->memory, (long long)count_bytes(s, need));
    return 0;
}

/* Slabs of a part of so many elements are as small as they should be. Halo and what is besides do
 * not count: they stay, however small slabs are. */
static void fit_part(wr_slab_shape *s, const wr_slab_need *need, int64_t part)
{
    const int64_t each = wr_max(1, need->in_bytes + need->out_bytes);
    const wr_slab_need bare = {.out_bytes = each, .block = need->block};
    if (part / SLABS < INT64_MAX / each)
        fit(s, &bare, wr_max(part / SLABS * each, SMALL));
}

static int64_t count_grains(const wr_slab_shape *s, int d)
{
    return wr_div_ceil(s->shape[d], s->grain[d]);
}

/* The dimension that ranks divide among them: the slowest that has enough for all. */
static int find_divided(const wr_slab_shape *s, int ranks)
{
    int largest = s->order[0];
    for (int i = 0; i < s->dimensions; i++) {
        const int d = s->order[i];
        if (count_grains(s, d) >= ranks)
            return d;
        if (count_grains(s, d) > count_grains(s, largest))
            largest = d;
    }
    return largest;
}

/* Along it, of the rank that has most. */
static int64_t largest_part(const wr_slab_shape *s, int d, int ranks)
{
    return wr_min(s->shape[d], wr_div_ceil(count_grains(s, d), ranks) * s->grain[d]);
}

static int64_t count_slabs(const wr_slab_shape *s, const int64_t *lo, const int64_t *hi)
{
    int64_t all = 1;
    for (int d = 0; d < s->dimensions; d++)
        all *= wr_div_ceil(hi[d] - lo[d], s->block[d]);
    return all;
}

int64_t wr_slab_elements(const wr_slab_shape *s, const int64_t *lo, const int64_t *hi)
{
    int64_t all = 1;
    for (int d = 0; d < s->dimensions; d++)
        all *= hi[d] - lo[d];
    return all;
}

static void number_dealt(wr_slab_shape *s, const wr_slab_need *need)
{
    int64_t all = count_slabs(s, s->part_lo, s->part_hi);
    s->first = need->rank;
    s->stride = need->ranks;
    s->count = wr_div_ceil(wr_max(0, all - need->rank), need->ranks);
    s->steps = wr_div_ceil(all, need->ranks);
    for (int64_t k = 0; k < s->count; k++) {
        wr_slab_box box = {{0}, {0}, {0}, {0}};
        wr_slab_find(s, k, &box);
        s->elements += wr_slab_elements(s, box.lo, box.hi);
    }
}

static void number_contiguous(wr_slab_shape *s, const wr_slab_need *need, int divided)
{
    const int64_t n = s->shape[divided], grain = s->grain[divided];
    s->stride = 1;
    s->part_hi[divided] = largest_part(s, divided, need->ranks);
    s->steps = count_slabs(s, s->part_lo, s->part_hi);
    const wr_span part = wr_share(count_grains(s, divided), need->rank, need->ranks);
    s->part_lo[divided] = wr_min(n, part.lo * grain);
    s->part_hi[divided] = wr_min(n, part.hi * grain);
    s->count = count_slabs(s, s->part_lo, s->part_hi);
    s->elements = wr_slab_elements(s, s->part_lo, s->part_hi);
}

int wr_slab_shape_build(const wr_body *body, const wr_slab_need *need, wr_slab_shape *out)
{
    wr_slab_shape *s = out;
    *s = (wr_slab_shape){.dimensions = body->dimensions};
    memcpy(s->order, body->order, sizeof s->order);
    memcpy(s->shape, body->shape, sizeof s->shape);
    memcpy(s->part_hi, body->shape, sizeof s->part_hi);
    for (int d = 0; d < s->dimensions; d++)
        s->grain[d] = wr_max(1, body->grain[d]);
    int divided = s->dimensions ? find_divided(s, need->ranks) : 0;
    for (int d = 0; d < s->dimensions; d++) {
        int64_t most = s->shape[d];
        if (d == divided && !(need->deal && need->block[d]))
            most = largest_part(s, d, need->ranks);
        s->halo[d] = wr_min(need->halo[d], s->shape[d]);
        s->block[d] = wr_max(1, need->block[d] ? wr_min(need->block[d], most) : most);
    }
    const int64_t part = wr_slab_elements(s, s->part_lo, s->part_hi) / need->ranks;
    int code = fit_memory(s, need);
    if (code)
        return code;
    fit_part(s, need, part);
    s->in_elements = count_elements(s, true);
    s->out_elements = count_elements(s, false);
    s->memory = count_bytes(s, need);
    if (need->deal || !s->dimensions)
        number_dealt(s, need);
    else
        number_contiguous(s, need, divided);
    return 0;
}

bool wr_slab_find(const wr_slab_shape *s, int64_t k, wr_slab_box *out)
{
    if (k < 0 || k >= s->count)
        return false;
    int64_t number = s->first + k * s->stride;
    for (int i = s->dimensions - 1; i >= 0; i--) {
        int d = s->order[i];
        int64_t slabs = wr_div_ceil(s->part_hi[d] - s->part_lo[d], s->block[d]);
        out->lo[d] = s->part_lo[d] + number % slabs * s->block[d];
        out->hi[d] = wr_min(out->lo[d] + s->block[d], s->part_hi[d]);
        out->in_lo[d] = wr_max(0, out->lo[d] - s->halo[d]);
        out->in_hi[d] = wr_min(s->shape[d], out->hi[d] + s->halo[d]);
        number /= slabs;
    }
    return true;
}
