/* Offsets past 2 GiB, 4 GiB and far beyond, in a sparse file in memory, with ranks as threads. */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "engine/far_cases.h"
#include "storage/backends.h"
#include "transport/local.h"

typedef struct scene {
    wr_tunables tunables;
    char hints[200];
    int64_t base;
} scene;

static const char path[] = "engine-far";

static void rank_body(wr_transport *t, void *user)
{
    const scene *s = user;
    wr_world *w;
    CHECK(!wr_world_open(t, &s->tunables, &w));
    check_far(w, path, s->hints, s->base);
    wr_world_release(w);
}

static void check_one(void *user, const int *choice)
{
    static const int bits[] = {31, 32, 33, 40, 42, 50, 61};
    static const char *const exchange[] = {"shm", "p2p", "leaders", "alltoall"};
    static const char *const together[] = {"always", "auto"};
    static const char *const access[] = {"auto", "sieve", "list", "extent:5000"};
    static const char *const realms[] = {"even", "static", "cyclic", "persistent"};
    static const char *const window[] = {"500", "2M"};
    scene s = {.base = INT64_C(1) << bits[choice[0]]};
    wr_tunables_init(&s.tunables);
    snprintf(s.hints, sizeof s.hints,
             "storage=mem;exchange=%s;collective=%s;access=%s;realms=%s;window=%s;aggregators=%d",
             exchange[choice[1]], together[choice[2]], access[choice[3]], realms[choice[4]],
             window[choice[5]], (int)rng_within(user, 0, 3));
    if (getenv("WEIR_TEST_SHOW"))
        fprintf(stderr, "2^%d, %d ranks, %s\n", bits[choice[0]], choice[6] + 1, s.hints);
    check_within(60);
    CHECK(!wr_local_run(choice[6] + 1, &s.tunables, rank_body, &s));
    wr_mem_unlink(path);
}

int main(void)
{
    rng r = {test_seed()};
    int levels[] = {6, 4, 2, 4, 4, 2, 4};
    test_pairwise(&r, 7, levels, check_one, &r);
    return 0;
}
