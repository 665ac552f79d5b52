/* Out-of-core transposition, any permutation of axes; copying is the one that changes nothing but,
 * perhaps, form, order and type (PASSION's file map).
 *
 * The target is walked in slabs. Where source and target have the same fastest dimension they are
 * whole along the fast dimensions; otherwise as thick along the source's fastest one as makes its
 * runs long enough, and as long along the target's as memory allows. A slab is read in tiles that
 * stay in the processor's cache until they are turned, and written while the next one comes; slabs
 * of one step, dealt to the ranks, lie side by side. */
#include <string.h>

#include "array/array_names.h"
#include "array/array_tiles.h"
#include "array/slab_shape.h"
#include "base/arith.h"
#include "format/convert.h"
#include "kernels/estimate.h"
#include "kernels/permute.h"
#include "kernels/work.h"

enum { READS = 2, WRITES = 2, RUN = 8 << 10, LONG = 8, TILE = 4 << 20 };

typedef struct turning {
    wr_task task;
    weir_array *from, *to;
    int axes[WEIR_MAX_DIMENSIONS]; /* dimension of the source, by dimension of the target */
    wr_body body;                  /* the target's, with grains that are the source's, too */
    bool tiled;                    /* there are some */
    wr_slab_shape shape;           /* of the target */
    int64_t side[WEIR_MAX_DIMENSIONS], tile[WEIR_MAX_DIMENSIONS]; /* of slabs and tiles, by
                                                                     dimension of the source */
    int64_t tile_elements, tiles; /* of a tile, and how many a slab has */
    int64_t coding;               /* bytes that encoding and decoding take */
    char *in[READS], *out[WRITES], *memory;
    weir_request *reading[READS], *writing[WRITES];
} turning;

/* A slab of the target, and a tile of it, by dimensions of the source. */
typedef struct piece {
    wr_slab_box to;
    int64_t lo[WEIR_MAX_DIMENSIONS], hi[WEIR_MAX_DIMENSIONS];
} piece;

/* Tile k % t->tiles of slab k / t->tiles, numbered as the source has them; false if this rank has
 * no such slab, or it is too small for such a tile. */
static bool find_tile(const turning *t, int64_t k, piece *out)
{
    int64_t number = k % t->tiles;
    if (!wr_slab_find(&t->shape, k / t->tiles, &out->to))
        return false;
    for (int d = 0; d < t->shape.dimensions; d++) {
        out->lo[t->axes[d]] = out->to.lo[d];
        out->hi[t->axes[d]] = out->to.hi[d];
    }
    for (int i = t->shape.dimensions - 1; i >= 0; i--) {
        const int d = t->from->body.order[i];
        const int64_t along = wr_div_ceil(t->side[d], t->tile[d]);
        out->lo[d] += number % along * t->tile[d];
        out->hi[d] = wr_min(out->hi[d], out->lo[d] + t->tile[d]);
        number /= along;
        if (out->lo[d] >= out->hi[d])
            return false;
    }
    return true;
}

static void start_read(turning *t, int64_t k)
{
    piece s;
    if (k >= t->shape.steps * t->tiles)
        return;
    const weir_selection wanted = {.lo = s.lo, .hi = s.hi};
    const weir_layout layout = {.order = t->from->body.order, .type = t->to->info.type};
    const bool there = !t->task.error.code && find_tile(t, k, &s);
    wr_task_read(&t->task, t->from, there ? &wanted : NULL, &layout, t->in[k % READS],
                 &t->reading[k % READS]);
}

/* Dense strides, in elements, of a box in an order of dimensions. */
static void set_strides(int dimensions, const int *order, const int64_t *lo, const int64_t *hi,
                        int64_t *stride)
{
    int64_t at = 1;
    for (int i = dimensions - 1; i >= 0; i--) {
        stride[order[i]] = at;
        at *= hi[order[i]] - lo[order[i]];
    }
}

/* From a tile to its place in a slab. */
static void turn(const turning *t, const piece *s, const char *in, char *out)
{
    int64_t from[WEIR_MAX_DIMENSIONS];
    const int n = t->shape.dimensions;
    wr_permutation p = {.dimensions = n, .element = t->to->body.element};
    set_strides(n, t->to->body.order, s->to.lo, s->to.hi, p.to);
    set_strides(n, t->from->body.order, s->lo, s->hi, from);
    for (int d = 0; d < n; d++) {
        const int axis = t->axes[d];
        p.shape[d] = s->hi[axis] - s->lo[axis];
        p.from[d] = from[axis];
        out += (s->lo[axis] - s->to.lo[d]) * p.to[d] * p.element;
    }
    wr_permute(&p, in, out);
}

