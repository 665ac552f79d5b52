/* Windows opened, announced to, moved and closed. */
#include "exchange/service.h"

#include <stdlib.h>
#include <string.h>

#include "base/arith.h"

enum state { ENDED, IDLE, ANNOUNCE, MOVE, ENDING };

/* What is asked for: this, then the pattern. */
typedef struct asked {
    int64_t rank, begin, end;
    int64_t bytes; /* of both */
} asked;

enum { ASKED_ALIGN = 16 };

static void fail(wr_service *s, int code, int64_t stop)
{
    wr_call_fail(s->call, code, stop);
}

/* --- requests --- */

int wr_service_open(wr_service *s)
{
    const wr_plan *plan = s->call->plan;
    int64_t bytes = plan->aggregators * (int64_t)sizeof(weir_pattern *);
    s->realms = wr_arena_alloc(&s->memory, bytes);
    if (!s->realms)
        return WEIR_ENOMEM;
    memset(s->realms, 0, (size_t)bytes);
    int code = 0;
    for (int64_t i = 0; i < plan->aggregators && !code; i++)
        code = wr_plan_realm(plan, i, &s->realms[i]);
    return code;
}

int64_t wr_parcel_room(const wr_want *want)
{
    int64_t bytes = (int64_t)sizeof(asked) + weir_pattern_footprint(want->pattern);
    return wr_round_up(bytes, ASKED_ALIGN);
}

char *wr_parcel_put(char *to, const wr_want *want)
{
    const weir_pattern *p = want->pattern;
    int64_t bytes = wr_parcel_room(want), rest = weir_pattern_footprint(p) - (int64_t)sizeof *p;
    char *end = to + bytes;
    *(asked *)(void *)to = (asked){want->rank, want->begin, want->end, bytes};
    to += sizeof(asked);
    memcpy(to, p, sizeof *p); /* which may have been attached to its nodes */
    to += sizeof *p;
    memcpy(to, p->node, (size_t)rest);
    memset(to + rest, 0, (size_t)(end - to - rest));
    return end;
}

static const asked *next_asked(const asked *a)
{
    return (const asked *)(const void *)((const char *)a + a->bytes);
}

