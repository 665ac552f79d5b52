/* Folds of tables, by rows and by columns.
 *
 * Elements become wide numbers a part of a table at a time, unless they are. A row goes into eight
 * accumulators, which are joined in the end; columns are taken so many at a time that theirs stay
 * in the cache, and four rows at once. Columns of a narrow table are folded as those of a wide one
 * that has several of its rows in a row. */
#include "kernels/fold.h"

#include <math.h>
#include <string.h>

#include "base/arith.h"
#include "kernels/moments.h"
#include "kernels/operands.h"

/* Elements that become numbers at a time; 256 columns are what conversion takes at once. */
enum { ROOM = 8192, LANES = 8, COLUMNS = 1024, NARROW = 64, WIDE = 256, SHORT = 16, BLOCK = 256 };

/* Numbers. */
typedef struct numbers {
    const void *at;
    int64_t rows, columns, pitch;
} numbers;

struct wr_fold {
    int as, result; /* types of numbers */
    int64_t bytes;  /* of an accumulator */
    void (*start)(void *sums, int64_t count);
    void (*rows)(const numbers *n, void *sums);
    void (*columns)(const numbers *n, void *sums);
    void (*join)(void *sums, void *more, int64_t count);
    void (*finish)(const void *sums, int64_t count, void *out);
};

/* --- numbers into numbers --- */

/* How a number is added to an accumulator, and how two of these are joined. */
#define DEFINE_NUMBER(name, type, added, joined)                                                   \
    typedef type number_##name;                                                                    \
    static inline number_##name add_##name(number_##name a, number_##name x)                       \
    {                                                                                              \
        return added;                                                                              \
    }                                                                                              \
    static inline number_##name join_##name(number_##name a, number_##name x)                      \
    {                                                                                              \
        return joined;                                                                             \
    }

#define DEFINE_FOLD(name, none)                                                                    \
    static void start_##name(void *sums, int64_t count)                                            \
    {                                                                                              \
        number_##name *to = sums;                                                                  \
        for (int64_t i = 0; i < count; i++)                                                        \
            to[i] = none;                                                                          \
    }                                                                                              \
    static number_##name row_##name(const number_##name *x, int64_t count)                         \
    {                                                                                              \
        number_##name lane[LANES];                                                                 \
        int64_t i = 0;                                                                             \
        start_##name(lane, LANES);                                                                 \
        for (; i + LANES <= count; i += LANES)                                                     \
            for (int k = 0; k < LANES; k++)                                                        \
                lane[k] = add_##name(lane[k], x[i + k]);                                           \
        for (int k = 0; i < count; i++, k++)                                                       \
            lane[k] = add_##name(lane[k], x[i]);                                                   \
        for (int k = 1; k < LANES; k++)                                                            \
            lane[0] = join_##name(lane[0], lane[k]);                                               \
        return lane[0];                                                                            \
    }                                                                                              \
    static void rows_##name(const numbers *n, void *sums)                                          \
    {                                                                                              \
        const number_##name *x = n->at;                                                            \
        number_##name *to = sums;                                                                  \
        for (int64_t i = 0; i < n->rows; i++, x += n->pitch) {                                     \
            number_##name sum = to[i];                                                             \
            for (int64_t k = 0; k < n->columns && n->columns < SHORT; k++)                         \
                sum = add_##name(sum, x[k]);                                                       \
            to[i] = n->columns < SHORT ? sum : join_##name(sum, row_##name(x, n->columns));        \
        }                                                                                          \
    }                                                                                              \
    static void columns_##name(const numbers *n, void *sums)                                       \
    {                                                                                              \
        const number_##name *x = n->at;                                                            \
        number_##name *restrict to = sums;                                                         \
        int64_t i = 0, p = n->pitch;                                                               \
        for (; i + 4 <= n->rows; i += 4, x += 4 * p)                                               \
            for (int64_t k = 0; k < n->columns; k++) {                                             \
                const number_##name one = add_##name(to[k], x[k]),                                 \
                                    two = add_##name(one, x[k + p]);                               \
                to[k] = add_##name(add_##name(two, x[k + 2 * p]), x[k + 3 * p]);                   \
            }                                                                                      \
        for (; i < n->rows; i++, x += p)                                                           \
            for (int64_t k = 0; k < n->columns; k++)                                               \
                to[k] = add_##name(to[k], x[k]);                                                   \
    }                                                                                              \
    static void join_all_##name(void *sums, void *more, int64_t count)                             \
    {                                                                                              \
        number_##name *to = sums;                                                                  \
        const number_##name *x = more;                                                             \
        for (int64_t i = 0; i < count; i++)                                                        \
            to[i] = join_##name(to[i], x[i]);                                                      \
    }

