/* Maps are drawn as horizontal strokes one unit high, a path for each level of colour: small, sharp
 * on paper, and coloured by the page's style. */
#include "report_chart.h"

#include "escape.h"
#include "report_units.h"

/* The position as a part of the whole, in percent. */
static void put_tick(FILE *f, const char *side, double percent, const char *text)
{
    fprintf(f, "<span style=\"%s:%.2f%%\">%s</span>", side, percent, text);
}

static void put_number(char *text, double value)
{
    snprintf(text, UNITS_TEXT, "%g", value);
}

/* Each of few, some of many. */
static void put_ranks(FILE *f, const chart_frame *c)
{
    double step = c->count * 24 <= c->height ? 1 : units_step(c->count, c->height / 36);
    step = step < 1 ? 1 : step;
    for (int i = 0; i * step < c->count; i++) {
        char text[UNITS_TEXT];
        put_tick(f, "bottom", 100 * (i * step + 0.5) / c->top,
                 units_count((int64_t)(i * step), text));
    }
}

static void put_bytes(FILE *f, const chart_frame *c)
{
    const double step = units_binary_step(c->top, c->height / 34);
    for (int i = 0; i * step <= c->top; i++) {
        char text[UNITS_TEXT];
        (c->axis == CHART_RATES ? units_rate : units_bytes)(i * step, text);
        put_tick(f, "bottom", 100 * i * step / c->top, i ? text : "0");
    }
}

void chart_begin(FILE *f, const chart_frame *c)
{
    static const char *const axes[] = {"ranks", "offsets", "rates"};
    fprintf(f, "<div class=chart style=\"--h:%dpx\"><div class=yt>%s</div><div class=y>", c->height,
            c->unit);
    if (c->axis == CHART_RANKS)
        put_ranks(f, c);
    else
        put_bytes(f, c);
    fprintf(f,
            "</div><div class=plot data-time=\"%.0f\" data-top=\"%.0f\" data-count=\"%.0f\" "
            "data-axis=%s><svg viewBox=\"0 0 %d %d\" preserveAspectRatio=none role=img "
            "aria-label=\"",
            c->time, c->top, c->count, axes[c->axis], c->columns, c->lines);
    escape_html(f, c->label);
    fprintf(f, "\">");
}

void chart_end(FILE *f, const chart_frame *c)
{
    const char *unit;
    const double ns = units_of_time(c->time, &unit), end = c->time / ns, step = units_step(end, 8);
    fprintf(f, "</svg></div><div class=x>");
    for (int i = 0; i * step <= end * 1.0001; i++) {
        char text[UNITS_TEXT];
        put_number(text, i * step);
        put_tick(f, "left", 100 * i * step / end, text);
    }
    fprintf(f, "</div><div class=xt>time since the first open, in %s</div></div>\n", unit);
}

static double rate_at(const chart_map *m, int line, int column)
{
    return m->bytes[line * JOB_COLUMNS + column] / m->seconds / m->per;
}

double chart_scale(const chart_map *maps, int count)
{
    double most = 0, scale = 1;
    for (int i = 0; i < count; i++)
        for (int line = 0; line < maps[i].lines; line++)
            for (int column = 0; column < maps[i].columns; column++) {
                const double rate = rate_at(&maps[i], line, column);
                most = rate > most ? rate : most;
            }
    while (scale < most)
        scale *= 2;
    return scale;
}

/* -1: nothing is there. */
static int level_of(double rate, double scale)
{
    int level = CHART_LEVELS - 1;
    if (rate < 0.5) /* what is left of a byte that was spread over columns is no byte */
        return -1;
    while (level && rate <= scale / 2) {
        scale /= 2;
        level--;
    }
    return level;
}

/* "M3 4.5h2m1 0h3": the lines, and in them the runs of that level. */
static void put_level(FILE *f, const chart_map *m, double scale, int level)
{
    for (int line = 0; line < m->lines; line++) {
        int at = -1; /* where the pen is, -1: in another line */
        for (int column = 0; column < m->columns; column++) {
            int end = column;
            while (end < m->columns && level_of(rate_at(m, line, end), scale) == level)
                end++;
            if (end == column)
                continue;
            if (at < 0)
                fprintf(f, "M%d %d.5h%d", column, m->lines - 1 - line, end - column);
            else
                fprintf(f, "m%d 0h%d", column - at, end - column);
            at = column = end;
        }
    }
}

