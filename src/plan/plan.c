/* Inputs, prices, and the choice of who goes together; ways.c has the rest. */
#include "plan/plan.h"

#include <string.h>

#include "base/arith.h"
#include "plan/method.h"
#include "plan/union.h"
#include "plan/ways.h"

/* What there are prices for. */
enum { LIST, STEPS, SIEVE, KINDS };

void wr_plan_input_plain(wr_plan_input *in, enum wr_direction direction)
{
    const size_t rest = offsetof(wr_plan_input, alone);
    memset((char *)in + rest, 0, sizeof *in - rest);
    in->direction = direction;
    in->write_behind = in->granule = in->batch = 0;
}

void wr_plan_input_tune_alone(wr_plan_input *in, enum wr_direction direction, const wr_tunables *t,
                              const wr_price price[2])
{
    const size_t rest = offsetof(wr_plan_input, file_size);
    memset(in, 0, offsetof(wr_plan_input, wanted));
    memset((char *)in + rest, 0, sizeof *in - rest);
    in->direction = direction;
    in->access = t->access[direction].which;
    in->access_extent = t->access[direction].number;
    in->write_behind = direction == WR_WRITE ? t->write_behind.which : WR_BEHIND_DISABLE;
    in->call_ns = price[direction].call_ns;
    in->mib_ns = wr_max(price[direction].mib_ns, WR_MEMORY_MIB_NS);
    in->scaling = price[direction].scaling;
    in->read_call_ns = price[WR_READ].call_ns;
    in->read_mib_ns = wr_max(price[WR_READ].mib_ns, WR_MEMORY_MIB_NS);
    in->overlap = t->overlap.which;
    in->may_keep = t->overlap_memory;
    in->sieve_unit = t->sieve_unit.which;
    in->sieve_buffer = t->sieve_buffer[direction];
    in->direct = t->direct.which;
    in->map = t->map;
}

void wr_plan_input_tune(wr_plan_input *in, enum wr_direction direction, const wr_tunables *t,
                        const wr_price price[2])
{
    wr_plan_input_tune_alone(in, direction, t, price);
    in->align = wr_max(t->realm_align, t->striping_unit);
    in->dealt = t->realm_block;
    in->disks = wr_tunables_disks(t);
    in->stripe = wr_tunables_stripe(t);
    in->realms = t->realms.which;
    in->aggregators = t->aggregators;
    in->collective = t->collective[direction].which;
    in->exchange = t->exchange.which;
    in->link_mib_ns = t->link ? wr_link_mib_ns(t->link) : WR_LINK_MIB_NS;
    in->link_ns = WR_LINK_NS;
    in->node_ns = INT64_MAX;
    in->window = t->window;
    in->buffer = t->cb_buffer_size;
}

static uint64_t mix(uint64_t h, size_t count, const int64_t *values)
{
    for (size_t i = 0; i < count; i++) {
        h = (h ^ (uint64_t)values[i]) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 32;
    }
    return h;
}

uint64_t wr_plan_input_hash(const wr_plan_input *in)
{
    const wr_moving *m = &in->moving;
    const int64_t rest[] = {in->alone,  in->known,      in->atomic,       in->sole,    in->aside,
                            in->whole,  in->frugal,     in->cold,         in->leased,  in->task,
                            in->weak,   in->owned,      in->carries,      in->form,    in->asked,
                            in->local,  in->overlap,    in->may_keep,     in->room,    in->limit,
                            in->column, in->sieve_unit, in->sieve_buffer, in->direct,  in->map,
                            m->beside,  m->thread,      m->multiple,      m->messages, m->handed,
                            m->memory,  m->cached,      in->between,      in->paged};
    uint64_t h = mix(0, WR_PLAN_INPUT_FIELDS, (const int64_t *)(const void *)in);
    h = mix(h, sizeof rest / sizeof *rest, rest);
    return in->cut ? mix(h, WR_CUTS, in->cut) : h;
}

/* A product, or the most that sums of a few can take. */
static int64_t times(int64_t a, int64_t b)
{
    const int64_t most = INT64_MAX / 16;
    int64_t product;
    return wr_mul(a, b, &product) ? wr_min(product, most) : most;
}

static int64_t mib(int64_t bytes, int64_t ns)
{
    return times(bytes >> 10, ns) >> 10;
}

/* How many ranks really work at once. */
static int64_t workers(const wr_plan_input *in, int64_t ranks)
{
    return wr_max(1, wr_min(ranks, in->cores * in->nodes));
}

