/* Slab loops over random arrays with ranks as threads: what is handed out is right with its halo,
 * every element is written once, and what is left early is left as it was. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array_scene.h"
#include "transport/local.h"

enum { MOST = 3, RANKS = 5 };

typedef struct scene {
    int ranks, inputs, outputs;
    naive array[2 * MOST]; /* inputs, then outputs */
    char *fresh[MOST];     /* what is written to outputs, by rows */
    bool in_place;         /* the first output is the first input */
    weir_slabs_options options;
    int64_t leave[RANKS]; /* slabs after which a rank leaves; -1: it does not */
    char hints[600], path[100];
    wr_tunables tunables;
    _Atomic int *given, *through; /* how often elements were handed out; and computed */
} scene;

/* Slabs are told of in this order. */
typedef struct told {
    int64_t done, all, calls;
} told;

static void path_of(const scene *s, int i, char *out, size_t room)
{
    snprintf(out, room, "%s-%d-", s->path, s->in_place && i == s->inputs ? 0 : i);
}

static void random_shape(rng *r, scene *s)
{
    naive first;
    naive_random(r, &first);
    for (int i = 0; i < s->inputs + s->outputs; i++) {
        naive *a = &s->array[i];
        do
            naive_random(r, a);
        while (a->info.members && !first.info.dimensions);
        a->info.dimensions = first.info.dimensions;
        memcpy(a->info.shape, first.info.shape, sizeof a->info.shape);
        naive_cut(r, a);
        if (a->info.members) {
            random_distribution(r, &a->info, 6, &a->info.distribution);
            a->info.members = distribution_places(&a->info.distribution, a->info.dimensions);
        }
        if (s->in_place && i == s->inputs)
            *a = s->array[0];
        naive_settle(a);
        random_elements(r, a->info.type, a->data, a->elements);
        if (s->in_place && i == s->inputs)
            memcpy(a->data, s->array[0].data, (size_t)a->info.bytes);
    }
    for (int i = 0; i < s->outputs; i++) {
        const naive *a = &s->array[s->inputs + i];
        s->fresh[i] = malloc((size_t)a->info.bytes + 1);
        CHECK(s->fresh[i]);
        random_elements(r, a->info.type, s->fresh[i], a->elements);
    }
}

static void random_options(rng *r, scene *s)
{
    weir_slabs_options *o = &s->options;
    *o = (weir_slabs_options){.inputs = s->inputs, .outputs = s->outputs};
    for (int d = 0; d < s->array[0].info.dimensions; d++) {
        bool halo = !s->in_place && rng_chance(r, 50);
        o->halo[d] = halo ? rng_within(r, 0, rng_chance(r, 80) ? 2 : 20) : 0;
        o->block[d] = rng_chance(r, 30) ? rng_within(r, 1, 5) : 0;
    }
    o->deal = rng_chance(r, 40);
    o->together = rng_chance(r, 40);
    o->memory = rng_chance(r, 30) ? 0 : 1; /* 1: the least that does, and a little */
    for (int i = 0; i < s->ranks; i++)
        s->leave[i] = rng_chance(r, 15) ? rng_within(r, 0, 4) : -1;
}

static void random_scene(rng *r, scene *s)
{
    s->ranks = (int)rng_within(r, 1, RANKS);
    s->inputs = (int)rng_within(r, 0, MOST);
    s->outputs = (int)rng_within(r, s->inputs ? 0 : 1, MOST);
    s->in_place = s->inputs && s->outputs && rng_chance(r, 30);
    random_shape(r, s);
    random_options(r, s);
    random_array_hints(r, &(hint_limits){0}, s->hints, sizeof s->hints);
    snprintf(s->hints + strlen(s->hints), sizeof s->hints - strlen(s->hints), ";prefetch=%lld",
             (long long)rng_within(r, 0, 3));
    wr_tunables_init(&s->tunables);
    s->tunables.ranks_per_node = rng_chance(r, 30) ? rng_within(r, 1, 3) : 0;
    s->given = calloc((size_t)s->array[0].elements + 1, sizeof *s->given);
    s->through = calloc((size_t)s->array[0].elements + 1, sizeof *s->through);
    CHECK(s->given && s->through);
}

