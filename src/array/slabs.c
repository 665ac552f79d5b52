/* Slab loops ("PASSION Runtime Library for Parallel I/O", section 4): while the caller computes on
 * one slab, the next ones are on their way from the file and the last ones on their way to it.
 *
 * Inputs have a ring of buffers: slab k is computed on, k + 1 to k + depth are being read. Slab k
 * and k - 1 are both there when k is handed out, so what the halo has in common is copied then, and
 * never read. Then the buffer of k - 1 is free for slab k + depth. Outputs have a ring of their
 * own. With collective calls every rank makes as many as the one that has most slabs, also after an
 * error or where its caller leaves early; an error of its own it takes along, so that all learn. */
#include "array/slabs.h"

#include <string.h>

#include "array/array_tiles.h"
#include "array/moves.h"
#include "array/reuse.h"
#include "base/arith.h"

/* A slab's data of one array. */
typedef struct buffer {
    char *data;
    weir_request *request; /* that fills or empties it; NULL: none */
} buffer;

struct weir_slabs {
    weir_slabs_options options;
    weir_array *input[WEIR_MAX_SLAB_ARRAYS], *output[WEIR_MAX_SLAB_ARRAYS];
    wr_slab_shape shape;
    int64_t depth, in_ring, out_ring;
    int64_t next;     /* slab to be handed out */
    int64_t read;     /* slabs whose reading was started */
    int64_t written;  /* slabs whose writing was started */
    int64_t through;  /* slabs computed, */
    int64_t done;     /* and their elements */
    bool leaving;     /* takes part only */
    bool finished;    /* nothing is under way, nor will be */
    buffer *in, *out; /* by place in the ring, then array */
    char *memory;
    weir_error error; /* the first one */
};

static buffer *in_of(weir_slabs *s, int64_t slab, int array)
{
    return &s->in[slab % s->in_ring * s->options.inputs + array];
}

static buffer *out_of(weir_slabs *s, int64_t slab, int array)
{
    return &s->out[slab % s->out_ring * s->options.outputs + array];
}

static void note(weir_slabs *s, int code)
{
    if (code && !s->error.code)
        s->error = *weir_error_last();
}

static weir_selection box_of(const int64_t *lo, const int64_t *hi)
{
    return (weir_selection){.lo = lo, .hi = hi};
}

/* This rank's slab of that number, unless it takes part only. */
static bool find(const weir_slabs *s, int64_t slab, wr_slab_box *out)
{
    return !s->leaving && !s->error.code && wr_slab_find(&s->shape, slab, out);
}

/* Starts reading a slab but for what the one before has; a rank without it takes part only. */
static int start_read(weir_slabs *s, int64_t slab, int array)
{
    wr_slab_box now, before;
    wr_move m = {.array = s->input[array],
                 .direction = WR_READ,
                 .together = s->options.together,
                 .frugal = true};
    wr_mapping mapping = {0};
    const weir_layout layout = {.order = s->shape.order};
    buffer *b = in_of(s, slab, array);
    bool there = find(s, slab, &now);
    int code = 0;
    if (!there && !m.together)
        return 0;
    if (s->error.code) {
        code = wr_error_raise(&s->error);
    } else if (there && slab && wr_slab_find(&s->shape, slab - 1, &before)) {
        weir_selection wanted = box_of(now.in_lo, now.in_hi);
        weir_selection held = box_of(before.in_lo, before.in_hi);
        code = wr_reuse_map_rest(m.array, &wanted, &layout,
                                 &(weir_held){.selection = &held, .layout = &layout}, &mapping);
    } else {
        weir_selection wanted = box_of(now.in_lo, now.in_hi);
        code = wr_mapping_build(m.array, there ? &wanted : NULL, &layout, false, &mapping);
    }
    if (!code)
        code = wr_move_prepare(&m, &mapping, m.array->info.type, b->data);
    return code && !m.together ? code : wr_move_start(&m, code, &b->request);
}

static int start_write(weir_slabs *s, int64_t slab, int array)
{
    wr_slab_box now;
    bool there = find(s, slab, &now);
    buffer *b = out_of(s, slab, array);
    const weir_layout layout = {.order = s->shape.order};
    weir_selection to = box_of(now.lo, now.hi);
    wr_move m = {.array = s->output[array],
                 .direction = WR_WRITE,
                 .together = s->options.together,
                 .frugal = true};
    if (m.together && s->error.code)
        return wr_move_start(&m, wr_error_raise(&s->error), &b->request);
    if (!m.together && !there)
        return 0;
    return wr_array_move(m.array, there ? &to : NULL, &layout, b->data, m, &b->request);
}

