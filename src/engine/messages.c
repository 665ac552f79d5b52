/* Rounds by messages: between nodes, or by exchange=p2p.
 *
 * Requests reach the aggregators whose realms they touch by a sparse exchange. An aggregator
 * handles one window at a time: it tells each rank that takes part the window's range, and data
 * follow, from or to that rank, in ascending order of ranks; lengths are known on both sides from
 * range and pattern. Nobody blocks on another's turn: each rank turns over its two roles until
 * every aggregator it asked has said that it is done. */
#include <string.h>

#include "base/arith.h"
#include "engine/rounds.h"

/* Of the channel's span. */
enum { TAG_HEADER = 8, TAG_READ, TAG_WRITE };

/* From an aggregator to a rank. */
typedef struct header {
    int64_t lo, hi;
    int64_t valid; /* when reading: bytes from here on do not exist */
    int64_t last;  /* 1: there are no more windows */
    int64_t realm; /* the aggregator's */
} header;

/* What travels to an aggregator: this, then the pattern. */
typedef struct parcel_head {
    int64_t begin, end;
} parcel_head;

enum state { IDLE, GREET, MOVE, ENDING, ENDED };

typedef struct role {
    enum state state;
    wr_windows walk;
    wr_turn turn;
    int64_t next; /* want being greeted, or whose data move */
    bool moving;  /* its data are under way */
    bool spoiled; /* a rank's data did not come: the window must not be written */
    bool waits;   /* for the storage, which the progress thread has */
    header header;
    wr_request *greetings; /* by want */
    wr_request data;
    char *buffer;
    char *packed; /* one rank's part */
} role;

/* A part of this rank's data on its way to an aggregator, or from one: one at a time. That cannot
 * block: aggregators take ranks in ascending order, so a rank that waits for one waits, in the end,
 * for a lower rank. */
typedef struct part {
    bool busy;
    wr_request request;
    header header;
    char *data;
} part;

typedef struct messages {
    wr_call *call;
    wr_transport *t;
    wr_arena memory;       /* all of it is there before the first round */
    role role;             /* as aggregator */
    int64_t expected;      /* aggregators that have not said they are done */
    part part;             /* as client */
    int64_t left;          /* of this rank's data, not yet with an aggregator */
    weir_pattern **realms; /* by aggregator */
} messages;

static int tag_of(const messages *m, int tag)
{
    return m->call->port->channel.tag + tag;
}

static void fail(messages *m, int code, int64_t stop)
{
    wr_call_fail(m->call, code, stop);
}

/* --- requests --- */

static int make_parcels(messages *m, wr_parcel *out, int *count)
{
    const wr_call *c = m->call;
    const wr_transport *t = m->t;
    wr_want want = {c->a->file, c->a->begin, c->a->end, t->rank};
    int64_t bytes = (int64_t)sizeof(parcel_head) + weir_pattern_footprint(c->a->file);
    char *data = wr_arena_alloc(&m->memory, bytes);
    if (!data)
        return WEIR_ENOMEM;
    *(parcel_head *)(void *)data = (parcel_head){c->a->begin, c->a->end};
    memcpy(data + sizeof(parcel_head), c->a->file, (size_t)bytes - sizeof(parcel_head));
    for (int64_t i = 0; i < c->plan->aggregators; i++) {
        weir_pattern *realm;
        int code = wr_plan_realm(c->plan, i, &realm);
        if (code)
            return code;
        m->realms[i] = realm;
        if (wr_want_meets(&want, realm))
            out[(*count)++] =
                (wr_parcel){t->by_node[wr_plan_place(c->plan, i, t->size)], bytes, data};
    }
    return 0;
}

static int take_wants(messages *m, int count, const wr_parcel *in)
{
    wr_call *c = m->call;
    weir_pattern *patterns = wr_arena_alloc(&m->memory, count * (int64_t)sizeof *patterns);
    c->wants.list = wr_arena_alloc(&m->memory, count * (int64_t)sizeof *c->wants.list);
    m->role.greetings = wr_arena_alloc(&m->memory, count * (int64_t)sizeof(wr_request));
    if (!patterns || !c->wants.list || !m->role.greetings)
        return WEIR_ENOMEM;
    for (int i = 0; i < count; i++) {
        const parcel_head *head = in[i].data;
        patterns[i] = wr_pattern_attach(head + 1);
        c->wants.list[i] = (wr_want){&patterns[i], head->begin, head->end, in[i].rank};
        m->role.greetings[i] = (wr_request){0};
    }
    c->wants.count = count;
    return 0;
}