static void take_tile(turning *t, int64_t k, char *out)
{
    piece s;
    const int in = (int)(k % READS);
    const bool there = find_tile(t, k, &s);
    wr_task_wait(&t->task, &t->reading[in]);
    start_read(t, k + 1);
    if (there && !t->task.error.code)
        turn(t, &s, t->in[in], out);
}

/* Everyone takes part in every step: others may not know of an error yet. */
static void run_step(turning *t, int64_t k)
{
    wr_slab_box box;
    const int out = (int)(k % WRITES);
    wr_task_wait(&t->task, &t->writing[out]);
    for (int64_t i = 0; i < t->tiles; i++)
        take_tile(t, k * t->tiles + i, t->out[out]);
    const bool there = wr_slab_find(&t->shape, k, &box) && !t->task.error.code;
    const weir_selection made = {.lo = box.lo, .hi = box.hi};
    const weir_layout layout = {.order = t->to->body.order};
    wr_task_write(&t->task, t->to, there ? &made : NULL, &layout, t->out[out], &t->writing[out]);
    wr_task_tell(&t->task, k + 1, t->shape.steps);
}

static int check(const turning *t)
{
    const weir_array_info *from = &t->from->info, *to = &t->to->info;
    int code = wr_work_check(&t->task.work);
    if (!code)
        code = wr_array_check_pair(t->from, t->to);
    if (code)
        return code;
    if (t->from == t->to || from->dimensions != to->dimensions)
        return wr_fail(WEIR_EINVAL, "%s and %s differ in dimensions, or are the same",
                       t->from->path, t->to->path);
    if (!wr_is_permutation(from->dimensions, t->axes))
        return wr_fail(WEIR_EINVAL, "the axes are no permutation");
    for (int d = 0; d < from->dimensions; d++)
        if (to->shape[d] != from->shape[t->axes[d]])
            return wr_fail(WEIR_EINVAL, "dimension %d of %s has %lld, not %lld", d, t->to->path,
                           (long long)to->shape[d], (long long)from->shape[t->axes[d]]);
    code = from->type == to->type ? 0 : wr_convert_check(from->type, to->type);
    return wr_blame(code, t->from->path);
}

/* Sets the thickness of slabs along the source's fastest dimension, if it is not the target's: such
 * that they have whole lines of the target, if runs of the source are about as long as they should
 * be then; and never so that those of the target are shorter. `room` is that of a slab. */
static void set_block(const turning *t, int64_t room, int64_t *block)
{
    const int last = t->to->info.dimensions - 1;
    const int64_t run = wr_max(1, RUN / t->from->body.element);
    for (int d = 0; d <= last; d++) {
        const int fast = t->to->body.order[last];
        if (t->axes[d] != t->from->body.order[last] || d == fast)
            continue;
        const int64_t lines = room / wr_max(1, t->to->info.shape[fast]);
        block[d] = lines >= run / 2 ? wr_min(lines, LONG * run) : run;
        while (block[d] > 1 && block[d] > room / block[d])
            block[d] /= 2;
    }
}

/* Bytes of slabs by element: of buffers, and of the staging of every write where bytes are swapped.
 */
static int64_t slab_bytes(const turning *t)
{
    return WRITES * t->to->body.element * (t->to->info.swapped ? 2 : 1);
}

/* The same for tiles, of which the one being read is staged where types differ. */
static int64_t tile_bytes(const turning *t)
{
    const bool staged = t->from->info.type != t->to->info.type;
    return READS * t->to->body.element + (staged ? t->from->body.element : 0);
}

/* Slabs with runs of both arrays as long as they should be, or, where memory does not suffice for
 * that, as they can. */
static int cut_slabs(turning *t, wr_slab_need *need)
{
    static const int64_t none[WEIR_MAX_DIMENSIONS];
    int64_t block[WEIR_MAX_DIMENSIONS] = {0};
    need->besides = t->tile_elements * tile_bytes(t) + t->coding;
    if (!t->tiled)
        set_block(t, wr_max(1, (need->memory - need->besides) / slab_bytes(t)), block);
    need->halo = none;
    need->block = block;
    int code = wr_slab_shape_build(&t->body, need, &t->shape);
    need->block = none;
    return code == WEIR_EBUDGET ? wr_slab_shape_build(&t->body, need, &t->shape) : code;
}

