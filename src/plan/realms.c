/* Ways of cutting a file into realms. "A New Flexible MPI Collective I/O Implementation", section
 * 5.2; even is the dynamic and static the static partitioning of the extended two-phase method,
 * section 4.
 *
 * All rules here give regular realms: equal blocks, once each or dealt round-robin. A new rule is a
 * function and a line in the table. */
#include "base/arith.h"
#include "base/error.h"
#include "pattern/algebra.h"
#include "plan/plan.h"

/* Of realms that persist: a small first call must not shred all that follow. */
enum { LEAST_BLOCK = 64 << 10 };

/* Cuts fall on multiples of `size` from `origin` on. */
typedef struct grain {
    int64_t origin, size;
} grain;

/* Where units would leave some realms more than a quarter larger than others, or where alignment
 * and unit have no common multiple that does not, cuts are aligned only: that is what the file
 * system asks for. */
static grain find_grain(const wr_plan_input *in, int64_t realms)
{
    int64_t align = wr_max(1, in->align), unit = wr_max(1, in->unit), both, all;
    const grain aligned = {0, align};
    if (in->origin % align || !wr_mul(align / wr_gcd(align, unit), unit, &both) ||
        !wr_mul(both, 4 * realms, &all) || all > in->wanted.hi - in->wanted.lo)
        return aligned;
    return (grain){in->origin, both};
}

static int64_t round_up(int64_t x, int64_t size)
{
    int64_t rest = x % size, up;
    return rest && wr_add(x, size - rest, &up) ? up : x;
}

/* [lo, hi) in equal blocks, its first one from a multiple of the grain on. */
static void divide(const wr_plan_input *in, wr_plan *out, int64_t lo, int64_t hi)
{
    int64_t n = out->aggregators;
    grain g = find_grain(in, n);
    out->base = g.origin + wr_div_floor(lo - g.origin, g.size) * g.size;
    out->block = wr_max(g.size, round_up((hi - out->base + n - 1) / n, g.size));
    out->period = 0;
}

static void cut_even(const wr_plan_input *in, wr_plan *out)
{
    divide(in, out, in->wanted.lo, in->wanted.hi);
}

static void cut_static(const wr_plan_input *in, wr_plan *out)
{
    if (in->wanted.lo >= 0 && in->wanted.hi <= in->file_size)
        divide(in, out, 0, in->file_size);
    else
        cut_even(in, out);
}

/* Again and again, as far as a file can reach. */
static void repeat(wr_plan *out)
{
    if (!wr_mul(out->block, out->aggregators, &out->period) || out->period > WR_OFFSET_MAX)
        out->period = 0;
}

static void deal(const wr_plan_input *in, wr_plan *out, int64_t block)
{
    out->base = in->origin % wr_max(1, in->align) ? 0 : in->origin;
    out->block = round_up(block, find_grain(in, out->aggregators).size);
    repeat(out);
}

static void cut_cyclic(const wr_plan_input *in, wr_plan *out)
{
    deal(in, out, in->dealt > 0 ? in->dealt : out->window);
}

/* The first call fixes the blocks, by how much it spans and not by where. The file keeps them in
 * its input from then on. */
static void cut_persistent(const wr_plan_input *in, wr_plan *out)
{
    int64_t share = wr_div_ceil(in->wanted.hi - in->wanted.lo, out->aggregators);
    out->base = in->base;
    out->block = in->block;
    if (in->block)
        repeat(out);
    else
        deal(in, out, in->dealt > 0 ? in->dealt : wr_max(LEAST_BLOCK, share));
}

/* An aggregator has a disk, or, where disks are more than aggregators can be, several in a row. */
static void cut_disks(const wr_plan_input *in, wr_plan *out)
{
    if (!in->disks) {
        deal(in, out, wr_max(1, in->stripe));
        return;
    }
    int64_t most = in->aggregators > 0 ? wr_min(in->aggregators, in->ranks) : in->ranks;
    int64_t each = wr_div_ceil(in->disks, most);
    out->aggregators = wr_div_ceil(in->disks, each);
    out->base = 0;
    out->block = each * in->stripe;
    out->period = in->disks * in->stripe;
}

const wr_realm_rule wr_realm_rules[] = {
    {"even", "what is accessed, divided evenly", cut_even},
    {"static", "the whole file, divided evenly", cut_static},
    {"cyclic", "blocks of a window's size, dealt round-robin from the start", cut_cyclic},
    {"persistent", "blocks fixed by the first access, dealt round-robin from the start",
     cut_persistent},
    {"balanced", "equal data", NULL},
    {"disks", "one logical disk per aggregator; on a plain file stripes, dealt round-robin",
     cut_disks},
    {"custom", "patterns given by the caller", NULL},
    {0},
};

int64_t wr_plan_realm_of(const wr_plan *plan, int64_t offset)
{
    int64_t at = offset - plan->base;
    if (plan->period)
        at -= wr_div_floor(at, plan->period) * plan->period;
    return wr_max(0, wr_min(at / plan->block, plan->aggregators - 1));
}

int wr_plan_realm(const wr_plan *plan, int64_t i, weir_pattern **out)
{
    int64_t first = plan->base + i * plan->block;
    if (!plan->period) {
        int64_t lo = i == 0 ? plan->lo : wr_max(plan->lo, first);
        int64_t hi = i == plan->aggregators - 1 ? plan->hi : wr_min(plan->hi, first + plan->block);
        return weir_pattern_contiguous(lo, wr_max(0, hi - lo), out);
    }
    /* the blocks that reach into [lo, hi), whole */
    int64_t bytes = wr_plan_block(plan, i);
    int64_t from = wr_div_floor(plan->lo - first - bytes, plan->period) + 1;
    int64_t to = wr_div_floor(plan->hi - first - 1, plan->period);
    return weir_pattern_strided(first + from * plan->period, wr_max(0, to - from + 1), bytes,
                                plan->period, out);
}

int wr_realms_verify(int64_t count, const weir_pattern *const *realms, int64_t lo, int64_t hi)
{
    int64_t covered = 0;
    for (int64_t i = 0; i < count; i++) {
        if (!weir_pattern_is_disjoint(realms[i]))
            return wr_fail(WEIR_EINVAL, "realm %lld has a byte twice", (long long)i);
        covered += wr_pattern_data_below(realms[i], hi) - wr_pattern_data_below(realms[i], lo);
        for (int64_t k = 0; k < i; k++)
            if (wr_pattern_overlap(realms[i], realms[k]) != WR_NO)
                return wr_fail(WEIR_EINVAL, "realms %lld and %lld overlap, or cannot be told apart",
                               (long long)k, (long long)i);
    }
    if (covered != hi - lo)
        return wr_fail(WEIR_EINVAL, "realms leave %lld bytes of [%lld, %lld) to nobody",
                       (long long)(hi - lo - covered), (long long)lo, (long long)hi);
    return 0;
}
