/* Parts: packed and sent, or received and unpacked. Messages between two ranks arrive in the order
 * they were sent, and that is how each side knows which is which: parts are started in the order of
 * windows, and within one in that of the queue. */
#include "exchange/window_parts.h"

#include <string.h>

#include "base/arith.h"
#include "exchange/parties.h"
#include "pattern/meet.h"

static int grow(wr_region *memory, int64_t bytes)
{
    if (memory->bytes >= bytes)
        return 0;
    wr_region_close(memory);
    return wr_region_own(bytes, memory);
}

int wr_parts_build(wr_parts *p, const wr_rings *rings, const weir_pattern *realm, wr_arena *memory)
{
    const wr_call *c = rings->call;
    const int64_t n = c->wants.count;
    *p = (wr_parts){.rings = rings, .slots = c->slots, .room = c->plan->window};
    int code = wr_call_demand(c, &c->wants, false, memory, &p->queue);
    p->queue.realm = realm;
    p->of = wr_arena_alloc(memory, p->slots * (int64_t)sizeof *p->of);
    p->place = wr_arena_alloc(memory, n * (int64_t)sizeof *p->place);
    if (code || !p->of || !p->place)
        return WEIR_ENOMEM;
    memset(p->of, 0, (size_t)p->slots * sizeof *p->of);
    if (c->party.count == 1)
        return 0;
    for (int64_t i = 0; i < n; i++) /* more than a window, if it has bytes several times */
        if (!weir_pattern_is_disjoint(c->wants.list[i].pattern))
            p->room = wr_max(p->room, c->wants.list[i].end - c->wants.list[i].begin);
    if (grow(&c->group->packed, p->slots * p->room))
        return WEIR_ENOMEM;
    for (int i = 0; i < p->slots; i++) {
        p->of[i].part = wr_arena_alloc(memory, n * (int64_t)sizeof(wr_part));
        p->of[i].active = wr_arena_alloc(memory, n * (int64_t)sizeof(int64_t));
        p->of[i].packed = c->group->packed.base + i * p->room;
        if (!p->of[i].part || !p->of[i].active)
            return WEIR_ENOMEM;
    }
    return 0;
}

static enum wr_direction direction_of(const wr_parts *p)
{
    return p->rings->call->a->direction;
}

static int ring_of(const wr_parts *p)
{
    return (int)(p->rings->call->mine - p->rings->call->first_realm);
}

static char *buffer_of(const wr_parts *p, const wr_window_parts *w)
{
    return wr_node_windows_buffer(p->rings->nw, ring_of(p), w->which);
}

static bool is_ordered(const wr_parts *p, const wr_window_parts *w)
{
    return direction_of(p) == WR_WRITE && w->window->overlap && !w->lost;
}

/* The wants of the window, in its own list: the queue's is for the latest window. */
static const wr_want *want_of(const wr_parts *p, const wr_window_parts *w, int64_t i)
{
    return p->queue.want[w->active[i]];
}

static void add_part(const wr_parts *p, wr_window_parts *w, const wr_stretch *s, int64_t turn)
{
    const wr_call *c = p->rings->call;
    w->part[w->count++] =
        (wr_part){.rank = wr_call_gate(c, wr_demand_party(&p->queue, s->first), c->mine),
                  .stretch = *s,
                  .turn = turn};
}

int64_t wr_parts_open(wr_parts *p, int which, const wr_round *round, bool lost)
{
    const wr_call *c = p->rings->call;
    wr_window_parts *w = &p->of[which];
    wr_demand *q = &p->queue;
    int64_t turn = 0, clients = 0;
    *w = (wr_window_parts){.window = &round->window,
                           .which = which,
                           .lost = lost,
                           .part = w->part,
                           .active = w->active,
                           .packed = w->packed,
                           .notice = {.valid = round->valid, .failed = lost}};
    p->begun++;
    wr_demand_open(q, w->window);
    for (int64_t i = 0; i < q->active;) {
        if (wr_demand_party(q, i) == c->party.own) {
            int member = wr_call_member(c, wr_demand_want(q, i)->rank);
            if (!lost)
                wr_rings_admit(p->rings, ring_of(p), which, member,
                               (wr_slot_share){.turn = turn++});
            clients += !lost;
            i++;
            continue;
        }
        const wr_stretch s = wr_demand_cut(q, w->window, i);
        if (s.bytes)
            add_part(p, w, &s, turn++);
        i += s.count;
    }
    if (w->count)
        memcpy(w->active, q->list, (size_t)q->active * sizeof *q->list);
    return clients;
}

