/* Limits of patterns, one by one: what is just too much is refused, what just fits works. */
#include <string.h>

#include "check.h"
#include "pattern/meet.h"
#include "pattern/pack.h"

#define POWER(n) (INT64_C(1) << (n))
#define BIG POWER(40)

static weir_pattern *strided(int64_t offset, int64_t count, int64_t run, int64_t stride)
{
    weir_pattern *p;
    CHECK(!weir_pattern_strided(offset, count, run, stride, &p));
    return p;
}

static weir_pattern *concat(int64_t count, const int64_t *offsets, weir_pattern *const *parts)
{
    weir_pattern *p;
    CHECK(!weir_pattern_concat(count, offsets, (const weir_pattern *const *)parts, &p));
    return p;
}

static void free_all(int count, weir_pattern **p)
{
    for (int i = 0; i < count; i++)
        weir_pattern_free(p[i]);
}

static void test_too_many_bytes(void)
{
    weir_pattern *p = NULL, *half = strided(0, POWER(30), POWER(30), POWER(31));
    int64_t third = POWER(61), lengths[] = {third, third, third};
    CHECK_FAILS(weir_pattern_runs(3, (int64_t[]){0, -third - 5, 1}, lengths, &p), WEIR_ERANGE,
                "2^62");
    CHECK_FAILS(
        weir_pattern_runs(3, (int64_t[]){0, 5, 1}, (int64_t[]){third, third, third - 1}, &p),
        WEIR_ERANGE, "2^62");
    CHECK_FAILS(weir_pattern_strided(0, POWER(60), 4, 0, &p), WEIR_ERANGE, "2^62");
    CHECK_FAILS(weir_pattern_repeat(half, 4, 1, &p), WEIR_ERANGE, "2^62");
    CHECK_FAILS(
        weir_pattern_concat(5, NULL, (const weir_pattern *[]){half, half, half, half, half}, &p),
        WEIR_ERANGE, "2^62");
    CHECK(!p);
    p = strided(0, POWER(60) - 1, 4, 0);
    CHECK_EQUAL(weir_pattern_bytes(p), POWER(62) - 4);
    weir_pattern_free(p);
    weir_pattern_free(half);
}

/* Runs that touch are joined only as far as the sum is allowed. */
static void test_touching_runs_too_long(void)
{
    weir_pattern *p = NULL;
    int64_t most = WR_OFFSET_MAX, offsets[] = {-most, 0, most}, lengths[] = {most, most, most};
    CHECK_FAILS(weir_pattern_runs(3, offsets, lengths, &p), WEIR_ERANGE, "2^62");
    CHECK_FAILS(weir_pattern_runs(2, offsets, lengths, &p), WEIR_ERANGE, "2^62");
    CHECK_FAILS(weir_pattern_runs(2, (int64_t[]){0, most}, (int64_t[]){most, 1}, &p), WEIR_ERANGE,
                "2^62");
    CHECK(!weir_pattern_runs(2, (int64_t[]){-most, 0}, (int64_t[]){most, 0}, &p));
    CHECK_EQUAL(weir_pattern_bytes(p), most);
    weir_pattern_free(p);
}

static void test_strides_too_far(void)
{
    weir_pattern *p = NULL, *many = strided(0, POWER(32), 1, 0);
    CHECK_FAILS(weir_pattern_strided(0, 2, 8, INT64_MAX, &p), WEIR_ERANGE, "2^62");
    CHECK_FAILS(weir_pattern_strided(0, 2, 8, INT64_MIN, &p), WEIR_ERANGE, "2^62");
    CHECK_FAILS(weir_pattern_strided(0, 2, 8, POWER(62) - 8, &p), WEIR_ERANGE, "2^62");
    CHECK_FAILS(weir_pattern_repeat(many, POWER(32), 0, &p), WEIR_ERANGE, "2^62");
    CHECK_FAILS(weir_pattern_repeat(many, POWER(32) + 1, 0, &p), WEIR_ERANGE, "2^62");
    CHECK(!p);
    p = strided(0, 2, 8, POWER(62) - 9);
    int64_t lo, hi;
    weir_pattern_bounds(p, &lo, &hi);
    CHECK(lo == 0 && hi == WR_OFFSET_MAX);
    weir_pattern_free(p);
    weir_pattern_free(many);
}

