/* Queues of wants, and where they are cut. */
#include "plan/stretch.h"

#include <string.h>

#include "base/arith.h"

/* Places of wants sorted by party; within one the order stays. */
static void sort_by_party(wr_demand *q, const wr_parted *from, int64_t *start)
{
    memset(start, 0, (size_t)(from->parties + 1) * sizeof *start);
    for (int64_t i = 0; i < from->count; i++)
        start[from->party[i] + 1]++;
    for (int i = 0; i < from->parties; i++)
        start[i + 1] += start[i];
    for (int64_t i = 0; i < from->count; i++) {
        int64_t place = start[from->party[i]]++;
        q->want[place] = &from->wants[i];
        q->party[place] = from->party[i];
    }
}

static bool is_sorted(int64_t count, const int *party)
{
    for (int64_t i = 1; i < count; i++)
        if (party[i] < party[i - 1])
            return false;
    return true;
}

static uint64_t key_of(const wr_want *w)
{
    uint64_t key = w->pattern->hash.half[0] ^ (uint64_t)w->begin * UINT64_C(0x9e3779b97f4a7c15);
    return (key ^ (uint64_t)w->end) * UINT64_C(0xd6e8feb86659fd93);
}

static bool are_same(const wr_want *x, const wr_want *y)
{
    return x->begin == y->begin && x->end == y->end &&
           wr_hash_equal(x->pattern->hash, y->pattern->hash);
}

/* By a table of twice as many places, whose entries are one more than a number. */
static void find_same(wr_demand *q, int64_t places, int64_t *table)
{
    memset(table, 0, (size_t)places * sizeof *table);
    for (int64_t i = 0; i < q->count; i++) {
        int64_t at = (int64_t)(key_of(q->want[i]) >> 1) % places, found;
        while ((found = table[at]) &&
               !(q->party[found - 1] == q->party[i] && are_same(q->want[found - 1], q->want[i])))
            at = (at + 1) % places;
        if (!found)
            table[at] = i + 1;
        q->same[i] = found && !q->plan->by_rank ? found - 1 : i;
    }
}

int wr_demand_build(wr_demand *q, const wr_plan *plan, const wr_parted *from, wr_arena *memory)
{
    const int64_t n = from->count, places = 2 * n + 1;
    *q = (wr_demand){.plan = plan, .count = n};
    q->want = wr_arena_alloc(memory, n * (int64_t)sizeof(const wr_want *));
    q->party = wr_arena_alloc(memory, n * (int64_t)sizeof *q->party);
    q->same = wr_arena_alloc(memory, n * (int64_t)sizeof *q->same);
    q->list = wr_arena_alloc(memory, n * (int64_t)sizeof *q->list);
    int64_t *table =
        wr_arena_alloc(memory, wr_max(places, from->parties + 1) * (int64_t)sizeof *table);
    if (!q->want || !q->party || !q->same || !q->list || !table)
        return WEIR_ENOMEM;
    if (plan->by_rank || is_sorted(n, from->party))
        for (int64_t i = 0; i < n; i++) {
            q->want[i] = &from->wants[i];
            q->party[i] = from->party[i];
        }
    else
        sort_by_party(q, from, table);
    find_same(q, places, table);
    return 0;
}

void wr_demand_open(wr_demand *q, const wr_window *window)
{
    q->active = 0;
    for (int64_t i = 0; i < q->count; i++)
        if (wr_want_touches(q->want[i], window->lo, window->hi))
            q->list[q->active++] = i;
}

int64_t wr_demand_bytes(const wr_demand *q, const wr_window *window, int64_t active)
{
    return wr_want_bytes(wr_demand_want(q, active), q->realm, window->lo, window->hi);
}

wr_stretch wr_demand_cut(const wr_demand *q, const wr_window *window, int64_t from)
{
    const wr_plan *plan = q->plan;
    wr_stretch s = {.first = from};
    for (int64_t i = from; i < q->active && wr_demand_party(q, i) == wr_demand_party(q, from);
         i++) {
        int64_t bytes = wr_demand_repeats(q, &s, i) ? 0 : wr_demand_bytes(q, window, i);
        if (s.bytes && bytes && (s.bytes + bytes > plan->window || plan->by_rank))
            break;
        s.bytes += bytes;
        s.count = i - from + 1;
    }
    return s;
}
