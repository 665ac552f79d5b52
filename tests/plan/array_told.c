/* Random arrays with ranks as threads: what the log says that was done is what the plan in the log
 * said, for the ways that only arrays have too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array/array_scene.h"
#include "told.h"
#include "transport/local.h"

enum { MOST_RANKS = 4 };

static void rank_body(wr_transport *t, void *user)
{
    array_scene *s = user;
    wr_world *w;
    CHECK(!wr_world_open(t, &s->tunables, &w));
    told_listen(w);
    array_scene_run(s, w);
    wr_world_release(w);
}

static void run_stage(rng *r, array_scene *s)
{
    s->ranks = (int)rng_within(r, 1, MOST_RANKS);
    array_scene_make(r, s);
    static const char *const often[] = {"", ";access=auto;map=256M;storage=posix",
                                        ";access=auto;map=256M;storage=posix",
                                        ";access=sieve;sieve_unit=column"};
    const size_t used = strlen(s->hints);
    snprintf(s->hints + used, sizeof s->hints - used, "%s", often[rng_within(r, 0, 3)]);
    check_within(60);
    CHECK(!wr_local_run(s->ranks, &s->tunables, rank_body, s));
    told_check();
    for (int k = 0; k < s->ranks; k++)
        array_scene_check(s, k);
    array_scene_release(s);
}

int main(void)
{
    uint64_t seed = test_seed();
    int64_t cases = test_cases(80, 5000);
    array_scene *s = calloc(1, sizeof *s);
    CHECK(s);
    snprintf(s->path, sizeof s->path, "array-told-%d", (int)getpid());
    for (int64_t i = 0; i < cases; i++) {
        rng r = {seed + (uint64_t)i * UINT64_C(0x5851f42d4c957f2d)};
        check_case(i);
        do /* tiles are moved in one way: not too many of these */
            naive_random(&r, &s->array);
        while (s->array.info.format && rng_chance(&r, 80));
        naive_settle(&s->array);
        s->create = true;
        run_stage(&r, s);
        s->create = false;
        run_stage(&r, s);
        naive_release(&s->array);
        remove_tree(s->path);
    }
    static const char *const seen[] = {"way list", "way rounds", "way columns", "way mapped"};
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
        if (!told_count(seen[i]))
            fprintf(stderr, "nothing was done with: %s\n", seen[i]);
        CHECK(told_count(seen[i]) > 0);
    }
    free(s);
    return 0;
}
