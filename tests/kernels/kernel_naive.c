#include "kernel_naive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- elements --- */

static bool is_float(int type)
{
    return type == WEIR_F2 || type == WEIR_F4 || type == WEIR_F8;
}

static double half_value(const char *at)
{
    uint16_t bits;
    memcpy(&bits, at, 2);
    int exponent = (bits >> 10) % 32, digits = bits % 1024;
    double v = exponent ? (1 + digits / 1024.0) * pow(2, exponent - 15) : digits * pow(2, -24);
    if (exponent == 31)
        v = digits ? (double)NAN : (double)INFINITY;
    return bits & 0x8000 ? -v : v;
}

#define VALUE(type)                                                                                \
    {                                                                                              \
        type v;                                                                                    \
        memcpy(&v, at, sizeof v);                                                                  \
        return (long double)v;                                                                     \
    }

/* 64 digits hold everything exactly. */
long double naive_value(int type, const char *at)
{
    switch (type) {
    case WEIR_I1:
        VALUE(int8_t)
    case WEIR_I2:
        VALUE(int16_t)
    case WEIR_I4:
        VALUE(int32_t)
    case WEIR_I8:
        VALUE(int64_t)
    case WEIR_U2:
        VALUE(uint16_t)
    case WEIR_U4:
        VALUE(uint32_t)
    case WEIR_U8:
        VALUE(uint64_t)
    case WEIR_F2:
        return half_value(at);
    case WEIR_F4:
        VALUE(float)
    case WEIR_F8:
        VALUE(double)
    default:
        VALUE(uint8_t)
    }
}

/* --- median --- */

typedef struct entry {
    long double value;
    bool nan, negative;
    uint64_t digits; /* bits without the sign */
} entry;

static entry entry_of(int type, const char *at, int64_t size)
{
    entry e = {.value = naive_value(type, at)};
    uint64_t top = UINT64_C(1) << (size * 8 - 1);
    memcpy(&e.digits, at, (size_t)size);
    e.nan = isnan(e.value);
    e.negative = is_float(type) && (e.digits & top);
    if (is_float(type))
        e.digits &= ~top;
    return e;
}

static int compare(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->nan != y->nan)
        return x->nan ? 1 : -1;
    if (x->nan)
        return (x->digits > y->digits) - (x->digits < y->digits);
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return y->negative - x->negative;
}

static int64_t within(int64_t i, int64_t n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

static void median_at(const naive *a, int window, int64_t i, int64_t j, char *out)
{
    entry *all = malloc((size_t)window * (size_t)window * sizeof *all);
    CHECK(all);
    int count = 0, half = window / 2;
    for (int64_t x = i - half; x <= i + half; x++)
        for (int64_t y = j - half; y <= j + half; y++) {
            int64_t index[] = {within(x, a->info.shape[0]), within(y, a->info.shape[1])};
            all[count++] =
                entry_of(a->info.type, a->data + naive_number(a, index) * a->element, a->element);
        }
    qsort(all, (size_t)count, sizeof *all, compare);
    const entry *e = &all[count / 2];
    uint64_t bits = e->digits;
    if (e->negative && !e->nan)
        bits |= UINT64_C(1) << (a->element * 8 - 1);
    memcpy(out, &bits, (size_t)a->element);
    free(all);
}

void naive_median(const naive *from, naive *to, int window)
{
    for (int64_t i = 0; i < from->info.shape[0]; i++)
        for (int64_t j = 0; j < from->info.shape[1]; j++)
            median_at(from, window, i, j, to->data + (i * from->info.shape[1] + j) * from->element);
}

/* --- relax --- */

static double get(const naive *a, int64_t i, int64_t j)
{
    int64_t index[] = {i, j};
    return (double)naive_value(a->info.type, a->data + naive_number(a, index) * a->element);
}

static double put(naive *a, int64_t i, int64_t j, double v)
{
    int64_t index[] = {i, j};
    float f = (float)v;
    char *at = a->data + naive_number(a, index) * a->element;
    memcpy(at, a->element == 4 ? (void *)&f : (void *)&v, (size_t)a->element);
    return a->element == 4 ? (double)f : v;
}

/* In the array's type, each step. */
static double add(const naive *a, double x, double y)
{
    return a->element == 4 ? (double)((float)x + (float)y) : x + y;
}

static double relax_once(const naive *from, naive *to)
{
    double most = 0;
    const int64_t rows = from->info.shape[0], columns = from->info.shape[1];
    memcpy(to->data, from->data, (size_t)from->info.bytes);
    for (int64_t i = 1; i + 1 < rows; i++)
        for (int64_t j = 1; j + 1 < columns; j++) {
            double sum = add(from, get(from, i - 1, j), get(from, i + 1, j));
            sum = add(from, add(from, sum, get(from, i, j - 1)), get(from, i, j + 1));
            double change = fabs(add(from, put(to, i, j, sum / 4), -get(from, i, j)));
            most = isnan(change) ? (double)INFINITY : fmax(most, change);
        }
    return most;
}

int naive_relax(const naive *from, naive *const to[2], weir_relaxation *r)
{
    for (r->done = 0; !r->iterations || r->done < r->iterations;) {
        r->residual = relax_once(r->done ? to[(r->done - 1) % 2] : from, to[r->done % 2]);
        r->done++;
        if (r->tolerance > 0 && r->residual <= r->tolerance)
            break;
    }
    return (r->done - 1) % 2;
}

/* --- reduce --- */

static int64_t exact(int type, long double v)
{
    return type == WEIR_U8 ? (int64_t)(uint64_t)v : (int64_t)v;
}

weir_statistics naive_reduce(const naive *a)
{
    weir_statistics s = {.count = a->elements};
    long double sum = 0, squares = 0, least = 0, most = 0;
    for (int64_t k = 0; k < a->elements; k++) {
        long double v = naive_value(a->info.type, a->data + k * a->element);
        bool first = s.nans == k;
        if (isnan(v)) {
            s.nans++;
            continue;
        }
        s.min = first || (double)v < s.min ? (double)v : s.min;
        s.max = first || (double)v > s.max ? (double)v : s.max;
        least = first || v < least ? v : least;
        most = first || v > most ? v : most;
        sum += v;
    }
    s.exact_min = is_float(a->info.type) ? 0 : exact(a->info.type, least);
    s.exact_max = is_float(a->info.type) ? 0 : exact(a->info.type, most);
    long double count = (long double)(s.count - s.nans);
    for (int64_t k = 0; k < a->elements && count > 0; k++) {
        long double v = naive_value(a->info.type, a->data + k * a->element);
        squares += isnan(v) ? 0 : (v - sum / count) * (v - sum / count);
    }
    s.mean = count > 0 ? (double)(sum / count) : 0;
    s.deviation = count > 0 ? (double)sqrtl(squares / count) : 0;
    return s;
}
