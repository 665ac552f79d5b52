/* The transport's cases with ranks as threads, 1 to 64 of them, and nodes of several sizes. */
#include <pthread.h>

#include "runtime/world.h"
#include "transport/local.h"
#include "transport_cases.h"

static wr_tunables tunables;
static uint64_t seed;

static void transport_body(wr_transport *t, void *unused)
{
    (void)unused;
    check_transport(t, &tunables, seed);
}

static void world_body(wr_transport *t, void *unused)
{
    (void)unused;
    check_world(t, &tunables, seed);
}

/* Two threads of each rank, each with a channel of its own, at different speeds. */
typedef struct two {
    wr_channel *channel;
    int turns;
} two;

static void *exchange_alone(void *user)
{
    two *u = user;
    wr_waiter waiter = {0};
    const wr_transport *t = u->channel->world->transport;
    for (int i = 0; i < u->turns; i++) {
        int64_t *mine =
            (int64_t *)(void *)wr_channel_lane(u->channel, u->channel->epoch, t->local_rank);
        *mine = i * 100 + t->local_rank;
        uint32_t turn = wr_channel_exchange(u->channel, &waiter);
        for (int k = 0; k < t->local_size; k++)
            CHECK_EQUAL(*(int64_t *)(void *)wr_channel_lane(u->channel, turn, k), i * 100 + k);
    }
    return NULL;
}

static void two_channels_body(wr_transport *t, void *unused)
{
    (void)unused;
    wr_world *w;
    wr_channel a, b;
    CHECK(!wr_world_open(t, &tunables, &w));
    CHECK(!wr_channel_open(w, &a) && !wr_channel_open(w, &b));
    pthread_t other;
    two first = {&a, 200}, second = {&b, 300};
    CHECK(!pthread_create(&other, NULL, exchange_alone, &first));
    exchange_alone(&second);
    pthread_join(other, NULL);
    CHECK(!wr_agree(w->transport, 0, 0));
    wr_world_release(w);
}

/* A rank whose k-th allocation fails: everybody gets the same error, nobody hangs. */
static void failing_body(wr_transport *t, void *user)
{
    int64_t skip = *(int64_t *)user;
    wr_world *w = NULL;
    int64_t before = wr_alloc_count();
    if (t->rank == t->size - 1)
        wr_alloc_fail_after(skip);
    int code = wr_world_open(t, &tunables, &w);
    int64_t made = wr_alloc_count() - before;
    wr_alloc_fail_after(-1);
    int64_t codes[] = {code, -code, made > skip};
    CHECK(!wr_allreduce(t, 100, WR_MAX, 3, codes));
    CHECK_EQUAL(codes[0], -codes[1]);
    if (codes[2] == 0)
        CHECK_EQUAL(code, 0);
    if (code)
        CHECK_EQUAL(code, WEIR_ENOMEM);
    wr_world_release(w);
}

int main(void)
{
    static const int ranks[] = {1, 2, 3, 4, 7, 16, 64};
    seed = test_seed();
    wr_tunables_init(&tunables);
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        for (int64_t per_node = 0; per_node <= (ranks[i] > 16 ? 0 : 4); per_node += 2) {
            tunables.ranks_per_node = per_node;
            check_case(ranks[i] * 100 + per_node);
            CHECK(!wr_local_run(ranks[i], &tunables, transport_body, NULL));
            CHECK(!wr_local_run(ranks[i], &tunables, world_body, NULL));
        }
    tunables.ranks_per_node = 0;
    CHECK(!wr_local_run(4, &tunables, two_channels_body, NULL));
    for (int64_t skip = 0; skip < 6; skip++)
        CHECK(!wr_local_run(3, &tunables, failing_body, &skip));
    return 0;
}
