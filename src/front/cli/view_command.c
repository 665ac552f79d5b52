/* weir view: a picture of an array, as a file or in the terminal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "command.h"
#include "figure.h"
#include "json_items.h"
#include "new_file.h"
#include "png_file.h"
#include "terminal_picture.h"

enum { DEFAULT_MEMORY = 64 << 20 };

typedef struct options {
    const char *output, *hints;
    cli_extent size;
    int reduce, colours, log;
    cli_pair range, percentile;
    int64_t memory;
    cli_manner manner;
} options;

static const char *parse_output(const char *text, void *out)
{
    *(const char **)out = text;
    if (!cli_png_is_built())
        return "this weir was built without libpng";
    return cli_new_file_check(text, ".png");
}

static const cli_option table[] = {
    {"--output", 'o', "FILE", offsetof(options, output), parse_output, "a .png file" CLI_REPLACES,
     "in the terminal"},
    {"--reduce", 0, "mean|min|max|nearest", offsetof(options, reduce), NULL,
     "what stands for elements that share a place: mean, least or greatest of all, or the one in "
     "the middle, and nothing else is read",
     "mean"},
    {"--colours", 0, "sequential|diverging|grey", offsetof(options, colours), NULL,
     "dark to light; two colours, which meet at 0 if values are on both sides of it; or shades "
     "of grey",
     "sequential"},
    {"--log", 0, NULL, offsetof(options, log), NULL, "a logarithmic scale", NULL},
    {"--range", 0, "LO,HI", offsetof(options, range), cli_parse_range,
     "numbers at the ends of the scale", "the least and the greatest shown"},
    {"--percentile", 0, "LO,HI", offsetof(options, percentile), cli_parse_percentile,
     "the same, as percentiles of what is shown, after --reduce", NULL},
    {"--size", 0, "WxH", offsetof(options, size), cli_parse_extent,
     "of the picture: pixels, or columns and lines", "about 1000 wide, or the terminal's"},
    CLI_OPTION_MEMORY(offsetof(options, memory)),
    CLI_OPTION_HINTS(offsetof(options, hints)),
    CLI_MANNER(offsetof(options, manner)),
    {0}};

/* The name of a dimension, without quotes and escapes; those that have none are numbered. */
static void set_name(const cli_source *s, int d, cli_axis *axis)
{
    const char *text = weir_array_names(s->array);
    cli_json_item item;
    snprintf(axis->name, sizeof axis->name, "dimension %d", d);
    for (int i = 0; cli_json_next(&text, &item); i++)
        if (i == d && *item.value == '"') {
            const int length = cli_json_cut(item.value + 1, item.length - 2, CLI_AXIS_TEXT - 1);
            snprintf(axis->name, sizeof axis->name, "%.*s", length, item.value + 1);
        }
}

static void set_axis(const cli_source *s, int d, cli_axis *axis)
{
    const cli_bracket *b = &s->bracket;
    *axis = (cli_axis){.size = b->count[d], .first = b->lo[d], .step = b->step[d]};
    axis->list = b->list && d == b->listed ? b->list : NULL;
    set_name(s, d, axis);
}

/* After the last slash of a name, unless that is the one of a dataset. */
static const char *short_name(const char *text)
{
    const char *end = text + strcspn(text, ":["), *name = text;
    for (const char *at = text; at < end; at++)
        if (*at == '/' && at + 1 < end)
            name = at + 1;
    return name;
}

static void set_texts(const char *text, const cli_source *s, const options *o, cli_picture *p)
{
    static const char *const words[] = {"mean", "least", "greatest", "one"};
    const int type = s->info->type;
    const cli_cells *c = &p->cells;
    const int64_t down = (c->height + c->rows - 1) / c->rows;
    const int64_t across = (c->width + c->columns - 1) / c->columns;
    char shape[80];
    snprintf(p->title, sizeof p->title, "%s", short_name(text));
    if (p->curve)
        snprintf(shape, sizeof shape, "%lld", (long long)c->width);
    else
        snprintf(shape, sizeof shape, "%lld \303\227 %lld", (long long)c->height,
                 (long long)c->width);
    int at = snprintf(p->details, sizeof p->details, "%s, %s%s%s", weir_type_name(type), shape,
                      type == WEIR_C8 || type == WEIR_C16 ? ", magnitude" : "",
                      o->log ? ", logarithmic" : "");
    if (down * across > 1 && p->curve)
        snprintf(p->details + at, sizeof p->details - (size_t)at, ", %s of each %lld",
                 words[o->reduce], (long long)across);
    else if (down * across > 1)
        snprintf(p->details + at, sizeof p->details - (size_t)at, ", %s of each %lld \303\227 %lld",
                 words[o->reduce], (long long)down, (long long)across);
}

/* NULL, or why there can be no picture. */
static const char *set_picture(const cli_source *s, const char *name, const options *o,
                               cli_picture *p)
{
    static char text[300];
    int kept[WEIR_MAX_DIMENSIONS], n = 0;
    for (int d = 0; d < s->info->dimensions; d++)
        if (!s->bracket.dropped[d])
            kept[n++] = d;
    if (n < 1 || n > 2) {
        const int length = (int)(cli_bracket_find(name) - name);
        snprintf(text, sizeof text, "%d dimensions, and a picture has 1 or 2%s%.*s%s", n,
                 n ? ": take a slice, such as '" : "", n ? length : 0, name, n ? "[" : "");
        for (int i = 0; n && i < s->info->dimensions - 2; i++)
            strncat(text, i ? ", 0" : "0", sizeof text - strlen(text) - 1);
        if (n)
            strncat(text, "]'", sizeof text - strlen(text) - 1);
        return text;
    }
    if (!s->elements)
        return "there is nothing to see: the section is empty";
    *p = (cli_picture){.curve = n == 1, .scale = {.log = o->log}};
    p->scale.symmetric = o->colours == CLI_DIVERGING && !o->log;
    p->cells.reduce = (enum cli_reduce)o->reduce;
    set_axis(s, kept[n - 1], &p->columns);
    p->rows.size = 1;
    if (n > 1)
        set_axis(s, kept[0], &p->rows);
    p->cells.rows = p->cells.columns = 1; /* until it is known how many fit */
    p->cells.height = p->rows.size;
    p->cells.width = p->columns.size;
    return NULL;
}

