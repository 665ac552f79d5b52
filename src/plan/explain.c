/* Plans for people: as text and as a picture. Puts the parts of all aggregators together in one
 * process, which a real access never does. */
#include <string.h>

#include "base/arith.h"
#include "base/error.h"
#include "pattern/cursor.h"
#include "plan/balance.h"
#include "plan/partners.h"
#include "plan/realms.h"
#include "plan/say.h"
#include "plan/traffic.h"
#include "weir/plan.h"

enum { SHOWN = 6, WIDTH = 960, LEFT = 90, BAND = 14, TOP = 34, MOST_ROWS = 32, MOST_RUNS = 400 };

/* What is drawn in which colour; windows in two, in turn. */
enum { WANTED, REALM, SIEVED, LISTED };
static const struct {
    const char *colour, *other, *meaning;
} legend[] = {[WANTED] = {"#3b6ea5", "", "wanted by a rank"},
              [REALM] = {"#b9c6d3", "", "realm"},
              [SIEVED] = {"#c9822b", "#e0a458", "window by sieve"},
              [LISTED] = {"#4f8f57", "#7fb685", "window by list"}};

/* [lo, hi) of the file. */
typedef struct wr_run {
    int64_t lo, hi;
} wr_run;

struct weir_plan {
    weir_plan_request request;
    wr_plan_input in;
    wr_plan plan;
    wr_want *wants;
    int64_t wants_count;
    wr_summary *nodes;  /* what each wants, by node; NULL if there is one */
    int64_t first_rank; /* of what is about one node */
    int64_t aggregators;
    wr_custom_realms custom;
    int64_t cut[WR_CUTS];
};

/* Text; of a picture the row where windows go, and what of the file it shows; whose realms have
 * been written about so far. */
typedef struct writer {
    wr_text text;
    int64_t row;
    int64_t lo, hi;
    wr_want_queue wants;
} writer;

static void writer_init(writer *w, const weir_plan *p, char *text, size_t size)
{
    *w = (writer){.text = {text, size, 0}, .lo = p->plan.lo, .hi = p->plan.hi};
    wr_want_queue_init(&w->wants, p->wants_count, p->wants, INT64_MAX);
}

static int check_request(const weir_plan_request *r)
{
    if (r->ranks < 1)
        return wr_fail(WEIR_EINVAL, "plan: %d ranks", r->ranks);
    if (!r->patterns || (r->realm_count > 0 && !r->realms))
        return wr_fail(WEIR_EINVAL, "plan: no %s", r->patterns ? "realms" : "patterns");
    if (r->form < WR_BLOCKING || r->form > WR_NONBLOCKING)
        return wr_fail(WEIR_EINVAL, "plan: there is no form %d", r->form);
    for (int i = 0; i < r->ranks; i++) {
        const weir_pattern *p = r->patterns[i];
        if (p && !weir_pattern_is_ordered(p))
            return wr_fail(WEIR_EINVAL, "plan: the pattern of rank %d is not ordered", i);
        if (p && r->write && !weir_pattern_is_disjoint(p))
            return wr_fail(WEIR_EINVAL, "plan: the pattern of rank %d has a byte twice", i);
    }
    return wr_check_reserved(r->reserved, "weir_plan_request");
}

/* Of an operation on a file that is in the page cache, where the thread may do what it likes. */
static wr_moving moving_of(const weir_plan *p, const wr_tunables *t)
{
    const wr_plan_input *in = &p->in;
    wr_moving m = {.beside = 1,
                   .form = in->form,
                   .alone = p->request.alone != 0,
                   .direction = (enum wr_direction)in->direction,
                   .bytes = in->wanted.bytes,
                   .memory = t->direct.which != WR_SWITCH_ALWAYS,
                   .cached = 1,
                   .overlap = in->overlap,
                   .may_keep = in->may_keep,
                   .messages = wr_plan_by_messages(in->exchange, in->shared),
                   .multiple = 1};
    m.thread = wr_moving_overlaps(&m) && t->progress.which == WR_PROGRESS_THREAD;
    return in->form == WR_BLOCKING ? (wr_moving){0} : m;
}

