/* A report as one page of HTML, which needs no network and, but for what the pointer is at, no
 * script. */
#include "report_page.h"

#include "escape.h"
#include "report_chart.h"
#include "report_style.h"
#include "report_units.h"

static void put_card(FILE *f, const char *what, const char *value, const char *more)
{
    fprintf(f, "<div><span>%s</span><b>%s</b><span>%s</span></div>\n", what, value, more);
}

static void put_bytes_card(const report_figures *figures, int d, FILE *f)
{
    char wanted[UNITS_TEXT], moved[UNITS_TEXT], rate[UNITS_TEXT], more[3 * UNITS_TEXT];
    if (figures->wanted[d] <= 0 && figures->moved[d] <= 0) {
        put_card(f, d ? "written" : "read", "nothing", "");
        return;
    }
    snprintf(more, sizeof more, "%s<br>%s moved", units_rate(figures->rate[d], rate),
             units_bytes(figures->moved[d], moved));
    put_card(f, d ? "written" : "read", units_bytes(figures->wanted[d], wanted), more);
}

static void put_cards(const report *r, FILE *f)
{
    const report_job *job = r->job;
    const report_figures *figures = &r->figures;
    char a[UNITS_TEXT], b[UNITS_TEXT], more[4 * UNITS_TEXT];
    fprintf(f, "<div class=cards>\n");
    put_card(f, "duration", units_time((double)job->length, a), "from the first open");
    snprintf(more, sizeof more, "on %s host%s", units_count(job->hosts, b),
             job->hosts == 1 ? "" : "s");
    put_card(f, "ranks", units_count(job->ranks, a), more);
    put_bytes_card(figures, TRACE_READ, f);
    put_bytes_card(figures, TRACE_WRITE, f);
    snprintf(a, sizeof a, "%.1f %%", 100 * (figures->share + figures->outside));
    snprintf(more, sizeof more, "%.1f %% in calls, the rest<br>in opens, closes, syncs",
             100 * figures->share);
    put_card(f, "time in I/O", a, more);
    snprintf(a, sizeof a, "%.2f",
             figures_ratio(figures->moved[0] + figures->moved[1],
                           figures->wanted[0] + figures->wanted[1]));
    snprintf(more, sizeof more, "read %.2f<br>write %.2f", figures->amplification[0],
             figures->amplification[1]);
    put_card(f, "amplification", a, more);
    put_card(f, "memory", units_bytes((double)job->memory, a), "most of a rank");
    put_card(f, "failed calls", units_count(job->errors, a),
             report_is_whole(job) ? "the job ended in order" : "the job did not end in order");
    fprintf(f, "</div>\n");
}

static void put_phase_key(FILE *f, const char *class, int rest)
{
    fprintf(f,
            "<div class=\"key %s\"><span><b class=access></b>file access</span>"
            "<span><b class=exchange></b>exchange between ranks</span>"
            "<span><b class=wait></b>waiting</span>",
            class);
    if (rest)
        fprintf(f, "<span><b class=rest></b>other work in calls</span>");
    fprintf(f, "<span><b class=own></b>the program's own time</span></div>\n");
}

static void put_head(const report *r, FILE *f)
{
    const report_job *job = r->job;
    char date[REPORT_DATE], text[UNITS_TEXT];
    fprintf(f, "<h1>");
    escape_html(f, *job->program ? job->program : "a program");
    fprintf(f, "</h1>\n<p class=dim>%s, job %s, weir ", report_date(job->start, date), job->id);
    escape_html(f, job->version);
    fprintf(f, ", %s%s file%s</p>\n", units_count(job->files, text),
            job->more_files ? " or more" : "", job->files == 1 ? "" : "s");
    put_cards(r, f);
    fprintf(f, "<p class=dim>Where the time of all ranks went:</p>\n");
    page_put_split(f, r->figures.phase, r->figures.rest);
    put_phase_key(f, "lead", 1);
    if (job->behind)
        fprintf(f, "<p class=dim>Besides, %s of file access in the background, on all ranks.</p>\n",
                units_time((double)job->behind, text));
}

