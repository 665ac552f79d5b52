/* Random scenes with ranks as threads: what the log says that was done, way, exchange, windows in
 * flight, locks, who moved it, meetings, is what the plan in the log said. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/scene.h"
#include "engine/short_memory.h"
#include "storage/backends.h"
#include "told.h"
#include "transport/local.h"

enum { MOST_RANKS = 6 };

static void rank_body(wr_transport *t, void *user)
{
    scene *s = user;
    wr_world *w;
    CHECK(!wr_world_open(t, &s->tunables, &w));
    told_listen(w);
    scene_run(s, w);
    wr_world_release(w);
}

/* In atomic mode, what does not block comes in any order, which the scene knows nothing of. */
static void accept(scene *s)
{
    for (int i = 0; s->atomic && i < CALLS; i++)
        for (int k = 0; k < s->ranks; k++) {
            part *p = &s->calls[i].part[k];
            memcpy(p->wanted, p->after, MEMORY);
            p->wanted_count = p->count;
        }
}

/* A few percent of all cases have each of these: none is missed by chance. */
static void check_counts(void)
{
    static const char *const seen[] = {
        "way list",      "way sieve",     "way rounds",    "way kept",          "way none",
        "exchange shm",  "exchange p2p",  "exchange none", "exchange alltoall", "exchange leaders",
        "locks nothing", "locks shared",  "locks modify",  "locks exclusive",   "locks lease",
        "by thread",     "by caller",     "handed yes",    "aside yes",         "owned yes",
        "per node read", "per node write"};
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
        if (!told_count(seen[i]))
            fprintf(stderr, "nothing was done with: %s\n", seen[i]);
        CHECK(told_count(seen[i]) > 0);
    }
}

int main(void)
{
    uint64_t seed = test_seed();
    int64_t cases = test_cases(300, 10000);
    scene *s = calloc(1, sizeof *s);
    CHECK(s);
    for (int64_t i = 0; i < cases; i++) {
        rng r = {seed + (uint64_t)i * UINT64_C(0x5851f42d4c957f2d)};
        check_case(i);
        s->ranks = (int)rng_within(&r, 1, MOST_RANKS);
        const bool file = rng_chance(&r, 30);
        s->storage = !file ? "mem" : rng_chance(&r, 50) ? "posix" : "posix;coherence=weak";
        snprintf(s->path, sizeof s->path, "plan-told-%d-%lld", (int)getpid(), (long long)i);
        scene_make(&r, s);
        s->atomic = rng_chance(&r, 20) && !s->behind;
        short_memory_set(r.state, s->short_of, INT64_MAX);
        CHECK(!wr_local_run(s->ranks, &s->tunables, rank_body, s));
        told_check();
        accept(s);
        for (int k = 0; k < s->ranks; k++)
            scene_check_rank(s, k);
        CHECK(!(file ? wr_storage_remove : wr_mem_unlink)(s->path));
    }
    check_counts();
    free(s);
    return 0;
}
