#include "kernel_scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/array_scene.h"
#include "kernel_naive.h"

/* --- making --- */

/* Numbers that a sum of does not overflow, with noise on a large one to see digits go lost. */
static void random_numbers(rng *r, naive *a, double scale, double base)
{
    for (int64_t k = 0; k < a->elements; k++) {
        double v = base + scale * (double)rng_within(r, -1000, 1000) / 1000;
        float f = (float)v;
        memcpy(a->data + k * a->element, a->element == 4 ? (void *)&f : (void *)&v,
               (size_t)a->element);
    }
}

/* Few values, many of them special, so that windows have equal ones. */
static void random_few(rng *r, naive *a)
{
    static const double special[] = {0.0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, -NAN, 2.5};
    for (int64_t k = 0; k < a->elements; k++) {
        double v = special[rng_within(r, 0, 8)];
        float f = (float)v;
        memcpy(a->data + k * a->element, a->element == 4 ? (void *)&f : (void *)&v,
               (size_t)a->element);
    }
}

static void random_values(rng *r, kernel_scene *s, naive *a)
{
    const bool real = a->info.type == WEIR_F4 || a->info.type == WEIR_F8;
    s->moderate = !real && a->info.type != WEIR_F2;
    random_elements(r, a->info.type, a->data, a->elements);
    if (real && (s->deed == RELAX || rng_chance(r, 50))) {
        random_numbers(r, a, s->deed == RELAX ? 1 : 0.01, rng_chance(r, 50) ? 0 : 1e4);
        s->moderate = true;
    } else if (real && rng_chance(r, 50)) {
        random_few(r, a);
    }
}

static bool is_complex(int type)
{
    return type == WEIR_C8 || type == WEIR_C16;
}

/* Shapes of matrices: also long, flat and empty ones, and some that are wider than a strip. */
static void random_matrix(rng *r, weir_array_info *info)
{
    int64_t most = rng_chance(r, 20) ? 400 : 40;
    info->dimensions = 2;
    info->shape[0] = rng_within(r, rng_chance(r, 5) ? 0 : 1, most);
    info->shape[1] = rng_within(r, rng_chance(r, 5) ? 0 : 1, 1 + NAIVE_MOST / (most + 1));
    if (rng_chance(r, 50)) {
        int64_t rows = info->shape[0];
        info->shape[0] = info->shape[1];
        info->shape[1] = rows;
    }
}

static void random_arrays(rng *r, kernel_scene *s)
{
    naive first;
    do
        naive_random(r, &first);
    while (is_complex(first.info.type));
    if (s->deed == RELAX)
        first.info.type = rng_chance(r, 50) ? WEIR_F4 : WEIR_F8;
    if (s->deed >= MEDIAN)
        random_matrix(r, &first.info);
    for (int i = 0; i < s->arrays; i++) {
        naive *a = &s->array[i];
        do
            naive_random(r, a);
        while (a->info.members && !first.info.dimensions);
        a->info.type = first.info.type;
        a->info.dimensions = first.info.dimensions;
        memcpy(a->info.shape, first.info.shape, sizeof a->info.shape);
        naive_cut(r, a);
        if (a->info.members) {
            random_distribution(r, &a->info, 6, &a->info.distribution);
            a->info.members = distribution_places(&a->info.distribution, a->info.dimensions);
        }
        naive_settle(a);
        s->known[i] = true;
    }
}

static void expect_relaxed(rng *r, kernel_scene *s)
{
    weir_relaxation *x = &s->relaxation;
    naive *to[] = {&s->array[1], &s->array[2]};
    *x = (weir_relaxation){.iterations = (int)rng_within(r, 1, 3), .exchange = rng_chance(r, 50)};
    if (s->array[0].elements < 200 && rng_chance(r, 50)) {
        x->tolerance = rng_chance(r, 50) ? 0.3 : 0.05;
        x->iterations = rng_chance(r, 50) ? 0 : 100;
    }
    s->latest = naive_relax(&s->array[0], to, x);
    s->known[1 + !s->latest] = x->done > 1;
}

