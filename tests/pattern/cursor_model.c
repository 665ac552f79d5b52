/* Cursors, confined and moved in any order, and meets of such cursors, against the naive model. */
#include <stdlib.h>
#include <string.h>

#include "pattern/cursor.h"
#include "pattern/meet.h"
#include "random_pattern.h"

enum { DEPTH = 5, MOVES = 24, MEMORY = 2 * MODEL_SPAN };

/* What a cursor should be: all it is confined to, and the data position it stands at. */
typedef struct place {
    const modelled *m;
    int64_t begin, end, lo, hi;
    int64_t at;
} place;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The first data position from `data` on that the cursor may hand out, or the end. */
static int64_t allowed_from(const place *p, int64_t data)
{
    data = most(data, p->begin);
    while (data < p->end && (p->m->offset[data] < p->lo || p->m->offset[data] >= p->hi))
        data++;
    return least(data, p->end);
}

static int64_t first_at(const modelled *m, int64_t x)
{
    int64_t data = 0;
    while (data < m->bytes && m->offset[data] < x)
        data++;
    return data;
}

/* Where nothing is left, the end is that of the cursor: it may know a smaller one. */
static void check_place(wr_cursor *c, const place *p)
{
    wr_cursor copy = *c;
    wr_batch b;
    bool more = p->at < p->end;
    CHECK_EQUAL(wr_cursor_data(&copy), more ? p->at : c->end);
    CHECK_EQUAL(wr_cursor_peek(&copy, &b), more);
    if (more)
        CHECK(b.data == p->at && b.offset == p->m->offset[p->at]);
}

/* A number around [lo, hi], or far outside. */
static int64_t somewhere(rng *r, int64_t lo, int64_t hi)
{
    static const int64_t far[] = {INT64_MIN,     -WR_OFFSET_MAX - 1, -WR_OFFSET_MAX,
                                  WR_OFFSET_MAX, WR_OFFSET_MAX + 1,  INT64_MAX};
    if (rng_chance(r, 10))
        return far[rng_within(r, 0, 5)];
    return rng_within(r, lo - 5, hi + 5);
}

static void move_limit(rng *r, wr_cursor *c, place *p)
{
    int64_t begin = rng_chance(r, 50) ? somewhere(r, 0, p->m->bytes) : rng_within(r, -3, 9);
    int64_t end = rng_chance(r, 50) ? somewhere(r, 0, p->m->bytes) : p->m->bytes - begin % 9;
    wr_cursor_limit(c, begin, end);
    p->begin = most(p->begin, begin);
    p->end = least(p->end, end);
    p->at = p->begin = least(p->begin, p->end);
}

static void move_clip(rng *r, wr_cursor *c, place *p)
{
    int64_t lo, hi;
    weir_pattern_bounds(p->m->pattern, &lo, &hi);
    int64_t from = rng_chance(r, 50) ? somewhere(r, lo, hi) : rng_within(r, lo - 2, lo + 9);
    int64_t to = rng_chance(r, 50) ? somewhere(r, lo, hi) : rng_within(r, hi - 9, hi + 2);
    to = rng_chance(r, 30) ? INT64_MAX : to;
    wr_cursor_clip(c, from, to);
    p->lo = most(p->lo, from);
    p->hi = least(p->hi, to);
    p->at = p->begin;
}

static void move_next(rng *r, wr_cursor *c, place *p)
{
    wr_batch b;
    int64_t max = rng_chance(r, 40) ? INT64_MAX : rng_within(r, 1, 40);
    bool more = rng_chance(r, 30) ? wr_cursor_next_run(c, max, &b) : wr_cursor_next(c, max, &b);
    CHECK_EQUAL(more, p->at < p->end);
    if (!more)
        return;
    CHECK(b.data == p->at && b.run > 0 && b.count > 0 && b.run * b.count <= max);
    for (int64_t i = 0; i < b.count * b.run; i++, p->at++) {
        CHECK_EQUAL(allowed_from(p, p->at), p->at);
        CHECK_EQUAL(b.offset + i / b.run * b.stride + i % b.run, p->m->offset[p->at]);
    }
}

static void move_skip(rng *r, wr_cursor *c, place *p)
{
    int64_t bytes = rng_chance(r, 5) ? INT64_MAX : rng_within(r, 0, 90);
    wr_cursor_skip(c, bytes);
    for (; bytes > 0 && p->at < p->end; bytes--)
        p->at = allowed_from(p, p->at + 1);
}