/* Whole ones of the source's own, if it has some and they are not larger. */
static int64_t in_grains(const turning *t, int d, int64_t size)
{
    const int64_t grain = wr_max(1, t->from->body.grain[d]);
    return size > grain && size < t->side[d] ? wr_round_down(size, grain) : size;
}

/* Tiles have all of a slab's fast dimensions of the source, as far as they may. */
static void cut_tiles(turning *t)
{
    int64_t left = t->tile_elements;
    t->tiles = 1;
    for (int d = 0; d < t->shape.dimensions; d++)
        t->side[t->axes[d]] = t->shape.block[d];
    for (int i = t->shape.dimensions - 1; i >= 0; i--) {
        const int d = t->from->body.order[i];
        t->tile[d] = in_grains(t, d, wr_max(1, wr_min(left, t->side[d])));
        t->tiles *= wr_div_ceil(t->side[d], t->tile[d]);
        left /= t->side[d];
    }
}

static int cut(turning *t)
{
    const wr_transport *ranks = wr_array_transport(t->to);
    wr_slab_need need = {.memory = t->task.work.memory,
                         .out_bytes = slab_bytes(t),
                         .buffers = READS + WRITES,
                         .rank = ranks->rank,
                         .ranks = ranks->size,
                         .deal = 1};
    int64_t most = TILE / t->to->body.element, grains = 1;
    t->coding = wr_array_coding_memory(t->from, need.memory / 2) +
                wr_array_coding_memory(t->to, need.memory / 2);
    t->body = t->to->body;
    wr_body_share_grain(&t->body, &t->from->body, t->axes);
    for (int d = 0; d < t->body.dimensions; d++) {
        t->tiled = t->tiled || t->body.grain[d] > 1;
        if (!wr_mul(grains, wr_max(1, t->from->body.grain[d]), &grains))
            grains = 1;
    }
    t->tile_elements = wr_min(need.memory / 4 / tile_bytes(t), wr_max(most, grains));
    int code = t->tile_elements ? cut_slabs(t, &need) : WEIR_EBUDGET;
    if (code == WEIR_EBUDGET) {
        t->tile_elements = 1;
        t->coding = 0; /* then memory is exceeded by that */
        code = cut_slabs(t, &need);
    }
    if (!code)
        cut_tiles(t);
    return code;
}

static int take_memory(turning *t)
{
    const int64_t slab = wr_slab_room(t->shape.out_elements * t->to->body.element);
    const int64_t tile = wr_slab_room(t->tile_elements * t->to->body.element);
    t->memory = wr_alloc_large(WRITES * slab + READS * tile);
    if (!t->memory)
        return WEIR_ENOMEM;
    for (int i = 0; i < WRITES; i++)
        t->out[i] = t->memory + i * slab;
    for (int i = 0; i < READS; i++)
        t->in[i] = t->memory + WRITES * slab + i * tile;
    return 0;
}

static void estimate(const turning *t, weir_estimate *out)
{
    *out = (weir_estimate){.read = t->from->info.bytes,
                           .written = t->to->info.bytes,
                           .calls = (1 + t->tiles) * t->shape.steps,
                           .memory = t->shape.memory};
    wr_estimate_say_slabs(out, "slabs", &t->shape);
}

static int turn_all(turning *t)
{
    start_read(t, 0);
    for (int64_t k = 0; k < t->shape.steps; k++)
        run_step(t, k);
    for (int i = 0; i < WRITES; i++)
        wr_task_wait(&t->task, &t->writing[i]);
    return wr_task_end(&t->task, t->to);
}

static int run(turning *t)
{
    int code = check(t);
    if (!code)
        code = cut(t);
    if (code)
        return code; /* on all ranks */
    if (t->task.work.estimate) {
        estimate(t, t->task.work.estimate);
        return 0;
    }
    code = wr_array_agree(t->to, take_memory(t));
    if (!code)
        code = turn_all(t);
    wr_free(t->memory);
    return wr_work_settle(&t->to, 1, code);
}

int weir_array_transpose(weir_array *from, weir_array *to, const int *axes, const weir_work *work)
{
    turning t = {.task = {.work = wr_work_of(work)}, .from = from, .to = to};
    for (int d = 0; d < to->info.dimensions; d++)
        t.axes[d] = axes ? axes[d] : to->info.dimensions - 1 - d;
    return run(&t);
}

int weir_array_copy(weir_array *from, weir_array *to, int64_t memory)
{
    turning t = {
        .task = {.work = wr_work_of(&(weir_work){.memory = memory})}, .from = from, .to = to};
    for (int d = 0; d < to->info.dimensions; d++)
        t.axes[d] = d;
    return run(&t);
}