/* The writing of a slab, once the caller has filled it. */
static void write_slab(weir_slabs *s, int64_t slab)
{
    for (int i = 0; i < s->options.outputs; i++)
        if (s->options.together || !s->error.code)
            note(s, start_write(s, slab, i));
    s->written = slab + 1;
}

static void read_slab(weir_slabs *s, int64_t slab)
{
    for (int i = 0; i < s->options.inputs; i++)
        if (s->options.together || !s->error.code)
            note(s, start_read(s, slab, i));
    s->read = slab + 1;
}

/* Slab k is there, with what it has in common with the one before, which is still there too. */
static void complete(weir_slabs *s, int64_t k, const wr_slab_box *now)
{
    wr_slab_box before;
    for (int i = 0; i < s->options.inputs; i++)
        note(s, weir_request_wait(&in_of(s, k, i)->request, NULL));
    if (!now || !k || s->error.code || !wr_slab_find(&s->shape, k - 1, &before))
        return;
    weir_selection wanted = box_of(now->in_lo, now->in_hi);
    weir_selection held = box_of(before.in_lo, before.in_hi);
    const weir_layout layout = {.order = s->shape.order};
    for (int i = 0; i < s->options.inputs; i++) {
        const weir_held there = {&held, &layout, in_of(s, k - 1, i)->data, {0}};
        note(s, wr_reuse_copy(s->input[i], &wanted, &layout, in_of(s, k, i)->data, &there));
    }
}

/* Everything of step k besides computing: the last slab is written, this one is there, one more is
 * on its way, and there is room for this one's results. */
static void step(weir_slabs *s, int64_t k, const wr_slab_box *now)
{
    if (k)
        write_slab(s, k - 1);
    while (s->read <= k)
        read_slab(s, s->read);
    complete(s, k, now);
    while (s->read <= k + s->depth && s->read < s->shape.steps)
        read_slab(s, s->read);
    for (int i = 0; i < s->options.outputs; i++)
        note(s, weir_request_wait(&out_of(s, k, i)->request, NULL));
}

static void show(weir_slabs *s, int64_t k, const wr_slab_box *box, weir_slab *out)
{
    const int dimensions = s->shape.dimensions;
    int64_t in = 0, in_stride = 1, out_stride = 1;
    memset(out, 0, sizeof *out);
    for (int i = dimensions - 1; i >= 0; i--) {
        int d = s->shape.order[i];
        out->lo[d] = box->lo[d];
        out->hi[d] = box->hi[d];
        out->in_lo[d] = box->in_lo[d];
        out->in_hi[d] = box->in_hi[d];
        out->in_stride[d] = in_stride;
        out->out_stride[d] = out_stride;
        in += (box->lo[d] - box->in_lo[d]) * in_stride;
        in_stride *= box->in_hi[d] - box->in_lo[d];
        out_stride *= box->hi[d] - box->lo[d];
    }
    for (int i = 0; i < s->options.inputs; i++)
        out->in[i] = in_of(s, k, i)->data + in * s->input[i]->body.element;
    for (int i = 0; i < s->options.outputs; i++)
        out->out[i] = out_of(s, k, i)->data;
}

/* The caller is through with slab k. */
static void count_done(weir_slabs *s, int64_t k)
{
    wr_slab_box box;
    if (s->through > k || !wr_slab_find(&s->shape, k, &box))
        return;
    s->through = k + 1;
    s->done += wr_slab_elements(&s->shape, box.lo, box.hi);
    if (s->options.progress)
        s->options.progress(s->options.user, s->done, s->shape.elements);
}

/* The steps that are left, for which this rank has no slabs, or wants none. */
static void run_out(weir_slabs *s)
{
    for (; s->next < s->shape.steps; s->next++)
        step(s, s->next, NULL);
    if (s->written < s->shape.steps)
        write_slab(s, s->shape.steps - 1);
}

int weir_slabs_next(weir_slabs *s, weir_slab *slab)
{
    wr_slab_box now;
    const int64_t k = s->next;
    if (s->finished)
        return s->error.code ? wr_error_raise(&s->error) : 0;
    count_done(s, k - 1);
    if (s->error.code && !s->options.together)
        return wr_error_raise(&s->error);
    if (k < s->shape.count) {
        wr_slab_find(&s->shape, k, &now);
        step(s, k, &now);
        s->next++;
        if (s->error.code)
            return wr_error_raise(&s->error);
        show(s, k, &now, slab);
        return 1;
    }
    run_out(s);
    return s->error.code ? wr_error_raise(&s->error) : 0;
}

