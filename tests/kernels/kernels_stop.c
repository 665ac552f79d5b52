/* An operator that has failed takes part in what is left, but reads and writes no more of it; new
 * outputs get no name then, inputs do; and what is only open for reading is not written. The same
 * if the caller of one rank asks for a stop. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array/array.h"
#include "array/io_count.h"
#include "array/naive_array.h"
#include "transport/local.h"
#include "weir/kernels.h"

/* All of these take more than STEPS steps; UNDER_WAY: accesses that may be when the first fails. */
enum {
    SIDE = 200,
    MEMORY = 50 << 10,
    STEPS = 12,
    UNDER_WAY = 4,
    ARRAYS = 3,
    SMALL = 60,
    RANKS = 3
};

/* Those before REDUCE have outputs besides inputs, those before FILL inputs. */
enum deed {
    PANELS,
    GAXPY,
    TRANSPOSE,
    MEDIAN,
    RELAX,
    ALONG,
    REDUCE,
    SECTION,
    COMPARE,
    HISTOGRAM,
    QUANTILES,
    FILL,
    DEEDS
};

static const char faulty[] = "map=0;access=list;fault=eio:1";

typedef struct scene {
    enum deed deed;
    int direct;
    bool blocked;       /* outputs are not open for writing; otherwise reading fails */
    int64_t fail_after; /* allocation that fails, or -1: reading does */
    bool reached;       /* that one */
    char path[ARRAYS][100], made[ARRAYS][200];
    io_count count, counts[RANKS]; /* of the only rank; of several */
    weir_estimate estimate;
} scene;

static const bool is_output[DEEDS][ARRAYS] = {
    [PANELS] = {0, 0, 1}, [GAXPY] = {0, 0, 1}, [TRANSPOSE] = {0, 0, 1}, [MEDIAN] = {0, 0, 1},
    [RELAX] = {0, 1, 1},  [ALONG] = {0, 0, 1}, [REDUCE] = {0},          [FILL] = {0, 0, 1}};

/* Reductions have results along one dimension. */
static weir_array_info info_of(const scene *s, int which, int64_t side)
{
    return (weir_array_info){.type = WEIR_F8,
                             .dimensions = s->deed == ALONG && which == 2 ? 1 : 2,
                             .shape = {side, side}};
}

static int act(const scene *s, weir_array *const *x, const weir_work *work)
{
    weir_relaxation relaxation = {.iterations = 2};
    const int along[] = {1, 0};
    const weir_reduction reduction = {.along = along};
    weir_statistics statistics;
    const double value = 1;
    double result;
    int64_t counts[4];
    weir_comparison comparison = {0};
    weir_histogram histogram = {.bins = 4, .counts = counts};
    weir_quantiles quantiles = {.quantiles = 1, .p = &value, .value = &result};
    int last;
    switch (s->deed) {
    case PANELS:
        return weir_array_multiply(x[0], x[1], x[2], WEIR_PANELS, work);
    case GAXPY:
        return weir_array_multiply(x[0], x[1], x[2], WEIR_GAXPY, work);
    case TRANSPOSE:
        return weir_array_transpose(x[0], x[2], NULL, work);
    case MEDIAN:
        return weir_array_median(x[0], x[2], 3, work);
    case RELAX:
        return weir_array_relax(x[0], x + 1, &relaxation, work, &last);
    case ALONG:
        return weir_array_reduce_along(x[0], x[2], &reduction, work);
    case REDUCE:
        return weir_array_reduce(x[0], &statistics, work);
    case SECTION:
        return weir_array_reduce_section(x[0], NULL, &statistics, work);
    case COMPARE:
        return weir_array_compare(x[0], NULL, x[1], NULL, &comparison, work);
    case HISTOGRAM:
        return weir_array_histogram(x[0], NULL, &histogram, work);
    case QUANTILES:
        return weir_array_quantiles(x[0], NULL, &quantiles, work);
    default:
        return weir_array_fill(x[2], &value, work);
    }
}

static weir_array *make(const scene *s, wr_world *w, int which)
{
    const weir_array_info info = info_of(s, which, SIDE);
    weir_array *a;
    CHECK(!wr_array_create(w, s->path[which], &info, NULL, "", &a));
    CHECK(!weir_array_close(a));
    CHECK(!wr_array_open(w, s->path[which], s->blocked ? WEIR_READ : WEIR_READ | WEIR_WRITE,
                         which || s->blocked ? "map=0" : faulty, &a));
    return a;
}