/* What is to be moved: so many runs, or, where there are steps, each of them whole, or all that
 * lies between first and last in pieces. */
typedef struct load {
    int64_t calls, bytes;
} load;

static int64_t read_price(const wr_plan_input *in, load what, int64_t at_once)
{
    return (times(what.calls, in->read_call_ns) + mib(what.bytes, in->read_mib_ns)) / at_once;
}

/* A file takes one small write at a time, whoever makes it; large ones as far as they scale. */
static int64_t write_price(const wr_plan_input *in, load what, int64_t at_once, bool exists)
{
    int64_t mib_ns = exists ? wr_plan_back_mib_ns(in) : in->mib_ns;
    return times(what.calls, in->call_ns) +
           times(mib(what.bytes, mib_ns), 100) / wr_price_hundredths(in->scaling, at_once);
}

/* The cheapest of these; when writing, what has holes must be read first. So many nodes do likewise
 * at the same time: they read side by side, and write into one file; with holes one after the
 * other, as far as they lock each other out. */
static int64_t cheapest(const wr_plan_input *in, const load *loads, int64_t at_once, int64_t nodes)
{
    int64_t best = INT64_MAX;
    for (int i = 0; i < KINDS; i++) {
        if (!loads[i].calls)
            continue;
        bool holes = loads[i].bytes > loads[LIST].bytes;
        int64_t price = read_price(in, loads[i], at_once);
        if (in->direction == WR_WRITE && holes)
            price = times(price + write_price(in, loads[i], at_once, true), nodes);
        else if (in->direction == WR_WRITE)
            price =
                write_price(in, (load){times(loads[i].calls, nodes), times(loads[i].bytes, nodes)},
                            at_once * nodes, false);
        best = wr_min(best, price);
    }
    return best == INT64_MAX ? 0 : best;
}

static load in_steps(const wr_summary *w, int64_t steps, int64_t span)
{
    load what = {0};
    if (w->stride > 0 && wr_mul(steps, span, &what.bytes))
        what.calls = steps;
    return what;
}

/* Every rank copies its own from the file's pages: what is far from the piece before costs most. */
static int64_t price_pages(const wr_plan_input *in)
{
    const wr_summary *w = &in->wanted;
    const int64_t far = w->stride > 0 ? w->steps : w->runs;
    return (times(far, WR_FAR_PIECE_NS) + times(w->runs, WR_PIECE_NS) +
            mib(w->bytes, WR_COPY_MIB_NS + WR_SPREAD_MIB_NS)) /
           workers(in, w->active);
}

/* Bytes that so many runs take where each touches whole granules, which others may lie in. */
static int64_t in_granules(const wr_plan_input *in, int64_t bytes, int64_t runs, int64_t span)
{
    return in->granule ? wr_max(bytes, wr_min(span, times(runs, in->granule))) : bytes;
}

/* Every rank moves its own. Before it writes it reads only where no other writes between its own,
 * which is told in *between if that is cheaper. What several ranks want comes from a cache all but
 * once. Small pieces that are in the page cache are copied from its pages. */
static int64_t price_alone(const wr_plan_input *in, bool *between)
{
    const wr_summary *w = &in->wanted;
    const bool write = in->direction == WR_WRITE;
    *between = false;
    if (in->paged)
        return price_pages(in);
    load loads[KINDS] = {[LIST] = {w->runs, in_granules(in, w->once_bytes, w->runs, w->spans)}};
    int64_t at_once = workers(in, w->active);
    const int64_t exact = write ? cheapest(in, loads, at_once, 1) : INT64_MAX;
    if (!write)
        loads[STEPS] = in_steps(w, w->steps, w->step_span);
    if (!write || (w->apart && in->access == WR_ACCESS_AUTO && !wr_plan_is_exact(in) && !in->sole))
        loads[SIEVE] = (load){w->active, w->spans};
    const int64_t best = cheapest(in, loads, at_once, 1);
    *between = write && best < exact;
    return best + mib(w->bytes - w->once_bytes, WR_COPY_MIB_NS) / at_once +
           mib(w->bytes, WR_SPREAD_MIB_NS) / at_once;
}

/* An operation in flight stays within its memory: smaller windows; and, where an aggregator has one
 * window at a time, with two parts of others beside it, one as large as it can be, to be left to
 * the storage as a whole: then it may exceed the buffer. */