/* Each node keeps its bounds, wherever the pattern starts. */
static void test_bounds_of_nodes(void)
{
    weir_pattern *p = NULL, *down = strided(100, 2, 1, -POWER(61));
    weir_pattern *up = strided(-100, 2, 1, POWER(61));
    const weir_pattern *pair[] = {up, up};
    CHECK_FAILS(weir_pattern_repeat(down, 2, -POWER(61), &p), WEIR_ERANGE, "2^62");
    CHECK_FAILS(weir_pattern_repeat(up, 2, POWER(61), &p), WEIR_ERANGE, "2^62");
    CHECK_FAILS(weir_pattern_concat(2, (int64_t[]){0, POWER(61)}, pair, &p), WEIR_ERANGE, "2^62");
    CHECK_FAILS(weir_pattern_concat(2, (int64_t[]){-POWER(61), POWER(61)}, pair, &p), WEIR_ERANGE,
                "2^62");
    CHECK(!p);
    weir_pattern_free(down);
    weir_pattern_free(up);
}

static void test_bounds_of_patterns(void)
{
    weir_pattern *p = NULL, *four = strided(0, 4, 4, 8), *back = strided(0, 2, 4, -8);
    int64_t most = WR_OFFSET_MAX, lo, hi;
    CHECK_FAILS(weir_pattern_strided(-most, 2, 1, -8, &p), WEIR_ERANGE, "2^62");
    CHECK_FAILS(weir_pattern_strided(-most + 7, 2, 1, -8, &p), WEIR_ERANGE, "2^62");
    CHECK_FAILS(weir_pattern_strided(most - 11, 2, 4, 8, &p), WEIR_ERANGE, "2^62");
    CHECK_FAILS(weir_pattern_concat(1, (int64_t[]){most - 27}, (const weir_pattern *[]){four}, &p),
                WEIR_ERANGE, "2^62");
    CHECK_FAILS(weir_pattern_concat(1, (int64_t[]){7 - most}, (const weir_pattern *[]){back}, &p),
                WEIR_ERANGE, "2^62");
    CHECK(!p);
    free_all(2, (weir_pattern *[]){four, back});
    p = strided(-most + 8, 2, 1, -8);
    weir_pattern_bounds(p, &lo, &hi);
    CHECK(lo == -most && hi == -most + 9);
    weir_pattern_free(p);
    p = strided(most - 12, 2, 4, 8);
    weir_pattern_bounds(p, &lo, &hi);
    CHECK(lo == most - 12 && hi == most);
    weir_pattern_free(p);
}

/* Level k repeats twice, extents[k] apart; no level merges with the one below. */
static weir_pattern *deepest(int levels, int64_t *extents)
{
    weir_pattern *p = strided(7, 1, 1, 0), *q;
    for (int k = 0; k < levels; k++) {
        extents[k] = k ? 2 * extents[k - 1] + 1 : 3;
        CHECK(!weir_pattern_repeat(p, 2, extents[k], &q));
        weir_pattern_free(p);
        p = q;
    }
    return p;
}

static void test_deepest(void)
{
    int64_t extents[WR_DEPTH];
    weir_pattern *p = deepest(WR_DEPTH - 1, extents), *q = NULL;
    CHECK_FAILS(weir_pattern_repeat(p, 2, POWER(40), &q), WEIR_EINVAL, "nested more than 31 deep");
    CHECK_FAILS(weir_pattern_concat(2, (int64_t[]){0, 1}, (const weir_pattern *[]){p, p}, &q),
                WEIR_EINVAL, "nested more than 31 deep");
    CHECK(!q);
    CHECK_EQUAL(weir_pattern_bytes(p), POWER(WR_DEPTH - 1));
    rng r = {test_seed()};
    wr_cursor c;
    wr_batch b;
    wr_cursor_init(&c, p);
    for (int i = 0; i < 3000; i++) {
        int64_t data = rng_within(&r, 0, POWER(WR_DEPTH - 1) - 1), offset = 7;
        for (int k = 0; k < WR_DEPTH - 1; k++)
            offset += data >> k & 1 ? extents[k] : 0;
        if (rng_chance(&r, 50))
            wr_cursor_seek_data(&c, data);
        else
            wr_cursor_seek_offset(&c, offset);
        for (int k = 0; k < 9 && wr_cursor_next_run(&c, 1, &b); k++)
            CHECK(b.data == data + k && (k || b.offset == offset));
    }
    weir_pattern_free(p);
}