static void rank_body(wr_transport *t, void *user)
{
    scene *s = user;
    weir_array *x[ARRAYS];
    weir_estimate e;
    wr_tunables tunables;
    wr_world *w;
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    io_count_watch(w, &s->count);
    for (int i = 0; i < ARRAYS; i++)
        x[i] = make(s, w, i);
    io_count_next(w);
    CHECK(!act(s, x, &(weir_work){.memory = MEMORY, .direct = s->direct, .estimate = &e}));
    CHECK(e.calls > STEPS);
    CHECK_FAILS(act(s, x, &(weir_work){.memory = MEMORY, .direct = s->direct}),
                s->blocked ? WEIR_EACCESS : WEIR_EIO, "");
    io_count_next(w);
    for (int i = 0; i < ARRAYS; i++) {
        CHECK(!weir_array_discard(x[i]));
        remove_tree(s->path[i]);
    }
    wr_world_release(w);
}

/* --- names --- */

/* [collective] Closes a new array, of which nothing is left then. */
static void close_new(weir_array *a, bool named)
{
    char path[200], made[200];
    snprintf(path, sizeof path, "%s", a->path);
    snprintf(made, sizeof made, "%s", a->made);
    if (named)
        CHECK(!weir_array_close(a));
    else
        CHECK_FAILS(weir_array_close(a), WEIR_EIO, "did not get its name");
    CHECK(!access(path, F_OK) == named);
    remove_tree(named ? path : made);
}

static weir_array *create(const scene *s, wr_world *w, int which, int64_t side, const char *hints)
{
    const weir_array_info info = info_of(s, which, side);
    weir_array *a;
    CHECK(!wr_array_create(w, s->path[which], &info, NULL, hints, &a));
    return a;
}

static weir_array *make_new(const scene *s, wr_world *w, int which)
{
    return create(s, w, which, SMALL, which || s->fail_after >= 0 ? "map=0;access=list" : faulty);
}

/* Inputs are new as well: they keep what was written to them. */
static void name_body(wr_transport *t, void *user)
{
    scene *s = user;
    const weir_work work = {.memory = MEMORY, .direct = s->direct};
    weir_array *x[ARRAYS];
    wr_tunables tunables;
    wr_world *w;
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    w->process->progress.meter = wr_alloc_meter();
    for (int i = 0; i < ARRAYS; i++)
        x[i] = make_new(s, w, i);
    const int64_t before = wr_alloc_count();
    wr_alloc_fail_after(s->fail_after);
    const int code = act(s, x, &work);
    s->reached = wr_alloc_count() - before > s->fail_after;
    wr_alloc_fail_after(-1);
    if (s->fail_after < 0)
        CHECK_EQUAL(code, WEIR_EIO);
    else
        CHECK(code == 0 || (code == WEIR_ENOMEM && s->reached));
    for (int i = 0; i < ARRAYS; i++)
        close_new(x[i], !code || !is_output[s->deed][i]);
    wr_world_release(w);
}

/* Numbers that do not settle are found when all was written. */
static void lost_body(wr_transport *t, void *user)
{
    const scene *s = user;
    const double value = (double)NAN;
    weir_relaxation relaxation = {.tolerance = 0.5};
    weir_array *x[ARRAYS];
    wr_tunables tunables;
    wr_world *w;
    int last;
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    for (int i = 0; i < ARRAYS; i++)
        x[i] = make_new(s, w, i);
    CHECK(!weir_array_fill(x[0], &value, NULL));
    CHECK_FAILS(weir_array_relax(x[0], x + 1, &relaxation, NULL, &last), WEIR_ERANGE, "finite");
    for (int i = 0; i < ARRAYS; i++)
        close_new(x[i], i == 0);
    wr_world_release(w);
}

static void check_names(scene *s)
{
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    for (s->deed = 0; s->deed < FILL; s->deed++)
        for (s->direct = 0; s->direct < 2; s->direct++) {
            s->reached = true;
            for (s->fail_after = -1; s->reached; s->fail_after += 1 + s->fail_after / 8) {
                check_within(60);
                CHECK(!wr_local_run(1, &tunables, name_body, s));
            }
        }
    CHECK(!wr_local_run(1, &tunables, lost_body, s));
}

/* --- stops that the caller asks for --- */

static int stop_at_once(void *user)
{
    ++*(int *)user;
    return 1;
}

/* The last rank is asked once. All arrays are new. */
static void stop_body(wr_transport *t, void *user)
{
    scene *s = user;
    const bool stops = t->rank == RANKS - 1;
    int asked = 0;
    weir_estimate e;
    weir_work work = {.memory = MEMORY, .direct = s->direct, .estimate = &e};
    weir_array *x[ARRAYS];
    wr_tunables tunables;
    wr_world *w;
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    io_count_watch(w, &s->counts[t->rank]);
    for (int i = 0; i < ARRAYS; i++)
        x[i] = create(s, w, i, SIDE, "map=0;access=list");
    io_count_next(w);
    CHECK(!act(s, x, &work));
    if (stops)
        s->estimate = e;
    work.estimate = NULL;
    work.stop = stops ? stop_at_once : NULL;
    work.user = &asked;
    CHECK_FAILS(act(s, x, &work), WEIR_EINTERRUPTED, "asked for it to stop");
    CHECK_EQUAL(asked, stops);
    io_count_next(w);
    for (int i = 0; i < ARRAYS && t->rank == 0; i++)
        snprintf(s->made[i], sizeof s->made[i], "%s", x[i]->made);
    for (int i = 0; i < ARRAYS; i++)
        if (is_output[s->deed][i])
            CHECK_FAILS(weir_array_close(x[i]), WEIR_EIO, "did not get its name");
        else
            CHECK(!weir_array_close(x[i]));
    wr_world_release(w);
}

