/* Reductions along dimensions: blocks of results, and tiles that are read for them. */
#include "kernels/along_shape.h"

#include "base/error.h"
#include "file/swap.h"
#include "kernels/estimate.h"

/* Ranks join accumulators if these are so much less than what is read. */
enum { FEW = 8 };

static const int64_t none[WEIR_MAX_DIMENSIONS];

/* The space of results. */
static wr_body results_of(const wr_along_need *need)
{
    wr_body b = *need->from, to = {.dimensions = b.dimensions};
    for (int d = 0; d < b.dimensions; d++) {
        to.grain[d] = need->grain[d];
        if (need->along[d])
            b.shape[d] = b.grain[d] = 1;
    }
    wr_body_share_grain(&b, &to, NULL);
    return b;
}

static int64_t count_elements(const wr_body *b)
{
    int64_t all = 1;
    for (int d = 0; d < b->dimensions; d++)
        all *= b->shape[d];
    return all;
}

static int64_t line_of(const wr_body *results, int64_t *lines)
{
    const int64_t all = count_elements(results);
    *lines = 1;
    for (int i = 0; i < results->dimensions && *lines == 1; i++)
        *lines = results->shape[results->order[i]];
    return *lines ? all / *lines : 0;
}

/* Tiles of `body`, beside blocks that take so much. */
static int cut_tiles(const wr_along_need *need, const wr_body *body, int64_t besides,
                     wr_along_shape *out)
{
    const wr_slab_need tiles = {.memory = need->memory,
                                .besides = besides + need->coding,
                                .in_bytes = WR_ALONG_READS * need->from->element,
                                .buffers = WR_ALONG_READS,
                                .halo = none,
                                .block = none,
                                .rank = out->shared ? need->rank : 0,
                                .ranks = out->shared ? need->ranks : 1,
                                .deal = out->shared && !need->direct};
    return wr_slab_shape_build(body, &tiles, &out->tiles);
}

/* Blocks that the ranks have, in so much memory; or, if that is 0, of one result. */
static int cut_blocks(const wr_along_need *need, int64_t memory, wr_along_shape *out)
{
    int64_t one[WEIR_MAX_DIMENSIONS];
    const wr_body results = results_of(need);
    wr_body body = *need->from;
    for (int d = 0; d < WEIR_MAX_DIMENSIONS; d++)
        one[d] = 1;
    const wr_slab_need blocks = {.memory = memory ? memory : INT64_MAX,
                                 .out_bytes = WR_ALONG_WRITES * (need->sum + need->staged),
                                 .buffers = WR_ALONG_WRITES,
                                 .halo = none,
                                 .block = memory ? none : one,
                                 .rank = need->rank,
                                 .ranks = need->ranks,
                                 .deal = 1};
    out->shared = false;
    out->message = 0;
    int code = wr_slab_shape_build(&results, &blocks, &out->blocks);
    if (code)
        return code;
    for (int d = 0; d < body.dimensions; d++)
        if (!need->along[d])
            body.shape[d] = wr_min(body.shape[d], out->blocks.block[d]);
    out->sums = out->blocks.out_elements * need->sum;
    return cut_tiles(need, &body, out->blocks.memory, out);
}

/* One block of everything, if it takes at most so much. WEIR_EBUDGET: it takes more. */
static int cut_shared(const wr_along_need *need, int64_t most, wr_along_shape *out)
{
    const wr_body results = results_of(need);
    int64_t lines, all, joined;
    const int64_t line = line_of(&results, &lines);
    const int64_t own = wr_div_ceil(lines, need->ranks) * line;
    if (!wr_mul(count_elements(&results), need->sum, &all) ||
        !wr_mul(need->ranks > 1 ? all : 0, (int64_t)FEW * need->ranks, &joined) ||
        joined > count_elements(need->from) * need->from->element)
        return WEIR_EBUDGET;
    out->sums = all;
    out->message = need->ranks > 1 ? wr_min(own, WR_SWAP_MOST / need->sum) * need->sum : 0;
    const int64_t besides = wr_slab_room(all) + wr_slab_room(out->message) + own * need->staged;
    out->shared = besides <= most;
    if (!out->shared)
        return WEIR_EBUDGET;
    const wr_slab_need block = {.memory = INT64_MAX,
                                .out_bytes = need->sum,
                                .halo = none,
                                .block = results.shape,
                                .ranks = 1};
    int code = wr_slab_shape_build(&results, &block, &out->blocks);
    return code ? code : cut_tiles(need, need->from, besides, out);
}