static int node_ranks(const weir_plan_request *r)
{
    return r->ranks_per_node && r->ranks_per_node < r->ranks ? r->ranks_per_node : r->ranks;
}

/* Ranks of a node; the last may have fewer. */
static int64_t ranks_of(const weir_plan *p, int64_t node)
{
    const int64_t each = node_ranks(&p->request);
    return wr_min(each, p->request.ranks - node * each);
}

/* What it costs the dearest node to go for itself. */
static void price_nodes(weir_plan *p)
{
    wr_plan_input *in = &p->in;
    int64_t most = p->nodes ? 0 : INT64_MAX;
    for (int64_t i = 0; p->nodes && i < in->nodes; i++)
        most = wr_max(most, wr_plan_node_price(in, &p->nodes[i], ranks_of(p, i)));
    in->node_ns = most;
}

static void set_input(weir_plan *p, const wr_tunables *t, const wr_summary *wanted)
{
    const weir_plan_request *r = &p->request;
    enum wr_direction direction = r->write ? WR_WRITE : WR_READ;
    int per_node = node_ranks(r);
    wr_plan_input_tune(&p->in, direction, t, wr_built_in_prices[WR_IN_CACHE].price);
    p->in.ranks = r->ranks;
    p->in.nodes = wr_div_ceil(r->ranks, per_node);
    p->in.cores = r->cores ? r->cores : per_node;
    p->in.wanted = *wanted;
    p->in.file_size = r->file_size;
    p->in.unit = wr_max(1, r->unit);
    p->in.shared = p->in.nodes == 1;
    p->in.seats = p->in.ranks;
    p->in.weak = t->coherence.which == WR_COHERENCE_WEAK;
    p->in.local = p->in.nodes == 1 && !p->in.weak;
    p->in.blind = p->in.weak && r->write;
    p->in.owned = p->in.blind && p->in.nodes > 1 && !r->alone;
    if (p->in.owned)
        p->in.realms = WR_REALMS_PERSISTENT;
    p->in.custom = r->realm_count;
    p->in.given = &p->custom;
    if (r->realm_count)
        p->in.realms = WR_REALMS_CUSTOM;
    if (r->alone) { /* whatever would be cut */
        p->in.realms = WR_REALMS_EVEN;
        p->in.collective = WR_SWITCH_NEVER;
    }
    p->in.form = (enum wr_form)r->form;
    p->in.room = p->in.may_keep;
    p->in.moving = moving_of(p, t);
    p->in.aside = !r->alone && wr_moving_prefers_aside(&p->in.moving);
    p->in.leased = t->progress.which == WR_PROGRESS_THREAD;
    p->in.among = true; /* as one of many such calls */
    if (wr_plan_keeping_saves(&p->in, WR_KEEP_NS) <= WR_KEEP_NS)
        p->in.write_behind = WR_BEHIND_DISABLE;
    price_nodes(p);
}

/* Of a plan per node the part of one, whose wants are the first of those from `from` on, and which
 * is written about next; it borrows all. */
static int set_part(writer *w, const weir_plan *p, int64_t node, int64_t from, weir_plan *out)
{
    const int64_t end = node * node_ranks(&p->request) + ranks_of(p, node);
    int64_t to = from;
    while (to < p->wants_count && p->wants[to].rank < end)
        to++;
    *out = *p;
    out->first_rank = node * node_ranks(&p->request);
    out->wants = p->wants + from;
    out->wants_count = to - from;
    wr_want_queue_release(&w->wants);
    wr_want_queue_init(&w->wants, out->wants_count, out->wants, INT64_MAX);
    int code = wr_plan_for_node(&p->nodes[node], ranks_of(p, node), &out->in, &out->plan);
    return code;
}

/* How many there are: of a plan per node, on all nodes that want something. */
static int count_aggregators(weir_plan *p)
{
    p->aggregators = p->plan.per_node ? 0 : p->plan.aggregators;
    for (int64_t i = 0; p->plan.per_node && i < p->in.nodes; i++) {
        wr_plan_input in = p->in;
        wr_plan plan = p->plan;
        int code = wr_plan_for_node(&p->nodes[i], ranks_of(p, i), &in, &plan);
        if (code)
            return code;
        p->aggregators += p->nodes[i].active ? plan.aggregators : 0;
    }
    return 0;
}

