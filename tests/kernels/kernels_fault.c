/* Faults in the middle of operators, with ranks as threads: whatever transfer of one rank fails on
 * whichever array, or whatever allocation, all ranks return the same error in time, factors are as
 * they were, and the operator works when it is tried again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array/array.h"
#include "array/naive_array.h"
#include "check.h"
#include "file/inside.h"
#include "storage/disarm.h"
#include "transport/local.h"
#include "weir/kernels.h"

enum { RANKS = 3, SIDE = 40, ARRAYS = 3, MEMORY = 24 << 10, SEVERAL = 5 };

enum deed { PANELS, GAXPY, TRANSPOSE, SHARED, DEALT, SURVEY, DEEDS };

typedef struct scene {
    enum deed deed;
    int direct;
    int faulty, victim; /* array and rank */
    char hints[200], fault[40], path[ARRAYS][100];
    int64_t fail_after; /* allocation of the victim that fails, or -1 */
    wr_tunables tunables;
    int codes[RANKS];
    bool reached;
    int64_t failed;
} scene;

static double value_at(int which, int64_t i)
{
    return which ? (double)(i % 7 - 3) : (double)(i % 11);
}

static double result_at(const scene *s, int64_t row, int64_t column)
{
    double sum = 0;
    if (s->deed == TRANSPOSE)
        return value_at(0, column * SIDE + row);
    if (s->deed == DEALT)
        return value_at(0, row * SIDE + column);
    for (int64_t k = 0; k < SIDE && s->deed == SHARED; k++)
        sum += value_at(0, k * SIDE + row);
    for (int64_t k = 0; k < SIDE && s->deed < TRANSPOSE; k++)
        sum += value_at(0, row * SIDE + k) * value_at(1, k * SIDE + column);
    return sum;
}

/* The factors. */
static void old_body(wr_transport *t, void *user)
{
    const scene *s = user;
    weir_array_info info = {.type = WEIR_F8, .dimensions = 2, .shape = {SIDE, SIDE}};
    double *value = malloc(sizeof(double[SIDE * SIDE]));
    wr_world *w;
    CHECK(value && !wr_world_open(t, &s->tunables, &w));
    for (int which = 0; which < 2; which++) {
        weir_array *a;
        for (int64_t i = 0; i < SIDE * SIDE; i++)
            value[i] = value_at(which, i);
        CHECK(!wr_array_create(w, s->path[which], &info, NULL, "", &a));
        CHECK(!weir_array_write_all(a, t->rank ? NULL : &(weir_selection){0}, NULL, value, NULL));
        CHECK(!weir_array_close(a));
    }
    free(value);
    wr_world_release(w);
}

/* No transfer of this rank fails from now on. */
static void disarm(weir_array *a)
{
    test_disarm(a->file->group.handle.storage);
}

static void enter(const scene *s, wr_world *w, weir_array **x)
{
    weir_array_info info = {.type = WEIR_F8, .dimensions = 2, .shape = {SIDE, SIDE}, .columns = 1};
    if (s->deed == SHARED)
        info.dimensions = 1;
    for (int i = 0; i < ARRAYS; i++) {
        char hints[300];
        snprintf(hints, sizeof hints, "%s;fault=%s", s->hints, i == s->faulty ? s->fault : "none");
        if (i < 2)
            CHECK(!wr_array_open(w, s->path[i], WEIR_READ, hints, &x[i]));
        else
            CHECK(!wr_array_create(w, s->path[i], &info, NULL, hints, &x[i]));
        if (w->transport->rank != s->victim)
            disarm(x[i]);
    }
}

/* Of sections by lists, which take memory of their own; which survey, by the victim. */
static int survey(const scene *s, weir_array **x, const weir_work *work)
{
    static const int64_t rows[] = {1, 1, 5, 7};
    static const double p[] = {1};
    const weir_selection of = {.index = (const int64_t *const[]){rows, NULL},
                               .count = (const int64_t[]){4, 0}};
    int64_t counts[4];
    double largest = -1;
    weir_comparison c = {0};
    weir_histogram h = {.bins = 4, .counts = counts};
    weir_quantiles q = {.quantiles = 1, .p = p, .value = &largest};
    int code;
    if (s->victim == 0) {
        code = weir_array_compare(x[0], &of, x[1], &of, &c, work);
        CHECK(code || (c.count == 4 * SIDE && c.differences > 0));
    } else if (s->victim == 1) {
        code = weir_array_histogram(x[0], &of, &h, work);
        CHECK(code || counts[0] + counts[1] + counts[2] + counts[3] == 4 * SIDE);
    } else {
        code = weir_array_quantiles(x[0], &of, &q, work);
        CHECK(code || largest == 10);
    }
    return code;
}

