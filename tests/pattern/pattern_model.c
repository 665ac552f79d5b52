/* Every operation on patterns against the naive model: a list of bytes. */
#include <stdlib.h>
#include <string.h>

#include "pattern/meet.h"
#include "pattern/overlap.h"
#include "pattern/pack.h"
#include "random_pattern.h"

enum { MEMORY = 2 * MODEL_SPAN, DEPTH = 6 };

static char memory[2][MEMORY], buffer[2][MODEL_BYTES];

/* Offsets of the model lie within +-MEMORY / 2. */
static int64_t cell(int64_t offset)
{
    CHECK(offset >= -MEMORY / 2 && offset < MEMORY / 2);
    return offset + MEMORY / 2;
}

static void check_facts(const modelled *m)
{
    int64_t lo = 0, hi = 0, got_lo, got_hi;
    bool increasing = true;
    for (int64_t i = 0; i < m->bytes; i++) {
        lo = i == 0 || m->offset[i] < lo ? m->offset[i] : lo;
        hi = i == 0 || m->offset[i] >= hi ? m->offset[i] + 1 : hi;
        increasing = increasing && (i == 0 || m->offset[i] > m->offset[i - 1]);
    }
    weir_pattern_bounds(m->pattern, &got_lo, &got_hi);
    CHECK_EQUAL(weir_pattern_bytes(m->pattern), m->bytes);
    CHECK_EQUAL(got_lo, lo);
    CHECK_EQUAL(got_hi, hi);
    CHECK_EQUAL(weir_pattern_is_disjoint(m->pattern), increasing);
}

/* Checks one batch against the model, byte by byte; returns the data position after it. */
static int64_t check_batch(const modelled *m, const wr_batch *b)
{
    CHECK(b->count > 0 && b->run > 0);
    for (int64_t i = 0; i < b->count; i++)
        for (int64_t k = 0; k < b->run; k++) {
            int64_t data = b->data + i * b->run + k;
            CHECK(data < m->bytes);
            CHECK_EQUAL(b->offset + i * b->stride + k, m->offset[data]);
        }
    return b->data + b->count * b->run;
}

/* Walks from where the cursor stands to `end`, in pieces of random size. */
static void check_walk(rng *r, const modelled *m, wr_cursor *c, int64_t from, int64_t end)
{
    wr_batch b;
    CHECK_EQUAL(wr_cursor_data(c), from);
    for (;;) {
        int64_t max = rng_chance(r, 50) ? INT64_MAX : rng_within(r, 1, 40);
        bool more = rng_chance(r, 30) ? wr_cursor_next_run(c, max, &b) : wr_cursor_next(c, max, &b);
        if (!more)
            break;
        CHECK_EQUAL(b.data, from);
        CHECK(b.run * b.count <= max);
        from = check_batch(m, &b);
        CHECK_EQUAL(wr_cursor_data(c), from);
    }
    CHECK_EQUAL(from, end);
}

/* Runs, one by one: their number, and whether they are ordered. */
static void check_runs(const modelled *m)
{
    wr_cursor c;
    wr_batch b, before = {.offset = INT64_MIN};
    bool ordered = true;
    int64_t runs = 0;
    wr_cursor_init(&c, m->pattern);
    for (; wr_cursor_next_run(&c, INT64_MAX, &b); before = b, runs++)
        ordered = ordered && (runs == 0 || (b.offset >= before.offset &&
                                            b.offset + b.run >= before.offset + before.run));
    CHECK_EQUAL(runs, weir_pattern_pieces(m->pattern));
    CHECK_EQUAL(weir_pattern_is_ordered(m->pattern), ordered);
}

static void check_cursor(rng *r, const modelled *m)
{
    wr_cursor c, saved;
    wr_batch b;
    wr_cursor_init(&c, m->pattern);
    check_walk(r, m, &c, 0, m->bytes);
    int64_t begin = rng_within(r, 0, m->bytes), end = rng_within(r, begin, m->bytes);
    wr_cursor_limit(&c, begin, end);
    check_walk(r, m, &c, begin, end);
    int64_t to = rng_within(r, begin, end);
    wr_cursor_seek_data(&c, to);
    if (wr_cursor_next(&c, rng_within(r, 1, 99), &b))
        to = check_batch(m, &b);
    saved = c;
    check_walk(r, m, &c, to, end);
    check_walk(r, m, &saved, to, end);
}

static int64_t first_from(const modelled *m, int64_t x)
{
    int64_t data = 0;
    while (data < m->bytes && m->offset[data] < x)
        data++;
    return data;
}

static void check_seek_offset(rng *r, const modelled *m)
{
    wr_cursor c;
    int64_t lo, hi;
    weir_pattern_bounds(m->pattern, &lo, &hi);
    wr_cursor_init(&c, m->pattern);
    for (int i = 0; i < 8; i++) {
        int64_t x = rng_within(r, lo - 5, hi + 5), data = first_from(m, x);
        CHECK_EQUAL(wr_pattern_data_below(m->pattern, x), data);
        wr_cursor_seek_offset(&c, x);
        CHECK_EQUAL(wr_cursor_data(&c), data);
        if (rng_chance(r, 20))
            check_walk(r, m, &c, data, m->bytes);
    }
}