/* Equal in bytes and offsets, not in what they consist of: two nodes, not one. */
static void test_lists_with_other_kids(void)
{
    weir_pattern *x = strided(0, 4, 2, 5), *y = strided(0, 2, 4, 9), *run = strided(0, 1, 8, 0);
    weir_pattern *a = concat(2, (int64_t[]){0, 100}, (weir_pattern *[]){x, run});
    weir_pattern *b = concat(2, (int64_t[]){0, 100}, (weir_pattern *[]){y, run});
    weir_pattern *c = concat(2, (int64_t[]){0, 1000}, (weir_pattern *[]){a, b});
    CHECK_EQUAL(weir_pattern_pieces(c), 5 + 3);
    weir_pattern *d = concat(2, (int64_t[]){0, 1000}, (weir_pattern *[]){b, a});
    CHECK_EQUAL(weir_pattern_pieces(d), 3 + 5);
    weir_pattern *e = concat(3, (int64_t[]){0, 5000, 9000}, (weir_pattern *[]){x, y, x});
    CHECK_EQUAL(weir_pattern_pieces(e), 4 + 2 + 4);
    free_all(8, (weir_pattern *[]){x, y, run, a, b, c, d, e});
}

/* So many of them that some share a slot of the hash table. */
static void test_many_lists_with_other_kids(void)
{
    enum { LISTS = 80 };
    weir_pattern *list[LISTS], *run = strided(0, 1, 8, 0);
    int64_t offset[LISTS];
    for (int i = 0; i < LISTS; i++) {
        weir_pattern *pair = strided(0, 2, 4, 9 + i);
        list[i] = concat(2, (int64_t[]){0, 200}, (weir_pattern *[]){pair, run});
        offset[i] = 1000 * i + i * i;
        weir_pattern_free(pair);
    }
    weir_pattern *all = concat(LISTS, offset, list);
    wr_cursor c;
    wr_batch b;
    wr_cursor_init(&c, all);
    for (int i = 0; i < 3 * LISTS; i++) {
        int64_t place = i % 3 == 0 ? 0 : i % 3 == 1 ? 9 + i / 3 : 200;
        CHECK(wr_cursor_next_run(&c, INT64_MAX, &b));
        CHECK_EQUAL(b.offset, offset[i / 3] + place);
    }
    free_all(LISTS, list);
    free_all(2, (weir_pattern *[]){all, run});
}

/* Lists that differ in one length or one offset. */
static void test_lists_with_other_words(void)
{
    weir_pattern *p[4];
    CHECK(!weir_pattern_runs(3, (int64_t[]){0, 10, 30}, (int64_t[]){1, 2, 3}, &p[0]));
    CHECK(!weir_pattern_runs(3, (int64_t[]){0, 10, 30}, (int64_t[]){1, 3, 2}, &p[1]));
    CHECK(!weir_pattern_runs(3, (int64_t[]){0, 11, 30}, (int64_t[]){1, 2, 3}, &p[2]));
    CHECK(!weir_pattern_runs(3, (int64_t[]){0, 10, 31}, (int64_t[]){1, 2, 3}, &p[3]));
    weir_pattern *all = concat(4, (int64_t[]){0, 100, 200, 300}, p);
    static const int64_t wanted[] = {0, 10, 30, 100, 110, 130, 200, 211, 230, 300, 310, 331};
    static const int64_t runs[] = {1, 2, 3, 1, 3, 2, 1, 2, 3, 1, 2, 3};
    wr_cursor c;
    wr_batch b;
    wr_cursor_init(&c, all);
    for (int i = 0; i < 12; i++) {
        CHECK(wr_cursor_next_run(&c, INT64_MAX, &b));
        CHECK(b.offset == wanted[i] && b.run == runs[i]);
    }
    weir_pattern_free(all);
    free_all(4, p);
}