static void put_advice(const report *r, FILE *f)
{
    static const char *const kinds[] = {"problem", "gain", "bound", "note"};
    fprintf(f, "<h2 id=advice>What to change</h2>\n<ul class=advice>\n");
    for (int i = 0; i < r->count; i++) {
        fprintf(f, "<li class=%s data-rule=%s>", kinds[r->advice[i].rule->kind],
                r->advice[i].rule->name);
        escape_html(f, r->advice[i].text);
        if (*r->advice[i].hint) {
            fprintf(f, " <code>WEIR_HINTS=");
            escape_html(f, r->advice[i].hint);
            fprintf(f, "</code>");
        }
        fprintf(f, "\n");
    }
    fprintf(f, "</ul>\n");
}

static double seconds_of_column(const report_job *job)
{
    return (double)job->width / 1e9;
}

static chart_frame frame_of_time(const report_job *job)
{
    return (chart_frame){.columns = job->columns, .time = (double)job->width * job->columns};
}

/* Whole pixels for each line: `height` in all, or more if that leaves less than `least`. */
static int pixels_of(int lines, int height, int least, int most)
{
    const int each = height / lines;
    return each < least ? least : each > most ? most : each;
}

static void put_group_note(FILE *f, int group, const char *what)
{
    if (group > 1)
        fprintf(f, " Each %s is the mean of %d ranks.", what, group);
}

static void put_totals(const report_job *job, FILE *f)
{
    chart_frame frame = frame_of_time(job);
    frame.label = "bytes per second of all ranks by time";
    frame.unit = "all ranks";
    frame.axis = CHART_RATES;
    frame.height = frame.lines = 120;
    frame.top = chart_total_scale(job);
    fprintf(f, "<figure>\n<div class=key><span><b class=read></b>read</span>"
               "<span><b class=write></b>written</span></div>\n");
    chart_begin(f, &frame);
    chart_put_totals(f, job, &frame);
    chart_end(f, &frame);
    fprintf(f, "</figure>\n");
}

/* Bytes by rank and time, read and written apart, on one scale. */
static void put_heat(const report *r, FILE *f)
{
    const report_job *job = r->job;
    chart_map maps[2];
    for (int d = 0; d < 2; d++)
        maps[d] = (chart_map){.bytes = job->moved[d],
                              .lines = job->rows,
                              .columns = job->columns,
                              .seconds = seconds_of_column(job),
                              .per = job->row_ranks};
    const double scale = chart_scale(maps, 2);
    chart_frame frame = frame_of_time(job);
    frame.unit = "rank";
    frame.height = job->rows * pixels_of(job->rows, 300, 2, 40);
    frame.lines = job->rows;
    frame.top = (double)job->rows * job->row_ranks;
    frame.count = job->ranks;
    fprintf(f, "<h2 id=heat>Bytes moved, by rank and time</h2>\n<p class=dim>Bytes that each rank "
               "moved to or from files, for others too.");
    put_group_note(f, job->row_ranks, "row");
    fprintf(f, "</p>\n");
    put_totals(job, f);
    for (int d = 0; d < 2; d++) {
        if (job->bytes[d] <= 0)
            continue;
        fprintf(f, "<figure><h3>%s</h3>\n", d ? "Written" : "Read");
        frame.label = d ? "bytes written by rank and time" : "bytes read by rank and time";
        chart_begin(f, &frame);
        chart_put_map(f, &maps[d], scale);
        chart_end(f, &frame);
        fprintf(f, "</figure>\n");
    }
    chart_put_scale(f, scale, job->row_ranks > 1 ? "per rank" : "rate");
}

static void put_phases(const report *r, FILE *f)
{
    const report_job *job = r->job;
    chart_frame frame = frame_of_time(job);
    frame.label = "phases of ranks by time";
    frame.unit = "rank";
    const int band = pixels_of(job->bands, 768, 12, 44);
    frame.height = frame.lines = job->bands * band;
    frame.top = (double)job->bands * job->band_ranks;
    frame.count = job->ranks;
    fprintf(f, "<h2 id=phases>What ranks did, by time</h2>\n<p class=dim>A band shows how its time "
               "was divided, from the bottom up.");
    put_group_note(f, job->band_ranks, "band");
    fprintf(f, " Blank: not traced.</p>\n<figure>\n");
    put_phase_key(f, "", 0);
    chart_begin(f, &frame);
    chart_put_bands(f, job, band);
    chart_end(f, &frame);
    fprintf(f, "</figure>\n");
    page_put_outliers(job, f);
}