static int64_t window_of(const wr_plan_input *in, bool *large)
{
    *large = false;
    if (in->form == WR_BLOCKING || !in->may_keep)
        return in->window;
    const int64_t window = wr_min(in->window, wr_max(WR_SMALLEST_WINDOW, in->may_keep / 2));
    *large = in->aside && in->form == WR_SPLIT && in->overlap != WR_OVERLAP_ALL &&
             in->exchange == WR_EXCHANGE_ALLTOALL && in->room / 3 > window;
    return *large ? wr_min(in->room / 3, in->wanted.hi - in->wanted.lo + 1) : window;
}

static int64_t buffered_window(const wr_plan_input *in)
{
    bool large;
    const int64_t window = window_of(in, &large);
    return wr_plan_granules(in, wr_max(1, large ? window : wr_min(window, in->buffer / 2)));
}

/* What aggregators do with the file, who move everything once, while as many do so on other nodes.
 */
static int64_t price_file(const wr_plan_input *in, int64_t aggregators, int64_t nodes)
{
    const wr_summary *w = &in->wanted;
    int64_t span = w->hi - w->lo;
    bool large;
    load loads[KINDS] = {
        [LIST] = {w->once_runs, in_granules(in, w->once_bytes, w->once_runs, span)},
        [SIEVE] = {span / window_of(in, &large) + 1, span}};
    if (w->stride > 0)
        loads[STEPS] = in_steps(w, wr_summary_steps(w), wr_summary_step(w));
    return cheapest(in, loads, workers(in, aggregators), nodes);
}

/* What crosses between nodes: each byte once to or from every node that wants it, but for those
 * whose aggregator is there; all links work at once. In a round each aggregator has a message with
 * every other node, which its own and the other node's processors each have to do with; and before
 * the first all agree that there is memory. */
static int64_t price_links(const wr_plan_input *in, int64_t aggregators, int64_t rounds)
{
    const wr_summary *w = &in->wanted;
    if (in->nodes == 1)
        return 0;
    int64_t of_node = wr_min(w->bytes, times(w->once_bytes, in->nodes)) / in->nodes, steps = 0;
    int64_t messages = 2 * times(rounds, aggregators * (in->nodes - 1) / in->nodes);
    while (INT64_C(1) << steps < in->nodes)
        steps++;
    messages = messages / wr_max(1, wr_min(in->cores, in->ranks / in->nodes)) + 2 * steps;
    return mib(of_node / in->nodes * (in->nodes - 1), in->link_mib_ns) +
           times(messages, in->link_ns);
}

/* That, and everybody copies its part. */
static int64_t price_together(const wr_plan_input *in, int64_t aggregators, int64_t nodes)
{
    const wr_summary *w = &in->wanted;
    int64_t copy = mib(w->bytes, WR_COPY_MIB_NS) / workers(in, w->active);
    bool large;
    int64_t rounds = w->once_bytes / window_of(in, &large) / aggregators + 1;
    return price_file(in, aggregators, nodes) + copy + times(rounds, WR_MEETING_NS * in->ranks) +
           price_links(in, aggregators, rounds);
}

/* So much of a realm that it has at most WR_PIECES pieces of loops, which have `runs` in a stride,
 * wherever it begins. Of a realm that is dealt, up to a block lies in two places, and more reaches
 * over whole periods. */
static int64_t listed_cell(const wr_plan *plan, int64_t runs, int64_t stride)
{
    const int64_t strides = WR_PIECES / runs, block = wr_plan_block(plan, plan->aggregators - 1);
    if (!plan->scattered)
        return times(strides - 2, stride);
    if (!plan->period)
        return WR_PIECES;
    const int64_t within = wr_min(block, times(wr_max(0, strides - 4), stride));
    const int64_t periods = wr_max(0, times(strides - 2, stride) / plan->period - 1);
    return wr_max(WR_PIECES, wr_max(within, times(periods, block)));
}

/* Between parties windows are cut where all know it. What must be exact is listed, so that there
 * are no more pieces than that takes, wherever they are. */