static void test_loops_are_found(void)
{
    int64_t offset[21], length[21];
    weir_pattern *p, *q = strided(0, 3, 4, 10);
    for (int i = 0; i < 21; i++) {
        offset[i] = i < 20 ? 10 * i : 777;
        length[i] = i < 20 ? 4 : 5;
    }
    CHECK(!weir_pattern_runs(3, offset, length, &p));
    CHECK(wr_hash_equal(p->hash, q->hash));
    free_all(2, (weir_pattern *[]){p, q});
    for (int equal = 0; equal < 2; equal++, length[20] = 4) {
        CHECK(!weir_pattern_runs(21, offset, length, &p));
        int loops = 0;
        for (int i = 0; i < p->nodes; i++)
            loops += p->node[i].kind == WR_LOOP && p->node[i].count == 20;
        CHECK_EQUAL(loops, 1);
        CHECK(p->words < 10);
        weir_pattern_free(p);
    }
}

static void test_forever_from_anywhere(void)
{
    static const int64_t origin[] = {-100, 100, -POWER(61), POWER(61)};
    for (int i = 0; i < 8; i++) {
        int64_t extent = i < 4 ? 1024 : -1024, least, most;
        weir_pattern *run = strided(origin[i % 4], 1, 16, 0), *p, *q = NULL;
        check_case(i);
        CHECK(!weir_pattern_repeat(run, WEIR_FOREVER, extent, &p));
        weir_pattern_bounds(p, &least, &most);
        CHECK(least >= -WR_OFFSET_MAX && most <= WR_OFFSET_MAX);
        CHECK(weir_pattern_pieces(p) > POWER(49));
        CHECK_FAILS(weir_pattern_repeat(run, weir_pattern_pieces(p) + 1, extent, &q), WEIR_ERANGE,
                    "2^62");
        free_all(2, (weir_pattern *[]){p, run});
    }
}

static void test_bad_ranges(void)
{
    weir_pattern *p = strided(0, 3, 4, 8);
    char memory[32] = "", buffer[16] = "";
    CHECK_FAILS(weir_pattern_pack(p, -1, 1, memory, buffer), WEIR_EINVAL, "pack: 1 bytes from -1");
    CHECK_FAILS(weir_pattern_pack(p, 1, -1, memory, buffer), WEIR_EINVAL, "pack: -1 bytes");
    CHECK_FAILS(weir_pattern_unpack(p, -1, 1, memory, buffer), WEIR_EINVAL, "unpack: 1 bytes");
    CHECK_FAILS(weir_pattern_unpack(p, 1, -1, memory, buffer), WEIR_EINVAL, "unpack: -1 bytes");
    CHECK_FAILS(weir_pattern_pack(p, 13, 0, memory, buffer), WEIR_EINVAL, "from 13");
    CHECK_FAILS(weir_pattern_pack(p, 12, INT64_MAX, memory, buffer), WEIR_EINVAL, "from 12");
    CHECK(!weir_pattern_pack(p, 12, 0, memory, buffer));
    weir_pattern *q = strided(0, 1, 11, 0);
    CHECK_FAILS(weir_pattern_copy(p, memory, q, buffer), WEIR_EINVAL, "copying 12 bytes to 11");
    free_all(2, (weir_pattern *[]){p, q});
}

static void test_bad_boxes(void)
{
    int64_t shape[] = {4, 4}, lo[] = {0, 0, 0, -1}, hi[] = {4, 4, 2, 2};
    weir_shape whole = {.dimensions = 2, .element = 4, .size = shape};
    weir_selection b = {.boxes = 2, .box_lo = lo, .box_hi = hi};
    weir_pattern *p = NULL;
    CHECK_FAILS(weir_pattern_boxes(&whole, &b, &p), WEIR_EINVAL, "box 1: [-1, 2) in dimension 1");
    b.boxes = -1;
    CHECK_FAILS(weir_pattern_boxes(&whole, &b, &p), WEIR_EINVAL, "-1 boxes");
    b.boxes = 1;
    b.box_hi = NULL;
    CHECK_FAILS(weir_pattern_boxes(&whole, &b, &p), WEIR_EINVAL, "without bounds");
    CHECK(!p);
}

