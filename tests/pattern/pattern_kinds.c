/* Patterns of every kind: hashes tell them apart, copies of their blocks are as good, no allocation
 * is taken for granted. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "check.h"
#include "pattern/pattern.h"

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

enum { KINDS = 22 };

/* Each differs from the one before, or from the first of its kind, in one respect. */
static void build_kinds(weir_pattern **p)
{
    weir_pattern *x = strided(0, 2, 4, 16), *y = strided(0, 1, 8, 0), *w = strided(0, 3, 4, 16);
    int n = 0;
    p[n++] = strided(0, 0, 0, 0);
    p[n++] = y;
    p[n++] = strided(1, 1, 8, 0);
    p[n++] = strided(0, 1, 9, 0);
    p[n++] = x;
    p[n++] = w;
    p[n++] = strided(0, 2, 4, 17);
    p[n++] = strided(0, 2, 5, 16);
    for (int64_t i = 0; i < 4; i++) { /* lists of equal runs, then of other ones */
        int64_t offset[] = {0, 20, 50 + i % 2}, length[] = {4, i < 2 ? 4 : 5, 4};
        CHECK(!weir_pattern_runs(3, offset, length, &p[n++]));
    }
    CHECK(!weir_pattern_runs(3, (int64_t[]){0, 20, 50}, (int64_t[]){4, 4, 5}, &p[n++]));
    /* lists with children: the same nodes, words, and children used in another order */
    p[n++] = concat(3, (int64_t[]){0, 100, 300}, (weir_pattern *[]){x, y, x});
    p[n++] = concat(3, (int64_t[]){0, 100, 300}, (weir_pattern *[]){x, y, y});
    p[n++] = concat(3, (int64_t[]){0, 101, 300}, (weir_pattern *[]){x, y, y});
    p[n++] = concat(3, (int64_t[]){0, 100, 301}, (weir_pattern *[]){x, x, x});
    p[n++] = concat(3, (int64_t[]){0, 100, 301}, (weir_pattern *[]){w, w, w});
    for (int i = 0; i < 2; i++) { /* the last loop repeats the one child or the other, of 8 bytes */
        weir_pattern *loop;
        CHECK(!weir_pattern_repeat(i ? y : x, 3, 100, &loop));
        p[n++] = concat(3, (int64_t[]){0, 100, 400}, (weir_pattern *[]){x, y, loop});
        weir_pattern_free(loop);
    }
    for (int64_t i = 0; i < 2; i++) {
        int64_t shape[] = {9, 9}, lo[] = {0, 0, 3, 3}, hi[] = {4, 4, 6 + i, 6};
        weir_shape whole = {.dimensions = 2, .element = 4, .size = shape};
        weir_selection b = {.boxes = 2, .box_lo = lo, .box_hi = hi};
        CHECK(!weir_pattern_boxes(&whole, &b, &p[n++]));
    }
    CHECK_EQUAL(n, KINDS);
}

/* Each half of the hash sees everything a pattern says. */
static void test_hash_sees_everything(void)
{
    weir_pattern *p[KINDS];
    build_kinds(p);
    for (int i = 0; i < KINDS; i++)
        for (int j = 0; j < i; j++) {
            check_case(i * 100 + j);
            CHECK(p[i]->hash.half[0] != p[j]->hash.half[0]);
            CHECK(p[i]->hash.half[1] != p[j]->hash.half[1]);
        }
    free_all(KINDS, p);
}

/* The children of the last loop are all that tells these two apart. */
static void test_hash_of_related_kinds(void)
{
    weir_pattern *p[KINDS];
    build_kinds(p);
    const weir_pattern *a = p[18], *b = p[19];
    CHECK(a->nodes == b->nodes && a->words == b->words && a->kids == b->kids);
    CHECK(!memcmp(a->word, b->word, (size_t)a->words * sizeof *a->word));
    CHECK(!memcmp(a->kid, b->kid, (size_t)a->kids * sizeof *a->kid));
    a = p[13], b = p[14];
    CHECK(a->nodes == b->nodes && a->words == b->words && a->kids == b->kids);
    CHECK(!memcmp(a->word, b->word, (size_t)a->words * sizeof *a->word));
    free_all(KINDS, p);
}

/* One constructor a row; `made` is what the later ones start from. */
static int construct(int kind, weir_pattern *const *made, weir_pattern **out)
{
    static const int64_t shape[] = {20, 20}, lo[] = {0, 0, 5, 5}, hi[] = {9, 9, 15, 15};
    static const int64_t list[] = {1, 2, 5}, zero[] = {0, 0}, length[] = {3, 4, 5}, many[] = {0, 3};
    const int64_t *index[] = {NULL, list};
    weir_shape whole = {.dimensions = 2, .element = 4, .size = shape};
    weir_selection s = {.lo = zero, .hi = shape, .index = index, .count = many};
    weir_selection b = {.boxes = 2, .box_lo = lo, .box_hi = hi};
    switch (kind) {
    case 0:
        return weir_pattern_contiguous(3, 5, out);
    case 1:
        return weir_pattern_strided(3, 5, 7, 9, out);
    case 2:
        return weir_pattern_runs(3, (int64_t[]){9, 99, 999}, length, out);
    case 3:
        return weir_pattern_section(&whole, &s, NULL, out);
    case 4:
        return weir_pattern_boxes(&whole, &b, out);
    case 5:
        return weir_pattern_repeat(made[4], 3, 5000, out);
    case 6:
        return weir_pattern_concat(3, (int64_t[]){0, 9999, 99999},
                                   (const weir_pattern *[]){made[1], made[2], made[4]}, out);
    default:
        return wr_pattern_clip(made[5], 50, 9000, out);
    }
}

/* Every allocation of every constructor may fail: an error, *out untouched, no leak (by ASan). */
static void test_failing_allocations(void)
{
    weir_pattern *made[8] = {0};
    for (int kind = 0; kind < 8; kind++) {
        int code = WEIR_ENOMEM, failures = 0;
        for (; code; failures++) {
            check_case(kind * 100 + failures);
            wr_alloc_fail_after(failures);
            code = construct(kind, made, &made[kind]);
            wr_alloc_fail_after(-1);
            CHECK(code ? code == WEIR_ENOMEM && !made[kind] : made[kind] != NULL);
            CHECK(!code || weir_error_last()->code == WEIR_ENOMEM);
        }
        CHECK(failures > (kind == 0 ? 1 : 2));
    }
    free_all(8, made);
}

/* What a pattern says of itself is all in its block, wherever that lies. */
static void test_attach(void)
{
    weir_pattern *p[KINDS];
    build_kinds(p);
    for (int i = 0; i < KINDS; i++) {
        size_t size = (size_t)weir_pattern_footprint(p[i]);
        void *block = malloc(size);
        memcpy(block, p[i], size);
        weir_pattern copy = wr_pattern_attach(block);
        wr_hash hash = p[i]->hash;
        weir_pattern_free(p[i]);
        weir_pattern *again;
        CHECK(!weir_pattern_repeat(&copy, 1, 0, &again)); /* reads all of the copy */
        CHECK(wr_hash_equal(again->hash, hash));
        weir_pattern_free(again);
        free(block);
    }
}

int main(void)
{
    test_hash_sees_everything();
    test_hash_of_related_kinds();
    test_failing_allocations();
    test_attach();
    return 0;
}
