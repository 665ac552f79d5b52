/* Tables of a page: calls, plans, aggregators, sizes, ranks that stand out. */
#include <stdlib.h>

#include "escape.h"
#include "report_page.h"
#include "report_units.h"

enum { CALLS_SHOWN = 100, PLANS_SHOWN = 10, BARS = 32 };

void page_put_split(FILE *f, const double *phase, double rest)
{
    static const struct {
        const char *name, *title;
        int phase;
    } parts[] = {{"access", "file access", TRACE_ACCESS},
                 {"exchange", "exchange", TRACE_EXCHANGE},
                 {"wait", "waiting", TRACE_WAIT}};
    fprintf(f, "<div class=split>");
    for (int i = 0; i < TRACE_PHASES; i++)
        fprintf(f, "<i class=%s style=\"width:%.1f%%\" title=\"%s %.1f %%\"></i>", parts[i].name,
                100 * phase[parts[i].phase], parts[i].title, 100 * phase[parts[i].phase]);
    fprintf(f, "<i class=rest style=\"width:%.1f%%\" title=\"other work in calls %.1f %%\"></i>",
            100 * rest, 100 * rest);
    fprintf(f, "</div>");
}

static void put_call_split(const job_call *c, FILE *f)
{
    double phase[TRACE_PHASES] = {0}, rest = c->spent > 0;
    for (int p = 0; p < TRACE_PHASES && c->spent; p++) {
        phase[p] = (double)c->phase[p] / (double)c->spent;
        rest -= phase[p];
    }
    page_put_split(f, phase, rest > 0 ? rest : 0);
}

static void put_call(const report_job *job, const job_call *c, FILE *f)
{
    char text[UNITS_TEXT];
    const double more = figures_ratio((double)c->moved, (double)c->wanted), rate = figures_rate(c);
    fprintf(f, "<tr><td>%s<td>%.1f %%<td class=\"l name\" title=\"",
            units_time((double)c->slowest, text),
            job->length ? 100 * (double)c->slowest / (double)job->length : 0);
    escape_html(f, job->file[c->file].name ? job->file[c->file].name : "other files");
    fprintf(f, "\">");
    escape_html(f, figures_file(job, c->file));
    fprintf(f, "<td class=l>%s<td class=l>%s<td class=l>%s<td>%d", trace_directions[c->write],
            c->alone ? "alone" : "together", trace_forms[c->form], c->ranks);
    fprintf(f, "<td>%s", units_count(c->count, text));
    fprintf(f, "<td>%s", units_bytes((double)c->wanted, text));
    fprintf(f, "<td>%s", units_bytes((double)c->moved, text));
    if (more > 0)
        fprintf(f, "<td%s>%.2f", more >= 2 ? " class=hot" : "", more);
    else
        fprintf(f, "<td>");
    fprintf(f, "<td>%s<td>", rate > 0 ? units_rate(rate, text) : "");
    put_call_split(c, f);
    fprintf(f, "\n");
}

void page_put_calls(const report_job *job, FILE *f)
{
    fprintf(f,
            "<h2 id=calls>Calls</h2>\n<p class=dim>Calls of one kind on one file with one plan, "
            "on all ranks; those that take most time first. Time is that of the rank that spends "
            "most in them; rate is bytes wanted by all ranks in that time. Amplification is "
            "bytes moved for a byte wanted.</p>\n<div class=wide><table id=call-table><thead>"
            "<tr><th>time<th>of job<th class=l>file<th class=l>op<th class=l>kind<th class=l>form"
            "<th>ranks<th>calls<th>wanted<th>moved<th>ampl.<th>rate<th class=l>time split"
            "<tbody>\n");
    for (int i = 0; i < job->calls && i < CALLS_SHOWN; i++)
        put_call(job, &job->call[i], f);
    fprintf(f, "</table></div>\n");
    if (job->calls > CALLS_SHOWN || job->left_calls)
        fprintf(f, "<p class=dim>And more: --json has %d.</p>\n", job->calls);
}

static void put_shape(const job_call *c, FILE *f)
{
    char text[UNITS_TEXT];
    if (c->shape.aggregators) {
        fprintf(f, "<p>%lld aggregators", (long long)c->shape.aggregators);
        fprintf(f, ", windows of %s", units_bytes((double)c->shape.window, text));
        fprintf(f, ", %s rounds in the last call, exchange by ",
                units_count(c->shape.rounds, text));
        escape_html(f, c->shape.exchange);
    } else {
        fprintf(f, "<p>Each rank on its own");
    }
    fprintf(f, ", access by ");
    escape_html(f, *c->shape.way ? c->shape.way : "ways that are not known");
    fprintf(f, "; runs of %s", units_bytes((double)c->shape.run, text));
    if (c->shape.stride)
        fprintf(f, ", %s apart", units_bytes((double)c->shape.stride, text));
    fprintf(f, "; the longest call took %s", units_time((double)c->longest, text));
    fprintf(f, ", and %s runs were moved.</p>\n", units_count(c->syscalls, text));
}

