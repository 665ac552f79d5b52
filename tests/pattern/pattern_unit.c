/* Patterns at the edges: normal form, limits, bad input, sizes far beyond memory. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "check.h"
#include "pattern/cursor.h"
#include "pattern/meet.h"
#include "pattern/overlap.h"
#include "pattern/pack.h"

#define BIG (INT64_C(1) << 40)

static weir_pattern *strided(int64_t offset, int64_t count, int64_t run, int64_t stride)
{
    weir_pattern *p;
    CHECK(!weir_pattern_strided(offset, count, run, stride, &p));
    return p;
}

static weir_pattern *repeat_and_free(weir_pattern *inner, int64_t count, int64_t extent)
{
    weir_pattern *p;
    CHECK(!weir_pattern_repeat(inner, count, extent, &p));
    weir_pattern_free(inner);
    return p;
}

static void check_same(weir_pattern *a, weir_pattern *b)
{
    CHECK(wr_hash_equal(a->hash, b->hash));
    weir_pattern_free(a);
    weir_pattern_free(b);
}

static void test_normal_form(void)
{
    int64_t offset[100], length[100];
    weir_pattern *p;
    check_same(strided(8, 10, 4, 4), strided(8, 1, 40, 99));
    check_same(repeat_and_free(strided(0, 10, 4, 16), 7, 160), strided(0, 70, 4, 16));
    check_same(repeat_and_free(strided(0, 3, 4, 16), 1, 5), strided(0, 3, 4, 16));
    check_same(strided(77, 0, 4, 16), strided(0, 5, 0, 1));
    for (int i = 0; i < 100; i++) {
        offset[i] = 5 + 24 * i;
        length[i] = 8;
    }
    CHECK(!weir_pattern_runs(100, offset, length, &p));
    check_same(p, strided(5, 100, 8, 24));
    for (int i = 0; i < 100; i++)
        offset[i] = 8 * i;
    CHECK(!weir_pattern_runs(100, offset, length, &p));
    check_same(p, strided(0, 1, 800, 0));
    weir_pattern *half = strided(0, 50, 4, 16), *all;
    const weir_pattern *halves[] = {half, half};
    CHECK(!weir_pattern_concat(2, (int64_t[]){0, 800}, halves, &all));
    check_same(all, strided(0, 100, 4, 16));
    weir_pattern_free(half);
}

/* Two boxes on top of each other are one; a box beside a box is longer rows. */
static void test_boxes_join(void)
{
    int64_t shape[] = {100, 100};
    int64_t lo[] = {0, 0, 10, 0, 0, 20}, hi[] = {10, 20, 50, 20, 50, 40};
    weir_shape whole = {.dimensions = 2, .element = 8, .size = shape};
    weir_selection b = {.boxes = 3, .box_lo = lo, .box_hi = hi};
    weir_pattern *p;
    CHECK(!weir_pattern_boxes(&whole, &b, &p));
    check_same(p, strided(0, 50, 40 * 8, 800));
}

static void test_enormous(void)
{
    /* 10^12 runs, past 4 GiB, in a few hundred bytes */
    int64_t shape[] = {10000, 20000, 20000}, step[] = {1, 2, 2};
    weir_shape whole = {.dimensions = 3, .element = 4, .size = shape};
    weir_selection s = {.step = step};
    weir_pattern *p;
    CHECK(!weir_pattern_section(&whole, &s, NULL, &p));
    CHECK_EQUAL(weir_pattern_pieces(p), INT64_C(1000000000000));
    CHECK(weir_pattern_footprint(p) < 1024);
    wr_cursor c;
    wr_cursor_init(&c, p);
    int64_t run = INT64_C(777777777777);
    wr_cursor_seek_data(&c, run * 4 + 3);
    int64_t plane = run / 100000000, row = run / 10000 % 10000, column = run % 10000;
    int64_t offset = ((plane * 20000 + 2 * row) * 20000 + 2 * column) * 4 + 3;
    CHECK_EQUAL(c.now.offset, offset);
    wr_cursor_seek_offset(&c, offset);
    CHECK_EQUAL(wr_cursor_data(&c), run * 4 + 3);
    weir_pattern_free(p);
}