void wr_slabs_fail(weir_slabs *s, int code)
{
    note(s, code);
}

static void drop(weir_slabs *s)
{
    if (s) {
        wr_free(s->memory);
        wr_free(s->in);
        wr_free(s->out);
    }
    wr_free(s);
}

int weir_slabs_finish(weir_slabs *s)
{
    s->leaving = true;
    if (s->options.together)
        run_out(s);
    for (int64_t i = 0; i < s->in_ring * s->options.inputs; i++)
        note(s, weir_request_wait(&s->in[i].request, NULL));
    for (int64_t i = 0; i < s->out_ring * s->options.outputs; i++)
        note(s, weir_request_wait(&s->out[i].request, NULL));
    for (int i = 0; i < s->options.outputs && s->error.code; i++)
        s->output[i]->spoiled = true; /* it lacks what was to be written after the error */
    s->finished = true;
    return s->error.code ? wr_error_raise(&s->error) : 0;
}

int weir_slabs_end(weir_slabs *s)
{
    if (!s)
        return 0;
    int code = s->finished ? s->error.code : weir_slabs_finish(s);
    if (code)
        wr_error_raise(&s->error);
    drop(s);
    return code;
}

/* --- beginning --- */

static weir_array *lead_of(const weir_slabs_options *o)
{
    return o->inputs ? o->input[0] : o->output[0];
}

static int check_arrays(const weir_slabs_options *o)
{
    if (o->inputs < 0 || o->outputs < 0 || o->inputs > WEIR_MAX_SLAB_ARRAYS ||
        o->outputs > WEIR_MAX_SLAB_ARRAYS || o->inputs + o->outputs == 0)
        return wr_fail(WEIR_EINVAL, "a slab loop over %d and %d arrays", o->inputs, o->outputs);
    const weir_array *lead = lead_of(o);
    bool halo = false;
    for (int d = 0; d < lead->info.dimensions; d++) {
        if (o->halo[d] < 0 || o->block[d] < 0)
            return wr_fail(WEIR_EINVAL, "halo %lld and block %lld in dimension %d",
                           (long long)o->halo[d], (long long)o->block[d], d);
        halo = halo || o->halo[d];
    }
    if (o->memory < 0 || o->besides < 0)
        return wr_fail(WEIR_EINVAL, "a slab loop with %lld bytes of memory, %lld besides",
                       (long long)o->memory, (long long)o->besides);
    if (wr_check_reserved(o->reserved, "weir_slabs_options"))
        return WEIR_EINVAL;
    for (int i = 0; i < o->inputs + o->outputs; i++) {
        const weir_array *a = i < o->inputs ? o->input[i] : o->output[i - o->inputs];
        int code = wr_array_check_pair(lead, a);
        if (code)
            return code;
        if (a->info.dimensions != lead->info.dimensions ||
            memcmp(a->info.shape, lead->info.shape,
                   (size_t)lead->info.dimensions * sizeof *lead->info.shape) != 0)
            return wr_fail(WEIR_EINVAL, "%s and %s differ in shape", lead->path, a->path);
        for (int k = 0; halo && i >= o->inputs && k < o->inputs; k++)
            if (a == o->input[k])
                return wr_fail(WEIR_EINVAL, "%s is read with a halo and written", a->path);
    }
    return 0;
}

/* Bytes of both rings; what staging takes is taken by the accesses. */
static int64_t count_bytes(const weir_slabs *s)
{
    int64_t in = 0, out = 0;
    for (int i = 0; i < s->options.inputs; i++)
        in += wr_slab_room(s->shape.in_elements * s->input[i]->body.element);
    for (int i = 0; i < s->options.outputs; i++)
        out += wr_slab_room(s->shape.out_elements * s->output[i]->body.element);
    return s->in_ring * in + s->out_ring * out;
}