/* Whether all ranks of several nodes are told what all want. */
static bool are_described(const weir_plan *p)
{
    int64_t bytes = 0;
    for (int64_t i = 0; i < p->wants_count; i++)
        bytes += wr_described_room(weir_pattern_footprint(p->wants[i].pattern));
    return bytes <= WR_DESCRIBED_BYTES;
}

/* What every rank wants, and all together. */
static int survey(weir_plan *p, wr_summary *wanted)
{
    const weir_plan_request *r = &p->request;
    const int per_node = node_ranks(r);
    const int64_t nodes = wr_div_ceil(r->ranks, per_node);
    wr_summary one = {0};
    p->wants = wr_alloc_array(r->ranks, sizeof *p->wants);
    if (nodes > 1)
        p->nodes = wr_alloc_array(nodes, sizeof *p->nodes);
    if (!p->wants || (nodes > 1 && !p->nodes))
        return WEIR_ENOMEM;
    for (int i = 0; i < r->ranks; i++) {
        const weir_pattern *pattern = r->patterns[i];
        int64_t bytes = pattern ? weir_pattern_bytes(pattern) : 0;
        wr_summary *node = p->nodes ? &p->nodes[i / per_node] : &one;
        if (i % per_node == 0)
            *node = (wr_summary){0};
        if (bytes) {
            wr_summary part = wr_summary_of(pattern, 0, bytes);
            wr_summary_add(node, &part);
            p->wants[p->wants_count++] = (wr_want){pattern, 0, bytes, i};
        }
    }
    *wanted = one;
    for (int64_t i = 0; p->nodes && i < nodes; i++)
        wr_summary_add_node(wanted, &p->nodes[i]);
    if (p->nodes)
        wr_summary_end_nodes(wanted);
    return 0;
}

/* The request's realms, which stay the caller's. */
static int take_realms(weir_plan *p)
{
    const weir_plan_request *r = &p->request;
    if (r->realm_count < 0 || r->realm_count > r->ranks || r->realm_period < 0)
        return wr_fail(WEIR_EINVAL, "plan: %d realms for %d ranks, every %lld bytes",
                       r->realm_count, r->ranks, (long long)r->realm_period);
    p->custom = (wr_custom_realms){r->realm_count, r->realm_period, r->realms};
    return r->realm_count ? wr_custom_verify(&p->custom) : 0;
}

int weir_plan_new(const weir_plan_request *request, weir_plan **out)
{
    wr_tunables tunables;
    wr_summary wanted = {0};
    wr_tunables_init(&tunables);
    int code = check_request(request);
    if (!code && request->hints)
        code = wr_tunables_set_hints(&tunables, request->hints);
    if (!code)
        code = wr_tunables_set_environment(&tunables);
    if (!code)
        code = wr_tunables_settle(&tunables);
    if (code)
        return code;
    weir_plan *p = wr_alloc(sizeof *p);
    if (!p)
        return WEIR_ENOMEM;
    *p = (weir_plan){.request = *request};
    code = take_realms(p);
    if (!code)
        code = survey(p, &wanted);
    if (!code) {
        set_input(p, &tunables, &wanted);
        p->in.described = p->in.nodes == 1 || are_described(p);
        if (p->in.realms == WR_REALMS_BALANCED)
            wr_balance_wants(&p->in, p->wants_count, p->wants, p->cut);
        code = wr_plan_build(&p->in, &p->plan);
        p->plan.reason = request->alone ? WR_ONE_RANK : p->plan.reason;
    }
    if (!code)
        code = count_aggregators(p);
    if (code)
        weir_plan_free(p);
    else
        *out = p;
    return code;
}

void weir_plan_free(weir_plan *plan)
{
    if (!plan)
        return;
    wr_free(plan->nodes);
    wr_free(plan->wants);
    wr_free(plan);
}

/* What all windows of all realms come to. */
typedef struct total {
    int64_t windows, rounds, calls, moved;
    wr_sent *nodes; /* what each sends to others; NULL: not asked */
} total;

