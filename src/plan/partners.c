/* Wants are sorted by their lower bounds, each with the furthest end so far: a binary search finds
 * the first that can reach into a realm, a walk the others; those are then compared with it. */
#include "plan/partners.h"

#include <stdlib.h>

#include "base/arith.h"

static int compare_reach(const void *a, const void *b)
{
    const wr_reach *x = a, *y = b;
    return (x->lo > y->lo) - (x->lo < y->lo);
}

static int compare_rank(const void *a, const void *b)
{
    const wr_want *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

int wr_partners_build(wr_partners *p, int64_t count, const wr_want *wants)
{
    int64_t furthest = INT64_MIN;
    *p = (wr_partners){.count = count, .wants = wants};
    p->reach = wr_alloc_array(count, sizeof *p->reach);
    if (!p->reach)
        return WEIR_ENOMEM;
    for (int64_t i = 0; i < count; i++) {
        wr_reach *r = &p->reach[i];
        *r = (wr_reach){.want = i};
        wr_pattern_bounds_of(wants[i].pattern, wants[i].begin, wants[i].end, &r->lo, &r->hi);
    }
    qsort(p->reach, (size_t)count, sizeof *p->reach, compare_reach);
    for (int64_t i = 0; i < count; i++)
        p->reach[i].furthest = furthest = wr_max(furthest, p->reach[i].hi);
    return 0;
}

void wr_partners_release(wr_partners *p)
{
    wr_free(p->reach);
    *p = (wr_partners){0};
}

/* The first of which something reaches beyond lo. */
static int64_t first_beyond(const wr_partners *p, int64_t lo)
{
    int64_t from = 0, to = p->count;
    while (from < to) {
        int64_t mid = from + (to - from) / 2;
        if (p->reach[mid].furthest > lo)
            to = mid;
        else
            from = mid + 1;
    }
    return from;
}

int wr_partners_find(const wr_partners *p, const weir_pattern *realm, wr_want **out, int64_t *count)
{
    int64_t lo, hi, found = 0;
    weir_pattern_bounds(realm, &lo, &hi);
    const int64_t from = first_beyond(p, lo);
    int64_t to = from;
    while (to < p->count && p->reach[to].lo < hi)
        to++;
    *out = wr_alloc_array(to - from, sizeof **out);
    if (!*out)
        return WEIR_ENOMEM;
    for (int64_t i = from; i < to; i++)
        if (p->reach[i].hi > lo)
            (*out)[found++] = p->wants[p->reach[i].want];
    found = wr_wants_keep(realm, found, *out);
    qsort(*out, (size_t)found, sizeof **out, compare_rank);
    *count = found;
    return 0;
}
