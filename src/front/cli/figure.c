/* Layout and drawing of a picture on paper. */
#include "figure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "font.h"

static const cli_colour black = {30, 30, 30}, grey = {95, 95, 95}, frame = {60, 60, 60},
                        pale = {228, 228, 228}, blue = {31, 95, 168};

/* In pixels of the usual picture, 1000 wide. */
enum { WIDE = 800, HIGH = 700, LOW = 420, EDGE = 16, HEAD = 64, FOOT = 62, TICK = 6, LETTER = 11 };
enum { BAR = 20, BESIDE = 24, SCALE_TEXT = 58, ENTRY = 24, SMALLEST_PLOT = 40 };

static double text_size(const cli_figure *f)
{
    return LETTER * f->unit;
}

/* The widest label of rows: indices, which are known, or numbers, which are not yet. */
static double label_width(const cli_figure *f, const cli_picture *p)
{
    cli_ticks ticks;
    double widest = p->curve ? SCALE_TEXT * f->unit : 0;
    if (!p->curve)
        cli_ticks_of_axis(&p->rows, 10, &ticks);
    for (int i = 0; !p->curve && i < ticks.count; i++)
        widest = fmax(widest, cli_text_width(ticks.text[i], text_size(f)));
    return widest;
}

static double title_width(const cli_figure *f, const cli_picture *p)
{
    return fmax(cli_text_width(p->title, 1.25 * text_size(f)),
                cli_text_width(p->details, 0.95 * text_size(f)));
}

/* To fill the room in one direction, with squares left square. */
static void grow(cli_extent *shown, cli_extent room)
{
    const double times =
        fmin((double)room.width / shown->width, (double)room.height / shown->height);
    shown->width = (int)(shown->width * times);
    shown->height = (int)(shown->height * times);
}

const char *cli_figure_plan(cli_picture *p, cli_extent size, cli_figure *out)
{
    *out = (cli_figure){.unit = 1};
    if (size.given)
        out->unit = fmin(4, fmax(0.7, fmin(size.width / 1000.0, size.height / 750.0)));
    const double u = out->unit;
    const int left = (int)(label_width(out, p) + (EDGE + 2.6 * LETTER + TICK + 6) * u);
    const int right = (int)((p->curve ? 2 * EDGE : BESIDE + BAR + TICK + SCALE_TEXT + EDGE) * u);
    const int top = (int)(HEAD * u), bottom = (int)(FOOT * u);
    cli_extent shown, room = {1, WIDE, HIGH};
    if (p->curve || (cli_picture_is_oblong(p) && p->cells.width > p->cells.height))
        room.height = LOW;
    else if (cli_picture_is_oblong(p))
        room.width = LOW;
    if (size.given)
        room = (cli_extent){1, size.width - left - right, size.height - top - bottom};
    if (room.width < SMALLEST_PLOT || room.height < SMALLEST_PLOT)
        return "--size: there is no room for axes and scale";
    cli_picture_fit(p, room, 1, &shown);
    if (p->curve || (size.given && cli_picture_is_oblong(p)))
        shown = room;
    else if (size.given)
        grow(&shown, room);
    shown.width = shown.width < SMALLEST_PLOT ? SMALLEST_PLOT : shown.width;
    shown.height = shown.height < SMALLEST_PLOT ? SMALLEST_PLOT : shown.height;
    const int wide = (int)fmax(left + shown.width + right, title_width(out, p) + 2 * EDGE * u);
    out->width = size.given ? size.width : wide;
    out->height = size.given ? size.height : top + shown.height + bottom;
    out->plot.left = left + (out->width - left - right - shown.width) / 2;
    out->plot.top = top + (out->height - top - bottom - shown.height) / 2;
    out->plot.right = out->plot.left + shown.width;
    out->plot.bottom = out->plot.top + shown.height;
    return NULL;
}

typedef struct drawing {
    const cli_figure *f;
    const cli_picture *p;
    cli_canvas *c;
} drawing;

static void say(const drawing *d, double x, double y, const char *text, cli_lettering how)
{
    how.size *= text_size(d->f);
    how.weight = how.weight > 0 ? how.weight : 1;
    cli_text_draw(d->c, x, y, text, &how);
}

static void line(const drawing *d, cli_line l, double thickness, cli_colour colour)
{
    cli_canvas_line(d->c, l, thickness);
    cli_canvas_end(d->c, colour);
}