static int say_window(writer *w, wr_windows *walk, const wr_window *window, int64_t number)
{
    const int64_t *list, ranks = wr_windows_touching(walk, window, &list);
    if (ranks < 0)
        return (int)ranks;
    wr_say(&w->text, "  window %lld: [%lld, %lld) by %s: %s; %lld runs, %lld bytes",
           (long long)number, (long long)window->lo, (long long)window->hi, window->method,
           window->reason, (long long)weir_pattern_pieces(window->cover),
           (long long)weir_pattern_bytes(window->cover));
    if (walk->plan->collective)
        wr_say(&w->text, ", %lld ranks", (long long)ranks);
    wr_say(&w->text, "%s%s\n",
           walk->in->direction == WR_WRITE && window->holes ? ", read first" : "",
           walk->in->direction == WR_WRITE && window->overlap ? ", in order of ranks" : "");
    return 0;
}

/* What is said or drawn of a realm, if anything, and of each of its windows. */
typedef struct visitor {
    void (*realm)(writer *w, const weir_plan *p, const wr_windows *walk, int64_t i);
    int (*window)(writer *w, const weir_plan *p, wr_windows *walk, const wr_window *window);
} visitor;

/* Visits each window of a walk, and ends it; counts in *sum. */
static int visit_windows(const weir_plan *p, wr_windows *walk, total *sum, const visitor *visit,
                         writer *w)
{
    wr_window window;
    int more, code = 0;
    while (!code && (more = wr_windows_next(walk, &window)) == 1) {
        bool twice = p->in.direction == WR_WRITE && window.holes;
        sum->windows++;
        sum->calls += weir_pattern_pieces(window.cover) * (1 + twice);
        sum->moved += weir_pattern_bytes(window.cover) * (1 + twice);
        code = visit->window(w, p, walk, &window);
        wr_window_release(&window);
    }
    sum->rounds = wr_max(sum->rounds, walk->number);
    wr_windows_release(walk);
    return code ? code : more;
}

static int walk_realm(const weir_plan *p, int64_t i, total *sum, const visitor *visit, writer *w)
{
    weir_pattern *realm;
    wr_windows walk;
    int code = wr_plan_realm(&p->plan, i, &realm);
    if (code)
        return code;
    wr_want *wants;
    int64_t count;
    code = wr_partners_find(&w->wants, realm, &wants, &count);
    if (!code) {
        wr_windows_init(&walk, &p->in, &p->plan, realm, count, wants);
        if (visit->realm)
            visit->realm(w, p, &walk, i);
        if (sum->nodes && wr_plan_has_parts(&p->plan))
            code = wr_traffic_add(&walk, i, node_ranks(&p->request), sum->nodes);
        if (!code)
            code = visit_windows(p, &walk, sum, visit, w);
        wr_free(wants);
    }
    weir_pattern_free(realm);
    return code;
}

static int say_few_windows(writer *w, const weir_plan *p, wr_windows *walk, const wr_window *window)
{
    (void)p;
    if (walk->number <= SHOWN)
        return say_window(w, walk, window, walk->number - 1);
    if (walk->number == SHOWN + 1)
        wr_say(&w->text, "  ...\n");
    return 0;
}

static int say_nothing(writer *w, const weir_plan *p, wr_windows *walk, const wr_window *window)
{
    (void)w, (void)p, (void)walk, (void)window;
    return 0;
}

/* A realm, and how much of it is wanted. */
static void say_realm(writer *w, const weir_plan *p, const wr_windows *walk, int64_t i)
{
    const weir_pattern *realm = walk->realm;
    int64_t lo, hi, data = 0;
    weir_pattern_bounds(realm, &lo, &hi);
    for (int64_t k = 0; !p->plan.scattered && k < walk->count; k++)
        data += wr_pattern_data_below(walk->wants[k].pattern, hi) -
                wr_pattern_data_below(walk->wants[k].pattern, lo);
    const int64_t rank = p->first_rank + wr_plan_seat(&p->plan, i);
    wr_say(&w->text, "realm %lld of rank %lld: ", (long long)i, (long long)rank);
    if (p->plan.period)
        wr_say(&w->text, "%lld bytes from %lld on, and again every %lld",
               (long long)wr_plan_block(&p->plan, i), (long long)p->plan.base + i * p->plan.block,
               (long long)p->plan.period);
    else
        wr_say(&w->text, "%lld bytes from %lld on%s", (long long)weir_pattern_bytes(realm),
               (long long)lo, weir_pattern_bytes(realm) < hi - lo ? ", in pieces" : "");
    if (!p->plan.scattered)
        wr_say(&w->text, "; %lld wanted", (long long)data);
    wr_say(&w->text, "\n");
}