#define LESS (x < a ? x : a)
#define MORE (x > a ? x : a)
/* What is no number stays, or, in an accumulator of numbers only, stands for nothing. */
#define LESS_OR_NONE (((x < a) | (x != x)) ? x : a)
#define MORE_OR_NONE (((x > a) | (x != x)) ? x : a)
#define LESS_NUMBER (((x < a) | (a != a)) ? x : a)
#define MORE_NUMBER (((x > a) | (a != a)) ? x : a)

/* Sums of integers wrap, as those without a sign may. */
DEFINE_NUMBER(sum, double, a + x, a + x)
DEFINE_NUMBER(sum_numbers, double, a + (x == x ? x : 0), a + x)
DEFINE_NUMBER(sum_whole, uint64_t, a + x, a + x)
DEFINE_NUMBER(min_i8, int64_t, LESS, LESS)
DEFINE_NUMBER(max_i8, int64_t, MORE, MORE)
DEFINE_NUMBER(min_u8, uint64_t, LESS, LESS)
DEFINE_NUMBER(max_u8, uint64_t, MORE, MORE)
DEFINE_NUMBER(min, double, LESS_OR_NONE, LESS_OR_NONE)
DEFINE_NUMBER(max, double, MORE_OR_NONE, MORE_OR_NONE)
DEFINE_NUMBER(min_numbers, double, LESS_NUMBER, LESS_NUMBER)
DEFINE_NUMBER(max_numbers, double, MORE_NUMBER, MORE_NUMBER)

/* -0 and nothing is -0. */
DEFINE_FOLD(sum, -0.0)
DEFINE_FOLD(sum_numbers, -0.0)
DEFINE_FOLD(sum_whole, 0)
DEFINE_FOLD(min_i8, INT64_MAX)
DEFINE_FOLD(max_i8, INT64_MIN)
DEFINE_FOLD(min_u8, UINT64_MAX)
DEFINE_FOLD(max_u8, 0)
DEFINE_FOLD(min, (double)INFINITY)
DEFINE_FOLD(max, -(double)INFINITY)
DEFINE_FOLD(min_numbers, (double)NAN)
DEFINE_FOLD(max_numbers, (double)NAN)

static void finish_numbers(const void *sums, int64_t count, void *out)
{
    memcpy(out, sums, (size_t)count * sizeof(int64_t));
}

/* Zeros lose their sign: which one came first depends on slabs. */
static void finish_bounds(const void *sums, int64_t count, void *out)
{
    const double *from = sums;
    double *to = out;
    for (int64_t i = 0; i < count; i++)
        to[i] = from[i] + 0.0;
}

/* --- numbers into moments --- */

static void start_moments(void *sums, int64_t count)
{
    memset(sums, 0, (size_t)count * sizeof(wr_moments));
}

/* So many rows are turned: each of them is a column then. */
static void turn_rows(const double *x, int64_t pitch, int rows, int columns, wr_moments *to)
{
    double turned[SHORT * NARROW];
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < columns; k++)
            turned[k * NARROW + i] = x[i * pitch + k];
    wr_moments_add_columns(to, turned, NARROW, columns, rows);
}

static void rows_moments(const numbers *n, void *sums)
{
    const double *x = n->at;
    wr_moments *to = sums;
    if (n->columns <= SHORT) {
        for (int64_t i = 0; i < n->rows; i += NARROW)
            turn_rows(x + i * n->pitch, n->pitch, (int)wr_min(NARROW, n->rows - i), (int)n->columns,
                      to + i);
        return;
    }
    for (int64_t i = 0; i < n->rows; i++)
        for (int64_t k = 0; k < n->columns; k += WR_MOMENTS_BLOCK) {
            wr_moments m =
                wr_moments_of(x + i * n->pitch + k, (int)wr_min(WR_MOMENTS_BLOCK, n->columns - k));
            wr_moments_join(&to[i], &m);
        }
}