void chart_put_map(FILE *f, const chart_map *m, double scale)
{
    char low[UNITS_TEXT], high[UNITS_TEXT];
    for (int level = 0; level < CHART_LEVELS; level++) {
        const double upper = scale / (double)(1 << (CHART_LEVELS - 1 - level));
        units_rate(upper / 2, low);
        units_rate(upper, high);
        fprintf(f, "<path class=h%d data-range=\"%s to %s\" d=\"", level, level ? low : "up", high);
        put_level(f, m, scale, level);
        fprintf(f, "\"/>");
    }
}

void chart_put_scale(FILE *f, double scale, const char *what)
{
    char text[UNITS_TEXT];
    fprintf(f, "<div class=key><span>%s:</span><span>%s ", what,
            units_rate(scale / (1 << (CHART_LEVELS - 1)), text));
    for (int i = 0; i < CHART_LEVELS; i++)
        fprintf(f, "<i class=s%d></i>", i);
    fprintf(f, " %s</span><span>doubling at each step; blank: nothing</span></div>\n",
            units_rate(scale, text));
}

/* A line of steps from the left edge to the right, and back along its base. */
typedef struct pen {
    FILE *f;
    int height, run;
} pen;

static void pen_step(pen *p, int height)
{
    if (height != p->height) {
        if (p->run)
            fprintf(p->f, "h%d", p->run);
        fprintf(p->f, "v%d", p->height - height);
        p->height = height;
        p->run = 0;
    }
    p->run++;
}

/* How much of its time a band was in the first `phases`. */
static double share_of(const report_job *job, int band, int column, int phases)
{
    static const int order[] = {TRACE_ACCESS, TRACE_EXCHANGE, TRACE_WAIT};
    const int at = band * JOB_COLUMNS + column, left = job->ranks - band * job->band_ranks;
    const int ranks = left < job->band_ranks ? left : job->band_ranks;
    double sum = phases > TRACE_PHASES ? job->alive[at] : 0;
    for (int p = 0; p < phases && p < TRACE_PHASES; p++)
        sum += job->phase[order[p]][at];
    sum = sum < job->alive[at] ? sum : job->alive[at];
    return sum / ((double)job->width * ranks);
}

static void put_band(FILE *f, const report_job *job, int band, int phases, int lines)
{
    const int filled = lines - (lines + 9) / 10;
    pen p = {.f = f};
    fprintf(f, "M0 %d", (job->bands - band) * lines);
    for (int column = 0; column < job->columns; column++) {
        const double share = share_of(job, band, column, phases);
        pen_step(&p, (int)((share < 1 ? share : 1) * filled + 0.5));
    }
    pen_step(&p, 0);
}

/* The highest first: each is painted over by those below it. */
void chart_put_bands(FILE *f, const report_job *job, int band)
{
    static const char *const names[] = {"access", "exchange", "wait", "own"};
    static const char *const titles[] = {"file access", "exchange", "waiting",
                                         "the program's own time"};
    for (int p = TRACE_PHASES; p >= 0; p--) {
        fprintf(f, "<path class=%s data-range=\"%s\" d=\"", names[p], titles[p]);
        for (int i = 0; i < job->bands; i++)
            put_band(f, job, i, p + 1, band);
        fprintf(f, "\"/>");
    }
}

/* Bytes per second of all ranks; written ones include those read. */
static double total_at(const report_job *job, int column, int write)
{
    double sum = 0;
    for (int d = 0; d <= write; d++)
        for (int row = 0; row < job->rows; row++)
            sum += job->moved[d][row * JOB_COLUMNS + column];
    return sum / ((double)job->width / 1e9);
}

double chart_total_scale(const report_job *job)
{
    double most = 1;
    for (int column = 0; column < job->columns; column++) {
        const double total = total_at(job, column, 1);
        most = total > most ? total : most;
    }
    const double step = units_binary_step(most, 4);
    double scale = step;
    while (scale < most)
        scale += step;
    return scale;
}

void chart_put_totals(FILE *f, const report_job *job, const chart_frame *c)
{
    for (int d = 1; d >= 0; d--) {
        pen p = {.f = f};
        fprintf(f, "<path class=%s data-range=%s d=\"M0 %d", trace_directions[d],
                d ? "written" : "read", c->lines);
        for (int column = 0; column < job->columns; column++)
            pen_step(&p, (int)(total_at(job, column, d) / c->top * c->lines + 0.5));
        pen_step(&p, 0);
        fprintf(f, "\"/>");
    }
}
