/* Out-of-core transposition, any permutation of axes; copying is the one that changes nothing but,
 * perhaps, form, order and type (PASSION's file map).
 *
 * The target is walked in slabs. Where source and target have the same fastest dimension they are
 * whole along the fast dimensions; otherwise as thick along the source's fastest one as makes its
 * runs long enough, and as long along the target's as memory allows. A slab is read as the source
 * has it, turned in memory, and written while the next one is read; those of one step, dealt to the
 * ranks, lie side by side. */
#include <string.h>

#include "array/slab_shape.h"
#include "base/arith.h"
#include "format/convert.h"
#include "kernels/estimate.h"
#include "kernels/permute.h"
#include "kernels/work.h"

enum { READS = 2, WRITES = 2, RUN = 16 << 10 };

typedef struct turning {
    weir_work work;
    weir_array *from, *to;
    int axes[WEIR_MAX_DIMENSIONS]; /* dimension of the source, by dimension of the target */
    wr_slab_shape shape;           /* of the target */
    char *in[READS], *out[WRITES], *memory;
    weir_request *reading[READS], *writing[WRITES];
    wr_first_error first;
} turning;

/* A slab in both arrays' indices. */
typedef struct slab {
    wr_slab_box to, from;
} slab;

static bool find_slab(const turning *t, int64_t k, slab *out)
{
    if (!wr_slab_find(&t->shape, k, &out->to))
        return false;
    for (int d = 0; d < t->shape.dimensions; d++) {
        out->from.lo[t->axes[d]] = out->to.lo[d];
        out->from.hi[t->axes[d]] = out->to.hi[d];
    }
    return true;
}

