/* A character is the upper half of its place, painted over the lower one, or, where there are no
 * colours, one that is as dark as its number is large. */
#include "terminal_picture.h"

#include <math.h>
#include <string.h>

enum { LEFT = 1, TITLES = 2, AXIS = 2, BELOW = 1, PROMPT = 1, BAR = 24 };

static const char shades[] = " .:-=+*#%@";
static const char kinds[CLI_KINDS] = {
    [CLI_NOT_A_NUMBER] = '?', [CLI_ABOVE_ALL] = '^', [CLI_BELOW_ALL] = 'v'};

/* The widest label of rows. */
static int label_width(const cli_picture *p)
{
    cli_ticks ticks;
    int widest = p->curve ? 9 : 0;
    if (!p->curve)
        cli_ticks_of_axis(&p->rows, 8, &ticks);
    for (int i = 0; !p->curve && i < ticks.count; i++)
        widest = (int)strlen(ticks.text[i]) > widest ? (int)strlen(ticks.text[i]) : widest;
    return widest;
}

void cli_terminal_plan(cli_picture *p, cli_extent size, FILE *out, cli_terminal_picture *plan)
{
    *plan = (cli_terminal_picture){.out = out, .paint = cli_terminal_paint(out), .columns = size};
    plan->halves = plan->paint && cli_terminal_utf8();
    if (!size.given)
        plan->columns = (cli_extent){1, cli_terminal_columns(out), cli_terminal_rows(out)};
    plan->margin = label_width(p) + LEFT + 1;
    const int lines = plan->columns.height - TITLES - AXIS - BELOW - PROMPT;
    const int columns = plan->columns.width - plan->margin - 1;
    const cli_extent room = {1, columns < 4 ? 4 : columns,
                             (lines < 2 ? 2 : lines) * (plan->halves ? 2 : 1)};
    cli_picture_fit(p, room, plan->halves ? 1 : 2, &plan->shown);
    if (p->curve)
        plan->shown = room;
}

/* The nearest of the 6 x 6 x 6 colours and of the greys that 256 colours have. */
static int near_colour(cli_colour c)
{
    const int part[] = {c.red, c.green, c.blue};
    int cube[3], far = 0, far_grey = 0;
    const int level = (c.red + c.green + c.blue) / 3;
    const int grey = level < 8 ? 0 : level > 238 ? 23 : (level - 8 + 5) / 10;
    for (int i = 0; i < 3; i++) {
        cube[i] = part[i] < 48 ? 0 : part[i] < 115 ? 1 : (part[i] - 35) / 40;
        const int shown = cube[i] ? 55 + 40 * cube[i] : 0;
        far += (part[i] - shown) * (part[i] - shown);
        far_grey += (part[i] - 8 - 10 * grey) * (part[i] - 8 - 10 * grey);
    }
    return far_grey < far ? 232 + grey : 16 + 36 * cube[0] + 6 * cube[1] + cube[2];
}

static void set_colour(const cli_terminal_picture *t, int ground, cli_colour c)
{
    if (t->paint == CLI_ALL_COLOURS)
        fprintf(t->out, "\033[%d;2;%d;%d;%dm", ground, c.red, c.green, c.blue);
    else
        fprintf(t->out, "\033[%d;5;%dm", ground, near_colour(c));
}

static cli_colour colour_of(const cli_picture *p, double v)
{
    const enum cli_kind kind = cli_scale_kind(&p->scale, v);
    return kind ? p->colours.kind[kind]
                : cli_colours_at(&p->colours, cli_scale_place(&p->scale, v));
}

static char letter_of(const cli_picture *p, double v)
{
    const int count = (int)sizeof shades - 1;
    const enum cli_kind kind = cli_scale_kind(&p->scale, v);
    const int shade = kind ? 0 : (int)(cli_scale_place(&p->scale, v) * count);
    return kind ? kinds[kind] : p->curve ? '*' : shades[shade < count ? shade : count - 1];
}

/* What is at a place; of a curve a number where it is, and blank elsewhere. */
static bool value_at(const cli_terminal_picture *t, const cli_picture *p, int x, int y, double *v)
{
    const cli_cells *cells = &p->cells;
    const int64_t column = (int64_t)x * cells->columns / t->shown.width;
    if (y >= t->shown.height)
        return false;
    if (!p->curve) {
        *v = cells->value[(int64_t)y * cells->rows / t->shown.height * cells->columns + column];
        return true;
    }
    const int last = t->shown.height - 1;
    *v = cells->value[column];
    if (cli_scale_kind(&p->scale, *v))
        return y == last;
    const double before = x ? cells->value[(int64_t)(x - 1) * cells->columns / t->shown.width] : *v;
    const int here = last - (int)lround(cli_scale_place(&p->scale, *v) * last);
    const int there = cli_scale_kind(&p->scale, before)
                          ? here
                          : last - (int)lround(cli_scale_place(&p->scale, before) * last);
    return y == here || (here < there ? y > here && y < there : y < here && y > there);
}

