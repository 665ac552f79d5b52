/* Nodes: their summaries join to the same in any grouping, and claim nothing that is not so; when
 * every node goes for itself; and what the network costs. */
#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "check.h"
#include "plan/plan.h"

enum { NODES = 7, RANKS = 3, SPAN = 4000 };

/* What each node wants, byte by byte and as summaries. */
typedef struct nodes {
    int count;
    wr_summary of[NODES];
    char wants[NODES][SPAN];
    bool ranks_meet; /* two ranks want the same byte */
} nodes;

static weir_pattern *random_loop(rng *r, int place, int64_t stride)
{
    weir_pattern *p;
    const int64_t run = rng_within(r, 1, 9), count = rng_within(r, 1, 6);
    int64_t at = rng_chance(r, 60) ? place * 10 : rng_within(r, 0, 300);
    at += rng_within(r, 0, 2) * stride;
    if (rng_chance(r, 15))
        CHECK(!weir_pattern_contiguous(at, rng_within(r, 0, 30), &p));
    else
        CHECK(!weir_pattern_strided(at, count, run, stride + (rng_chance(r, 4) ? 10 : 0), &p));
    return p;
}

static void add_rank(rng *r, nodes *n, int node, int place, int64_t stride)
{
    static char all[SPAN];
    if (place == 0)
        memset(all, 0, sizeof all);
    weir_pattern *p = random_loop(r, place, stride);
    const wr_summary one = wr_summary_of(p, 0, weir_pattern_bytes(p));
    int64_t lo, hi;
    wr_summary_add(&n->of[node], &one);
    weir_pattern_bounds(p, &lo, &hi);
    CHECK(hi <= SPAN);
    for (int64_t i = lo; i < hi; i++)
        if (wr_pattern_data_below(p, i + 1) > wr_pattern_data_below(p, i)) {
            n->ranks_meet = n->ranks_meet || all[i];
            all[i] = n->wants[node][i] = 1;
        }
    weir_pattern_free(p);
}

/* Of ranks that are often beside each other in a stride, or after each other, as ranks are. */
static void make_nodes(rng *r, nodes *n)
{
    memset(n, 0, sizeof *n);
    n->count = (int)rng_within(r, 1, NODES);
    const int64_t stride = rng_chance(r, 70) ? 210 + rng_within(r, 0, 40) : rng_within(r, 8, 120);
    for (int node = 0, place = 0; node < n->count; node++)
        for (int64_t k = rng_within(r, 1, RANKS); k > 0; k--, place++)
            add_rank(r, n, node, place, stride);
}

/* Joins nodes [from, to) in a random grouping of adjacent ones. */
static wr_summary join(rng *r, const nodes *n, int from, int to)
{
    wr_summary low = {0}, high;
    if (to - from == 1) {
        if (rng_chance(r, 50))
            return n->of[from];
        wr_summary_add_node(&low, &n->of[from]);
        return low;
    }
    const int cut = (int)rng_within(r, from + 1, to - 1);
    low = join(r, n, from, cut);
    high = join(r, n, cut, to);
    wr_summary_add_node(&low, &high);
    return low;
}

static bool nodes_meet(const nodes *n)
{
    for (int64_t i = 0; i < SPAN; i++) {
        int who = 0;
        for (int node = 0; node < n->count; node++)
            who += n->wants[node][i];
        if (who > 1)
            return true;
    }
    return false;
}

/* How often what was claimed is so, of what could be claimed: nothing is claimed for nothing. */
static int64_t beside, mixed, apart;

static void check_claims(const nodes *n, wr_summary *all)
{
    int64_t once = 0;
    for (int64_t i = 0; i < SPAN; i++) {
        bool any = false;
        for (int node = 0; node < n->count; node++)
            any = any || n->wants[node][i];
        once += any;
        CHECK(!any || (i >= all->lo && i < all->hi));
    }
    CHECK(wr_summary_nodes_meet(all) || !nodes_meet(n));
    CHECK(!all->apart || !n->ranks_meet);
    CHECK(all->once_bytes >= once || all->once_bytes == all->bytes);
    for (int a = 0; a < n->count && !wr_summary_nodes_mix(all); a++)
        for (int b = 0; b < a; b++)
            CHECK(n->of[a].lo >= n->of[b].hi || n->of[b].lo >= n->of[a].hi);
    beside += n->count > 1 && wr_summary_nodes_mix(all) && !wr_summary_nodes_meet(all);
    mixed += wr_summary_nodes_mix(all);
    apart += n->count > 1 && all->apart;
}

