/* Jacobi iterations ("An Extended Two-Phase Method for Accessing Sections of Out-of-Core Arrays",
 * section 2.2).
 *
 * An iteration walks the blocks of a matrix, dealt round-robin, from one array to the other: while
 * one is computed the next ones are being read and the last ones written. A block comes with a halo
 * of 1, from the file or, what neighbours have in the same step, from their memory. Sums are made
 * in one order, so results do not depend on blocks and ranks. */
#include <math.h>
#include <string.h>

#include "base/arith.h"
#include "file/swap.h"
#include "kernels/blocks.h"
#include "kernels/estimate.h"
#include "kernels/work.h"

enum { RING = 8, LANES = 8 }; /* buffers for blocks, at most; elements that are computed at once */

typedef struct solver {
    wr_task task;
    weir_array *from, *to[2];
    weir_relaxation *relaxation;
    wr_blocks blocks;
    int64_t element, ring;
    char *memory, *in[RING], *out[RING];
    wr_swaps swaps;
    char packed[WR_SIDES][2][WR_BLOCK_ROWS * sizeof(double)]; /* columns to be sent, and received */

    weir_array *source, *target; /* of an iteration */
    double residual;             /* of this rank in it */
    weir_request *reading[RING], *writing[RING];
} solver;

/* --- arithmetic --- */

/* Where neighbours are, in elements; the first dimension's indices run from north to south. */
typedef struct compass {
    int64_t north, west;
} compass;

/* What is not a number counts as an infinite change. */
#define DEFINE_RELAX(name, type, absolute)                                                         \
    static inline void relax_some_##name(const type u[restrict], type v[restrict], compass c,      \
                                         type change[restrict], int count)                         \
    {                                                                                              \
        for (int i = 0; i < count; i++)                                                            \
            v[i] = (u[i - c.north] + u[i + c.north] + u[i - c.west] + u[i + c.west]) / 4;          \
        for (int i = 0; i < count; i++) {                                                          \
            type by = absolute(v[i] - u[i]);                                                       \
            by = by == by ? by : (type)INFINITY;                                                   \
            change[i] = by > change[i] ? by : change[i];                                           \
        }                                                                                          \
    }                                                                                              \
    static double relax_##name(const type u[], type v[], compass c, int64_t count)                 \
    {                                                                                              \
        type change[LANES] = {0}, most = 0;                                                        \
        int64_t k = 0;                                                                             \
        for (; k + LANES <= count; k += LANES)                                                     \
            relax_some_##name(u + k, v + k, c, change, LANES);                                     \
        if (k < count)                                                                             \
            relax_some_##name(u + k, v + k, c, change, (int)(count - k));                          \
        for (int i = 0; i < LANES; i++)                                                            \
            most = change[i] > most ? change[i] : most;                                            \
        return (double)most;                                                                       \
    }

DEFINE_RELAX(f4, float, fabsf)
DEFINE_RELAX(f8, double, fabs)

static void compute(solver *s, const wr_block *block, const char *in, char *out)
{
    const wr_slab_box *x = &block->box;
    const int slow = s->blocks.slow, fast = s->blocks.fast;
    const int64_t *n = s->blocks.shape.shape, size = s->element;
    const int64_t pitch = x->in_hi[fast] - x->in_lo[fast], width = x->hi[fast] - x->lo[fast];
    const int64_t first = wr_max(x->lo[fast], 1), last = wr_min(x->hi[fast], n[fast] - 1);
    const compass c = slow == 0 ? (compass){pitch, 1} : (compass){1, pitch};
    in += (x->lo[fast] - x->in_lo[fast]) * size;
    for (int64_t i = x->lo[slow]; i < x->hi[slow]; i++) {
        const char *u = in + (i - x->in_lo[slow]) * pitch * size;
        char *v = out + (i - x->lo[slow]) * width * size;
        const int64_t skip = (first - x->lo[fast]) * size;
        if (i == 0 || i == n[slow] - 1 || first >= last) {
            memcpy(v, u, (size_t)(width * size));
            continue;
        }
        memcpy(v, u, (size_t)skip);
        const void *at = u + skip;
        void *to = v + skip;
        double change = size == sizeof(float) ? relax_f4(at, to, c, last - first)
                                              : relax_f8(at, to, c, last - first);
        s->residual = change > s->residual ? change : s->residual;
        const int64_t end = (last - x->lo[fast]) * size;
        memcpy(v + end, u + end, (size_t)(width * size - end));
    }
}

