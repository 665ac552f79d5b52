/* Statistics of an array: least, largest, mean and deviation in one pass. Elements become doubles a
 * block at a time. Ranks combine in their order, each for itself, so that all get the same bits. */
#include <string.h>

#include "base/arith.h"
#include "kernels/moments.h"
#include "kernels/operands.h"
#include "kernels/survey.h"
#include "kernels/walk.h"

typedef struct reduction {
    weir_array *array;
    wr_moments sum;
} reduction;

static void add_elements(reduction *r, const char *from, int64_t elements)
{
    const int type = r->array->info.type;
    double room[WR_MOMENTS_BLOCK] = {0};
    for (int64_t at = 0; at < elements; at += WR_MOMENTS_BLOCK) {
        const int count = (int)wr_min(WR_MOMENTS_BLOCK, elements - at);
        wr_moments m = wr_moments_of(
            wr_operands_load(type, from + at * r->array->body.element, WEIR_F8, room, count),
            count);
        wr_moments_join(&r->sum, &m);
    }
}

static void add_slab(void *user, const weir_slab *slab)
{
    reduction *r = user;
    int64_t elements = 1;
    for (int d = 0; d < r->array->info.dimensions; d++)
        elements *= slab->hi[d] - slab->lo[d];
    add_elements(r, slab->in[0], elements);
}

static void add_part(void *user, const wr_survey_part *part)
{
    add_elements(user, part->at[0], part->elements);
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

static int check(const weir_array *array)
{
    if (array->info.type == WEIR_C8 || array->info.type == WEIR_C16)
        return wr_fail(WEIR_EINVAL, "%s has complex elements", array->path);
    return 0;
}

int weir_array_reduce(weir_array *array, weir_statistics *out, const weir_work *work)
{
    reduction r = {.array = array};
    wr_walk w = {.work = wr_work_of(work), .visit = add_slab, .user = &r};
    if (check(array))
        return WEIR_EINVAL;
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

int weir_array_reduce_section(weir_array *array, const weir_selection *of, weir_statistics *out,
                              const weir_work *work)
{
    reduction r = {.array = array};
    wr_survey p = {.work = wr_work_of(work), .arrays = 1, .array = {array}, .of = {of}};
    int code = wr_survey_build(&p, 0, 1, check(array));
    if (code || p.work.estimate)
        return code;
    const wr_survey_visit visit = {.visit = add_part, .user = &r, .all = p.all};
    code = wr_survey_run(&p, &visit, 0);
    if (!code)
        code = join_ranks(array, &r.sum);
    if (!code)
        wr_moments_tell(&r.sum, out);
    return code;
}
