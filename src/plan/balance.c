/* Balanced realms: each round narrows the range of offsets in which a cut can lie, as a search with
 * many probes at a time does. Cuts that still lie in the same range share its probes. */
#include "plan/balance.h"

#include "base/arith.h"
#include "plan/realms.h"

/* A cut is close enough when it can be off by one part in so many of a realm; or after so many
 * rounds, because data may be in one place. */
enum { CLOSE = 64, ROUNDS = 8 };

void wr_balance_init(wr_balance *b, const wr_plan_input *in)
{
    *b = (wr_balance){.cuts = wr_min(WR_CUTS, wr_plan_aggregators(in)), .bytes = in->wanted.bytes};
    for (int64_t i = 1; i < b->cuts; i++) {
        b->lo[i] = in->wanted.lo;
        b->hi[i] = in->wanted.hi;
        b->below_hi[i] = b->bytes;
    }
}

/* a * b / c of numbers that are not negative, where a <= c: rounded a little, so that it fits. */
static int64_t share_of(int64_t a, int64_t b, int64_t c)
{
    while (a > INT32_MAX || c > INT32_MAX) {
        a >>= 1;
        c >>= 1;
    }
    return c ? b / c * a + b % c * a / c : 0;
}

/* The data that should lie below cut i. */
static int64_t target_of(const wr_balance *b, int64_t i)
{
    return share_of(i, b->bytes, b->cuts);
}

static bool is_close(const wr_balance *b, int64_t i)
{
    return b->hi[i] - b->lo[i] <= 1 ||
           b->below_hi[i] - b->below_lo[i] <= b->bytes / b->cuts / CLOSE;
}

/* Cuts that lie between the same offsets are asked about together: returns the first after them. */
static int64_t same_place(const wr_balance *b, int64_t i)
{
    int64_t k = i + 1;
    while (k < b->cuts && b->lo[k] == b->lo[i] && b->hi[k] == b->hi[i])
        k++;
    return k;
}

static int64_t open_places(const wr_balance *b)
{
    int64_t open = 0;
    for (int64_t i = 1; i < b->cuts; i = same_place(b, i))
        open += !is_close(b, i);
    return open;
}

int wr_balance_ask(const wr_balance *b, int64_t at[WR_CUTS])
{
    const int64_t places = b->rounds < ROUNDS ? open_places(b) : 0;
    int count = 0;
    for (int64_t i = 1; places && i < b->cuts; i = same_place(b, i)) {
        const int64_t each = WR_CUTS / places, span = b->hi[i] - b->lo[i];
        if (is_close(b, i))
            continue;
        for (int64_t k = 1; k <= each; k++) {
            int64_t offset = b->lo[i] + share_of(k, span, each + 1);
            if (offset > b->lo[i] && (!count || offset > at[count - 1]) && offset < b->hi[i])
                at[count++] = offset;
        }
    }
    return count;
}

void wr_balance_hear(wr_balance *b, int count, const int64_t *at, const int64_t *below)
{
    b->rounds++;
    for (int64_t i = 1; i < b->cuts; i++) {
        const int64_t target = target_of(b, i);
        for (int k = 0; k < count; k++) {
            if (at[k] <= b->lo[i] || at[k] >= b->hi[i])
                continue;
            if (below[k] <= target) {
                b->lo[i] = at[k];
                b->below_lo[i] = below[k];
            } else {
                b->hi[i] = at[k];
                b->below_hi[i] = below[k];
            }
        }
    }
}

/* The multiple of `size` from `origin` on that is at most x. */
static int64_t round_to(int64_t x, int64_t origin, int64_t size)
{
    return origin + wr_round_down(x - origin, size);
}

void wr_balance_settle(const wr_balance *b, wr_plan_input *in, int64_t cut[WR_CUTS])
{
    const wr_grain g = wr_grain_of(in, b->cuts);
    in->asked = b->rounds;
    in->cut = cut;
    cut[0] = in->wanted.lo;
    for (int64_t i = b->cuts; i < WR_CUTS; i++)
        cut[i] = 0;
    for (int64_t i = 1; i < b->cuts; i++) {
        const int64_t more = b->below_hi[i] - b->below_lo[i];
        int64_t x = b->lo[i] + share_of(wr_min(more, target_of(b, i) - b->below_lo[i]),
                                        b->hi[i] - b->lo[i], more);
        x = round_to(x + g.size / 2, g.origin, g.size);
        cut[i] = wr_max(cut[i - 1], wr_min(x, in->wanted.hi));
    }
}

void wr_balance_count(const wr_want *want, int count, const int64_t *at, int64_t *sums)
{
    for (int i = 0; i < count; i++) {
        int64_t below = wr_pattern_data_below(want->pattern, at[i]);
        sums[i] += wr_max(0, wr_min(below, want->end) - want->begin);
    }
}

void wr_balance_wants(wr_plan_input *in, int64_t count, const wr_want *wants, int64_t cut[WR_CUTS])
{
    wr_balance b;
    int64_t at[WR_CUTS];
    wr_balance_init(&b, in);
    for (int asked; (asked = wr_balance_ask(&b, at)) > 0;) {
        int64_t below[WR_CUTS] = {0};
        for (int64_t i = 0; i < count; i++)
            wr_balance_count(&wants[i], asked, at, below);
        wr_balance_hear(&b, asked, at, below);
    }
    wr_balance_settle(&b, in, cut);
}

int wr_balanced_cut(const wr_plan_input *in, wr_plan *out)
{
    const wr_grain g = wr_grain_of(in, out->aggregators);
    out->base = g.origin;
    out->block = g.size; /* where cuts between these fall */
    return 0;
}

/* Where realm i begins; more realms than cuts divide what lies between two. */
static int64_t begin_of(const wr_plan *plan, int64_t i)
{
    const int64_t n = plan->aggregators, cuts = wr_min(n, WR_CUTS);
    if (i <= 0)
        return plan->lo;
    if (i >= n)
        return plan->hi;
    const int64_t k = i * cuts / n, rest = i * cuts % n;
    const int64_t next = k + 1 < cuts ? plan->cut[k + 1] : plan->hi;
    const int64_t x = plan->cut[k] + share_of(rest, next - plan->cut[k], n);
    return rest ? wr_max(plan->cut[k], round_to(x, plan->base, plan->block)) : x;
}

int wr_balanced_make(const wr_plan *plan, int64_t i, weir_pattern **out)
{
    const int64_t lo = begin_of(plan, i), hi = begin_of(plan, i + 1);
    return weir_pattern_contiguous(lo, wr_max(0, hi - lo), out);
}
