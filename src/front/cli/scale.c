/* Round numbers are 1, 2 or 5 times a power of ten, or these powers themselves. */
#include "scale.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/weir.h>

static const char *parse_pair(const char *text, cli_pair *out)
{
    static const char problem[] = "must be two numbers such as 0,1";
    char *between, *end;
    out->given = 1;
    out->lo = strtod(text, &between);
    if (between == text || (*between != ',' && *between != ':'))
        return problem;
    out->hi = strtod(between + 1, &end);
    if (end == between + 1 || *end || !isfinite(out->lo) || !isfinite(out->hi))
        return problem;
    return out->lo < out->hi ? NULL : "must be the smaller number first";
}

const char *cli_parse_range(const char *text, void *out)
{
    return parse_pair(text, out);
}

const char *cli_parse_percentile(const char *text, void *out)
{
    const cli_pair *pair = out;
    const char *problem = parse_pair(text, out);
    return problem                          ? problem
           : pair->lo < 0 || pair->hi > 100 ? "must be numbers from 0 to 100"
                                            : NULL;
}

enum cli_kind cli_scale_kind(const cli_scale *s, double v)
{
    return isnan(v)           ? CLI_NOT_A_NUMBER
           : s->log && v <= 0 ? CLI_BELOW_ALL
           : isfinite(v)      ? CLI_NUMBER
           : v > 0            ? CLI_ABOVE_ALL
                              : CLI_BELOW_ALL;
}

