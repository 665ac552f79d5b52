/* The rounds of a call through windows in memory that the ranks of a party share: on one node that
 * is all; between parties gates take part in the windows of aggregators elsewhere by messages.
 * Every rank is a client, some are aggregators or gates too: each turns its roles over until all
 * windows that concern its party are through. */
#include "base/arith.h"
#include "base/timer.h"
#include "exchange/gate.h"
#include "exchange/meeting.h"
#include "exchange/parties.h"
#include "exchange/serve.h"
#include "runtime/channel.h"

/* One rank's roles. */
typedef struct roles {
    wr_call *call;
    wr_rings rings;
    wr_server server;
    wr_gate gate;
    wr_wants members; /* what its party wants, by member */
    weir_pattern *realm;
    wr_arena memory;
    int code; /* why it has no part in it, on one node */
} roles;

/* Roles of which nothing is built yet. */
static void begin(roles *r)
{
    r->server = (wr_server){.rings = &r->rings, .last = r->call->mine < 0};
    r->gate = (wr_gate){.rings = &r->rings, .ended = true, .last = true};
    r->realm = NULL;
    r->members = r->call->wants = (wr_wants){0};
}

static void release(roles *r)
{
    wr_gate_release(&r->gate);
    wr_server_release(&r->server);
    weir_pattern_free(r->realm);
    wr_wants_forget(&r->members);
    wr_wants_forget(&r->call->wants);
    wr_arena_release(&r->memory);
    begin(r);
}

/* --- admission --- */

/* [collective on the node] Memory for the windows of the plan, or of a smaller one, or
 * WR_NO_REGION. */
static int open_windows(wr_call *c)
{
    wr_group *group = c->group;
    wr_node_windows *nw = &group->node_windows;
    const bool alone = c->party.count == 1;
    int64_t window = alone ? c->plan->window : wr_max(c->plan->window, wr_call_widest(c));
    wr_node_windows_need need = {c->party.size, (int)wr_max(1, c->rings + c->gates),
                                 (int)c->plan->slots, window};
    if (wr_node_windows_fits(nw, &need))
        return 0;
    int code;
    while ((code = wr_node_windows_open(nw, &group->inner, &need)) == WR_NO_REGION && alone &&
           nw->limit >= 0) {
        wr_plan_shrink(c->in, c->plan);
        nw->limit = c->in->limit;
        wr_call_log(c);
        need.slots = (int)c->plan->slots;
        need.window = c->plan->window;
    }
    const bool few = need.slots == (alone ? 2 : 3);
    int64_t kept = code || few ? 0 : need.slots * wr_slot_bytes(need.window);
    kept *= alone ? 1 : 3;
    atomic_fetch_add(&group->handle.world->in_flight, kept - group->in_flight);
    group->in_flight = kept;
    return code;
}

/* What the party wants, as its gates need it. */
static int gather(roles *r)
{
    wr_call *c = r->call;
    if (!c->party.ranks)
        return wr_call_gather(c, &r->memory, &r->members);
    r->members.list = wr_arena_alloc(&r->memory, sizeof *r->members.list);
    if (!r->members.list)
        return WEIR_ENOMEM;
    if (c->a->begin < c->a->end)
        r->members.list[r->members.count++] = (wr_want){c->a->file, c->a->begin, c->a->end, 0};
    return 0;
}

/* [collective] What this rank's roles need. */
static int prepare(roles *r, int code)
{
    wr_call *c = r->call;
    if (!code && c->mine >= 0)
        code = wr_plan_realm(c->plan, c->mine, &r->realm);
    int served = wr_call_served(c, &r->memory, r->realm, &c->wants);
    code = code ? code : served;
    if (!code)
        code = wr_server_build(&r->server, &r->rings, r->realm, &r->memory);
    if (!code && c->gates)
        code = gather(r);
    if (!code)
        code = wr_gate_build(&r->gate, &r->rings, &r->members, &r->memory);
    return code;
}

/* [collective] What all have by now, the next call need not agree on. */
static int agree(wr_call *c, int code)
{
    const wr_plan *plan = c->plan;
    c->rounds.did->meetings++;
    code = wr_call_agree(c, code);
    c->group->held = code ? (wr_held){0}
                          : (wr_held){plan->exchange, plan->aggregators, plan->slots, plan->window};
    return code;
}

/* Others rely on this rank, whose memory ran short: it takes what was set aside, and, should that
 * not be enough, waits for more. */
static void insist(roles *r)
{
    int tries = 0;
    do {
        wr_group_give_back(r->call->group);
        release(r);
        wr_backoff(&tries);
    } while (prepare(r, 0));
}

/* [collective] There is memory for the rounds, and all know what they need; or all leave. On one
 * node an aggregator that has not has no windows. */
static int admit(roles *r)
{
    wr_call *c = r->call;
    int code = open_windows(c);
    c->slots = (int)c->plan->slots;
    if (!code && !c->party.ranks)
        code = wr_call_show(c);
    if (c->party.count == 1 && code)
        return code;
    if (code == WR_NO_REGION)
        code = wr_fail(WEIR_ENOSPC, "no shared memory for the ranks of a node");
    code = prepare(r, code);
    if (c->party.count == 1)
        r->code = code;
    else if (c->plan->admits)
        return agree(c, code);
    else if (code)
        insist(r);
    return 0;
}

