/* The table of rules. A rule looks for the calls, or the rank, for which it expects the largest
 * gain; the models are simple on purpose, and use nothing but recorded figures. */
#include "report_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report_units.h"

#define KIB 1024.0
#define MIB (1024 * KIB)
#define NOTABLE 0.10 /* of it, where a gain is not known */

static double part(double a, double b)
{
    return b > 0 ? a / b : 0;
}

/* In calls of any kind. */
static double spent_by(const job_rank *r)
{
    return (double)r->spent[0] + (double)r->spent[1];
}

/* Keeps the better of two: `saved` of the time that the rank which spends most in `c` does. */
static int offer(report_advice *out, const job_call *c, double saved)
{
    const double slowest = (double)c->slowest, left = slowest - saved;
    if (saved <= 0 || saved <= out->saved)
        return 0;
    out->call = c;
    out->saved = saved < slowest ? saved : slowest;
    out->factor = left > slowest / 1000 ? slowest / left : 1000;
    return 1;
}

static int is_large(const report_job *job, double ns)
{
    return ns >= NOTABLE * (double)job->length;
}

/* "expected 1.8 times faster, 12 % of the job's time". */
static void put_gain(const report_job *job, report_advice *a, const char *at_most)
{
    const size_t length = strlen(a->text);
    char *to = a->text + length;
    const size_t room = sizeof a->text - length;
    const double share = 100 * part(a->saved, (double)job->length);
    if (a->saved < 0)
        snprintf(to, room, "; nothing recorded tells how much that gains");
    else if (a->factor >= 10)
        snprintf(to, room, "; expected%s more than 10 times faster, %.0f %% of the job's time",
                 at_most, share);
    else if (a->factor > 0)
        snprintf(to, room, "; expected%s %.1f times faster, %.0f %% of the job's time", at_most,
                 a->factor, share);
    else
        snprintf(to, room, "; expected to save%s %.0f %% of the job's time", at_most, share);
}

static const char *direction(const job_call *c)
{
    return trace_directions[c->write];
}

static int test_errors(const report_job *job, const report_figures *f, report_advice *out)
{
    (void)f;
    for (int i = 0; i < job->calls; i++)
        if (job->call[i].errors && (!out->call || job->call[i].errors > out->call->errors))
            out->call = &job->call[i];
    for (int i = job->found - 1; i >= 0; i--)
        if (job->rank[i].errors)
            out->rank = job->rank[i].rank;
    out->value = job->errors;
    return job->errors > 0;
}

static void text_errors(const report_job *job, const report_figures *f, report_advice *out)
{
    char count[UNITS_TEXT];
    (void)f;
    snprintf(out->text, sizeof out->text,
             "%s %s failed, first on rank %d%s%.80s: WEIR_LOG=error prints why",
             units_count(out->value, count), out->value == 1 ? "call" : "calls", out->rank,
             out->call ? ", most of them of " : "",
             out->call ? figures_file(job, out->call->file) : "");
}

static int test_unfinished(const report_job *job, const report_figures *f, report_advice *out)
{
    (void)f;
    out->other = 0;
    for (int i = job->found - 1; i >= 0; i--)
        if (!job->rank[i].complete || !job->rank[i].whole) {
            out->rank = job->rank[i].rank;
            out->other++;
        }
    out->value = job->ranks - job->found;
    return out->other > 0 || out->value > 0;
}

static void text_unfinished(const report_job *job, const report_figures *f, report_advice *out)
{
    char ranks[UNITS_TEXT], lost[UNITS_TEXT], late[UNITS_TEXT];
    (void)f;
    units_count(job->ranks, ranks);
    units_count(out->value, lost);
    units_count(out->other, late);
    if (!out->other)
        snprintf(out->text, sizeof out->text,
                 "traces of %s of %s ranks are missing%s%s: figures are those of the others", lost,
                 ranks, *job->problem ? ", such as " : "", job->problem);
    else
        snprintf(out->text, sizeof out->text,
                 "the job did not end in order on %s of %s ranks, first on rank %d%s%s%s: figures "
                 "end when their traces were last written",
                 late, ranks, out->rank, out->value ? ", and traces of " : "",
                 out->value ? lost : "", out->value ? " are missing" : "");
}