/* What takes least; where memory is so short it is exceeded by what coding takes. */
static int cut_least(const wr_along_need *need, wr_along_shape *out)
{
    const int64_t one = WR_ALONG_WRITES * (need->sum + need->staged + WR_SLAB_ALIGN);
    wr_along_need bare = *need;
    bare.coding = 0;
    int code = cut_shared(&bare, one, out);
    return code == WEIR_EBUDGET && !out->shared ? cut_blocks(&bare, 0, out) : code;
}

int wr_along_shape_build(const wr_along_need *need, wr_along_shape *out)
{
    *out = (wr_along_shape){.along = 1};
    int code = cut_shared(need, need->memory / 2, out);
    if (code == WEIR_EBUDGET)
        code = cut_blocks(need, wr_max(1, need->memory / 2), out);
    if (code == WEIR_EBUDGET)
        code = cut_least(need, out);
    if (code)
        return code;
    for (int d = 0; d < need->from->dimensions; d++)
        out->along *= need->along[d] ? need->from->shape[d] : 1;
    out->tiles_each = out->tiles.steps;
    out->steps = out->blocks.steps * out->tiles_each;
    return 0;
}

bool wr_along_block(const wr_along_shape *s, int64_t step, wr_slab_box *out)
{
    return wr_slab_find(&s->blocks, step, out);
}

bool wr_along_tile(const wr_along_shape *s, int64_t step, wr_slab_box *block, wr_slab_box *out)
{
    const int64_t k = step % s->tiles_each;
    if (!wr_along_block(s, step / s->tiles_each, block) || !wr_slab_find(&s->tiles, k, out))
        return false;
    for (int d = 0; d < s->tiles.dimensions && !s->shared; d++) {
        if (s->blocks.shape[d] == 1)
            continue;
        out->lo[d] += block->lo[d];
        out->hi[d] = wr_min(out->hi[d] + block->lo[d], block->hi[d]);
        if (out->lo[d] >= out->hi[d])
            return false;
    }
    return true;
}

/* Along the slowest dimension in which there is something to share: what is one after the other. */
bool wr_along_share(const wr_along_shape *s, int rank, int ranks, wr_slab_box *out)
{
    const wr_slab_shape *b = &s->blocks;
    int i = 0;
    if (!wr_slab_find(b, 0, out))
        return false;
    while (i < b->dimensions - 1 && b->shape[b->order[i]] == 1)
        i++;
    const int d = b->dimensions ? b->order[i] : 0;
    const wr_span span = wr_share(b->dimensions ? b->shape[d] : 1, rank, ranks);
    out->lo[d] = span.lo;
    out->hi[d] = span.hi;
    return span.lo < span.hi;
}

void wr_along_estimate(const wr_along_need *need, const wr_along_shape *s, weir_estimate *out)
{
    *out = (weir_estimate){.read = count_elements(need->from) * need->from->element,
                           .written = need->written,
                           .calls = s->steps + s->blocks.steps,
                           .memory = s->tiles.memory};
    wr_slab_shape all = s->tiles;
    all.steps = s->steps;
    wr_estimate_say_slabs(out, "slabs", &all);
    if (!s->shared)
        wr_estimate_say(out, " for %lld block%s of results", (long long)s->blocks.steps,
                        s->blocks.steps == 1 ? "" : "s");
}
