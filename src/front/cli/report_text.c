/* A report for a terminal. */
#include <stdlib.h>
#include <time.h>

#include "escape.h"
#include "report_output.h"
#include "report_units.h"
#include "terminal.h"

enum { CALLS_SHOWN = 5, INDENT = 9 };

char *report_date(int64_t ns, char out[REPORT_DATE])
{
    struct tm day;
    const time_t seconds = (time_t)(ns / 1000000000);
    if (!gmtime_r(&seconds, &day) || !strftime(out, REPORT_DATE, "%Y-%m-%d %H:%M:%S UTC", &day))
        out[0] = 0;
    return out;
}

int report_is_whole(const report_job *job)
{
    return !job->unfinished && !job->cut && job->found == job->ranks;
}

static void print_head(const report_job *job, FILE *f)
{
    char ranks[UNITS_TEXT], hosts[UNITS_TEXT], length[UNITS_TEXT], date[REPORT_DATE];
    fprintf(f, "program  ");
    escape_line(f, *job->program ? job->program : "not known");
    fprintf(f, ", %s\njob      %s, weir ", report_date(job->start, date), job->id);
    escape_line(f, job->version);
    if (job->others)
        fprintf(f, "; the newest of %d here, --job takes others, such as %s", job->others + 1,
                job->other[0]);
    fprintf(f, "\nranks    %s on %s host%s, %s; %s\n", units_count(job->ranks, ranks),
            units_count(job->hosts, hosts), job->hosts == 1 ? "" : "s",
            units_time((double)job->length, length),
            report_is_whole(job) ? "ended in order" : "not ended in order");
}

static void print_bytes(const report_figures *f, int d, FILE *out)
{
    char wanted[UNITS_TEXT], moved[UNITS_TEXT], rate[UNITS_TEXT];
    if (f->wanted[d] <= 0 && f->moved[d] <= 0)
        return;
    fprintf(out, "%-9s%s wanted, %s moved, amplification %.2f, %s\n", d ? "written" : "read",
            units_bytes(f->wanted[d], wanted), units_bytes(f->moved[d], moved), f->amplification[d],
            units_rate(f->rate[d], rate));
}

static void print_call(const report_job *job, const job_call *c, FILE *f)
{
    char time[UNITS_TEXT], count[UNITS_TEXT], wanted[UNITS_TEXT], text[UNITS_TEXT];
    const double rate = figures_rate(c);
    fprintf(f, "%-9s%9s  %-5s %-8s %-11s %9s calls %9s %11s  ", "",
            units_time((double)c->slowest, time), trace_directions[c->write],
            c->alone ? "alone" : "together", trace_forms[c->form], units_count(c->count, count),
            units_bytes((double)c->wanted, wanted), rate > 0 ? units_rate(rate, text) : "");
    escape_line(f, figures_file(job, c->file));
    putc('\n', f);
}

void report_print_text(const report *r, FILE *f)
{
    char memory[UNITS_TEXT], errors[UNITS_TEXT];
    const report_figures *figures = &r->figures;
    print_head(r->job, f);
    print_bytes(figures, TRACE_READ, f);
    print_bytes(figures, TRACE_WRITE, f);
    fprintf(f,
            "time     %.1f %% in calls, %.1f in opens, closes and syncs\n"
            "         of both: exchange %.1f, file access %.1f, waiting %.1f\n",
            100 * figures->share, 100 * figures->outside, 100 * figures->phase[TRACE_EXCHANGE],
            100 * figures->phase[TRACE_ACCESS], 100 * figures->phase[TRACE_WAIT]);
    fprintf(f, "memory   %s on the rank that had most; errors %s\n",
            units_bytes((double)r->job->memory, memory), units_count(r->job->errors, errors));
    if (r->job->calls)
        fprintf(f, "calls    by time of the slowest rank\n");
    for (int i = 0; i < r->job->calls && i < CALLS_SHOWN; i++)
        print_call(r->job, &r->job->call[i], f);
    for (int i = 0; i < r->count; i++) {
        char *text = NULL;
        size_t size;
        FILE *clean = open_memstream(&text, &size);
        if (!clean)
            return;
        escape_line(clean, r->advice[i].text);
        fclose(clean);
        fprintf(f, "%-9s", i ? "" : "advice");
        cli_print_wrapped(f, text, INDENT, cli_terminal_columns(f));
        free(text);
    }
}
