/* Who touches the range of a realm comes out of the queue, and is then compared with the realm. */
#include "plan/partners.h"

#include <stdlib.h>

#include "base/memory.h"

static int compare_rank(const void *a, const void *b)
{
    const wr_want *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

int wr_partners_find(wr_want_queue *all, const weir_pattern *realm, wr_want **out, int64_t *count)
{
    const wr_queued *one;
    int64_t lo, hi, found = 0;
    weir_pattern_bounds(realm, &lo, &hi);
    int code = wr_want_queue_reach(all, lo, hi, INT64_MAX);
    if (code)
        return code;
    *out = wr_alloc_array(all->live - all->waiting, sizeof **out);
    if (!*out)
        return WEIR_ENOMEM;
    for (; (one = wr_want_queue_get(all, found, hi)); found++)
        (*out)[found] = all->wants[one->want];
    found = wr_wants_keep(realm, found, *out);
    qsort(*out, (size_t)found, sizeof **out, compare_rank);
    *count = found;
    return 0;
}
