/* A plan as a picture: what each rank wants, then for each aggregator its realm and the windows of
 * its rounds, above one scale of offsets; sizes are in the margin. Colours are those of ranks: an
 * aggregator has the colour of the rank it is. */
#include <string.h>

#include "base/arith.h"
#include "base/error.h"
#include "pattern/cursor.h"
#include "plan/explain.h"

/* In pixels; a PART is a tenth of one. */
enum { WIDTH = 1000, LEFT = 118, RIGHT = 792, MARGIN = 802, PART = 10, SCALE = 84, TOP = 98 };
enum { ROW = 17, BAR = 12, BAND = 42, STRIP = 7, BOX = 20, HEADING = 24, ALONE = 26, FOOT = 46 };
/* Of more rows than these the first and the last are shown. */
enum { MOST_ROWS = 16, FIRST_ROWS = 6, LAST_ROWS = 2, COLOURS = 8 };

/* Dark enough for thin lines, and to be told apart. */
static const char *const colours[COLOURS] = {"#2f6cae", "#c75b12", "#3c8a4e", "#8450a8",
                                             "#a8820c", "#12868f", "#b8386e", "#5d6570"};

/* Of a realm's windows. */
typedef struct counted {
    int64_t sieved, listed;
    bool holes;
} counted;

typedef struct drawing {
    wr_explainer w; /* first, so that visitors find the rest */
    int64_t lo, hi; /* what of the file is shown */
    int64_t y;
    const char *colour; /* of the band under way */
    int64_t from;       /* where the next box must end to be seen, in parts */
    counted windows;
} drawing;

static const char *colour_of(int64_t rank)
{
    return colours[rank % COLOURS];
}

static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

/* "1.5 MiB". */
static void say_bytes(wr_text *t, int64_t bytes)
{
    int unit = 0;
    while (bytes >> (10 * unit) >= 1024)
        unit++;
    const int64_t whole = bytes >> (10 * unit);
    const int64_t tenths = unit ? ((bytes >> (10 * (unit - 1)) & 1023) * 10) >> 10 : 0;
    if (tenths && whole < 100)
        wr_say(t, "%lld.%lld %s", (long long)whole, (long long)tenths, units[unit]);
    else
        wr_say(t, "%lld %s", (long long)whole, units[unit]);
}

static const char *plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

/* Text that is begun; its end is "</text>\n". */
static void begin_text(drawing *d, int64_t x, int64_t y, const char *kind)
{
    wr_say(&d->w.text, "<text x=\"%lld\" y=\"%lld\"%s>", (long long)x, (long long)y, kind);
}

static void end_text(drawing *d)
{
    wr_say(&d->w.text, "</text>\n");
}

/* Where an offset is, in parts of a pixel. */
static int64_t place(const drawing *d, int64_t offset)
{
    int64_t span = wr_max(1, d->hi - d->lo), at = wr_max(0, wr_min(offset - d->lo, span));
    int shift = 0;
    while (span >> shift > INT64_C(1) << 40)
        shift++;
    const int64_t width = INT64_C(1) * PART * (RIGHT - LEFT);
    return INT64_C(1) * PART * LEFT + (at >> shift) * width / wr_max(1, span >> shift);
}

/* Bytes [lo, hi) as a box of a path; what is too small to be seen becomes a line. */
static void draw(drawing *d, int64_t lo, int64_t hi, int64_t y, int64_t height)
{
    const int64_t x = place(d, lo), width = wr_max(6, place(d, hi) - x);
    const long long whole = width / PART, part = width % PART;
    wr_say(&d->w.text, "M%lld.%lld %lldh%lld.%lldv%lldh-%lld.%lldz", (long long)(x / PART),
           (long long)(x % PART), (long long)y, whole, part, (long long)height, whole, part);
}

static void begin_path(drawing *d, const char *kind, const char *value)
{
    wr_say(&d->w.text, "<path %s=\"%s\" d=\"", kind, value);
}

/* The runs of a pattern, or, of very many, as many as can be told apart. */
static void draw_pattern(drawing *d, const weir_pattern *pattern, int64_t y, int64_t height)
{
    wr_cursor c;
    wr_batch run;
    const int64_t step = wr_max(1, (d->hi - d->lo) / (RIGHT - LEFT));
    wr_cursor_init(&c, pattern);
    begin_path(d, "fill", d->colour);
    for (int64_t at = d->lo; wr_cursor_next_run(&c, INT64_MAX, &run) && run.offset < d->hi;) {
        draw(d, run.offset, run.offset + run.run, y, height);
        at = wr_max(run.offset + run.run, at + step);
        wr_cursor_seek_offset(&c, at);
    }
    wr_say(&d->w.text, "\"/>\n");
}

