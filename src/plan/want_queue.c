/* A binary heap and, behind it in the same array, those taken out of it: the first taken out is the
 * last of the array, so that these are in order too. A want without further bytes leaves the array.
 */
#include "plan/want_queue.h"

#include "base/memory.h"

/* Puts `one` at `at` or below, where the heap is in order but for that place. */
static void sift_down(wr_queued *item, int64_t count, int64_t at, wr_queued one)
{
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child >= count)
            break;
        child += child + 1 < count && item[child + 1].next < item[child].next;
        if (item[child].next >= one.next)
            break;
        item[at] = item[child];
        at = child;
    }
    item[at] = one;
}

static void sift_up(wr_queued *item, int64_t at, wr_queued one)
{
    while (at > 0 && item[(at - 1) / 2].next > one.next) {
        item[at] = item[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    item[at] = one;
}

/* Sets where a want goes on from x; false if it does not. */
static bool find_next(wr_want_queue *q, wr_queued *one, int64_t x)
{
    const wr_want *want = &q->wants[one->want];
    q->wide -= one->wide;
    if (!wr_want_first(want, x, &one->next))
        return false;
    one->wide = q->extent < INT64_MAX && wr_want_stride(want, one->next) > q->extent;
    q->wide += one->wide;
    return true;
}

void wr_want_queue_init(wr_want_queue *q, int64_t count, const wr_want *wants, int64_t extent)
{
    *q = (wr_want_queue){.count = count, .wants = wants, .extent = extent};
}

static int allocate(wr_want_queue *q)
{
    q->item = q->count <= WR_FEW_WANTS ? q->few : wr_alloc_array(q->count, sizeof *q->item);
    if (!q->item)
        return WEIR_ENOMEM;
    for (int64_t i = 0; i < q->count && !q->repeating; i++)
        q->repeating = !weir_pattern_is_disjoint(q->wants[i].pattern);
    return 0;
}

/* Everybody waits, for the first byte from x on. */
static int build(wr_want_queue *q, int64_t x)
{
    int code = q->item ? 0 : allocate(q);
    if (code)
        return code;
    q->live = q->wide = 0;
    for (int64_t i = 0; i < q->count; i++) {
        q->item[q->live] = (wr_queued){.want = (int)i};
        q->live += find_next(q, &q->item[q->live], x);
    }
    q->waiting = q->live;
    for (int64_t i = q->waiting / 2; i-- > 0;)
        sift_down(q->item, q->waiting, i, q->item[i]);
    q->from = x;
    return 0;
}

/* Those that are out go back. */
static void put_back(wr_want_queue *q, int64_t x)
{
    while (q->waiting < q->live) {
        wr_queued one = q->item[q->waiting];
        if (one.next < x && !find_next(q, &one, x)) {
            q->item[q->waiting] = q->item[--q->live];
            continue;
        }
        sift_up(q->item, q->waiting++, one);
    }
}

/* Nobody is out, and everybody waits for a byte from x on. */
static int settle(wr_want_queue *q, int64_t x)
{
    if (!q->item || x < q->from)
        return build(q, x);
    put_back(q, x);
    while (q->waiting > 0 && q->item[0].next < x) {
        wr_queued one = q->item[0];
        if (!find_next(q, &one, x)) {
            q->live = --q->waiting;
            one = q->item[q->waiting];
        }
        sift_down(q->item, q->waiting, 0, one);
    }
    q->from = x;
    return 0;
}

int wr_want_queue_first(wr_want_queue *q, int64_t x, int64_t *first)
{
    int code = settle(q, x);
    if (code)
        return code;
    if (q->waiting == 0)
        return 0;
    *first = q->item[0].next;
    return 1;
}

static void take_first(wr_want_queue *q)
{
    wr_queued first = q->item[0];
    q->waiting--;
    sift_down(q->item, q->waiting, 0, q->item[q->waiting]);
    q->item[q->waiting] = first;
}

int wr_want_queue_reach(wr_want_queue *q, int64_t lo, int64_t hi, int64_t most)
{
    int code = q->item && lo == q->from ? 0 : settle(q, lo);
    if (code)
        return code;
    while (q->waiting > 0 && q->item[0].next < hi && q->live - q->waiting < most)
        take_first(q);
    return 0;
}

void wr_want_queue_release(wr_want_queue *q)
{
    if (q->item != q->few)
        wr_free(q->item);
    q->item = NULL;
}