const char *cli_scale_name(const cli_scale *s, enum cli_kind kind)
{
    static const char *const names[] = {
        [CLI_NOT_A_NUMBER] = "NaN", [CLI_ABOVE_ALL] = "+inf", [CLI_BELOW_ALL] = "-inf"};
    return s->log && kind == CLI_BELOW_ALL ? "<= 0" : names[kind];
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Between the two that it falls between, as NumPy does. */
static double percentile_of(const double *sorted, int64_t count, double percent)
{
    const double at = percent / 100 * (double)(count - 1);
    const int64_t i = (int64_t)at, next = i + 1 < count ? i + 1 : i;
    return sorted[i] + (sorted[next] - sorted[i]) * (at - (double)i);
}

/* Where all numbers are the same, or there are none. */
static void widen(cli_scale *s)
{
    if (s->lo < s->hi)
        return;
    if (s->lo > s->hi)
        s->lo = s->log ? 1 : 0, s->hi = s->log ? 10 : 1;
    else if (s->log)
        s->lo /= 2, s->hi *= 2;
    else {
        const double around = s->lo != 0 ? fabs(s->lo) / 2 : 0.5;
        s->lo -= around, s->hi += around;
    }
    s->lo = fmax(s->lo, -DBL_MAX);
    s->hi = fmin(s->hi, DBL_MAX);
}

static void set_range(cli_scale *s, const double *sorted, int64_t count, const cli_pair *range,
                      const cli_pair *percentile)
{
    s->lo = range->given ? range->lo
            : !count     ? 1
                         : percentile_of(sorted, count, percentile->given ? percentile->lo : 0);
    s->hi = range->given ? range->hi
            : !count     ? 0
                         : percentile_of(sorted, count, percentile->given ? percentile->hi : 100);
    if (s->symmetric && !range->given && s->lo < 0 && s->hi > 0) {
        s->hi = s->hi > -s->lo ? s->hi : -s->lo;
        s->lo = -s->hi;
    }
    widen(s);
    s->below = count && sorted[0] < s->lo;
    s->above = count && sorted[count - 1] > s->hi;
}

int cli_scale_fit(cli_scale *s, const double *value, int64_t count, const cli_pair *range,
                  const cli_pair *percentile)
{
    int64_t numbers = 0;
    double *sorted = malloc((size_t)count * sizeof *sorted);
    if (!sorted)
        return WEIR_ENOMEM;
    for (int64_t i = 0; i < count; i++) {
        const enum cli_kind kind = cli_scale_kind(s, value[i]);
        s->seen[kind] = true;
        if (kind == CLI_NUMBER)
            sorted[numbers++] = value[i];
    }
    qsort(sorted, (size_t)numbers, sizeof *sorted, compare);
    set_range(s, sorted, numbers, range, percentile);
    free(sorted);
    return 0;
}

/* Halves keep what is subtracted finite. */
double cli_scale_place(const cli_scale *s, double v)
{
    const double part = s->log ? log(v / s->lo) / log(s->hi / s->lo)
                               : (v / 2 - s->lo / 2) / (s->hi / 2 - s->lo / 2);
    return part < 0 ? 0 : part > 1 ? 1 : part;
}

/* The least round number that is no less. */
static double round_up(double step)
{
    const double ten = pow(10, floor(log10(step))), digits = step / ten;
    return ten * (digits <= 1.0000001 ? 1 : digits <= 2.0000001 ? 2 : digits <= 5.0000001 ? 5 : 10);
}

/* Digits behind the point that tell multiples of a step apart. */
static int digits_of(double step)
{
    const double exponent = floor(log10(step) + 1e-9);
    return exponent < 0 ? (int)-exponent : 0;
}

static void add(cli_ticks *t, double at, const char *format, int digits, double number)
{
    t->at[t->count] = at;
    snprintf(t->text[t->count++], CLI_TICK_TEXT, format, digits, number);
}

static void set_linear(const cli_scale *s, int most, cli_ticks *out)
{
    const double largest = fmax(fabs(s->lo), fabs(s->hi)), least = largest * DBL_EPSILON;
    /* multiples of a lesser step would be the same number */
    const double step = round_up(fmax((s->hi / most - s->lo / most) * 1.0000001, least));
    const int power = (int)floor(log10(largest) + 1e-9);
    out->exponent = power > 4 || power < -3 ? power : 0;
    const double unit = pow(10, out->exponent);
    for (double i = ceil(s->lo / step - 1e-9); i * step <= s->hi + step * 1e-9; i++) {
        if (out->count == CLI_TICKS)
            break;
        add(out, i * step, "%.*f", digits_of(step / unit), i * step / unit + 0.0);
    }
}

/* Powers of ten, or every second of them, or every fifth and so on. */
static void set_decades(const cli_scale *s, int most, cli_ticks *out)
{
    const int first = (int)ceil(log10(s->lo) - 1e-9), last = (int)floor(log10(s->hi) + 1e-9);
    const int step = (int)fmax(1, round_up((double)(last - first) / most));
    out->decades = true;
    for (int i = first; i <= last && out->count < CLI_TICKS; i++)
        if (i % step == 0)
            add(out, pow(10, i), "%.*f", 0, i);
}

/* Too few powers of ten: 1, 2 and 5 times each, or what is round on a straight scale. */
static void set_multiples(const cli_scale *s, int most, cli_ticks *out)
{
    static const int digits[] = {1, 2, 5};
    for (int power = (int)floor(log10(s->lo)); power <= (int)ceil(log10(s->hi)); power++)
        for (int i = 0; i < 3 && out->count < CLI_TICKS; i++) {
            const double at = digits[i] * pow(10, power);
            if (at >= s->lo * (1 - 1e-9) && at <= s->hi * (1 + 1e-9))
                add(out, at, "%.*g", 6, at);
        }
    if (out->count < 2) {
        out->count = 0;
        set_linear(s, most, out);
    }
}

void cli_ticks_of_scale(const cli_scale *s, int most, cli_ticks *out)
{
    *out = (cli_ticks){0};
    if (!s->log)
        set_linear(s, most, out);
    else if (log10(s->hi / s->lo) < 3)
        set_multiples(s, most, out);
    else
        set_decades(s, most, out);
}

void cli_ticks_of_indices(int64_t lo, int64_t hi, int most, cli_ticks *out)
{
    const int64_t least = lo < hi ? lo : hi, greatest = lo < hi ? hi : lo;
    const double span = (double)(greatest - least);
    const int64_t step = span > most ? (int64_t)round_up(span / most) : 1;
    *out = (cli_ticks){0};
    for (int64_t at = (least + step - 1) / step * step; at <= greatest; at += step) {
        if (out->count == CLI_TICKS)
            break;
        out->at[out->count] = (double)at;
        snprintf(out->text[out->count++], CLI_TICK_TEXT, "%lld", (long long)at);
    }
}
