/* Reductions along dimensions. A block of results has accumulators in memory, in the source's order
 * without what is reduced, while tiles of the source go by: the next one is read while one is
 * folded. A tile is, at its innermost, a table of which rows or columns are reduced. Results take
 * the accumulators' place, and are written while those of the next block are made. Where ranks
 * share a block, each gets the others' accumulators of a part of it in the end, and writes it. */
#include <string.h>

#include "array/array_tiles.h"
#include "base/arith.h"
#include "file/swap.h"
#include "format/convert.h"
#include "kernels/along_shape.h"
#include "kernels/fold.h"
#include "kernels/operands.h"
#include "kernels/work.h"

enum { READS = WR_ALONG_READS, WRITES = WR_ALONG_WRITES };

typedef struct reducing {
    wr_task task;
    weir_array *from, *to;
    const int *along;
    bool kept; /* dimensions that are reduced: the target has them, with one index */
    const wr_fold *fold;
    wr_transport *ranks; /* borrowed */
    wr_along_shape shape;
    wr_swaps swaps;
    char *in[READS], *sums[WRITES], *theirs, *memory;
    weir_request *reading[READS], *writing[WRITES];
} reducing;

/* --- a tile --- */

/* A loop over a tile, which is dense; what it means to accumulators, in these. */
typedef struct loop {
    int64_t count, sums; /* 0: it is reduced */
} loop;

/* From the slowest to the fastest; neighbours that are like one are one. */
static int find_loops(const reducing *r, const wr_slab_box *block, const wr_slab_box *tile,
                      loop *loops, int64_t *first)
{
    int64_t stride[WEIR_MAX_DIMENSIONS], dense = 1;
    const int n = r->from->info.dimensions, *order = r->from->body.order;
    int count = 0;
    *first = 0;
    for (int i = n - 1; i >= 0; i--) {
        const int d = order[i];
        stride[d] = r->along[d] ? 0 : dense;
        if (!r->along[d])
            dense *= block->hi[d] - block->lo[d];
        *first += r->along[d] ? 0 : stride[d] * (tile->lo[d] - block->lo[d]);
    }
    for (int i = 0; i < n; i++) {
        const int d = order[i];
        const loop one = {tile->hi[d] - tile->lo[d], stride[d]};
        loop *last = count ? &loops[count - 1] : NULL;
        if (one.count == 1)
            continue;
        if (last && last->sums == one.sums * one.count) {
            last->count *= one.count;
            last->sums = one.sums;
        } else {
            loops[count++] = one;
        }
    }
    return count;
}

/* The innermost loops as a table; returns how many are left. */
static int take_table(const loop *loops, int count, wr_table *table, bool *by_rows)
{
    const loop *inner = count ? &loops[count - 1] : NULL, *outer = count > 1 ? inner - 1 : NULL;
    table->rows = table->columns = 1;
    *by_rows = inner && !inner->sums;
    if (!inner || inner->sums > 1)
        return count; /* one by one */
    table->columns = inner->count;
    if (outer && outer->sums == (*by_rows ? 1 : 0)) {
        table->rows = outer->count;
        count--;
    }
    table->pitch = table->columns;
    return count - 1;
}

static void fold_tile(const reducing *r, const wr_slab_box *block, const wr_slab_box *tile,
                      const char *in, char *sums)
{
    loop loops[WEIR_MAX_DIMENSIONS];
    int64_t at[WEIR_MAX_DIMENSIONS] = {0}, first;
    bool by_rows;
    wr_table table = {.type = r->from->info.type, .at = in, .pitch = 1};
    const int all = find_loops(r, block, tile, loops, &first);
    const int left = take_table(loops, all, &table, &by_rows);
    const int64_t bytes = wr_fold_bytes(r->fold);
    for (int i = left; i >= 0;) {
        int64_t place = first;
        for (int k = 0; k < left; k++)
            place += at[k] * loops[k].sums;
        if (by_rows)
            wr_fold_rows(r->fold, &table, sums + place * bytes);
        else
            wr_fold_columns(r->fold, &table, sums + place * bytes);
        table.at += table.rows * table.columns * r->from->body.element;
        for (i = left - 1; i >= 0 && ++at[i] == loops[i].count; i--)
            at[i] = 0;
    }
}