/* A 4 x 6 array; the bounds of one dimension are bad. */
static void test_bad_sections(void)
{
    static const struct {
        int64_t lo, hi, step;
        int code;
        const char *text;
    } bad[] = {
        {-1, 3, 1, WEIR_EINVAL, "takes index -1 in dimension 1, which has size 6"},
        {-5, 3, 5, WEIR_EINVAL, "takes index -5"},
        {6, 2, -1, WEIR_EINVAL, "takes index 6"},
        {6, 9, 9, WEIR_EINVAL, "takes index 6"},
        {5, -3, -2, WEIR_EINVAL, "takes index -1"},
        {0, 7, 6, WEIR_EINVAL, "takes index 6"},
        {0, 6, INT64_MIN, WEIR_EINVAL, "step -9223372036854775808"},
        {INT64_MIN, INT64_MAX, 1, WEIR_ERANGE, "does not fit 64 bits"},
        {INT64_MAX, INT64_MIN, -1, WEIR_ERANGE, "does not fit 64 bits"},
    };
    weir_pattern *p = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int64_t shape[] = {4, 6}, lo[] = {0, bad[i].lo}, hi[] = {4, bad[i].hi};
        int64_t step[] = {1, bad[i].step};
        weir_shape whole = {.dimensions = 2, .element = 4, .size = shape};
        weir_selection s = {.lo = lo, .hi = hi, .step = step};
        check_case((int64_t)i);
        CHECK_FAILS(weir_pattern_section(&whole, &s, NULL, &p), bad[i].code, bad[i].text);
    }
    CHECK(!p);
}

static void test_bad_orders(void)
{
    static const int bad[][2] = {{-1, 0}, {0, 2}, {1, 1}, {2, 0}, {0, -1}};
    int64_t shape[] = {4, 6};
    weir_shape whole = {.dimensions = 2, .element = 1, .size = shape};
    weir_selection s = {0};
    weir_pattern *p = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        check_case((int64_t)i);
        whole.order = bad[i];
        CHECK_FAILS(weir_pattern_section(&whole, &s, NULL, &p), WEIR_EINVAL,
                    "not a permutation of 0 to 1");
        whole.order = NULL;
        CHECK_FAILS(weir_pattern_section(&whole, &s, bad[i], &p), WEIR_EINVAL,
                    "not a permutation of 0 to 1");
    }
    whole.dimensions = -1;
    CHECK_FAILS(weir_pattern_section(&whole, &s, NULL, &p), WEIR_EINVAL, "-1 dimensions");
    CHECK(!p);
}

static void test_bad_index_lists(void)
{
    int64_t shape[] = {4}, list[] = {3, -1}, count[] = {2};
    const int64_t *index[] = {list};
    weir_shape whole = {.dimensions = 1, .element = 1, .size = shape};
    weir_selection s = {.index = index};
    weir_pattern *p = NULL;
    s.count = count;
    CHECK_FAILS(weir_pattern_section(&whole, &s, NULL, &p), WEIR_EINVAL, "takes index -1");
    count[0] = -1;
    CHECK_FAILS(weir_pattern_section(&whole, &s, NULL, &p), WEIR_EINVAL, "without its count");
    count[0] = 1;
    CHECK(!weir_pattern_section(&whole, &s, NULL, &p));
    CHECK_EQUAL(weir_pattern_bytes(p), 1);
    weir_pattern_free(p);
}

