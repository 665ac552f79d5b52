/* Rounds by messages between aggregators and ranks: between nodes, or by exchange=p2p.
 *
 * Requests reach the aggregators whose realms they touch by a sparse exchange. Each rank turns over
 * its two roles, as aggregator (service.c) and as client, until every aggregator it asked has said
 * that it is done: no rank blocks while another could go on. */
#include "base/arith.h"
#include "exchange/service.h"

/* A part of this rank's data on its way to an aggregator, or from one: one at a time. That cannot
 * block: aggregators take ranks in ascending order, so a rank that waits for one waits, in the end,
 * for a lower rank. */
typedef struct part {
    bool busy;
    wr_request request;
    wr_announcement announcement;
    char *data;
} part;

typedef struct messages {
    wr_call *call;
    wr_transport *t;
    wr_service service; /* as aggregator */
    int64_t expected;   /* aggregators that have not said they are done */
    part part;          /* as client */
    int64_t left;       /* of this rank's data, not yet with another aggregator */
} messages;

static void fail(messages *m, int code, int64_t stop)
{
    wr_call_fail(m->call, code, stop);
}

/* --- admission --- */

static int take_memory(messages *m)
{
    const wr_access_request *a = m->call->a;
    int64_t bytes = wr_service_part(&m->service, a->file, a->end - a->begin);
    m->part.data = wr_arena_alloc(&m->service.memory, wr_max(1, bytes));
    if (!m->part.data)
        return WEIR_ENOMEM;
    return m->call->mine < 0 ? 0 : wr_service_prepare(&m->service);
}

/* [collective] Requests to aggregators, and memory: all have it, or none goes on. */
static int admit(messages *m)
{
    int code = wr_service_ask(&m->service, &m->expected);
    if (!code)
        code = take_memory(m);
    return wr_agree(m->t, wr_service_tag(&m->service, 0), code);
}

/* --- as client --- */

/* Looks whether the part under way has arrived; whether it has. */
static bool finish_part(messages *m)
{
    const wr_access_request *a = m->call->a;
    part *p = &m->part;
    bool over = false;
    int code = m->t->ops->test(m->t, &p->request, &over);
    if (!over && !code)
        return false;
    fail(m, code, p->announcement.lo);
    if (!code && a->direction == WR_READ)
        wr_access_pack(a, m->service.realms[p->announcement.realm], p->data, p->announcement.lo,
                       wr_min(p->announcement.hi, p->announcement.valid));
    p->busy = false;
    return true;
}

/* Starts moving this rank's part of a window. */
static void start_part(messages *m, int rank, const wr_announcement *g)
{
    const wr_access_request *a = m->call->a;
    part *p = &m->part;
    bool write = a->direction == WR_WRITE;
    int64_t hi = wr_min(g->hi, g->valid);
    int64_t bytes =
        wr_access_pack(a, m->service.realms[g->realm], write ? p->data : NULL, g->lo, hi);
    if (bytes == 0)
        return;
    p->announcement = *g;
    p->request = (wr_request){0};
    m->left -= bytes;
    int code = write
                   ? m->t->ops->send(m->t, (wr_parcel){rank, bytes, p->data},
                                     wr_service_tag(&m->service, WR_TAG_WRITE), false, &p->request)
                   : m->t->ops->receive(m->t, (wr_place){rank, bytes, p->data},
                                        wr_service_tag(&m->service, WR_TAG_READ), &p->request);
    fail(m, code, g->lo);
    p->busy = !code;
}

/* Does what a client can do without waiting; whether that was anything. */
static bool attend(messages *m)
{
    wr_parcel found;
    bool any = false;
    wr_announcement g;
    int tag = wr_service_tag(&m->service, WR_TAG_ANNOUNCE);
    if (m->part.busy)
        return finish_part(m);
    fail(m, m->t->ops->probe(m->t, tag, &found, &any), m->call->plan->lo);
    if (!any)
        return false;
    int code = wr_receive(m->t, found.rank, tag, &g, sizeof g);
    fail(m, code, m->call->plan->lo);
    if (code)
        return true;
    if (g.last)
        m->expected--;
    else
        start_part(m, found.rank, &g);
    return true;
}

/* Whether only the storage keeps this rank here: when reading, it has been asked, or nothing has
 * come from it yet; when writing, this rank's data are with their aggregators, and what it has as
 * aggregator is with the storage. */
static bool only_storage(const messages *m)
{
    if (m->call->a->direction == WR_READ)
        return true;
    return m->left <= m->service.own && !m->part.busy && wr_service_is_stored(&m->service);
}

void wr_rounds_messages(wr_call *call)
{
    wr_transport *t = call->group->handle.world->transport;
    messages m = {.call = call,
                  .t = t,
                  .service = {.call = call, .t = t},
                  .left = call->a->end - call->a->begin};
    call->rounds.did->exchange = WR_EXCHANGE_P2P;
    int code = admit(&m);
    wr_call_fail(call, code, call->plan->lo);
    if (!code)
        wr_service_begin(&m.service);
    for (int64_t i = 0; i < call->wants.count; i++)
        m.expected -= call->wants.list[i].rank == t->rank;
    for (int tries = 0;
         !code && (m.expected > 0 || m.part.busy || !wr_service_is_over(&m.service));) {
        bool busy = wr_service_run(&m.service);
        busy = attend(&m) || busy;
        if (!busy && only_storage(&m))
            wr_call_stored(call);
        if (busy)
            tries = 0;
        else
            wr_transport_rest(t, &tries);
    }
    wr_service_close(&m.service);
}