static void check_clip(rng *r, const modelled *m)
{
    wr_cursor c;
    wr_batch b;
    int64_t lo, hi, data = rng_within(r, 0, m->bytes), end = rng_within(r, data, m->bytes);
    weir_pattern_bounds(m->pattern, &lo, &hi);
    lo = rng_within(r, lo - 5, hi + 5);
    hi = rng_within(r, lo, hi + 9);
    wr_cursor_init(&c, m->pattern);
    if (rng_chance(r, 50))
        wr_cursor_limit(&c, data, end);
    else
        data = 0, end = m->bytes;
    wr_cursor_clip(&c, lo, hi);
    while (wr_cursor_next(&c, rng_within(r, 1, 99), &b)) {
        for (int64_t i = 0; i < b.count * b.run; i++, data++) {
            while (data < end && (m->offset[data] < lo || m->offset[data] >= hi))
                data++;
            CHECK(data < end);
            CHECK_EQUAL(b.data + i, data);
        }
        check_batch(m, &b);
    }
    for (; data < end; data++)
        CHECK(m->offset[data] < lo || m->offset[data] >= hi);
}

/* Data position in `b` of each offset, or -1. */
static void map_offsets(const modelled *b, int64_t *data_at)
{
    for (int64_t i = 0; i < MEMORY; i++)
        data_at[i] = -1;
    for (int64_t i = 0; i < b->bytes; i++)
        data_at[cell(b->offset[i])] = i;
}

static void check_meet(const modelled *a, const modelled *b)
{
    static int64_t data_at[MEMORY];
    wr_meet meet;
    wr_meeting m;
    int64_t next = 0;
    map_offsets(b, data_at);
    wr_meet_init(&meet, a->pattern, b->pattern);
    while (wr_meet_next(&meet, &m))
        for (int64_t i = 0; i < m.count * m.run; i++, next++) {
            while (next < a->bytes && data_at[cell(a->offset[next])] < 0)
                next++;
            CHECK(next < a->bytes);
            int64_t offset = m.offset + i / m.run * m.stride + i % m.run;
            CHECK_EQUAL(offset, a->offset[next]);
            CHECK_EQUAL(m.a + i / m.run * m.a_step + i % m.run, next);
            CHECK_EQUAL(m.b + i / m.run * m.b_step + i % m.run, data_at[cell(offset)]);
        }
    for (; next < a->bytes; next++)
        CHECK(data_at[cell(a->offset[next])] < 0);
}

static bool touch(const modelled *a, const modelled *b)
{
    static int64_t data_at[MEMORY];
    map_offsets(b, data_at);
    for (int64_t i = 0; i < a->bytes; i++)
        if (data_at[cell(a->offset[i])] >= 0)
            return true;
    return false;
}

static int64_t overlaps, decided;

static void check_overlap(const modelled *a, const modelled *b)
{
    enum wr_answer answer = wr_pattern_overlap(a->pattern, b->pattern);
    overlaps++;
    decided += answer != WR_MAYBE;
    if (answer != WR_MAYBE)
        CHECK_EQUAL(answer, touch(a, b));
}

static void fill(rng *r, char *bytes, int64_t count)
{
    for (int64_t i = 0; i + 8 <= count; i += 8) {
        uint64_t x = rng_next(r);
        memcpy(bytes + i, &x, 8);
    }
}

static void check_packing(rng *r, const modelled *m)
{
    int64_t first = rng_within(r, 0, m->bytes), bytes = rng_within(r, 0, m->bytes - first);
    char *base = memory[0] + MEMORY / 2;
    fill(r, memory[0], MEMORY);
    CHECK(!weir_pattern_pack(m->pattern, first, bytes, base, buffer[0]));
    for (int64_t i = 0; i < bytes; i++)
        CHECK(buffer[0][i] == base[m->offset[first + i]]);

    fill(r, buffer[0], MODEL_BYTES);
    memcpy(memory[1], memory[0], MEMORY);
    CHECK(!weir_pattern_unpack(m->pattern, first, bytes, base, buffer[0]));
    for (int64_t i = 0; i < bytes; i++)
        memory[1][cell(m->offset[first + i])] = buffer[0][i];
    CHECK(!memcmp(memory[0], memory[1], MEMORY));
    CHECK_FAILS(weir_pattern_pack(m->pattern, first, m->bytes - first + 1, base, buffer[0]),
                WEIR_EINVAL, "pack: ");
    CHECK_FAILS(weir_pattern_unpack(m->pattern, -1, 1, base, buffer[0]), WEIR_EINVAL, "unpack: ");
    CHECK_FAILS(weir_pattern_unpack(m->pattern, first, -1, base, buffer[0]), WEIR_EINVAL, "of a");
    CHECK(!memcmp(memory[0], memory[1], MEMORY));
}

