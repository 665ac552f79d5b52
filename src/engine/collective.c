/* A collective call from entry to exit: the law that nobody leaves early lives here.
 *
 *   entry      every rank says what it wants, or that it cannot take part; all learn of all
 *   plan       the same input gives every rank the same plan
 *   admission  shared memory and descriptions are there before anyone copies
 *   rounds     nobody leaves, nobody fails alone: a failed aggregator stops opening windows
 *   exit       every rank says how it went; all return the same
 *
 * On one node entry and exit are one exchange of mailboxes each. */
#include <string.h>

#include "base/arith.h"
#include "engine/rounds.h"

/* What a rank says at entry: with code 0 its pattern stands in `body` if it fits, otherwise the
 * details of its error do. */
typedef struct entry {
    uint64_t call;
    int32_t code, direction;
    wr_summary summary;
    int64_t begin, end;
    int64_t pattern_bytes;
    int64_t file_size;
    _Alignas(16) char body[];
} entry;

/* What it says at exit. */
typedef struct leave {
    int64_t stop;
    int32_t code;
    weir_error details;
} leave;

_Static_assert(sizeof(entry) + sizeof(weir_error) <= WR_LANE, "an entry fits a lane");
_Static_assert(sizeof(leave) <= WR_LANE, "a leave fits a lane");

enum { BODY = WR_LANE - sizeof(entry) };

/* Of the messages within the channel's span; the rest is used by wr_allreduce and others. */
enum { TAG_PATTERN = 6 };

void wr_call_fail(wr_call *call, int code, int64_t stop)
{
    if (!code)
        return;
    call->outcome.stop = wr_min(call->outcome.stop, stop);
    if (call->outcome.code)
        return;
    call->outcome.code = code;
    if (weir_error_last()->rank < 0) /* otherwise it was agreed on */
        wr_error_note_rank(call->port->world->transport->rank);
    *call->error = *weir_error_last();
}

static const entry *entry_of(const wr_port *port, uint32_t turn, int local_rank)
{
    return (const entry *)(const void *)wr_channel_lane(&port->channel, turn, local_rank);
}

/* Fills this rank's lane. */
static void say_entry(wr_port *port, const wr_access_request *a, int code)
{
    const wr_transport *t = port->world->transport;
    entry *e = (entry *)(void *)wr_channel_lane(&port->channel, port->channel.turn, t->local_rank);
    *e = (entry){.call = port->calls, .code = code, .direction = (int32_t)a->direction};
    if (code) {
        weir_error details = *weir_error_last();
        details.rank = t->rank;
        memcpy(e->body, &details, sizeof details);
        return;
    }
    e->summary = wr_summary_of(a->file, a->begin, a->end);
    e->begin = a->begin;
    e->end = a->end;
    e->pattern_bytes = weir_pattern_footprint(a->file);
    if (port->tunables.realms.which == WR_REALMS_STATIC &&
        wr_storage_get_size(port->storage, &e->file_size))
        e->file_size = 0; /* then realms are even */
    if (e->pattern_bytes <= BODY)
        memcpy(e->body, a->file, (size_t)e->pattern_bytes);
}

/* The node's ranks together: the first error, or the joint summary and what they know of the file's
 * size. */
static int hear_entries(const wr_port *port, uint32_t turn, wr_summary *all, int64_t *file_size)
{
    const wr_transport *t = port->world->transport;
    const entry *first = entry_of(port, turn, 0);
    *file_size = 0;
    for (int i = 0; i < t->local_size; i++) {
        const entry *e = entry_of(port, turn, i);
        weir_error details;
        if (e->code) {
            memcpy(&details, e->body, sizeof details);
            return wr_error_raise(&details);
        }
        if (e->call != first->call || e->direction != first->direction)
            return wr_fail(WEIR_EDISAGREE, "ranks %d and %d make different collective calls",
                           t->local[0], t->local[i]);
        wr_summary_add(all, &e->summary);
        *file_size = wr_max(*file_size, e->file_size);
    }
    return 0;
}

/* Joins the nodes' summaries; bounds in different nodes are not compared. */
static int join_nodes(wr_port *port, enum wr_direction direction, int code, wr_summary *all,
                      int64_t *file_size)
{
    wr_transport *t = port->world->transport;
    bool first = t->local_rank == 0;
    code = wr_agree(t, port->channel.tag, code);
    if (code)
        return code;
    bool any = first && all->active;
    int64_t kind = (int64_t)port->calls * 2 + direction;
    int64_t low[] = {any ? all->lo : INT64_MAX, any ? -all->hi : INT64_MAX, -*file_size, kind,
                     -kind};
    int64_t sums[] = {all->active, all->bytes,      all->runs,
                      all->spans,  all->once_bytes, all->once_runs};
    if (!first)
        memset(sums, 0, sizeof sums);
    code = wr_allreduce(t, port->channel.tag, WR_MIN, 5, low);
    if (!code)
        code = wr_allreduce(t, port->channel.tag, WR_SUM, 6, sums);
    if (!code && low[3] != -low[4])
        code = wr_fail(WEIR_EDISAGREE, "nodes make different collective calls");
    *file_size = -low[2];
    *all = (wr_summary){0};
    if (sums[0])
        *all = (wr_summary){.lo = low[0],
                            .hi = -low[1],
                            .active = sums[0],
                            .bytes = sums[1],
                            .runs = sums[2],
                            .spans = sums[3],
                            .once_bytes = wr_min(sums[4], -low[1] - low[0]),
                            .once_runs = sums[5]};
    return code;
}