static void test_forever(void)
{
    weir_pattern *p = repeat_and_free(strided(64, 1, 16, 0), WEIR_FOREVER, 1024);
    int64_t lo, hi;
    weir_pattern_bounds(p, &lo, &hi);
    CHECK(lo == 64 && hi > (INT64_C(1) << 62) - 2048 && hi <= WR_OFFSET_MAX);
    CHECK_EQUAL(wr_pattern_data_below(p, 64 + 1024 * BIG + 5), 16 * BIG + 5);
    weir_pattern *q = repeat_and_free(p, WEIR_FOREVER, 0);
    CHECK_EQUAL(weir_pattern_bytes(q) <= WR_OFFSET_MAX, 1);
    weir_pattern_free(q);
    weir_pattern *down = repeat_and_free(strided(-5, 1, 3, 0), WEIR_FOREVER, -7);
    weir_pattern_bounds(down, &lo, &hi);
    CHECK(lo >= -WR_OFFSET_MAX && lo < -WR_OFFSET_MAX + 7 && hi == -2);
    weir_pattern_free(down);
    weir_pattern *nothing = repeat_and_free(strided(0, 0, 0, 0), WEIR_FOREVER, 8);
    CHECK_EQUAL(weir_pattern_bytes(nothing), 0);
    weir_pattern_free(nothing);
}

/* Without bounds a negative step takes the whole dimension, backwards. */
static void test_reversed(void)
{
    int64_t shape[] = {3, 4}, back[] = {-1, -1};
    weir_shape whole = {.dimensions = 2, .element = 1, .size = shape};
    weir_selection s = {.step = back};
    weir_pattern *p;
    char array[] = "abcdefghijkl", reversed[13] = "";
    CHECK(!weir_pattern_section(&whole, &s, NULL, &p));
    CHECK(!weir_pattern_pack(p, 0, 12, array, reversed));
    CHECK(!strcmp(reversed, "lkjihgfedcba"));
    weir_pattern_free(p);
}

static void test_bad_input(void)
{
    weir_pattern *p = NULL, *q = strided(0, 2, 1, 4);
    int64_t huge = INT64_C(1) << 62, shape[17] = {4, 4}, lo[] = {0, 0}, hi[] = {4, 5};
    int64_t step[] = {0, 1}, list[] = {0, 4}, count[] = {2, 0};
    const int64_t *index[] = {list, NULL};
    weir_shape whole = {.dimensions = 2, .element = 4, .size = shape};
    weir_selection s = {.lo = lo, .hi = hi};
    CHECK_FAILS(weir_pattern_contiguous(0, -1, &p), WEIR_EINVAL, "run of -1");
    CHECK_FAILS(weir_pattern_contiguous(huge, 1, &p), WEIR_ERANGE, "2^62");
    CHECK_FAILS(weir_pattern_contiguous(huge - 2, 3, &p), WEIR_ERANGE, "2^62");
    CHECK_FAILS(weir_pattern_strided(0, -1, 1, 1, &p), WEIR_EINVAL, "negative count");
    CHECK_FAILS(weir_pattern_strided(0, huge, 2, 2, &p), WEIR_ERANGE, "2^62");
    CHECK_FAILS(weir_pattern_strided(0, huge, 2, INT64_MAX, &p), WEIR_ERANGE, "2^62");
    CHECK_FAILS(weir_pattern_strided(0, 3, 1, INT64_MIN, &p), WEIR_ERANGE, "2^62");
    CHECK_FAILS(weir_pattern_runs(-1, NULL, NULL, &p), WEIR_EINVAL, "negative count");
    CHECK_FAILS(weir_pattern_runs(2, (int64_t[]){0, INT64_MIN}, (int64_t[]){1, 1}, &p), WEIR_ERANGE,
                "2^62");
    CHECK_FAILS(weir_pattern_concat(1, (int64_t[]){INT64_MAX}, (const weir_pattern *[]){q}, &p),
                WEIR_ERANGE, "pattern");
    CHECK_FAILS(weir_pattern_repeat(q, WEIR_FOREVER, INT64_MIN, &p), WEIR_ERANGE, "extent");
    CHECK_FAILS(weir_pattern_section(&whole, &s, NULL, &p), WEIR_EINVAL,
                "takes index 4 in dimension 1, which has size 4");
    s.step = step;
    CHECK_FAILS(weir_pattern_section(&whole, &s, NULL, &p), WEIR_EINVAL, "step 0 in dimension 0");
    s.step = NULL;
    s.index = index;
    s.count = count;
    CHECK_FAILS(weir_pattern_section(&whole, &s, NULL, &p), WEIR_EINVAL, "index 4 in dimension 0");
    s.index = NULL;
    whole.order = (int[]){1, 1};
    CHECK_FAILS(weir_pattern_section(&whole, &s, NULL, &p), WEIR_EINVAL, "not a permutation");
    whole.order = NULL;
    whole.dimensions = 17;
    CHECK_FAILS(weir_pattern_section(&whole, &s, NULL, &p), WEIR_EINVAL, "17 dimensions");
    whole.dimensions = 2;
    shape[1] = huge;
    CHECK_FAILS(weir_pattern_section(&whole, &s, NULL, &p), WEIR_ERANGE, "2^62");
    shape[1] = -4;
    CHECK_FAILS(weir_pattern_section(&whole, &s, NULL, &p), WEIR_EINVAL, "size -4");
    shape[1] = 4;
    s.count = NULL;
    s.index = index;
    CHECK_FAILS(weir_pattern_section(&whole, &s, NULL, &p), WEIR_EINVAL,
                "without its count in dimension 0");
    s.index = NULL;
    whole.size = NULL;
    CHECK_FAILS(weir_pattern_section(&whole, &s, NULL, &p), WEIR_EINVAL, "without a size");
    whole.size = shape;
    whole.element = 0;
    CHECK_FAILS(weir_pattern_section(&whole, &s, NULL, &p), WEIR_EINVAL, "elements of 0 bytes");
    whole.element = 4;
    weir_selection b = {.boxes = 1, .box_lo = lo, .box_hi = hi};
    CHECK_FAILS(weir_pattern_boxes(&whole, &b, &p), WEIR_EINVAL,
                "box 0: [0, 5) in dimension 1 of size 4");
    b.local = 1;
    CHECK_FAILS(weir_pattern_boxes(&whole, &b, &p), WEIR_EINVAL, "local array");
    CHECK_FAILS(weir_pattern_section(&whole, &b, NULL, &p), WEIR_EINVAL, "boxes");
    weir_selection reserved = {.reserved = {0, 0, 0, 1}};
    CHECK_FAILS(weir_pattern_section(&whole, &reserved, NULL, &p), WEIR_EINVAL, "weir_selection");
    CHECK_FAILS(weir_pattern_boxes(&whole, &reserved, &p), WEIR_EINVAL, "weir_selection");
    whole.reserved[0] = 1;
    CHECK_FAILS(weir_pattern_section(&whole, &s, NULL, &p), WEIR_EINVAL, "weir_shape");
    CHECK(!p);
    weir_pattern_free(q);
}