/* The first `bytes` data of a pattern, as a list of bytes. */
static weir_pattern *first_data(const modelled *m, int64_t bytes)
{
    int64_t *length = malloc((size_t)(bytes + 1) * sizeof *length);
    weir_pattern *p;
    for (int64_t i = 0; i < bytes; i++)
        length[i] = 1;
    CHECK(!weir_pattern_runs(bytes, m->offset, length, &p));
    free(length);
    return p;
}

/* weir_pattern_copy wants patterns of the same size. */
static void check_whole_copy(rng *r, const modelled *a, const modelled *b)
{
    static char wanted[MEMORY];
    int64_t bytes = a->bytes < b->bytes ? a->bytes : b->bytes;
    weir_pattern *from = first_data(a, bytes), *to = first_data(b, bytes);
    const weir_pattern *source = a->bytes == bytes ? a->pattern : from;
    const weir_pattern *target = b->bytes == bytes ? b->pattern : to;
    fill(r, memory[0], MEMORY);
    fill(r, memory[1], MEMORY);
    memcpy(wanted, memory[1], MEMORY);
    if (a->bytes != b->bytes)
        CHECK_FAILS(weir_pattern_copy(a->pattern, memory[0], b->pattern, memory[1]), WEIR_EINVAL,
                    "copying");
    CHECK(!memcmp(memory[1], wanted, MEMORY));
    CHECK(!weir_pattern_copy(source, memory[0] + MEMORY / 2, target, memory[1] + MEMORY / 2));
    for (int64_t i = 0; i < bytes; i++)
        wanted[cell(b->offset[i])] = memory[0][cell(a->offset[i])];
    CHECK(!memcmp(memory[1], wanted, MEMORY));
    weir_pattern_free(from);
    weir_pattern_free(to);
}

/* Copies from a to b, as far as the shorter goes. */
static void check_copy(rng *r, const modelled *a, const modelled *b)
{
    static char wanted[MEMORY];
    int64_t bytes = a->bytes < b->bytes ? a->bytes : b->bytes, asked = rng_within(r, 0, bytes);
    fill(r, memory[0], MEMORY);
    fill(r, memory[1], MEMORY);
    memcpy(wanted, memory[1], MEMORY);
    wr_cursor from, to;
    wr_cursor_init(&from, a->pattern);
    wr_cursor_init(&to, b->pattern);
    int64_t done =
        wr_copy_cursors(&from, memory[0] + MEMORY / 2, &to, memory[1] + MEMORY / 2, asked);
    CHECK_EQUAL(done, asked);
    CHECK_EQUAL(wr_cursor_data(&from), done);
    for (int64_t i = 0; i < done; i++)
        wanted[cell(b->offset[i])] = memory[0][cell(a->offset[i])];
    CHECK(!memcmp(memory[1], wanted, MEMORY));
}

/* A copy of the block that a pattern is says the same, and builds the same. */
static void check_block(const modelled *m)
{
    size_t size = (size_t)weir_pattern_footprint(m->pattern);
    void *block = malloc(size);
    memcpy(block, m->pattern, size);
    weir_pattern copy = wr_pattern_attach(block), *rebuilt;
    modelled same = {&copy, m->bytes, m->offset};
    check_facts(&same);
    check_runs(&same);
    CHECK(!weir_pattern_repeat(&copy, 1, 0, &rebuilt));
    CHECK(wr_hash_equal(m->pattern->hash, rebuilt->hash));
    weir_pattern_free(rebuilt);
    free(block);
}

/* A pattern rebuilt from the list of its runs touches the same bytes. */
static void check_relisted(rng *r, const modelled *m)
{
    modelled same = {first_data(m, m->bytes), m->bytes, m->offset};
    check_facts(&same);
    check_cursor(r, &same);
    weir_pattern_free(same.pattern);
}

static void check_one(rng *r)
{
    modelled a = random_pattern(r, (int)rng_within(r, 1, DEPTH), rng_chance(r, 70));
    modelled b = random_pattern(r, (int)rng_within(r, 1, DEPTH), true);
    check_facts(&a);
    check_runs(&a);
    check_cursor(r, &a);
    check_packing(r, &a);
    check_copy(r, &a, &b);
    check_whole_copy(r, &a, &b);
    check_block(&a);
    check_relisted(r, &a);
    bool ordered_a = weir_pattern_is_ordered(a.pattern);
    if (ordered_a) {
        check_seek_offset(r, &a);
        check_clip(r, &a);
    }
    if (ordered_a && weir_pattern_is_disjoint(b.pattern))
        check_meet(&a, &b);
    if (ordered_a && weir_pattern_is_ordered(b.pattern))
        check_overlap(&a, &b);
    modelled_free(&a);
    modelled_free(&b);
}

int main(void)
{
    uint64_t seed = test_seed();
    int64_t cases = test_cases(10000, 200000);
    for (int64_t i = 0; i < cases; i++) {
        rng r = {seed + (uint64_t)i * UINT64_C(0x5851f42d4c957f2d)};
        check_case(i);
        check_one(&r);
    }
    CHECK(overlaps < 1000 || decided > overlaps * 9 / 10);
    return 0;
}