static int say_realms(writer *w, const weir_plan *p, total *sum)
{
    static const visitor visit = {say_realm, say_few_windows};
    for (int64_t i = 0; i < p->plan.aggregators; i++) {
        int code = walk_realm(p, i, sum, &visit, w);
        if (code)
            return code;
    }
    return 0;
}

static int say_nodes(writer *w, const weir_plan *p, total *sum)
{
    int code = 0;
    for (int64_t i = 0, from = 0; !code && i < p->in.nodes; i++) {
        const wr_summary *wanted = &p->nodes[i];
        weir_plan part;
        if (!wanted->active)
            continue;
        wr_say(&w->text,
               "node %lld: %lld bytes in about %lld runs by %lld ranks, in [%lld, %lld)\n",
               (long long)i, (long long)wanted->bytes, (long long)wanted->runs,
               (long long)wanted->active, (long long)wanted->lo, (long long)wanted->hi);
        code = set_part(w, p, i, from, &part);
        if (!code)
            code = say_realms(w, &part, sum);
        from += part.wants_count;
    }
    return code;
}

/* The plan that a rank makes for itself. */
static void plan_rank(const weir_plan *p, const wr_want *want, wr_plan_input *in, wr_plan *plan)
{
    *in = p->in;
    in->alone = 1;
    in->wanted = wr_summary_of(want->pattern, want->begin, want->end);
    in->whole = p->request.unit > 0 && in->direction == WR_READ;
    in->column = p->request.unit;
    in->moving.bytes = in->wanted.bytes;
    in->moving.one_run = in->wanted.hi - in->wanted.lo == in->wanted.bytes;
    in->moving.handed = p->plan.handed;
    in->task = in->moving.handed || wr_moving_mover(&in->moving) != WR_MOVED_AT_ONCE;
    wr_plan_alone(in, plan);
}

/* Whole slices, as many as fit a window. */
static void count_columns(const wr_plan_input *in, const wr_plan *plan, total *sum)
{
    const int64_t lo = plan->lo / in->column, hi = wr_div_ceil(plan->hi, in->column);
    const int64_t windows = wr_div_ceil(hi - lo, wr_max(1, plan->window / in->column));
    sum->windows += windows;
    sum->calls += windows * (1 + in->direction);
    sum->moved += (hi - lo) * in->column * (1 + in->direction);
}

/* Through windows. */
static int walk_rank(const weir_plan *p, const wr_want *want, const wr_windows *of, total *sum,
                     writer *w)
{
    weir_pattern *realm;
    wr_windows walk;
    int code = wr_plan_realm(of->plan, 0, &realm);
    if (code)
        return code;
    wr_windows_init(&walk, of->in, of->plan, realm, 1, want);
    const visitor visit = {.window = want->rank < SHOWN ? say_few_windows : say_nothing};
    code = visit_windows(p, &walk, sum, &visit, w);
    weir_pattern_free(realm);
    return code;
}

static int say_rank(writer *w, const weir_plan *p, const wr_want *want, total *sum)
{
    wr_plan_input in;
    wr_plan plan;
    plan_rank(p, want, &in, &plan);
    if (want->rank == SHOWN)
        wr_say(&w->text, "...\n");
    if (want->rank < SHOWN) {
        wr_say(&w->text, "rank %d: %lld bytes in about %lld runs, in [%lld, %lld)\n", want->rank,
               (long long)in.wanted.bytes, (long long)in.wanted.runs, (long long)plan.lo,
               (long long)plan.hi);
        if (p->request.alone) {
            wr_say_input(&w->text, &in);
            wr_say_plan(&w->text, &in, &plan);
        } else {
            wr_say_ways(&w->text, &in, &plan);
        }
    }
    if (plan.way[0] == WR_WAY_SIEVE)
        return walk_rank(p, want, &(wr_windows){.in = &in, .plan = &plan}, sum, w);
    if (plan.way[0] == WR_WAY_COLUMNS) {
        count_columns(&in, &plan, sum);
        return 0;
    }
    sum->calls += in.wanted.runs;
    sum->moved += in.wanted.bytes;
    return 0;
}