static const job_rank *find_rank(const report_job *job, int rank)
{
    for (int i = 0; i < job->found; i++)
        if (job->rank[i].rank == rank)
            return &job->rank[i];
    return NULL;
}

/* The rank that waits longest for an aggregator, by its share of its time in calls; -1: not
 * known. */
static void find_waiting(const report_job *job, report_advice *out)
{
    double most = 0;
    out->rank = -1;
    for (int i = 0; i < job->found; i++) {
        const job_rank *r = &job->rank[i], *other;
        const double share = part((double)r->waited_ns, spent_by(r));
        if (r->waited_rank == r->rank || share <= most)
            continue;
        other = find_rank(job, r->waited_rank);
        if (!other || !other->served)
            continue;
        most = share;
        out->share = share < 1 ? share : 1;
        out->rank = r->rank;
        out->other = r->waited_rank;
    }
}

/* Aggregators that have a core of their own, by the plan's text; INT64_MAX: it does not tell. */
static int64_t cores_of(const job_call *c)
{
    long long nodes, cores;
    const char *text = c->plan ? strstr(c->plan, " ranks on ") : NULL;
    if (!text || sscanf(text, " ranks on %7lld nodes of %7lld cores", &nodes, &cores) != 2)
        return INT64_MAX;
    return nodes * cores;
}

/* File access is divided among more aggregators, each as fast as before; nothing else changes. */
static int test_aggregators(const report_job *job, const report_figures *f, report_advice *out)
{
    (void)f;
    for (int i = 0; i < job->calls; i++) {
        const job_call *c = &job->call[i];
        const int64_t now = c->shape.aggregators;
        int64_t more = now < 2 ? 4 : 2 * now;
        if (c->alone || now < 1 || part((double)c->phase[TRACE_WAIT], (double)c->spent) < 0.3 ||
            part((double)c->busiest, (double)c->slowest) < 0.4)
            continue;
        more = more < job->hosts ? job->hosts : more;
        more = more < job->ranks ? more : job->ranks;
        more = more < cores_of(c) ? more : cores_of(c);
        if (more > now && offer(out, c, (double)c->busiest * (1 - (double)now / (double)more)))
            out->value = more;
    }
    if (!out->call)
        return 0;
    out->share = part((double)out->call->phase[TRACE_WAIT], (double)out->call->spent);
    find_waiting(job, out);
    snprintf(out->hint, sizeof out->hint, "aggregators=%lld", (long long)out->value);
    return 1;
}

static void text_aggregators(const report_job *job, const report_figures *f, report_advice *out)
{
    char who[100];
    (void)f;
    if (out->rank < 0)
        snprintf(who, sizeof who, "ranks wait %.0f %% of their time in these calls",
                 100 * out->share);
    else
        snprintf(who, sizeof who, "rank %d waits %.0f %% of its time in calls for aggregator %d",
                 out->rank, 100 * out->share, out->other);
    snprintf(out->text, sizeof out->text,
             "%s, and %.80s is %s by %lld of %d ranks: try %s (cb_nodes)", who,
             figures_file(job, out->call->file), out->call->write ? "written" : "read",
             (long long)out->call->shape.aggregators, job->ranks, out->hint);
    put_gain(job, out, ", if the storage keeps up,");
}

/* All aggregators are as long in file access as their mean. */
static int test_uneven_aggregators(const report_job *job, const report_figures *f,
                                   report_advice *out)
{
    for (int i = 0; i < job->found && f->aggregators > 1; i++)
        if (job->rank[i].rank == f->served_rank) {
            const double most = (double)job->rank[i].served_ns;
            out->rank = f->served_rank;
            out->share = part(most, f->served_ns);
            out->saved = most - f->served_ns;
        }
    snprintf(out->hint, sizeof out->hint, "realms=balanced");
    return out->share >= 1.5;
}

