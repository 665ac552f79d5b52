/* Blocks dealt round-robin: neighbours are found by their numbers, and a side of the halo is
 * exchanged if the rank that has it works on it in the same step, otherwise read. */
#include "kernels/blocks.h"

#include "base/arith.h"

static int64_t count_along(const wr_slab_shape *s, int d)
{
    return wr_div_ceil(s->shape[d], s->block[d]);
}

/* Rows are long runs, so blocks are as wide as the matrix; unless so few rows fit that the halo
 * would be a large part of what is read. */
static int choose(const wr_body *body, const wr_slab_need *need, wr_slab_shape *out)
{
    int64_t block[WEIR_MAX_DIMENSIONS] = {0};
    const int slow = body->order[0], fast = body->order[1];
    const int64_t share = wr_div_ceil(body->shape[slow], need->ranks);
    wr_slab_need with = *need;
    with.block = block;
    int code = wr_slab_shape_build(body, &with, out);
    if (!code && out->block[fast] >= body->shape[fast] &&
        out->block[slow] >= wr_min(WR_BLOCK_ROWS, share))
        return 0;
    for (block[slow] = WR_BLOCK_ROWS; block[slow] > 1; block[slow] /= 4)
        if (!wr_slab_shape_build(body, &with, out) &&
            out->block[fast] >= wr_min(block[slow], body->shape[fast]))
            return 0;
    return wr_slab_shape_build(body, &with, out);
}

int wr_blocks_build(const wr_body *body, const wr_slab_need *need, bool exchange, wr_blocks *out)
{
    static const int64_t halo[WEIR_MAX_DIMENSIONS] = {1, 1};
    wr_slab_need with = *need;
    with.halo = halo;
    with.deal = 1;
    *out = (wr_blocks){
        .slow = body->order[0], .fast = body->order[1], .ranks = need->ranks, .exchange = exchange};
    int code = choose(body, &with, &out->shape);
    if (code)
        return code;
    out->down = count_along(&out->shape, out->slow);
    out->across = count_along(&out->shape, out->fast);
    return 0;
}

/* The number of a block's neighbour, or -1. */
static int64_t neighbour(const wr_blocks *b, int64_t number, int side)
{
    const int64_t row = number / b->across, column = number % b->across;
    switch (side) {
    case WR_SLOW_LO:
        return row > 0 ? number - b->across : -1;
    case WR_SLOW_HI:
        return row + 1 < b->down ? number + b->across : -1;
    case WR_FAST_LO:
        return column > 0 ? number - 1 : -1;
    default:
        return column + 1 < b->across ? number + 1 : -1;
    }
}

static bool find(const wr_blocks *b, const wr_slab_shape *s, int64_t k, wr_block *out)
{
    if (!wr_slab_find(s, k, &out->box))
        return false;
    const int64_t number = s->first + k * s->stride;
    for (int d = 0; d < 2; d++) {
        out->read_lo[d] = out->box.in_lo[d];
        out->read_hi[d] = out->box.in_hi[d];
    }
    for (int side = 0; side < WR_SIDES; side++) {
        const int64_t other = neighbour(b, number, side);
        const int d = side < WR_FAST_LO ? b->slow : b->fast;
        out->peer[side] = -1;
        if (!b->exchange || other < 0 || other / b->ranks != number / b->ranks)
            continue;
        out->peer[side] = (int)(other % b->ranks);
        if (side == WR_SLOW_LO || side == WR_FAST_LO)
            out->read_lo[d] = out->box.lo[d];
        else
            out->read_hi[d] = out->box.hi[d];
    }
    return true;
}

bool wr_blocks_find(const wr_blocks *b, int64_t step, wr_block *out)
{
    return find(b, &b->shape, step, out);
}

int64_t wr_blocks_read(const wr_blocks *b)
{
    wr_slab_shape all = b->shape;
    wr_block block;
    int64_t elements = 0;
    all.first = 0;
    all.stride = 1;
    all.count = b->down * b->across;
    for (int64_t k = 0; find(b, &all, k, &block); k++)
        elements += wr_slab_elements(&all, block.read_lo, block.read_hi);
    return elements;
}

wr_edge wr_block_edge(const wr_blocks *b, const wr_block *block, int side, bool halo)
{
    const wr_slab_box *x = &block->box;
    const bool across = side < WR_FAST_LO; /* a row */
    const int d = across ? b->slow : b->fast, along = across ? b->fast : b->slow;
    const int64_t pitch = x->in_hi[b->fast] - x->in_lo[b->fast];
    const int64_t stride = across ? pitch : 1, step = across ? 1 : pitch;
    const bool low = side == WR_SLOW_LO || side == WR_FAST_LO;
    const int64_t index = low ? x->lo[d] - halo : x->hi[d] - 1 + halo;
    return (wr_edge){.at = (index - x->in_lo[d]) * stride + (x->lo[along] - x->in_lo[along]) * step,
                     .stride = step,
                     .count = x->hi[along] - x->lo[along]};
}