static void start_read(reducing *r, int64_t k)
{
    wr_slab_box block, tile;
    if (k >= r->shape.steps)
        return;
    const weir_selection wanted = {.lo = tile.lo, .hi = tile.hi};
    const weir_layout layout = {.order = r->from->body.order};
    const bool there = !r->task.error.code && wr_along_tile(&r->shape, k, &block, &tile);
    wr_task_read(&r->task, r->from, there ? &wanted : NULL, &layout, r->in[k % READS],
                 &r->reading[k % READS]);
}

static void take_tile(reducing *r, int64_t k, char *sums)
{
    wr_slab_box block, tile;
    const bool there = wr_along_tile(&r->shape, k, &block, &tile);
    wr_task_wait(&r->task, &r->reading[k % READS]);
    start_read(r, k + 1);
    if (there && !r->task.error.code)
        fold_tile(r, &block, &tile, r->in[k % READS], sums);
    wr_task_tell(&r->task, k + 1, r->shape.steps);
}

/* --- a block --- */

static int64_t count_results(const reducing *r, const wr_slab_box *box)
{
    return wr_slab_elements(&r->shape.blocks, box->lo, box->hi);
}

/* Bytes of accumulators, of those of all results, that are a rank's; shares are one after the
 * other. */
static wr_span bytes_of(const reducing *r, int rank)
{
    wr_slab_box box;
    int64_t before = 0;
    for (int i = 0; i < rank; i++)
        if (wr_along_share(&r->shape, i, r->ranks->size, &box))
            before += count_results(r, &box);
    const bool any = wr_along_share(&r->shape, rank, r->ranks->size, &box);
    const int64_t bytes = wr_fold_bytes(r->fold), own = any ? count_results(r, &box) : 0;
    return (wr_span){before * bytes, (before + own) * bytes};
}

static int swap_message(reducing *r, wr_parcel out, wr_place in)
{
    wr_swap swap;
    const int started = wr_swap_start(&r->swaps, out, 0, in, 0, &swap);
    const int over = wr_swap_wait(&r->swaps, &swap);
    return started ? started : over;
}

/* Who has failed takes part, with anything: all will know before results are used. */
static void join_ranks(reducing *r, char *sums)
{
    const int rank = r->ranks->rank, size = r->ranks->size;
    const wr_span mine = bytes_of(r, rank);
    for (int distance = 1; distance < size; distance++) {
        const int to = (rank + distance) % size, from = (rank - distance + size) % size;
        const wr_span out = bytes_of(r, to);
        const int64_t most = wr_max(out.hi - out.lo, mine.hi - mine.lo);
        for (int64_t k = 0; k < most; k += r->shape.message) {
            const int64_t sent = wr_min(r->shape.message, out.hi - out.lo - k);
            const int64_t got = wr_min(r->shape.message, mine.hi - mine.lo - k);
            int code = swap_message(r, (wr_parcel){to, sent, sums + out.lo + k},
                                    (wr_place){from, got, r->theirs});
            wr_task_note(&r->task, code);
            if (!code && got > 0)
                wr_fold_join(r->fold, sums + mine.lo + k, r->theirs, got / wr_fold_bytes(r->fold));
        }
    }
}

