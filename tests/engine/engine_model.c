/* Random scenes with ranks as threads: realms x methods x exchanges x windows from one byte on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/scene.h"
#include "storage/backends.h"
#include "transport/local.h"

enum { MOST_RANKS = 9 };

static void rank_body(wr_transport *t, void *user)
{
    scene *s = user;
    wr_world *w;
    CHECK(!wr_world_open(t, &s->tunables, &w));
    scene_run(s, w);
    wr_world_release(w);
}

int main(void)
{
    uint64_t seed = test_seed();
    int64_t cases = test_cases(400, 20000);
    scene *s = calloc(1, sizeof *s);
    CHECK(s);
    s->storage = "mem";
    for (int64_t i = 0; i < cases; i++) {
        rng r = {seed + (uint64_t)i * UINT64_C(0x5851f42d4c957f2d)};
        check_case(i);
        s->ranks = (int)rng_within(&r, 1, MOST_RANKS);
        snprintf(s->path, sizeof s->path, "engine-model-%lld", (long long)i);
        scene_make(&r, s);
        if (getenv("WEIR_TEST_SHOW"))
            fprintf(stderr, "%lld: %d ranks, %lld a node, %s\n", (long long)i, s->ranks,
                    (long long)s->tunables.ranks_per_node, s->hints);
        CHECK(!wr_local_run(s->ranks, &s->tunables, rank_body, s));
        for (int k = 0; k < s->ranks; k++)
            scene_check_rank(s, k);
        scene_check_file(s);
        wr_mem_unlink(s->path);
    }
    free(s);
    return 0;
}
