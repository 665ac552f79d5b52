/* Reductions along random dimensions of random arrays, with ranks as threads, against a loop over
 * all elements. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array/array_scene.h"
#include "format/convert.h"
#include "kernel_naive.h"
#include "transport/local.h"

enum { RANKS = 4 };

/* Of a result: what it is made of. */
typedef struct made {
    int64_t count, nans;
    uint64_t whole; /* a sum of integers */
    long double sum, min, max, squares, scale;
    bool infinite;
} made;

typedef struct scene {
    int ranks, direct, kind, skip_nans;
    int along[WEIR_MAX_DIMENSIONS];
    bool kept, swapped;
    naive from, to;
    made *made;
    bool refused; /* the least of nothing */
    int64_t memory, spare;
    char hints[600], path[2][100];
    wr_tunables tunables;
} scene;

/* --- making --- */

static bool is_float(int type)
{
    return type == WEIR_F2 || type == WEIR_F4 || type == WEIR_F8;
}

static bool is_bound(const scene *s)
{
    return s->kind == WEIR_MIN || s->kind == WEIR_MAX;
}

/* Sums of them are what they should be; some arrays have many that are special. */
static void random_values(rng *r, naive *a)
{
    static const double special[] = {0.0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, -NAN, 2.5};
    const int64_t most = rng_chance(r, 50) ? 3 : 8;
    const bool few = rng_chance(r, 50);
    random_elements(r, a->info.type, a->data, a->elements);
    if (a->info.type != WEIR_F4 && a->info.type != WEIR_F8)
        return;
    for (int64_t k = 0; k < a->elements; k++) {
        double v = few ? special[rng_within(r, 0, most)]
                       : 1e4 + 0.01 * (double)rng_within(r, -1000, 1000) / 1000;
        float f = (float)v;
        memcpy(a->data + k * a->element, a->element == 4 ? (void *)&f : (void *)&v,
               (size_t)a->element);
    }
}

/* Types that results fit are more often. */
static int random_target(rng *r, const scene *s)
{
    const int from = s->from.info.type;
    if (is_bound(s) && rng_chance(r, 50))
        return from;
    if (!is_bound(s) && (s->kind != WEIR_SUM || is_float(from)))
        return rng_chance(r, 70) ? WEIR_F8 : WEIR_F4;
    int type;
    do
        type = (int)rng_within(r, WEIR_BOOL, WEIR_F8);
    while (type == WEIR_F2);
    return type;
}

/* Any form that has this shape. */
static void random_form(rng *r, naive *a, const weir_array_info *like)
{
    do
        naive_random(r, a);
    while (a->info.members && !like->dimensions);
    a->info.type = like->type;
    a->info.dimensions = like->dimensions;
    memcpy(a->info.shape, like->shape, sizeof a->info.shape);
    naive_cut(r, a);
    if (a->info.members) {
        random_distribution(r, &a->info, 6, &a->info.distribution);
        a->info.members = distribution_places(&a->info.distribution, a->info.dimensions);
    }
    naive_settle(a);
}

static void random_shape(rng *r, weir_array_info *info)
{
    if (!rng_chance(r, 30))
        return;
    info->dimensions = 2; /* long or flat */
    info->shape[0] = rng_within(r, 1, rng_chance(r, 50) ? 4 : 900);
    info->shape[1] = rng_within(r, 1, wr_max(1, 2000 / info->shape[0]));
}

static void random_arrays(rng *r, scene *s)
{
    weir_array_info to = {0};
    naive first;
    do
        naive_random(r, &first);
    while (first.info.type == WEIR_C8 || first.info.type == WEIR_C16);
    random_shape(r, &first.info);
    random_form(r, &s->from, &first.info);
    random_values(r, &s->from);
    s->kept = rng_chance(r, 30);
    for (int d = 0; d < first.info.dimensions; d++) {
        s->along[d] = rng_chance(r, 50);
        if (s->kept || !s->along[d])
            to.shape[to.dimensions++] = s->along[d] ? 1 : first.info.shape[d];
    }
    to.type = random_target(r, s);
    random_form(r, &s->to, &to);
}