/* What is moved for a window, in its box, with the number of its round. */
static int draw_window(wr_explainer *w, const weir_plan *p, wr_windows *walk,
                       const wr_window *window)
{
    drawing *d = (drawing *)w;
    const int64_t lo = place(d, window->lo), hi = place(d, window->hi), number = walk->number;
    const bool first = p->in.direction == WR_WRITE && window->holes;
    const bool sieved = !strcmp(window->method, "sieve");
    d->windows.sieved += sieved;
    d->windows.listed += !sieved;
    d->windows.holes = d->windows.holes || first;
    if (hi < d->from)
        return 0;
    d->from = hi + PART;
    begin_path(d, "fill", d->colour);
    draw(d, window->lo, window->hi, d->y, BOX);
    wr_say(&w->text,
           "\" fill-opacity=\"%s\"><title>round %lld, bytes %lld to %lld, by %s: "
           "%s%s</title></path>\n",
           number % 2 ? "0.16" : "0.32", (long long)number, (long long)window->lo,
           (long long)window->hi, window->method, window->reason,
           first ? "; read first, because it has holes" : "");
    draw_pattern(d, window->cover, d->y + BOX - STRIP, STRIP);
    if (hi - lo > INT64_C(1) * PART * 16)
        wr_say(&w->text, "<text class=\"n\" x=\"%lld\" y=\"%lld\">%lld%s</text>\n",
               (long long)((lo + hi) / 2 / PART), (long long)d->y + 10, (long long)number,
               first ? "*" : "");
    return 0;
}

/* The distance of lines on the scale: a power of two, at most nine of them. */
static int64_t scale_step(const drawing *d)
{
    const int64_t span = wr_max(1, d->hi - d->lo);
    int shift = 0;
    while (span >> shift > 7)
        shift++;
    return INT64_C(1) << shift;
}

/* Far from the start of a file, offsets are counted from the first byte shown. */
static void draw_scale(drawing *d, int64_t bottom)
{
    const int64_t step = scale_step(d), base = d->lo / step > 1000 ? d->lo : 0;
    int64_t at = base ? base : wr_round_up(d->lo, step);
    int unit = 0;
    while (step >> (10 * unit) >= 1024)
        unit++;
    begin_text(d, 14, SCALE, " class=\"s\"");
    wr_say(&d->w.text, "offset, %s", units[unit]);
    end_text(d);
    if (base) {
        begin_text(d, MARGIN, SCALE, " class=\"s\"");
        wr_say(&d->w.text, "from byte %lld on", (long long)base);
        end_text(d);
    }
    for (; at <= d->hi; at += step) {
        const long long x = (long long)place(d, at) / PART;
        wr_say(&d->w.text, "<path d=\"M%lld %dV%lld\" stroke=\"#e1e4e8\"/>", x, SCALE + 5,
               (long long)bottom);
        begin_text(d, x, SCALE, " class=\"t\"");
        wr_say(&d->w.text, "%s%lld", base ? "+" : "", (long long)((at - base) >> (10 * unit)));
        end_text(d);
        if (at > INT64_MAX - step)
            break;
    }
}