void page_put_plans(const report_job *job, FILE *f)
{
    fprintf(f, "<h2 id=plans>Plans behind the most expensive calls</h2>\n");
    for (int i = 0; i < job->calls && i < PLANS_SHOWN; i++) {
        const job_call *c = &job->call[i];
        char text[UNITS_TEXT];
        fprintf(f, "<details><summary>%s: %s ", units_time((double)c->slowest, text),
                c->write ? "writes" : "reads");
        escape_html(f, figures_file(job, c->file));
        fprintf(f, ", %s, %s</summary>\n", c->alone ? "alone" : "together", trace_forms[c->form]);
        put_shape(c, f);
        if (c->plan) {
            fprintf(f, "<pre>");
            escape_html(f, c->plan);
            fprintf(f, "</pre>");
        } else {
            fprintf(f, "<p class=dim>No rank kept the text of this plan.</p>");
        }
        fprintf(f, "</details>\n");
    }
}

/* Aggregators with neighbouring ranks, so many to a bar that there are few bars. */
typedef struct load {
    int first, last, count;
    double moved, ns, most, most_ns;
} load;

static int find_loads(const report_job *job, int aggregators, load *loads)
{
    const int each = (aggregators - 1) / BARS + 1;
    int bars = 0;
    for (int i = 0; i < job->found; i++) {
        const job_rank *r = &job->rank[i];
        if (!r->served)
            continue;
        if (!bars || loads[bars - 1].count == each)
            loads[bars++] = (load){.first = r->rank};
        load *l = &loads[bars - 1];
        l->last = r->rank;
        l->count++;
        l->moved += (double)r->served;
        l->ns += (double)r->served_ns;
        l->most = (double)r->served > l->most ? (double)r->served : l->most;
        l->most_ns = (double)r->served_ns > l->most_ns ? (double)r->served_ns : l->most_ns;
    }
    return bars;
}

/* A mean, and a mark where the largest of several is. */
static void put_load_bar(double mean, double most, double scale, FILE *f)
{
    fprintf(f, "<td class=bar><div><i style=\"width:%.1f%%\"></i>", 100 * mean / scale);
    if (most > mean)
        fprintf(f, "<u style=\"left:%.1f%%\"></u>", 99.5 * most / scale);
    fprintf(f, "</div>");
}

static void put_load(const load *l, const load *scale, FILE *f)
{
    char text[UNITS_TEXT];
    if (l->count == 1)
        fprintf(f, "<tr><td class=l>%d", l->first);
    else
        fprintf(f, "<tr><td class=l>%d to %d (%d)", l->first, l->last, l->count);
    put_load_bar(l->moved / l->count, l->most, scale->most, f);
    fprintf(f, "<td>%s", units_bytes(l->moved / l->count, text));
    put_load_bar(l->ns / l->count, l->most_ns, scale->most_ns, f);
    fprintf(f, "<td>%s\n", units_time(l->ns / l->count, text));
}

void page_put_aggregators(const report *r, FILE *f)
{
    load loads[BARS + 1], scale = {.most = 1, .most_ns = 1};
    const int aggregators = r->figures.aggregators;
    fprintf(f, "<h2 id=aggregators>Load of aggregators</h2>\n");
    if (!aggregators) {
        fprintf(f, "<p class=dim>No rank accessed a file for others.</p>\n");
        return;
    }
    const int bars = find_loads(r->job, aggregators, loads);
    for (int i = 0; i < bars; i++) {
        scale.most = loads[i].most > scale.most ? loads[i].most : scale.most;
        scale.most_ns = loads[i].most_ns > scale.most_ns ? loads[i].most_ns : scale.most_ns;
    }
    fprintf(f,
            "<p class=dim>Bytes that ranks moved in collective calls, and how long they were in "
            "file access for that%s.</p>\n<div class=wide><table id=loads><thead><tr>"
            "<th class=l>rank<th class=l colspan=2>moved<th class=l colspan=2>file access<tbody>\n",
            aggregators > BARS ? ": means of groups; a mark is the one that has most" : "");
    for (int i = 0; i < bars; i++)
        put_load(&loads[i], &scale, f);
    fprintf(f, "</table></div>\n");
}

