/* Copying between arrays of any form: from one global file to local array files and back (PASSION's
 * file map), to another distribution, order or type.
 *
 * The array is walked in boxes that ranks read and write together, each its part of a box. A box is
 * whole along the target's fast dimensions, so the target is written in long runs; how the source
 * lies is for the collective read to deal with. The next box is read while one is written. */
#include <string.h>

#include "array/moves.h"
#include "array/slab_shape.h"
#include "format/convert.h"

enum { DEFAULT_MEMORY = 64 << 20, BUFFERS = 2 };

typedef struct copying {
    weir_array *from, *to;
    wr_slab_shape shape;
    char *memory[BUFFERS];
    weir_request *request[BUFFERS];
    weir_error error;
} copying;

static void note(copying *c, int code)
{
    if (code && !c->error.code)
        c->error = *weir_error_last();
}

/* This rank's section of step k; NULL if it has none. */
static const weir_array_section *section_of(const copying *c, int64_t k, wr_slab_box *box,
                                            weir_array_section *out)
{
    if (!wr_slab_find(&c->shape, k, box))
        return NULL;
    *out = (weir_array_section){
        .lo = box->lo, .hi = box->hi, .order = c->shape.order, .type = c->to->info.type};
    return out;
}

static void start_read(copying *c, int64_t k)
{
    wr_slab_box box;
    weir_array_section s;
    const weir_array_section *wanted = section_of(c, k, &box, &s);
    const wr_move how = {.direction = WR_READ, .together = true, .frugal = true};
    if (k < c->shape.steps)
        note(c, wr_array_start(c->from, wanted, c->memory[k % BUFFERS], how,
                               &c->request[k % BUFFERS]));
}

/* Everyone takes part in every step, whatever went wrong: others may not know yet. */
static void run(copying *c)
{
    start_read(c, 0);
    for (int64_t k = 0; k < c->shape.steps; k++) {
        wr_slab_box box;
        weir_array_section s;
        const weir_array_section *part = section_of(c, k, &box, &s);
        note(c, weir_wait(&c->request[k % BUFFERS], NULL));
        start_read(c, k + 1);
        if (c->error.code)
            part = NULL; /* collective reads fail on all ranks alike, so all write nothing */
        note(c, weir_array_write_all(c->to, part, c->memory[k % BUFFERS]));
    }
}

static int check(const weir_array *from, const weir_array *to)
{
    int code = wr_array_check_pair(from, to);
    if (code)
        return code;
    if (from->info.dimensions != to->info.dimensions ||
        memcmp(from->info.shape, to->info.shape,
               (size_t)from->info.dimensions * sizeof *from->info.shape) != 0)
        return wr_fail(WEIR_EINVAL, "%s and %s differ in shape", from->path, to->path);
    return from->info.type == to->info.type ? 0 : wr_convert_check(from->info.type, to->info.type);
}

/* Slabs are dealt round-robin, so that those of a step lie side by side. Where elements are
 * converted or swapped, reading and writing take a buffer each besides. */
static int prepare(copying *c, int64_t memory)
{
    static const int64_t none[WEIR_MAX_DIMENSIONS];
    const wr_transport *t = wr_array_transport(c->to);
    const int64_t staged = c->from->body.element + c->to->body.element;
    wr_slab_need need = {.memory = memory > 0 ? memory : DEFAULT_MEMORY,
                         .out_bytes = BUFFERS * c->to->body.element,
                         .buffers = BUFFERS,
                         .halo = none,
                         .block = none,
                         .rank = t->rank,
                         .ranks = t->size,
                         .deal = 1};
    if (c->from->info.type != c->to->info.type || c->from->info.swapped || c->to->info.swapped)
        need.out_bytes += staged;
    int code = wr_slab_shape_build(&c->to->body, &need, &c->shape);
    for (int i = 0; i < BUFFERS && !code; i++) {
        c->memory[i] = wr_alloc(c->shape.out_elements * c->to->body.element);
        code = c->memory[i] ? 0 : WEIR_ENOMEM;
    }
    return code;
}

int weir_array_copy(weir_array *from, weir_array *to, int64_t memory)
{
    copying c = {.from = from, .to = to};
    int code = check(from, to);
    if (!code)
        code = prepare(&c, memory);
    if (from->world) /* a rank without memory must not leave the others waiting */
        code = wr_array_agree(from, code);
    if (!code) {
        run(&c);
        code = c.error.code ? wr_error_raise(&c.error) : 0;
        to->spoiled = to->spoiled || code; /* it lacks what could not be read */
    }
    for (int i = 0; i < BUFFERS; i++)
        wr_free(c.memory[i]);
    return code;
}