static void outline(const drawing *d, cli_box b)
{
    const double t = fmax(1, round(d->f->unit)), h = t / 2;
    const double l = b.left - h, r = b.right + h, u = b.top - h, o = b.bottom + h;
    cli_canvas_line(d->c, (cli_line){l, u, r, u}, t);
    cli_canvas_line(d->c, (cli_line){r, u, r, o}, t);
    cli_canvas_line(d->c, (cli_line){r, o, l, o}, t);
    cli_canvas_line(d->c, (cli_line){l, o, l, u}, t);
    cli_canvas_end(d->c, frame);
}

static void draw_title(const drawing *d)
{
    const double size = text_size(d->f), width = d->f->width - EDGE * d->f->unit;
    double x = d->f->plot.left;
    x = fmax(EDGE * d->f->unit, fmin(x, width - title_width(d->f, d->p)));
    const double y = d->f->plot.top - 3.4 * size;
    say(d, x, y, d->p->title, (cli_lettering){.size = 1.25, .weight = 1.25, .colour = black});
    say(d, x, y + 1.9 * size, d->p->details, (cli_lettering){.size = 0.95, .colour = grey});
}

static void draw_cells(const drawing *d)
{
    const cli_cells *cells = &d->p->cells;
    const cli_box b = d->f->plot;
    const int64_t width = b.right - b.left, height = b.bottom - b.top;
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++) {
            const int64_t row = y * cells->rows / height, column = x * cells->columns / width;
            const double v = cells->value[row * cells->columns + column];
            const enum cli_kind kind = cli_scale_kind(&d->p->scale, v);
            d->c->pixel[(b.top + y) * d->c->width + b.left + x] =
                kind ? d->p->colours.kind[kind]
                     : cli_colours_at(&d->p->colours, cli_scale_place(&d->p->scale, v));
        }
}

static void draw_row_tick(const drawing *d, double y, const char *text)
{
    const double x = d->f->plot.left, u = d->f->unit;
    line(d, (cli_line){x - 1, y, x - TICK * u, y}, u, frame);
    say(d, x - (TICK + 5) * u, y + text_size(d->f) / 2, text,
        (cli_lettering){.size = 1, .align = 1, .colour = black});
}

/* Labels of columns must not touch. */
static int most_columns(const drawing *d)
{
    char text[CLI_TICK_TEXT];
    const cli_axis *a = &d->p->columns;
    const int64_t last = llabs(a->list ? 99999 : a->first + (a->size - 1) * a->step);
    snprintf(text, sizeof text, "%lld", (long long)(last > a->first ? last : a->first));
    const double each = cli_text_width(text, text_size(d->f)) + 3 * text_size(d->f);
    const int most = (int)((d->f->plot.right - d->f->plot.left) / each);
    return most < 1 ? 1 : most > 10 ? 10 : most;
}

static void draw_columns(const drawing *d)
{
    cli_ticks ticks;
    const cli_box b = d->f->plot;
    const double u = d->f->unit, size = text_size(d->f);
    cli_ticks_of_axis(&d->p->columns, most_columns(d), &ticks);
    for (int i = 0; i < ticks.count; i++) {
        const double x = b.left + ticks.at[i] * (b.right - b.left);
        line(d, (cli_line){x, b.bottom + 1, x, b.bottom + TICK * u}, u, frame);
        say(d, x, b.bottom + (TICK + 6) * u + size, ticks.text[i],
            (cli_lettering){.size = 1, .align = 0.5, .colour = black});
    }
    say(d, (b.left + b.right) / 2.0, b.bottom + (TICK + 14) * u + 2.2 * size, d->p->columns.name,
        (cli_lettering){.size = 1, .align = 0.5, .colour = black});
}

static int most_rows(const drawing *d, double height)
{
    const int most = (int)(height / (4 * text_size(d->f)));
    return most < 1 ? 1 : most > 10 ? 10 : most;
}

static void draw_rows(const drawing *d)
{
    cli_ticks ticks;
    const cli_box b = d->f->plot;
    cli_ticks_of_axis(&d->p->rows, most_rows(d, b.bottom - b.top), &ticks);
    for (int i = 0; i < ticks.count; i++)
        draw_row_tick(d, b.top + ticks.at[i] * (b.bottom - b.top), ticks.text[i]);
    const double x = b.left - label_width(d->f, d->p) - (TICK + 17) * d->f->unit;
    say(d, x, (b.top + b.bottom) / 2.0, d->p->rows.name,
        (cli_lettering){.size = 1, .align = 0.5, .upwards = 1, .colour = black});
}

