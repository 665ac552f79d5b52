/* Histograms in bins of equal width, as numpy.histogram counts: the bin of a number is where the
 * edges are, not where a rounded quotient says; that is off by one at most. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/arith.h"
#include "kernels/operands.h"
#include "kernels/survey.h"

enum { BLOCK = 1024, LANES = 4, MOST_BINS = 1 << 24 };

/* Place 0 is below the range, 1 to bins are in it, bins + 1 is above it: place s has the numbers
 * from edge[s] to below edge[s + 1]. */
typedef struct counting {
    const weir_array *array;
    int64_t bins, nans;
    double lo, hi, scale;
    double least, most; /* of finite numbers, in a first pass */
    double *edge;
    int64_t *count[LANES];
} counting;

/* --- blocks of numbers --- */

static void each_block(counting *c, const wr_survey_part *part,
                       void (*with)(counting *, const double *, int64_t))
{
    double room[BLOCK];
    const int64_t size = c->array->body.element;
    for (int64_t at = 0; at < part->elements; at += BLOCK) {
        const int64_t count = wr_min(BLOCK, part->elements - at);
        with(c,
             wr_operands_load(c->array->info.type, part->at[0] + at * size, WEIR_F8, room, count),
             count);
    }
}

static void bound_block(counting *c, const double *x, int64_t n)
{
    double least[LANES], most[LANES];
    int64_t i = 0;
    for (int k = 0; k < LANES; k++) {
        least[k] = c->least;
        most[k] = c->most;
    }
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++) {
            const double v = x[i + k], low = v >= -DBL_MAX ? v : DBL_MAX;
            const double high = v <= DBL_MAX ? v : -DBL_MAX;
            least[k] = low < least[k] ? low : least[k];
            most[k] = high > most[k] ? high : most[k];
        }
    for (; i < n; i++) {
        least[0] = x[i] >= -DBL_MAX && x[i] < least[0] ? x[i] : least[0];
        most[0] = x[i] <= DBL_MAX && x[i] > most[0] ? x[i] : most[0];
    }
    for (int k = 0; k < LANES; k++) {
        c->least = fmin(c->least, least[k]);
        c->most = fmax(c->most, most[k]);
    }
}

static inline int64_t place_of(const counting *c, double x, int32_t guess)
{
    int64_t s = guess;
    s -= x < c->edge[s];
    return s + (x >= c->edge[s + 1]);
}

/* What is not a number is guessed to be below, and taken from there at the end. */
static void count_block(counting *c, const double *x, int64_t n)
{
    int32_t guess[BLOCK];
    const double lo = c->lo, scale = c->scale, last = (double)(c->bins + 1);
    int64_t nans = 0, i = 0;
    for (int64_t k = 0; k < n; k++) {
        double t = (x[k] - lo) * scale + 1;
        t = t > 0 ? t : 0;
        t = t < last ? t : last;
        guess[k] = (int32_t)t;
        nans += x[k] != x[k];
    }
    c->nans += nans;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            c->count[k][place_of(c, x[i + k], guess[i + k])]++;
    for (; i < n; i++)
        c->count[0][place_of(c, x[i], guess[i])]++;
}

static void bound_part(void *user, const wr_survey_part *part)
{
    each_block(user, part, bound_block);
}

static void count_part(void *user, const wr_survey_part *part)
{
    each_block(user, part, count_block);
}

/* --- all ranks --- */

/* Doubles as integers of the same order. */
static int64_t rank_of(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
}