static weir_array *make(const scene *s, int i, wr_world *w)
{
    char path[200];
    weir_array *a;
    const naive *n = &s->array[i];
    path_of(s, i, path, sizeof path);
    if (!(s->in_place && i == s->inputs)) {
        weir_array_options options = naive_options(n);
        CHECK(!wr_array_create(w, path, &n->info, &options, "", &a));
        CHECK(!weir_array_write_all(a, w->transport->rank ? NULL : &(weir_selection){0}, NULL,
                                    n->data, NULL));
        CHECK(!weir_array_close(a));
    }
    CHECK(!wr_array_open(w, path, WEIR_READ | WEIR_WRITE, s->hints, &a));
    return a;
}

/* --- one slab --- */

/* The next index of a box, the last dimension fastest; false after the last one. */
static bool step(int dimensions, const int64_t *lo, const int64_t *hi, int64_t *index)
{
    for (int d = dimensions - 1; d >= 0; d--) {
        if (++index[d] < hi[d])
            return true;
        index[d] = lo[d];
    }
    return false;
}

static int64_t place_of(int dimensions, const int64_t *index, const int64_t *lo,
                        const int64_t *stride)
{
    int64_t place = 0;
    for (int d = 0; d < dimensions; d++)
        place += (index[d] - lo[d]) * stride[d];
    return place;
}

static void check_input(const scene *s, const weir_slab *slab, int i)
{
    const naive *a = &s->array[i];
    int64_t index[WEIR_MAX_DIMENSIONS];
    memcpy(index, slab->in_lo, sizeof index);
    do {
        const char *at = slab->in[i];
        at += place_of(a->info.dimensions, index, slab->lo, slab->in_stride) * a->element;
        CHECK(!memcmp(at, a->data + naive_number(a, index) * a->element, (size_t)a->element));
    } while (step(a->info.dimensions, slab->in_lo, slab->in_hi, index));
}

static void fill_output(const scene *s, const weir_slab *slab, int i)
{
    const naive *a = &s->array[s->inputs + i];
    int64_t index[WEIR_MAX_DIMENSIONS];
    memcpy(index, slab->lo, sizeof index);
    do {
        char *at = slab->out[i];
        at += place_of(a->info.dimensions, index, slab->lo, slab->out_stride) * a->element;
        memcpy(at, s->fresh[i] + naive_number(a, index) * a->element, (size_t)a->element);
    } while (step(a->info.dimensions, slab->lo, slab->hi, index));
}

static void count_slab(const scene *s, const weir_slab *slab, _Atomic int *counts)
{
    const naive *a = &s->array[0];
    int64_t index[WEIR_MAX_DIMENSIONS];
    memcpy(index, slab->lo, sizeof index);
    do
        counts[naive_number(a, index)]++;
    while (step(a->info.dimensions, slab->lo, slab->hi, index));
}

/* The halo is what was asked for, as far as the array goes. */
static void check_bounds(const scene *s, const weir_slab *slab)
{
    const weir_array_info *info = &s->array[0].info;
    for (int d = 0; d < info->dimensions; d++) {
        int64_t halo = s->options.halo[d], lo = slab->lo[d] - halo, hi = slab->hi[d] + halo;
        CHECK(slab->lo[d] >= 0 && slab->lo[d] < slab->hi[d] && slab->hi[d] <= info->shape[d]);
        CHECK_EQUAL(slab->in_lo[d], lo < 0 ? 0 : lo);
        CHECK_EQUAL(slab->in_hi[d], hi > info->shape[d] ? info->shape[d] : hi);
        CHECK(!s->options.block[d] || slab->hi[d] - slab->lo[d] <= s->options.block[d]);
    }
}

static void on_progress(void *user, int64_t done, int64_t all)
{
    told *t = user;
    CHECK(done > t->done && done <= all && (!t->calls || all == t->all));
    *t = (told){done, all, t->calls + 1};
}

/* --- the loop --- */

/* Memory that just suffices is named by who has too little; one byte less does not. */
static void find_memory(weir_slabs_options *o, rng *r)
{
    weir_slabs *slabs;
    if (!o->memory)
        return;
    CHECK_FAILS(weir_slabs_begin(o, &slabs), WEIR_EBUDGET, "the least that would do is ");
    const char *least = strstr(weir_error_last()->text, "do is ");
    int64_t memory = strtoll(least + 6, NULL, 10);
    o->memory = memory - 1;
    CHECK_FAILS(weir_slabs_begin(o, &slabs), WEIR_EBUDGET, "the least that would do is ");
    o->memory = -memory;
    CHECK_FAILS(weir_slabs_begin(o, &slabs), WEIR_EINVAL, "a slab loop with -");
    o->memory = memory + (rng_chance(r, 50) ? 0 : rng_within(r, 0, 20000));
}