static void put_size_name(int place, FILE *f)
{
    char text[UNITS_TEXT];
    if (!place)
        fprintf(f, "below %s", units_bytes((double)report_size_limit(0), text));
    else if (place == JOB_SIZES - 1)
        fprintf(f, "from %s", units_bytes((double)report_size_limit(place - 1), text));
    else {
        fprintf(f, "%s to ", units_bytes((double)report_size_limit(place - 1), text));
        fprintf(f, "%s", units_bytes((double)report_size_limit(place), text));
    }
}

static void put_histogram(const int64_t (*sizes)[JOB_SIZES], const char *title, FILE *f)
{
    int64_t most = 1;
    for (int i = 0; i < 2 * JOB_SIZES; i++)
        most =
            sizes[i / JOB_SIZES][i % JOB_SIZES] > most ? sizes[i / JOB_SIZES][i % JOB_SIZES] : most;
    fprintf(f,
            "<div class=wide><table class=sizes><thead><tr><th class=l>%s<th class=l colspan=2>read"
            "<th class=l colspan=2>write<tbody>\n",
            title);
    for (int i = 0; i < JOB_SIZES; i++) {
        fprintf(f, "<tr><td class=l>");
        put_size_name(i, f);
        for (int d = 0; d < 2; d++) {
            char text[UNITS_TEXT];
            fprintf(f, "<td class=bar><div><i style=\"width:%.1f%%\"></i></div><td>%s",
                    100 * (double)sizes[d][i] / (double)most,
                    sizes[d][i] ? units_count(sizes[d][i], text) : "");
        }
        fprintf(f, "\n");
    }
    fprintf(f, "</table></div>\n");
}

void page_put_sizes(const report_job *job, FILE *f)
{
    fprintf(f,
            "<h2 id=sizes>Sizes</h2>\n<p class=dim>How many there were, by size. Traces hold sums "
            "only: all calls of one kind on one rank count with their mean size.</p>\n");
    put_histogram(job->requests, "calls, by bytes wanted", f);
    fprintf(f, "<p></p>\n");
    put_histogram(job->sizes, "runs moved, by their bytes", f);
}

static int64_t in_calls(const job_rank *r)
{
    return trace_add(r->spent[0], r->spent[1]);
}

static int64_t waiting(const job_rank *r)
{
    return r->phase[TRACE_WAIT];
}

static int64_t in_access(const job_rank *r)
{
    return r->phase[TRACE_ACCESS];
}

static int64_t in_exchange(const job_rank *r)
{
    return r->phase[TRACE_EXCHANGE];
}

static int64_t moving(const job_rank *r)
{
    return trace_add(r->moved[0], r->moved[1]);
}

static int64_t memory(const job_rank *r)
{
    return r->memory;
}

void page_put_outliers(const report_job *job, FILE *f)
{
    static const struct {
        const char *what;
        int64_t (*get)(const job_rank *r);
        char *(*unit)(double value, char *out);
    } lines[] = {{"time in calls", in_calls, units_time},
                 {"waiting in calls", waiting, units_time},
                 {"file access in calls", in_access, units_time},
                 {"exchange in calls", in_exchange, units_time},
                 {"bytes moved", moving, units_bytes},
                 {"memory of buffers", memory, units_bytes}};
    fprintf(f, "<h3>Least and most</h3>\n<div class=wide><table id=outliers><thead><tr>"
               "<th class=l><th>least<th class=l>rank<th>mean<th>most<th class=l>rank<tbody>\n");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const job_rank *least = &job->rank[0], *most = least;
        double sum = 0;
        for (int k = 0; k < job->found; k++) {
            const job_rank *r = &job->rank[k];
            least = lines[i].get(r) < lines[i].get(least) ? r : least;
            most = lines[i].get(r) > lines[i].get(most) ? r : most;
            sum += (double)lines[i].get(r);
        }
        char low[UNITS_TEXT], mean[UNITS_TEXT], high[UNITS_TEXT];
        fprintf(f, "<tr><td class=l>%s<td>%s<td class=l>%d<td>%s<td>%s<td class=l>%d\n",
                lines[i].what, lines[i].unit((double)lines[i].get(least), low), least->rank,
                lines[i].unit(sum / job->found, mean),
                lines[i].unit((double)lines[i].get(most), high), most->rank);
    }
    fprintf(f, "</table></div>\n");
}
