/* Bytes and runs never become fewer as a window grows, so its end is found by doubling, which looks
 * at nobody far behind it, and then by bisection. A want that has the same share up to both ends of
 * what is left to bisect is not looked at again: of sparse wants each step leaves half. */
#include "plan/list_end.h"

#include <assert.h>

#include "base/arith.h"
#include "plan/union.h"

enum { MOST_RUNS = WR_PIECES / 2 };

/* What the window gets of a want, if it ends here or there. */
typedef struct share {
    const weir_pattern *pattern;
    int64_t from, to; /* data, from the window's beginning on */
    int64_t run;      /* mean bytes of a run */
    int64_t good, bad, mid;
} share;

/* In memory that listing takes anyway. */
static_assert(sizeof(share) * MOST_RUNS <= WR_UNION_ROOM, "shares do not fit");

typedef struct load {
    int64_t bytes, runs;
} load;

/* Of all wants that touch the window; those that are settled are not in the array. */
typedef struct shares {
    share *item;
    int64_t count;
    load settled;
} shares;

static share share_of(const wr_want *want, int64_t lo)
{
    const wr_node *root = wr_pattern_root(want->pattern);
    return (share){.pattern = want->pattern,
                   .from = wr_max(wr_pattern_data_below(want->pattern, lo), want->begin),
                   .to = want->end,
                   .run = wr_max(1, root->bytes / root->runs)};
}

static void add(load *all, int64_t bytes, const share *s)
{
    all->bytes += bytes;
    all->runs += bytes ? bytes / s->run + 1 : 0;
}

static bool fits(const wr_windows *w, const load *all)
{
    return all->bytes <= w->plan->window && all->runs <= MOST_RUNS;
}

/* Whether a window up to `mid` is one. */
static bool try_end(const wr_windows *w, shares *all, int64_t mid)
{
    load sum = all->settled;
    for (int64_t i = 0; i < all->count; i++) {
        share *s = &all->item[i];
        int64_t to = wr_min(wr_pattern_data_below(s->pattern, mid), s->to);
        s->mid = wr_max(0, to - s->from);
        add(&sum, s->mid, s);
    }
    return fits(w, &sum);
}

/* `mid` becomes the nearest end that is good, or bad. */
static void note(shares *all, bool good)
{
    int64_t left = 0;
    for (int64_t i = 0; i < all->count; i++) {
        share s = all->item[i];
        *(good ? &s.good : &s.bad) = s.mid;
        if (s.good == s.bad)
            add(&all->settled, s.mid, &s);
        else
            all->item[left++] = s;
    }
    all->count = left;
}

static int64_t bisect(const wr_windows *w, shares *all, int64_t good, int64_t bad)
{
    note(all, false);
    while (bad - good > 1) {
        int64_t mid = good + (bad - good) / 2;
        bool fit = try_end(w, all, mid);
        note(all, fit);
        *(fit ? &good : &bad) = mid;
    }
    return good;
}

/* Adds those who touch [lo, mid) and are not there yet. With more of them than may be listed, mid
 * becomes the furthest end that they do not rule out. */
static int collect(wr_windows *w, shares *all, int64_t lo, int64_t *mid)
{
    const wr_queued *one;
    int code = wr_want_queue_reach(&w->queue, lo, *mid, MOST_RUNS + 1);
    if (code)
        return code;
    one = wr_want_queue_get(&w->queue, MOST_RUNS, *mid);
    if (one)
        *mid = one->next;
    for (; (one = wr_want_queue_get(&w->queue, all->count, *mid)); all->count++)
        all->item[all->count] = share_of(&w->wants[one->want], lo);
    return 0;
}

int wr_list_end(wr_windows *w, int64_t lo, int64_t most, int64_t *hi)
{
    int64_t good = *hi, mid = good;
    if (good >= most)
        return 0;
    shares all = {.item = wr_union_room(w)};
    int code = all.item ? collect(w, &all, lo, &mid) : WEIR_ENOMEM;
    if (code || mid < good || !try_end(w, &all, mid))
        return code;
    for (int64_t step = good - lo; good < most; step *= 2) {
        int64_t wish = mid = most - good > step ? good + step : most;
        for (int64_t i = 0; i < all.count; i++)
            all.item[i].good = all.item[i].mid;
        code = collect(w, &all, lo, &mid);
        if (code)
            return code;
        if (mid > good && !try_end(w, &all, mid)) {
            good = bisect(w, &all, good, mid);
            break;
        }
        good = mid;
        if (mid < wish)
            break;
    }
    *hi = good;
    return 0;
}