static int take_buffers(weir_slabs *s)
{
    const weir_slabs_options *o = &s->options;
    int64_t at = 0;
    s->in = wr_alloc_array(wr_max(1, s->in_ring * o->inputs), sizeof *s->in);
    s->out = wr_alloc_array(wr_max(1, s->out_ring * o->outputs), sizeof *s->out);
    s->memory = wr_alloc_large(count_bytes(s));
    if (!s->in || !s->out || !s->memory)
        return WEIR_ENOMEM;
    for (int64_t i = 0; i < s->in_ring * o->inputs; i++) {
        s->in[i] = (buffer){.data = s->memory + at};
        at += wr_slab_room(s->shape.in_elements * s->input[i % o->inputs]->body.element);
    }
    for (int64_t i = 0; i < s->out_ring * o->outputs; i++) {
        s->out[i] = (buffer){.data = s->memory + at};
        at += wr_slab_room(s->shape.out_elements * s->output[i % o->outputs]->body.element);
    }
    return 0;
}

/* How many slabs are ahead of the one that is computed, and how many buffers that takes. */
typedef struct rings {
    int64_t depth, in, out;
} rings;

static rings rings_of(const weir_slabs_options *o)
{
    const int64_t depth = wr_file_tunables(lead_of(o)->file)->prefetch;
    return (rings){depth, wr_max(2, depth + 1), depth + 1}; /* the slab before is still there */
}

static int build_shape(const weir_slabs_options *o, int rank, wr_slab_shape *out)
{
    const rings r = rings_of(o);
    wr_slab_need need = {.memory = o->memory ? o->memory : 64 << 20,
                         .besides = o->besides,
                         .buffers = r.in * o->inputs + r.out * o->outputs,
                         .halo = o->halo,
                         .block = o->block,
                         .rank = rank,
                         .ranks = wr_array_transport(lead_of(o))->size,
                         .deal = o->deal};
    int64_t coded = 0;
    for (int i = 0; i < o->inputs; i++)
        coded += wr_array_coding_memory(o->input[i], INT64_MAX) > 0;
    for (int i = 0; i < o->outputs; i++)
        coded += wr_array_coding_memory(o->output[i], INT64_MAX) > 0;
    const int64_t share = need.memory / wr_max(1, coded);
    for (int i = 0; i < o->inputs; i++)
        need.besides += wr_array_coding_memory(o->input[i], share);
    for (int i = 0; i < o->outputs; i++)
        need.besides += wr_array_coding_memory(o->output[i], share);
    for (int i = 0; i < o->inputs; i++)
        need.in_bytes += r.in * o->input[i]->body.element;
    for (int i = 0; i < o->outputs; i++)
        need.out_bytes += r.out * o->output[i]->body.element * (o->output[i]->info.swapped ? 2 : 1);
    wr_body body = lead_of(o)->body;
    for (int i = 0; i < o->outputs; i++)
        wr_body_share_grain(&body, &o->output[i]->body, NULL);
    for (int i = 0; i < o->inputs; i++)
        wr_body_share_grain(&body, &o->input[i]->body, NULL);
    int code = wr_slab_shape_build(&body, &need, out);
    need.besides = o->besides; /* where memory is very short it is exceeded by that */
    return code == WEIR_EBUDGET ? wr_slab_shape_build(&body, &need, out) : code;
}

int wr_slabs_shape(const weir_slabs_options *options, int rank, wr_slab_shape *out)
{
    int code = check_arrays(options);
    return code ? code : build_shape(options, rank, out);
}

static int prepare(weir_slabs *s)
{
    const weir_slabs_options *o = &s->options;
    const rings r = rings_of(o);
    s->depth = r.depth;
    s->in_ring = r.in;
    s->out_ring = r.out;
    for (int i = 0; i < o->inputs; i++)
        s->input[i] = o->input[i];
    for (int i = 0; i < o->outputs; i++)
        s->output[i] = o->output[i];
    int code = build_shape(o, wr_array_transport(lead_of(o))->rank, &s->shape);
    return code ? code : take_buffers(s);
}

int weir_slabs_begin(const weir_slabs_options *options, weir_slabs **out)
{
    int code = check_arrays(options);
    if (code)
        return code; /* on all ranks */
    weir_slabs *s = wr_alloc(sizeof *s);
    code = s ? 0 : WEIR_ENOMEM;
    if (s) {
        *s = (weir_slabs){.options = *options};
        code = prepare(s);
    }
    code = wr_array_agree(lead_of(options), code);
    if (code || !s) {
        drop(s);
        return code;
    }
    while (s->depth && s->read <= s->depth - 1 && s->read < s->shape.steps)
        read_slab(s, s->read); /* the first ones, before anybody asks */
    *out = s;
    return 0;
}