static void test_joining(void)
{
    const uint64_t seed = test_seed();
    static nodes n;
    for (int64_t i = 0; i < test_cases(4000, 100000); i++) {
        rng r = {seed + (uint64_t)i * UINT64_C(0x5851f42d4c957f2d)};
        wr_summary all = {0};
        check_case(i);
        make_nodes(&r, &n);
        for (int node = 0; node < n.count; node++)
            wr_summary_add_node(&all, &n.of[node]);
        for (int k = 0; k < 4; k++) {
            const wr_summary other = join(&r, &n, 0, n.count);
            CHECK(!memcmp(&other, &all, sizeof all));
        }
        if (n.count > 1)
            wr_summary_end_nodes(&all);
        check_claims(&n, &all);
    }
    CHECK(beside > 0 && mixed > beside && apart > 0);
}

/* --- the choice --- */

enum { OF_NODE = 4 };

/* 4 nodes of 4 ranks, of which each wants `count` runs of `run` bytes, `stride` apart, and starts
 * `next` bytes after the one before; the first of a node, `node_next` after that of the one before.
 */
static wr_plan_input input_at(enum wr_direction direction, const int64_t loop[3], int64_t next,
                              int64_t node_next)
{
    wr_tunables t;
    wr_plan_input in;
    wr_summary of[4] = {0};
    wr_tunables_init(&t);
    wr_plan_input_tune(&in, direction, &t, wr_built_in_prices[WR_IN_CACHE].price);
    in.wanted = (wr_summary){0};
    for (int rank = 0; rank < 16; rank++) {
        weir_pattern *p;
        CHECK(!weir_pattern_strided(rank / OF_NODE * node_next + rank % OF_NODE * next, loop[0],
                                    loop[1], loop[2], &p));
        const wr_summary one = wr_summary_of(p, 0, weir_pattern_bytes(p));
        wr_summary_add(&of[rank / OF_NODE], &one);
        weir_pattern_free(p);
    }
    for (int node = 0; node < 4; node++)
        wr_summary_add_node(&in.wanted, &of[node]);
    wr_summary_end_nodes(&in.wanted);
    in.ranks = in.seats = 16;
    in.nodes = 4;
    in.cores = OF_NODE;
    in.unit = 1;
    int64_t most = 0;
    for (int node = 0; node < 4; node++)
        most = wr_max(most, wr_plan_node_price(&in, &of[node], OF_NODE));
    in.node_ns = most;
    return in;
}

static wr_plan_input input_of(enum wr_direction direction, int64_t count, int64_t run,
                              int64_t stride, int64_t next)
{
    return input_at(direction, (int64_t[]){count, run, stride}, next, OF_NODE * next);
}

static wr_plan plan_of(const wr_plan_input *in)
{
    wr_plan plan;
    CHECK(!wr_plan_build(in, &plan));
    CHECK(plan.per_node == (plan.reason == WR_CHEAPER_PER_NODE));
    CHECK(!plan.per_node || (plan.collective && plan.exchange == WR_EXCHANGE_SHM));
    return plan;
}

static enum wr_reason reason_of(const wr_plan_input *in)
{
    return plan_of(in).reason;
}

/* Everybody wants the same columns of a matrix, or every 16th piece. */
static void test_reading(void)
{
    wr_plan_input in = input_of(WR_READ, 400, 1600, 16384, 0);
    CHECK_EQUAL(reason_of(&in), WR_CHEAPER_PER_NODE);
    in.link_mib_ns = in.link_ns = 0; /* then the file is read once */
    CHECK_EQUAL(reason_of(&in), WR_CHEAPER_TOGETHER);
    in = input_of(WR_READ, 20000, 64, 16 * 1000, 1000);
    in.call_ns = in.read_call_ns = 100;
    in.link_mib_ns = INT64_C(1) << 40;
    CHECK(plan_of(&in).price_together > in.node_ns);
    CHECK(reason_of(&in) != WR_CHEAPER_TOGETHER);
}