static int64_t choose_cell(const wr_plan_input *in, const wr_plan *plan)
{
    const wr_summary *w = &in->wanted;
    const bool one =
        plan->exchange == WR_EXCHANGE_SHM || (plan->exchange != WR_EXCHANGE_P2P && in->nodes == 1);
    if (one || plan->exchange == WR_EXCHANGE_ALLTOALL)
        return 0;
    int64_t cell = wr_plan_granules(in, wr_min(plan->window, WR_CELL_BYTES)), runs;
    if (!wr_plan_is_exact(in) || w->most_runs <= WR_PIECES / 4)
        return cell;
    if (w->stride <= 0 || !wr_mul(w->step_runs, w->active, &runs) || runs > WR_PIECES / 4)
        return wr_min(cell, WR_PIECES);
    return wr_min(cell, listed_cell(plan, runs, w->stride));
}

static int64_t seats_of(const wr_plan_input *in)
{
    return in->seats > 0 ? in->seats : in->ranks;
}

/* As many as the user says; otherwise those that can work at once, as long as each has enough: of
 * this call, which says nothing of those to come if realms persist. */
int64_t wr_plan_aggregators(const wr_plan_input *in)
{
    const int64_t most = seats_of(in);
    if (in->aggregators > 0)
        return wr_min(in->aggregators, most);
    int64_t useful = wr_max(1, price_file(in, 1, 1) / WR_AGGREGATOR_NS);
    if (in->realms == WR_REALMS_PERSISTENT)
        useful = in->ranks;
    return wr_min(wr_min(useful, most), in->cores * in->nodes);
}

/* Whether the messages that nodes as parties save an aggregator in a round, and the bytes that
 * several ranks of a node want, are worth that data are copied once more on their way, by the ranks
 * of a node together, who meet for that. */
static bool leaders_pay(const wr_plan_input *in, const wr_plan *plan)
{
    const wr_summary *w = &in->wanted;
    int64_t of_node = wr_max(1, in->ranks / in->nodes);
    int64_t rounds = w->once_bytes / plan->window / plan->aggregators + 1;
    int64_t data = w->bytes / plan->aggregators / rounds;
    int64_t copy = mib(data, WR_COPY_MIB_NS) / wr_max(1, wr_min(in->cores, of_node));
    int64_t again = w->bytes - wr_min(w->bytes, times(w->once_bytes, in->nodes));
    int64_t saved = 2 * times(w->active - in->nodes, WR_MESSAGE_NS) +
                    mib(again / plan->aggregators / rounds, in->link_mib_ns);
    return saved > copy + times(of_node, WR_MEETING_NS);
}

static enum wr_exchange choose_exchange(const wr_plan_input *in, const wr_plan *plan)
{
    if (!wr_plan_by_messages(in->exchange, in->shared))
        return WR_EXCHANGE_SHM;
    if (in->exchange != WR_EXCHANGE_AUTO && in->exchange != WR_EXCHANGE_SHM)
        return (enum wr_exchange)in->exchange;
    return in->nodes > 1 && leaders_pay(in, plan) ? WR_EXCHANGE_LEADERS : WR_EXCHANGE_P2P;
}

/* Whether nodes may go for themselves, but for what they write: nothing is tuned that concerns all
 * of them together, and no byte has an owner. */
static bool may_part(const wr_plan_input *in)
{
    const bool divided = in->realms == WR_REALMS_EVEN || in->realms == WR_REALMS_STATIC ||
                         in->realms == WR_REALMS_CYCLIC;
    return in->nodes > 1 && divided && seats_of(in) == in->ranks && !in->owned && !in->atomic &&
           !in->write_behind && in->collective == WR_SWITCH_AUTO &&
           (in->exchange == WR_EXCHANGE_AUTO || in->exchange == WR_EXCHANGE_SHM);
}

/* Nodes that write: never the same byte; and, where hosts share the file system, not among each
 * other's either, because they would take turns at its blocks. */
static bool may_go_per_node(const wr_plan_input *in)
{
    const wr_summary *w = &in->wanted;
    if (in->node_ns == INT64_MAX || !may_part(in))
        return false;
    if (in->direction == WR_READ)
        return true;
    return !in->granule && (!wr_summary_nodes_mix(w) || (in->local && !wr_summary_nodes_meet(w)));
}

static void narrow(wr_plan_input *in, const wr_summary *node, int64_t node_ranks)
{
    if (in->aggregators > 0)
        in->aggregators = wr_max(1, in->aggregators / in->nodes);
    in->ranks = in->seats = node_ranks;
    in->nodes = in->shared = 1;
    in->wanted = *node;
}

