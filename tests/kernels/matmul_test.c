/* Products of matrices of all types, orders and forms against three loops, in both layouts, with
 * budgets from the least on, and ranks as threads; and how they are cut, by itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/gaxpy_shape.h"
#include "multiply_case.h"
#include "transport/local.h"

enum { RANKS = 7 };

typedef struct scene {
    multiply_case k;
    wr_tunables tunables;
} scene;

static void rank_body(wr_transport *t, void *user)
{
    scene *s = user;
    wr_world *w;
    CHECK(!wr_world_open(t, &s->tunables, &w));
    multiply_case_run(&s->k, w);
    wr_world_release(w);
}

static void run_case(rng *r, scene *s)
{
    const int ranks = (int)rng_within(r, 1, RANKS);
    multiply_case_make(r, &(hint_limits){0}, &s->k);
    wr_tunables_init(&s->tunables);
    s->tunables.ranks_per_node = rng_chance(r, 30) ? rng_within(r, 1, 3) : 0;
    check_within(60);
    CHECK(!wr_local_run(ranks, &s->tunables, rank_body, s));
    multiply_case_release(&s->k);
}

/* In the least memory only single rows fit, and 17 is no number of parts tried on the way up. */
static void run_single_rows(rng *r, scene *s)
{
    multiply_case *k = &s->k;
    naive *const matrix[] = {&k->a, &k->b, &k->c};
    const int64_t shape[][2] = {{17, 1024}, {1024, 3}, {17, 3}};
    for (int i = 0; i < 3; i++) {
        *matrix[i] = (naive){.info = {.type = WEIR_F8, .dimensions = 2}};
        memcpy(matrix[i]->info.shape, shape[i], sizeof shape[i]);
        naive_settle(matrix[i]);
        multiply_fill(r, matrix[i], true);
        k->hints[i][0] = '\0';
        k->swapped[i] = false;
    }
    multiply_naively(k);
    k->layout = WEIR_GAXPY;
    k->direct = 0;
    k->memory = 1;
    k->done = k->steps = 0;
    wr_tunables_init(&s->tunables);
    CHECK(!wr_local_run(1, &s->tunables, rank_body, s));
    multiply_case_release(k);
}

/* --- refusals --- */

static weir_array *new_array(wr_world *w, const scene *s, int which, weir_array_info info)
{
    weir_array *a;
    char path[120];
    snprintf(path, sizeof path, "%s%d", s->k.path[0], which);
    CHECK(!wr_array_create(w, path, &info, NULL, "", &a));
    return a;
}

/* What does not fit together is refused on all ranks. */
static void refused_body(wr_transport *t, void *user)
{
    const scene *s = user;
    wr_world *w;
    weir_array_info info = {.type = WEIR_F8, .dimensions = 2, .shape = {4, 4}};
    weir_array *x[6];
    CHECK(!wr_world_open(t, &s->tunables, &w));
    x[0] = new_array(w, s, 0, info);
    x[1] = new_array(w, s, 1, info);
    info.shape[1] = 5;
    x[2] = new_array(w, s, 2, info);
    info.shape[1] = 4;
    info.type = WEIR_F4;
    x[3] = new_array(w, s, 3, info);
    info.type = WEIR_I4;
    x[4] = new_array(w, s, 4, info);
    info.dimensions = 1;
    x[5] = new_array(w, s, 5, info);
    CHECK_FAILS(weir_array_multiply(x[0], x[1], x[1], 0, NULL), WEIR_EINVAL, "both");
    CHECK_FAILS(weir_array_multiply(x[0], x[1], x[2], 0, NULL), WEIR_EINVAL, "4 x 5");
    CHECK_FAILS(weir_array_multiply(x[0], x[3], x[1], 0, NULL), WEIR_EINVAL, "type");
    CHECK_FAILS(weir_array_multiply(x[4], x[4], x[4], 0, NULL), WEIR_EINVAL, "both");
    CHECK_FAILS(weir_array_multiply(x[0], x[1], x[5], 0, NULL), WEIR_EINVAL, "matrices");
    CHECK_FAILS(weir_array_multiply(x[0], x[0], x[1], 7, NULL), WEIR_EINVAL, "method 7");
    CHECK_FAILS(weir_array_multiply(x[0], x[0], x[1], 0, &(weir_work){.memory = -4096}),
                WEIR_EINVAL, "a budget of -4096 bytes");
    CHECK(!weir_array_multiply(x[0], x[0], x[1], 0, NULL)); /* a square */
    for (int i = 0; i < 6; i++)
        CHECK(!weir_array_discard(x[i]));
    wr_world_release(w);
}