/* --- one part --- */

static void fail(const wr_parts *p, wr_window_parts *w, int code)
{
    wr_call_fail(p->rings->call, code, w->window->lo);
    w->spoiled = w->spoiled || code;
}

/* Where the data of a part are in the window, if they are one run there. */
static char *find_run(const wr_parts *p, const wr_window_parts *w, const wr_part *part)
{
    wr_meet meet;
    wr_meeting m;
    const wr_want *want = want_of(p, w, part->stretch.first);
    if (w->lost || is_ordered(p, w))
        return NULL;
    wr_meet_init(&meet, want->pattern, w->window->cover);
    wr_cursor_limit(&meet.a, want->begin, want->end);
    wr_cursor_clip(&meet.a, w->window->lo, w->window->hi);
    return wr_meet_next(&meet, &m) && m.count == 1 && m.run == part->stretch.bytes
               ? buffer_of(p, w) + m.b
               : NULL;
}

static bool repeats(const wr_parts *p, const wr_window_parts *w, const wr_part *part, int64_t i)
{
    int64_t first = p->queue.same[w->active[i]];
    return first != w->active[i] && first >= w->active[part->stretch.first];
}

/* All data of a part between packed memory and window. What several ranks write alike stands there
 * once, and is written again after what ranks between them write over it. */
static void copy_part(const wr_parts *p, const wr_window_parts *w, const wr_part *part)
{
    int64_t used = 0;
    const wr_stretch *s = &part->stretch;
    for (int64_t i = s->first; i < s->first + s->count; i++) {
        const int64_t first = p->queue.same[w->active[i]];
        const bool again = repeats(p, w, part, i);
        if (again && (!is_ordered(p, w) || first == p->queue.same[w->active[i - 1]]))
            continue;
        if (!again)
            p->place[w->active[i]] = used;
        const int64_t bytes =
            wr_want_copy(want_of(p, w, i), direction_of(p), w->window->cover, buffer_of(p, w),
                         part->data + (again ? p->place[first] : used), *w->window);
        used += again ? 0 : bytes;
    }
}

/* Memory for a part; false: parts before it must be over first. */
static bool find_room(const wr_parts *p, wr_window_parts *w, wr_part *part)
{
    part->data = find_run(p, w, part);
    part->straight = part->data;
    if (part->straight)
        return true;
    if (!w->busy)
        w->used = 0;
    if (w->used + part->stretch.bytes > p->room)
        return false;
    part->data = w->packed + w->used;
    w->used += part->stretch.bytes;
    w->busy++;
    return true;
}

static int send(const wr_parts *p, wr_parcel to, int tag, wr_request *r)
{
    wr_transport *t = p->rings->t;
    return t->ops->send(t, to, p->rings->call->group->channel.tag + tag, true, r);
}

/* Data, or, where they are not as the gate expects them, an empty message in their place; a notice,
 * and data if there are any, follow beside it, because the gate waits for those of later windows
 * already. */