static int64_t bytes_read(const cli_source *s, const cli_cells *c)
{
    const int64_t shown = (int64_t)c->rows * c->columns;
    return (c->reduce == CLI_NEAREST ? shown : s->elements) * weir_type_bytes(s->info->type);
}

/* [collective] Reads cells; rank 0 fits scale and colours. */
static int fill(const cli_source *s, const options *o, cli_picture *p, cli_account *account)
{
    p->cells.tell = cli_account_progress(account, bytes_read(s, &p->cells));
    p->cells.user = &account->bar;
    int code = cli_cells_read(s, o->memory ? o->memory : DEFAULT_MEMORY, &p->cells);
    cli_account_quiet(account);
    if (code || cli_rank() != 0)
        return code;
    cli_colours_init(&p->colours, (enum cli_colour_map)o->colours);
    return cli_scale_fit(&p->scale, p->cells.value, (int64_t)p->cells.rows * p->cells.columns,
                         &o->range, &o->percentile);
}

typedef struct painting {
    const cli_source *source;
    const options *o;
    cli_picture *picture;
    cli_account *account;
    cli_figure figure;
} painting;

static int paint(void *user, FILE *out, const char *made)
{
    (void)made;
    const painting *all = user;
    cli_canvas canvas;
    int code = fill(all->source, all->o, all->picture, all->account);
    if (code || !out)
        return code;
    code = cli_canvas_init(&canvas, all->figure.width, all->figure.height);
    if (!code) {
        cli_figure_draw(&all->figure, all->picture, &canvas);
        code = cli_png_write(out, all->o->output, &canvas);
    }
    cli_canvas_release(&canvas);
    return code;
}

static int put_file(const char **argv, const cli_source *s, const options *o, cli_picture *p,
                    cli_account *account)
{
    painting all = {.source = s, .o = o, .picture = p, .account = account};
    set_texts(argv[1], s, o, p);
    const char *problem = cli_figure_plan(p, o->size, &all.figure);
    if (problem)
        return cli_usage(argv[0], problem);
    set_texts(argv[1], s, o, p);
    return cli_new_file_write(argv[0], o->output, CLI_PNG_BEGINS, paint, &all);
}

static int put_terminal(const char **argv, const cli_source *s, const options *o, cli_picture *p,
                        cli_account *account)
{
    cli_terminal_picture plan;
    int terminal[2];
    cli_terminal_plan(p, o->size, stdout, &plan);
    terminal[0] = p->cells.rows; /* rank 0's: others have no terminal */
    terminal[1] = p->cells.columns;
    MPI_Bcast(terminal, 2, MPI_INT, 0, MPI_COMM_WORLD);
    p->cells.rows = terminal[0];
    p->cells.columns = terminal[1];
    set_texts(argv[1], s, o, p);
    int status = cli_settle(argv[0], fill(s, o, p, account));
    if (!status && cli_rank() == 0)
        cli_terminal_draw(&plan, p);
    return status;
}

static int run(int argc, char **argv)
{
    int arguments;
    options o = {0};
    cli_source s;
    cli_picture p = {0};
    cli_account account;
    const char *problem = cli_options_parse(argc, argv, table, &o, &arguments);
    if (!problem && o.range.given && o.percentile.given)
        problem = "--range and --percentile exclude each other";
    if (!problem && o.log && o.range.given && o.range.lo <= 0)
        problem = "--range: begins above 0 with --log";
    if (!problem && o.manner.json && (!o.output || cli_new_file_is_output(o.output)))
        problem = "--json is for files (--output)";
    if (problem || arguments != 1)
        return cli_usage(argv[0], problem ? problem : "takes one array, or a section of it");
    cli_account_begin(&account, argv[0], &o.manner);
    /* mapped pages would look like memory beyond --memory: single elements touch all of a file's */
    int status = cli_source_open(argv[0], argv[1], o.hints ? o.hints : "map=0", &s);
    if (status)
        return status;
    problem = set_picture(&s, argv[1], &o, &p);
    status = problem
                 ? cli_usage_of(argv[0], argv[1], problem)
                 : (o.output ? put_file : put_terminal)((const char **)argv, &s, &o, &p, &account);
    cli_cells_release(&p.cells);
    cli_source_close(&s);
    if (!status)
        cli_account_end(&account, &(cli_outcome){.plan = ""});
    return status;
}

const cli_command cli_view = {
    .name = "view",
    .group = CLI_LOOK,
    .arguments = "'ARRAY[...]'",
    .help = "a picture of a section of one or two dimensions",
    .about =
        "Axes have indices of the array. A place of the picture stands for as many elements as its "
        "size makes necessary, all of which are read, by all ranks together, unless --reduce is "
        "nearest; it is not a number if one of them is not. Of complex numbers the magnitude is "
        "shown. A section of one dimension becomes a curve.\n"
        "In the terminal it has 24 bits of colour if COLORTERM is truecolor or 24bit, 256 colours "
        "if TERM says so, and otherwise, or with NO_COLOR, or not in a terminal, characters.",
    .options = table,
    .example = {"weir view 'cube.npy[0, ::4]' -o picture.png",
                "weir view a.npy --reduce nearest --percentile 2,98"},
    .run = run};