/* --- rounds --- */

/* Whether only the storage keeps this rank here: when reading, it has been asked for what there is
 * room for; when writing, it has everything. */
static bool only_storage(const roles *r, bool over)
{
    if (r->call->a->direction == WR_READ)
        return true;
    return over && wr_gate_is_over(&r->gate) && wr_server_is_stored(&r->server);
}

/* The rank whose window this one waits for, as far as can be told: the first whose ring is not
 * through. */
static int awaited(const roles *r)
{
    const wr_call *c = r->call;
    if (c->party.ranks || (c->mine >= 0 && r->server.opened > 0))
        return WR_NOBODY;
    for (int ring = 0; ring < c->rings; ring++) {
        const int64_t all = atomic_load(&wr_node_windows_ring(r->rings.nw, ring)->windows) - 1;
        const int owner = wr_call_owner(c, ring);
        if (owner != c->party.self && (all < 0 || r->rings.nw->seen[ring] < all))
            return r->rings.t->local[owner];
    }
    return WR_NOBODY;
}

/* Messages come without a wake-up, and so does a range that somebody else gives back. */
static void rest(roles *r, uint32_t heard, int *tries)
{
    wr_word *wakeup = wr_node_windows_wakeup(r->rings.nw, r->call->party.self);
    wr_waiter waiter = wr_transport_waiter(r->rings.t, true);
    const bool messages = wr_server_waits(&r->server) || wr_gate_waits(&r->gate);
    if (!messages && !r->server.barred) {
        wr_wait(wakeup, heard, &waiter);
        return;
    }
    wr_backoff_on(wakeup, heard, tries);
    if (messages)
        wr_transport_idle(r->rings.t);
    else if (waiter.poke)
        waiter.poke(waiter.user);
}

static void run_rounds(roles *r)
{
    const wr_word *wakeup = wr_node_windows_wakeup(r->rings.nw, r->call->party.self);
    bool over = false;
    wr_timer_name(WR_NOBODY);
    for (int tries = 0;;) {
        uint32_t heard = wr_word_get(wakeup);
        bool busy = wr_server_run(&r->server);
        busy = wr_gate_run(&r->gate) || busy;
        busy = wr_rings_attend(&r->rings, &over) || busy;
        tries = busy ? 0 : tries;
        if (busy)
            continue;
        if (over && wr_server_is_over(&r->server) && wr_gate_is_over(&r->gate))
            return;
        if (only_storage(r, over))
            wr_call_stored(r->call);
        const int whom = wr_timer_runs() ? awaited(r) : WR_NOBODY;
        rest(r, heard, &tries);
        wr_world_name_waited(r->call->group->handle.world, whom);
    }
}

static void run(wr_call *c)
{
    roles *r = c->roles;
    c->rounds.did->exchange = c->plan->exchange;
    r->server.round = r->rings.nw->round;
    for (int ring = 0; ring < r->rings.count; ring++)
        r->rings.nw->seen[ring] = 0;
    wr_server_begin(&r->server, r->code);
    run_rounds(r);
}

/* Where some node has no shared memory each rank is a party of its own. */
static void run_apart(wr_call *c)
{
    c->slots = 0;
    if (c->party.count == 1) {
        wr_call_run_apart(c);
        return;
    }
    c->group->node_windows.limit = -1; /* there is no need to look again */
    c->rounds.did->meetings -= 1 + (!c->a->known && !c->described); /* the plan has one admission */
    wr_plan_do_without(c->in, c->plan, false);
    wr_call_log(c);
    wr_rounds_windows(c);
}

void wr_rounds_windows(wr_call *c)
{
    wr_group *group = c->group;
    roles r = {.call = c};
    wr_call_find_party(c, c->plan->exchange == WR_EXCHANGE_P2P);
    r.rings =
        (wr_rings){c, group->handle.world->transport, &group->node_windows, c->rings + c->gates};
    begin(&r);
    c->roles = &r;
    int code = admit(&r);
    const bool apart = !c->party.ranks && (code == WR_NO_REGION || code == WEIR_ENOSPC);
    if (!code) {
        c->rounds.wakeup = wr_node_windows_wakeup(r.rings.nw, c->party.self);
        wr_call_fail(c, r.code, c->plan->lo);
        if (c->plan->handed)
            wr_call_hand_over(c, run);
        else
            run(c);
    }
    release(&r);
    if (apart)
        run_apart(c);
    else if (code) {
        c->slots = 0;
        wr_call_fail(c, code, c->plan->lo);
    }
}

void wr_rounds_windows_end(wr_call *c)
{
    const wr_node_windows *nw = &c->group->node_windows;
    for (int ring = 0; c->slots && ring < c->rings + c->gates; ring++)
        if (wr_call_owner(c, ring) == c->party.self)
            wr_rings_clear(nw, ring, c->slots);
}
