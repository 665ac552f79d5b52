/* Operators that are one slab loop: checks, the estimate, the loop, and the agreement at its
 * end. */
#include "kernels/walk.h"

#include "array/slabs.h"
#include "base/arith.h"
#include "kernels/estimate.h"

/* Whose channel the ranks agree on. */
static weir_array *lead_of(const wr_walk *w)
{
    return w->slabs.outputs ? w->slabs.output[0] : w->slabs.input[0];
}

/* Elements that two slabs have in common. */
static int64_t count_common(const wr_slab_shape *s, const wr_slab_box *a, const wr_slab_box *b)
{
    int64_t all = 1;
    for (int d = 0; d < s->dimensions; d++)
        all *= wr_max(0, wr_min(a->in_hi[d], b->in_hi[d]) - wr_max(a->in_lo[d], b->in_lo[d]));
    return all;
}

/* What a rank reads of an input; of an array in one file, what the slab before has is not read. */
static int64_t count_read(const wr_slab_shape *s, const weir_array *input)
{
    int64_t elements = 0;
    wr_slab_box now, before;
    for (int64_t k = 0; wr_slab_find(s, k, &now); k++) {
        elements += wr_slab_elements(s, now.in_lo, now.in_hi);
        if (k && !input->info.members)
            elements -= count_common(s, &now, &before);
        before = now;
    }
    return elements * input->body.element;
}

static int estimate(const wr_walk *w, weir_estimate *out)
{
    const weir_slabs_options *o = &w->slabs;
    const int ranks = wr_array_transport(lead_of(w))->size;
    wr_slab_shape shape = {0};
    *out = (weir_estimate){0};
    for (int rank = 0; rank < ranks; rank++) {
        int code = wr_slabs_shape(o, rank, &shape);
        if (code)
            return code;
        for (int i = 0; i < o->inputs; i++)
            out->read += count_read(&shape, o->input[i]);
    }
    for (int i = 0; i < o->outputs; i++)
        out->written += o->output[i]->info.bytes;
    out->calls = shape.steps * (o->inputs + o->outputs);
    out->memory = shape.memory;
    wr_estimate_say_slabs(out, "slabs", &shape);
    return 0;
}

int wr_walk_check(wr_walk *w)
{
    wr_slab_shape shape;
    w->slabs.memory = w->work.memory;
    w->slabs.together = !w->work.direct;
    w->slabs.progress = w->work.progress;
    w->slabs.user = w->work.user;
    int code = wr_work_check(&w->work);
    if (!code)
        code = wr_slabs_shape(&w->slabs, 0, &shape);
    return code || !w->work.estimate ? code : estimate(w, w->work.estimate);
}

static int visit_all(const wr_walk *w)
{
    weir_slabs *slabs;
    weir_slab slab;
    wr_task task = {.work = w->work};
    int code = weir_slabs_begin(&w->slabs, &slabs);
    if (code)
        return code; /* on all ranks */
    while (weir_slabs_next(slabs, &slab) == 1) {
        w->visit(w->user, &slab);
        wr_slabs_fail(slabs, wr_work_stop(&w->work));
    }
    code = weir_slabs_end(slabs);
    wr_task_note(&task,
                 code ? code : wr_work_stop(&w->work)); /* the last slab was told at its end */
    return wr_task_end(&task, lead_of(w));
}

int wr_walk_run(const wr_walk *w, int code)
{
    code = wr_array_agree(lead_of(w), code);
    if (!code)
        code = visit_all(w);
    return wr_work_settle(w->slabs.output, w->slabs.outputs, code);
}
