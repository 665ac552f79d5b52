/* Figures of a job: sums over ranks, and the best of its calls. */
#include "report_figures.h"

#include <stdbool.h>
#include <string.h>

enum { LARGE = 256 << 10, ENOUGH = 1 << 20 };

double figures_ratio(double moved, double wanted)
{
    return wanted > 0 ? moved / wanted : 0;
}

double figures_rate(const job_call *c)
{
    return c->slowest > 0 && c->form == TRACE_BLOCKING
               ? (double)c->wanted / ((double)c->slowest / 1e9)
               : 0;
}

const char *figures_file(const report_job *job, int file)
{
    const char *name = job->file[file].name, *slash = name ? strrchr(name, '/') : NULL;
    if (!name)
        return "other files";
    return slash && slash[1] ? slash + 1 : name;
}

/* Cells tell what was really read and written; sums of calls have both in that of their own
 * direction, and some of it in that of the next call. */
static void find_moved(const report_job *job, report_figures *f)
{
    const int known = job->bytes[0] + job->bytes[1] > 0.99 * (f->moved[0] + f->moved[1]);
    for (int d = 0; d < 2; d++) {
        f->moved[d] = known ? job->bytes[d] : f->moved[d];
        f->amplification[d] = figures_ratio(f->moved[d], f->wanted[d]);
    }
}

/* Time in which some rank moved bytes: calls that go on in the background take little of a rank's
 * own. */
static double moving_ns(const report_job *job, int direction)
{
    int moving = 0;
    for (int column = 0; column < job->columns; column++) {
        bool any = false;
        for (int row = 0; row < job->rows && !any; row++)
            any = job->moved[direction][(size_t)row * JOB_COLUMNS + (size_t)column] >= 0.5;
        moving += any;
    }
    return (double)moving * (double)job->width;
}

static void add_ranks(const report_job *job, report_figures *f)
{
    int64_t slowest[2] = {0}, most = -1;
    double served = 0;
    for (int i = 0; i < job->found; i++) {
        const job_rank *r = &job->rank[i];
        f->lived += (double)r->length;
        for (int d = 0; d < 2; d++) {
            f->wanted[d] += (double)r->wanted[d];
            f->moved[d] += (double)r->moved[d];
            f->spent += (double)r->spent[d];
            slowest[d] = r->spent[d] > slowest[d] ? r->spent[d] : slowest[d];
        }
        for (int p = 0; p < TRACE_PHASES; p++) {
            f->phase[p] += (double)r->time[p];
            f->rest -= (double)r->phase[p];
        }
        if (!r->served)
            continue;
        f->aggregators++;
        served += (double)r->served_ns;
        if (r->served_ns > most) {
            most = r->served_ns;
            f->served_rank = r->rank;
        }
    }
    f->served_ns = f->aggregators ? served / f->aggregators : 0;
    for (int d = 0; d < 2; d++) {
        const double moving = moving_ns(job, d), calls = (double)slowest[d],
                     ns = moving > calls ? moving : calls;
        f->rate[d] = ns > 0 ? f->wanted[d] / (ns / 1e9) : 0;
    }
    find_moved(job, f);
}

/* Of calls that go on in the background the time is not known. */
static void compare_calls(const report_job *job, report_figures *f)
{
    for (int i = 0; i < job->calls; i++) {
        const job_call *c = &job->call[i];
        const double access = (double)c->phase[TRACE_ACCESS];
        if (c->form != TRACE_BLOCKING || access <= 0 || !c->syscalls)
            continue;
        const double rate = (double)c->moved / access, ns = access / (double)c->syscalls;
        double *best = &f->best_rate[c->write], *least = &f->call_ns[c->write];
        if (c->moved >= ENOUGH && c->moved / c->syscalls >= LARGE && rate > *best)
            *best = rate;
        if (*least <= 0 || ns < *least)
            *least = ns;
    }
}

/* From sums of ns. Times of calls and of bins are measured apart, and may differ a little. */
static void find_shares(report_figures *f)
{
    double phases = 0;
    f->rest += f->spent;
    for (int p = 0; p < TRACE_PHASES; p++)
        phases += f->phase[p];
    f->outside = phases - (f->spent - f->rest);
    f->outside = f->outside > 0 ? f->outside / f->lived : 0;
    f->rest = f->rest > 0 ? f->rest / f->lived : 0;
    for (int p = 0; p < TRACE_PHASES; p++)
        f->phase[p] /= f->lived;
    f->share = f->spent / f->lived;
    f->own = 1 - f->share - f->outside;
    f->own = f->own > 0 ? f->own : 0;
}

void report_figures_find(const report_job *job, report_figures *out)
{
    *out = (report_figures){.ranks = job->found, .served_rank = -1};
    add_ranks(job, out);
    compare_calls(job, out);
    if (out->lived > 0)
        find_shares(out);
}
