/* Ways of cutting a file into realms. "A New Flexible MPI Collective I/O Implementation", section
 * 5.2; even is the dynamic and static the static partitioning of the extended two-phase method,
 * section 4.
 *
 * The rules of this file give regular realms: equal blocks, once each or dealt round-robin. A new
 * rule is a file and a line in the table. */
#include "plan/realms.h"

#include "base/arith.h"
#include "base/error.h"
#include "pattern/overlap.h"

/* Of realms that persist: a small first call must not shred all that follow. */
enum { LEAST_BLOCK = 64 << 10 };

/* Where units would leave some realms more than a quarter larger than others, or where alignment
 * and unit have no common multiple that does not, cuts are aligned only: that is what the file
 * system asks for. */
wr_grain wr_grain_of(const wr_plan_input *in, int64_t realms)
{
    int64_t align = wr_max(1, in->align), unit = wr_max(1, in->unit), both, all;
    const wr_grain aligned = {0, align};
    if (in->granule) /* what persists is there for reads and writes */
        return (wr_grain){0, in->realms == WR_REALMS_PERSISTENT ? in->coarse : in->granule};
    if (in->origin % align || !wr_mul(align / wr_gcd(align, unit), unit, &both) ||
        !wr_mul(both, 4 * realms, &all) || all > in->wanted.hi - in->wanted.lo)
        return aligned;
    return (wr_grain){in->origin, both};
}

/* wr_round_up, or x itself where that does not fit. */
static int64_t round_up(int64_t x, int64_t size)
{
    int64_t rest = x % size, up;
    return rest && wr_add(x, size - rest, &up) ? up : x;
}

/* [lo, hi) in equal blocks, its first one from a multiple of the grain on. */
static void divide(const wr_plan_input *in, wr_plan *out, int64_t lo, int64_t hi)
{
    int64_t n = out->aggregators;
    wr_grain g = wr_grain_of(in, n);
    out->base = g.origin + wr_round_down(lo - g.origin, g.size);
    out->block = wr_max(g.size, round_up(wr_div_ceil(hi - out->base, n), g.size));
    out->period = 0;
}

static int cut_even(const wr_plan_input *in, wr_plan *out)
{
    divide(in, out, in->wanted.lo, in->wanted.hi);
    return 0;
}

static int cut_static(const wr_plan_input *in, wr_plan *out)
{
    if (in->wanted.lo >= 0 && in->wanted.hi <= in->file_size)
        divide(in, out, 0, in->file_size);
    else
        cut_even(in, out);
    return 0;
}

/* Again and again, as far as a file can reach. */
static void repeat(wr_plan *out)
{
    if (!wr_mul(out->block, out->aggregators, &out->period) || out->period > WR_OFFSET_MAX)
        out->period = 0;
    out->scattered = out->period != 0;
}

static void deal(const wr_plan_input *in, wr_plan *out, int64_t block)
{
    out->base = in->granule || in->origin % wr_max(1, in->align) ? 0 : in->origin;
    out->block = round_up(block, wr_grain_of(in, out->aggregators).size);
    repeat(out);
}

static int cut_cyclic(const wr_plan_input *in, wr_plan *out)
{
    deal(in, out, in->dealt > 0 ? in->dealt : out->window);
    return 0;
}

/* The first call fixes the blocks, by how much it spans and not by where. The file keeps them in
 * its input from then on. */
static int cut_persistent(const wr_plan_input *in, wr_plan *out)
{
    int64_t share = wr_div_ceil(in->wanted.hi - in->wanted.lo, out->aggregators);
    out->base = in->base;
    out->block = in->block;
    if (in->block)
        repeat(out);
    else
        deal(in, out, in->dealt > 0 ? in->dealt : wr_max(LEAST_BLOCK, share));
    return 0;
}

/* An aggregator has a disk, or, where disks are more than aggregators can be, several in a row. */
static int cut_disks(const wr_plan_input *in, wr_plan *out)
{
    if (!in->disks) {
        deal(in, out, wr_max(1, in->stripe));
        return 0;
    }
    int64_t most = in->aggregators > 0 ? wr_min(in->aggregators, in->ranks) : in->ranks;
    int64_t each = wr_div_ceil(in->disks, most);
    out->aggregators = wr_div_ceil(in->disks, each);
    out->base = 0;
    out->block = each * in->stripe;
    out->period = in->disks * in->stripe;
    out->scattered = 1;
    return 0;
}

const wr_realm_rule wr_realm_rules[] = {
    [WR_REALMS_EVEN] = {.name = "even",
                        .help = "what is accessed, divided evenly",
                        .cut = cut_even},
    [WR_REALMS_STATIC] = {.name = "static",
                          .help = "the whole file, divided evenly",
                          .cut = cut_static},
    [WR_REALMS_CYCLIC] = {.name = "cyclic",
                          .help = "blocks of a window's size, dealt round-robin from the start",
                          .cut = cut_cyclic},
    [WR_REALMS_PERSISTENT] =
        {.name = "persistent",
         .help = "blocks fixed by the first access, dealt round-robin from the start",
         .cut = cut_persistent},
    [WR_REALMS_BALANCED] = {.name = "balanced",
                            .help = "what is accessed, divided so that each has equal data",
                            .cut = wr_balanced_cut,
                            .make = wr_balanced_make},
    [WR_REALMS_DISKS] =
        {.name = "disks",
         .help = "one logical disk per aggregator; on a plain file stripes, dealt round-robin",
         .cut = cut_disks},
    [WR_REALMS_CUSTOM] = {.name = "custom",
                          .help = "patterns given by the caller",
                          .cut = wr_custom_cut,
                          .make = wr_custom_make},
    {0},
};

/* The number of the block that a byte lies in. */
static int64_t block_of(const wr_plan *plan, int64_t offset)
{
    int64_t round = wr_div_floor(offset - plan->base, plan->period);
    return round * plan->aggregators + (offset - plan->base - round * plan->period) / plan->block;
}

bool wr_plan_is_scattered(const wr_plan *plan, int64_t lo, int64_t hi)
{
    return plan->scattered && (!plan->period || block_of(plan, lo) != block_of(plan, hi - 1));
}

static int make_regular(const wr_plan *plan, int64_t i, weir_pattern **out)
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

int wr_plan_realm(const wr_plan *plan, int64_t i, weir_pattern **out)
{
    const wr_realm_rule *rule = &wr_realm_rules[plan->realms];
    return rule->make ? rule->make(plan, i, out) : make_regular(plan, i, out);
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