static void test_too_deep(void)
{
    weir_pattern *p = strided(0, 2, 1, 3);
    int code = 0, deep = 0;
    for (int64_t extent = 4; !code; extent = extent * 2 + 1, deep++) {
        weir_pattern *q;
        code = weir_pattern_repeat(p, 2, extent, &q);
        if (!code) {
            weir_pattern_free(p);
            p = q;
        }
    }
    CHECK_EQUAL(code, WEIR_EINVAL);
    CHECK(strstr(weir_error_last()->text, "nested") && deep >= 30);
    weir_pattern_free(p);
}

/* Every allocation on the way to a pattern may fail: an error, and no leak (seen by ASan). */
static void test_failing_allocations(void)
{
    int64_t shape[] = {20, 20}, lo[] = {0, 0, 5, 5}, hi[] = {9, 9, 15, 15};
    weir_shape whole = {.dimensions = 2, .element = 4, .size = shape};
    weir_selection b = {.boxes = 2, .box_lo = lo, .box_hi = hi};
    int code = WEIR_ENOMEM, failures = -1;
    for (; code; failures++) {
        weir_pattern *box = NULL, *twice = NULL, *one = NULL;
        wr_alloc_fail_after(failures + 1);
        code = weir_pattern_boxes(&whole, &b, &box);
        if (!code)
            code = weir_pattern_repeat(box, 3, 2000, &twice);
        if (!code)
            code = wr_pattern_clip(twice, 50, 3000, &one);
        wr_alloc_fail_after(-1);
        CHECK(code == 0 || code == WEIR_ENOMEM);
        weir_pattern_free(box);
        weir_pattern_free(twice);
        weir_pattern_free(one);
    }
    CHECK(failures > 8);
}

