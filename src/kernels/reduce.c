/* Statistics of an array: least, largest, mean and deviation in one pass. Elements become doubles a
 * block at a time. Ranks combine in their order, each for itself, so that all get the same bits. */
#include <string.h>

#include "base/arith.h"
#include "kernels/moments.h"
#include "kernels/operands.h"
#include "kernels/walk.h"

typedef struct reduction {
    weir_array *array;
    wr_moments sum;
} reduction;

static void add_slab(void *user, const weir_slab *slab)
{
    reduction *r = user;
    const int type = r->array->info.type;
    double room[WR_MOMENTS_BLOCK] = {0};
    const char *from = slab->in[0];
    int64_t elements = 1;
    for (int d = 0; d < r->array->info.dimensions; d++)
        elements *= slab->hi[d] - slab->lo[d];
    for (int64_t at = 0; at < elements; at += WR_MOMENTS_BLOCK) {
        const int count = (int)wr_min(WR_MOMENTS_BLOCK, elements - at);
        wr_moments m = wr_moments_of(
            wr_operands_load(type, from + at * r->array->body.element, WEIR_F8, room, count),
            count);
        wr_moments_join(&r->sum, &m);
    }
}

/* --- all ranks --- */

enum { WORDS = sizeof(wr_moments) / sizeof(int64_t), AT_ONCE = WR_CHANNEL_VALUES / WORDS };

/* [collective] Everyone's in rank order: what only one rank says and others leave 0 is that rank's
 * after an OR. */
static int join_ranks(weir_array *array, wr_moments *sum)
{
    const wr_transport *t = wr_array_transport(array);
    const wr_moments own = *sum;
    int code = 0;
    *sum = (wr_moments){0};
    for (int first = 0; first < t->size && !code; first += AT_ONCE) {
        wr_moments said[AT_ONCE] = {0};
        int64_t words[AT_ONCE * WORDS];
        if (t->rank >= first && t->rank < first + AT_ONCE)
            said[t->rank - first] = own;
        memcpy(words, said, sizeof words);
        code = wr_file_reduce(array->file, WR_OR, AT_ONCE * WORDS, words);
        memcpy(said, words, sizeof words);
        for (int i = 0; i < AT_ONCE; i++)
            wr_moments_join(sum, &said[i]);
    }
    return wr_array_agree(array, code);
}

int weir_array_reduce(weir_array *array, weir_statistics *out, const weir_work *work)
{
    reduction r = {.array = array};
    wr_walk w = {.work = wr_work_of(work), .visit = add_slab, .user = &r};
    if (array->info.type == WEIR_C8 || array->info.type == WEIR_C16)
        return wr_fail(WEIR_EINVAL, "reduce: %s has complex elements", array->path);
    w.slabs.inputs = 1;
    w.slabs.input = &array;
    w.slabs.deal = !w.work.direct;
    int code = wr_walk_check(&w);
    if (code || w.work.estimate)
        return code;
    code = wr_walk_run(&w, 0);
    if (!code)
        code = join_ranks(array, &r.sum);
    if (!code)
        wr_moments_tell(&r.sum, out);
    return code;
}
