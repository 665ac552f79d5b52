/* Plans for people, as text. Puts the parts of all aggregators together in one process, which a
 * real access never does. */
#include "plan/explain.h"

#include <string.h>

#include "base/arith.h"
#include "base/error.h"
#include "pattern/cursor.h"
#include "plan/balance.h"
#include "plan/partners.h"
#include "plan/realms.h"
#include "plan/say.h"
#include "plan/traffic.h"

enum { SHOWN = 6 };

void wr_explainer_init(wr_explainer *w, const weir_plan *p, char *text, size_t size)
{
    *w = (wr_explainer){.text = {text, size, 0}};
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

int wr_explained_node_ranks(const weir_plan_request *r)
{
    return r->ranks_per_node && r->ranks_per_node < r->ranks ? r->ranks_per_node : r->ranks;
}

/* Ranks of a node; the last may have fewer. */
static int64_t ranks_of(const weir_plan *p, int64_t node)
{
    const int64_t each = wr_explained_node_ranks(&p->request);
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
    int per_node = wr_explained_node_ranks(r);
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

int wr_explain_node(wr_explainer *w, const weir_plan *p, int64_t node, int64_t from, weir_plan *out)
{
    const int64_t end = node * wr_explained_node_ranks(&p->request) + ranks_of(p, node);
    int64_t to = from;
    while (to < p->wants_count && p->wants[to].rank < end)
        to++;
    *out = *p;
    out->first_rank = node * wr_explained_node_ranks(&p->request);
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
    const int per_node = wr_explained_node_ranks(r);
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

static int say_window(wr_explainer *w, wr_windows *walk, const wr_window *window, int64_t number)
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

/* Visits each window of a walk, and ends it; counts in *sum. */
static int visit_windows(const weir_plan *p, wr_windows *walk, wr_total *sum,
                         const wr_visitor *visit, wr_explainer *w)
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

int wr_explain_realm(const weir_plan *p, int64_t i, wr_total *sum, const wr_visitor *visit,
                     wr_explainer *w)
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
            code = wr_traffic_add(&walk, i, wr_explained_node_ranks(&p->request), sum->nodes);
        if (!code)
            code = visit_windows(p, &walk, sum, visit, w);
        wr_free(wants);
    }
    weir_pattern_free(realm);
    return code;
}

static int say_few_windows(wr_explainer *w, const weir_plan *p, wr_windows *walk,
                           const wr_window *window)
{
    (void)p;
    if (walk->number <= SHOWN)
        return say_window(w, walk, window, walk->number - 1);
    if (walk->number == SHOWN + 1)
        wr_say(&w->text, "  ...\n");
    return 0;
}

static int say_nothing(wr_explainer *w, const weir_plan *p, wr_windows *walk,
                       const wr_window *window)
{
    (void)w, (void)p, (void)walk, (void)window;
    return 0;
}

/* A realm, and how much of it is wanted. */
static void say_realm(wr_explainer *w, const weir_plan *p, const wr_windows *walk, int64_t i)
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

static int say_realms(wr_explainer *w, const weir_plan *p, wr_total *sum)
{
    static const wr_visitor visit = {say_realm, say_few_windows};
    for (int64_t i = 0; i < p->plan.aggregators; i++) {
        int code = wr_explain_realm(p, i, sum, &visit, w);
        if (code)
            return code;
    }
    return 0;
}

static int say_nodes(wr_explainer *w, const weir_plan *p, wr_total *sum)
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
        code = wr_explain_node(w, p, i, from, &part);
        if (!code)
            code = say_realms(w, &part, sum);
        from += part.wants_count;
    }
    return code;
}

void wr_explain_rank(const weir_plan *p, const wr_want *want, wr_plan_input *in, wr_plan *plan)
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
static void count_columns(const wr_plan_input *in, const wr_plan *plan, wr_total *sum)
{
    const int64_t lo = plan->lo / in->column, hi = wr_div_ceil(plan->hi, in->column);
    const int64_t windows = wr_div_ceil(hi - lo, wr_max(1, plan->window / in->column));
    sum->windows += windows;
    sum->calls += windows * (1 + in->direction);
    sum->moved += (hi - lo) * in->column * (1 + in->direction);
}

int wr_explain_windows(const weir_plan *p, const wr_want *want, const wr_windows *of, wr_total *sum,
                       const wr_visitor *visit, wr_explainer *w)
{
    weir_pattern *realm;
    wr_windows walk;
    int code = wr_plan_realm(of->plan, 0, &realm);
    if (code)
        return code;
    wr_windows_init(&walk, of->in, of->plan, realm, 1, want);
    code = visit_windows(p, &walk, sum, visit, w);
    weir_pattern_free(realm);
    return code;
}

static int say_rank(wr_explainer *w, const weir_plan *p, const wr_want *want, wr_total *sum)
{
    wr_plan_input in;
    wr_plan plan;
    wr_explain_rank(p, want, &in, &plan);
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
    const wr_visitor visit = {.window = want->rank < SHOWN ? say_few_windows : say_nothing};
    if (plan.way[0] == WR_WAY_SIEVE)
        return wr_explain_windows(p, want, &(wr_windows){.in = &in, .plan = &plan}, sum, &visit, w);
    if (plan.way[0] == WR_WAY_COLUMNS) {
        count_columns(&in, &plan, sum);
        return 0;
    }
    sum->calls += in.wanted.runs;
    sum->moved += in.wanted.bytes;
    return 0;
}

static int say_ranks(wr_explainer *w, const weir_plan *p, wr_total *sum)
{
    int code = 0;
    for (int64_t i = 0; !code && i < p->wants_count; i++)
        code = say_rank(w, p, &p->wants[i], sum);
    return code;
}

static void say_total(wr_explainer *w, const weir_plan *p, const wr_total *sum)
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
static wr_sent say_senders(wr_explainer *w, const weir_plan *p, const wr_sent *nodes)
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
static void say_traffic(wr_explainer *w, const weir_plan *p, const wr_sent *nodes)
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

static int say_parts(wr_explainer *w, const weir_plan *plan, wr_total *sum)
{
    return plan->plan.per_node     ? say_nodes(w, plan, sum)
           : plan->plan.collective ? say_realms(w, plan, sum)
                                   : say_ranks(w, plan, sum);
}

int wr_explain_total(const weir_plan *plan, wr_total *sum)
{
    wr_explainer w;
    *sum = (wr_total){0};
    wr_explainer_init(&w, plan, NULL, 0);
    int code = say_parts(&w, plan, sum);
    wr_want_queue_release(&w.wants);
    return code;
}

int64_t weir_plan_print(const weir_plan *plan, char *text, size_t size)
{
    wr_explainer w;
    wr_total sum = {0};
    const wr_plan *p = &plan->plan;
    const bool wide = plan->in.nodes > 1 && !plan->request.alone;
    if (wide) {
        sum.nodes = wr_alloc_array(plan->in.nodes, sizeof *sum.nodes);
        if (!sum.nodes)
            return WEIR_ENOMEM;
        memset(sum.nodes, 0, (size_t)plan->in.nodes * sizeof *sum.nodes);
    }
    wr_explainer_init(&w, plan, text, size);
    if (!plan->request.alone) {
        wr_say_input(&w.text, &plan->in);
        wr_say_plan(&w.text, &plan->in, p);
    }
    int code = say_parts(&w, plan, &sum);
    wr_want_queue_release(&w.wants);
    if (!code && wide)
        say_traffic(&w, plan, sum.nodes);
    wr_free(sum.nodes);
    if (code)
        return code;
    say_total(&w, plan, &sum);
    return w.text.length;
}
