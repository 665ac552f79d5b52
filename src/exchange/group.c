/* What a group needs besides its calls: aggregators, shared memory, and what a plan is made from.
 */
#include "exchange/group.h"

#include "base/arith.h"
#include "plan/seats.h"
#include "runtime/channel.h"

/* Whether all ranks can meet in node windows. */
static bool can_share(const wr_group *group)
{
    const wr_transport *t = group->handle.world->transport;
    return t->nodes == 1 && t->local_size <= WR_NODE_RANKS && !group->channel.apart;
}

static void close_regions(void *group)
{
    wr_group_close_regions(group);
}

void wr_group_init(wr_group *group, wr_world *world)
{
    *group = (wr_group){0};
    wr_operations_init(&group->operations);
    wr_handle_init(&group->handle, world);
    group->kept = (wr_cached_regions){.world = world,
                                      .region = &group->node_windows.region,
                                      .release = close_regions,
                                      .owner = group};
}

void wr_group_prices(const wr_group *group, int64_t least_mib_ns, wr_plan_input *in)
{
    const struct wr_learned_price *own = &group->learned.price[in->direction];
    const struct wr_learned_price *reading = &group->learned.price[WR_READ];
    in->call_ns = own->call_ns ? own->call_ns : in->call_ns;
    in->mib_ns = own->mib_ns ? wr_max(own->mib_ns, least_mib_ns) : in->mib_ns;
    in->read_call_ns = reading->call_ns ? reading->call_ns : in->read_call_ns;
    in->read_mib_ns = reading->mib_ns ? wr_max(reading->mib_ns, least_mib_ns) : in->read_mib_ns;
}

void wr_group_input(const wr_group *group, enum wr_direction direction, wr_plan_input *in)
{
    const wr_transport *ranks = group->handle.world->transport;
    wr_plan_input_tune(in, direction, &group->handle.tunables, group->handle.price);
    wr_group_prices(group, WR_MEMORY_MIB_NS, in);
    wr_handle_input(&group->handle, in);
    in->alone = in->leased = false;
    if (group->custom.count)
        in->write_behind = WR_BEHIND_DISABLE;
    in->ranks = ranks->size;
    in->nodes = ranks->nodes;
    in->shared = can_share(group);
    in->mixed = ranks->mixed;
    if (group->channel.apart && in->exchange != WR_EXCHANGE_ALLTOALL)
        in->exchange = WR_EXCHANGE_P2P;
    in->seats = group->seats;
    in->cores = group->handle.cores;
    in->unit = group->unit;
    in->origin = group->origin;
    in->align = wr_max(in->align, group->align);
    in->owned = group->handle.owned && (direction == WR_WRITE || group->unsettled);
    if (in->owned)
        in->realms = WR_REALMS_PERSISTENT;
    in->disks = group->handle.storage->facts.disks;
    if (in->disks)
        in->stripe = group->handle.storage->facts.stripe;
    if (group->block && in->realms == WR_REALMS_PERSISTENT) {
        in->base = group->base;
        in->block = group->block;
        in->aggregators = group->owners;
        in->seats = group->owners > group->seats ? in->ranks : group->seats;
    }
    if (in->granule && in->realms != WR_REALMS_STATIC && in->realms != WR_REALMS_CYCLIC &&
        in->realms != WR_REALMS_PERSISTENT)
        in->realms = WR_REALMS_EVEN;
    in->custom = in->granule ? 0 : group->custom.count;
    in->realms = in->custom ? WR_REALMS_CUSTOM : in->realms;
    in->custom_hash = group->custom_hash;
    in->given = in->custom ? &group->custom : NULL;
    in->held = group->held;
    in->limit = in->nodes == 1 ? group->node_windows.limit : 0; /* which is each node's own */
    in->link_ns = group->handle.link.message_ns;
    if (!group->handle.tunables.link)
        in->link_mib_ns = group->handle.link.mib_ns;
}