/* --- boundaries from neighbours --- */

static void copy_edge(solver *s, const wr_edge *e, char *block, char *packed, bool pack)
{
    for (int64_t i = 0; i < e->count; i++) {
        char *at = block + (e->at + i * e->stride) * s->element;
        memcpy(pack ? packed + i * s->element : at, pack ? at : packed + i * s->element,
               (size_t)s->element);
    }
}

/* What goes to a neighbour, and where the same of it comes to. */
typedef struct border {
    char *send, *receive;
    int64_t bytes;
} border;

/* Rows go straight from and to the block, columns by way of `packed`. */
static border take_border(solver *s, const wr_block *b, int side, char *in)
{
    const wr_edge own = wr_block_edge(&s->blocks, b, side, false);
    const wr_edge halo = wr_block_edge(&s->blocks, b, side, true);
    const int64_t bytes = own.count * s->element;
    if (own.stride == 1)
        return (border){in + own.at * s->element, in + halo.at * s->element, bytes};
    copy_edge(s, &own, in, s->packed[side][0], true);
    return (border){s->packed[side][0], s->packed[side][1], bytes};
}

/* Bytes from `at` on, as many as a message has; all sides' messages are on their way at once. */
static void swap_borders(solver *s, const wr_block *b, const border *borders, int64_t at)
{
    wr_swap swap[WR_SIDES];
    for (int side = 0; side < WR_SIDES; side++) {
        const border *x = &borders[side];
        const int64_t bytes = wr_min(WR_SWAP_MOST, x->bytes - at);
        const wr_parcel out = {b->peer[side], bytes, bytes > 0 ? x->send + at : NULL};
        const wr_place in = {b->peer[side], bytes, bytes > 0 ? x->receive + at : NULL};
        const int opposite = side ^ 1;
        wr_task_note(&s->task, wr_swap_start(&s->swaps, out, opposite, in, side, &swap[side]));
    }
    for (int side = 0; side < WR_SIDES; side++)
        wr_task_note(&s->task, wr_swap_wait(&s->swaps, &swap[side]));
}

/* Everybody sends, also what came of an error: neighbours wait for it. */
static void exchange(solver *s, const wr_block *b, char *in)
{
    border borders[WR_SIDES] = {0};
    int64_t longest = 0;
    for (int side = 0; side < WR_SIDES; side++)
        if (b->peer[side] >= 0) {
            borders[side] = take_border(s, b, side, in);
            longest = wr_max(longest, borders[side].bytes);
        }
    for (int64_t at = 0; at < longest; at += WR_SWAP_MOST)
        swap_borders(s, b, borders, at);
    for (int side = 0; side < WR_SIDES; side++) {
        const wr_edge halo = wr_block_edge(&s->blocks, b, side, true);
        if (b->peer[side] >= 0 && halo.stride != 1)
            copy_edge(s, &halo, in, s->packed[side][1], false);
    }
}

/* --- an iteration --- */

static void start_read(solver *s, int64_t k)
{
    wr_block b;
    int64_t stride[2];
    if (k >= s->blocks.shape.steps)
        return;
    const int slow = s->blocks.slow, fast = s->blocks.fast;
    const bool there = !s->task.error.code && wr_blocks_find(&s->blocks, k, &b);
    const weir_selection wanted = {.lo = b.read_lo, .hi = b.read_hi};
    const weir_layout layout = {.stride = stride};
    char *to = s->in[k % s->ring];
    if (there) {
        stride[fast] = s->element;
        stride[slow] = (b.box.in_hi[fast] - b.box.in_lo[fast]) * s->element;
        for (int d = 0; d < 2; d++)
            to += (b.read_lo[d] - b.box.in_lo[d]) * stride[d];
    }
    wr_task_read(&s->task, s->source, there ? &wanted : NULL, &layout, to,
                 &s->reading[k % s->ring]);
}