/* What concerns all nodes keeps them together. */
static void test_conditions(void)
{
    const wr_plan_input good = input_of(WR_READ, 400, 1600, 16384, 0);
    wr_plan_input in = good;
    CHECK_EQUAL(reason_of(&in), WR_CHEAPER_PER_NODE);
    in.node_ns = INT64_MAX; /* one has no shared memory */
    CHECK(reason_of(&in) != WR_CHEAPER_PER_NODE);
#define DIFFERS(field, value)                                                                      \
    in = good;                                                                                     \
    in.field = value;                                                                              \
    CHECK(reason_of(&in) != WR_CHEAPER_PER_NODE);                                                  \
    CHECK_EQUAL(wr_plan_node_price(&in, &in.wanted, OF_NODE), INT64_MAX)
    DIFFERS(collective, WR_SWITCH_ALWAYS);
    DIFFERS(collective, WR_SWITCH_NEVER);
    DIFFERS(exchange, WR_EXCHANGE_P2P);
    DIFFERS(exchange, WR_EXCHANGE_LEADERS);
    DIFFERS(realms, WR_REALMS_PERSISTENT);
    DIFFERS(realms, WR_REALMS_DISKS);
    DIFFERS(seats, 4);
    DIFFERS(owned, 1);
    DIFFERS(atomic, 1);
    DIFFERS(write_behind, 1);
    DIFFERS(nodes, 1);
#undef DIFFERS
}

static void test_writing(void)
{
    /* side by side in a stride: apart, and among each other */
    wr_plan_input in = input_of(WR_WRITE, 400, 1600, 16 * 1600, 1600);
    in.link_mib_ns = INT64_C(1) << 40;
    CHECK(wr_summary_nodes_mix(&in.wanted) && !wr_summary_nodes_meet(&in.wanted));
    CHECK_EQUAL(reason_of(&in), WR_MAY_OVERLAP);
    in.local = 1;
    CHECK_EQUAL(reason_of(&in), WR_CHEAPER_PER_NODE);
    CHECK_EQUAL(plan_of(&in).hold[0], WR_HOLD_WINDOWS);
    /* into each other */
    in = input_of(WR_WRITE, 400, 1600, 16 * 1600, 1500);
    in.link_mib_ns = INT64_C(1) << 40;
    in.local = 1;
    CHECK(wr_summary_nodes_meet(&in.wanted));
    CHECK_EQUAL(reason_of(&in), WR_MAY_OVERLAP);
    /* one after the other: each rank by itself, or, if only nodes are, each node */
    in = input_of(WR_WRITE, 1, 1 << 20, 1 << 20, 1 << 20);
    CHECK(in.wanted.apart && !wr_summary_nodes_mix(&in.wanted));
    CHECK_EQUAL(reason_of(&in), WR_CHEAPER_ALONE);
    in = input_at(WR_WRITE, (int64_t[]){20000, 8, 32}, 8, 20000 * 32);
    CHECK(!in.wanted.apart && !wr_summary_nodes_mix(&in.wanted));
    CHECK_EQUAL(reason_of(&in), WR_CHEAPER_PER_NODE);
}

/* One node pays nothing for a network; several pay for every byte that crosses. */
static void test_links(void)
{
    wr_plan_input in = input_of(WR_READ, 400, 1600, 16384, 0);
    const int64_t before = plan_of(&in).price_together;
    in.link_mib_ns +=
        1 << 20; /* a nanosecond more a byte, of which 3 of 4 cross, 4 links at once */
    const int64_t more = plan_of(&in).price_together - before, each = 400 * 1600;
    CHECK(more > each * 7 / 10 && more <= each * 3 / 4);
    in.nodes = in.shared = 1;
    const int64_t one = plan_of(&in).price_together;
    in.link_mib_ns = in.link_ns = 0;
    CHECK_EQUAL(plan_of(&in).price_together, one);
}

/* A node's own plan: its ranks, its part of the file. */
static void test_node_plan(void)
{
    wr_plan_input in = input_at(WR_WRITE, (int64_t[]){20000, 8, 32}, 8, 20000 * 32);
    wr_plan plan = plan_of(&in);
    wr_summary node = in.wanted;
    CHECK(plan.per_node);
    node.lo = in.wanted.hi / 2;
    in.aggregators = 9;
    CHECK(!wr_plan_for_node(&node, OF_NODE, &in, &plan));
    CHECK(plan.lo == node.lo && plan.hi == node.hi && plan.seats == OF_NODE);
    CHECK(plan.aggregators == 2 && in.nodes == 1 && in.ranks == OF_NODE && in.shared);
}

int main(void)
{
    test_joining();
    test_reading();
    test_conditions();
    test_writing();
    test_links();
    test_node_plan();
    return 0;
}
