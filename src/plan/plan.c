/* Summaries, prices, and the choice between going together and going alone. */
#include "plan/plan.h"

#include "base/arith.h"
#include "base/error.h"

enum {
    COPY_MIB_NS = 120000,  /* copying a MiB between two memories */
    MEETING_NS = 1000,     /* a rank's share of a barrier */
    MEETINGS = 3,          /* barriers of a call: entry, exit, and the rounds' first */
    SMALL_REALM = 64 << 10 /* a realm smaller than this is not worth an aggregator */
};

wr_summary wr_summary_of(const weir_pattern *pattern, int64_t begin, int64_t end)
{
    wr_summary s = {0};
    if (begin >= end)
        return s;
    const wr_node *root = wr_pattern_root(pattern);
    s.bytes = end - begin;
    s.active = s.apart = 1;
    /* the share of the runs that the share of the data has, at least one */
    s.runs = root->runs == 1 ? 1 : wr_max(1, s.bytes / wr_max(1, root->bytes / root->runs));
    wr_pattern_bounds_of(pattern, begin, end, &s.lo, &s.hi);
    return s;
}

wr_summary wr_summary_join(int64_t count, const wr_summary *parts)
{
    wr_summary all = {.apart = 1};
    for (int64_t i = 0; i < count; i++) {
        const wr_summary *p = &parts[i];
        if (p->lo == p->hi)
            continue;
        all.apart = all.apart && p->apart && (!all.active || p->lo >= all.hi);
        all.lo = all.active ? wr_min(all.lo, p->lo) : p->lo;
        all.hi = all.active ? wr_max(all.hi, p->hi) : p->hi;
        all.bytes += p->bytes;
        all.runs += p->runs;
        all.active += p->active;
    }
    return all;
}

uint64_t wr_plan_input_hash(const wr_plan_input *in)
{
    const int64_t *field = (const int64_t *)(const void *)in;
    uint64_t h = 0;
    for (size_t i = 0; i < sizeof *in / sizeof *field; i++) {
        h = (h ^ (uint64_t)field[i]) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 32;
    }
    return h;
}

static int64_t mib(int64_t bytes, int64_t ns)
{
    return (bytes >> 10) * ns >> 10;
}

static int64_t cost(int64_t calls, int64_t bytes, int64_t call_ns, int64_t mib_ns)
{
    return calls * call_ns + mib(bytes, mib_ns);
}

/* How many ranks really work at once. */
static int64_t workers(const wr_plan_input *in, int64_t ranks)
{
    return wr_max(1, wr_min(ranks, in->cores * in->nodes));
}

/* Every rank moves its own runs: one call each, or a sieve over its span if that is cheaper. */
static int64_t price_alone(const wr_plan_input *in)
{
    const wr_summary *w = &in->wanted;
    int64_t runs = w->runs / wr_max(1, w->active) + 1, bytes = w->bytes / wr_max(1, w->active);
    int64_t list = cost(runs, bytes, in->call_ns, in->mib_ns), best = list;
    if (in->direction == WR_READ) {
        int64_t span = w->apart ? (w->hi - w->lo) / wr_max(1, w->active) : w->hi - w->lo;
        int64_t sieve = cost(1, span, in->call_ns, in->mib_ns + COPY_MIB_NS);
        best = wr_min(list, sieve);
    }
    return best * w->active / workers(in, w->active);
}

/* Aggregators move the union, at most what is wanted in all and at most the span, and everybody
 * copies its part. */
static int64_t price_together(const wr_plan_input *in, int64_t aggregators)
{
    const wr_summary *w = &in->wanted;
    int64_t span = w->hi - w->lo;
    int64_t list = cost(w->runs, wr_min(w->bytes, span), in->call_ns, in->mib_ns);
    int64_t sieve = cost(span / in->window + 1, span, in->call_ns, in->mib_ns);
    if (in->direction == WR_WRITE && w->bytes < span)
        sieve += cost(span / in->window + 1, span, in->read_call_ns, in->read_mib_ns);
    int64_t file = wr_min(list, sieve) / workers(in, aggregators);
    int64_t copy = mib(w->bytes, COPY_MIB_NS) / workers(in, w->active);
    int64_t rounds = wr_min(w->bytes, span) / in->window / aggregators + MEETINGS;
    return file + copy + rounds * MEETING_NS * in->ranks;
}

/* As many as the user says; otherwise those that can work at once, as long as each has enough. */
static int64_t count_aggregators(const wr_plan_input *in)
{
    if (in->aggregators > 0)
        return wr_min(in->aggregators, in->ranks);
    int64_t useful =
        wr_max(1, wr_min(in->wanted.bytes, in->wanted.hi - in->wanted.lo) / SMALL_REALM);
    return wr_min(wr_min(useful, in->ranks), in->cores * in->nodes);
}

static void choose(const wr_plan_input *in, wr_plan *out)
{
    out->price_together = price_together(in, out->aggregators);
    out->price_alone = price_alone(in);
    if (in->collective == WR_SWITCH_ALWAYS) {
        out->collective = 1;
        out->reason = "collective=always";
    } else if (in->collective == WR_SWITCH_NEVER) {
        out->reason = "collective=never";
    } else if (in->wanted.active == 0) {
        out->reason = "nothing is wanted";
    } else if (in->direction == WR_WRITE && !in->wanted.apart) {
        out->collective = 1;
        out->reason = "writes are not known to be apart";
    } else {
        out->collective = out->price_together < out->price_alone;
        out->reason = out->collective ? "cheaper together" : "cheaper alone";
    }
}

int wr_plan_build(const wr_plan_input *in, wr_plan *out)
{
    const wr_realm_rule *rule = &wr_realm_rules[in->realms];
    if (!rule->cut)
        return wr_fail(WEIR_EUNSUPPORTED, "realms=%s does not exist yet", rule->name);
    *out = (wr_plan){.lo = in->wanted.lo, .hi = in->wanted.hi};
    out->window = wr_max(1, wr_min(in->window, in->buffer / 2));
    out->aggregators = count_aggregators(in);
    choose(in, out);
    rule->cut(in, out);
    return 0;
}

int wr_plan_aggregator(const wr_plan *plan, int64_t i, int64_t ranks, int64_t nodes,
                       const int *node_of)
{
    int64_t place = i * ranks / plan->aggregators; /* among the ranks sorted by node */
    for (int node = 0; node < nodes; node++)
        for (int64_t r = 0; r < ranks; r++)
            if (node_of[r] == node && place-- == 0)
                return (int)r;
    return 0;
}