static void columns_moments(const numbers *n, void *sums)
{
    wr_moments_add_columns(sums, n->at, n->pitch, n->rows, n->columns);
}

static void join_moments(void *sums, void *more, int64_t count)
{
    wr_moments *to = sums, *from = more;
    for (int64_t i = 0; i < count; i++)
        wr_moments_join(&to[i], &from[i]);
}

#define DEFINE_FINISH(name, member, lost)                                                          \
    static void finish_##name(const void *sums, int64_t count, void *out)                          \
    {                                                                                              \
        const wr_moments *from = sums;                                                             \
        double *to = out;                                                                          \
        weir_statistics s;                                                                         \
        for (int64_t i = 0; i < count; i++) {                                                      \
            wr_moments_tell(&from[i], &s);                                                         \
            to[i] = (lost) ? (double)NAN : s.member;                                               \
        }                                                                                          \
    }

DEFINE_FINISH(mean, mean, s.nans || !s.count)
DEFINE_FINISH(mean_numbers, mean, s.nans == s.count)
DEFINE_FINISH(deviation, deviation, s.nans || !s.count)
DEFINE_FINISH(deviation_numbers, deviation, s.nans == s.count)

/* --- all of them --- */

#define NUMBERS(name, type, finish)                                                                \
    {                                                                                              \
        type, type, sizeof(int64_t), start_##name, rows_##name, columns_##name, join_all_##name,   \
            finish                                                                                 \
    }
#define MOMENTS(finish)                                                                            \
    {                                                                                              \
        WEIR_F8, WEIR_F8, sizeof(wr_moments), start_moments, rows_moments, columns_moments,        \
            join_moments, finish                                                                   \
    }

enum { SIGNED, UNSIGNED, FLOATS, NUMBERS_ONLY, CLASSES };

static const wr_fold folds[][CLASSES] = {
    [WEIR_SUM] = {NUMBERS(sum_whole, WEIR_I8, finish_numbers),
                  NUMBERS(sum_whole, WEIR_U8, finish_numbers),
                  NUMBERS(sum, WEIR_F8, finish_numbers),
                  NUMBERS(sum_numbers, WEIR_F8, finish_numbers)},
    [WEIR_MEAN] = {MOMENTS(finish_mean), MOMENTS(finish_mean), MOMENTS(finish_mean),
                   MOMENTS(finish_mean_numbers)},
    [WEIR_MIN] = {NUMBERS(min_i8, WEIR_I8, finish_numbers),
                  NUMBERS(min_u8, WEIR_U8, finish_numbers), NUMBERS(min, WEIR_F8, finish_bounds),
                  NUMBERS(min_numbers, WEIR_F8, finish_bounds)},
    [WEIR_MAX] = {NUMBERS(max_i8, WEIR_I8, finish_numbers),
                  NUMBERS(max_u8, WEIR_U8, finish_numbers), NUMBERS(max, WEIR_F8, finish_bounds),
                  NUMBERS(max_numbers, WEIR_F8, finish_bounds)},
    [WEIR_DEVIATION] = {MOMENTS(finish_deviation), MOMENTS(finish_deviation),
                        MOMENTS(finish_deviation), MOMENTS(finish_deviation_numbers)},
};

const wr_fold *wr_fold_of(int kind, int type, int skip_nans)
{
    if (kind < WEIR_SUM || kind > WEIR_DEVIATION || type == WEIR_C8 || type == WEIR_C16)
        return NULL;
    if (wr_is_float(type))
        return &folds[kind][skip_nans ? NUMBERS_ONLY : FLOATS];
    return &folds[kind][type == WEIR_U8 ? UNSIGNED : SIGNED];
}

int wr_fold_result(const wr_fold *f)
{
    return f->result;
}