/* Results in memory to their place. */
static void start_write(reducing *r, const wr_slab_box *box, const char *results, int buffer)
{
    int64_t lo[WEIR_MAX_DIMENSIONS], hi[WEIR_MAX_DIMENSIONS];
    int order[WEIR_MAX_DIMENSIONS], number[WEIR_MAX_DIMENSIONS], n = 0, at = 0;
    const weir_selection made = {.lo = lo, .hi = hi};
    const weir_layout layout = {.order = order};
    for (int d = 0; d < r->from->info.dimensions; d++) {
        number[d] = r->kept || !r->along[d] ? n++ : -1;
        if (box && number[d] >= 0) {
            lo[number[d]] = box->lo[d];
            hi[number[d]] = box->hi[d];
        }
    }
    for (int i = 0; i < r->from->info.dimensions; i++)
        if (number[r->from->body.order[i]] >= 0)
            order[at++] = number[r->from->body.order[i]];
    wr_task_write(&r->task, r->to, box ? &made : NULL, &layout, results, &r->writing[buffer]);
}

/* Everyone takes part in every step: others may not know of an error yet. */
static void run_block(reducing *r, int64_t k)
{
    wr_slab_box box;
    const int buffer = r->shape.shared ? 0 : (int)(k % WRITES);
    char *sums = r->sums[buffer];
    bool there = wr_along_block(&r->shape, k, &box);
    wr_task_wait(&r->task, &r->writing[buffer]);
    if (there)
        wr_fold_start(r->fold, sums, count_results(r, &box), !r->shape.along);
    for (int64_t i = 0; i < r->shape.tiles_each; i++)
        take_tile(r, k * r->shape.tiles_each + i, sums);
    if (r->shape.shared) {
        there = wr_along_share(&r->shape, r->ranks->rank, r->ranks->size, &box);
        if (r->shape.message)
            join_ranks(r, sums);
        sums += bytes_of(r, r->ranks->rank).lo;
    }
    there = there && !r->task.error.code;
    if (there)
        wr_fold_finish(r->fold, sums, count_results(r, &box), r->to->info.type);
    start_write(r, there ? &box : NULL, sums, buffer);
}

/* --- the operator --- */

static int check_types(const reducing *r, const weir_reduction *reduction)
{
    static const char *const names[] = {[WEIR_SUM] = "sum",
                                        [WEIR_MEAN] = "mean",
                                        [WEIR_MIN] = "min",
                                        [WEIR_MAX] = "max",
                                        [WEIR_DEVIATION] = "std"};
    const int from = r->from->info.type, to = r->to->info.type;
    if (reduction->kind < WEIR_SUM || reduction->kind > WEIR_DEVIATION)
        return wr_fail(WEIR_EINVAL, "there is no kind %d", reduction->kind);
    if (!r->fold)
        return wr_fail(WEIR_EINVAL, "there is no %s of %s, which is %s", names[reduction->kind],
                       r->from->path, weir_type_name(from));
    const bool bound = reduction->kind == WEIR_MIN || reduction->kind == WEIR_MAX;
    if (to == WEIR_F2 && from == WEIR_F2 && bound)
        return 0;
    if (to == WEIR_F2 || to == WEIR_C8 || to == WEIR_C16)
        return wr_fail(WEIR_EINVAL, "results of %s cannot become %s", r->from->path,
                       weir_type_name(to));
    return 0;
}

/* The target has no index for what is reduced, or one. */
static int check_shape(reducing *r)
{
    const weir_array_info *from = &r->from->info, *to = &r->to->info;
    int n = 0;
    bool fits = true;
    for (int d = 0; d < from->dimensions; d++)
        n += !r->along[d];
    r->kept = to->dimensions == from->dimensions && n < to->dimensions;
    if (!r->kept && to->dimensions != n)
        return wr_fail(WEIR_EINVAL, "%s has %d dimensions, not %d", r->to->path, to->dimensions, n);
    for (int d = 0, k = 0; d < from->dimensions; d++) {
        if (r->kept || !r->along[d])
            fits = fits && to->shape[k++] == (r->along[d] ? 1 : from->shape[d]);
    }
    return fits ? 0
                : wr_fail(WEIR_EINVAL, "%s has not the shape of what is left of %s", r->to->path,
                          r->from->path);
}