static int say_ranks(writer *w, const weir_plan *p, total *sum)
{
    int code = 0;
    for (int64_t i = 0; !code && i < p->wants_count; i++)
        code = say_rank(w, p, &p->wants[i], sum);
    return code;
}

static void say_total(writer *w, const weir_plan *p, const total *sum)
{
    const wr_plan *plan = &p->plan;
    bool together = plan->collective;
    bool messages = plan->exchange != WR_EXCHANGE_SHM;
    /* between parties as many again for its messages, and as many as a gate */
    int64_t windows = wr_max(2, plan->slots) * (wr_plan_has_parts(plan) ? 3 : 1);
    int64_t price = plan->per_node ? p->in.node_ns
                    : together     ? plan->price_together
                                   : plan->price_alone;
    wr_say(&w->text, "in all: %lld windows in %lld rounds, %lld calls\n", (long long)sum->windows,
           (long long)sum->rounds, (long long)sum->calls);
    wr_say(&w->text, "bytes: %lld wanted, %lld moved, %lld exchanged\n",
           (long long)p->in.wanted.bytes, (long long)sum->moved,
           together ? (long long)p->in.wanted.bytes : 0);
    wr_say(&w->text, "time: about %lld.%06lld seconds\n", (long long)price / 1000000000,
           (long long)price / 1000 % 1000000);
    if (together)
        wr_say(&w->text,
               "memory: %lld windows of %lld bytes and at most %d bytes for covers on each of %lld "
               "aggregators; %s on other ranks\n",
               (long long)windows, (long long)plan->window,
               WR_WALK_BYTES + WR_WINDOW_CACHE_BYTES + 2 * WR_COVER_BYTES,
               (long long)p->aggregators, messages ? "a window" : "no buffer");
    else
        wr_say(&w->text, "memory: a window of at most %lld bytes on each rank\n",
               sum->windows ? (long long)p->in.sieve_buffer : 0);
}

/* What the first nodes send, if any sends anything. */
static wr_sent say_senders(writer *w, const weir_plan *p, const wr_sent *nodes)
{
    wr_sent all = {0};
    for (int64_t i = 0; i < p->in.nodes; i++) {
        all.messages += nodes[i].messages;
        all.bytes += nodes[i].bytes;
    }
    for (int64_t i = 0; all.messages && i < wr_min(SHOWN, p->in.nodes); i++)
        wr_say(&w->text, "node %lld sends to others: %lld messages, %lld bytes\n", (long long)i,
               (long long)nodes[i].messages, (long long)nodes[i].bytes);
    if (all.messages && p->in.nodes > SHOWN)
        wr_say(&w->text, "...\n");
    return all;
}

/* Between nodes; to agree, where meetings are all that takes. */
static void say_traffic(writer *w, const weir_plan *p, const wr_sent *nodes)
{
    const wr_plan_input *in = &p->in;
    const bool counted = !p->plan.collective || p->plan.per_node || wr_plan_has_parts(&p->plan);
    const bool at_least = in->asked || !(in->described || in->known) || !counted;
    const wr_sent all = say_senders(w, p, nodes);
    int64_t agree = 0;
    for (int64_t i = 0; i < in->nodes; i++)
        agree += p->plan.meetings * wr_traffic_to_meet(i, in->nodes);
    wr_say(&w->text, "between nodes: ");
    if (counted)
        wr_say(&w->text, "%lld messages, %lld bytes; ", (long long)all.messages,
               (long long)all.bytes);
    wr_say(&w->text, "%s%lld messages to agree\n", at_least ? "at least " : "", (long long)agree);
}