static void text_uneven_aggregators(const report_job *job, const report_figures *f,
                                    report_advice *out)
{
    snprintf(
        out->text, sizeof out->text,
        "aggregator %d is in file access %.1f times as long as the mean of the %d aggregators: "
        "try %s",
        out->rank, out->share, f->aggregators, out->hint);
    put_gain(job, out, "");
}

/* Together, what is wanted moves at the rate of the fastest calls that move large pieces. */
static int test_small_alone(const report_job *job, const report_figures *f, report_advice *out)
{
    const job_call *unknown = NULL;
    for (int i = 0; i < job->calls && job->ranks > 1; i++) {
        const job_call *c = &job->call[i];
        const double rate = f->best_rate[c->write];
        if (!c->alone || c->most < 100 || (double)c->wanted >= 64 * KIB * (double)c->count)
            continue;
        if (rate <= 0 && is_large(job, (double)c->slowest))
            unknown = unknown ? unknown : c;
        else if (rate > 0)
            offer(out, c,
                  (double)c->slowest * (1 - part((double)c->wanted / rate, (double)c->spent)));
    }
    if (!out->call && unknown) {
        out->call = unknown;
        out->saved = -1;
    }
    return out->call != NULL;
}

static void text_small_alone(const report_job *job, const report_figures *f, report_advice *out)
{
    char count[UNITS_TEXT], size[UNITS_TEXT];
    const job_call *c = out->call;
    (void)f;
    snprintf(out->text, sizeof out->text,
             "%s independent %ss of %s each, of %.80s: make them collective (MPI_File_%s_all, "
             "H5FD_MPIO_COLLECTIVE), or of more data at a time",
             units_count(c->count, count), direction(c),
             units_bytes(part((double)c->wanted, (double)c->count), size),
             figures_file(job, c->file), direction(c));
    put_gain(job, out, "");
}

/* Ranks want what lies between the data of others: together every byte moves once. */
static int test_sieve_alone(const report_job *job, const report_figures *f, report_advice *out)
{
    (void)f;
    for (int i = 0; i < job->calls; i++) {
        const job_call *c = &job->call[i];
        const double more = part((double)c->moved, (double)c->wanted);
        if (!c->alone || c->ranks < 2 || more < 2 || c->file == JOB_FILES ||
            2 * (double)c->wanted < (double)job->file[c->file].size)
            continue;
        if (offer(out, c, (double)c->busiest * (1 - 1 / more)))
            out->share = more;
    }
    return out->call != NULL;
}

static void text_sieve_alone(const report_job *job, const report_figures *f, report_advice *out)
{
    const job_call *c = out->call;
    (void)f;
    snprintf(out->text, sizeof out->text,
             "ranks %s %.80s each on its own, and move %.1f times what they want, most of which "
             "others want: make these calls collective (MPI_File_%s_all, H5FD_MPIO_COLLECTIVE)",
             direction(c), figures_file(job, c->file), out->share, direction(c));
    put_gain(job, out, "");
}

/* Exact lists move what is wanted at the same rate, and take a system call a run, each as long as
 * the shortest mean of a piece that was recorded. */
static int test_sieve(const report_job *job, const report_figures *f, report_advice *out)
{
    for (int i = 0; i < job->calls; i++) {
        const job_call *c = &job->call[i];
        const double more = part((double)c->moved, (double)c->wanted);
        const double access = (double)c->phase[TRACE_ACCESS];
        if (more < 2 || c->shape.run < 1 || access <= 0)
            continue;
        const double runs = (double)c->wanted / (double)c->shape.run;
        const double list = access / more + runs * f->call_ns[c->write];
        if (offer(out, c, (double)c->busiest * (1 - list / access)))
            out->share = more;
    }
    if (out->call)
        snprintf(out->hint, sizeof out->hint, "access_%s=list", direction(out->call));
    return out->call != NULL;
}

