/* Overlap of loops that have something to do with each other: equal or related strides,
 * shifted, of other lengths, one or two deep. Against sets of bytes. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "pattern/overlap.h"

enum { MEMORY = 1 << 15 };

#define BIG (INT64_C(1) << 40)

/* `count` times, `stride` apart, `times` runs of `run` bytes, `step` apart, from `offset` on. */
typedef struct nest {
    int64_t offset, count, stride, times, step, run;
} nest;

static weir_pattern *build(nest n)
{
    weir_pattern *inner, *all;
    CHECK(!weir_pattern_strided(n.offset, n.times, n.run, n.step, &inner));
    CHECK(!weir_pattern_repeat(inner, n.count, n.stride, &all));
    weir_pattern_free(inner);
    return all;
}

static void mark(nest n, unsigned char *set)
{
    for (int64_t i = 0; i < n.count; i++)
        for (int64_t k = 0; k < n.times; k++) {
            int64_t at = n.offset + i * n.stride + k * n.step;
            CHECK(at >= 0 && at + n.run <= MEMORY);
            memset(set + at, 1, (size_t)n.run);
        }
}

static bool touch(nest a, nest b)
{
    static unsigned char in_a[MEMORY], in_b[MEMORY];
    memset(in_a, 0, sizeof in_a);
    memset(in_b, 0, sizeof in_b);
    mark(a, in_a);
    mark(b, in_b);
    for (int i = 0; i < MEMORY; i++)
        if (in_a[i] && in_b[i])
            return true;
    return false;
}

/* Runs of an iteration lie side by side, and iterations too. */
static nest random_nest(rng *r)
{
    nest n = {.count = rng_within(r, 2, 40), .times = rng_within(r, 1, 4)};
    n.run = rng_within(r, 1, 5);
    n.step = n.run + rng_within(r, 1, 9);
    n.stride = n.times * n.step + rng_within(r, 1, 9);
    n.offset = 2048;
    return n;
}

/* Shifted by anything from inside an iteration to past the last one. */
static nest shifted(rng *r, nest n)
{
    int64_t by = rng_chance(r, 50) ? 0 : rng_within(r, -1, 1) * (n.count - 1) * n.stride;
    n.offset += by + rng_within(r, -n.stride, n.stride);
    if (n.offset < 0)
        n.offset = 0;
    n.run = rng_within(r, 1, n.step - 1);
    return n;
}

static enum wr_answer answer_of(nest a, nest b)
{
    weir_pattern *x = build(a), *y = build(b);
    CHECK(weir_pattern_is_ordered(x) && weir_pattern_is_ordered(y));
    enum wr_answer answer = wr_pattern_overlap(x, y), again = wr_pattern_overlap(y, x);
    CHECK_EQUAL(answer, again);
    weir_pattern_free(x);
    weir_pattern_free(y);
    return answer;
}

/* One stride at each level, iterations that fit: always decided. */
static void check_overlap_in_step(rng *r)
{
    nest a = random_nest(r), b = shifted(r, a);
    b.count = rng_chance(r, 50) ? a.count : rng_within(r, 2, 40);
    CHECK_EQUAL(answer_of(a, b), touch(a, b));
}

static int64_t asked, decided;

/* Strides that are multiples of each other, or have nothing in common. */
static void check_overlap_related(rng *r)
{
    nest a = random_nest(r), b = shifted(r, a);
    b.count = rng_within(r, 2, 20);
    b.stride *= rng_within(r, 1, 4);
    b.step = rng_chance(r, 50) ? b.step : rng_within(r, b.run, b.step);
    enum wr_answer answer = answer_of(a, b);
    asked++;
    decided += answer != WR_MAYBE;
    if (answer != WR_MAYBE)
        CHECK_EQUAL(answer, touch(a, b));
}