/* 10 to some power, which ends or begins at x. */
static void draw_power(const drawing *d, double x, double y, const char *power, cli_lettering how)
{
    const double size = text_size(d->f);
    char base[8];
    snprintf(base, sizeof base, "%s10", how.weight > 1 ? "\303\227" : "");
    const double width = cli_text_width(base, size), small = cli_text_width(power, 0.7 * size);
    const double left = x - how.align * (width + small + 0.25 * size);
    say(d, left, y, base, (cli_lettering){.size = 1, .colour = black});
    say(d, left + width + 0.25 * size, y - 0.6 * size, power,
        (cli_lettering){.size = 0.7, .weight = 1.2, .colour = black});
}

static void draw_number(const drawing *d, double x, double y, const cli_ticks *t, int i,
                        double align)
{
    cli_lettering how = {.size = 1, .align = align, .colour = black};
    if (t->decades)
        draw_power(d, x, y, t->text[i], how);
    else {
        const double room = SCALE_TEXT * d->f->unit / cli_text_width(t->text[i], text_size(d->f));
        how.size = fmin(1, room); /* long ones become small */
        say(d, x, y, t->text[i], how);
    }
}

/* What all numbers are to be taken times. */
static void draw_exponent(const drawing *d, double x, double y, const cli_ticks *t, double align)
{
    char power[16];
    snprintf(power, sizeof power, "%d", t->exponent);
    if (t->exponent)
        draw_power(d, x, y, power, (cli_lettering){.weight = 2, .align = align});
}

/* That numbers go on beyond an end of the scale. */
static void draw_beyond(const drawing *d, cli_box bar, int up)
{
    const int half = (bar.right - bar.left) / 2;
    const cli_colour colour = d->p->colours.shade[up ? CLI_SHADES - 1 : 0];
    for (int i = 0; i < half; i++) {
        const int y = up ? bar.top - 2 - i : bar.bottom + 1 + i;
        cli_canvas_fill(d->c, (cli_box){bar.left + i, y, bar.right - i, y + 1}, colour);
    }
    const double y = up ? bar.top - 1 : bar.bottom + 1, tip = up ? y - half : y + half;
    const double middle = (bar.left + bar.right) / 2.0;
    cli_canvas_line(d->c, (cli_line){bar.left, y, middle, tip}, d->f->unit);
    cli_canvas_line(d->c, (cli_line){middle, tip, bar.right, y}, d->f->unit);
    cli_canvas_end(d->c, frame);
}

/* Kinds that have no place on the scale, from the bottom up; returns where they end. */
static int draw_legend(const drawing *d, cli_box bar)
{
    const int each = (int)(ENTRY * d->f->unit), side = bar.right - bar.left;
    int bottom = bar.bottom;
    for (int kind = CLI_KINDS - 1; kind > CLI_NUMBER; kind--) {
        if (!d->p->scale.seen[kind])
            continue;
        const cli_box b = {bar.left, bottom - side * 3 / 4, bar.right, bottom};
        cli_canvas_fill(d->c, b, d->p->colours.kind[kind]);
        outline(d, b);
        say(d, bar.right + (TICK + 5) * d->f->unit, (b.top + b.bottom) / 2.0 + text_size(d->f) / 2,
            cli_scale_name(&d->p->scale, (enum cli_kind)kind),
            (cli_lettering){.size = 1, .colour = black});
        bottom -= each;
    }
    return bottom;
}

static void draw_scale(const drawing *d)
{
    cli_ticks ticks;
    const double u = d->f->unit;
    const int left = d->f->plot.right + (int)(BESIDE * u), wide = (int)(BAR * u);
    cli_box bar = {left, d->f->plot.top, left + wide, d->f->plot.bottom};
    bar.bottom = draw_legend(d, bar);
    bar.bottom -= d->p->scale.below ? wide / 2 + 2 : 0;
    bar.top += d->p->scale.above ? wide / 2 + 2 : 0;
    const int height = bar.bottom - bar.top;
    for (int y = 0; y < height; y++)
        cli_canvas_fill(d->c, (cli_box){bar.left, bar.bottom - 1 - y, bar.right, bar.bottom - y},
                        cli_colours_at(&d->p->colours, (y + 0.5) / height));
    outline(d, bar);
    if (d->p->scale.above)
        draw_beyond(d, bar, 1);
    if (d->p->scale.below)
        draw_beyond(d, bar, 0);
    cli_ticks_of_scale(&d->p->scale, most_rows(d, height), &ticks);
    for (int i = 0; i < ticks.count; i++) {
        const double y = bar.bottom - cli_scale_place(&d->p->scale, ticks.at[i]) * height;
        line(d, (cli_line){bar.right + 1, y, bar.right + TICK * u, y}, u, frame);
        draw_number(d, bar.right + (TICK + 5) * u, y + text_size(d->f) / 2, &ticks, i, 0);
    }
    draw_exponent(d, bar.left, d->f->plot.top - 10 * u, &ticks, 0);
}