static void move_seek_data(rng *r, wr_cursor *c, place *p)
{
    int64_t data = somewhere(r, 0, p->m->bytes);
    wr_cursor_seek_data(c, data);
    p->at = most(p->begin, least(data, p->end));
}

/* Below what is left: to its start; above: to the end. */
static void move_seek_offset(rng *r, wr_cursor *c, place *p)
{
    int64_t lo, hi;
    weir_pattern_bounds(p->m->pattern, &lo, &hi);
    int64_t x = somewhere(r, lo, hi);
    wr_cursor_seek_offset(c, x);
    p->at = least(most(p->begin, first_at(p->m, x)), p->end);
}

typedef void move(rng *r, wr_cursor *c, place *p);

/* The last two are for ordered patterns. */
static move *const moves[] = {move_next,      move_next, move_skip,       move_limit,
                              move_seek_data, move_clip, move_seek_offset};

static void confine(rng *r, wr_cursor *c, place *p)
{
    for (int times = (int)rng_within(r, 1, 3); times > 0; times--) {
        (rng_chance(r, 50) ? move_limit : move_clip)(r, c, p);
        p->at = allowed_from(p, p->at);
        check_place(c, p);
    }
}

static place start(wr_cursor *c, const modelled *m)
{
    wr_cursor_init(c, m->pattern);
    return (place){m, 0, m->bytes, INT64_MIN, INT64_MAX, 0};
}

static void check_moves(rng *r, const modelled *m)
{
    wr_cursor c;
    place p = start(&c, m);
    int kinds = weir_pattern_is_ordered(m->pattern) ? 7 : 5;
    for (int i = 0; i < MOVES; i++) {
        int kind = (int)rng_within(r, 0, kinds - 1);
        if ((kind == 3 || kind == 5) && rng_chance(r, 60))
            kind = 0; /* each one narrows: not too many */
        int64_t begin = c.begin, end = c.end;
        moves[kind](r, &c, &p);
        CHECK(c.begin >= begin && c.begin <= c.end && c.end <= end);
        p.at = allowed_from(&p, p.at);
        check_place(&c, &p);
    }
}

static void check_clipped_pattern(rng *r, const modelled *m)
{
    wr_cursor c, d;
    weir_pattern *part;
    wr_batch b;
    int64_t lo, hi;
    weir_pattern_bounds(m->pattern, &lo, &hi);
    lo = rng_within(r, lo - 3, hi);
    hi = rng_chance(r, 20) ? INT64_MAX : rng_within(r, lo, hi + 3);
    CHECK(!wr_pattern_clip(m->pattern, lo, hi, &part));
    place p = start(&c, m);
    p.lo = lo;
    p.hi = hi;
    p.at = allowed_from(&p, 0);
    for (wr_cursor_init(&d, part); wr_cursor_next_run(&d, INT64_MAX, &b);)
        for (int64_t i = 0; i < b.run; i++, p.at = allowed_from(&p, p.at + 1)) {
            CHECK(p.at < p.end);
            CHECK_EQUAL(b.offset + i, m->offset[p.at]);
        }
    CHECK_EQUAL(p.at, p.end);
    weir_pattern_free(part);
}

/* Exact where the pattern is disjoint; otherwise *hi may be the end of the last run. */
static void check_bounds_of(rng *r, const modelled *m)
{
    if (m->bytes == 0)
        return;
    int64_t begin = rng_within(r, 0, m->bytes - 1), end = rng_within(r, begin + 1, m->bytes);
    int64_t lo = INT64_MAX, hi = INT64_MIN, got_lo, got_hi, all_lo, all_hi;
    for (int64_t i = begin; i < end; i++) {
        lo = least(lo, m->offset[i]);
        hi = most(hi, m->offset[i] + 1);
    }
    weir_pattern_bounds(m->pattern, &all_lo, &all_hi);
    wr_pattern_bounds_of(m->pattern, begin, end, &got_lo, &got_hi);
    CHECK_EQUAL(got_lo, lo);
    CHECK(got_hi >= hi && got_hi <= all_hi);
    if (weir_pattern_is_disjoint(m->pattern))
        CHECK_EQUAL(got_hi, hi);
}

/* Where in `p` each offset is, or -1; only what the cursor may hand out. */
static void map_allowed(const place *p, int64_t *data_at)
{
    for (int64_t i = 0; i < MEMORY; i++)
        data_at[i] = -1;
    for (int64_t i = allowed_from(p, 0); i < p->end; i = allowed_from(p, i + 1))
        data_at[p->m->offset[i] + MEMORY / 2] = i;
}