/* Where the call tells what all want, nothing travels. */
static int know_wants(messages *m)
{
    wr_call *c = m->call;
    const int64_t ranks = m->t->size;
    if (c->mine < 0)
        return 0;
    c->wants.list = wr_arena_alloc(&m->memory, ranks * (int64_t)sizeof *c->wants.list);
    if (!c->wants.list)
        return WEIR_ENOMEM;
    int code = wr_call_know(c, (int)ranks, NULL, m->realms[c->mine], &c->wants);
    m->role.greetings =
        wr_arena_alloc(&m->memory, wr_max(1, c->wants.count) * (int64_t)sizeof(wr_request));
    if (!m->role.greetings)
        return WEIR_ENOMEM;
    memset(m->role.greetings, 0, (size_t)c->wants.count * sizeof(wr_request));
    return code;
}

/* Requests to the aggregators they concern. */
static int send_wants(messages *m, int count, const wr_parcel *out, int code)
{
    int received = 0;
    wr_parcel *in = NULL;
    int lost = wr_sparse_exchange(
        m->t, &(wr_sparse){.tag = tag_of(m, 0), .turn = m->call->port->calls, .memory = &m->memory},
        code ? 0 : count, out, &received, &in);
    code = code ? code : lost;
    return code ? code : take_wants(m, received, in);
}

/* The most that a want has in a window: more than a window only if it has bytes several times. */
static int64_t largest_part(const messages *m, const weir_pattern *pattern, int64_t bytes)
{
    return weir_pattern_is_disjoint(pattern) ? wr_min(bytes, m->call->plan->window) : bytes;
}

/* The memory of both roles. */
static int take_memory(messages *m)
{
    const wr_call *c = m->call;
    int64_t bytes = largest_part(m, c->a->file, c->a->end - c->a->begin), packed = 1;
    m->part.data = wr_arena_alloc(&m->memory, wr_max(1, bytes));
    if (!m->part.data || c->mine < 0)
        return m->part.data ? 0 : WEIR_ENOMEM;
    for (int64_t i = 0; i < c->wants.count; i++) {
        const wr_want *w = &c->wants.list[i];
        packed = wr_max(packed, largest_part(m, w->pattern, w->end - w->begin));
    }
    m->role.buffer = wr_arena_alloc(&m->memory, c->plan->window);
    m->role.packed = wr_arena_alloc(&m->memory, packed);
    return m->role.buffer && m->role.packed ? 0 : WEIR_ENOMEM;
}

/* [collective] Requests to aggregators, and memory: all have it, or none goes on. */
static int admit(messages *m)
{
    wr_call *c = m->call;
    int count = 0;
    wr_parcel *out = wr_arena_alloc(&m->memory, c->plan->aggregators * (int64_t)sizeof *out);
    m->realms = wr_arena_alloc(&m->memory, c->plan->aggregators * (int64_t)sizeof(weir_pattern *));
    if (m->realms)
        memset(m->realms, 0, (size_t)c->plan->aggregators * sizeof(weir_pattern *));
    int code = out && m->realms ? make_parcels(m, out, &count) : WEIR_ENOMEM;
    m->expected = code ? 0 : count;
    if (!c->a->known)
        code = send_wants(m, count, out, code);
    else if (!code)
        code = know_wants(m);
    if (!code)
        code = take_memory(m);
    return wr_agree(m->t, tag_of(m, 0), code);
}

/* --- as aggregator --- */

static bool self(const messages *m, int64_t want)
{
    return m->call->wants.list[want].rank == m->t->rank;
}

static void start_end(messages *m)
{
    m->role.state = ENDING;
    m->role.next = 0;
    m->role.header = (header){.last = 1, .realm = m->call->mine};
}

/* The next window; whether anything happened. */
static bool open_window(messages *m)
{
    wr_call *c = m->call;
    role *r = &m->role;
    int more = wr_turn_open(c, &r->walk, &r->turn, r->buffer);
    m->role.waits = more == WR_AWAY;
    if (more == WR_BUSY || more == WR_AWAY)
        return false;
    fail(m, more < 0 ? more : 0, r->turn.window.lo);
    if (more <= 0) {
        start_end(m);
        return true;
    }
    c->outcome.stop = wr_min(c->outcome.stop, r->turn.valid);
    r->header = (header){r->turn.window.lo, r->turn.window.hi, r->turn.valid, 0, c->mine};
    r->next = 0;
    r->spoiled = false;
    r->state = GREET;
    return true;
}