/* --- shapes --- */

/* Products made by one rank, counted; panels are only used where they were read. */
static void walk(const wr_panel_shape *s, int rank, unsigned char *made, weir_estimate *sum)
{
    const wr_panel_need *n = &s->need;
    wr_span a[2] = {{0}}, b[2] = {{0}};
    int64_t calls = 0;
    for (int64_t i = 0; i < s->steps; i++) {
        const wr_panel_step at = wr_panel_step_of(s, rank, i);
        const int64_t high = at.rows.hi - at.rows.lo, wide = at.columns.hi - at.columns.lo;
        const int64_t deep = at.depth.hi - at.depth.lo;
        CHECK(high <= s->high && wide <= s->wide && deep <= s->deep);
        calls += at.new_a + at.new_b + at.ends;
        if (at.new_a) {
            a[0] = at.rows;
            a[1] = at.depth;
            sum->read += high * deep * n->element;
        }
        if (at.new_b) {
            b[0] = at.depth;
            b[1] = at.columns;
            sum->read += deep * wide * n->element;
        }
        sum->written += at.ends ? high * wide * n->element : 0;
        CHECK(a[0].lo == at.rows.lo && a[0].hi == at.rows.hi && a[1].lo == at.depth.lo);
        CHECK(b[1].lo == at.columns.lo && b[1].hi == at.columns.hi && b[0].lo == at.depth.lo);
        for (int64_t x = at.rows.lo; x < at.rows.hi; x++)
            for (int64_t y = at.columns.lo; y < at.columns.hi; y++)
                for (int64_t z = at.depth.lo; z < at.depth.hi; z++)
                    made[(x * n->columns + y) * n->depth + z]++;
    }
    sum->calls = calls;
}

static wr_panel_need random_need(rng *r, int64_t most)
{
    return (wr_panel_need){.rows = rng_within(r, 0, most),
                           .columns = rng_within(r, 0, most),
                           .depth = rng_within(r, 0, most),
                           .element = INT64_C(4) << rng_within(r, 0, 2),
                           .memory = 1,
                           .ranks = (int)rng_within(r, 1, 20),
                           .staged = rng_chance(r, 30)};
}

/* The least memory, as the last error names it, or some more. */
static int64_t random_memory(rng *r)
{
    const char *least = strstr(weir_error_last()->text, "do is ");
    CHECK(least);
    const int64_t more = rng_chance(r, 30) ? 0 : rng_within(r, 0, rng_chance(r, 50) ? 9000 : 90000);
    return strtoll(least + 6, NULL, 10) + more;
}

static void check_shape(rng *r)
{
    wr_panel_shape s;
    weir_estimate wanted, sum = {0};
    wr_panel_need need = random_need(r, 60);
    CHECK_FAILS(wr_panel_shape_build(&need, &s), WEIR_EBUDGET, "the least");
    need.memory = random_memory(r);
    const int64_t products = need.rows * need.columns * need.depth;
    unsigned char *made = calloc((size_t)products + 1, 1);
    CHECK(made && !wr_panel_shape_build(&need, &s));
    CHECK(s.memory <= need.memory && s.grid[0] * s.grid[1] <= need.ranks);
    for (int rank = 0; rank < need.ranks; rank++)
        walk(&s, rank, made, &sum);
    for (int64_t i = 0; i < products; i++)
        CHECK_EQUAL(made[i], 1);
    wr_panel_estimate(&s, &wanted);
    CHECK_EQUAL(sum.read, wanted.read);
    CHECK_EQUAL(sum.written, wanted.written);
    CHECK_EQUAL(sum.calls, wanted.calls);
    free(made);
}

static void check_span(wr_span s, int64_t *at, int64_t most)
{
    CHECK(s.lo == *at && s.hi - s.lo <= most);
    *at = s.hi;
}