/* Mostly small, some for which there are networks, a few for which there are none. */
static int random_window(rng *r)
{
    const int64_t half = rng_chance(r, 85) ? rng_within(r, 0, 3) : rng_within(r, 4, 20);
    return 1 + 2 * (int)half;
}

static void expect(rng *r, kernel_scene *s)
{
    naive *a = s->array;
    switch (s->deed) {
    case REDUCE:
        s->statistics = naive_reduce(a);
        return;
    case FILL:
        random_elements(r, a->info.type, s->value, 1);
        for (int64_t k = 0; k < a->elements; k++)
            memcpy(a->data + k * a->element, s->value, (size_t)a->element);
        return;
    case MEDIAN:
        s->window = random_window(r);
        naive_median(&a[0], &a[1], s->window);
        return;
    case RELAX:
        expect_relaxed(r, s);
    }
}

void kernel_scene_make(rng *r, kernel_scene *s)
{
    static const int arrays[] = {[REDUCE] = 1, [FILL] = 1, [MEDIAN] = 2, [RELAX] = 3};
    s->deed = (enum deed)rng_within(r, s->first, s->last);
    s->arrays = arrays[s->deed];
    random_arrays(r, s);
    random_values(r, s, &s->array[0]);
    expect(r, s);
    s->direct = rng_chance(r, 50);
    s->memory = rng_chance(r, 30) ? 0 : 1;
    s->spare = rng_chance(r, 40) ? 0 : rng_within(r, 0, rng_chance(r, 50) ? 500 : 20000);
    random_array_hints(r, &(hint_limits){.rings = s->rings}, s->hints, sizeof s->hints);
    snprintf(s->hints + strlen(s->hints), sizeof s->hints - strlen(s->hints), ";prefetch=%lld",
             (long long)rng_within(r, 0, 2));
    wr_tunables_init(&s->tunables);
    s->tunables.ranks_per_node = rng_chance(r, 30) ? rng_within(r, 1, 3) : 0;
}

void kernel_scene_release(kernel_scene *s)
{
    for (int i = 0; i < s->arrays; i++)
        naive_release(&s->array[i]);
}

/* --- running --- */

static void path_of(const kernel_scene *s, int i, char *out, size_t room)
{
    snprintf(out, room, "%s-%d-", s->path, i);
}

void kernel_scene_open(const kernel_scene *s, wr_world *w, weir_array **arrays)
{
    char path[200];
    const bool writes = w->transport->rank == 0;
    for (int i = 0; i < s->arrays; i++) {
        const naive *n = &s->array[i];
        weir_array_options options = naive_options(n);
        path_of(s, i, path, sizeof path);
        CHECK(!wr_array_create(w, path, &n->info, &options, "", &arrays[i]));
        if (i == 0 && s->deed != FILL)
            CHECK(!weir_array_write_all(arrays[i], writes ? &(weir_selection){0} : NULL, NULL,
                                        n->data, NULL));
        CHECK(!weir_array_close(arrays[i]));
        CHECK(!wr_array_open(w, path, WEIR_READ | WEIR_WRITE, s->hints, &arrays[i]));
    }
}

void kernel_scene_close(const kernel_scene *s, weir_array **arrays)
{
    for (int i = 0; i < s->arrays; i++)
        CHECK(!weir_array_close(arrays[i]));
}

int kernel_scene_work(kernel_scene *s, weir_array **arrays, const weir_work *work)
{
    const int rank = wr_array_transport(arrays[0])->rank;
    weir_relaxation relaxation = s->relaxation;
    int latest = -1, code = 0;
    switch (s->deed) {
    case REDUCE:
        return weir_array_reduce(arrays[0], &s->told[rank], work);
    case FILL:
        return weir_array_fill(arrays[0], s->value, work);
    case MEDIAN:
        return weir_array_median(arrays[0], arrays[1], s->window, work);
    case RELAX:
        relaxation.done = -1;
        relaxation.residual = -1;
        code = weir_array_relax(arrays[0], arrays + 1, &relaxation, work, &latest);
        if (!code && !work->estimate) {
            CHECK_EQUAL(relaxation.done, s->relaxation.done);
            CHECK(relaxation.residual == s->relaxation.residual);
            CHECK_EQUAL(latest, s->latest);
        }
    }
    return code;
}

