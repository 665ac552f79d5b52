/* A report for programs: all that the page shows. Times are in ns, sizes in bytes; lists by time
 * have a number for each column. */
#include <stddef.h>

#include "escape.h"
#include "report_output.h"

static void put_text(FILE *f, const char *name, const char *text)
{
    fprintf(f, "\"%s\": ", name);
    escape_json(f, text);
}

static void put_both(FILE *f, const char *name, const double *value, const char *format)
{
    fprintf(f, ", \"%s\": {\"read\": ", name);
    fprintf(f, format, value[0]);
    fprintf(f, ", \"write\": ");
    fprintf(f, format, value[1]);
    fprintf(f, "}");
}

static void put_head(const report *r, FILE *f)
{
    const report_job *job = r->job;
    const report_figures *figures = &r->figures;
    fprintf(f, "{\"job\": \"%s\", ", job->id);
    put_text(f, "program", job->program);
    fprintf(f, ", ");
    put_text(f, "version", job->version);
    fprintf(f,
            ", \"ranks\": %d, \"traces\": %d, \"unreadable\": %d, \"cut\": %d, \"unfinished\": %d, "
            "\"damaged_lines\": %lld, \"complete\": %s, \"hosts\": %d, \"files\": %d",
            job->ranks, job->found, job->unreadable, job->cut, job->unfinished,
            (long long)job->damaged, report_is_whole(job) ? "true" : "false", job->hosts,
            job->files);
    fprintf(f,
            ", \"start\": %lld, \"length\": %lld, \"memory\": %lld, \"errors\": %lld, "
            "\"behind\": %lld",
            (long long)job->start, (long long)job->length, (long long)job->memory,
            (long long)job->errors, (long long)job->behind);
    put_both(f, "wanted", figures->wanted, "%.0f");
    put_both(f, "moved", figures->moved, "%.0f");
    put_both(f, "amplification", figures->amplification, "%.4f");
    put_both(f, "rate", figures->rate, "%.0f");
    fprintf(f,
            ", \"share\": {\"calls\": %.4f, \"outside\": %.4f, \"exchange\": %.4f, \"access\": "
            "%.4f, \"wait\": %.4f, "
            "\"rest\": %.4f, \"own\": %.4f}",
            figures->share, figures->outside, figures->phase[TRACE_EXCHANGE],
            figures->phase[TRACE_ACCESS], figures->phase[TRACE_WAIT], figures->rest, figures->own);
}

static void put_advice(const report *r, FILE *f)
{
    static const char *const kinds[] = {"problem", "gain", "bound", "note"};
    fprintf(f, ", \"advice\": [");
    for (int i = 0; i < r->count; i++) {
        const report_advice *a = &r->advice[i];
        const int gain = a->rule->kind == RULE_GAIN || a->rule->kind == RULE_BOUND;
        fprintf(f, "%s{\"rule\": \"%s\", \"kind\": \"%s\", ", i ? ", " : "", a->rule->name,
                kinds[a->rule->kind]);
        put_text(f, "text", a->text);
        fprintf(f, ", ");
        put_text(f, "hint", a->hint);
        if (gain && a->saved >= 0)
            fprintf(f, ", \"saved\": %.0f", a->saved);
        if (gain && a->saved >= 0 && a->factor > 0)
            fprintf(f, ", \"factor\": %.2f", a->factor);
        fprintf(f, "}");
    }
    fprintf(f, "]");
}

static void put_call(const report_job *job, const job_call *c, FILE *f)
{
    put_text(f, "file", job->file[c->file].name ? job->file[c->file].name : "");
    fprintf(f, ", \"direction\": \"%s\", \"together\": %s, \"form\": \"%s\", \"ranks\": %d",
            trace_directions[c->write], c->alone ? "false" : "true", trace_forms[c->form],
            c->ranks);
    fprintf(f,
            ", \"count\": %lld, \"wanted\": %lld, \"moved\": %lld, \"runs\": %lld, "
            "\"errors\": %lld, \"amplification\": %.4f, \"rate\": %.0f",
            (long long)c->count, (long long)c->wanted, (long long)c->moved, (long long)c->syscalls,
            (long long)c->errors, figures_ratio((double)c->moved, (double)c->wanted),
            figures_rate(c));
    fprintf(f,
            ", \"slowest\": %lld, \"slowest_rank\": %d, \"longest\": %lld, \"time\": %lld, "
            "\"exchange\": %lld, \"access\": %lld, \"wait\": %lld",
            (long long)c->slowest, c->slowest_rank, (long long)c->longest, (long long)c->spent,
            (long long)c->phase[TRACE_EXCHANGE], (long long)c->phase[TRACE_ACCESS],
            (long long)c->phase[TRACE_WAIT]);
    fprintf(f,
            ", \"aggregators\": %lld, \"window\": %lld, \"rounds\": %lld, \"run\": %lld, "
            "\"stride\": %lld, ",
            (long long)c->shape.aggregators, (long long)c->shape.window, (long long)c->shape.rounds,
            (long long)c->shape.run, (long long)c->shape.stride);
    put_text(f, "exchange_by", c->shape.exchange);
    fprintf(f, ", ");
    put_text(f, "way", c->shape.way);
    fprintf(f, ", ");
    put_text(f, "plan", c->plan ? c->plan : "");
}