static int by_rank(const void *a, const void *b)
{
    const wr_want *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static int64_t count_asked(int count, const wr_parcel *in)
{
    int64_t all = 0;
    for (int i = 0; i < count; i++) {
        const asked *a = in[i].data, *end = (const void *)((const char *)in[i].data + in[i].bytes);
        for (; a < end; a = next_asked(a))
            all++;
    }
    return all;
}

int wr_service_hear(wr_service *s, int count, const wr_parcel *in)
{
    wr_wants *w = &s->call->wants;
    int64_t all = count_asked(count, in);
    weir_pattern *patterns = wr_arena_alloc(&s->memory, all * (int64_t)sizeof *patterns);
    w->list = wr_arena_alloc(&s->memory, all * (int64_t)sizeof *w->list);
    if (!patterns || !w->list)
        return WEIR_ENOMEM;
    for (int i = 0; i < count; i++) {
        const asked *a = in[i].data, *end = (const void *)((const char *)in[i].data + in[i].bytes);
        for (; a < end; a = next_asked(a)) {
            weir_pattern *p = &patterns[w->count];
            *p = wr_pattern_attach(a + 1);
            w->list[w->count++] = (wr_want){p, a->begin, a->end, (int)a->rank};
        }
    }
    w->count = wr_wants_keep(s->realms[s->call->mine], w->count, w->list);
    if (w->count)
        qsort(w->list, (size_t)w->count, sizeof *w->list, by_rank);
    return 0;
}

int wr_service_know(wr_service *s)
{
    wr_wants *w = &s->call->wants;
    w->list = wr_arena_alloc(&s->memory, s->t->size * (int64_t)sizeof *w->list);
    if (!w->list)
        return WEIR_ENOMEM;
    return wr_call_know(s->call, s->t->size, NULL, s->realms[s->call->mine], w);
}

/* One request for all aggregators that it concerns. */
static int make_parcels(wr_service *s, wr_parcel *out, int *count)
{
    const wr_call *c = s->call;
    wr_want want = {c->a->file, c->a->begin, c->a->end, s->t->rank};
    int64_t bytes = wr_parcel_room(&want);
    char *data = wr_arena_alloc(&s->memory, bytes);
    if (!data)
        return WEIR_ENOMEM;
    wr_parcel_put(data, &want);
    for (int64_t i = 0; i < c->plan->aggregators; i++)
        if (wr_want_meets(&want, s->realms[i]))
            out[(*count)++] = (wr_parcel){wr_service_rank(s, i), bytes, data};
    return 0;
}

int wr_service_ask(wr_service *s, int64_t *partners)
{
    const wr_call *c = s->call;
    int count = 0, received = 0;
    wr_parcel *in = NULL;
    wr_parcel *out = wr_arena_alloc(&s->memory, c->plan->aggregators * (int64_t)sizeof *out);
    int code = out ? wr_service_open(s) : WEIR_ENOMEM;
    if (!code)
        code = make_parcels(s, out, &count);
    *partners = count;
    if (c->a->known)
        return code || c->mine < 0 ? code : wr_service_know(s);
    wr_sparse x = {.tag = c->group->channel.tag, .round = c->group->calls, .memory = &s->memory};
    int lost = wr_sparse_exchange(s->t, &x, code ? 0 : count, out, &received, &in);
    code = code ? code : lost;
    return code || c->mine < 0 ? code : wr_service_hear(s, received, in);
}

/* --- memory --- */

int64_t wr_service_part(const wr_service *s, const weir_pattern *pattern, int64_t bytes)
{
    return weir_pattern_is_disjoint(pattern) ? wr_min(bytes, s->call->plan->window) : bytes;
}

/* Wants in the order of nodes, and within one in that of ranks. */
static void sort_by_node(wr_service *s, int64_t *start)
{
    const wr_wants *w = &s->call->wants;
    const int *node_of = s->t->node_of;
    memset(start, 0, (size_t)(s->t->nodes + 1) * sizeof *start);
    for (int64_t i = 0; i < w->count; i++)
        start[node_of[w->list[i].rank] + 1]++;
    for (int node = 0; node < s->t->nodes; node++)
        start[node + 1] += start[node];
    for (int64_t i = 0; i < w->count; i++)
        s->by_nodes[start[node_of[w->list[i].rank]]++] = i;
}

static int prepare_orders(wr_service *s)
{
    const int64_t n = s->call->wants.count;
    s->ascending = wr_arena_alloc(&s->memory, 2 * n * (int64_t)sizeof *s->ascending);
    int64_t *start = wr_arena_alloc(&s->memory, (s->t->nodes + 1) * (int64_t)sizeof *start);
    if (!s->ascending || !start)
        return WEIR_ENOMEM;
    s->by_nodes = s->ascending + n;
    for (int64_t i = 0; i < n; i++)
        s->ascending[i] = i;
    sort_by_node(s, start);
    return 0;
}

int wr_service_prepare(wr_service *s)
{
    const wr_wants *w = &s->call->wants;
    int64_t packed = s->by_node ? s->call->plan->window : 1;
    for (int64_t i = 0; i < w->count; i++)
        packed = wr_max(packed,
                        wr_service_part(s, w->list[i].pattern, w->list[i].end - w->list[i].begin));
    s->stretch = wr_arena_alloc(&s->memory, w->count * (int64_t)sizeof *s->stretch);
    s->announcement = wr_arena_alloc(&s->memory, w->count * (int64_t)sizeof *s->announcement);
    s->announced = wr_arena_alloc(&s->memory, w->count * (int64_t)sizeof *s->announced);
    s->buffer = wr_arena_alloc(&s->memory, s->call->plan->window);
    s->packed = wr_arena_alloc(&s->memory, packed);
    if (!s->stretch || !s->announcement || !s->announced || !s->buffer || !s->packed)
        return WEIR_ENOMEM;
    for (int64_t i = 0; i < w->count; i++)
        s->announced[i] = (wr_request){0};
    return prepare_orders(s);
}

/* --- stretches --- */

static const wr_want *want_of(const wr_service *s, int64_t place)
{
    return &s->call->wants.list[s->order[place]];
}

/* Whether a stretch is this rank's own, and there is nobody to deal with. */
static bool is_own(const wr_service *s, const wr_stretch *stretch)
{
    return !s->by_node && stretch->rank == s->t->rank;
}

/* Adds the want at a place: to the last stretch if it is of the same node and there is room. */
static void stretch_to(wr_service *s, int64_t place, int64_t bytes)
{
    const wr_want *want = want_of(s, place);
    int rank = s->by_node ? s->t->leaders[s->t->node_of[want->rank]] : want->rank;
    wr_stretch *last = s->stretches ? &s->stretch[s->stretches - 1] : NULL;
    if (last && s->by_node && last->rank == rank && last->bytes + bytes <= s->call->plan->window) {
        last->count = place - last->first + 1;
        last->bytes += bytes;
    } else {
        s->stretch[s->stretches++] = (wr_stretch){place, 1, rank, bytes};
    }
}

/* Writes its announcement. */
static void word_announcement(wr_service *s, int64_t i, bool last)
{
    const wr_stretch *x = &s->stretch[i];
    s->announcement[i] = (wr_announcement){.lo = s->round.window.lo,
                                           .hi = s->round.window.hi,
                                           .valid = s->round.valid,
                                           .last = last,
                                           .realm = s->call->mine,
                                           .first = want_of(s, x->first)->rank,
                                           .end = want_of(s, x->first + x->count - 1)->rank + 1};
}

/* Who takes part in the window, in which order. */
static void cut_stretches(wr_service *s)
{
    const int64_t n = s->call->wants.count;
    bool ordered = s->call->a->direction == WR_WRITE && s->round.window.overlap;
    s->order = s->by_node && !ordered ? s->by_nodes : s->ascending;
    s->in_turn = s->by_node && ordered &&
                 memcmp(s->ascending, s->by_nodes, (size_t)n * sizeof *s->ascending) != 0;
    s->stretches = 0;
    for (int64_t i = 0; i < n; i++) {
        bool touches = wr_want_touches(want_of(s, i), s->round.window.lo, s->round.window.hi);
        int64_t bytes = s->by_node && touches
                            ? wr_want_bytes(want_of(s, i), s->walk.realm, wr_service_range(s))
                            : -1;
        if (touches && bytes)
            stretch_to(s, i, bytes);
    }
    for (int64_t i = 0; i < s->stretches; i++)
        word_announcement(s, i, false);
}

/* Everyone it deals with, once. */
static void start_end(wr_service *s)
{
    s->state = ENDING;
    s->next = 0;
    s->order = s->by_node ? s->by_nodes : s->ascending;
    s->stretches = 0;
    for (int64_t i = 0; i < s->call->wants.count; i++)
        stretch_to(s, i, 0);
    for (int64_t i = 0; i < s->stretches; i++)
        word_announcement(s, i, true);
}

/* --- rounds --- */

/* The next window; whether anything happened. */
static bool open_window(wr_service *s)
{
    wr_call *c = s->call;
    int more = wr_round_open(&c->rounds, &s->walk, &s->round, s->buffer);
    s->waits = more == WR_AWAY;
    if (more == WR_BUSY || more == WR_AWAY)
        return false;
    fail(s, more < 0 ? more : 0, s->round.window.lo);
    if (more <= 0) {
        start_end(s);
        return true;
    }
    c->outcome.stop = wr_min(c->outcome.stop, s->round.valid);
    cut_stretches(s);
    s->next = 0;
    s->spoiled = false;
    s->state = s->in_turn ? MOVE : ANNOUNCE;
    return true;
}

static bool close_window(wr_service *s)
{
    int64_t lo = s->round.window.lo;
    int code = wr_round_close(&s->call->rounds, &s->round, s->buffer, s->spoiled);
    s->waits = code == WR_AWAY;
    if (code == WR_BUSY || code == WR_AWAY)
        return false;
    fail(s, code, lo);
    s->state = IDLE;
    if (code || s->spoiled)
        start_end(s);
    return true;
}

static void announce(wr_service *s, int64_t i)
{
    const wr_stretch *x = &s->stretch[i];
    if (!is_own(s, x))
        fail(s,
             s->t->ops->send(s->t,
                             (wr_parcel){x->rank, sizeof *s->announcement, &s->announcement[i]},
                             wr_service_tag(s, WR_TAG_ANNOUNCE), false, &s->announced[i]),
             s->call->plan->lo);
}

/* Their memory is that of the next window's. */
static bool announcements_left(wr_service *s)
{
    for (int64_t i = 0; i < s->stretches; i++) {
        bool over = true;
        if (s->announced[i].parts)
            fail(s, s->t->ops->test(s->t, &s->announced[i], &over), s->call->plan->lo);
        if (!over)
            return true;
    }
    return false;
}

/* All data of a stretch between packed memory and window. */
static void copy_stretch(wr_service *s, const wr_stretch *x)
{
    char *packed = s->packed;
    for (int64_t i = 0; i < x->count; i++)
        packed += wr_want_copy(want_of(s, x->first + i), s->call->a->direction,
                               s->round.window.cover, s->buffer, packed, wr_service_range(s));
}

/* Starts moving a stretch; true if there is nothing to wait for. */
static bool start_move(wr_service *s, wr_stretch *x)
{
    wr_call *c = s->call;
    int code;
    if (is_own(s, x)) {
        wr_window range = wr_service_range(s);
        wr_access_copy(c->a, s->round.window.cover, s->buffer, range.lo, range.hi);
        s->own += x->bytes;
        return true;
    }
    if (c->a->direction == WR_READ) {
        copy_stretch(s, x);
        code = s->t->ops->send(s->t, (wr_parcel){x->rank, x->bytes, s->packed},
                               wr_service_tag(s, WR_TAG_READ), false, &s->data);
    } else {
        code = s->t->ops->receive(s->t, (wr_place){x->rank, x->bytes, s->packed},
                                  wr_service_tag(s, WR_TAG_WRITE), &s->data);
    }
    fail(s, code, s->round.window.lo);
    s->moving = !code;
    s->spoiled = s->spoiled || code;
    return code != 0;
}

/* One stretch after the other; whether anything happened. */
static bool move(wr_service *s)
{
    wr_stretch *x = &s->stretch[s->next];
    if (!s->moving) {
        if (s->in_turn)
            announce(s, s->next);
        if (x->bytes < 0)
            x->bytes = wr_want_bytes(want_of(s, x->first), s->walk.realm, wr_service_range(s));
        if (x->bytes == 0 || start_move(s, x))
            s->next++;
        return true;
    }
    bool over = false;
    int code = s->t->ops->test(s->t, &s->data, &over);
    if (!over && !code)
        return false;
    fail(s, code, s->round.window.lo);
    s->spoiled = s->spoiled || code;
    if (!code && s->call->a->direction == WR_WRITE)
        copy_stretch(s, x);
    s->moving = false;
    s->next++;
    return true;
}

bool wr_service_run(wr_service *s)
{
    switch (s->state) {
    case IDLE:
        return open_window(s);
    case ANNOUNCE:
    case ENDING:
        if (s->next < s->stretches) {
            announce(s, s->next++);
            return true;
        }
        if (s->state == ENDING && announcements_left(s))
            return false;
        s->state = s->state == ANNOUNCE ? MOVE : ENDED;
        s->next = 0;
        return true;
    case MOVE:
        if (s->next < s->stretches)
            return move(s);
        if (announcements_left(s))
            return false;
        return close_window(s);
    default:
        return false;
    }
}

bool wr_service_is_over(const wr_service *s)
{
    return s->state == ENDED;
}

bool wr_service_is_stored(const wr_service *s)
{
    return s->state == ENDED || (s->waits && wr_windows_end(&s->walk));
}

void wr_service_begin(wr_service *s)
{
    wr_call *c = s->call;
    if (c->mine < 0)
        return;
    wr_windows_init(&s->walk, c->in, c->plan, s->realms[c->mine], c->wants.count, c->wants.list);
    wr_windows_remember(&s->walk, &c->group->window_cache[c->a->direction]);
    s->state = IDLE;
}

void wr_service_close(wr_service *s)
{
    wr_round_drop(&s->call->rounds, &s->round);
    if (s->walk.plan)
        wr_windows_release(&s->walk);
    for (int64_t i = 0; s->realms && i < s->call->plan->aggregators; i++)
        weir_pattern_free(s->realms[i]);
    wr_wants_forget(&s->call->wants);
    wr_arena_release(&s->memory);
}