/* Memory that just suffices is named by who has too little; one byte less does not. */
static void find_memory(kernel_scene *s, weir_array **arrays, weir_work *work)
{
    work->memory = s->memory;
    if (!s->memory)
        return;
    CHECK_FAILS(kernel_scene_work(s, arrays, work), WEIR_EBUDGET, "the least that would do is ");
    int64_t least = strtoll(strstr(weir_error_last()->text, "do is ") + 6, NULL, 10);
    work->memory = least - 1;
    CHECK_FAILS(kernel_scene_work(s, arrays, work), WEIR_EBUDGET, "the least that would do is ");
    work->memory = least + s->spare;
}

static void check_estimate(kernel_scene *s, weir_array **arrays, weir_work work)
{
    weir_estimate e = {.read = -1, .written = -1, .calls = -1, .memory = -1, .how = "nothing"};
    const int64_t bytes = s->array[0].info.bytes;
    const int64_t times =
        s->deed == RELAX && s->relaxation.iterations ? s->relaxation.iterations : 1;
    work.estimate = &e;
    CHECK(!kernel_scene_work(s, arrays, &work));
    CHECK(e.memory >= 0 && e.memory <= (work.memory ? work.memory : 64 << 20));
    CHECK_EQUAL(e.written, s->deed == REDUCE ? 0 : times * bytes);
    CHECK(s->deed == FILL ? !e.read : e.read >= times * bytes);
    CHECK(s->deed != REDUCE || e.read == bytes);
    CHECK(!bytes || e.calls > 0);
    CHECK(strstr(e.how, s->deed == RELAX ? "blocks of " : "slabs of ") == e.how);
    CHECK(strstr(e.how, " step"));
}

/* Each piece of news is later than the one before. */
typedef struct news {
    int64_t done, all;
} news;

static void on_progress(void *user, int64_t done, int64_t all)
{
    news *n = user;
    CHECK(done > n->done && (done <= all || !all));
    *n = (news){done, all};
}

void kernel_scene_run(kernel_scene *s, wr_world *w)
{
    weir_array *arrays[KERNEL_ARRAYS];
    news n = {0};
    weir_work work = {.direct = s->direct, .progress = on_progress, .user = &n};
    kernel_scene_open(s, w, arrays);
    find_memory(s, arrays, &work);
    check_estimate(s, arrays, work);
    CHECK_EQUAL(n.done, 0);
    CHECK(!kernel_scene_work(s, arrays, &work));
    kernel_scene_close(s, arrays);
}

/* --- what came of it --- */

static bool is_near(double got, double wanted, double scale)
{
    return fabs(got - wanted) <= 1e-12 * scale;
}

static void check_statistics(const kernel_scene *s, const weir_statistics *got)
{
    const weir_statistics *wanted = &s->statistics;
    const double scale = fmax(fabs(wanted->min), fabs(wanted->max));
    CHECK_EQUAL(got->count, wanted->count);
    CHECK_EQUAL(got->nans, wanted->nans);
    CHECK(got->min == wanted->min && got->max == wanted->max);
    CHECK_EQUAL(got->exact_min, wanted->exact_min);
    CHECK_EQUAL(got->exact_max, wanted->exact_max);
    if (s->moderate) {
        CHECK(is_near(got->mean, wanted->mean, scale));
        CHECK(is_near(got->deviation, wanted->deviation, scale));
    } else if (isinf(scale)) {
        CHECK(isnan(wanted->mean) ? isnan(got->mean) : got->mean == wanted->mean);
        CHECK(isnan(got->deviation));
    }
}

void kernel_scene_check(kernel_scene *s)
{
    char path[200];
    for (int i = 0; i < s->arrays; i++) {
        path_of(s, i, path, sizeof path);
        if (s->known[i])
            naive_check_files(&s->array[i], path);
    }
}

void kernel_scene_check_told(const kernel_scene *s, int rank)
{
    if (s->deed != REDUCE)
        return;
    check_statistics(s, &s->told[rank]);
}

void kernel_scene_remove(const kernel_scene *s)
{
    char path[200];
    for (int i = 0; i < s->arrays; i++) {
        path_of(s, i, path, sizeof path);
        remove_tree(path);
    }
}