static int act(const scene *s, weir_array **x)
{
    const weir_work work = {.memory = s->deed >= TRANSPOSE ? 2 * MEMORY : MEMORY,
                            .direct = s->direct};
    const int along[] = {s->deed == SHARED, 0};
    if (s->deed == SURVEY)
        return survey(s, x, &work);
    if (s->deed >= SHARED)
        return weir_array_reduce_along(x[0], x[2], &(weir_reduction){.along = along}, &work);
    if (s->deed == TRANSPOSE)
        return weir_array_transpose(x[0], x[2], NULL, &work);
    return weir_array_multiply(x[0], x[1], x[2], s->deed == GAXPY ? WEIR_GAXPY : WEIR_PANELS,
                               &work);
}

static void check_result(const scene *s, weir_array *c)
{
    double *value = malloc(sizeof(double[SIDE * SIDE]));
    const int64_t width = s->deed == SHARED ? 1 : SIDE;
    CHECK(value && !weir_array_read(c, &(weir_selection){0}, NULL, value, NULL));
    for (int64_t i = 0; i < SIDE * width; i++)
        CHECK(value[i] == result_at(s, i / width, i % width));
    free(value);
}

static void rank_body(wr_transport *t, void *user)
{
    scene *s = user;
    weir_array *x[ARRAYS];
    const int rank = t->rank;
    wr_world *w;
    CHECK(!wr_world_open(t, &s->tunables, &w));
    w->process->progress.meter = wr_alloc_meter();
    enter(s, w, x);
    const int64_t before = wr_alloc_count();
    wr_alloc_fail_after(rank == s->victim ? s->fail_after : -1);
    s->codes[rank] = act(s, x);
    if (rank == s->victim)
        s->reached = s->fail_after >= 0 && wr_alloc_count() - before > s->fail_after;
    wr_alloc_fail_after(-1);
    CHECK(!s->codes[rank] || weir_error_last()->code == s->codes[rank]);
    for (int i = 0; i < ARRAYS; i++)
        disarm(x[i]);
    if (s->codes[rank])
        CHECK(!act(s, x));
    CHECK(!wr_agree(t, 0, 0));
    if (s->deed != SURVEY)
        check_result(s, x[2]);
    for (int i = 0; i < 2; i++)
        CHECK(!weir_array_close(x[i]));
    CHECK(!weir_array_discard(x[2]));
    CHECK(!wr_agree(t, 0, 0));
    wr_world_release(w);
}

static bool run_scene(scene *s)
{
    check_within(30);
    CHECK(!wr_local_run(RANKS, &s->tunables, rank_body, s));
    for (int i = 1; i < RANKS; i++)
        CHECK_EQUAL(s->codes[i], s->codes[0]);
    CHECK(s->codes[0] <= 0);
    s->failed += s->codes[0] != 0;
    return s->codes[0];
}

static void check_one(void *user, const int *choice)
{
    static const char *const faults[] = {"eio", "short"};
    scene *s = user;
    s->deed = (enum deed)choice[0];
    s->direct = choice[1];
    s->victim = choice[2];
    s->fail_after = -1;
    snprintf(s->hints, sizeof s->hints,
             "collective=always;window=%d;exchange=%s;overlap=%s;storage=%s",
             choice[5] ? 900 : 9000, choice[3] ? "p2p" : "auto", choice[4] ? "all" : "none",
             choice[5] ? "pool" : "posix");
    for (int kind = 0; kind < 2; kind++)
        for (s->faulty = 0; s->faulty < ARRAYS; s->faulty += s->deed < TRANSPOSE ? 1 : 2)
            for (int64_t k = 1, missed = 0; missed < 2 && k < 400; k += 1 + k / SEVERAL) {
                snprintf(s->fault, sizeof s->fault, "%s:%lld", faults[kind], (long long)k);
                missed = run_scene(s) ? 0 : missed + 1;
            }
    snprintf(s->fault, sizeof s->fault, "none");
    s->reached = true;
    for (s->fail_after = 0; s->reached; s->fail_after += 1 + s->fail_after / (4 * SEVERAL))
        run_scene(s);
    CHECK_EQUAL(s->codes[0], 0);
}

int main(void)
{
    rng r = {test_seed()};
    int levels[] = {DEEDS, 2, RANKS, 2, 2, 2};
    scene *s = calloc(1, sizeof *s);
    CHECK(s);
    for (int i = 0; i < ARRAYS; i++)
        snprintf(s->path[i], sizeof s->path[i], "kernels-fault-%d-%d", (int)getpid(), i);
    wr_tunables_init(&s->tunables);
    CHECK(!wr_local_run(RANKS, &s->tunables, old_body, s));
    test_pairwise(&r, 6, levels, check_one, s);
    CHECK(s->failed > 100);
    for (int i = 0; i < 2; i++)
        remove_tree(s->path[i]);
    free(s);
    return 0;
}