static void text_sieve(const report_job *job, const report_figures *f, report_advice *out)
{
    char run[UNITS_TEXT];
    (void)f;
    snprintf(
        out->text, sizeof out->text,
        "%ss of %.80s move %.1f times what is wanted, in runs of %s: try %s (romio_ds_%s=disable)",
        direction(out->call), figures_file(job, out->call->file), out->share,
        units_bytes((double)out->call->shape.run, run), out->hint, direction(out->call));
    put_gain(job, out, "");
}

/* Sieving moves what lies between runs, too, when writing twice, at the rate of the fastest calls
 * that move large pieces. */
static int test_tiny_runs(const report_job *job, const report_figures *f, report_advice *out)
{
    for (int i = 0; i < job->calls; i++) {
        const job_call *c = &job->call[i];
        const trace_shape *s = &c->shape;
        const double rate = f->best_rate[c->write], access = (double)c->phase[TRACE_ACCESS];
        if (!c->alone || s->run < 1 || s->stride <= s->run || s->run >= 4096 || rate <= 0 ||
            (double)c->moved >= 4096 * (double)c->syscalls || access <= 0)
            continue;
        const double bytes = (double)c->wanted * (double)s->stride / (double)s->run;
        const double sieve = bytes * (c->write ? 2 : 1) / rate;
        offer(out, c, (double)c->busiest * (1 - sieve / access));
    }
    if (out->call)
        snprintf(out->hint, sizeof out->hint, "access_%s=sieve", direction(out->call));
    return out->call != NULL;
}

static void text_tiny_runs(const report_job *job, const report_figures *f, report_advice *out)
{
    char calls[UNITS_TEXT], run[UNITS_TEXT], stride[UNITS_TEXT];
    const job_call *c = out->call;
    (void)f;
    snprintf(out->text, sizeof out->text,
             "%.80s is %s in %s pieces, for runs of %s, %s apart: try %s "
             "(romio_ds_%s=enable)",
             figures_file(job, c->file), c->write ? "written" : "read",
             units_count(c->syscalls, calls), units_bytes((double)c->shape.run, run),
             units_bytes((double)c->shape.stride, stride), out->hint, direction(c));
    put_gain(job, out, "");
}

/* Ranks wait once a round, always as long. */
static int test_window(const report_job *job, const report_figures *f, report_advice *out)
{
    (void)f;
    for (int i = 0; i < job->calls; i++) {
        const job_call *c = &job->call[i];
        const double window = (double)c->shape.window;
        if (c->alone || window <= 0 || window > 1 * MIB || c->shape.rounds < 8)
            continue;
        const double waits = part((double)c->phase[TRACE_WAIT], (double)c->spent);
        offer(out, c, (double)c->slowest * waits * (1 - window / (2 * MIB)));
    }
    snprintf(out->hint, sizeof out->hint, "window=2M");
    return out->call != NULL;
}

static void text_window(const report_job *job, const report_figures *f, report_advice *out)
{
    char window[UNITS_TEXT], rounds[UNITS_TEXT];
    const job_call *c = out->call;
    (void)f;
    snprintf(out->text, sizeof out->text,
             "%ss of %.80s take %s rounds, because windows have only %s: try %s (and "
             "cb_buffer_size=16M)",
             direction(c), figures_file(job, c->file), units_count(c->shape.rounds, rounds),
             units_bytes((double)c->shape.window, window), out->hint);
    put_gain(job, out, "");
}

/* All that a call takes besides file access is paid once for each MiB. */
static int test_small_calls(const report_job *job, const report_figures *f, report_advice *out)
{
    (void)f;
    for (int i = 0; i < job->calls; i++) {
        const job_call *c = &job->call[i];
        const double bytes = part((double)c->wanted, (double)c->most);
        if (c->alone || c->most < 100 || bytes <= 0 || bytes > 512 * KIB)
            continue;
        const double besides = 1 - part((double)c->phase[TRACE_ACCESS], (double)c->spent);
        if (offer(out, c, (double)c->slowest * besides * (1 - bytes / MIB)))
            out->share = bytes;
    }
    if (out->call && out->call->write)
        snprintf(out->hint, sizeof out->hint, "write_behind=enable");
    return out->call != NULL;
}

