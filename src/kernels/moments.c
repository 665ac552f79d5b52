/* Moments of blocks of doubles, and of several at once.
 *
 * A block has a mean and a sum of squared distances from it, and two such pairs combine exactly as
 * if all their elements had been there at once (Chan, Golub and LeVeque, "Updating formulae and a
 * pairwise algorithm for computing sample variances"). Nothing large is subtracted from something
 * large, so digits last. Numbers whose squares no double holds are made smaller by a power of 2. */
#include "kernels/moments.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "base/arith.h"

enum { LANES = 8 };

/* 2^60 squares of what is not large, or was made smaller, add up to a double. */
#define LARGE 0x1p480
#define SMALLER 0x1p-600

static bool is_large(const wr_moments *m)
{
    return m->max > LARGE || m->min < -LARGE;
}

static void shrink(wr_moments *m)
{
    m->mean *= SMALLER;
    m->squares = m->squares * SMALLER * SMALLER; /* the square of it is 0 */
}

/* `more` is used up. */
void wr_moments_join(wr_moments *to, wr_moments *more)
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
static bool survey(const double *x, int count, wr_moments *m, double *sum)
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
static wr_moments measure_odd(const double *x, int count)
{
    double rest[WR_MOMENTS_BLOCK] = {0}, sum;
    wr_moments m = {.count = drop_nans(x, count, rest)}, small;
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

wr_moments wr_moments_of(const double *x, int count)
{
    double sum;
    wr_moments m = {.count = count};
    if (survey(x, count, &m, &sum) || is_large(&m))
        return measure_odd(x, count);
    m.mean = sum / (double)m.count;
    m.squares = squares_of(x, count, m.mean);
    return m;
}

/* --- columns --- */

/* Rows and columns whose elements are still in the cache when they are looked at again. */
enum { ROWS = 64, COLUMNS = 64 };

typedef struct columns {
    double sum[COLUMNS], min[COLUMNS], max[COLUMNS], squares[COLUMNS];
} columns;

static void survey_columns(const double *restrict x, int64_t pitch, int rows, int count,
                           columns *restrict c)
{
    for (int k = 0; k < count; k++) {
        c->sum[k] = c->squares[k] = 0;
        c->min[k] = (double)INFINITY;
        c->max[k] = -(double)INFINITY;
    }
    for (int i = 0; i < rows; i++, x += pitch)
        for (int k = 0; k < count; k++) {
            const double v = x[k];
            c->sum[k] += v;
            c->min[k] = v < c->min[k] ? v : c->min[k];
            c->max[k] = v > c->max[k] ? v : c->max[k];
        }
}

/* Sums become means. */
static void square_columns(const double *restrict x, int64_t pitch, int rows, int count,
                           columns *restrict c)
{
    for (int k = 0; k < count; k++)
        c->sum[k] /= rows;
    for (int i = 0; i < rows; i++, x += pitch)
        for (int k = 0; k < count; k++)
            c->squares[k] += (x[k] - c->sum[k]) * (x[k] - c->sum[k]);
}

static wr_moments measure_column(const double *x, int64_t pitch, int rows)
{
    double one[ROWS];
    for (int i = 0; i < rows; i++)
        one[i] = x[i * pitch];
    return wr_moments_of(one, rows);
}

/* What is no number makes the sum none. */
static void add_columns(wr_moments *to, const double *x, int64_t pitch, int rows, int count)
{
    columns c;
    survey_columns(x, pitch, rows, count, &c);
    square_columns(x, pitch, rows, count, &c);
    for (int k = 0; k < count; k++) {
        wr_moments m = {.count = rows,
                        .min = c.min[k] + 0.0,
                        .max = c.max[k] + 0.0,
                        .mean = c.sum[k],
                        .squares = c.squares[k]};
        if (m.mean != m.mean || is_large(&m))
            m = measure_column(x + k, pitch, rows);
        wr_moments_join(&to[k], &m);
    }
}

void wr_moments_add_columns(wr_moments *to, const double *x, int64_t pitch, int64_t rows,
                            int64_t count)
{
    for (int64_t i = 0; i < rows; i += ROWS)
        for (int64_t k = 0; k < count; k += COLUMNS)
            add_columns(to + k, x + i * pitch + k, pitch, (int)wr_min(ROWS, rows - i),
                        (int)wr_min(COLUMNS, count - k));
}

/* --- results --- */

/* Where there are infinities the formulae gave inf - inf. What was rounded up is not more than it
 * can be: mean and deviation of the largest doubles are doubles. */
void wr_moments_tell(const wr_moments *m, weir_statistics *out)
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