int64_t wr_plan_node_price(const wr_plan_input *in, const wr_summary *node, int64_t node_ranks)
{
    wr_plan_input own = *in;
    if (!may_part(in))
        return INT64_MAX;
    if (!node->active)
        return 0;
    narrow(&own, node, node_ranks);
    return price_together(&own, wr_plan_aggregators(&own), in->nodes);
}

int64_t wr_plan_keeping_saves(const wr_plan_input *in, int64_t before)
{
    const wr_summary *w = &in->wanted;
    if (in->write_behind == WR_BEHIND_ALWAYS || in->owned)
        return INT64_MAX / 2;
    const int64_t span = w->hi - w->lo, kept = mib(w->once_bytes + 1023, WR_KEEP_MIB_NS);
    int64_t saved = wr_min(before, WR_KEEP_NS);
    if (in->among || w->once_bytes >= span / 2) { /* runs join what is kept */
        const int64_t calls = 2 * wr_div_ceil(span, wr_max(1, in->window));
        saved += wr_min(times(w->once_runs, in->call_ns),
                        times(calls, in->call_ns) + mib(span, in->mib_ns + in->read_mib_ns));
    }
    return wr_max(0, saved - kept);
}

/* In atomic mode what does not block goes alone: a lock for all would be held while the programs of
 * those who are waited for are elsewhere. */
static enum wr_reason choose(const wr_plan_input *in, const wr_plan *plan)
{
    if (in->atomic && in->form != WR_BLOCKING)
        return WR_ATOMIC_BESIDE;
    if (in->owned && in->wanted.active)
        return WR_OWNED;
    if (in->collective == WR_SWITCH_ALWAYS)
        return WR_TUNED_ALWAYS;
    if (in->collective == WR_SWITCH_NEVER)
        return WR_TUNED_NEVER;
    if (in->wanted.active == 0)
        return WR_NOTHING_WANTED;
    if (in->write_behind)
        return WR_WRITTEN_BEHIND;
    /* what is apart may be in one granule */
    const bool together = in->direction == WR_WRITE && (!in->wanted.apart || in->granule);
    int64_t price = plan->price_together;
    if (!together)
        price = wr_min(price, plan->price_alone);
    if (may_go_per_node(in) && in->node_ns < price)
        return WR_CHEAPER_PER_NODE;
    if (together)
        return WR_MAY_OVERLAP;
    return plan->price_together < plan->price_alone ? WR_CHEAPER_TOGETHER : WR_CHEAPER_ALONE;
}

static const struct {
    bool together;
    const char *text;
} reasons[] = {
    [WR_OWNED] = {true, "the file system is weak, and every byte has one owner"},
    [WR_TUNED_ALWAYS] = {true, "collective=always"},
    [WR_TUNED_NEVER] = {false, "collective=never"},
    [WR_NOTHING_WANTED] = {false, "nothing is wanted"},
    [WR_WRITTEN_BEHIND] = {true, "write-behind"},
    [WR_MAY_OVERLAP] = {true, "writes are not known to be apart"},
    [WR_CHEAPER_TOGETHER] = {true, "cheaper together"},
    [WR_CHEAPER_ALONE] = {false, "cheaper alone"},
    [WR_CHEAPER_PER_NODE] = {true, "cheaper per node"},
    [WR_ONE_RANK] = {false, "an access of one rank"},
    [WR_ATOMIC_BESIDE] = {false, "atomic mode, and not blocking"},
    [WR_NO_MEMORY] = {false, "no shared memory, and no messages"},
};

const char *wr_plan_reason(const wr_plan *plan)
{
    return reasons[plan->reason].text;
}

/* The most that a realm takes, as far as the plan can tell. */
static int64_t most_of_realm(const wr_plan_input *in, const wr_plan *plan)
{
    int64_t span = plan->hi - plan->lo, wanted = in->wanted.once_bytes;
    return (wanted < span / 2 ? 2 * wanted : span) / plan->aggregators + 1;
}

/* Whether rounds can go on from an earlier call's memory: the windows it made, and for the rest
 * what ranks have set aside, which is enough for what all are told. */
static bool is_held(const wr_plan_input *in, const wr_plan *plan)
{
    const wr_held *h = &in->held;
    return in->ready && in->described && !in->custom && plan->exchange == h->exchange &&
           plan->exchange != WR_EXCHANGE_ALLTOALL && plan->aggregators == h->aggregators &&
           plan->slots <= h->slots && plan->window <= h->window;
}