/* Sub-blocks cover everything, and fit the buffers that are paid for. */
static void check_gaxpy_shape(rng *r)
{
    wr_gaxpy_shape s;
    wr_panel_need need = random_need(r, rng_chance(r, 50) ? 60 : 3000);
    const bool by_columns = rng_chance(r, 50);
    int64_t row = 0, column = 0, depth = 0;
    CHECK_FAILS(wr_gaxpy_shape_build(&need, by_columns, &s), WEIR_EBUDGET, "the least");
    need.memory = random_memory(r);
    CHECK(!wr_gaxpy_shape_build(&need, by_columns, &s));
    CHECK(s.high > 0 && s.wide > 0 && s.memory <= need.memory);
    CHECK(s.a_room >= s.high * s.deep * need.element && s.b_room >= s.deep * s.wide * need.element);
    CHECK(s.c_room >= s.high * s.wide * need.element && (s.message_room > 0) == (need.ranks > 1));
    CHECK(s.memory >= s.a_room + s.b_room + s.c_room + s.message_room + need.staged);
    CHECK((s.blocks[0] > 0) == (need.rows && need.columns));
    for (int64_t i = 0; i < s.blocks[0]; i++)
        check_span(wr_share(need.rows, i, s.blocks[0]), &row, s.high);
    for (int64_t i = 0; i < s.blocks[1]; i++)
        check_span(wr_share(need.columns, i, s.blocks[1]), &column, s.wide);
    for (int i = 0; i < need.ranks; i++)
        check_span(wr_share(need.depth, i, need.ranks), &depth, s.deep);
    CHECK(row == need.rows || !s.blocks[0]);
    CHECK(column == need.columns && depth == need.depth);
}

/* Large matrices: found at once, within memory, and not wasteful. */
static void check_large(void)
{
    wr_panel_shape s;
    wr_gaxpy_shape g;
    weir_estimate e;
    wr_panel_need need = {.rows = 8192, .columns = 8192, .depth = 8192, .element = 8};
    need.memory = 256 << 20;
    need.ranks = 2;
    CHECK(!wr_panel_shape_build(&need, &s));
    CHECK(s.deep >= 256 && s.memory <= need.memory && s.memory > need.memory / 2);
    CHECK(s.blocks[0] * s.blocks[1] <= 2);
    wr_panel_estimate(&s, &e);
    CHECK(!strcmp(e.how, "blocks of 4096 x 4096 on a grid of 1 x 2, 8 panels of 1024, 16 steps"));
    need = (wr_panel_need){INT64_C(1) << 40, 3, 1 << 20, 8, 1 << 20, 5, true};
    CHECK(!wr_panel_shape_build(&need, &s) && s.memory <= need.memory);
    need = (wr_panel_need){INT64_C(1) << 30, INT64_C(1) << 30, 7, 16, INT64_C(1) << 40, 1, false};
    CHECK(!wr_panel_shape_build(&need, &s));
    CHECK(s.high * s.wide <= need.memory / need.element);
    CHECK(!wr_gaxpy_shape_build(&need, false, &g) && g.memory <= need.memory);
    CHECK(g.high * g.wide <= need.memory / need.element);
    need.depth = INT64_C(1) << 31;
    CHECK_FAILS(wr_gaxpy_shape_build(&need, false, &g), WEIR_ERANGE, "a depth of 2147483648");
}

int main(void)
{
    uint64_t seed = test_seed();
    int64_t cases = test_cases(80, 3000);
    scene *s = calloc(1, sizeof *s);
    CHECK(s);
    for (int i = 0; i < 3; i++)
        snprintf(s->k.path[i], sizeof s->k.path[i], "matmul-%d-%d-", (int)getpid(), i);
    check_within(60);
    check_large();
    for (int64_t i = 0; i < cases; i++) {
        rng r = {seed + (uint64_t)i * UINT64_C(0x5851f42d4c957f2d)};
        check_case(i);
        check_shape(&r);
        check_gaxpy_shape(&r);
        run_case(&r, s);
    }
    run_single_rows(&(rng){seed}, s);
    wr_tunables_init(&s->tunables);
    CHECK(!wr_local_run(3, &s->tunables, refused_body, s));
    for (int i = 0; i < 3; i++)
        CHECK(!count_names(s->k.path[i]));
    free(s);
    return 0;
}