static void put_offsets_of(const report_job *job, const job_file *file, FILE *f)
{
    const int64_t last = file->size > 0 ? (file->size - 1) / file->step : 0;
    const int lines = last < TRACE_ROWS ? (int)last + 1 : TRACE_ROWS;
    chart_map maps[2];
    for (int d = 0; d < 2; d++)
        maps[d] = (chart_map){file->cell[d], lines, job->columns, seconds_of_column(job), 1};
    const double scale = chart_scale(maps, 2);
    chart_frame frame = frame_of_time(job);
    frame.unit = "offset";
    frame.axis = CHART_OFFSETS;
    frame.height = lines * pixels_of(lines, 192, 1, 48);
    frame.lines = lines;
    frame.top = (double)file->step * lines;
    for (int d = 0; d < 2; d++) {
        if (file->bytes[d] <= 0)
            continue;
        fprintf(f, "<figure><figcaption>%s</figcaption>\n", d ? "written" : "read");
        frame.label = d ? "offsets written by time" : "offsets read by time";
        chart_begin(f, &frame);
        chart_put_map(f, &maps[d], scale);
        chart_end(f, &frame);
        fprintf(f, "</figure>\n");
    }
    chart_put_scale(f, scale, "all ranks, in a row of offsets");
}

static void put_offsets(const report_job *job, FILE *f)
{
    char text[UNITS_TEXT];
    fprintf(f,
            "<h2 id=offsets>Offsets, by time</h2>\n<p class=dim>Where in a file bytes were moved, "
            "and when.%s</p>\n",
            job->files > JOB_FILES ? " Those files of which most was moved." : "");
    for (int i = 0; i < job->named; i++) {
        const job_file *file = &job->file[i];
        if (!file->cell[0] || !file->step || !file->name || file->bytes[0] + file->bytes[1] <= 0)
            continue;
        fprintf(f, "<h3>");
        escape_html(f, file->name);
        fprintf(f, " <span class=dim>%s</span></h3>\n", units_bytes((double)file->size, text));
        put_offsets_of(job, file, f);
    }
}

static void put_foot(const report_job *job, FILE *f)
{
    fprintf(f, "<h2 id=notes>Notes</h2>\n<p class=dim>Traces of %d of %d ranks", job->found,
            job->ranks);
    if (job->cut || job->unfinished || job->unreadable)
        fprintf(f, "; %d cut, %d not ended in order, %d unreadable", job->cut, job->unfinished,
                job->unreadable);
    if (job->damaged)
        fprintf(f, "; %lld damaged lines were left out", (long long)job->damaged);
    if (*job->problem) {
        fprintf(f, "; ");
        escape_html(f, job->problem);
    }
    fprintf(f,
            ". Hosts may differ in their clocks, and so do the times of their ranks here. What "
            "the rules under <a href=\"#advice\">What to change</a> compare is in docs/report.md; "
            "<code>weir report --json</code> has all figures.</p>\n");
}

void report_print_page(const report *r, FILE *f)
{
    fprintf(f, "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8>\n"
               "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src "
               "'unsafe-inline'; script-src 'unsafe-inline'\">\n"
               "<meta name=viewport content=\"width=device-width, initial-scale=1\">\n<title>");
    escape_html(f, *r->job->program ? r->job->program : "a program");
    fprintf(f, ": I/O report</title>\n<style>\n%s</style></head>\n<body>\n", report_style);
    put_head(r, f);
    put_advice(r, f);
    put_heat(r, f);
    put_phases(r, f);
    put_offsets(r->job, f);
    page_put_calls(r->job, f);
    page_put_plans(r->job, f);
    page_put_aggregators(r, f);
    page_put_sizes(r->job, f);
    put_foot(r->job, f);
    fprintf(f, "<div id=tip></div><script>%s</script></body></html>\n", report_script);
}