/* Which result an element belongs to. */
static int64_t result_of(const scene *s, int64_t k)
{
    int64_t index[WEIR_MAX_DIMENSIONS], at[WEIR_MAX_DIMENSIONS];
    int n = 0;
    naive_index(&s->from, k, index);
    for (int d = 0; d < s->from.info.dimensions; d++)
        if (s->kept || !s->along[d])
            at[n++] = s->along[d] ? 0 : index[d];
    return naive_number(&s->to, at);
}

static void expect(scene *s)
{
    const int type = s->from.info.type;
    s->made = calloc((size_t)s->to.elements + 1, sizeof *s->made);
    CHECK(s->made);
    for (int64_t k = 0; k < s->from.elements; k++) {
        made *m = &s->made[result_of(s, k)];
        const long double v = naive_value(type, s->from.data + k * s->from.element);
        m->nans += v != v;
        if (v != v)
            continue;
        m->min = m->count && m->min < v ? m->min : v;
        m->max = m->count && m->max > v ? m->max : v;
        m->scale = fmaxl(m->scale, fabsl(v));
        m->infinite = m->infinite || isinf(v);
        m->sum += v;
        if (!is_float(type))
            m->whole += v < 0 ? (uint64_t)(int64_t)v : (uint64_t)v;
        m->count++;
    }
    for (int64_t k = 0; k < s->from.elements; k++) {
        made *m = &s->made[result_of(s, k)];
        const long double v = naive_value(type, s->from.data + k * s->from.element);
        const long double distance = v - m->sum / (long double)m->count;
        m->squares += v != v ? 0 : distance * distance;
    }
    s->refused = is_bound(s) && !s->from.elements && s->to.elements;
}

static void make(rng *r, scene *s)
{
    s->kind = (int)rng_within(r, WEIR_SUM, WEIR_DEVIATION);
    s->skip_nans = rng_chance(r, 50);
    random_arrays(r, s);
    expect(s);
    s->direct = rng_chance(r, 50);
    s->swapped = rng_chance(r, 20);
    s->memory = rng_chance(r, 30) ? 0 : 1;
    s->spare = rng_chance(r, 15) ? 0 : rng_within(r, 0, rng_chance(r, 30) ? 2000 : 40000);
    random_array_hints(r, &(hint_limits){0}, s->hints, sizeof s->hints);
    wr_tunables_init(&s->tunables);
    s->tunables.ranks_per_node = rng_chance(r, 30) ? rng_within(r, 1, 3) : 0;
}

/* --- running --- */

static weir_array *enter(const scene *s, wr_world *w, int which)
{
    naive *n = (naive *)(which ? &s->to : &s->from);
    weir_array_options options = naive_options(n);
    weir_array *a;
    const bool writes = !which && w->transport->rank == 0;
    CHECK(!wr_array_create(w, s->path[which], &n->info, &options, "", &a));
    CHECK(!weir_array_write_all(a, writes ? &(weir_selection){0} : NULL, NULL, n->data, NULL));
    CHECK(!weir_array_close(a));
    if (s->swapped && w->transport->rank == 0)
        naive_swap_files(n, s->path[which]);
    CHECK(!wr_agree(w->transport, 0, 0));
    CHECK(!wr_array_open(w, s->path[which], WEIR_READ | WEIR_WRITE, s->hints, &a));
    return a;
}

static int act(const scene *s, weir_array *const *x, const weir_work *work)
{
    const weir_reduction reduction = {
        .kind = s->kind, .along = s->along, .skip_nans = s->skip_nans};
    return weir_array_reduce_along(x[0], x[1], &reduction, work);
}

static void find_memory(const scene *s, weir_array *const *x, weir_work *work)
{
    work->memory = s->memory;
    if (!s->memory)
        return;
    CHECK_FAILS(act(s, x, work), WEIR_EBUDGET, "the least that would do is ");
    const int64_t least = strtoll(strstr(weir_error_last()->text, "do is ") + 6, NULL, 10);
    work->memory = least - 1;
    CHECK_FAILS(act(s, x, work), WEIR_EBUDGET, "the least that would do is ");
    work->memory = least + s->spare;
}

