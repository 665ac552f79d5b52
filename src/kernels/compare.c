/* Two sections element by element. Blocks whose bytes are equal are not looked at further; others
 * become numbers of one type, of which the loops find distances in several lanes. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/arith.h"
#include "format/convert.h"
#include "kernels/operands.h"
#include "kernels/survey.h"

enum { BLOCK = 1024, LANES = 8 };

/* What was found so far. */
typedef struct found {
    int64_t differences, first;
    double absolute, relative;
} found;

typedef struct comparing {
    const wr_survey *parts;
    const weir_comparison *how;
    int as;     /* type of numbers: i8, u8, f8 or c16 */
    bool bytes; /* equal bytes mean equal elements */
    found found;
} comparing;

/* --- numbers --- */

typedef struct rule {
    double rtol, atol;
    bool nans_differ;
} rule;

static inline bool differs_f8(double a, double b, const rule *r)
{
    const double distance = fabs(a - b);
    const bool near = distance <= r->atol + r->rtol * fabs(b) && distance <= DBL_MAX;
    const bool both = a != a && b != b && !r->nans_differ;
    return !(a == b || near || both);
}

static inline double distance_f8(double a, double b)
{
    return a == b ? 0 : fabs(a - b);
}

static inline double distance_i8(int64_t a, int64_t b)
{
    return (double)(a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a);
}

static inline double distance_u8(uint64_t a, uint64_t b)
{
    return (double)(a > b ? a - b : b - a);
}

static inline bool differs_i8(int64_t a, int64_t b, const rule *r)
{
    return a != b && !(distance_i8(a, b) <= r->atol + r->rtol * fabs((double)b));
}

static inline bool differs_u8(uint64_t a, uint64_t b, const rule *r)
{
    return a != b && !(distance_u8(a, b) <= r->atol + r->rtol * (double)b);
}

typedef struct c16 {
    double re, im;
} c16;

static inline double size_of(c16 x)
{
    return hypot(x.re, x.im);
}

static inline double distance_c16(c16 a, c16 b)
{
    return size_of((c16){distance_f8(a.re, b.re), distance_f8(a.im, b.im)});
}

static inline bool differs_c16(c16 a, c16 b, const rule *r)
{
    const double distance = size_of((c16){a.re - b.re, a.im - b.im});
    const bool nan_a = a.re != a.re || a.im != a.im, nan_b = b.re != b.re || b.im != b.im;
    const bool near = distance <= r->atol + r->rtol * size_of(b) && distance <= DBL_MAX;
    return !((a.re == b.re && a.im == b.im) || near || (nan_a && nan_b && !r->nans_differ));
}

static inline double size_f8(double x)
{
    return fabs(x);
}

static inline double size_i8(int64_t x)
{
    return fabs((double)x);
}

static inline double size_u8(uint64_t x)
{
    return (double)x;
}

static inline double size_c16(c16 x)
{
    return size_of(x);
}

/* One element of each lane; distances that are not numbers are not greater than anything. */
#define DEFINE_COMPARE(name, type)                                                                 \
    static inline void step_##name(const type *a, const type *b, const rule *r, int64_t *count,    \
                                   double *absolute, double *relative)                             \
    {                                                                                              \
        const double distance = distance_##name(*a, *b), size = size_##name(*b);                   \
        const double part = size > 0 ? distance / size : 0;                                        \
        *count += differs_##name(*a, *b, r);                                                       \
        *absolute = distance > *absolute ? distance : *absolute;                                   \
        *relative = part > *relative ? part : *relative;                                           \
    }                                                                                              \
    static void compare_##name(const void *at, const void *with, int64_t n, const rule *of,        \
                               found *f)                                                           \
    {                                                                                              \
        const type *a = at, *b = with;                                                             \
        const rule r = *of;                                                                        \
        int64_t count[LANES] = {0}, i = 0;                                                         \
        double absolute[LANES] = {0}, relative[LANES] = {0};                                       \
        for (; i + LANES <= n; i += LANES)                                                         \
            for (int k = 0; k < LANES; k++)                                                        \
                step_##name(&a[i + k], &b[i + k], &r, &count[k], &absolute[k], &relative[k]);      \
        for (; i < n; i++)                                                                         \
            step_##name(&a[i], &b[i], &r, &count[0], &absolute[0], &relative[0]);                  \
        for (int k = 0; k < LANES; k++) {                                                          \
            f->differences += count[k];                                                            \
            f->absolute = fmax(f->absolute, absolute[k]);                                          \
            f->relative = fmax(f->relative, relative[k]);                                          \
        }                                                                                          \
    }                                                                                              \
    static bool differ_##name(const void *at, const void *with, int64_t i, const rule *r)          \
    {                                                                                              \
        return differs_##name(((const type *)at)[i], ((const type *)with)[i], r);                  \
    }

DEFINE_COMPARE(f8, double)
DEFINE_COMPARE(i8, int64_t)
DEFINE_COMPARE(u8, uint64_t)
DEFINE_COMPARE(c16, c16)

static const struct {
    void (*compare)(const void *a, const void *b, int64_t n, const rule *r, found *f);
    bool (*differ)(const void *a, const void *b, int64_t i, const rule *r);
} kinds[] = {[WEIR_F8] = {compare_f8, differ_f8},
             [WEIR_I8] = {compare_i8, differ_i8},
             [WEIR_U8] = {compare_u8, differ_u8},
             [WEIR_C16] = {compare_c16, differ_c16}};