static bool must_admit(const wr_plan_input *in, const wr_plan *plan)
{
    const bool between = plan->cell || plan->exchange == WR_EXCHANGE_ALLTOALL;
    return between && plan->collective && in->wanted.active && in->ranks > 1 && !is_held(in, plan);
}

/* Exchanges in which all take part: entry and exit; cuts; in atomic mode, leave to go on; requests
 * to aggregators, where these do not know all that is wanted; and that there is memory. */
static int64_t count_meetings(const wr_plan_input *in, const wr_plan *plan)
{
    const bool asks =
        plan->collective && plan->exchange != WR_EXCHANGE_SHM && !in->known && !in->described;
    return 2 + asks + plan->admits + (plan->hold_all != 0) + in->asked * (in->nodes > 1 ? 2 : 1);
}

/* Cuts realms, for aggregators on the seats of the input. */
static int cut_realms(const wr_plan_input *in, wr_plan *out)
{
    out->lo = wr_plan_down(in, in->wanted.lo);
    out->hi = wr_plan_up(in, in->wanted.hi);
    out->aggregators = wr_plan_aggregators(in);
    int code = wr_realm_rules[in->realms].cut(in, out);
    out->seats = out->aggregators <= seats_of(in) ? seats_of(in) : in->ranks;
    return code;
}

/* Through the memory of a node, whatever reaches others. */
static void go_per_node(const wr_plan_input *in, wr_plan *out)
{
    wr_plan_input own = *in;
    own.shared = 1;
    out->per_node = true;
    out->exchange = WR_EXCHANGE_SHM;
    out->window = buffered_window(&own);
}

int wr_plan_for_node(const wr_summary *node, int64_t node_ranks, wr_plan_input *in, wr_plan *plan)
{
    narrow(in, node, node_ranks);
    plan->handed = plan->handed && node->active;
    wr_ways_limit(in, plan);
    return cut_realms(in, plan);
}

static int build_together(const wr_plan_input *in, wr_plan *out)
{
    memset(out, 0, sizeof *out);
    out->realms = in->realms;
    out->cut = in->cut;
    out->given = in->given;
    out->window = buffered_window(in);
    int code = cut_realms(in, out);
    if (code)
        return code;
    out->price_together = price_together(in, out->aggregators, 1);
    out->price_alone = price_alone(in, &out->between);
    out->reason = choose(in, out);
    out->collective = reasons[out->reason].together;
    out->between = out->between && out->reason == WR_CHEAPER_ALONE;
    out->exchange = choose_exchange(in, out);
    if (out->reason == WR_CHEAPER_PER_NODE)
        go_per_node(in, out);
    out->cell = choose_cell(in, out);
    out->by_rank = in->mixed && in->direction == WR_WRITE && wr_summary_nodes_meet(&in->wanted);
    out->most = most_of_realm(in, out);
    wr_ways_together(in, out);
    out->admits = must_admit(in, out);
    out->meetings = count_meetings(in, out);
    return 0;
}

int wr_plan_build(const wr_plan_input *in, wr_plan *out)
{
    if (!in->alone)
        return build_together(in, out);
    wr_plan_alone(in, out);
    return 0;
}

void wr_plan_do_without(const wr_plan_input *in, wr_plan *plan, bool mute)
{
    plan->window = buffered_window(in);
    plan->exchange = WR_EXCHANGE_P2P;
    plan->cell = choose_cell(in, plan);
    if (mute) {
        plan->reason = WR_NO_MEMORY;
        plan->collective = plan->per_node = 0;
        plan->in_turn = in->direction == WR_WRITE && !in->wanted.apart;
    }
    wr_ways_together(in, plan);
    plan->handed = plan->handed && !mute;
    plan->admits = must_admit(in, plan);
    plan->meetings = count_meetings(in, plan);
}

/* Whether a rank that reads alone pays less for exactly what it wants, straight into its memory,
 * than for more through a buffer. */
bool wr_plan_list_is_cheaper(const wr_plan_input *in)
{
    const wr_summary *w = &in->wanted;
    int64_t list = read_price(in, (load){w->runs, w->bytes}, 1) + mib(w->bytes, WR_SPREAD_MIB_NS);
    load loads[KINDS] = {
        [STEPS] = in_steps(w, w->steps, w->step_span), [SIEVE] = {1, w->hi - w->lo}};
    return list <= cheapest(in, loads, 1, 1) + mib(w->bytes, WR_COPY_MIB_NS);
}