static void draw_place(const cli_terminal_picture *t, const cli_picture *p, int x, int y)
{
    double upper = 0, lower = 0;
    const bool is_upper = value_at(t, p, x, y, &upper);
    const bool is_lower = t->halves && value_at(t, p, x, y + 1, &lower);
    if (!t->paint) {
        fputc(is_upper ? letter_of(p, upper) : ' ', t->out);
        return;
    }
    if (p->curve)
        fputs("\033[0m", t->out);
    if (!t->halves) {
        if (is_upper)
            set_colour(t, 48, colour_of(p, upper));
        fputc(' ', t->out);
        return;
    }
    if (is_upper)
        set_colour(t, 38, colour_of(p, upper));
    if (is_lower)
        set_colour(t, is_upper ? 48 : 38, colour_of(p, lower));
    else if (!p->curve)
        fputs("\033[49m", t->out);
    fputs(is_upper ? "\342\226\200" : is_lower ? "\342\226\204" : " ", t->out);
}

/* Of rows their indices, of a curve its ends. */
static void set_labels(const cli_picture *p, int lines, cli_ticks *out)
{
    if (!p->curve) {
        cli_ticks_of_axis(&p->rows, lines / 3 > 1 ? lines / 3 : 1, out);
        return;
    }
    *out = (cli_ticks){.count = 2, .at = {0, 1}};
    snprintf(out->text[0], CLI_TICK_TEXT, "%.3g", p->scale.hi);
    snprintf(out->text[1], CLI_TICK_TEXT, "%.3g", p->scale.lo);
}

static void draw_lines(const cli_terminal_picture *t, const cli_picture *p)
{
    cli_ticks ticks;
    const int each = t->halves ? 2 : 1, lines = (t->shown.height + each - 1) / each;
    set_labels(p, lines, &ticks);
    for (int i = 0; i < lines; i++) {
        const char *label = "";
        for (int k = 0; k < ticks.count; k++) {
            const int line = (int)(ticks.at[k] * t->shown.height / each);
            if ((line < lines ? line : lines - 1) == i)
                label = ticks.text[k];
        }
        fprintf(t->out, "%*s ", t->margin - 1, label);
        for (int x = 0; x < t->shown.width; x++)
            draw_place(t, p, x, i * each);
        fputs(t->paint ? "\033[0m\n" : "\n", t->out);
    }
}

/* Each label begins below its index, unless the one before is in its way. */
static void draw_columns(const cli_terminal_picture *t, const cli_picture *p)
{
    cli_ticks ticks;
    char line[2 * CLI_PICTURE_TEXT];
    const int room =
        t->columns.width - 1 < (int)sizeof line ? t->columns.width - 1 : (int)sizeof line - 1;
    int end = 0, most = t->shown.width / 8;
    memset(line, ' ', sizeof line);
    cli_ticks_of_axis(&p->columns, most < 1 ? 1 : most > 10 ? 10 : most, &ticks);
    for (int k = 0; k < ticks.count; k++) {
        const bool back = ticks.at[0] > ticks.at[ticks.count - 1];
        const int i = back ? ticks.count - 1 - k : k, length = (int)strlen(ticks.text[i]);
        const int at = t->margin + (int)(ticks.at[i] * t->shown.width);
        if (at < end + (end > 0) || at + length > room)
            continue;
        memcpy(line + at, ticks.text[i], (size_t)length);
        end = at + length;
    }
    line[end] = 0;
    fprintf(t->out, "%s\n", line);
}

/* From the least number to the greatest, and what is not on the scale. */
static void draw_scale(const cli_terminal_picture *t, const cli_picture *p)
{
    char lo[32], hi[32];
    snprintf(lo, sizeof lo, "%.4g", p->scale.lo);
    snprintf(hi, sizeof hi, "%.4g", p->scale.hi);
    int bar = t->columns.width - (int)(strlen(lo) + strlen(hi)) - 3;
    for (int k = CLI_NUMBER + 1; k < CLI_KINDS; k++)
        bar -= p->scale.seen[k] ? 4 + (int)strlen(cli_scale_name(&p->scale, (enum cli_kind)k)) : 0;
    bar = bar > BAR ? BAR : bar < 4 ? 0 : bar;
    fprintf(t->out, "%s ", lo);
    for (int i = 0; i < bar && !p->curve; i++) {
        const double place = (i + 0.5) / bar;
        if (t->paint)
            set_colour(t, 48, cli_colours_at(&p->colours, place));
        fputc(t->paint ? ' ' : shades[(int)(place * (double)(sizeof shades - 1))], t->out);
    }
    fprintf(t->out, "%s%s%s", t->paint ? "\033[0m" : "", p->curve ? "to " : " ", hi);
    for (int k = CLI_NUMBER + 1; k < CLI_KINDS; k++) {
        if (!p->scale.seen[k])
            continue;
        fputs("  ", t->out);
        if (t->paint)
            set_colour(t, 48, p->colours.kind[k]);
        fprintf(t->out, "%c%s %s", t->paint ? ' ' : kinds[k], t->paint ? "\033[0m" : "",
                cli_scale_name(&p->scale, (enum cli_kind)k));
    }
    fputc('\n', t->out);
}

/* The sign of multiplication, for those who cannot show it. */
static void make_plain(char *text)
{
    for (char *at; (at = strstr(text, "\303\227"));) {
        *at = 'x';
        memmove(at + 1, at + 2, strlen(at + 2) + 1);
    }
}

void cli_terminal_draw(const cli_terminal_picture *t, const cli_picture *p)
{
    char text[2 * CLI_PICTURE_TEXT + 4];
    snprintf(text, sizeof text, "%s: %s", p->title, p->details);
    if (!cli_terminal_utf8())
        make_plain(text);
    cli_print_wrapped(t->out, text, 0, t->columns.width);
    draw_lines(t, p);
    draw_columns(t, p);
    draw_scale(t, p);
}