/* Everyone takes part in every step: others may not know of an error yet. */
static void run_step(solver *s, int64_t k)
{
    wr_block b;
    const int64_t at = k % s->ring;
    bool there = wr_blocks_find(&s->blocks, k, &b);
    start_read(s, k + s->ring - 1);
    wr_task_wait(&s->task, &s->reading[at]);
    if (there && s->blocks.exchange)
        exchange(s, &b, s->in[at]);
    wr_task_wait(&s->task, &s->writing[at]);
    there = there && !s->task.error.code;
    if (there)
        compute(s, &b, s->in[at], s->out[at]);
    const weir_selection made = {.lo = b.box.lo, .hi = b.box.hi};
    const weir_layout layout = {.order = s->blocks.shape.order};
    wr_task_write(&s->task, s->target, there ? &made : NULL, &layout, s->out[at], &s->writing[at]);
    const int64_t steps = s->blocks.shape.steps;
    wr_task_tell(&s->task, s->relaxation->done * steps + k + 1, s->relaxation->iterations * steps);
}

/* [collective] The largest change of all ranks: doubles that are not negative order like their
 * bits. */
static int agree_on_residual(solver *s)
{
    int64_t bits;
    memcpy(&bits, &s->residual, sizeof bits);
    int code = wr_file_reduce(s->target->file, WR_MAX, 1, &bits);
    memcpy(&s->relaxation->residual, &bits, sizeof bits);
    return wr_array_agree(s->target, code);
}

/* [collective] Nobody is through before everything is written, which the next iteration reads. */
static int iterate(solver *s, weir_array *source, weir_array *target)
{
    s->source = source;
    s->target = target;
    s->residual = 0;
    for (int64_t k = 0; k < s->ring - 1; k++)
        start_read(s, k);
    for (int64_t k = 0; k < s->blocks.shape.steps; k++)
        run_step(s, k);
    for (int64_t i = 0; i < s->ring; i++)
        wr_task_wait(&s->task, &s->writing[i]);
    int code = wr_task_end(&s->task, target);
    return code ? code : agree_on_residual(s);
}

/* --- the operator --- */

static int check(const solver *s)
{
    const weir_array_info *info = &s->from->info;
    const weir_relaxation *r = s->relaxation;
    int code = wr_work_check(&s->task.work);
    if (!code)
        code = wr_check_reserved(r->reserved, "weir_relaxation");
    if (!code)
        code = wr_array_check_pair(s->from, s->to[0]);
    if (!code)
        code = wr_array_check_pair(s->from, s->to[1]);
    if (code)
        return code;
    if (info->dimensions != 2 || (info->type != WEIR_F4 && info->type != WEIR_F8))
        return wr_fail(WEIR_EINVAL, "%s is not a matrix of f4 or f8", s->from->path);
    if (s->from == s->to[0] || s->from == s->to[1] || s->to[0] == s->to[1])
        return wr_fail(WEIR_EINVAL, "two of the three arrays are the same");
    for (int i = 0; i < 2; i++) {
        const weir_array_info *to = &s->to[i]->info;
        if (to->dimensions != 2 || to->type != info->type || to->shape[0] != info->shape[0] ||
            to->shape[1] != info->shape[1])
            return wr_fail(WEIR_EINVAL, "%s and %s differ in type or shape", s->from->path,
                           s->to[i]->path);
    }
    if (r->iterations < 0 || !(r->tolerance >= 0) || (!r->iterations && r->tolerance == 0))
        return wr_fail(WEIR_EINVAL, "%d iterations and tolerance %g never end", r->iterations,
                       r->tolerance);
    return 0;
}