/* --- elements --- */

static bool is_complex(int type)
{
    return type == WEIR_C8 || type == WEIR_C16;
}

/* What both are compared as. */
static int common_type(int a, int b)
{
    if (is_complex(a) || is_complex(b))
        return WEIR_C16;
    if (a == WEIR_U8 && b == WEIR_U8)
        return WEIR_U8;
    return wr_is_float(a) || wr_is_float(b) || a == WEIR_U8 || b == WEIR_U8 ? WEIR_F8 : WEIR_I8;
}

static const void *load(int type, const char *from, int as, c16 *room, int64_t count)
{
    double numbers[BLOCK];
    if (as != WEIR_C16)
        return wr_operands_load(type, from, as, room, count);
    if (type == WEIR_C16)
        return from;
    const void *at =
        is_complex(type) ? from : wr_operands_load(type, from, WEIR_F8, numbers, count);
    const int real = is_complex(type) ? type : WEIR_F8;
    wr_convert(&(wr_elements){real, (void *)at, weir_type_bytes(real)},
               &(wr_elements){WEIR_C16, room, sizeof *room}, count);
    return room;
}

/* The least row-major number of those that differ; by rows it is the first. */
static void find_first(comparing *c, const wr_survey_part *part, int64_t at,
                       const void *const side[2], int64_t count)
{
    const rule r = {c->how->rtol, c->how->atol, c->how->nans_differ};
    for (int64_t i = 0; i < count; i++) {
        if (!kinds[c->as].differ(side[0], side[1], i, &r))
            continue;
        const int64_t number = wr_survey_number(c->parts, part, at + i);
        if (c->found.first < 0 || number < c->found.first)
            c->found.first = number;
        if (!c->parts->array[0]->info.columns)
            return;
    }
}

static void compare_part(void *user, const wr_survey_part *part)
{
    comparing *c = user;
    const rule r = {c->how->rtol, c->how->atol, c->how->nans_differ};
    const weir_array *const *array = (const weir_array *const *)c->parts->array;
    const int64_t size[] = {array[0]->body.element, array[1]->body.element};
    c16 room[2][BLOCK];
    const int64_t least = wr_survey_number(c->parts, part, 0);
    for (int64_t at = 0; at < part->elements; at += BLOCK) {
        const int64_t count = wr_min(BLOCK, part->elements - at), before = c->found.differences;
        const char *from[] = {part->at[0] + at * size[0], part->at[1] + at * size[1]};
        if (c->bytes && !memcmp(from[0], from[1], (size_t)(count * size[0])))
            continue;
        const void *side[2];
        for (int i = 0; i < 2; i++)
            side[i] = load(array[i]->info.type, from[i], c->as, room[i], count);
        kinds[c->as].compare(side[0], side[1], count, &r, &c->found);
        if (c->found.differences > before && (c->found.first < 0 || c->found.first > least))
            find_first(c, part, at, side, count);
    }
}

static bool has_found(void *user)
{
    return ((comparing *)user)->found.differences > 0;
}

/* --- all ranks --- */

/* Numbers that are not negative are ordered as their bits are. */
static int64_t bits_of(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double number_of(int64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static int join_ranks(weir_array *array, found *f)
{
    int64_t most[] = {bits_of(f->absolute), bits_of(f->relative)};
    int64_t first = f->first < 0 ? INT64_MAX : f->first;
    int code = wr_file_reduce(array->file, WR_SUM, 1, &f->differences);
    if (!code)
        code = wr_file_reduce(array->file, WR_MAX, 2, most);
    if (!code)
        code = wr_file_reduce(array->file, WR_MIN, 1, &first);
    f->absolute = number_of(most[0]);
    f->relative = number_of(most[1]);
    f->first = first == INT64_MAX ? -1 : first;
    return wr_array_agree(array, code);
}

static int check(const weir_comparison *c)
{
    if (!(c->rtol >= 0 && c->atol >= 0))
        return wr_fail(WEIR_EINVAL, "tolerances are numbers from 0 up");
    return wr_check_reserved(c->reserved, "weir_comparison");
}

int weir_array_compare(weir_array *a, const weir_selection *of_a, weir_array *b,
                       const weir_selection *of_b, weir_comparison *comparison,
                       const weir_work *work)
{
    wr_survey p = {.work = wr_work_of(work), .arrays = 2, .array = {a, b}, .of = {of_a, of_b}};
    const int type = a->info.type;
    comparing c = {.parts = &p,
                   .how = comparison,
                   .as = common_type(type, b->info.type),
                   .found = {.first = -1}};
    c.bytes = type == b->info.type && !((type >= WEIR_F2) && comparison->nans_differ);
    int code = wr_survey_build(&p, 0, 1, check(comparison));
    if (code || p.work.estimate)
        return code;
    const wr_survey_visit visit = {.visit = compare_part,
                                   .enough = comparison->first_only ? has_found : NULL,
                                   .user = &c,
                                   .all = p.all};
    code = wr_survey_run(&p, &visit, 0);
    if (!code)
        code = join_ranks(a, &c.found);
    if (code)
        return code;
    comparison->count = p.all;
    comparison->differences = c.found.differences;
    comparison->first = c.found.first;
    comparison->absolute = c.found.absolute;
    comparison->relative = c.found.relative;
    return 0;
}
