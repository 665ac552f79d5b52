/* Messages and bytes between nodes. */
#include "plan/traffic.h"

#include "base/arith.h"
#include "plan/stretch.h"

/* One realm's traffic. */
typedef struct count {
    wr_windows walk;
    wr_demand queue;
    int64_t ranks_per_node;
    int own; /* node of the aggregator */
    wr_sent *nodes;
} count;

/* The part from an active want on, with ranks of another node; returns how many wants it has. */
static int64_t add_part(const count *c, const wr_window *window, int64_t from)
{
    const wr_stretch s = wr_demand_cut(&c->queue, window, from);
    const int node = (int)(wr_demand_want(&c->queue, from)->rank / c->ranks_per_node);
    if (s.bytes && node != c->own) {
        wr_sent *sent = &c->nodes[c->walk.in->direction == WR_WRITE ? node : c->own];
        sent->messages++;
        sent->bytes += s.bytes;
    }
    return s.count;
}

static int add_windows(count *c)
{
    wr_window window;
    int more;
    while ((more = wr_windows_cell(&c->walk, &window)) == 1) {
        wr_demand_open(&c->queue, &window);
        for (int64_t i = 0; i < c->queue.active;)
            i += add_part(c, &window, i);
    }
    return more;
}

int wr_traffic_add(const wr_windows *of, int64_t i, int64_t ranks_per_node, wr_sent *nodes)
{
    const bool ranks = of->plan->exchange == WR_EXCHANGE_P2P;
    const int64_t size = ranks ? 1 : ranks_per_node;
    wr_arena memory = {0};
    count c = {.ranks_per_node = ranks_per_node,
               .own = (int)(wr_plan_seat(of->plan, i) / ranks_per_node),
               .nodes = nodes};
    int *party = wr_arena_alloc(&memory, of->count * (int64_t)sizeof *party);
    int code = party ? 0 : WEIR_ENOMEM;
    for (int64_t k = 0; !code && k < of->count; k++)
        party[k] = (int)(of->wants[k].rank / size);
    const wr_parted wants = {of->count, of->wants, party, (int)wr_div_ceil(of->in->ranks, size)};
    if (!code)
        code = wr_demand_build(&c.queue, of->plan, &wants, &memory);
    if (!code) {
        c.queue.realm = of->realm;
        wr_windows_init(&c.walk, of->in, of->plan, of->realm, of->count, of->wants);
        code = add_windows(&c);
        wr_windows_release(&c.walk);
    }
    wr_arena_release(&memory);
    return code;
}

int64_t wr_traffic_to_meet(int64_t node, int64_t nodes)
{
    int64_t power = 1, steps = 0;
    for (; 2 * power <= nodes; power *= 2)
        steps++;
    if (node >= 2 * (nodes - power))
        return steps;
    return node % 2 ? 1 : steps + 1;
}
