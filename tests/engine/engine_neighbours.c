/* Nobody's writing undoes a neighbour's: two parties on one file, ranks as threads. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/party.h"
#include "storage/storage_support.h"
#include "transport/local.h"

typedef struct side {
    party party;
    int ranks;
    char hints[300];
    int64_t rounds;
    wr_tunables tunables;
} side;

static const char path[] = "engine-neighbours";

static void rank_body(wr_transport *t, void *user)
{
    const side *s = user;
    wr_world *w;
    CHECK(!wr_world_open(t, &s->tunables, &w));
    party_play(&s->party, w, path, s->rounds);
    wr_world_release(w);
}

static void *run_side(void *user)
{
    side *s = user;
    CHECK(!wr_local_run(s->ranks, &s->tunables, rank_body, s));
    return NULL;
}

static void play(side *a, side *b)
{
    static char zeros[ROWS * ROW + 2];
    pthread_t other;
    put_file(path, "storage=mem", zeros, sizeof zeros);
    check_within(60);
    CHECK(!pthread_create(&other, NULL, run_side, b));
    run_side(a);
    pthread_join(other, NULL);
    wr_mem_unlink(path);
}

/* How a party writes. */
typedef struct way {
    int ranks;
    bool together, spots;
    const char *hints;
} way;

/* With holes, reading first what is in them. */
static const way with_holes[] = {
    {3, true, false, "realms=even;aggregators=1"},
    {2, true, false, "realms=even;aggregators=2"},
    {3, true, false, "realms=cyclic;aggregators=2"},
    {2, true, false, "realms=persistent;realm_block=200;aggregators=2"},
    {2, true, false, "exchange=p2p;realms=even;aggregators=2"},
    {3, true, false, "exchange=p2p;realms=cyclic;aggregators=3"},
    {3, true, false, "exchange=p2p;realms=persistent;realm_block=200;aggregators=3"},
    {3, true, false, "exchange=leaders;realms=even;aggregators=3"},
    {3, true, false, "exchange=leaders;realms=cyclic;aggregators=2"},
    {3, true, false, "exchange=alltoall;realms=even;aggregators=3"},
    {3, true, false, "exchange=alltoall;realms=cyclic;aggregators=2"},
    {1, true, false, "realms=even"},
    {1, false, false, ""},
    {3, false, false, ""},
};

/* Into the holes: alone or together, exactly or reading first what is between them. */
static const way into_them[] = {
    {1, false, true, "access=list"},
    {2, false, false, "access=list"},
    {2, false, false, "access=sieve"},
    {2, true, false, "access=list;aggregators=2"},
    {2, true, false, "access=sieve;aggregators=2"},
};

static side side_of(const way *w, bool leads, const char *hints)
{
    side s = {.ranks = w->ranks, .rounds = test_cases(8, 200)};
    s.party = (party){.first = leads ? 0 : 180,
                      .width = leads ? 180 : 60,
                      .together = w->together,
                      .spots = w->spots,
                      .leads = leads};
    snprintf(s.hints, sizeof s.hints,
             "storage=mem;collective=always;window=700;sieve_buffer_write=700;%s;%s", hints,
             w->hints);
    wr_tunables_init(&s.tunables);
    return s;
}

static void play_ways(const way *lead, const way *other, const char *hints)
{
    side a = side_of(lead, true, hints), b = side_of(other, false, "");
    if (getenv("WEIR_TEST_SHOW"))
        fprintf(stderr, "%d ranks: %s; %d ranks: %s\n", a.ranks, a.hints, b.ranks, b.hints);
    a.party.hints = a.hints;
    b.party.hints = b.hints;
    play(&a, &b);
}

/* Some of the time much time passes between reading and writing. */
static const char *const paces[] = {"access=sieve", "access=sieve;fault=delay:150"};

static void check_pair(void *user, const int *choice)
{
    (void)user;
    play_ways(&with_holes[choice[0]], &into_them[choice[1]], paces[choice[2]]);
}

int main(void)
{
    rng r = {test_seed()};
    int levels[] = {sizeof with_holes / sizeof *with_holes, sizeof into_them / sizeof *into_them,
                    2};
    test_pairwise(&r, 3, levels, check_pair, NULL);
    return 0;
}