static void walk(scene *s, weir_slabs_options *o, int64_t leave)
{
    weir_slabs *slabs;
    weir_slab slab, last;
    told t = {0};
    int64_t k = 0;
    int more = 0;
    o->progress = on_progress;
    o->user = &t;
    CHECK(!weir_slabs_begin(o, &slabs));
    while (k != leave && (more = weir_slabs_next(slabs, &slab)) == 1) {
        if (k++)
            count_slab(s, &last, s->through);
        check_bounds(s, &slab);
        count_slab(s, &slab, s->given);
        for (int i = 0; i < s->inputs; i++)
            check_input(s, &slab, i);
        for (int i = 0; i < s->outputs; i++)
            fill_output(s, &slab, i);
        last = slab;
    }
    if (k != leave) {
        CHECK_EQUAL(more, 0);
        CHECK_EQUAL(t.calls, k);
        CHECK_EQUAL(t.done, t.all);
        if (k)
            count_slab(s, &last, s->through);
    }
    CHECK(!weir_slabs_end(slabs));
    CHECK(t.done <= t.all);
}

static void rank_body(wr_transport *t, void *user)
{
    scene *s = user;
    wr_world *w;
    weir_array *array[2 * MOST];
    weir_slabs_options o = s->options;
    rng r = {17};
    CHECK(!wr_world_open(t, &s->tunables, &w));
    for (int i = 0; i < s->inputs + s->outputs; i++)
        if (s->in_place && i == s->inputs)
            array[i] = array[0];
        else
            array[i] = make(s, i, w);
    o.input = array;
    o.output = array + s->inputs;
    find_memory(&o, &r);
    walk(s, &o, s->leave[t->rank]);
    for (int i = 0; i < s->inputs + s->outputs; i++)
        if (!(s->in_place && i == s->inputs))
            CHECK(!weir_array_close(array[i]));
    wr_world_release(w);
}

/* --- what came of it --- */

static void check_scene(scene *s)
{
    bool left = false;
    for (int i = 0; i < s->ranks; i++)
        left = left || s->leave[i] >= 0;
    for (int64_t k = 0; k < s->array[0].elements; k++) {
        CHECK(s->given[k] == 1 || (left && !s->given[k]));
        CHECK(s->through[k] == s->given[k] || left);
    }
    for (int i = s->outputs - 1; i >= 0; i--) {
        naive *a = &s->array[s->inputs + i];
        for (int64_t k = 0; k < a->elements; k++)
            if (s->through[k])
                memcpy(a->data + k * a->element, s->fresh[i] + k * a->element, (size_t)a->element);
        if (s->in_place && i == 0)
            memcpy(s->array[0].data, a->data, (size_t)a->info.bytes);
    }
    for (int i = 0; i < s->inputs + s->outputs; i++) {
        char path[200];
        path_of(s, i, path, sizeof path);
        naive_check_files(&s->array[i], path);
    }
}

static void forget(scene *s)
{
    for (int i = 0; i < s->inputs + s->outputs; i++) {
        char path[200];
        path_of(s, i, path, sizeof path);
        remove_tree(path);
        naive_release(&s->array[i]);
    }
    for (int i = 0; i < s->outputs; i++)
        free(s->fresh[i]);
    free((void *)s->given);
    free((void *)s->through);
}

int main(void)
{
    uint64_t seed = test_seed();
    int64_t cases = test_cases(100, 3000);
    scene *s = calloc(1, sizeof *s);
    CHECK(s);
    snprintf(s->path, sizeof s->path, "slabs-test-%d", (int)getpid());
    for (int64_t i = 0; i < cases; i++) {
        rng r = {seed + (uint64_t)i * UINT64_C(0x5851f42d4c957f2d)};
        check_case(i);
        random_scene(&r, s);
        if (getenv("WEIR_TEST_SHOW"))
            fprintf(stderr, "%lld: %d ranks, %d and %d arrays, deal %d, together %d, %s\n",
                    (long long)i, s->ranks, s->inputs, s->outputs, s->options.deal,
                    s->options.together, s->hints);
        check_within(60);
        CHECK(!wr_local_run(s->ranks, &s->tunables, rank_body, s));
        check_scene(s);
        forget(s);
    }
    free(s);
    return 0;
}