/* Which aggregators are on this node, and whether this rank is one. */
static void find_desks(wr_call *c)
{
    const wr_transport *t = c->port->world->transport;
    const int64_t n = c->plan->aggregators, first = t->local_first;
    c->first_realm = (first * n + t->size - 1) / t->size; /* the first whose place is not before */
    while (c->first_realm + c->desks < n && wr_call_desk_rank(c, c->desks) < t->local_size) {
        if (wr_call_desk_rank(c, c->desks) == t->local_rank) {
            c->desk = c->desks;
            c->mine = c->first_realm + c->desk;
        }
        c->desks++;
    }
}

/* A pattern too large for a lane goes to the node's aggregators as a message. */
static int send_large(wr_call *c, const entry *own, wr_request *requests)
{
    wr_port *port = c->port;
    wr_transport *t = port->world->transport;
    int code = 0;
    for (int i = 0; i < c->desks; i++) {
        int to = t->local[wr_call_desk_rank(c, i)];
        if (own->pattern_bytes <= BODY || to == t->rank)
            continue;
        int one = t->ops->send(t, (wr_parcel){to, own->pattern_bytes, c->a->file},
                               port->channel.tag + TAG_PATTERN, false, &requests[i]);
        code = code ? code : one;
    }
    return code;
}

/* The pattern of a local rank: in its lane, in its message, or our own. */
static int get_pattern(wr_call *c, uint32_t turn, int local_rank, wr_arena *memory,
                       weir_pattern *out)
{
    wr_transport *t = c->port->world->transport;
    const entry *e = entry_of(c->port, turn, local_rank);
    if (local_rank == t->local_rank) {
        *out = *c->a->file;
        return 0;
    }
    if (e->pattern_bytes <= BODY) {
        *out = wr_pattern_attach(e->body);
        return 0;
    }
    void *block = wr_arena_alloc(memory, e->pattern_bytes);
    int code = wr_receive(t, t->local[local_rank], c->port->channel.tag + TAG_PATTERN, block,
                          e->pattern_bytes);
    if (!block)
        return wr_fail(WEIR_ENOMEM, "no memory for the request of rank %d", t->local[local_rank]);
    if (!code)
        *out = wr_pattern_attach(block);
    return code;
}

/* An aggregator learns what everyone on the node wants. */
static void gather_wants(wr_call *c, uint32_t turn, wr_arena *memory)
{
    const wr_transport *t = c->port->world->transport;
    weir_pattern *patterns = wr_arena_alloc(memory, t->local_size * (int64_t)sizeof *patterns);
    c->wants = wr_arena_alloc(memory, t->local_size * (int64_t)sizeof *c->wants);
    if (!patterns || !c->wants)
        wr_call_fail(c, WEIR_ENOMEM, c->plan->lo);
    weir_pattern spare;
    for (int i = 0; i < t->local_size; i++) {
        const entry *e = entry_of(c->port, turn, i);
        if (e->begin == e->end && e->pattern_bytes <= BODY)
            continue;
        bool room = patterns && c->wants;
        int code = get_pattern(c, turn, i, memory, room ? &patterns[i] : &spare);
        wr_call_fail(c, code, c->plan->lo);
        if (room && !code && e->begin < e->end)
            c->wants[c->wants_count++] = (wr_want){&patterns[i], e->begin, e->end, i};
    }
}

static int wait_all(wr_transport *t, int count, wr_request *requests)
{
    int code = 0;
    for (int i = 0; i < count; i++)
        if (requests[i].parts) {
            int one = wr_request_wait(t, &requests[i]);
            code = code ? code : one;
        }
    return code;
}

/* Rounds on one node. */
static void run_shared(wr_call *c, uint32_t turn, wr_arena *memory)
{
    wr_port *port = c->port;
    wr_transport *t = port->world->transport;
    const entry *own = entry_of(port, turn, t->local_rank);
    wr_request requests[WR_HALL_RANKS]; /* no memory to ask for: nobody may stay away now */
    const int desks = c->desks;
    for (int i = 0; i < desks; i++)
        requests[i] = (wr_request){0};
    wr_call_fail(c, send_large(c, own, requests), c->plan->lo);
    if (c->mine >= 0)
        gather_wants(c, turn, memory);
    c->shared = true;
    wr_rounds_shared(c);
    wr_call_fail(c, wait_all(t, desks, requests), c->plan->lo);
}

