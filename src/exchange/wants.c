/* How an aggregator gets to know what ranks want of its realm: from the call itself, from what all
 * have told all at entry, or by asking. Then the leaders of nodes send their ranks' requests to the
 * nodes whose aggregators these concern, and pass on what they get to the aggregators of their
 * own. */
#include <stdlib.h>
#include <string.h>

#include "exchange/entry.h"

/* --- what the call itself tells --- */

/* The pattern of a rank, where the call tells it. */
static int add_known(const wr_call *c, int rank, const weir_pattern *realm, int as, wr_wants *wants)
{
    weir_pattern *p = NULL;
    int code = c->a->known->pattern(c->a->known->user, rank, &p);
    if (code || !p)
        return code;
    wr_want want = {p, 0, weir_pattern_bytes(p), as};
    if (want.end && (!realm || wr_want_meets(&want, realm))) {
        wants->list[wants->count++] = want;
        wants->made++;
    } else {
        weir_pattern_free(p);
    }
    return 0;
}

int wr_call_know(const wr_call *c, int ranks, const int *rank, const weir_pattern *realm,
                 wr_wants *wants)
{
    int code = 0;
    for (int i = 0; i < ranks && !code; i++)
        code = add_known(c, rank ? rank[i] : i, realm, i, wants);
    return code;
}

void wr_wants_forget(wr_wants *wants)
{
    for (int64_t i = 0; i < wants->made; i++)
        weir_pattern_free((weir_pattern *)wants->list[i].pattern);
    wants->made = 0;
}

/* --- the node's own --- */

int64_t wr_call_widest(const wr_call *c)
{
    const wr_leaders l = wr_group_leaders(c->group);
    int64_t most = 0;
    for (int i = l.first; i < l.first + l.seen; i++)
        most = wr_max(most, wr_call_entry_of(c, i)->again);
    return most;
}

/* Bytes of the node's large requests, and where this rank's is among them. */
static int64_t large_bytes(const wr_call *c, int64_t *own)
{
    const wr_leaders l = wr_group_leaders(c->group);
    const int local_rank = c->group->handle.world->transport->local_rank;
    int64_t all = 0;
    for (int i = l.first; i < l.first + l.seen; i++) {
        *own = i == local_rank ? all : *own;
        all += wr_call_entry_large(wr_call_entry_of(c, i));
    }
    return all;
}

static bool is_large(const wr_call *c)
{
    const int local_rank = c->group->handle.world->transport->local_rank;
    return wr_call_entry_large(wr_call_entry_of(c, local_rank)) > 0;
}

int wr_call_show(wr_call *c)
{
    wr_group *group = c->group;
    int64_t own = 0, all = large_bytes(c, &own);
    if (!all || c->shown)
        return 0;
    if (group->requests.bytes < all) {
        wr_region_close(&group->requests);
        int code = wr_channel_region(&group->inner, 0, all, &group->requests);
        if (code)
            return code;
    }
    if (is_large(c))
        memcpy(group->requests.base + own, c->a->file, (size_t)weir_pattern_footprint(c->a->file));
    wr_waiter waiter = wr_transport_waiter(group->handle.world->transport, true);
    wr_channel_barrier(&group->inner, &waiter);
    c->shown = true;
    return 0;
}

/* The node's ranks by local rank; those that do not fit a lane lie in `large`. */
static int collect(const wr_call *c, wr_arena *memory, const char *large, wr_wants *out)
{
    const wr_transport *t = c->group->handle.world->transport;
    const wr_leaders l = wr_group_leaders(c->group);
    weir_pattern *patterns = wr_arena_alloc(memory, l.seen * (int64_t)sizeof *patterns);
    out->list = wr_arena_alloc(memory, l.seen * (int64_t)sizeof *out->list);
    if (!patterns || !out->list)
        return WEIR_ENOMEM;
    if (c->a->known)
        return wr_call_know(c, l.seen, t->local + l.first, NULL, out);
    int64_t place = 0;
    for (int i = 0; i < l.seen; i++) {
        const wr_call_entry *e = wr_call_entry_of(c, l.first + i);
        if (e->begin < e->end) {
            patterns[i] = wr_call_entry_pattern(c, l.first + i, large, place);
            out->list[out->count++] = (wr_want){&patterns[i], e->begin, e->end, l.first + i};
        }
        place += wr_call_entry_large(e);
    }
    return 0;
}

int wr_call_gather(const wr_call *c, wr_arena *memory, wr_wants *out)
{
    return collect(c, memory, c->group->requests.base, out);
}

/* --- parcels of descriptions --- */