/* Loops far too long to walk: the answers come from algebra, checked against short twins. */
static void test_overlap_of_long_loops(void)
{
    rng r = {test_seed()};
    int64_t decided = 0;
    for (int i = 0; i < 3000; i++) {
        check_case(i);
        int64_t run[2] = {rng_within(&r, 1, 9), rng_within(&r, 1, 9)};
        int64_t stride[2] = {rng_within(&r, 1, 6) * 4, rng_within(&r, 1, 6) * 4};
        int64_t offset = rng_within(&r, 0, 40), long_count = BIG / 1024;
        weir_pattern *a = strided(0, long_count, run[0], stride[0]);
        weir_pattern *b = strided(offset, long_count, run[1], stride[1]);
        bool touch = false;
        for (int64_t x = 0; x < 60 && !touch; x++)
            for (int64_t y = 0; y < 60 && !touch; y++) {
                int64_t gap = offset + y * stride[1] - x * stride[0];
                touch = gap < run[0] && gap + run[1] > 0;
            }
        if (weir_pattern_is_ordered(a) && weir_pattern_is_ordered(b)) {
            enum wr_answer answer = wr_pattern_overlap(a, b);
            decided += answer != WR_MAYBE;
            if (answer != WR_MAYBE)
                CHECK_EQUAL(answer, touch);
        }
        weir_pattern_free(a);
        weir_pattern_free(b);
    }
    CHECK(decided > 2500);
}

/* A request and a window's cover with one period: one batch, not one piece a period. */
static void test_meet_in_batches(void)
{
    weir_pattern *request = strided(4, BIG, 4, 64), *cover = strided(0, BIG, 16, 64);
    wr_meet meet;
    wr_meeting m;
    wr_meet_init(&meet, request, cover);
    CHECK(wr_meet_next(&meet, &m));
    CHECK(m.count == BIG && m.run == 4 && m.a_step == 4 && m.b == 4 && m.b_step == 16);
    CHECK(!wr_meet_next(&meet, &m));
    weir_pattern *run = strided(0, 1, BIG, 0);
    wr_meet_init(&meet, run, cover);
    CHECK(wr_meet_next(&meet, &m));
    CHECK(m.count == BIG / 64 && m.run == 16 && m.a_step == 64 && m.b_step == 16);
    CHECK(!wr_meet_next(&meet, &m));
    weir_pattern_free(request);
    weir_pattern_free(cover);
    weir_pattern_free(run);
}

typedef struct copy_case {
    rng *r;
    int64_t visited;
} copy_case;

static void check_copy_batch(void *user, const int *choice)
{
    static const int64_t runs[] = {1, 2, 3, 4, 6, 7, 8, 12, 16, 24, 32, 48, 64, 100, 4097};
    static const int64_t gaps[] = {0, 1, 5, 64};
    static char from[1 << 20], to[1 << 20], wanted[1 << 20];
    copy_case *c = user;
    int64_t run = runs[choice[0]], count = choice[3] * 9;
    wr_strides stride = {run + gaps[choice[1]], run + gaps[choice[2]]};
    char *source = from + choice[4], *target = to + choice[5];
    for (size_t i = 0; i < sizeof from; i += 997)
        from[i] = (char)rng_next(c->r);
    memset(to, 0x5a, sizeof to);
    memset(wanted, 0x5a, sizeof wanted);
    for (int64_t i = 0; i < count; i++)
        memcpy(wanted + choice[5] + i * stride.target, source + i * stride.source, (size_t)run);
    wr_copy_batch(target, source, stride, run, count);
    CHECK(!memcmp(to, wanted, sizeof to));
    c->visited++;
}

static void test_copy_batches(void)
{
    rng r = {test_seed()};
    copy_case c = {.r = &r};
    test_pairwise(&r, 6, (int[]){15, 4, 4, 3, 3, 3}, check_copy_batch, &c);
    CHECK(test_long() ? c.visited == 15 * 4 * 4 * 27 : c.visited >= 60);
}

static void test_hash_tells_apart(void)
{
    enum { KINDS = 2000 };
    static wr_hash seen[KINDS];
    for (int i = 0; i < KINDS; i++) {
        weir_pattern *p = strided(i % 10, 2 + i / 10 % 10, 1 + i / 100 % 5, 7 + i / 500);
        seen[i] = p->hash;
        for (int j = 0; j < i; j++)
            CHECK(!wr_hash_equal(seen[i], seen[j]));
        weir_pattern_free(p);
    }
}

int main(void)
{
    test_normal_form();
    test_boxes_join();
    test_enormous();
    test_forever();
    test_reversed();
    test_bad_input();
    test_too_deep();
    test_failing_allocations();
    test_overlap_of_long_loops();
    test_meet_in_batches();
    test_copy_batches();
    test_hash_tells_apart();
    return 0;
}