static int start_sending(const wr_parts *p, wr_window_parts *w, wr_part *part)
{
    const bool told = w->lost || w->notice.valid < w->window->hi;
    int code = 0;
    if (told)
        code = send(p, (wr_parcel){part->rank, 0, NULL}, WR_TAG_READ, &part->notice[0]);
    if (told && !code)
        code = send(p, (wr_parcel){part->rank, sizeof w->notice, &w->notice}, WR_TAG_NOTICE,
                    &part->notice[1]);
    if (code || w->lost)
        return code;
    if (!part->straight)
        copy_part(p, w, part);
    return send(p, (wr_parcel){part->rank, part->stretch.bytes, part->data},
                told ? WR_TAG_NOTICE : WR_TAG_READ, &part->request);
}

static int start_receiving(const wr_parts *p, wr_part *part)
{
    wr_transport *t = p->rings->t;
    return t->ops->receive(t, (wr_place){part->rank, part->stretch.bytes, part->data},
                           p->rings->call->group->channel.tag + WR_TAG_WRITE, &part->request);
}

/* Starts it if there is room; whether it has. */
static bool start(const wr_parts *p, wr_window_parts *w, wr_part *part)
{
    if (!(w->lost && direction_of(p) == WR_READ) && !find_room(p, w, part))
        return false;
    int code = direction_of(p) == WR_READ ? start_sending(p, w, part) : start_receiving(p, part);
    fail(p, w, code);
    part->empty = code; /* it still has its turn */
    part->state = code ? WR_PART_HERE : WR_PART_MOVES;
    return true;
}

/* Whether a message is over; a code ends it as well. */
static bool is_over(const wr_parts *p, wr_window_parts *w, wr_request *r, bool *empty)
{
    bool over = true;
    int code = r->parts ? p->rings->t->ops->test(p->rings->t, r, &over) : 0;
    *empty = code == WR_EMPTY;
    fail(p, w, code == WR_EMPTY ? 0 : code);
    return over || code;
}

static bool finish_moving(const wr_parts *p, wr_window_parts *w, wr_part *part)
{
    bool empty;
    for (int i = 0; i < 2; i++)
        if (!is_over(p, w, &part->notice[i], &empty))
            return false;
    if (!is_over(p, w, &part->request, &empty))
        return false;
    part->empty = empty;
    if (empty) { /* the gate tells why */
        wr_outcome *o = &p->rings->call->outcome;
        o->stop = wr_min(o->stop, w->window->lo);
        w->spoiled = true;
    }
    part->state = WR_PART_HERE;
    return true;
}

/* The data are where they belong, in their turn. */
static bool settle(const wr_parts *p, wr_window_parts *w, wr_part *part)
{
    const bool ordered = is_ordered(p, w);
    if (ordered && !wr_rings_is_turn(p->rings, ring_of(p), w->which, part->turn))
        return false;
    if (direction_of(p) == WR_WRITE && !part->straight && !part->empty && !w->lost)
        copy_part(p, w, part);
    if (ordered)
        wr_rings_end_turn(p->rings, ring_of(p), w->which, part->turn);
    w->busy -= part->data && !part->straight;
    part->state = WR_PART_DONE;
    w->over++;
    return true;
}

/* --- windows --- */

static bool run_window(const wr_parts *p, wr_window_parts *w, bool may_start)
{
    bool busy = false;
    for (int64_t i = 0; i < w->started; i++) {
        wr_part *part = &w->part[i];
        if (part->state == WR_PART_MOVES)
            busy = finish_moving(p, w, part) || busy;
        if (part->state == WR_PART_HERE)
            busy = settle(p, w, part) || busy;
    }
    while (may_start && w->started < w->count && start(p, w, &w->part[w->started])) {
        w->started++;
        busy = true;
    }
    return busy;
}

bool wr_parts_run(wr_parts *p)
{
    bool busy = false;
    for (int64_t k = wr_max(0, p->begun - p->slots); k < p->begun; k++) {
        wr_window_parts *w = &p->of[k % p->slots];
        if (w->over < w->count)
            busy = run_window(p, w, k == p->next) || busy;
        if (k == p->next && w->started == w->count)
            p->next++;
    }
    return busy;
}

bool wr_parts_are_over(const wr_parts *p, int which)
{
    return p->of[which].over == p->of[which].count;
}
