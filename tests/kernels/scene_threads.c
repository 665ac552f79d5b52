#include "scene_threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "transport/local.h"

static void rank_body(wr_transport *t, void *user)
{
    kernel_scene *s = user;
    wr_world *w;
    CHECK(!wr_world_open(t, &s->tunables, &w));
    kernel_scene_run(s, w);
    wr_world_release(w);
}

void run_scenes(enum deed first, enum deed last, uint64_t seed, int64_t cases)
{
    kernel_scene *s = calloc(1, sizeof *s);
    CHECK(s);
    snprintf(s->path, sizeof s->path, "kernels-%d-%d", (int)first, (int)getpid());
    for (int64_t i = 0; i < cases; i++) {
        rng r = {seed + (uint64_t)i * UINT64_C(0x5851f42d4c957f2d)};
        check_case(i);
        s->first = first;
        s->last = last;
        s->ranks = (int)rng_within(&r, 1, rng_chance(&r, 20) ? KERNEL_RANKS : 5);
        kernel_scene_make(&r, s);
        if (getenv("WEIR_TEST_SHOW"))
            fprintf(stderr, "%lld: deed %d, type %d, %d ranks, %lld x %lld, direct %d, %s\n",
                    (long long)i, (int)s->deed, s->array[0].info.type, s->ranks,
                    (long long)s->array[0].info.shape[0], (long long)s->array[0].info.shape[1],
                    s->direct, s->hints);
        check_within(120);
        CHECK(!wr_local_run(s->ranks, &s->tunables, rank_body, s));
        for (int k = 0; k < s->ranks; k++) {
            kernel_scene_check_told(s, k);
            CHECK(s->deed != REDUCE || !memcmp(&s->told[k], &s->told[0], sizeof s->told[0]));
        }
        kernel_scene_check(s);
        kernel_scene_remove(s);
        kernel_scene_release(s);
    }
    free(s);
}
