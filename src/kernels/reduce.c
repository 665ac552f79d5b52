/* Statistics of an array: least, largest, mean and deviation in one pass.
 *
 * Elements become doubles a block at a time; a block has a mean and a sum of squared distances from
 * it, and two such pairs combine exactly as if all their elements had been there at once (Chan,
 * Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances").
 * Nothing large is subtracted from something large, so digits last. Numbers whose squares no double
 * holds are made smaller by a power of 2. Ranks combine in their order, each for itself, so that
 * all get the same bits. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/arith.h"
#include "format/convert.h"
#include "kernels/walk.h"

enum { BLOCK = 1024, LANES = 8 };

/* Of elements that are numbers; min and max hold nothing where there are none. Mean and squares are
 * those of elements * SMALLER where one is large. */
typedef struct moments {
    int64_t count, nans;
    double min, max, mean, squares;
} moments;

/* 2^60 squares of what is not large, or was made smaller, add up to a double. */
#define LARGE 0x1p480
#define SMALLER 0x1p-600

typedef struct reduction {
    weir_array *array;
    moments sum;
} reduction;

static bool is_large(const moments *m)
{
    return m->max > LARGE || m->min < -LARGE;
}

static void shrink(moments *m)
{
    m->mean *= SMALLER;
    m->squares = m->squares * SMALLER * SMALLER; /* the square of it is 0 */
}

/* `more` is used up. */
static void join(moments *to, moments *more)
{
    const double all = (double)(to->count + more->count);
    to->nans += more->nans;
    if (!more->count)
        return;
    if (!to->count) {
        int64_t nans = to->nans;
        *to = *more;
        to->nans = nans;
        return;
    }
    if (is_large(to) != is_large(more))
        shrink(is_large(to) ? more : to);
    const double distance = more->mean - to->mean, share = (double)more->count / all;
    to->squares += more->squares + distance * distance * ((double)to->count * share);
    to->mean += distance * share;
    to->count += more->count;
    to->min = more->min < to->min ? more->min : to->min;
    to->max = more->max > to->max ? more->max : to->max;
}

/* --- a block of doubles --- */

/* Sum and bounds in one pass; whether there is something that is no number, which no bound is. */
static bool survey(const double *x, int count, moments *m, double *sum)
{
    double lane[LANES] = {0}, min[LANES], max[LANES];
    int64_t odd[LANES] = {0};
    int i = 0;
    for (int k = 0; k < LANES; k++) {
        min[k] = (double)INFINITY;
        max[k] = -(double)INFINITY;
    }
    for (; i + LANES <= count; i += LANES)
        for (int k = 0; k < LANES; k++) {
            const double v = x[i + k];
            lane[k] += v;
            min[k] = v < min[k] ? v : min[k];
            max[k] = v > max[k] ? v : max[k];
            odd[k] |= v != v;
        }
    for (int k = 0; i < count; i++, k++) {
        lane[k] += x[i];
        min[k] = x[i] < min[k] ? x[i] : min[k];
        max[k] = x[i] > max[k] ? x[i] : max[k];
        odd[k] |= x[i] != x[i];
    }
    for (int k = 1; k < LANES; k++) {
        lane[0] += lane[k];
        min[0] = min[k] < min[0] ? min[k] : min[0];
        max[0] = max[k] > max[0] ? max[k] : max[0];
        odd[0] |= odd[k];
    }
    *sum = lane[0];
    m->min = min[0] + 0.0; /* zeros lose their sign: which one came first depends on slabs */
    m->max = max[0] + 0.0;
    return odd[0];
}

static double squares_of(const double *x, int count, double mean)
{
    double lane[LANES] = {0}, sum = 0;
    int i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int k = 0; k < LANES; k++)
            lane[k] += (x[i + k] - mean) * (x[i + k] - mean);
    for (; i < count; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    for (int k = 0; k < LANES; k++)
        sum += lane[k];
    return sum;
}

static int drop_nans(const double *x, int count, double *to)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        to[kept] = x[i];
        kept += x[i] == x[i];
    }
    return kept;
}