/* What all this is, in three lines. */
static void draw_title(drawing *d, const weir_plan *p, const wr_total *sum)
{
    const wr_plan *plan = &p->plan;
    const int64_t price = plan->per_node     ? p->in.node_ns
                          : plan->collective ? plan->price_together
                                             : plan->price_alone;
    begin_text(d, 14, 24, " class=\"h\"");
    wr_say(&d->w.text, "%d rank%s %s%s ", p->request.ranks, plural(p->request.ranks),
           p->request.write ? "write" : "read", p->request.ranks == 1 ? "s" : "");
    say_bytes(&d->w.text, p->in.wanted.bytes);
    wr_say(&d->w.text, ": %s",
           plan->per_node     ? "per node"
           : plan->collective ? "together"
                              : "alone");
    end_text(d);
    begin_text(d, 14, 42, "");
    wr_say(&d->w.text, "because: %s; about %lld.%03lld ms", wr_plan_reason(plan),
           (long long)(price / 1000000), (long long)(price / 1000 % 1000));
    if (plan->collective && !plan->per_node && plan->price_alone > 0)
        wr_say(&d->w.text, ", alone %lld.%03lld", (long long)(plan->price_alone / 1000000),
               (long long)(plan->price_alone / 1000 % 1000));
    end_text(d);
    begin_text(d, 14, 58, "");
    say_bytes(&d->w.text, sum->moved);
    wr_say(&d->w.text, " moved in %lld call%s", (long long)sum->calls, plural(sum->calls));
    if (sum->windows)
        wr_say(&d->w.text, ", %lld window%s, %lld round%s", (long long)sum->windows,
               plural(sum->windows), (long long)sum->rounds, plural(sum->rounds));
    if (plan->collective) {
        wr_say(&d->w.text, " of up to ");
        say_bytes(&d->w.text, plan->window);
        wr_say(&d->w.text, ", exchanged by ");
        wr_say_exchange(&d->w.text, plan->exchange);
    }
    if (p->request.file_size > 0) {
        wr_say(&d->w.text, "; the file has ");
        say_bytes(&d->w.text, p->request.file_size);
    }
    end_text(d);
}

static void draw_heading(drawing *d, const char *text)
{
    begin_text(d, 14, d->y + 15, " class=\"b\"");
    wr_say(&d->w.text, "%s", text);
    end_text(d);
    d->y += HEADING;
}

/* Of a rank alone its windows, if it goes through them. */
static int draw_alone(drawing *d, const weir_plan *p, const wr_want *want)
{
    static const wr_visitor visit = {.window = draw_window};
    wr_plan_input in;
    wr_plan plan;
    wr_total sum = {0};
    wr_explain_rank(p, want, &in, &plan);
    if (plan.way[0] != WR_WAY_SIEVE)
        return 0;
    d->from = 0;
    int code =
        wr_explain_windows(p, want, &(wr_windows){.in = &in, .plan = &plan}, &sum, &visit, &d->w);
    begin_text(d, MARGIN, d->y + 14, " class=\"s\"");
    wr_say(&d->w.text, "%lld window%s, ", (long long)sum.windows, plural(sum.windows));
    say_bytes(&d->w.text, sum.moved);
    end_text(d);
    d->y += ALONE;
    return code;
}

/* The first way that a rank tries alone. */
static enum wr_way way_of(const weir_plan *p, const wr_want *want)
{
    wr_plan_input in;
    wr_plan plan;
    wr_explain_rank(p, want, &in, &plan);
    return plan.way[0];
}

static int draw_rank(drawing *d, const weir_plan *p, const wr_want *want)
{
    const int64_t runs = weir_pattern_pieces(want->pattern);
    d->colour = colour_of(want->rank);
    begin_text(d, 14, d->y + 11, "");
    wr_say(&d->w.text, "rank %d", want->rank);
    end_text(d);
    draw_pattern(d, want->pattern, d->y, BAR);
    begin_text(d, MARGIN, d->y + 11, " class=\"s\"");
    say_bytes(&d->w.text, want->end - want->begin);
    wr_say(&d->w.text, ", %lld run%s", (long long)runs, plural(runs));
    if (!p->plan.collective)
        wr_say(&d->w.text, ", %s", wr_way_names[way_of(p, want)]);
    end_text(d);
    d->y += ROW;
    return p->plan.collective ? 0 : draw_alone(d, p, want);
}

/* How many rows are shown, and which of all is number i of them. */
static int64_t rows_shown(int64_t all)
{
    return all > MOST_ROWS ? FIRST_ROWS + LAST_ROWS : all;
}

static int64_t row_shown(int64_t all, int64_t i)
{
    return all > MOST_ROWS && i >= FIRST_ROWS ? all - FIRST_ROWS - LAST_ROWS + i : i;
}

static void draw_gap(drawing *d, int64_t all, int64_t i)
{
    if (all <= MOST_ROWS || i != FIRST_ROWS)
        return;
    begin_text(d, 14, d->y + 11, "");
    wr_say(&d->w.text, "%lld more", (long long)(all - FIRST_ROWS - LAST_ROWS));
    end_text(d);
    d->y += ROW;
}