/* The ranks of the node tell how it went; the lowest rank's error counts, and the lowest stop. */
static int leave_node(wr_call *c)
{
    wr_port *port = c->port;
    const wr_transport *t = port->world->transport;
    wr_waiter waiter = wr_transport_waiter(port->world->transport, true);
    leave *own =
        (leave *)(void *)wr_channel_lane(&port->channel, port->channel.turn, t->local_rank);
    own->stop = c->outcome.stop;
    own->code = c->outcome.code;
    if (own->code)
        own->details = *c->error;
    uint32_t turn = wr_channel_exchange(&port->channel, &waiter);
    c->outcome.code = 0;
    for (int i = 0; i < t->local_size; i++) {
        const leave *l = (const leave *)(const void *)wr_channel_lane(&port->channel, turn, i);
        c->outcome.stop = wr_min(c->outcome.stop, l->stop);
        if (l->code && !c->outcome.code) {
            c->outcome.code = l->code;
            *c->error = l->details;
        }
    }
    return c->outcome.code ? wr_error_raise(c->error) : 0;
}

static int leave_all(wr_call *c)
{
    wr_transport *t = c->port->world->transport;
    int code = leave_node(c);
    if (t->nodes == 1)
        return code;
    int tag = c->port->channel.tag;
    int lost = wr_allreduce(t, tag, WR_MIN, 1, &c->outcome.stop);
    c->outcome.code = wr_agree(t, tag, code ? code : lost);
    return c->outcome.code;
}

static bool by_messages(const wr_call *c)
{
    const wr_transport *t = c->port->world->transport;
    return c->in->exchange == WR_EXCHANGE_P2P || t->nodes > 1 || t->local_size > WR_HALL_RANKS;
}

/* The hall is there, or all leave; asked only when it must be made or enlarged, which all know. */
static int admit(wr_call *c)
{
    wr_port *port = c->port;
    int desks = c->desks ? c->desks : 1;
    if (wr_hall_fits(&port->hall, desks, c->plan->window))
        return 0;
    int opened = wr_hall_open(&port->hall, &port->channel, desks, c->plan->window);
    return wr_agree(port->world->transport, port->channel.tag, opened);
}

static void run_plan(wr_call *c, uint32_t turn)
{
    wr_port *port = c->port;
    wr_arena memory = {0};
    if (!c->plan->collective) {
        wr_outcome o = wr_alone_run(port, c->a);
        c->outcome.stop = o.stop;
        wr_call_fail(c, o.code, o.stop);
        return;
    }
    find_desks(c);
    int code = by_messages(c) ? 0 : admit(c);
    if (code)
        wr_call_fail(c, code, c->plan->lo);
    else if (by_messages(c))
        wr_rounds_messages(c);
    else
        run_shared(c, turn, &memory);
    wr_arena_release(&memory);
}

/* For WEIR_LOG=debug: what was decided, by rank 0. */
static void log_plan(const wr_call *c)
{
    const wr_plan *plan = c->plan;
    const wr_summary *w = &c->in->wanted;
    if (c->port->world->log.level < WR_LOG_DEBUG || c->port->world->transport->rank)
        return;
    wr_log_line(
        &c->port->world->log, WR_LOG_DEBUG,
        "%s: %s %lld bytes in %lld runs, once %lld in %lld, of [%lld, %lld) by %lld ranks: "
        "%s, %s; %lld aggregators, together %lld us, alone %lld us; %lld ns a call, %lld a MiB",
        c->port->storage->path, c->a->direction == WR_WRITE ? "write" : "read", (long long)w->bytes,
        (long long)w->runs, (long long)w->once_bytes, (long long)w->once_runs, (long long)w->lo,
        (long long)w->hi, (long long)w->active, plan->collective ? "together" : "alone",
        wr_plan_reason(plan), (long long)plan->aggregators, (long long)plan->price_together / 1000,
        (long long)plan->price_alone / 1000, (long long)c->in->call_ns, (long long)c->in->mib_ns);
}

int wr_collective_run(wr_port *port, const wr_access_request *a, int code, int64_t *count)
{
    wr_transport *t = port->world->transport;
    wr_waiter waiter = wr_transport_waiter(t, true);
    wr_summary wanted = {0};
    wr_plan plan;
    weir_error error;
    int64_t file_size;
    *count = 0;
    port->calls++;
    say_entry(port, a, code);
    uint32_t turn = wr_channel_exchange(&port->channel, &waiter);
    code = hear_entries(port, turn, &wanted, &file_size);
    if (t->nodes > 1)
        code = join_nodes(port, a->direction, code, &wanted, &file_size);
    if (code)
        return code;
    const wr_plan_input in = wr_port_input(port, a->direction, &wanted, file_size);
    code = wr_plan_build(&in, &plan);
    if (code)
        return code; /* the same on all ranks, like the input */
    if (in.realms == WR_REALMS_PERSISTENT && plan.collective) {
        port->block = plan.block;
        port->owners = plan.aggregators;
    }
    wr_call c = {.port = port, .a = a, .in = &in, .plan = &plan, .mine = -1, .error = &error};
    c.outcome.stop = INT64_MAX;
    log_plan(&c);
    if (wanted.active)
        run_plan(&c, turn);
    code = leave_all(&c);
    if (c.shared)
        wr_rounds_shared_end(&c);
    *count = c.outcome.stop == INT64_MAX ? a->end - a->begin : wr_access_count(a, c.outcome.stop);
    return code;
}
