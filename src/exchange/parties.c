/* Parties, and which of their ranks deal with which aggregator. */
#include "exchange/parties.h"

#include "base/arith.h"

/* The first place, of all ranks sorted by node, of a party. */
static int64_t first_place(const wr_call *c, int party)
{
    const wr_transport *t = c->group->handle.world->transport;
    int64_t from = 0, to = t->size;
    while (from < to) {
        int64_t mid = from + (to - from) / 2;
        if (t->node_of[t->by_node[mid]] < party)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

/* The first aggregator at or after a place. */
static int64_t first_aggregator(const wr_call *c, int64_t place)
{
    int64_t from = 0, to = c->plan->aggregators;
    while (from < to) {
        int64_t mid = from + (to - from) / 2;
        if (wr_call_place(c, mid) < place)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

static int64_t place_of(const wr_call *c, int rank)
{
    const wr_transport *t = c->group->handle.world->transport;
    int64_t place = first_place(c, t->node_of[rank]);
    while (t->by_node[place] != rank)
        place++;
    return place;
}

void wr_call_find_party(wr_call *c, bool ranks)
{
    const wr_transport *t = c->group->handle.world->transport;
    const int64_t place = t->local_first + t->local_rank;
    const int64_t mine = first_aggregator(c, place);
    const bool serves = mine < c->plan->aggregators && wr_call_place(c, mine) == place;
    const bool one = t->nodes == 1 || c->plan->per_node;
    c->party = ranks ? (wr_party){true, t->size, t->rank, 1, 0}
                     : (wr_party){false, one ? 1 : t->nodes, one ? 0 : t->node, t->local_size,
                                  t->local_rank};
    c->mine = serves ? mine : -1;
    c->first_realm = ranks ? mine : first_aggregator(c, t->local_first);
    c->rings = ranks ? serves
                     : (int)(first_aggregator(c, t->local_first + t->local_size) - c->first_realm);
    c->gates = c->party.count == 1 ? 0 : (int)wr_max(1, c->rings);
}

int wr_call_owner(const wr_call *c, int ring)
{
    const wr_transport *t = c->group->handle.world->transport;
    if (c->party.ranks || !c->rings)
        return 0;
    int i = ring < c->rings ? ring : ring - c->rings;
    return (int)wr_call_place(c, c->first_realm + i) - t->local_first;
}

int wr_call_party(const wr_call *c, int rank)
{
    if (c->party.count == 1)
        return c->party.own;
    return c->party.ranks ? rank : c->group->handle.world->transport->node_of[rank];
}

int wr_call_member(const wr_call *c, int rank)
{
    if (c->party.ranks)
        return 0;
    if (c->party.count == 1)
        return rank;
    return (int)place_of(c, rank) - c->group->handle.world->transport->local_first;
}

int wr_call_gate(const wr_call *c, int party, int64_t i)
{
    if (c->party.ranks)
        return party;
    const wr_transport *t = c->group->handle.world->transport;
    int64_t first = first_aggregator(c, first_place(c, party));
    int64_t count = first_aggregator(c, first_place(c, party + 1)) - first;
    return count ? wr_call_aggregator(c, first + i % count) : t->leaders[party];
}

int wr_call_demand(const wr_call *c, const wr_wants *wants, bool members, wr_arena *memory,
                   wr_demand *out)
{
    int *party = wr_arena_alloc(memory, wants->count * (int64_t)sizeof *party);
    if (!party)
        return WEIR_ENOMEM;
    for (int64_t i = 0; i < wants->count; i++)
        party[i] = members ? c->party.own : wr_call_party(c, wants->list[i].rank);
    return wr_demand_build(out, c->plan,
                           &(wr_parted){wants->count, wants->list, party, c->party.count}, memory);
}