static void text_small_calls(const report_job *job, const report_figures *f, report_advice *out)
{
    char count[UNITS_TEXT], size[UNITS_TEXT];
    const job_call *c = out->call;
    (void)f;
    snprintf(out->text, sizeof out->text,
             "%s collective %ss of %s, all ranks together, of %.80s: join them%s%s",
             units_count(c->most, count), direction(c), units_bytes(out->share, size),
             figures_file(job, c->file), *out->hint ? ", or try " : "", out->hint);
    put_gain(job, out, "");
}

/* One rank on each host does an equal part of it. */
static int test_one_rank(const report_job *job, const report_figures *f, report_advice *out)
{
    const job_rank *one = NULL;
    for (int i = 0; i < job->found; i++)
        if (!one || job->rank[i].alone > one->alone)
            one = &job->rank[i];
    const double all = f->wanted[0] + f->wanted[1];
    if (!one || job->ranks < 2 || all <= 0 || (double)one->alone < 0.9 * all)
        return 0;
    const double spent = spent_by(one);
    out->rank = one->rank;
    out->share = (double)one->alone / all;
    out->factor = job->hosts;
    out->saved = job->hosts > 1 ? spent * (1 - 1.0 / job->hosts) : -1;
    return job->hosts > 1 || is_large(job, spent);
}

static void text_one_rank(const report_job *job, const report_figures *f, report_advice *out)
{
    (void)f;
    snprintf(
        out->text, sizeof out->text,
        "rank %d moves %.0f %% of all bytes while %d others do not: let all ranks access their "
        "parts in collective calls",
        out->rank, 100 * out->share, job->ranks - 1);
    put_gain(job, out, "");
}

/* Every rank is as long in file access on its own as their mean. */
static int test_uneven_ranks(const report_job *job, const report_figures *f, report_advice *out)
{
    double sum = 0, most = 0;
    for (int i = 0; i < job->found; i++) {
        const job_rank *r = &job->rank[i];
        const double access = (double)(r->phase[TRACE_ACCESS] - r->served_ns);
        sum += access;
        if (access > most) {
            most = access;
            out->rank = r->rank;
        }
    }
    const double mean = part(sum, f->ranks);
    report_advice one = {0};
    out->share = part(most, mean);
    out->saved = most - mean;
    return out->share >= 1.5 && !test_one_rank(job, f, &one);
}

static void text_uneven_ranks(const report_job *job, const report_figures *f, report_advice *out)
{
    (void)f;
    snprintf(out->text, sizeof out->text,
             "rank %d is in file access on its own %.1f times as long as the mean of all ranks: "
             "deal the data evenly",
             out->rank, out->share);
    put_gain(job, out, "");
}

/* The rank that most others waited longest for; NULL if there is none. */
static const job_rank *find_awaited(const report_job *job)
{
    int candidate = -1, votes = 0, agree = 0, all = 0;
    for (int i = 0; i < job->found; i++) {
        const int waited = job->rank[i].waited_rank;
        if (waited < 0 || waited == job->rank[i].rank)
            continue;
        candidate = votes ? candidate : waited;
        votes += waited == candidate ? 1 : -1;
    }
    for (int i = 0; i < job->found && candidate >= 0; i++) {
        const int waited = job->rank[i].waited_rank;
        all += waited >= 0 && waited != job->rank[i].rank;
        agree += waited == candidate && job->rank[i].rank != candidate;
    }
    return 2 * agree > all ? find_rank(job, candidate) : NULL;
}

/* What the awaited rank's own work takes longer than that of the mean is waited for. */
static int test_late_rank(const report_job *job, const report_figures *f, report_advice *out)
{
    const job_rank *late = find_awaited(job);
    if (!late)
        return 0;
    const double own = (double)late->length - spent_by(late);
    const double mean = part(f->lived - f->spent, f->ranks);
    double wait = 0;
    for (int i = 0; i < job->found; i++)
        wait += part((double)job->rank[i].phase[TRACE_WAIT], f->ranks);
    const double later = own - mean;
    out->rank = late->rank;
    out->saved = later < wait ? later : wait;
    out->share = part(wait, part(f->spent, f->ranks));
    return later > 0 && out->share >= 0.2;
}

