/* What random scenes do not show of statistics: numbers whose sums and squares no double holds, and
 * zeros with a sign. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "array/array.h"
#include "array/naive_array.h"
#include "transport/local.h"
#include "weir/kernels.h"

enum { RANKS = 3, COUNT = 50000, MEMORY = 64 << 10 };

static char path[100];

typedef double (*rule)(int64_t i);

/* What all ranks are told about an array. */
static weir_statistics measure(wr_world *w, rule value, int64_t memory)
{
    const weir_array_info info = {.type = WEIR_F8, .dimensions = 1, .shape = {COUNT}};
    weir_array *a;
    weir_statistics s;
    double *x = malloc(sizeof(double[COUNT]));
    CHECK(x && !wr_array_create(w, path, &info, NULL, "", &a));
    for (int64_t i = 0; i < COUNT; i++)
        x[i] = value(i);
    const bool writes = w->transport->rank == 0;
    CHECK(!weir_array_write_all(a, writes ? &(weir_selection){0} : NULL, NULL, x, NULL));
    CHECK(!weir_array_reduce(a, &s, &(weir_work){.memory = memory}));
    CHECK(!weir_array_discard(a));
    free(x);
    return s;
}

static bool is_near(double x, double wanted)
{
    return fabs(x / wanted - 1) < 1e-12;
}

static double large(int64_t i)
{
    return i % 2 ? 1e306 : 3e306;
}

static double largest(int64_t i)
{
    (void)i;
    return DBL_MAX;
}

static double extreme(int64_t i)
{
    return i < COUNT / 2 ? -DBL_MAX : DBL_MAX;
}

/* No block and, in the beginning, no rank has both. */
static double mixed(int64_t i)
{
    return i < COUNT / 2 ? 1 : 1e200;
}

static double infinite(int64_t i)
{
    return i == 4711 ? (double)INFINITY : 1e306;
}

/* Of each slab's beginning the sign is another. */
static double zero(int64_t i)
{
    return i < COUNT / 2 ? -0.0 : 0.0;
}

static double minus_zero(int64_t i)
{
    return -zero(i);
}

static void check_large(wr_world *w, int64_t memory)
{
    weir_statistics s = measure(w, large, memory);
    CHECK(is_near(s.mean, 2e306) && is_near(s.deviation, 1e306));
    s = measure(w, largest, memory);
    CHECK(s.mean == DBL_MAX && s.deviation < DBL_MAX * 1e-12);
    s = measure(w, extreme, memory);
    CHECK(fabs(s.mean) < DBL_MAX * 1e-12 && is_near(s.deviation, DBL_MAX));
    s = measure(w, mixed, memory);
    CHECK(is_near(s.mean, 0.5e200) && is_near(s.deviation, 0.5e200));
    s = measure(w, infinite, memory);
    CHECK(isinf(s.mean) && s.mean > 0 && isnan(s.deviation));
}

static void check_zero(wr_world *w, int64_t memory)
{
    weir_statistics s = measure(w, zero, memory), t = measure(w, minus_zero, memory);
    CHECK(s.min == 0 && s.max == 0 && t.min == 0 && t.max == 0);
    CHECK(!signbit(s.min) && !signbit(s.max) && !signbit(t.min) && !signbit(t.max));
}

static void rank_body(wr_transport *t, void *user)
{
    wr_world *w;
    CHECK(!wr_world_open(t, user, &w));
    for (int64_t memory = 0; memory <= MEMORY; memory += MEMORY) {
        check_large(w, memory);
        check_zero(w, memory);
    }
    wr_world_release(w);
}

int main(void)
{
    wr_tunables tunables;
    snprintf(path, sizeof path, "reduce-unit-%d", (int)getpid());
    wr_tunables_init(&tunables);
    check_within(60);
    CHECK(!wr_local_run(1, &tunables, rank_body, &tunables));
    CHECK(!wr_local_run(RANKS, &tunables, rank_body, &tunables));
    return 0;
}