bool wr_group_by_messages(const wr_group *group)
{
    return wr_plan_by_messages(group->handle.tunables.exchange.which, can_share(group));
}

/* [collective] How many ranks of each node may be aggregators, by node. */
static int count_seats(wr_group *group, const char *text, int64_t *seats)
{
    const wr_transport *t = group->handle.world->transport;
    int64_t most;
    int code = wr_seats_of(text, t->host, &most); /* the same on all ranks */
    for (int node = 0, n; node < t->nodes && !code; node += n) {
        n = (int)wr_min(t->nodes - node, WR_CHANNEL_VALUES);
        for (int i = 0; i < n; i++)
            seats[node + i] =
                node + i == t->node && t->local_rank == 0 ? wr_min(most, t->local_size) : 0;
        code = wr_channel_reduce(&group->channel, WR_SUM, n, &seats[node]);
    }
    return code;
}

/* [collective] The first so many of each node; NULL, and all ranks, where that comes to none. */
static int find_seats(wr_group *group, const char *text, int64_t *count, int **out)
{
    const wr_transport *t = group->handle.world->transport;
    int64_t *seats = wr_alloc_array(t->nodes, sizeof *seats);
    int *seat = wr_alloc_array(t->size, sizeof *seat);
    int code = wr_channel_agree(&group->channel, seats && seat ? 0 : WEIR_ENOMEM);
    if (seats && !code)
        code = count_seats(group, text, seats);
    *count = 0;
    for (int place = 0; seats && seat && !code && place < t->size; place++) {
        int64_t *left = &seats[t->node_of[t->by_node[place]]];
        if (*left > 0)
            seat[(*count)++] = place;
        --*left;
    }
    wr_free(seats);
    if (!code && !*count && t->rank == 0)
        wr_log_line(&group->handle.world->log, WR_LOG_WARN,
                    "aggregator_hosts=%.80s names no host that has ranks: all may be aggregators",
                    text);
    if (code || !*count)
        wr_free(seat);
    *out = code || !*count ? NULL : seat;
    *count = *count ? *count : t->size;
    return code;
}

int wr_group_prepare(wr_group *group, const wr_tunables *tunables)
{
    wr_transport *t = group->handle.world->transport, *wide = group->wide;
    int64_t seats = t->size;
    int *seat = NULL;
    int code = *tunables->aggregator_hosts
                   ? find_seats(group, tunables->aggregator_hosts, &seats, &seat)
                   : 0;
    if (!code && tunables->exchange.which == WR_EXCHANGE_ALLTOALL && !group->wide)
        code = wr_agree(t, group->channel.tag, t->ops->copy(t, group->channel.tag, &wide));
    if (code) {
        if (wide != group->wide)
            wr_transport_close(wide);
        wr_free(seat);
        return code;
    }
    group->wide = wide;
    group->held = (wr_held){0}; /* by others now */
    wr_free(group->seat);
    group->seat = seat;
    group->seats = seats;
    return 0;
}

/* Descriptions that all are told, and what is made from them, take less. */
enum { ASIDE_BYTES = 4 << 20 };

bool wr_group_set_aside(wr_group *group)
{
    if (!group->aside)
        group->aside = wr_pages_alloc(ASIDE_BYTES);
    return group->aside;
}

void wr_group_give_back(wr_group *group)
{
    if (group->aside)
        wr_pages_free(group->aside, ASIDE_BYTES);
    group->aside = NULL;
}

void wr_group_end_regions(wr_group *group)
{
    wr_region_cache_leave(&group->handle.world->process->regions, &group->kept);
    wr_group_close_regions(group);
    wr_descriptions_release(&group->descriptions);
    wr_group_give_back(group);
}

void wr_group_close_regions(wr_group *group)
{
    wr_node_windows_close(&group->node_windows);
    wr_region_close(&group->requests);
    wr_region_close(&group->packed);
    atomic_fetch_sub(&group->handle.world->in_flight, group->in_flight);
    group->in_flight = 0;
}