static void put_calls(const report_job *job, FILE *f)
{
    fprintf(f, ", \"calls\": [");
    for (int i = 0; i < job->calls; i++) {
        fprintf(f, "%s{", i ? ", " : "");
        put_call(job, &job->call[i], f);
        fprintf(f, "}");
    }
    fprintf(f, "]");
}

static void put_line(const double *field, int columns, FILE *f)
{
    fprintf(f, "[");
    for (int i = 0; i < columns; i++)
        fprintf(f, "%s%.0f", i ? "," : "", field[i]);
    fprintf(f, "]");
}

static void put_lines(const char *name, const double *field, int lines, const report_job *job,
                      FILE *f)
{
    fprintf(f, "\"%s\": [", name);
    for (int i = 0; i < lines; i++) {
        fprintf(f, "%s", i ? "," : "");
        put_line(field + (ptrdiff_t)i * JOB_COLUMNS, job->columns, f);
    }
    fprintf(f, "]");
}

static void put_time(const report_job *job, FILE *f)
{
    fprintf(f, ", \"columns\": %d, \"width\": %lld, \"bands\": {\"ranks\": %d", job->columns,
            (long long)job->width, job->band_ranks);
    for (int p = 0; p < TRACE_PHASES; p++) {
        fprintf(f, ", ");
        put_lines(trace_phases[p], job->phase[p], job->bands, job, f);
    }
    fprintf(f, ", ");
    put_lines("traced", job->alive, job->bands, job, f);
    fprintf(f, "}, \"rows\": {\"ranks\": %d", job->row_ranks);
    for (int d = 0; d < 2; d++) {
        fprintf(f, ", ");
        put_lines(trace_directions[d], job->moved[d], job->rows, job, f);
    }
    fprintf(f, "}");
}

static void put_files(const report_job *job, FILE *f)
{
    fprintf(f, ", \"offsets\": [");
    for (int i = 0; i < job->named; i++) {
        const job_file *file = &job->file[i];
        fprintf(f, "%s{", i ? ", " : "");
        put_text(f, "file", file->name ? file->name : "");
        fprintf(f, ", \"size\": %lld, \"step\": %lld", (long long)file->size,
                (long long)file->step);
        for (int d = 0; d < 2; d++) {
            fprintf(f, ", ");
            if (file->cell[d] && file->bytes[d] > 0)
                put_lines(trace_directions[d], file->cell[d], TRACE_ROWS, job, f);
            else
                fprintf(f, "\"%s\": []", trace_directions[d]);
        }
        fprintf(f, "}");
    }
    fprintf(f, "]");
}

static void put_sizes(const char *name, const int64_t (*sizes)[JOB_SIZES], FILE *f)
{
    fprintf(f, ", \"%s\": {", name);
    for (int d = 0; d < 2; d++) {
        fprintf(f, "%s\"%s\": [", d ? ", " : "", trace_directions[d]);
        for (int i = 0; i < JOB_SIZES; i++)
            fprintf(f, "%s%lld", i ? "," : "", (long long)sizes[d][i]);
        fprintf(f, "]");
    }
    fprintf(f, "}");
}

static void put_aggregators(const report_job *job, FILE *f)
{
    int count = 0;
    fprintf(f, ", \"aggregators\": [");
    for (int i = 0; i < job->found; i++)
        if (job->rank[i].served)
            fprintf(f, "%s{\"rank\": %d, \"moved\": %lld, \"access\": %lld}", count++ ? ", " : "",
                    job->rank[i].rank, (long long)job->rank[i].served,
                    (long long)job->rank[i].served_ns);
    fprintf(f, "]");
}

void report_print_json(const report *r, FILE *f)
{
    put_head(r, f);
    put_advice(r, f);
    put_calls(r->job, f);
    put_aggregators(r->job, f);
    put_sizes("request_sizes", r->job->requests, f);
    put_sizes("run_sizes", r->job->sizes, f);
    put_time(r->job, f);
    put_files(r->job, f);
    fprintf(f, "}\n");
}