/* Numbers of a curve go upwards; its lines break where there are none. */
static double height_of(const drawing *d, double v)
{
    const cli_box b = d->f->plot;
    return b.bottom - 6 * d->f->unit -
           cli_scale_place(&d->p->scale, v) * (b.bottom - b.top - 12 * d->f->unit);
}

static double column_of(const drawing *d, int i)
{
    const cli_box b = d->f->plot;
    return b.left + (i + 0.5) / d->p->cells.columns * (b.right - b.left);
}

static void draw_gaps(const drawing *d)
{
    const cli_box b = d->f->plot;
    const cli_cells *cells = &d->p->cells;
    const double half = 0.5 / cells->columns * (b.right - b.left);
    for (int i = 0; i < cells->columns; i++) {
        const enum cli_kind kind = cli_scale_kind(&d->p->scale, cells->value[i]);
        const double x = column_of(d, i);
        if (kind)
            cli_canvas_fill(d->c, (cli_box){(int)(x - half), b.top, (int)ceil(x + half), b.bottom},
                            d->p->colours.kind[kind]);
    }
}

static void draw_curve(const drawing *d)
{
    cli_ticks ticks;
    const cli_box b = d->f->plot;
    const cli_cells *cells = &d->p->cells;
    cli_ticks_of_scale(&d->p->scale, most_rows(d, b.bottom - b.top), &ticks);
    for (int i = 0; i < ticks.count; i++) {
        const double y = height_of(d, ticks.at[i]), x = b.left, u = d->f->unit;
        line(d, (cli_line){b.left, y, b.right, y}, u, pale);
        line(d, (cli_line){x - 1, y, x - TICK * u, y}, u, frame);
        draw_number(d, x - (TICK + 5) * u, y + text_size(d->f) / 2, &ticks, i, 1);
    }
    draw_gaps(d);
    draw_exponent(d, b.left - (TICK + 5) * d->f->unit, b.top + text_size(d->f) / 2, &ticks, 1);
    for (int i = 0; i < cells->columns; i++) {
        const int before = i && !cli_scale_kind(&d->p->scale, cells->value[i - 1]) ? i - 1 : i;
        if (!cli_scale_kind(&d->p->scale, cells->value[i]))
            cli_canvas_line(d->c,
                            (cli_line){column_of(d, before), height_of(d, cells->value[before]),
                                       column_of(d, i), height_of(d, cells->value[i])},
                            1.6 * d->f->unit);
    }
    cli_canvas_end(d->c, blue);
}

/* In the corner above a curve, from the right. */
static void draw_curve_legend(const drawing *d)
{
    const double u = d->f->unit, size = text_size(d->f);
    double x = d->f->plot.right;
    for (int kind = CLI_KINDS - 1; kind > CLI_NUMBER; kind--) {
        const char *name = cli_scale_name(&d->p->scale, (enum cli_kind)kind);
        if (!d->p->scale.seen[kind])
            continue;
        x -= cli_text_width(name, size);
        const int y = d->f->plot.top - (int)(10 * u), left = (int)(x - 22 * u);
        say(d, x, y, name, (cli_lettering){.size = 1, .colour = black});
        const cli_box b = {left, y - (int)size, left + (int)(16 * u), y};
        cli_canvas_fill(d->c, b, d->p->colours.kind[kind]);
        outline(d, b);
        x -= 38 * u;
    }
}

void cli_figure_draw(const cli_figure *f, const cli_picture *p, cli_canvas *canvas)
{
    const drawing d = {f, p, canvas};
    if (p->curve) {
        draw_curve(&d);
        draw_curve_legend(&d);
    } else {
        draw_cells(&d);
        draw_rows(&d);
        draw_scale(&d);
    }
    draw_columns(&d);
    outline(&d, f->plot);
    draw_title(&d);
}
