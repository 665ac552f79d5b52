/* Plans in words. */
#include "plan/say.h"

#include <stdarg.h>
#include <stdio.h>

void wr_say(wr_text *t, const char *format, ...)
{
    const size_t used = (size_t)t->length < t->size ? (size_t)t->length : t->size;
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(t->at ? t->at + used : NULL, t->size - used, format, args);
    va_end(args);
    t->length += length;
}

const char *const wr_way_names[WR_WAYS] = {
    [WR_WAY_NONE] = "none",       [WR_WAY_LIST] = "list",     [WR_WAY_SIEVE] = "sieve",
    [WR_WAY_COLUMNS] = "columns", [WR_WAY_MAPPED] = "mapped", [WR_WAY_DIRECT] = "direct",
    [WR_WAY_ROUNDS] = "rounds",   [WR_WAY_KEPT] = "kept"};

void wr_say_exchange(wr_text *t, int64_t exchange)
{
    char name[40];
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    tunables.exchange.which = exchange;
    wr_tunables_get(&tunables, "exchange", name, sizeof name);
    wr_say(t, "%s", name);
}

static const char *const holds[WR_HOLDS] = {
    [WR_HOLD_NOTHING] = "nothing",
    [WR_HOLD_LEASE] = "lease or range",
    [WR_HOLD_RANGE] = "range",
    [WR_HOLD_WINDOWS] = "windows",
    [WR_HOLD_HOLES] = "windows with holes",
    [WR_HOLD_SHARED] = "all, to read",
    [WR_HOLD_EXCLUSIVE] = "all, to write",
    [WR_HOLD_MODIFY] = "all, to modify",
};

static const char *const forms[] = {
    [WR_BLOCKING] = "blocking", [WR_SPLIT] = "split", [WR_NONBLOCKING] = "nonblocking"};

static const char *const movers[] = {[WR_MOVED_AT_ONCE] = "the caller",
                                     [WR_MOVED_BY_CALLERS] = "callers",
                                     [WR_MOVED_BY_THREAD] = "the thread"};

static void say_where(wr_text *t, const wr_plan_input *in)
{
    const char *direction = in->direction == WR_WRITE ? "write" : "read", *form = forms[in->form];
    if (in->alone)
        wr_say(t, "  %s, one rank, %s%s%s%s\n", direction, form, in->whole ? ", an array" : "",
               in->cold ? ", on the device" : "", in->task ? ", as a task" : "");
    else
        wr_say(t, "  %s, %lld ranks on %lld nodes of %lld cores, %s\n", direction,
               (long long)in->ranks, (long long)in->nodes, (long long)in->cores, form);
}

void wr_say_input(wr_text *t, const wr_plan_input *in)
{
    const wr_summary *w = &in->wanted;
    wr_say(t, "input %016llx\n", (unsigned long long)wr_plan_input_hash(in));
    say_where(t, in);
    wr_say(t, "  wanted: %lld bytes in about %lld runs by %lld ranks, in [%lld, %lld)%s%s\n",
           (long long)w->bytes, (long long)w->runs, (long long)w->active, (long long)w->lo,
           (long long)w->hi, in->paged ? ", all in the page cache" : "",
           w->apart && !in->alone ? ", ranks apart" : "");
    if (!in->alone) {
        wr_say(t, "  counted once: about %lld bytes in %lld runs\n", (long long)w->once_bytes,
               (long long)w->once_runs);
        wr_say(t, "  realms=%s unit=%lld align=%lld window=%lld buffer=%lld\n",
               wr_realm_rules[in->realms].name, (long long)in->unit, (long long)in->align,
               (long long)in->window, (long long)in->buffer);
    }
    if (in->granule)
        wr_say(t, "  whole tiles of %lld bytes\n", (long long)in->granule);
    if (in->disks && !in->alone)
        wr_say(t, "  striped: %lld disks, %lld bytes at a time\n", (long long)in->disks,
               (long long)in->stripe);
    wr_say(t, "  costs: %lld ns a call, %lld ns a MiB", (long long)in->call_ns,
           (long long)in->mib_ns);
    if (in->nodes > 1 && !in->alone)
        wr_say(t, "; between nodes %lld ns a message, %lld ns a MiB", (long long)in->link_ns,
               (long long)in->link_mib_ns);
    wr_say(t, "\n");
}

/* What is tried first, and what then; left out if it is the same. */
static void say_tries(wr_text *t, const char *head, int count, const char *const *names)
{
    bool same = true;
    for (int i = 1; i < count; i++)
        same = same && names[i] == names[0];
    for (int i = 0; i < (same ? 1 : count); i++)
        wr_say(t, "%s%s", i ? ", or else " : head, names[i]);
    wr_say(t, "\n");
}

void wr_say_moved(wr_text *t, const wr_plan *plan)
{
    wr_say(t, "moved by: %s%s%s\n", movers[plan->mover],
           plan->left ? ", storage left to the thread" : "",
           plan->handed ? ", handed to the thread" : "");
}

void wr_say_ways(wr_text *t, const wr_plan_input *in, const wr_plan *plan)
{
    const char *ways[WR_TRIES], *locks[WR_TRIES];
    int count = 0;
    for (; count < WR_TRIES && (!count || plan->way[count]); count++) {
        ways[count] = wr_way_names[plan->way[count]];
        locks[count] = holds[plan->hold_all ? plan->hold_all : plan->hold[count]];
    }
    if (in->alone || plan->collective) { /* otherwise each has a plan of its own */
        say_tries(t, "way: ", count, ways);
        say_tries(t, "locks: ", count, locks);
    }
    if ((in->alone || plan->collective) && plan->slots)
        wr_say(t, "in flight: %lld windows of at most %lld bytes%s\n", (long long)plan->slots,
               (long long)(plan->way[0] == WR_WAY_DIRECT ? WR_DIRECT_WINDOW : plan->window),
               plan->fits ? "" : ", not all at once");
    wr_say_moved(t, plan);
}

void wr_say_plan(wr_text *t, const wr_plan_input *in, const wr_plan *plan)
{
    const char *how = plan->per_node ? "per node" : plan->collective ? "together" : "alone";
    wr_say(t, "plan: %s%s, because: %s", how, plan->in_turn ? ", one after the other" : "",
           wr_plan_reason(plan));
    if (!in->alone)
        wr_say(t, "; together about %lld us, alone about %lld us",
               (long long)plan->price_together / 1000, (long long)plan->price_alone / 1000);
    if (!in->alone && in->node_ns != INT64_MAX)
        wr_say(t, ", per node about %lld us", (long long)in->node_ns / 1000);
    wr_say(t, "\n");
    if (plan->collective) {
        wr_say(t, "exchange: ");
        wr_say_exchange(t, plan->exchange);
        wr_say(t, "\n");
    }
    wr_say_ways(t, in, plan);
    if (!in->alone)
        wr_say(t, "meetings: %lld\n", (long long)plan->meetings);
}
