/* Statistics of an array: least, largest, mean and deviation in one pass. Elements become doubles a
 * block at a time. Ranks combine in their order, each for itself, so that all get the same bits.
 *
 * Doubles beyond 2^53 do not tell integers apart, but rounding keeps their order: what doubles say
 * is least is there, and only where they say so is looked at again. */
#include <math.h>
#include <string.h>

#include "base/arith.h"
#include "kernels/fold.h"
#include "kernels/moments.h"
#include "kernels/operands.h"
#include "kernels/survey.h"
#include "kernels/walk.h"

#define EXACT 0x1p53 /* doubles tell integers below it apart */

typedef struct found {
    wr_moments sum;
    int64_t min, max; /* of integers, exact */
} found;

typedef struct reduction {
    weir_array *array;
    const wr_fold *min, *max; /* NULL: of floats */
    found all;
} reduction;

static void init(reduction *r, weir_array *array)
{
    const int type = array->info.type;
    *r = (reduction){.array = array};
    if (wr_is_float(type))
        return;
    r->min = wr_fold_of(WEIR_MIN, type, 0);
    r->max = wr_fold_of(WEIR_MAX, type, 0);
    wr_fold_start(r->min, &r->all.min, 1, 0);
    wr_fold_start(r->max, &r->all.max, 1, 0);
}

static void join_bounds(reduction *r, int64_t min, int64_t max)
{
    wr_fold_join(r->min, &r->all.min, &min, 1);
    wr_fold_join(r->max, &r->all.max, &max, 1);
}

/* Where the elements are that are least of all as doubles, or largest: then negated. */
typedef struct place {
    double bound;
    const char *from;
    int64_t elements;
} place;

static void note(place *p, double bound, const wr_table *block)
{
    const int64_t size = weir_type_bytes(block->type);
    if (bound < p->bound)
        *p = (place){bound, block->at, block->columns};
    else if (bound == p->bound)
        p->elements = (block->at - p->from) / size + block->columns;
}

static int64_t look_again(const place *p, const wr_fold *fold, int type)
{
    int64_t bound;
    wr_fold_start(fold, &bound, 1, 0);
    wr_fold_rows(fold, &(wr_table){type, p->from, 1, p->elements, p->elements}, &bound);
    return bound;
}

static void add_elements(reduction *r, const char *from, int64_t elements)
{
    const int type = r->array->info.type;
    double room[WR_MOMENTS_BLOCK] = {0};
    place low = {.bound = (double)INFINITY}, high = low;
    for (int64_t at = 0; at < elements; at += WR_MOMENTS_BLOCK) {
        const int count = (int)wr_min(WR_MOMENTS_BLOCK, elements - at);
        const wr_table block = {type, from + at * r->array->body.element, 1, count, count};
        wr_moments m = wr_moments_of(wr_operands_load(type, block.at, WEIR_F8, room, count), count);
        if (r->min) {
            note(&low, m.min, &block);
            note(&high, -m.max, &block);
        }
        wr_moments_join(&r->all.sum, &m);
    }
    if (r->min && elements)
        join_bounds(
            r, fabs(low.bound) < EXACT ? (int64_t)low.bound : look_again(&low, r->min, type),
            fabs(high.bound) < EXACT ? -(int64_t)high.bound : look_again(&high, r->max, type));
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

enum { WORDS = sizeof(found) / sizeof(int64_t), AT_ONCE = WR_CHANNEL_VALUES / WORDS };

/* [collective] Everyone's in rank order: what only one rank says and others leave 0 is that rank's
 * after an OR. */
static int join_ranks(reduction *r)
{
    const wr_transport *t = wr_array_transport(r->array);
    const found own = r->all;
    int code = 0;
    init(r, r->array);
    for (int first = 0; first < t->size && !code; first += AT_ONCE) {
        found said[AT_ONCE] = {0};
        int64_t words[AT_ONCE * WORDS];
        if (t->rank >= first && t->rank < first + AT_ONCE)
            said[t->rank - first] = own;
        memcpy(words, said, sizeof words);
        code = wr_file_reduce(r->array->file, WR_OR, AT_ONCE * WORDS, words);
        memcpy(said, words, sizeof words);
        for (int i = 0; i < AT_ONCE; i++) {
            if (r->min && said[i].sum.count)
                join_bounds(r, said[i].min, said[i].max);
            wr_moments_join(&r->all.sum, &said[i].sum);
        }
    }
    return wr_array_agree(r->array, code);
}

/* [collective] */
static int tell(reduction *r, int code, weir_statistics *out)
{
    if (!code)
        code = join_ranks(r);
    if (code)
        return code;
    wr_moments_tell(&r->all.sum, out);
    out->exact_min = r->all.sum.count ? r->all.min : 0;
    out->exact_max = r->all.sum.count ? r->all.max : 0;
    return 0;
}

static int check(const weir_array *array)
{
    if (array->info.type == WEIR_C8 || array->info.type == WEIR_C16)
        return wr_fail(WEIR_EINVAL, "%s has complex elements", array->path);
    return 0;
}

int weir_array_reduce(weir_array *array, weir_statistics *out, const weir_work *work)
{
    reduction r;
    wr_walk w = {.work = wr_work_of(work), .visit = add_slab, .user = &r};
    if (check(array))
        return WEIR_EINVAL;
    w.slabs.inputs = 1;
    w.slabs.input = &array;
    w.slabs.deal = !w.work.direct;
    int code = wr_walk_check(&w);
    if (code || w.work.estimate)
        return code;
    init(&r, array);
    return tell(&r, wr_walk_run(&w, 0), out);
}

int weir_array_reduce_section(weir_array *array, const weir_selection *of, weir_statistics *out,
                              const weir_work *work)
{
    reduction r;
    wr_survey p = {.work = wr_work_of(work), .arrays = 1, .array = {array}, .of = {of}};
    int code = wr_survey_build(&p, 0, 1, check(array));
    if (code || p.work.estimate)
        return code;
    const wr_survey_visit visit = {.visit = add_part, .user = &r, .all = p.all};
    init(&r, array);
    return tell(&r, wr_survey_run(&p, &visit, 0), out);
}