static double double_of(int64_t rank)
{
    double x;
    const int64_t bits = rank < 0 ? INT64_MIN - rank : rank;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* From the least to the largest finite number; one that is alone is in the middle, and where there
 * is none the range is from 0 to 1. */
static int find_range(counting *c, const wr_survey *p)
{
    weir_array *array = p->array[0];
    const wr_survey_visit visit = {.visit = bound_part, .user = c, .all = 2 * p->all};
    c->least = DBL_MAX;
    c->most = -DBL_MAX;
    int code = wr_survey_run(p, &visit, 0);
    if (code)
        return code;
    int64_t ends[] = {-rank_of(c->least), rank_of(c->most)};
    code = wr_array_agree(array, wr_file_reduce(array->file, WR_MAX, 2, ends));
    c->lo = double_of(-ends[0]) + 0.0;
    c->hi = double_of(ends[1]) + 0.0;
    if (c->lo > c->hi) {
        c->lo = 0;
        c->hi = 1;
    } else if (c->lo == c->hi) {
        const double half = fmax(0.5, fabs(c->lo) * 0x1p-30);
        c->lo -= half;
        c->hi += half;
    }
    return code;
}

/* As numpy.linspace has them. */
static int set_edges(counting *c)
{
    const double width = (c->hi - c->lo) / (double)c->bins;
    c->scale = (double)c->bins / (c->hi - c->lo);
    if (!isfinite(c->scale) || !isfinite(width)) {
        const int code = wr_fail(WEIR_ERANGE, "from %g to %g there are no %lld bins", c->lo, c->hi,
                                 (long long)c->bins);
        wr_error_note_file(c->array->path, -1);
        return code;
    }
    c->edge[0] = (double)-INFINITY;
    for (int64_t i = 0; i < c->bins; i++) {
        const volatile double far = (double)i * width; /* not fused with the addition */
        c->edge[i + 1] = far + c->lo;
    }
    c->edge[c->bins + 1] = nextafter(c->hi, (double)INFINITY);
    c->edge[c->bins + 2] = (double)NAN; /* nothing is beyond it */
    return 0;
}

static int count_all(counting *c, const wr_survey *p, weir_histogram *out, bool second)
{
    const int64_t places = c->bins + 2;
    const wr_survey_visit visit = {.visit = count_part,
                                   .user = c,
                                   .before = second ? p->all : 0,
                                   .all = second ? 2 * p->all : p->all};
    int code = wr_survey_run(p, &visit, 0);
    if (code)
        return code;
    for (int k = 1; k < LANES; k++)
        for (int64_t i = 0; i < places; i++)
            c->count[0][i] += c->count[k][i];
    code = wr_survey_sum(p, c->count[0], places);
    if (!code)
        code = wr_survey_sum(p, &c->nans, 1);
    if (code)
        return code;
    memcpy(out->counts, c->count[0] + 1, (size_t)c->bins * sizeof *out->counts);
    out->count = p->all;
    out->nans = c->nans;
    out->below = c->count[0][0] - c->nans;
    out->above = c->count[0][c->bins + 1];
    out->lo = c->lo;
    out->hi = c->hi;
    return 0;
}

static int check(const weir_array *array, const weir_histogram *h)
{
    if (array->info.type == WEIR_C8 || array->info.type == WEIR_C16)
        return wr_fail(WEIR_EINVAL, "%s has complex elements", array->path);
    if (h->bins < 1 || h->bins > MOST_BINS)
        return wr_fail(WEIR_EINVAL, "%lld bins, not 1 to %d", (long long)h->bins, MOST_BINS);
    const bool found = h->lo == 0 && h->hi == 0;
    if (!found && !(h->lo < h->hi && isfinite(h->hi - h->lo)))
        return wr_fail(WEIR_EINVAL, "no range is from %g to %g", h->lo, h->hi);
    return wr_check_reserved(h->reserved, "weir_histogram");
}

int weir_array_histogram(weir_array *array, const weir_selection *of, weir_histogram *out,
                         const weir_work *work)
{
    wr_survey p = {.work = wr_work_of(work), .arrays = 1, .array = {array}, .of = {of}};
    counting c = {.array = array, .bins = out->bins, .lo = out->lo, .hi = out->hi};
    const bool second = out->lo == 0 && out->hi == 0;
    int code = check(array, out);
    const int64_t places = code ? 0 : out->bins + 3;
    const int64_t own = places * (int64_t)(sizeof *c.edge + LANES * sizeof **c.count);
    code = wr_survey_build(&p, own, 1 + second, code);
    if (code || p.work.estimate)
        return code;
    c.edge = wr_alloc_array(places * (1 + LANES), sizeof *c.edge);
    code = wr_array_agree(array, c.edge ? 0 : WEIR_ENOMEM);
    for (int k = 0; k < LANES && c.edge; k++) {
        c.count[k] = (int64_t *)(c.edge + places * (1 + k));
        memset(c.count[k], 0, (size_t)places * sizeof **c.count);
    }
    if (!code && second)
        code = find_range(&c, &p);
    if (!code && c.edge) /* a rank that has none makes all fail */
        code = set_edges(&c);
    if (!code)
        code = count_all(&c, &p, out, second);
    wr_free(c.edge);
    return code;
}