static void text_late_rank(const report_job *job, const report_figures *f, report_advice *out)
{
    (void)f;
    snprintf(out->text, sizeof out->text,
             "rank %d comes late to collective calls, and the others wait for it, %.0f %% of their "
             "time in calls: balance the program's own work, or use nonblocking calls",
             out->rank, 100 * out->share);
    put_gain(job, out, "");
}

/* As much of blocking calls as the program has work of its own goes on behind that. */
static int test_overlap(const report_job *job, const report_figures *f, report_advice *out)
{
    double blocking = 0;
    for (int i = 0; i < job->calls; i++)
        if (job->call[i].form == TRACE_BLOCKING)
            blocking += part((double)job->call[i].spent, f->ranks);
    const double own = part(f->lived - f->spent, f->ranks);
    out->saved = own < blocking ? own : blocking;
    return is_large(job, out->saved);
}

static void text_overlap(const report_job *job, const report_figures *f, report_advice *out)
{
    (void)f;
    snprintf(out->text, sizeof out->text,
             "blocking calls could go on while the program does its own work: use nonblocking or "
             "split calls (MPI_File_iwrite_all, weir_array_write_all with a request)");
    put_gain(job, out, " at most");
}

/* Opens, closes and syncs take no time. */
static int test_outside(const report_job *job, const report_figures *f, report_advice *out)
{
    out->share = f->outside;
    out->saved = f->outside * part(f->lived, f->ranks);
    return is_large(job, out->saved);
}

static void text_outside(const report_job *job, const report_figures *f, report_advice *out)
{
    (void)f;
    snprintf(
        out->text, sizeof out->text,
        "opening, closing and syncing files takes %.0f %% of the time: keep files open, sync less "
        "often, and make arrays that need not outlast a crash with durable=disable",
        100 * out->share);
    put_gain(job, out, " at most");
}

static int test_little(const report_job *job, const report_figures *f, report_advice *out)
{
    out->share = f->share + f->outside;
    return job->calls && f->lived > 0 && f->share + f->outside < 0.05;
}

static void text_little(const report_job *job, const report_figures *f, report_advice *out)
{
    (void)job;
    (void)f;
    snprintf(out->text, sizeof out->text,
             "I/O takes %.1f %% of the time: even without any the job would be only %.2f times "
             "faster",
             100 * out->share, 1 / (1 - out->share));
}

const report_rule report_rules[] = {
    {"errors", RULE_PROBLEM, test_errors, text_errors},
    {"unfinished", RULE_PROBLEM, test_unfinished, text_unfinished},
    {"aggregators", RULE_GAIN, test_aggregators, text_aggregators},
    {"uneven-aggregators", RULE_GAIN, test_uneven_aggregators, text_uneven_aggregators},
    {"small-alone", RULE_GAIN, test_small_alone, text_small_alone},
    {"sieve-alone", RULE_GAIN, test_sieve_alone, text_sieve_alone},
    {"sieve", RULE_GAIN, test_sieve, text_sieve},
    {"tiny-runs", RULE_GAIN, test_tiny_runs, text_tiny_runs},
    {"window", RULE_GAIN, test_window, text_window},
    {"small-calls", RULE_GAIN, test_small_calls, text_small_calls},
    {"one-rank", RULE_GAIN, test_one_rank, text_one_rank},
    {"uneven-ranks", RULE_GAIN, test_uneven_ranks, text_uneven_ranks},
    {"late-rank", RULE_GAIN, test_late_rank, text_late_rank},
    {"outside", RULE_BOUND, test_outside, text_outside},
    {"overlap", RULE_BOUND, test_overlap, text_overlap},
    {"little", RULE_NOTE, test_little, text_little},
};
const int report_rules_count = sizeof report_rules / sizeof *report_rules;