int64_t weir_plan_print(const weir_plan *plan, char *text, size_t size)
{
    writer w;
    total sum = {0};
    const wr_plan *p = &plan->plan;
    const bool wide = plan->in.nodes > 1 && !plan->request.alone;
    if (wide) {
        sum.nodes = wr_alloc_array(plan->in.nodes, sizeof *sum.nodes);
        if (!sum.nodes)
            return WEIR_ENOMEM;
        memset(sum.nodes, 0, (size_t)plan->in.nodes * sizeof *sum.nodes);
    }
    writer_init(&w, plan, text, size);
    if (!plan->request.alone) {
        wr_say_input(&w.text, &plan->in);
        wr_say_plan(&w.text, &plan->in, p);
    }
    int code = p->per_node     ? say_nodes(&w, plan, &sum)
               : p->collective ? say_realms(&w, plan, &sum)
                               : say_ranks(&w, plan, &sum);
    wr_want_queue_release(&w.wants);
    if (!code && wide)
        say_traffic(&w, plan, sum.nodes);
    wr_free(sum.nodes);
    if (code)
        return code;
    say_total(&w, plan, &sum);
    return w.text.length;
}

/* Hundredths of a pixel, in whole numbers. */
static int64_t place(const writer *w, int64_t offset)
{
    int64_t span = wr_max(1, w->hi - w->lo);
    int64_t at = wr_max(0, wr_min(offset - w->lo, span));
    int shift = 0;
    while (span >> shift > INT64_C(1) << 40)
        shift++;
    const int64_t left = INT64_C(100) * LEFT, width = INT64_C(100) * (WIDTH - LEFT - 10);
    return left + (at >> shift) * width / wr_max(1, span >> shift);
}

typedef struct band {
    int64_t row;
    const char *colour;
} band;

static void draw(writer *w, band b, wr_run range)
{
    int64_t x = place(w, range.lo), width = wr_max(40, place(w, range.hi) - x);
    long long y = TOP + b.row * BAND;
    wr_say(&w->text,
           "<rect x=\"%lld.%02lld\" y=\"%lld\" width=\"%lld.%02lld\" height=\"%d\" fill=\"%s\"/>\n",
           (long long)x / 100, (long long)x % 100, y, (long long)width / 100,
           (long long)width % 100, BAND - 3, b.colour);
}

static void label(writer *w, int64_t row, const char *what, int64_t number)
{
    long long y = TOP + 10 + row * BAND;
    wr_say(&w->text, "<text x=\"4\" y=\"%lld\">%s %lld</text>\n", y, what, (long long)number);
}

/* The runs of a pattern, or, of very many, as many as can be told apart. */
static void draw_pattern(writer *w, band b, const weir_pattern *pattern)
{
    wr_cursor c;
    wr_batch run;
    int64_t step = wr_max(1, (w->hi - w->lo) / MOST_RUNS), at = w->lo;
    wr_cursor_init(&c, pattern);
    for (; wr_cursor_next_run(&c, INT64_MAX, &run) && run.offset < w->hi;) {
        draw(w, b, (wr_run){run.offset, run.offset + run.run});
        at = wr_max(run.offset + run.run, at + step);
        wr_cursor_seek_offset(&c, at);
    }
}

static int draw_window(writer *w, const weir_plan *p, wr_windows *walk, const wr_window *window)
{
    (void)p;
    const bool odd = walk->number % 2 == 0; /* its own is one less */
    const int kind = strcmp(window->method, "sieve") ? LISTED : SIEVED;
    band b = {w->row, odd ? legend[kind].other : legend[kind].colour};
    draw(w, b, (wr_run){window->lo, window->hi});
    return 0;
}

/* A line and the offset at every power of two that makes at most nine, in its unit. */
static void draw_scale(writer *w, long long bottom)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    const int64_t span = wr_max(1, w->hi - w->lo);
    int shift = 0;
    while (span >> shift > 8)
        shift++;
    const int64_t step = INT64_C(1) << shift;
    int64_t at = w->lo / step * step;
    at += at < w->lo ? step : 0;
    wr_say(&w->text, "<text x=\"4\" y=\"26\">offset, %s</text>\n", units[shift / 10]);
    for (; at <= w->hi; at += step) {
        const long long x = (long long)place(w, at) / 100;
        wr_say(&w->text,
               "<path d=\"M%lld %dV%lld\" stroke=\"#ddd\"/>"
               "<text x=\"%lld\" y=\"26\" text-anchor=\"middle\">%lld</text>\n",
               x, TOP - 5, bottom, x, (long long)(at >> shift / 10 * 10));
        if (at > INT64_MAX - step)
            break;
    }
}