/* What many ranks want, from the first byte of each to its last, as far as it can be told apart. */
static void draw_all(drawing *d, const weir_plan *p)
{
    begin_text(d, 14, d->y + 11, "");
    wr_say(&d->w.text, "all");
    end_text(d);
    d->from = 0;
    for (int64_t i = 0; i < p->wants_count; i++) {
        int64_t lo, hi;
        weir_pattern_bounds(p->wants[i].pattern, &lo, &hi);
        if (place(d, hi) < d->from)
            continue;
        d->from = place(d, hi) + PART;
        begin_path(d, "fill", colour_of(p->wants[i].rank));
        draw(d, lo, hi, d->y, BAR);
        wr_say(&d->w.text, "\"/>\n");
    }
    d->y += ROW;
}

static int draw_ranks(drawing *d, const weir_plan *p)
{
    const int64_t all = p->wants_count;
    int code = 0;
    draw_heading(d, p->plan.collective ? "wanted by ranks" : "wanted by ranks, and how each goes");
    if (all > MOST_ROWS)
        draw_all(d, p);
    for (int64_t i = 0; i < rows_shown(all) && !code; i++) {
        draw_gap(d, all, i);
        code = draw_rank(d, p, &p->wants[row_shown(all, i)]);
    }
    return code;
}

static void say_realm_size(drawing *d, const weir_plan *p, const weir_pattern *realm, int64_t i)
{
    wr_say(&d->w.text, "realm of ");
    say_bytes(&d->w.text, p->plan.period ? wr_plan_block(&p->plan, i) : weir_pattern_bytes(realm));
    if (p->plan.period) {
        wr_say(&d->w.text, " every ");
        say_bytes(&d->w.text, p->plan.period);
    }
}

static void say_windows(drawing *d, const wr_total *sum)
{
    const counted *c = &d->windows;
    if (!sum->windows)
        wr_say(&d->w.text, "nothing to do");
    else if (c->sieved && c->listed)
        wr_say(&d->w.text, "%lld by sieve, %lld by list: ", (long long)c->sieved,
               (long long)c->listed);
    else
        wr_say(&d->w.text, "%lld window%s by %s: ", (long long)sum->windows, plural(sum->windows),
               c->sieved ? "sieve" : "list");
    if (sum->windows)
        say_bytes(&d->w.text, sum->moved);
}

/* An aggregator, which is called by that number, as a band. */
static int draw_realm(drawing *d, const weir_plan *p, int64_t i, int64_t number)
{
    static const wr_visitor visit = {.window = draw_window};
    const int64_t rank = p->first_rank + wr_plan_seat(&p->plan, i);
    weir_pattern *realm;
    wr_total sum = {0};
    int code = wr_plan_realm(&p->plan, i, &realm);
    if (code)
        return code;
    begin_text(d, 14, d->y + 11, "");
    wr_say(&d->w.text, "aggregator %lld</text>\n<text x=\"14\" y=\"%lld\" class=\"s\">rank %lld",
           (long long)number, (long long)d->y + 25, (long long)rank);
    if (p->nodes)
        wr_say(&d->w.text, ", node %lld", (long long)(rank / wr_explained_node_ranks(&p->request)));
    end_text(d);
    begin_text(d, MARGIN, d->y + 11, " class=\"s\"");
    say_realm_size(d, p, realm, i);
    end_text(d);
    d->colour = colour_of(rank);
    draw_pattern(d, realm, d->y, STRIP);
    weir_pattern_free(realm);
    d->y += STRIP + 3;
    d->from = 0;
    d->windows = (counted){0};
    code = wr_explain_realm(p, i, &sum, &visit, &d->w);
    begin_text(d, MARGIN, d->y + 15, " class=\"s\"");
    say_windows(d, &sum);
    end_text(d);
    d->y += BAND - STRIP - 3;
    return code;
}

/* Those of all nodes are numbered through. */
static int draw_realms(drawing *d, const weir_plan *p, int64_t all, int64_t first)
{
    int code = 0;
    for (int64_t i = 0; i < rows_shown(all) && !code; i++) {
        const int64_t number = row_shown(all, i) - first;
        if (number < 0 || number >= p->plan.aggregators)
            continue;
        draw_gap(d, all, i);
        code = draw_realm(d, p, number, first + number);
    }
    return code;
}

static int draw_nodes(drawing *d, const weir_plan *p)
{
    int code = 0;
    for (int64_t i = 0, from = 0, first = 0; !code && i < p->in.nodes; i++) {
        weir_plan part;
        if (!p->nodes[i].active)
            continue;
        code = wr_explain_node(&d->w, p, i, from, &part);
        if (!code)
            code = draw_realms(d, &part, p->aggregators, first);
        from += part.wants_count;
        first += part.plan.aggregators;
    }
    return code;
}