static int check(reducing *r, const weir_reduction *reduction)
{
    int code = wr_work_check(&r->task.work);
    if (!code)
        code = wr_check_reserved(reduction->reserved, "weir_reduction");
    if (!code)
        code = wr_array_check_pair(r->from, r->to);
    if (!code && r->from == r->to)
        code = wr_fail(WEIR_EINVAL, "%s is source and target", r->from->path);
    if (!code && !r->along && r->from->info.dimensions)
        code = wr_fail(WEIR_EINVAL, "nothing says along which dimensions");
    if (!code)
        code = check_types(r, reduction);
    return code ? code : check_shape(r);
}

static wr_along_need need_of(const reducing *r, int64_t *grain)
{
    const int64_t memory = r->task.work.memory;
    for (int d = 0, k = 0; d < r->from->info.dimensions; d++)
        grain[d] = r->kept || !r->along[d] ? r->to->body.grain[k++] : 1;
    return (wr_along_need){.from = &r->from->body,
                           .along = r->along,
                           .grain = grain,
                           .memory = memory,
                           .sum = wr_fold_bytes(r->fold),
                           .staged = r->to->info.swapped ? r->to->body.element : 0,
                           .coding = wr_array_coding_memory(r->from, memory / 2) +
                                     wr_array_coding_memory(r->to, memory / 2),
                           .written = r->to->info.bytes,
                           .rank = r->ranks->rank,
                           .ranks = r->ranks->size,
                           .direct = r->task.work.direct};
}

static int take_memory(reducing *r)
{
    const int64_t tile = wr_slab_room(r->shape.tiles.in_elements * r->from->body.element);
    const int64_t sums = wr_slab_room(r->shape.sums), buffers = r->shape.shared ? 1 : WRITES;
    r->memory = wr_alloc_large(READS * tile + buffers * sums + r->shape.message);
    if (!r->memory)
        return WEIR_ENOMEM;
    for (int i = 0; i < READS; i++)
        r->in[i] = r->memory + i * tile;
    for (int i = 0; i < buffers; i++)
        r->sums[i] = r->memory + READS * tile + i * sums;
    r->theirs = r->memory + READS * tile + buffers * sums;
    return 0;
}

static int reduce_all(reducing *r)
{
    start_read(r, 0);
    for (int64_t k = 0; k < r->shape.blocks.steps; k++)
        run_block(r, k);
    for (int i = 0; i < WRITES; i++)
        wr_task_wait(&r->task, &r->writing[i]);
    return wr_task_end(&r->task, r->to);
}

static int run(reducing *r)
{
    int code = wr_array_agree(r->to, take_memory(r));
    if (!code && r->shape.message)
        code = wr_swaps_open(r->to->file, &r->swaps);
    if (!code)
        code = reduce_all(r);
    wr_swaps_close(&r->swaps);
    wr_free(r->memory);
    return wr_work_settle(&r->to, 1, code);
}

int weir_array_reduce_along(weir_array *from, weir_array *to, const weir_reduction *reduction,
                            const weir_work *work)
{
    int64_t grain[WEIR_MAX_DIMENSIONS];
    reducing r = {.task = {.work = wr_work_of(work)},
                  .from = from,
                  .to = to,
                  .along = reduction->along,
                  .fold = wr_fold_of(reduction->kind, from->info.type, reduction->skip_nans)};
    int code = check(&r, reduction);
    if (code)
        return code; /* on all ranks */
    r.ranks = wr_array_transport(from);
    const wr_along_need need = need_of(&r, grain);
    code = wr_along_shape_build(&need, &r.shape);
    const bool bound = reduction->kind == WEIR_MIN || reduction->kind == WEIR_MAX;
    if (!code && bound && !r.shape.along && to->info.bytes)
        code = wr_fail(WEIR_EINVAL, "%s has no elements, of which none is least or largest",
                       from->path);
    if (!code && r.task.work.estimate)
        wr_along_estimate(&need, &r.shape, r.task.work.estimate);
    return code || r.task.work.estimate ? code : run(&r);
}