/* Where all work together they do less than half of all; who works alone does so for itself. */
static void check_stops(scene *s)
{
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    for (s->deed = 0; s->deed < DEEDS; s->deed++)
        for (s->direct = 0; s->direct < 2; s->direct++) {
            int64_t moved = 0;
            memset(s->counts, 0, sizeof s->counts);
            check_within(60);
            CHECK(!wr_local_run(RANKS, &tunables, stop_body, s));
            for (int i = s->direct ? RANKS - 1 : 0; i < RANKS; i++)
                moved += s->counts[i].read[1].bytes + s->counts[i].write[1].bytes;
            const int64_t all = s->estimate.read + s->estimate.written;
            if (getenv("WEIR_TEST_SHOW"))
                fprintf(stderr, "deed %d, direct %d: %lld of %lld bytes before a stop\n",
                        (int)s->deed, s->direct, (long long)moved, (long long)all);
            CHECK(moved < all / (s->direct ? 2 * RANKS : 2));
            for (int i = 0; i < ARRAYS; i++) {
                CHECK(!access(s->path[i], F_OK) == !is_output[s->deed][i]);
                remove_tree(s->path[i]);
                remove_tree(s->made[i]);
            }
        }
}

/* A stop that is asked for when the operator has told that all is done, too. */
typedef struct late {
    int asked, over;
} late;

static void tell_late(void *user, int64_t done, int64_t all)
{
    ((late *)user)->over = all && done == all;
}

static int stop_late(void *user)
{
    late *l = user;
    l->asked++;
    return l->over;
}

static void late_body(wr_transport *t, void *user)
{
    scene *s = user;
    late l = {0};
    weir_work work = {.memory = MEMORY, .direct = s->direct, .user = &l};
    weir_array *x[ARRAYS];
    wr_tunables tunables;
    wr_world *w;
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    for (int i = 0; i < ARRAYS; i++)
        x[i] = create(s, w, i, SIDE, NULL);
    if (t->rank == RANKS - 1) {
        work.progress = tell_late;
        work.stop = stop_late;
    }
    CHECK_FAILS(act(s, x, &work), WEIR_EINTERRUPTED, "asked for it to stop");
    CHECK(l.asked > 1 || t->rank < RANKS - 1);
    for (int i = 0; i < ARRAYS; i++)
        CHECK(!weir_array_discard(x[i]));
    wr_world_release(w);
}

static void check_late_stops(scene *s)
{
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    for (s->deed = 0; s->deed < DEEDS; s->deed++)
        for (s->direct = 0; s->direct < 2; s->direct++) {
            check_within(60);
            CHECK(!wr_local_run(RANKS, &tunables, late_body, s));
        }
}

int main(void)
{
    wr_tunables tunables;
    scene s = {.deed = 0};
    wr_tunables_init(&tunables);
    for (int i = 0; i < ARRAYS; i++)
        snprintf(s.path[i], sizeof s.path[i], "kernels-stop-%d-%d", (int)getpid(), i);
    for (s.deed = 0; s.deed < FILL; s.deed++)
        for (s.direct = 0; s.direct < 2; s.direct++) {
            s.count = (io_count){0};
            check_within(60);
            CHECK(!wr_local_run(1, &tunables, rank_body, &s));
            if (getenv("WEIR_TEST_SHOW"))
                fprintf(stderr, "deed %d, direct %d: %lld reads, %lld writes\n", (int)s.deed,
                        s.direct, (long long)s.count.read[1].requests,
                        (long long)s.count.write[1].requests);
            CHECK(s.count.read[1].requests <= UNDER_WAY && !s.count.write[1].requests);
        }
    s.blocked = true;
    for (s.deed = 0; s.deed < REDUCE; s.deed++)
        for (s.direct = 0; s.direct < 2; s.direct++) {
            s.count = (io_count){0};
            CHECK(!wr_local_run(1, &tunables, rank_body, &s));
            CHECK(!s.count.write[1].requests);
        }
    check_names(&s);
    check_stops(&s);
    check_late_stops(&s);
    return 0;
}