/* Runs longer than their stride: ordered, but every iteration reaches into the next ones. */
static void check_overlap_of_overlapping(rng *r)
{
    nest a = {2048, rng_within(r, 2, 9), rng_within(r, 1, 8), 1, 0, 0}, b = a;
    a.run = a.stride + rng_within(r, 1, 20);
    b.run = rng_chance(r, 50) ? a.run : rng_within(r, 1, b.stride);
    b.count = rng_within(r, 2, 9);
    b.offset += rng_within(r, -120, 120);
    CHECK_EQUAL(answer_of(a, b), touch(a, b));
}

/* Few runs without any rule: told by searching. */
static void check_overlap_of_lists(rng *r)
{
    static unsigned char in[2][MEMORY];
    int64_t offset[30], length[30];
    weir_pattern *p[2];
    memset(in, 0, sizeof in);
    for (int k = 0; k < 2; k++) {
        int64_t at = rng_within(r, 0, 20), count = rng_within(r, 2, 30);
        for (int i = 0; i < count; i++) {
            offset[i] = at + rng_within(r, 0, 15);
            length[i] = rng_within(r, 1, 3);
            memset(in[k] + offset[i], 1, (size_t)length[i]);
            at = offset[i] + length[i] + rng_within(r, 0, 40);
        }
        CHECK(!weir_pattern_runs(count, offset, length, &p[k]));
    }
    bool common = false;
    for (int i = 0; i < MEMORY; i++)
        common = common || (in[0][i] && in[1][i]);
    CHECK_EQUAL(wr_pattern_overlap(p[0], p[1]), common);
    weir_pattern_free(p[0]);
    weir_pattern_free(p[1]);
}

/* Far too long to search. */
static void test_long_loops_miss(void)
{
    static const nest miss[][2] = {
        {{0, BIG, 16, 1, 0, 8}, {8, BIG, 16, 1, 0, 8}},     /* interleaved */
        {{0, BIG, 16, 1, 0, 4}, {4, BIG, 24, 1, 0, 4}},     /* by the divisor of the strides */
        {{64, BIG, 24, 1, 0, 4}, {4, BIG, 40, 1, 0, 4}},    /* the later one first */
        {{0, BIG, 64, 4, 8, 4}, {4, BIG, 64, 4, 8, 4}},     /* two deep, in step */
        {{0, BIG, 256, 4, 16, 4}, {4, BIG, 256, 4, 24, 4}}, /* two deep, by the divisor */
        {{0, BIG, 64, 3, 8, 4}, {4 + 64 * 999, BIG, 64, 3, 8, 4}},
    };
    for (size_t i = 0; i < sizeof miss / sizeof *miss; i++) {
        check_case((int64_t)i);
        CHECK_EQUAL(answer_of(miss[i][0], miss[i][1]), WR_NO);
    }
}

static void test_long_loops_hit(void)
{
    static const nest hit[][2] = {
        {{0, BIG, 16, 1, 0, 8}, {7, BIG, 16, 1, 0, 8}},
        {{0, BIG, 64, 4, 8, 4}, {3, BIG, 64, 4, 8, 4}},
        {{0, BIG, 64, 4, 8, 4}, {64 * (BIG - 1) + 27, 2, 64, 4, 8, 4}}, /* in the last byte */
    };
    for (size_t i = 0; i < sizeof hit / sizeof *hit; i++) {
        check_case((int64_t)i);
        CHECK_EQUAL(answer_of(hit[i][0], hit[i][1]), WR_YES);
    }
}

static void check_one(rng *r)
{
    check_overlap_in_step(r);
    check_overlap_related(r);
    check_overlap_of_overlapping(r);
    check_overlap_of_lists(r);
}

int main(void)
{
    uint64_t seed = test_seed();
    int64_t cases = test_cases(4000, 100000);
    for (int64_t i = 0; i < cases; i++) {
        rng r = {seed + (uint64_t)i * UINT64_C(0x5851f42d4c957f2d)};
        check_case(i);
        check_one(&r);
    }
    CHECK(cases < 1000 || decided > asked * 97 / 100);
    test_long_loops_miss();
    test_long_loops_hit();
    return 0;
}
