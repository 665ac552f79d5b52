/* Calls at their edges, with ranks as threads and nodes of several sizes. */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "engine/call_cases.h"
#include "storage/backends.h"
#include "transport/local.h"

typedef struct scene {
    wr_tunables tunables;
    char hints[200];
} scene;

static const char path[] = "engine-calls";

static void rank_body(wr_transport *t, void *user)
{
    const scene *s = user;
    wr_world *w;
    CHECK(!wr_world_open(t, &s->tunables, &w));
    check_calls(w, path, s->hints);
    wr_world_release(w);
}

static void check_one(void *user, const int *choice)
{
    static const char *const exchange[] = {"auto", "p2p", "leaders", "alltoall"};
    static const char *const together[] = {"always", "auto", "never"};
    static const char *const access[] = {"auto", "sieve", "list"};
    static const char *const realms[] = {"even", "static", "cyclic", "persistent"};
    static const char *const window[] = {"100", "1M"};
    static const int per_node[] = {0, 1, 2, -2, -3};
    scene s;
    wr_tunables_init(&s.tunables);
    s.tunables.ranks_per_node = per_node[choice[1]];
    snprintf(s.hints, sizeof s.hints,
             "storage=mem;exchange=%s;collective=%s;access=%s;realms=%s;window=%s;aggregators=%d",
             exchange[choice[2]], together[choice[3]], access[choice[4]], realms[choice[5]],
             window[choice[6]], (int)rng_within(user, 0, 2));
    if (getenv("WEIR_TEST_SHOW"))
        fprintf(stderr, "%d ranks, %d a node, %s\n", choice[0] + 1, per_node[choice[1]], s.hints);
    check_within(60);
    CHECK(!wr_local_run(choice[0] + 1, &s.tunables, rank_body, &s));
    wr_mem_unlink(path);
}

int main(void)
{
    rng r = {test_seed()};
    int levels[] = {5, 5, 4, 3, 3, 4, 2};
    test_pairwise(&r, 7, levels, check_one, &r);
    return 0;
}