static int by_rank(const void *a, const void *b)
{
    const wr_want *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static const wr_described *end_of(const wr_parcel *p)
{
    return (const void *)((const char *)p->data + p->bytes);
}

/* Those of the ranks described in parcels, which stay where they are, that concern a realm. */
static int hear(wr_arena *memory, const weir_pattern *realm, int count, const wr_parcel *in,
                wr_wants *out)
{
    int64_t all = 0;
    for (int i = 0; i < count; i++)
        for (const wr_described *d = in[i].data; d < end_of(&in[i]); d = wr_described_next(d))
            all++;
    weir_pattern *patterns = wr_arena_alloc(memory, all * (int64_t)sizeof *patterns);
    out->list = wr_arena_alloc(memory, all * (int64_t)sizeof *out->list);
    if (!patterns || !out->list)
        return WEIR_ENOMEM;
    for (int i = 0; i < count; i++)
        for (const wr_described *d = in[i].data; d < end_of(&in[i]); d = wr_described_next(d)) {
            weir_pattern *p = &patterns[out->count];
            *p = wr_pattern_attach(d + 1);
            out->list[out->count++] = (wr_want){p, d->begin, d->end, d->rank};
        }
    out->count = wr_wants_keep(realm, out->count, out->list);
    if (out->count)
        qsort(out->list, (size_t)out->count, sizeof *out->list, by_rank);
    return 0;
}

/* --- asking --- */

typedef struct asking {
    wr_call *call;
    wr_transport *t;
    wr_leaders leaders;
    wr_arena *memory;
    wr_wants node; /* what its ranks want */
    int count;
    wr_parcel *out; /* to other leaders */
} asking;

static int parcels_tag(const asking *x)
{
    return x->call->group->channel.tag + WR_TAG_PARCELS;
}

/* The leader that aggregator i is asked through. */
static int asked_through(const asking *x, int64_t i)
{
    const int rank = wr_call_aggregator(x->call, i);
    return x->call->group->channel.apart ? rank : x->t->leaders[x->t->node_of[rank]];
}

/* [collective on the node] Without shared memory, large requests reach the leader by messages. */
static int send_large(asking *x, char **out)
{
    wr_call *c = x->call;
    int64_t own = 0, all = large_bytes(c, &own), place = 0;
    int code = 0;
    if (!x->leaders.leads)
        return is_large(c) ? wr_send(x->t, x->t->local[0], parcels_tag(x), c->a->file,
                                     weir_pattern_footprint(c->a->file))
                           : 0;
    *out = wr_arena_alloc(x->memory, all);
    for (int i = x->leaders.first; i < x->leaders.first + x->leaders.seen; i++) {
        const wr_call_entry *e = wr_call_entry_of(c, i);
        int64_t bytes = wr_call_entry_large(e);
        int lost = bytes && i != x->t->local_rank
                       ? wr_receive(x->t, x->t->local[i], parcels_tag(x),
                                    *out ? *out + place : NULL, e->pattern_bytes)
                       : 0;
        code = code ? code : lost;
        place += bytes;
    }
    return code || *out ? code : WEIR_ENOMEM;
}

/* Marks which of the node's ranks want something of aggregators [first, end). */
static int mark_asking(const asking *x, int64_t first, int64_t end, bool *any)
{
    for (int64_t i = first; i < end; i++) {
        weir_pattern *realm;
        int code = wr_plan_realm(x->call->plan, i, &realm);
        if (code)
            return code;
        for (int64_t k = 0; k < x->node.count; k++)
            any[k] = any[k] || wr_want_meets(&x->node.list[k], realm);
        weir_pattern_free(realm);
    }
    return 0;
}

/* What the node wants of aggregators [first, end), which have one leader. */
static int make_parcel(asking *x, int64_t first, int64_t end, wr_parcel *out)
{
    bool *any = wr_arena_alloc(x->memory, x->node.count);
    int code = any ? 0 : WEIR_ENOMEM;
    if (!any)
        return code;
    memset(any, 0, (size_t)x->node.count);
    code = mark_asking(x, first, end, any);
    *out = (wr_parcel){.rank = asked_through(x, first)};
    for (int64_t k = 0; k < x->node.count; k++)
        if (any[k])
            out->bytes += wr_described_room(weir_pattern_footprint(x->node.list[k].pattern));
    char *data = code ? NULL : wr_arena_alloc(x->memory, out->bytes);
    out->data = data;
    for (int64_t k = 0; data && k < x->node.count; k++) {
        const wr_want *w = &x->node.list[k];
        const int64_t bytes = weir_pattern_footprint(w->pattern);
        if (any[k])
            data = wr_described_put(
                data, wr_described_of(x->t->local[w->rank], w->begin, w->end, bytes), w->pattern);
    }
    return code || data ? code : WEIR_ENOMEM;
}

/* One parcel for each leader whose aggregators are asked for something. */
static int make_parcels(asking *x)
{
    const int64_t n = x->call->plan->aggregators;
    x->out = wr_arena_alloc(x->memory, wr_min(n, x->leaders.count) * (int64_t)sizeof *x->out);
    int code = x->out ? 0 : WEIR_ENOMEM;
    for (int64_t i = 0, end; i < n && !code; i = end) {
        for (end = i + 1; end < n && asked_through(x, end) == asked_through(x, i);)
            end++;
        code = make_parcel(x, i, end, &x->out[x->count]);
        x->count += !code && x->out[x->count].bytes;
    }
    return code;
}

/* The leader: to the node's other aggregators, in one message each; instead of their number, why
 * it has failed. */
static int pass_on(const asking *x, int count, const wr_parcel *in, int code)
{
    int64_t bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += in[i].bytes;
    char *all = code ? NULL : wr_arena_alloc(x->memory, bytes), *to = all;
    code = code || all ? code : WEIR_ENOMEM;
    for (int i = 0; all && i < count; to += in[i++].bytes)
        memcpy(to, in[i].data, (size_t)in[i].bytes);
    bytes = code ? code : bytes;
    for (int64_t i = 0; i < x->call->plan->aggregators; i++) {
        const int rank = wr_call_aggregator(x->call, i);
        if (rank == x->t->rank || x->t->node_of[rank] != x->t->node)
            continue;
        int lost = wr_send(x->t, rank, parcels_tag(x), &bytes, sizeof bytes);
        if (!lost && bytes > 0)
            lost = wr_send(x->t, rank, parcels_tag(x), all, bytes);
        code = code ? code : lost;
    }
    return code;
}

/* Another aggregator: what the leader passes on, even if it has failed. */
static int take_passed(const asking *x, wr_parcel *out)
{
    int64_t bytes = 0;
    int code = wr_receive(x->t, x->t->local[0], parcels_tag(x), &bytes, sizeof bytes);
    if (code)
        return code;
    if (bytes < 0)
        return wr_fail((int)bytes, "rank %d could not pass on requests", x->t->local[0]);
    char *data = wr_arena_alloc(x->memory, bytes);
    code = data ? 0 : WEIR_ENOMEM;
    int lost = bytes ? wr_receive(x->t, x->t->local[0], parcels_tag(x), data, bytes) : 0;
    *out = (wr_parcel){0, bytes, data};
    return code ? code : lost;
}

/* [collective] Parcels for this rank, if it is an aggregator; *in has room for one. */
static int ask(asking *x, int *count, wr_parcel **in)
{
    wr_call *c = x->call;
    char *large = NULL;
    int code = c->group->channel.apart || !wr_call_show(c) ? 0 : send_large(x, &large);
    if (!large) /* they are shown */
        large = c->group->requests.base;
    if (!x->leaders.leads) {
        int lost = c->mine < 0 ? 0 : take_passed(x, *in);
        return code ? code : lost;
    }
    if (!code)
        code = collect(c, x->memory, large, &x->node);
    if (!code)
        code = make_parcels(x);
    wr_sparse sparse = {.tag = c->group->channel.tag,
                        .round = c->group->calls,
                        .memory = x->memory,
                        .group = x->leaders.rank,
                        .count = x->leaders.count,
                        .own = x->leaders.own};
    int lost = wr_sparse_exchange(x->t, &sparse, code ? 0 : x->count, x->out, count, in);
    code = code ? code : lost;
    return c->group->channel.apart ? code : pass_on(x, *count, *in, code);
}

/* From the mailbox of the node, if no other takes part. */
static int serve_node(const wr_call *c, wr_arena *memory, const weir_pattern *realm, wr_wants *out)
{
    int code = realm ? wr_call_gather(c, memory, out) : 0;
    if (realm && !code)
        out->count = wr_wants_keep(realm, out->count, out->list);
    return code;
}

int wr_call_served(wr_call *c, wr_arena *memory, const weir_pattern *realm, wr_wants *out)
{
    const wr_group *group = c->group;
    wr_transport *t = group->handle.world->transport;
    wr_parcel one = {0, group->descriptions.bytes, group->descriptions.region.base}, *in = &one;
    int count = 1, code = 0;
    *out = (wr_wants){0};
    if (c->party.count == 1 && !c->party.ranks)
        return serve_node(c, memory, realm, out);
    if (c->a->known) {
        out->list = realm ? wr_arena_alloc(memory, t->size * (int64_t)sizeof *out->list) : NULL;
        if (realm)
            code = out->list ? wr_call_know(c, t->size, NULL, realm, out) : WEIR_ENOMEM;
        return code;
    }
    if (t->nodes == 1 && !group->channel.apart && !wr_call_show(c))
        return serve_node(c, memory, realm, out);
    if (!c->described) {
        asking x = {.call = c, .t = t, .leaders = wr_group_leaders(group), .memory = memory};
        c->rounds.did->meetings += !c->in->described;
        code = ask(&x, &count, &in);
    }
    return code || !realm ? code : hear(memory, realm, count, in, out);
}
