/* Copies between arrays of all forms, orders and types, with budgets from the least on, and ranks
 * as threads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array_scene.h"
#include "format/convert.h"
#include "transport/local.h"
#include "weir/kernels.h"

enum { RANKS = 7 };

typedef struct scene {
    int ranks;
    naive from, to;
    int64_t memory; /* 1: the least that does */
    char hints[2][600], path[2][100];
    wr_tunables tunables;
} scene;

/* Too little is refused, naming what does. */
static int64_t find_memory(weir_array *from, weir_array *to)
{
    CHECK_FAILS(weir_array_copy(from, to, 1), WEIR_EBUDGET, "the least that would do is ");
    int64_t least = strtoll(strstr(weir_error_last()->text, "do is ") + 6, NULL, 10);
    CHECK_FAILS(weir_array_copy(from, to, least - 1), WEIR_EBUDGET, "the least");
    return least;
}

static void rank_body(wr_transport *t, void *user)
{
    scene *s = user;
    weir_array *from, *to;
    wr_world *w;
    weir_array_options from_options = naive_options(&s->from), to_options = naive_options(&s->to);
    CHECK(!wr_world_open(t, &s->tunables, &w));
    CHECK(!wr_array_create(w, s->path[0], &s->from.info, &from_options, "", &from));
    CHECK(!weir_array_write_all(from, t->rank ? NULL : &(weir_selection){0}, NULL, s->from.data,
                                NULL));
    CHECK(!weir_array_close(from));
    if (t->rank == 0 && s->memory % 3 == 0)
        naive_swap_files(&s->from, s->path[0]);
    CHECK(!wr_agree(t, 0, 0));
    CHECK(!wr_array_open(w, s->path[0], WEIR_READ, s->hints[0], &from));
    CHECK(!wr_array_create(w, s->path[1], &s->to.info, &to_options, s->hints[1], &to));
    int64_t memory = s->memory == 1 ? find_memory(from, to) : s->memory;
    CHECK(!weir_array_copy(from, to, memory));
    CHECK(!weir_array_close(from));
    CHECK(!weir_array_close(to));
    wr_world_release(w);
}

static void random_target(rng *r, scene *s)
{
    naive *to = &s->to;
    naive_random(r, to);
    to->info.dimensions = s->from.info.dimensions;
    memcpy(to->info.shape, s->from.info.shape, sizeof to->info.shape);
    naive_cut(r, to);
    if (to->info.members) {
        random_distribution(r, &to->info, 9, &to->info.distribution);
        to->info.members = distribution_places(&to->info.distribution, to->info.dimensions);
    }
    if (wr_convert_check(s->from.info.type, to->info.type) || rng_chance(r, 50))
        to->info.type = s->from.info.type;
    naive_settle(to);
}

static void run_case(rng *r, scene *s)
{
    s->ranks = (int)rng_within(r, 1, RANKS);
    naive_random(r, &s->from);
    naive_settle(&s->from);
    random_elements(r, s->from.info.type, s->from.data, s->from.elements);
    random_target(r, s);
    s->memory = rng_chance(r, 40) ? 1 : rng_chance(r, 50) ? 0 : rng_within(r, 30000, 100000);
    for (int i = 0; i < 2; i++)
        random_array_hints(r, &(hint_limits){0}, s->hints[i], sizeof s->hints[i]);
    wr_tunables_init(&s->tunables);
    s->tunables.ranks_per_node = rng_chance(r, 30) ? rng_within(r, 1, 3) : 0;
    check_within(60);
    CHECK(!wr_local_run(s->ranks, &s->tunables, rank_body, s));
    for (int64_t i = 0; i < s->from.elements; i++)
        if (s->from.info.type == s->to.info.type)
            memcpy(s->to.data + i * s->to.element, s->from.data + i * s->from.element,
                   (size_t)s->to.element);
        else
            wr_convert(&(wr_elements){s->from.info.type, s->from.data + i * s->from.element, 0},
                       &(wr_elements){s->to.info.type, s->to.data + i * s->to.element, 0}, 1);
    naive_check_files(&s->from, s->path[0]);
    naive_check_files(&s->to, s->path[1]);
    for (int i = 0; i < 2; i++)
        remove_tree(s->path[i]);
    naive_release(&s->from);
    naive_release(&s->to);
}

/* Shapes that differ, and types that do not convert, are refused on all ranks; nothing changes. */
static void refused_body(wr_transport *t, void *user)
{
    const scene *s = user;
    weir_array_info info = {.type = WEIR_C8, .dimensions = 1, .shape = {7}};
    weir_array *a, *b, *c;
    wr_world *w;
    CHECK(!wr_world_open(t, &s->tunables, &w));
    CHECK(!wr_array_create(w, s->path[0], &info, NULL, "", &a));
    info.type = WEIR_F8;
    CHECK(!wr_array_create(w, s->path[1], &info, NULL, "", &b));
    info.shape[0] = 8;
    CHECK(!wr_array_create(w, "copy-other", &info, NULL, "", &c));
    CHECK(weir_array_copy(a, b, 0) == WEIR_EINVAL && weir_array_copy(b, c, 0) == WEIR_EINVAL);
    CHECK(!weir_array_discard(a) && !weir_array_discard(b) && !weir_array_discard(c));
    wr_world_release(w);
}

int main(void)
{
    uint64_t seed = test_seed();
    int64_t cases = test_cases(80, 3000);
    scene *s = calloc(1, sizeof *s);
    CHECK(s);
    for (int i = 0; i < 2; i++)
        snprintf(s->path[i], sizeof s->path[i], "copy-test-%d-%d-", (int)getpid(), i);
    for (int64_t i = 0; i < cases; i++) {
        rng r = {seed + (uint64_t)i * UINT64_C(0x5851f42d4c957f2d)};
        check_case(i);
        run_case(&r, s);
    }
    wr_tunables_init(&s->tunables);
    CHECK(!wr_local_run(3, &s->tunables, refused_body, s));
    CHECK(!count_names(s->path[0]) && !count_names(s->path[1]) && !count_names("copy-other"));
    free(s);
    return 0;
}