static void draw_legend(writer *w, bool together, long long y)
{
    const int last = together ? LISTED : WANTED;
    for (int i = 0; i <= last; i++) {
        int x = LEFT + 160 * i;
        wr_say(&w->text, "<rect x=\"%d\" y=\"%lld\" width=\"16\" height=\"11\" fill=\"%s\"/>", x, y,
               legend[i].colour);
        if (*legend[i].other)
            wr_say(&w->text, "<rect x=\"%d\" y=\"%lld\" width=\"8\" height=\"11\" fill=\"%s\"/>",
                   x + 8, y, legend[i].other);
        wr_say(&w->text, "<text x=\"%d\" y=\"%lld\">%s</text>\n", x + 21, y + 10,
               legend[i].meaning);
    }
}

/* Its realms and their windows from a row on, as many as there is place for; *number counts them.
 */
static int draw_realms(writer *w, const weir_plan *p, int64_t *row, int64_t *number)
{
    static const visitor visit = {.window = draw_window};
    total sum = {0};
    for (int64_t i = 0; i < p->plan.aggregators && *number < MOST_ROWS; i++, *row += 2) {
        weir_pattern *realm;
        int code = wr_plan_realm(&p->plan, i, &realm);
        if (code)
            return code;
        label(w, *row, "realm", *number);
        draw_pattern(w, (band){*row, legend[REALM].colour}, realm);
        weir_pattern_free(realm);
        label(w, *row + 1, "windows", (*number)++);
        w->row = *row + 1;
        code = walk_realm(p, i, &sum, &visit, w);
        if (code)
            return code;
    }
    return 0;
}

static int draw_nodes(writer *w, const weir_plan *p, int64_t *row, int64_t *number)
{
    int code = 0;
    for (int64_t i = 0, from = 0; !code && i < p->in.nodes && *number < MOST_ROWS; i++) {
        weir_plan part;
        if (!p->nodes[i].active)
            continue;
        code = set_part(w, p, i, from, &part);
        if (!code)
            code = draw_realms(w, &part, row, number);
        from += part.wants_count;
    }
    return code;
}

int64_t weir_plan_svg(const weir_plan *plan, char *text, size_t size)
{
    writer w;
    writer_init(&w, plan, text, size);
    int64_t shown = wr_min(plan->wants_count, MOST_ROWS), n = plan->aggregators, number = 0;
    int64_t realms = plan->plan.collective ? wr_min(n, MOST_ROWS) : 0, row = 0;
    const long long bottom = TOP + (shown + 2 * realms) * BAND, height = bottom + 28;
    wr_say(&w.text,
           "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %lld\" font-size=\"10\" "
           "font-family=\"sans-serif\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
           WIDTH, height);
    wr_say(&w.text, "<text x=\"%d\" y=\"12\">bytes %lld to %lld of the file; %s", LEFT,
           (long long)plan->plan.lo, (long long)plan->plan.hi, wr_plan_reason(&plan->plan));
    if (shown < plan->wants_count)
        wr_say(&w.text, "; the first %lld of %lld ranks", (long long)shown,
               (long long)plan->wants_count);
    if (realms && realms < n)
        wr_say(&w.text, "; the first %lld of %lld realms", (long long)realms, (long long)n);
    wr_say(&w.text, "</text>\n");
    draw_scale(&w, bottom);
    for (int64_t i = 0; i < shown; i++, row++) {
        label(&w, row, "rank", plan->wants[i].rank);
        draw_pattern(&w, (band){row, legend[WANTED].colour}, plan->wants[i].pattern);
    }
    int code = plan->plan.per_node     ? draw_nodes(&w, plan, &row, &number)
               : plan->plan.collective ? draw_realms(&w, plan, &row, &number)
                                       : 0;
    wr_want_queue_release(&w.wants);
    if (code)
        return code;
    draw_legend(&w, realms > 0, bottom + 10);
    wr_say(&w.text, "</svg>\n");
    return w.text.length;
}
