/* Random arrays and accesses with ranks as threads: made by some, read and changed by others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array_scene.h"
#include "transport/local.h"

static void rank_body(wr_transport *t, void *user)
{
    array_scene *s = user;
    wr_world *w;
    CHECK(!wr_world_open(t, &s->tunables, &w));
    array_scene_run(s, w);
    wr_world_release(w);
}

static void run_stage(rng *r, array_scene *s)
{
    s->ranks = (int)rng_within(r, 1, ARRAY_RANKS);
    array_scene_make(r, s);
    if (getenv("WEIR_TEST_SHOW"))
        fprintf(stderr, "%d ranks, %lld a node, %d dimensions, type %d, %d members, %s\n", s->ranks,
                (long long)s->tunables.ranks_per_node, s->array.info.dimensions, s->array.info.type,
                s->array.info.members, s->hints);
    check_within(60);
    CHECK(!wr_local_run(s->ranks, &s->tunables, rank_body, s));
    for (int k = 0; k < s->ranks; k++)
        array_scene_check(s, k);
    naive_check_files(&s->array, s->path);
    array_scene_release(s);
}

int main(void)
{
    uint64_t seed = test_seed();
    int64_t cases = test_cases(100, 5000);
    array_scene *s = calloc(1, sizeof *s);
    CHECK(s);
    snprintf(s->path, sizeof s->path, "array-model-%d", (int)getpid());
    for (int64_t i = 0; i < cases; i++) {
        rng r = {seed + (uint64_t)i * UINT64_C(0x5851f42d4c957f2d)};
        check_case(i);
        naive_random(&r, &s->array);
        naive_settle(&s->array);
        s->create = true;
        run_stage(&r, s);
        if (rng_chance(&r, 30))
            naive_swap_files(&s->array, s->path);
        s->create = false;
        run_stage(&r, s);
        naive_release(&s->array);
        remove_tree(s->path);
    }
    free(s);
    return 0;
}
