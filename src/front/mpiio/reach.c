/* Bounds that a constructor has set are stronger than any that only follow from the data. */
#include "front/mpiio/reach.h"

#include "base/arith.h"
#include "base/error.h"

void wr_reach_add(wr_reach *r, const wr_type *item, int64_t place, int64_t count)
{
    int64_t last, lo, hi;
    if (count <= 0 || (!item->size && !item->marked) || (r->marked && !item->marked))
        return;
    if (!wr_mul(count - 1, item->extent, &last) || !wr_add(place, item->lb, &lo) ||
        !wr_add(lo, item->extent, &hi) || !wr_add(lo, wr_min(last, 0), &lo) ||
        !wr_add(hi, wr_max(last, 0), &hi)) {
        r->too_far = true;
        return;
    }
    bool first = !r->some || (item->marked && !r->marked);
    r->lo = first ? lo : wr_min(r->lo, lo);
    r->hi = first ? hi : wr_max(r->hi, hi);
    r->some = true;
    r->marked = item->marked;
}

int wr_reach_end(const wr_reach *r, wr_type *out)
{
    if (r->too_far || !wr_sub(r->hi, r->lo, &out->extent))
        return wr_fail(WEIR_ERANGE, "a datatype reaches too far");
    out->lb = r->lo;
    out->marked = r->marked;
    return 0;
}

/* `count` blocks, the first at 0. */
static void add_vector(wr_reach *r, const wr_type *item, int64_t count, int64_t length,
                       int64_t stride)
{
    int64_t last;
    if (count <= 0)
        return;
    wr_reach_add(r, item, 0, length);
    if (!wr_mul(count - 1, stride, &last))
        r->too_far = true;
    else
        wr_reach_add(r, item, last, length);
}

static void add_blocks(wr_reach *r, const wr_type *item, const wr_contents *c, int64_t unit)
{
    const int64_t *n = c->number;
    bool one =
        c->combiner == MPI_COMBINER_INDEXED_BLOCK || c->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    const int64_t *place = one ? n + 2 : n + 1 + n[0];
    for (int64_t k = 0; k < n[0]; k++) {
        int64_t bytes;
        if (!wr_mul(place[k], unit, &bytes))
            r->too_far = true;
        else
            wr_reach_add(r, item, bytes, n[one ? 1 : 1 + k]);
    }
}

/* All of an array, whatever is taken of it. */
static void set_array(wr_reach *r, const wr_type *item, int64_t dimensions, const int64_t *sizes)
{
    *r = (wr_reach){.some = true, .marked = true, .hi = item->extent};
    for (int64_t d = 0; d < dimensions; d++)
        if (!wr_mul(r->hi, sizes[d], &r->hi))
            r->too_far = true;
}

int wr_reach_of(const wr_type *item, const wr_contents *c, wr_type *out)
{
    const int64_t *n = c->number;
    int64_t stride;
    wr_reach r = {0};
    switch (c->combiner) {
    case MPI_COMBINER_RESIZED:
        r = (wr_reach){.marked = true, .lo = n[0]};
        r.too_far = !wr_add(n[0], n[1], &r.hi);
        break;
    case MPI_COMBINER_CONTIGUOUS:
        wr_reach_add(&r, item, 0, n[0]);
        break;
    case MPI_COMBINER_VECTOR:
        if (wr_mul(n[2], item->extent, &stride))
            add_vector(&r, item, n[0], n[1], stride);
        else
            r.too_far = true;
        break;
    case MPI_COMBINER_HVECTOR:
        add_vector(&r, item, n[0], n[1], n[2]);
        break;
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
        add_blocks(&r, item, c, item->extent);
        break;
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_HINDEXED_BLOCK:
        add_blocks(&r, item, c, 1);
        break;
    case MPI_COMBINER_SUBARRAY:
        set_array(&r, item, n[0], n + 1);
        break;
    case MPI_COMBINER_DARRAY:
        set_array(&r, item, n[2], n + 3);
        break;
    default: /* a copy */
        wr_reach_add(&r, item, 0, 1);
    }
    return wr_reach_end(&r, out);
}