static void check_estimate(const scene *s, weir_array *const *x, weir_work work)
{
    weir_estimate e;
    work.estimate = &e;
    CHECK(!act(s, x, &work));
    CHECK(e.memory >= 0 && e.memory <= (work.memory ? work.memory : 64 << 20));
    CHECK_EQUAL(e.read, s->from.info.bytes);
    CHECK_EQUAL(e.written, s->to.info.bytes);
    CHECK(!e.written || e.calls > 0);
    CHECK(strstr(e.how, "slabs of ") == e.how && strstr(e.how, " step"));
}

static void on_progress(void *user, int64_t done, int64_t all)
{
    int64_t *last = user;
    CHECK(done == *last + 1 && done <= all);
    *last = done;
}

static void rank_body(wr_transport *t, void *user)
{
    scene *s = user;
    int64_t last = 0;
    weir_work work = {.direct = s->direct, .progress = on_progress, .user = &last};
    wr_world *w;
    CHECK(!wr_world_open(t, &s->tunables, &w));
    weir_array *x[] = {enter(s, w, 0), enter(s, w, 1)};
    if (s->refused) {
        CHECK_FAILS(act(s, x, &work), WEIR_EINVAL, "no elements");
    } else {
        find_memory(s, x, &work);
        check_estimate(s, x, work);
        CHECK(!act(s, x, &work));
        const bool reads = t->rank == 0;
        CHECK(!weir_array_read_all(x[1], reads ? &(weir_selection){0} : NULL, NULL, s->to.data,
                                   NULL));
    }
    for (int i = 0; i < 2; i++)
        CHECK(!weir_array_close(x[i]));
    wr_world_release(w);
}

/* --- what came of it --- */

static long double wanted_of(const scene *s, const made *m)
{
    const int64_t count = s->skip_nans || !m->nans ? m->count : 0;
    if (s->kind == WEIR_SUM && !m->nans)
        return m->sum;
    if (s->kind == WEIR_SUM && s->skip_nans)
        return m->sum;
    if (!count)
        return (long double)NAN;
    switch (s->kind) {
    case WEIR_MEAN:
        return m->sum / (long double)count;
    case WEIR_MIN:
        return m->min;
    case WEIR_MAX:
        return m->max;
    default:
        return m->infinite ? (long double)NAN : sqrtl(m->squares / (long double)count);
    }
}

/* Of integers: the same bits in i8 and u8. */
static uint64_t whole_of(const scene *s, const made *m)
{
    const long double v = s->kind == WEIR_MIN ? m->min : m->max;
    if (s->kind == WEIR_SUM)
        return m->whole;
    return v < 0 ? (uint64_t)(int64_t)v : (uint64_t)v;
}

/* Results that are exact: what becomes of them in the target's type, but for signs of zeros. */
static bool is_exact(const scene *s, const made *m, const char *got)
{
    const int from = s->from.info.type, to = s->to.info.type;
    long double is = naive_value(to, got), should = wanted_of(s, m);
    double real = (double)should;
    uint64_t whole = is_float(from) ? 0 : whole_of(s, m);
    char wanted[16] = {0};
    if (to != WEIR_F2) {
        const wr_elements out = {to, wanted, 16};
        if (is_float(from))
            wr_convert(&(wr_elements){WEIR_F8, &real, 8}, &out, 1);
        else
            wr_convert(&(wr_elements){from == WEIR_U8 ? WEIR_U8 : WEIR_I8, &whole, 8}, &out, 1);
        should = naive_value(to, wanted);
    }
    return is == should || (is != is && should != should);
}

static bool is_near(const scene *s, const made *m, const char *got)
{
    const long double v = wanted_of(s, m), is = naive_value(s->to.info.type, got);
    const long double digits = s->to.info.type == WEIR_F4 ? 1e-6L : 1e-12L;
    if (v != v || isinf(v))
        return v != v ? is != is : is == v;
    const long double scale = s->kind == WEIR_SUM ? m->scale * (long double)m->count : m->scale;
    return fabsl(is - v) <= digits * scale;
}