int64_t wr_fold_bytes(const wr_fold *f)
{
    return f->bytes;
}

void wr_fold_start(const wr_fold *f, void *sums, int64_t count, int empty)
{
    if (empty)
        memset(sums, 0, (size_t)(count * f->bytes));
    else
        f->start(sums, count);
}

void wr_fold_join(const wr_fold *f, void *sums, void *more, int64_t count)
{
    f->join(sums, more, count);
}

/* Results are not larger than accumulators, so what is not yet looked at is not overwritten. */
void wr_fold_finish(const wr_fold *f, void *sums, int64_t count, int type)
{
    int64_t results[BLOCK];
    char elements[sizeof results];
    const int64_t size = weir_type_bytes(type);
    for (int64_t at = 0; at < count; at += BLOCK) {
        const int64_t some = wr_min(BLOCK, count - at);
        f->finish((char *)sums + at * f->bytes, some, results);
        wr_operands_store(f->result, results, type, elements, some);
        memcpy((char *)sums + at * size, elements, (size_t)(some * size));
    }
}

/* --- tables --- */

/* So many rows of `count` columns that start at `at`, as numbers. */
static numbers load(const wr_fold *f, const wr_table *t, const char *at, numbers n, int64_t *room)
{
    const int64_t size = weir_type_bytes(t->type);
    n.at = at;
    n.pitch = t->pitch;
    if (t->type == f->as)
        return n;
    n.at = room;
    n.pitch = n.columns;
    if (n.columns == t->pitch)
        wr_operands_load(t->type, at, f->as, room, n.rows * n.columns);
    else
        for (int64_t i = 0; i < n.rows; i++)
            wr_operands_load(t->type, at + i * t->pitch * size, f->as, room + i * n.columns,
                             n.columns);
    return n;
}

/* Parts of a table of at most so many columns, of which at most ROOM elements have to become
 * numbers. */
static void fold_parts(const wr_fold *f, const wr_table *t, int64_t most, int by_rows, char *sums)
{
    int64_t room[ROOM];
    const int64_t size = weir_type_bytes(t->type), columns = wr_min(most, t->columns);
    const int64_t rows = t->type == f->as ? t->rows : wr_max(1, ROOM / wr_max(1, columns));
    for (int64_t k = 0; k < t->columns; k += columns)
        for (int64_t i = 0; i < t->rows; i += rows) {
            const numbers part = {.rows = wr_min(rows, t->rows - i),
                                  .columns = wr_min(columns, t->columns - k)};
            const numbers n = load(f, t, t->at + (i * t->pitch + k) * size, part, room);
            if (by_rows)
                f->rows(&n, sums + i * f->bytes);
            else
                f->columns(&n, sums + k * f->bytes);
        }
}

/* Moments take as many rows at a time as there can be. */
static int64_t columns_at_once(const wr_fold *f)
{
    return f->bytes == sizeof(wr_moments) ? WIDE : COLUMNS;
}

void wr_fold_rows(const wr_fold *f, const wr_table *t, void *sums)
{
    fold_parts(f, t, t->type == f->as ? t->columns : ROOM, 1, sums);
}

void wr_fold_columns(const wr_fold *f, const wr_table *t, void *sums)
{
    union { /* of any kind's sums */
        wr_moments moments[WIDE];
        uint64_t integers[WIDE];
        double floats[WIDE];
    } wide;
    wr_table rest = *t;
    const int64_t at_once = WIDE / wr_max(1, t->columns), many = t->rows / wr_max(1, at_once);
    if (t->columns <= NARROW && t->pitch == t->columns && many > 1) {
        const wr_table once = {t->type, t->at, many, at_once * t->columns, at_once * t->pitch};
        f->start(&wide, once.columns);
        fold_parts(f, &once, columns_at_once(f), 0, (char *)&wide);
        for (int64_t i = 0; i < at_once; i++)
            f->join(sums, (char *)&wide + i * t->columns * f->bytes, t->columns);
        rest.rows -= many * at_once;
        rest.at += many * at_once * t->pitch * weir_type_bytes(t->type);
    }
    fold_parts(f, &rest, columns_at_once(f), 0, sums);
}