static bool close_window(messages *m)
{
    role *r = &m->role;
    int code = wr_turn_close(m->call, &r->turn, r->buffer, r->spoiled);
    r->waits = code == WR_AWAY;
    if (code == WR_BUSY || code == WR_AWAY)
        return false;
    fail(m, code, r->header.lo);
    r->state = IDLE;
    if (code || r->spoiled)
        start_end(m);
    return true;
}

/* Tells want number r->next about the header; whether its turn is over. */
static bool greet(messages *m)
{
    role *r = &m->role;
    const wr_want *want = &m->call->wants.list[r->next];
    bool over = true;
    if (r->greetings[r->next].parts) {
        fail(m, m->t->ops->test(m->t, &r->greetings[r->next], &over), m->call->plan->lo);
        if (!over)
            return false; /* the one before has not left yet, and its memory is the same */
    }
    bool concerned = r->header.last || wr_want_touches(want, r->header.lo, r->header.hi);
    if (concerned && !self(m, r->next))
        fail(m,
             m->t->ops->send(m->t, (wr_parcel){want->rank, sizeof r->header, &r->header},
                             tag_of(m, TAG_HEADER), false, &r->greetings[r->next]),
             m->call->plan->lo);
    r->next++;
    return true;
}

static bool greetings_left(messages *m)
{
    bool over;
    for (int64_t i = 0; i < m->call->wants.count; i++)
        if (m->role.greetings[i].parts) {
            over = true;
            fail(m, m->t->ops->test(m->t, &m->role.greetings[i], &over), m->call->plan->lo);
            if (!over)
                return true;
        }
    return false;
}

static int64_t packed_bytes(const messages *m, const wr_want *want, const header *h)
{
    const wr_access_request a = {
        .file = want->pattern, .begin = want->begin, .end = want->end, .memory = want->pattern};
    return wr_access_pack(&a, m->role.walk.realm, NULL, h->lo, wr_min(h->hi, h->valid));
}

/* Starts moving the data of want r->next; true if there is nothing to wait for. */
static bool start_move(messages *m, const wr_want *want, int64_t bytes)
{
    wr_call *c = m->call;
    role *r = &m->role;
    wr_window range = {.lo = r->header.lo, .hi = wr_min(r->header.hi, r->header.valid)};
    int code;
    if (self(m, r->next)) {
        wr_access_copy(c->a, r->turn.window.cover, r->buffer, range.lo, range.hi);
        m->left -= bytes;
        return true;
    }
    if (c->a->direction == WR_READ) {
        wr_want_copy(want, WR_READ, r->turn.window.cover, r->buffer, r->packed, range);
        code = m->t->ops->send(m->t, (wr_parcel){want->rank, bytes, r->packed}, tag_of(m, TAG_READ),
                               false, &r->data);
    } else {
        code = m->t->ops->receive(m->t, (wr_place){want->rank, bytes, r->packed},
                                  tag_of(m, TAG_WRITE), &r->data);
    }
    fail(m, code, r->header.lo);
    r->moving = !code;
    r->spoiled = r->spoiled || code;
    return code != 0;
}

/* The data of one rank after the other; whether anything happened. */
static bool move(messages *m)
{
    wr_call *c = m->call;
    role *r = &m->role;
    const wr_want *want = &c->wants.list[r->next];
    if (!r->moving) {
        int64_t bytes = wr_want_touches(want, r->header.lo, r->header.hi)
                            ? packed_bytes(m, want, &r->header)
                            : 0;
        if (bytes == 0 || start_move(m, want, bytes))
            r->next++;
        return true;
    }
    bool over = false;
    int code = m->t->ops->test(m->t, &r->data, &over);
    if (!over && !code)
        return false;
    fail(m, code, r->header.lo);
    r->spoiled = r->spoiled || code;
    if (!code && c->a->direction == WR_WRITE)
        wr_want_copy(want, WR_WRITE, r->turn.window.cover, r->buffer, r->packed,
                     (wr_window){.lo = r->header.lo, .hi = r->header.hi});
    r->moving = false;
    r->next++;
    return true;
}