/* What is swapped is written by way of a copy. */
static int plan(solver *s)
{
    const wr_transport *t = wr_array_transport(s->from);
    const bool swapped = s->to[0]->info.swapped || s->to[1]->info.swapped;
    s->element = s->from->body.element;
    s->ring = wr_min(RING, wr_file_tunables(s->to[0]->file)->prefetch + 1);
    wr_slab_need need = {.memory = s->task.work.memory,
                         .in_bytes = s->ring * s->element,
                         .out_bytes = (swapped ? 2 : 1) * s->ring * s->element,
                         .buffers = 2 * s->ring,
                         .rank = t->rank,
                         .ranks = t->size};
    return wr_blocks_build(&s->to[0]->body, &need, s->relaxation->exchange, &s->blocks);
}

/* Of all iterations, or the largest number there is. */
static int64_t count_all(const solver *s, int64_t number, int64_t size)
{
    int64_t all;
    const bool fits =
        wr_mul(number, size, &all) && wr_mul(all, wr_max(1, s->relaxation->iterations), &all);
    return fits ? all : INT64_MAX;
}

static void estimate(const solver *s, weir_estimate *out)
{
    *out = (weir_estimate){.read = count_all(s, wr_blocks_read(&s->blocks), s->element),
                           .written = count_all(s, s->from->info.bytes, 1),
                           .calls = count_all(s, s->blocks.shape.steps, 2),
                           .memory = s->blocks.shape.memory};
    wr_estimate_say_slabs(out, "blocks", &s->blocks.shape);
    wr_estimate_say(out, " an iteration");
}

static int take_buffers(solver *s)
{
    const int64_t in = wr_slab_room(s->blocks.shape.in_elements * s->element);
    const int64_t out = wr_slab_room(s->blocks.shape.out_elements * s->element);
    s->memory = wr_alloc(s->ring * (in + out));
    if (!s->memory)
        return WEIR_ENOMEM;
    for (int64_t i = 0; i < s->ring; i++) {
        s->in[i] = s->memory + i * in;
        s->out[i] = s->memory + s->ring * in + i * out;
    }
    return 0;
}

/* What is infinite and spreads stays so: only where there is one inner element does it not. */
static int solve(solver *s, int *last)
{
    weir_relaxation *r = s->relaxation;
    for (bool lost = false; !r->iterations || r->done < r->iterations;) {
        weir_array *source = r->done ? s->to[(r->done - 1) % 2] : s->from;
        int code = iterate(s, source, s->to[r->done % 2]);
        if (code)
            return code;
        *last = r->done++ % 2;
        if (r->tolerance > 0 && r->residual <= r->tolerance)
            return 0;
        if (!r->iterations && lost && isinf(r->residual))
            return wr_fail(WEIR_ERANGE, "elements of %s that are no finite numbers", s->from->path);
        lost = isinf(r->residual);
    }
    return 0;
}

int weir_array_relax(weir_array *from, weir_array *const to[2], weir_relaxation *relaxation,
                     const weir_work *work, int *last)
{
    solver s = {.task = {.work = wr_work_of(work)},
                .from = from,
                .to = {to[0], to[1]},
                .relaxation = relaxation};
    int code = check(&s);
    if (!code)
        code = plan(&s);
    if (code)
        return code; /* on all ranks */
    if (s.task.work.estimate) {
        estimate(&s, s.task.work.estimate);
        return 0;
    }
    relaxation->done = 0;
    relaxation->residual = 0;
    code = wr_array_agree(to[0], take_buffers(&s));
    if (!code && s.blocks.exchange)
        code = wr_swaps_open(from->file, &s.swaps);
    if (!code)
        code = solve(&s, last);
    wr_swaps_close(&s.swaps);
    wr_free(s.memory);
    return wr_work_settle(to, 2, code);
}
