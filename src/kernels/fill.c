/* Filling an array with one value: a slab loop without inputs, whose buffer is filled by
 * doubling. */
#include <string.h>

#include "base/arith.h"
#include "kernels/walk.h"

typedef struct filling {
    const weir_array *array;
    const void *value;
} filling;

/* What is filled is copied behind itself. */
static void fill_slab(void *user, const weir_slab *slab)
{
    const filling *f = user;
    const int64_t element = f->array->body.element;
    int64_t bytes = element;
    char *to = slab->out[0];
    for (int d = 0; d < f->array->info.dimensions; d++)
        bytes *= slab->hi[d] - slab->lo[d];
    memcpy(to, f->value, (size_t)element);
    for (int64_t done = element, more; done < bytes; done += more) {
        more = wr_min(done, bytes - done);
        memcpy(to + done, to, (size_t)more);
    }
}

int weir_array_fill(weir_array *array, const void *value, const weir_work *work)
{
    filling f = {array, value};
    wr_walk w = {.work = wr_work_of(work), .visit = fill_slab, .user = &f};
    w.slabs.outputs = 1;
    w.slabs.output = &array;
    w.slabs.deal = !w.work.direct;
    int code = wr_walk_check(&w);
    return code || w.work.estimate ? code : wr_walk_run(&w, 0);
}