static void check_results(const scene *s)
{
    const bool exact = is_bound(s) || (s->kind == WEIR_SUM && !is_float(s->from.info.type));
    for (int64_t k = 0; k < s->to.elements && !s->refused; k++) {
        const char *got = s->to.data + k * s->to.element;
        CHECK(exact ? is_exact(s, &s->made[k], got) : is_near(s, &s->made[k], got));
    }
}

/* --- what is refused --- */

/* Of 3 x 5 elements, or of so many in a row. */
static weir_array *create(wr_world *w, const char *path, int type, int64_t count)
{
    weir_array_info info = {.type = type, .dimensions = count ? 1 : 2, .shape = {3, 5}};
    weir_array *a;
    if (count)
        info.shape[0] = count;
    CHECK(!wr_array_create(w, path, &info, NULL, "", &a));
    return a;
}

static void check_refused(weir_array *from, weir_array *to, weir_reduction r, const char *text)
{
    weir_estimate e = {.read = -1};
    CHECK_FAILS(weir_array_reduce_along(from, to, &r, NULL), WEIR_EINVAL, text);
    CHECK_FAILS(weir_array_reduce_along(from, to, &r, &(weir_work){.estimate = &e}), WEIR_EINVAL,
                text);
    CHECK_EQUAL(e.read, -1);
}

static void refusal_body(wr_transport *t, void *user)
{
    const scene *s = user;
    const int along[] = {0, 1};
    const weir_reduction sum = {.along = along};
    wr_world *w;
    CHECK(!wr_world_open(t, &s->tunables, &w));
    weir_array *from = create(w, s->path[0], WEIR_F8, 0);
    static const struct {
        int type;
        int64_t count;
        const char *text;
    } targets[] = {{WEIR_F2, 3, "cannot become f2"},
                   {WEIR_C16, 3, "cannot become c16"},
                   {WEIR_F8, 5, "has not the shape"}};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        weir_array *to = create(w, s->path[1], targets[i].type, targets[i].count);
        check_refused(from, to, sum, targets[i].text);
        CHECK(!weir_array_discard(to));
    }
    weir_array *to = create(w, s->path[1], WEIR_F8, 3);
    check_refused(from, from, sum, "source and target");
    check_refused(from, to, (weir_reduction){.along = NULL}, "along which");
    check_refused(from, to, (weir_reduction){.along = along, .kind = 9}, "no kind 9");
    check_refused(from, to, (weir_reduction){.along = along, .reserved = {1}}, "weir_reduction");
    check_refused(to, from, sum, "dimensions");
    CHECK(!weir_array_discard(to));
    CHECK(!weir_array_discard(from));
    wr_world_release(w);
}

int main(void)
{
    const uint64_t seed = test_seed();
    const int64_t cases = test_cases(50, 5000);
    scene *s = calloc(1, sizeof *s);
    CHECK(s);
    for (int i = 0; i < 2; i++)
        snprintf(s->path[i], sizeof s->path[i], "along-%d-%d-", (int)getpid(), i);
    wr_tunables_init(&s->tunables);
    CHECK(!wr_local_run(1, &s->tunables, refusal_body, s));
    for (int64_t i = 0; i < cases; i++) {
        rng r = {seed + (uint64_t)i * UINT64_C(0x5851f42d4c957f2d)};
        check_case(i);
        s->ranks = (int)rng_within(&r, 1, RANKS);
        make(&r, s);
        if (getenv("WEIR_TEST_SHOW"))
            fprintf(stderr,
                    "%lld: kind %d, type %d to %d, %d ranks, %d dimensions, direct %d, %s\n",
                    (long long)i, s->kind, s->from.info.type, s->to.info.type, s->ranks,
                    s->from.info.dimensions, s->direct, s->hints);
        check_within(120);
        CHECK(!wr_local_run(s->ranks, &s->tunables, rank_body, s));
        check_results(s);
        for (int k = 0; k < 2; k++)
            remove_tree(s->path[k]);
        naive_release(&s->from);
        naive_release(&s->to);
        free(s->made);
    }
    free(s);
    return 0;
}