static int64_t next_common(const place *a, const int64_t *data_at, int64_t data)
{
    data = allowed_from(a, data);
    while (data < a->end && data_at[a->m->offset[data] + MEMORY / 2] < 0)
        data = allowed_from(a, data + 1);
    return data;
}

static void check_meeting(const wr_meeting *m, const place *a, const int64_t *data_at, int64_t *at)
{
    for (int64_t i = 0; i < m->count * m->run; i++) {
        CHECK(*at < a->end);
        int64_t offset = m->offset + i / m->run * m->stride + i % m->run;
        CHECK_EQUAL(m->a + i / m->run * m->a_step + i % m->run, *at);
        CHECK_EQUAL(offset, a->m->offset[*at]);
        CHECK_EQUAL(m->b + i / m->run * m->b_step + i % m->run, data_at[offset + MEMORY / 2]);
        *at = next_common(a, data_at, *at + 1);
    }
}

/* Both sides confined, and the meet saved and resumed on the way. */
static void check_meet(rng *r, const modelled *a, const modelled *b)
{
    static int64_t data_at[MEMORY];
    wr_meet meet, saved;
    wr_meeting m;
    wr_meet_init(&meet, a->pattern, b->pattern);
    place pa = start(&meet.a, a), pb = start(&meet.b, b);
    if (rng_chance(r, 70))
        confine(r, &meet.a, &pa);
    if (rng_chance(r, 70))
        confine(r, &meet.b, &pb);
    map_allowed(&pb, data_at);
    int64_t at = next_common(&pa, data_at, 0), saved_at = at;
    saved = meet;
    while (wr_meet_next(&meet, &m)) {
        check_meeting(&m, &pa, data_at, &at);
        if (rng_chance(r, 30))
            saved = meet, saved_at = at;
    }
    CHECK_EQUAL(at, pa.end);
    while (wr_meet_next(&saved, &m))
        check_meeting(&m, &pa, data_at, &saved_at);
    CHECK_EQUAL(saved_at, pa.end);
}

/* Combs of one stride, in rows: each `n` times `count` runs. */
static modelled random_comb(rng *r, int64_t stride)
{
    modelled m = {.offset = malloc(MODEL_BYTES * sizeof(int64_t))};
    int64_t run = rng_within(r, 1, stride - 1), offset = rng_within(r, 0, 2 * stride);
    int64_t count = rng_within(r, 2, 12), n = rng_within(r, 1, 4);
    int64_t extent = (count - 1) * stride + run + rng_within(r, 0, 2 * stride);
    weir_pattern *row;
    CHECK(!weir_pattern_strided(offset, count, run, stride, &row));
    CHECK(!weir_pattern_repeat(row, n, extent, &m.pattern));
    for (int64_t i = 0; i < n * count; i++)
        for (int64_t k = 0; k < run; k++)
            m.offset[m.bytes++] = offset + i / count * extent + i % count * stride + k;
    weir_pattern_free(row);
    return m;
}

static void check_combs(rng *r)
{
    int64_t stride = rng_within(r, 2, 20);
    modelled a = random_comb(r, stride), b = random_comb(r, stride);
    check_meet(r, &a, &b);
    check_meet(r, &b, &a);
    modelled_free(&a);
    modelled_free(&b);
}

static int64_t ordered, overlapping, empty;

static void check_one(rng *r)
{
    modelled a = random_pattern(r, (int)rng_within(r, 1, DEPTH), rng_chance(r, 90));
    modelled b = random_pattern(r, (int)rng_within(r, 1, DEPTH), true);
    for (int i = 0; i < 4; i++)
        check_moves(r, &a);
    check_combs(r);
    empty += a.bytes == 0;
    if (weir_pattern_is_ordered(a.pattern)) {
        ordered++;
        overlapping += !weir_pattern_is_disjoint(a.pattern);
        check_clipped_pattern(r, &a);
        check_bounds_of(r, &a);
        if (weir_pattern_is_disjoint(b.pattern))
            check_meet(r, &a, &b);
    }
    modelled_free(&a);
    modelled_free(&b);
}

int main(void)
{
    uint64_t seed = test_seed();
    int64_t cases = test_cases(5000, 200000);
    for (int64_t i = 0; i < cases; i++) {
        rng r = {seed + (uint64_t)i * UINT64_C(0x5851f42d4c957f2d)};
        check_case(i);
        check_one(&r);
    }
    CHECK(cases < 1000 || (overlapping > ordered * 8 / 100 && empty < cases / 10));
    return 0;
}