static void start_read(turning *t, int64_t k)
{
    slab s;
    if (k >= t->shape.steps)
        return;
    weir_array_section wanted = {
        .lo = s.from.lo, .hi = s.from.hi, .order = t->from->body.order, .type = t->to->info.type};
    const bool there = !t->first.error.code && find_slab(t, k, &s);
    wr_note_error(&t->first, wr_work_read(&t->work, t->from, there ? &wanted : NULL,
                                          t->in[k % READS], &t->reading[k % READS]));
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

static void turn(const turning *t, const slab *s, const char *in, char *out)
{
    int64_t from[WEIR_MAX_DIMENSIONS];
    const int n = t->shape.dimensions;
    wr_permutation p = {.dimensions = n, .element = t->to->body.element};
    set_strides(n, t->to->body.order, s->to.lo, s->to.hi, p.to);
    set_strides(n, t->from->body.order, s->from.lo, s->from.hi, from);
    for (int d = 0; d < n; d++) {
        p.shape[d] = s->to.hi[d] - s->to.lo[d];
        p.from[d] = from[t->axes[d]];
    }
    wr_permute(&p, in, out);
}

/* Everyone takes part in every step: others may not know of an error yet. */
static void run_step(turning *t, int64_t k)
{
    slab s;
    bool there = find_slab(t, k, &s);
    const int in = (int)(k % READS), out = (int)(k % WRITES);
    wr_note_error(&t->first, weir_wait(&t->reading[in], NULL));
    wr_note_error(&t->first, weir_wait(&t->writing[out], NULL));
    start_read(t, k + 1);
    weir_array_section made = {.lo = s.to.lo, .hi = s.to.hi, .order = t->to->body.order};
    there = there && !t->first.error.code;
    if (there)
        turn(t, &s, t->in[in], t->out[out]);
    wr_note_error(&t->first, wr_work_write(&t->work, t->to, there ? &made : NULL, t->out[out],
                                           &t->writing[out]));
    wr_work_progress(&t->work, k + 1, t->shape.steps);
}

static int check(const turning *t)
{
    const weir_array_info *from = &t->from->info, *to = &t->to->info;
    bool seen[WEIR_MAX_DIMENSIONS] = {false};
    int code = wr_work_check(&t->work);
    if (!code)
        code = wr_array_check_pair(t->from, t->to);
    if (code)
        return code;
    if (t->from == t->to || from->dimensions != to->dimensions)
        return wr_fail(WEIR_EINVAL, "%s and %s differ in dimensions, or are the same",
                       t->from->path, t->to->path);
    for (int d = 0; d < from->dimensions; d++) {
        int axis = t->axes[d];
        if (axis < 0 || axis >= from->dimensions || seen[axis])
            return wr_fail(WEIR_EINVAL, "the axes are no permutation");
        seen[axis] = true;
        if (to->shape[d] != from->shape[axis])
            return wr_fail(WEIR_EINVAL, "dimension %d of %s has %lld, not %lld", d, t->to->path,
                           (long long)to->shape[d], (long long)from->shape[axis]);
    }
    return from->type == to->type ? 0 : wr_convert_check(from->type, to->type);
}

/* Sets the thickness of slabs along the source's fastest dimension, if it is not the target's. */
static void set_block(const turning *t, int64_t *block)
{
    const int last = t->to->info.dimensions - 1;
    for (int d = 0; d <= last; d++)
        if (t->axes[d] == t->from->body.order[last] && d != t->to->body.order[last])
            block[d] = wr_max(1, RUN / t->from->body.element);
}

/* Slabs with runs of both arrays as long as they should be, or, where memory does not suffice for
 * that, as they can. */
static int cut(turning *t, wr_slab_need *need)
{
    static const int64_t none[WEIR_MAX_DIMENSIONS];
    int64_t block[WEIR_MAX_DIMENSIONS] = {0};
    set_block(t, block);
    need->halo = none;
    need->block = block;
    int code = wr_slab_shape_build(&t->to->body, need, &t->shape);
    need->block = none;
    return code == WEIR_EBUDGET ? wr_slab_shape_build(&t->to->body, need, &t->shape) : code;
}

/* Bytes an element: of buffers, and of staging, which the read under way takes where types differ,
 * and every write where bytes are swapped. */
static int64_t count_bytes(const turning *t)
{
    const int64_t from = t->from->body.element, to = t->to->body.element;
    return (READS + WRITES) * to + (t->from->info.type != t->to->info.type ? from : 0) +
           (t->to->info.swapped ? WRITES * to : 0);
}

static int prepare(turning *t)
{
    const wr_transport *ranks = wr_array_transport(t->to);
    wr_slab_need need = {.memory = t->work.memory,
                         .out_bytes = count_bytes(t),
                         .buffers = READS + WRITES,
                         .rank = ranks->rank,
                         .ranks = ranks->size,
                         .deal = 1};
    int code = cut(t, &need);
    if (code || t->work.estimate)
        return code;
    int64_t room = wr_slab_room(t->shape.out_elements * t->to->body.element);
    t->memory = wr_alloc((READS + WRITES) * room);
    if (!t->memory)
        return WEIR_ENOMEM;
    for (int i = 0; i < READS; i++)
        t->in[i] = t->memory + i * room;
    for (int i = 0; i < WRITES; i++)
        t->out[i] = t->memory + (READS + i) * room;
    return 0;
}

static void estimate(const turning *t, weir_estimate *out)
{
    *out = (weir_estimate){.read = t->from->info.bytes,
                           .written = t->to->info.bytes,
                           .calls = 2 * t->shape.steps,
                           .memory = t->shape.memory};
    wr_estimate_say_slabs(out, "slabs", &t->shape);
}

static int run(turning *t)
{
    int code = check(t);
    if (code)
        return code; /* on all ranks */
    code = prepare(t);
    if (t->work.estimate && !code)
        estimate(t, t->work.estimate);
    if (!t->work.estimate)
        code = wr_array_agree(t->to, code);
    if (code || t->work.estimate) {
        wr_free(t->memory);
        return code;
    }
    start_read(t, 0);
    for (int64_t k = 0; k < t->shape.steps; k++)
        run_step(t, k);
    for (int i = 0; i < WRITES; i++)
        wr_note_error(&t->first, weir_wait(&t->writing[i], NULL));
    wr_free(t->memory);
    return wr_work_end(t->to, &t->first);
}

int weir_array_transpose(weir_array *from, weir_array *to, const int *axes, const weir_work *work)
{
    turning t = {.work = wr_work_of(work), .from = from, .to = to};
    for (int d = 0; d < to->info.dimensions; d++)
        t.axes[d] = axes ? axes[d] : to->info.dimensions - 1 - d;
    return run(&t);
}

int weir_array_copy(weir_array *from, weir_array *to, int64_t memory)
{
    turning t = {.work = wr_work_of(&(weir_work){.memory = memory}), .from = from, .to = to};
    for (int d = 0; d < to->info.dimensions; d++)
        t.axes[d] = d;
    return run(&t);
}
