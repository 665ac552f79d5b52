/* Transpositions of arrays of all forms against a loop over elements, with budgets from the least
 * on, and ranks as threads; and those of boxes in memory, by themselves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/estimate.h"
#include "kernels/permute.h"
#include "transport/local.h"
#include "transpose_case.h"

enum { RANKS = 7, GUARD = 77, BOX_DIMENSIONS = 4 };

typedef struct scene {
    transpose_case k;
    wr_tunables tunables;
} scene;

static void rank_body(wr_transport *t, void *user)
{
    scene *s = user;
    wr_world *w;
    CHECK(!wr_world_open(t, &s->tunables, &w));
    transpose_case_run(&s->k, w);
    wr_world_release(w);
}

static void run_case(rng *r, scene *s)
{
    const int ranks = (int)rng_within(r, 1, RANKS);
    transpose_case_make(r, &(hint_limits){0}, &s->k);
    wr_tunables_init(&s->tunables);
    s->tunables.ranks_per_node = rng_chance(r, 30) ? rng_within(r, 1, 3) : 0;
    check_within(60);
    CHECK(!wr_local_run(ranks, &s->tunables, rank_body, s));
    transpose_case_release(&s->k);
}

/* --- boxes in memory --- */

/* Strides of a random order of dimensions, perhaps with gaps; returns elements of the memory. */
static int64_t random_strides(rng *r, const wr_permutation *p, int64_t *stride)
{
    int order[BOX_DIMENSIONS];
    int64_t at = 1;
    for (int d = 0; d < p->dimensions; d++)
        order[d] = d;
    for (int d = p->dimensions - 1; d > 0; d--) {
        int other = (int)rng_within(r, 0, d), kept = order[d];
        order[d] = order[other];
        order[other] = kept;
    }
    for (int i = 0; i < p->dimensions; i++) {
        stride[order[i]] = at;
        at *= p->shape[order[i]] + (rng_chance(r, 30) ? rng_within(r, 1, 3) : 0);
    }
    return at;
}

static void permute_naively(const wr_permutation *p, const char *from, char *to)
{
    int64_t all = 1;
    for (int d = 0; d < p->dimensions; d++)
        all *= p->shape[d];
    for (int64_t i = 0; i < all; i++) {
        int64_t rest = i, source = 0, target = 0;
        for (int d = p->dimensions - 1; d >= 0; d--) {
            source += rest % p->shape[d] * p->from[d];
            target += rest % p->shape[d] * p->to[d];
            rest /= p->shape[d];
        }
        memcpy(to + target * p->element, from + source * p->element, (size_t)p->element);
    }
}

static void check_permute(rng *r)
{
    wr_permutation p = {.dimensions = (int)rng_within(r, 0, BOX_DIMENSIONS),
                        .element = INT64_C(1) << rng_within(r, 0, 4)};
    int64_t most = p.dimensions < 3 ? 150 : 20;
    for (int d = 0; d < p.dimensions; d++)
        p.shape[d] = rng_chance(r, 15) ? rng_within(r, 0, 1) : rng_within(r, 1, most);
    const int64_t source = random_strides(r, &p, p.from) * p.element;
    const int64_t target = random_strides(r, &p, p.to) * p.element;
    char *from = malloc((size_t)source + 1), *to = malloc((size_t)target + GUARD);
    char *wanted = malloc((size_t)target + GUARD);
    CHECK(from && to && wanted);
    random_elements(r, WEIR_I1, from, source);
    random_elements(r, WEIR_I1, to, target + GUARD);
    memcpy(wanted, to, (size_t)target + GUARD);
    wr_permute(&p, from, to);
    permute_naively(&p, from, wanted);
    CHECK(!memcmp(to, wanted, (size_t)target + GUARD));
    free(from);
    free(to);
    free(wanted);
}

/* --- refusals --- */

static void refused_body(wr_transport *t, void *user)
{
    const scene *s = user;
    const int twice[] = {0, 0, 1}, wild[] = {0, 1, 3}, same[] = {0, 1, 2};
    weir_array_info info = {.type = WEIR_C8, .dimensions = 3, .shape = {2, 3, 4}};
    weir_array *a, *b, *c;
    wr_world *w;
    CHECK(!wr_world_open(t, &s->tunables, &w));
    CHECK(!wr_array_create(w, s->k.path[0], &info, NULL, "", &a));
    CHECK(!wr_array_create(w, s->k.path[1], &info, NULL, "", &b));
    info.type = WEIR_F8;
    CHECK(!wr_array_create(w, "transpose-other", &info, NULL, "", &c));
    CHECK_FAILS(weir_array_transpose(a, b, twice, NULL), WEIR_EINVAL, "permutation");
    CHECK_FAILS(weir_array_transpose(a, b, wild, NULL), WEIR_EINVAL, "permutation");
    CHECK_FAILS(weir_array_transpose(a, b, NULL, NULL), WEIR_EINVAL, "dimension 0");
    CHECK_FAILS(weir_array_transpose(a, a, same, NULL), WEIR_EINVAL, "the same");
    CHECK(weir_array_transpose(a, c, same, NULL) == WEIR_EINVAL);
    CHECK_FAILS(weir_array_transpose(a, b, same, &(weir_work){.memory = INT64_MIN}), WEIR_EINVAL,
                "a budget of -9223372036854775808 bytes");
    CHECK_FAILS(weir_array_copy(a, b, -1), WEIR_EINVAL, "a budget of -1 bytes");
    CHECK(!weir_array_copy(a, b, 0));
    CHECK(!weir_array_discard(a) && !weir_array_discard(b) && !weir_array_discard(c));
    wr_world_release(w);
}

/* --- plans in words --- */

static void check_words(void)
{
    weir_estimate e = {.how = ""};
    wr_slab_shape s = {.dimensions = 2, .block = {512, 16384}, .steps = 1};
    wr_estimate_say_slabs(&e, "slabs", &s);
    CHECK(!strcmp(e.how, "slabs of 512 x 16384, 1 step"));
    e = (weir_estimate){.how = ""};
    wr_estimate_say_slabs(&e, "slabs", &(wr_slab_shape){.steps = 0});
    CHECK(!strcmp(e.how, "slabs of 1, 0 steps"));
    s.dimensions = WEIR_MAX_DIMENSIONS;
    for (int d = 0; d < s.dimensions; d++)
        s.block[d] = 123456789;
    e = (weir_estimate){.how = ""};
    wr_estimate_say_slabs(&e, "slabs", &s);
    CHECK(strlen(e.how) == sizeof e.how - 1);
    CHECK(!strcmp(e.how + sizeof e.how - 11, "9 x 123..."));
}

int main(void)
{
    uint64_t seed = test_seed();
    int64_t cases = test_cases(80, 3000);
    scene *s = calloc(1, sizeof *s);
    CHECK(s);
    for (int i = 0; i < 2; i++)
        snprintf(s->k.path[i], sizeof s->k.path[i], "transpose-%d-%d-", (int)getpid(), i);
    check_words();
    for (int64_t i = 0; i < cases; i++) {
        rng r = {seed + (uint64_t)i * UINT64_C(0x5851f42d4c957f2d)};
        check_case(i);
        for (int n = 0; n < 5; n++)
            check_permute(&r);
        run_case(&r, s);
    }
    wr_tunables_init(&s->tunables);
    CHECK(!wr_local_run(3, &s->tunables, refused_body, s));
    CHECK(!count_names(s->k.path[0]) && !count_names(s->k.path[1]));
    free(s);
    return 0;
}
