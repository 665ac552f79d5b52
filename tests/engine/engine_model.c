/* Random scenes with ranks as threads: realms x methods x exchanges x windows from one byte on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/scene.h"
#include "engine/short_memory.h"
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

/* Memory, or now and then logical disks, or a file system that is taken for a weak one. */
static const char *random_storage(rng *r)
{
    static char striped[100];
    static const char *const disks[] = {".", ".:.", ".:.:.", ".:.:.:.:."};
    if (rng_chance(r, 15))
        return "posix;coherence=weak";
    if (!rng_chance(r, 20))
        return "mem";
    snprintf(striped, sizeof striped, "striped;disks=%s;striping_unit=%lld",
             disks[rng_within(r, 0, 3)],
             (long long)(rng_chance(r, 30) ? rng_within(r, 1, 20) : rng_within(r, 20, 3000)));
    return striped;
}

int main(void)
{
    uint64_t seed = test_seed();
    int64_t cases = test_cases(400, 20000);
    scene *s = calloc(1, sizeof *s);
    CHECK(s);
    for (int64_t i = 0; i < cases; i++) {
        rng r = {seed + (uint64_t)i * UINT64_C(0x5851f42d4c957f2d)};
        check_case(i);
        s->ranks = (int)rng_within(&r, 1, MOST_RANKS);
        s->storage = random_storage(&r);
        snprintf(s->path, sizeof s->path, "engine-model-%d-%lld", (int)getpid(), (long long)i);
        scene_make(&r, s);
        if (getenv("WEIR_TEST_SHOW"))
            fprintf(stderr, "%lld: %d ranks, %lld a node, %s\n", (long long)i, s->ranks,
                    (long long)s->tunables.ranks_per_node, s->hints);
        short_memory_set(r.state, s->short_of, INT64_MAX);
        CHECK(!wr_local_run(s->ranks, &s->tunables, rank_body, s));
        for (int k = 0; k < s->ranks; k++)
            scene_check_rank(s, k);
        scene_check_file(s);
        CHECK(!(strcmp(s->storage, "mem") ? wr_storage_remove : wr_mem_unlink)(s->path));
    }
    free(s);
    return 0;
}