/* Where something is no number, or large. */
static moments measure_odd(const double *x, int count)
{
    double rest[BLOCK] = {0}, sum;
    moments m = {.count = drop_nans(x, count, rest)}, small;
    m.nans = count - m.count;
    if (!m.count)
        return m;
    survey(rest, (int)m.count, &m, &sum);
    for (int i = 0; i < m.count && is_large(&m); i++)
        rest[i] *= SMALLER;
    survey(rest, (int)m.count, &small, &sum);
    m.mean = sum / (double)m.count;
    m.squares = squares_of(rest, (int)m.count, m.mean);
    return m;
}

static moments measure(const double *x, int count)
{
    double sum;
    moments m = {.count = count};
    if (survey(x, count, &m, &sum) || is_large(&m))
        return measure_odd(x, count);
    m.mean = sum / (double)m.count;
    m.squares = squares_of(x, count, m.mean);
    return m;
}

/* --- elements --- */

/* f2, which the library does not convert elsewhere. */
static double widen(const char *at)
{
    uint16_t half;
    memcpy(&half, at, sizeof half);
    const int exponent = half >> 10 & 31, digits = half & 1023;
    double v = exponent == 31 ? (digits ? (double)NAN : (double)INFINITY)
               : exponent     ? ldexp(1024 + digits, exponent - 25)
                              : ldexp(digits, -24);
    return half >> 15 ? -v : v;
}

/* Elements as doubles: where they are, or in `room`. */
static const double *load(const weir_array *array, const char *from, double *room, int count)
{
    const int64_t size = array->body.element;
    if (array->info.type == WEIR_F8)
        return (const double *)(const void *)from;
    if (array->info.type == WEIR_F2)
        for (int i = 0; i < count; i++)
            room[i] = widen(from + i * size);
    else
        wr_convert(&(wr_elements){array->info.type, (void *)from, size},
                   &(wr_elements){WEIR_F8, room, sizeof *room}, count);
    return room;
}

static void add_slab(void *user, const weir_slab *slab)
{
    reduction *r = user;
    double room[BLOCK] = {0};
    const char *from = slab->in[0];
    int64_t elements = 1;
    for (int d = 0; d < r->array->info.dimensions; d++)
        elements *= slab->hi[d] - slab->lo[d];
    for (int64_t at = 0; at < elements; at += BLOCK) {
        const int count = (int)wr_min(BLOCK, elements - at);
        moments m = measure(load(r->array, from + at * r->array->body.element, room, count), count);
        join(&r->sum, &m);
    }
}

/* --- all ranks --- */

enum { WORDS = sizeof(moments) / sizeof(int64_t), AT_ONCE = WR_CHANNEL_VALUES / WORDS };

/* [collective] Everyone's in rank order: what only one rank says and others leave 0 is that rank's
 * after an OR. */
static int join_ranks(weir_array *array, moments *sum)
{
    const wr_transport *t = wr_array_transport(array);
    const moments own = *sum;
    int code = 0;
    *sum = (moments){0};
    for (int first = 0; first < t->size && !code; first += AT_ONCE) {
        moments said[AT_ONCE] = {0};
        int64_t words[AT_ONCE * WORDS];
        if (t->rank >= first && t->rank < first + AT_ONCE)
            said[t->rank - first] = own;
        memcpy(words, said, sizeof words);
        code = wr_file_reduce(array->file, WR_OR, AT_ONCE * WORDS, words);
        memcpy(said, words, sizeof words);
        for (int i = 0; i < AT_ONCE; i++)
            join(sum, &said[i]);
    }
    return wr_array_agree(array, code);
}

/* Where there are infinities the formulae gave inf - inf. What was rounded up is not more than it
 * can be: mean and deviation of the largest doubles are doubles. */
static void tell(const moments *m, weir_statistics *out)
{
    *out = (weir_statistics){.count = m->count + m->nans, .nans = m->nans};
    if (!m->count)
        return;
    const bool low = isinf(m->min), high = isinf(m->max);
    const double larger = is_large(m) ? 1 / SMALLER : 1;
    const double mean = fmax(m->min, fmin(m->max, m->mean * larger));
    const double deviation = sqrt(m->squares / (double)m->count) * larger;
    out->min = m->min;
    out->max = m->max;
    out->mean = low || high ? (low ? m->min : 0) + (high ? m->max : 0) : mean;
    out->deviation = low || high ? (double)NAN : fmin(deviation, DBL_MAX);
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
        tell(&r.sum, out);
    return code;
}