/* One turn as aggregator; whether anything happened. */
static bool serve(messages *m)
{
    role *r = &m->role;
    int64_t all = m->call->wants.count;
    switch (r->state) {
    case IDLE:
        return open_window(m);
    case GREET:
        if (r->next < all)
            return greet(m);
        r->state = MOVE;
        r->next = 0;
        return true;
    case MOVE:
        if (r->next < all)
            return move(m);
        if (greetings_left(m)) /* they share the header's memory */
            return false;
        return close_window(m);
    case ENDING:
        if (r->next < all)
            return greet(m);
        if (greetings_left(m))
            return false;
        r->state = ENDED;
        return true;
    default:
        return false;
    }
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
    fail(m, code, p->header.lo);
    if (!code && a->direction == WR_READ)
        wr_access_pack(a, m->realms[p->header.realm], p->data, p->header.lo,
                       wr_min(p->header.hi, p->header.valid));
    p->busy = false;
    return true;
}

/* Starts moving this rank's part of a window. */
static void start_part(messages *m, int rank, const header *h)
{
    const wr_access_request *a = m->call->a;
    part *p = &m->part;
    bool write = a->direction == WR_WRITE;
    int64_t hi = wr_min(h->hi, h->valid);
    int64_t bytes = wr_access_pack(a, m->realms[h->realm], write ? p->data : NULL, h->lo, hi);
    if (bytes == 0)
        return;
    p->header = *h;
    p->request = (wr_request){0};
    m->left -= bytes;
    int code = write ? m->t->ops->send(m->t, (wr_parcel){rank, bytes, p->data},
                                       tag_of(m, TAG_WRITE), false, &p->request)
                     : m->t->ops->receive(m->t, (wr_place){rank, bytes, p->data},
                                          tag_of(m, TAG_READ), &p->request);
    fail(m, code, h->lo);
    p->busy = !code;
}

/* One turn as client; whether anything happened. */
static bool attend(messages *m)
{
    wr_parcel found;
    bool any = false;
    header h;
    if (m->part.busy)
        return finish_part(m);
    fail(m, m->t->ops->probe(m->t, tag_of(m, TAG_HEADER), &found, &any), m->call->plan->lo);
    if (!any)
        return false;
    int code = wr_receive(m->t, found.rank, tag_of(m, TAG_HEADER), &h, sizeof h);
    fail(m, code, m->call->plan->lo);
    if (code)
        return true;
    if (h.last)
        m->expected--;
    else
        start_part(m, found.rank, &h);
    return true;
}

/* Whether only the storage keeps this rank here: when reading, it has been asked, or nothing has
 * come from it yet; when writing, this rank's data are with their aggregators, and what it has as
 * aggregator is with the storage. */
static bool only_storage(const messages *m)
{
    const role *r = &m->role;
    if (m->call->a->direction == WR_READ)
        return true;
    return m->left <= 0 && !m->part.busy &&
           (r->state == ENDED || (r->waits && wr_windows_end(&r->walk)));
}

void wr_rounds_messages(wr_call *call)
{
    messages m = {
        .call = call, .t = call->port->world->transport, .left = call->a->end - call->a->begin};
    int code = admit(&m);
    bool serves = !code && call->mine >= 0;
    wr_call_fail(call, code, call->plan->lo);
    if (serves) {
        wr_windows_init(&m.role.walk, call->in, call->plan, m.realms[call->mine], call->wants.count,
                        call->wants.list);
        wr_windows_remember(&m.role.walk, &call->port->course[call->a->direction]);
        for (int64_t i = 0; i < call->wants.count; i++)
            m.expected -= self(&m, i);
    } else {
        m.role.state = ENDED;
    }
    for (int tries = 0; !code && (m.expected > 0 || m.part.busy || m.role.state != ENDED);) {
        bool busy = m.role.state != ENDED && serve(&m);
        busy = attend(&m) || busy;
        if (!busy && only_storage(&m))
            wr_call_stored(call);
        if (busy)
            tries = 0;
        else
            wr_transport_rest(m.t, &tries);
    }
    wr_turn_drop(call, &m.role.turn);
    if (serves)
        wr_windows_release(&m.role.walk);
    for (int64_t i = 0; m.realms && i < call->plan->aggregators; i++)
        weir_pattern_free(m.realms[i]);
    wr_wants_forget(&call->wants);
    wr_arena_release(&m.memory);
}