static void draw_swatch(drawing *d, int64_t x, const char *shape, const char *meaning)
{
    wr_say(&d->w.text, "<g transform=\"translate(%lld %lld)\" fill=\"%s\">%s</g>", (long long)x,
           (long long)d->y, colours[0], shape);
    begin_text(d, x + 34, d->y + 12, " class=\"s\"");
    wr_say(&d->w.text, "%s", meaning);
    end_text(d);
}

static void draw_legend(drawing *d, const weir_plan *p, bool windows)
{
    static const char wanted[] =
        "<rect y=\"2\" width=\"8\" height=\"12\"/><rect x=\"10\" y=\"2\" width=\"8\" height=\"12\" "
        "fill=\"#c75b12\"/><rect x=\"20\" y=\"2\" width=\"8\" height=\"12\" fill=\"#3c8a4e\"/>";
    d->y += 14;
    draw_swatch(d, 14, wanted, "wanted, by rank");
    if (!windows)
        return;
    if (p->plan.collective)
        draw_swatch(d, 160, "<rect y=\"4\" width=\"28\" height=\"7\"/>",
                    "realm, in its aggregator's colour");
    draw_swatch(d, p->plan.collective ? 400 : 160,
                "<rect width=\"28\" height=\"20\" fill-opacity=\"0.16\"/><rect y=\"13\" "
                "width=\"28\" height=\"7\"/><text class=\"n\" x=\"14\" y=\"10\">2</text>",
                "window and its round; below, what is really moved");
    if (p->request.write)
        draw_swatch(d, 740, "<text class=\"n\" x=\"14\" y=\"13\">2*</text>",
                    "holes: read before it is written");
}

static int64_t height_of(const weir_plan *p)
{
    const int64_t realms = p->plan.collective ? p->aggregators : 0;
    int64_t height = TOP + HEADING + FOOT + (p->wants_count > MOST_ROWS ? 2 * ROW : 0);
    for (int64_t i = 0; i < rows_shown(p->wants_count); i++) {
        const wr_want *want = &p->wants[row_shown(p->wants_count, i)];
        const bool windows = !p->plan.collective && way_of(p, want) == WR_WAY_SIEVE;
        height += windows ? ROW + ALONE : ROW;
    }
    if (realms)
        height += HEADING + rows_shown(realms) * BAND + (realms > MOST_ROWS ? ROW : 0);
    return height;
}

static void begin(drawing *d, int64_t height)
{
    wr_say(&d->w.text,
           "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %lld\" "
           "font-family=\"system-ui, Helvetica, Arial, sans-serif\" font-size=\"12\" "
           "fill=\"#24292f\">\n"
           "<style>.h{font-size:16px;font-weight:600}.b{font-weight:600}.s{font-size:11px;"
           "fill:#57606a}.t{font-size:11px;fill:#57606a;text-anchor:middle}"
           ".n{font-size:10px;fill:#24292f;text-anchor:middle}</style>\n"
           "<rect x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%lld\" rx=\"6\" fill=\"#ffffff\" "
           "stroke=\"#d0d7de\"/>\n",
           WIDTH, (long long)height, WIDTH - 1, (long long)height - 1);
}

int64_t weir_plan_svg(const weir_plan *plan, char *text, size_t size)
{
    drawing d = {.lo = plan->plan.lo, .hi = plan->plan.hi, .y = TOP};
    wr_total sum;
    const int64_t height = height_of(plan);
    int code = wr_explain_total(plan, &sum);
    if (code)
        return code;
    wr_explainer_init(&d.w, plan, text, size);
    begin(&d, height);
    draw_title(&d, plan, &sum);
    draw_scale(&d, height - FOOT + 6);
    code = draw_ranks(&d, plan);
    if (!code && plan->plan.collective) {
        draw_heading(&d, "handled by aggregators");
        code = plan->plan.per_node ? draw_nodes(&d, plan)
                                   : draw_realms(&d, plan, plan->aggregators, 0);
    }
    wr_want_queue_release(&d.w.wants);
    if (code)
        return code;
    draw_legend(&d, plan, sum.windows > 0);
    wr_say(&d.w.text, "</svg>\n");
    return d.w.text.length;
}