static void test_largest_arrays(void)
{
    static const int64_t too_large[][2] = {
        {POWER(31), POWER(31)}, {POWER(31), 3 * POWER(30)}, {3, POWER(61)}, {POWER(62), 1}};
    weir_pattern *p = NULL;
    for (size_t i = 0; i < sizeof too_large / sizeof *too_large; i++) {
        weir_shape whole = {.dimensions = 2, .element = 1, .size = too_large[i]};
        weir_selection s = {0};
        check_case((int64_t)i);
        CHECK_FAILS(weir_pattern_section(&whole, &s, NULL, &p), WEIR_ERANGE, "2^62 bytes or more");
    }
    CHECK(!p);
    int64_t shape[] = {POWER(31), POWER(31) - 1};
    weir_shape whole = {.dimensions = 2, .element = 1, .size = shape};
    weir_selection s = {0};
    CHECK(!weir_pattern_section(&whole, &s, NULL, &p));
    CHECK_EQUAL(weir_pattern_bytes(p), POWER(62) - POWER(31));
    weir_pattern_free(p);
}

/* Hangs if a meet walks what it should jump over. */
static void test_meet_far_away(void)
{
    weir_pattern *loop = strided(0, BIG, 4, 64), *far = strided(64 * (BIG - 3), 1, 1000, 0);
    weir_pattern *rows = strided(64 * (BIG - 9) + 8, 3, 4, 128), *gaps = strided(8, BIG, 4, 64);
    const weir_pattern *pairs[][2] = {{loop, far},  {far, loop},  {loop, rows},
                                      {rows, loop}, {loop, gaps}, {gaps, loop}};
    static const int64_t common[] = {12, 12, 0, 0, 0, 0};
    for (int i = 0; i < 6; i++) {
        wr_meet meet;
        wr_meeting m;
        int64_t bytes = 0;
        check_case(i);
        for (wr_meet_init(&meet, pairs[i][0], pairs[i][1]); wr_meet_next(&meet, &m);)
            bytes += m.run * m.count;
        CHECK_EQUAL(bytes, common[i]);
    }
    free_all(4, (weir_pattern *[]){loop, far, rows, gaps});
}

/* One element far from all others, as a loop or a base that is no address leads to it: no address
 * but its own is ever made (the sanitizers tell). */
static void test_copies_far_away(void)
{
    static const int64_t runs[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 100};
    const int64_t far[] = {POWER(62), -POWER(62), POWER(61), -POWER(61), INT64_MAX};
    char source[512], target[512];
    for (int i = 0; i < (int)sizeof source; i++)
        source[i] = (char)i;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        for (size_t k = 0; k < sizeof far / sizeof *far; k++)
            for (int contiguous = 0; contiguous < 2; contiguous++) {
                wr_strides s = {far[k], contiguous ? runs[i] : far[k]};
                memset(target, 0, sizeof target);
                wr_copy_batch(target, source, s, runs[i], 1);
                CHECK(!memcmp(target, source, (size_t)runs[i]) && !target[runs[i]]);
            }
    weir_pattern *end = strided(POWER(62) - 16, 4, 1, 3), *here = strided(0, 4, 1, 1);
    wr_cursor from, to;
    wr_cursor_init(&from, end);
    wr_cursor_init(&to, here);
    const char *zero = (const char *)((uintptr_t)source - (uintptr_t)(POWER(62) - 16));
    CHECK_EQUAL(wr_copy_cursors(&from, zero, &to, target, 4), 4);
    CHECK(!memcmp(target, (char[]){0, 3, 6, 9}, 4));
    weir_pattern *address = strided((int64_t)(uintptr_t)source, 4, 1, 3);
    CHECK(!weir_pattern_pack(address, 0, 4, NULL, target + 4));
    CHECK(!memcmp(target, target + 4, 4));
    CHECK(!weir_pattern_unpack(address, 0, 4, NULL, target + 1));
    CHECK_EQUAL(source[9], 0);
    free_all(3, (weir_pattern *[]){end, here, address});
}

int main(void)
{
    test_copies_far_away();
    test_too_many_bytes();
    test_touching_runs_too_long();
    test_strides_too_far();
    test_bounds_of_nodes();
    test_bounds_of_patterns();
    test_deepest();
    test_lists_with_other_kids();
    test_many_lists_with_other_kids();
    test_lists_with_other_words();
    test_loops_are_found();
    test_forever_from_anywhere();
    test_bad_ranges();
    test_bad_boxes();
    test_bad_sections();
    test_bad_orders();
    test_bad_index_lists();
    test_largest_arrays();
    test_meet_far_away();
    return 0;
}
