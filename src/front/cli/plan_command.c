/* weir plan: explains what an access of an array would do. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "new_file.h"
#include "options.h"
#include "section_text.h"

typedef struct options {
    int ranks, ranks_per_node, cores, write, type, columns, alone, form;
    cli_sizes array;
    const char *section, *svg, *hints;
    int dimensions, order[WEIR_MAX_DIMENSIONS]; /* these follow from the others */
    int64_t element;
} options;

static const char *parse_picture(const char *text, void *out)
{
    *(const char **)out = text;
    return cli_new_file_check(text, ".svg");
}

static const cli_option table[] = {
    {"--array", 0, "SIZES", offsetof(options, array), cli_parse_sizes,
     "of the array, such as 4096,4096; must be given", NULL},
    {"--section", 0, "TEXT", offsetof(options, section), cli_parse_text,
     "what each rank wants, see below; must be given", NULL},
    CLI_OPTION_TYPE(offsetof(options, type), "f8"),
    CLI_OPTION_ORDER(offsetof(options, columns), "C"),
    {"--ranks", 0, "COUNT", offsetof(options, ranks), cli_parse_count, "how many there are", "1"},
    {"--ranks-per-node", 0, "COUNT", offsetof(options, ranks_per_node), cli_parse_count,
     "how many of them are on a node", "all"},
    {"--cores", 0, "COUNT", offsetof(options, cores), cli_parse_count, "of a node", "its ranks"},
    {"--op", 0, "read|write", offsetof(options, write), NULL, "what they do", "read"},
    {"--alone", 0, NULL, offsetof(options, alone), NULL, "each rank for itself, not all together",
     NULL},
    {"--form", 0, "blocking|split|nonblocking", offsetof(options, form), NULL,
     "how the call is made", "blocking"},
    CLI_OPTION_HINTS(offsetof(options, hints)),
    {"--svg", 0, "FILE", offsetof(options, svg), parse_picture,
     "a picture of requests, realms and windows" CLI_REPLACES, NULL},
    {0}};

static const char *parse_options(int argc, char **argv, options *o)
{
    int arguments;
    *o = (options){.ranks = 1, .type = WEIR_F8};
    const char *problem = cli_options_parse(argc, argv, table, o, &arguments);
    if (problem || arguments)
        return problem ? problem : "takes options only";
    if (o->array.given && !o->array.count)
        return "--array: an array of no dimensions has one element, so there is nothing to plan";
    o->dimensions = o->array.count;
    for (int i = 0; i < o->dimensions; i++) {
        if (o->array.size[i] < 1)
            return "--array must be sizes of 1 or more";
        o->order[i] = o->columns ? o->dimensions - 1 - i : i;
    }
    o->element = weir_type_bytes(o->type);
    return o->dimensions && o->section ? NULL : "--array and --section are needed";
}

/* The pattern of one rank. */
static const char *make_pattern(const options *o, int rank, weir_pattern **out)
{
    cli_section s;
    const char *problem =
        cli_section_parse(o->section, o->dimensions, o->array.size, rank, o->ranks, &s);
    if (problem)
        return problem;
    const weir_shape array = {.dimensions = o->dimensions,
                              .element = o->element,
                              .size = o->array.size,
                              .order = o->order};
    const weir_selection selection = {.lo = s.lo, .hi = s.hi, .step = s.step};
    return weir_pattern_section(&array, &selection, NULL, out) ? weir_error_last()->text : NULL;
}

typedef int64_t form(const weir_plan *plan, char *text, size_t size);

static int print_plan(const weir_plan *plan, form *make, FILE *out)
{
    const int64_t length = make(plan, NULL, 0);
    char *text = length < 0 ? NULL : malloc((size_t)length + 1);
    int code = length < 0 ? (int)length : text ? 0 : WEIR_ENOMEM;
    if (text && make(plan, text, (size_t)length + 1) >= 0)
        fputs(text, out);
    free(text);
    return code;
}

static int draw(void *user, FILE *out, const char *made)
{
    (void)made;
    return out ? print_plan(user, weir_plan_svg, out) : 0;
}

/* A slice of the slowest dimension. */
static int64_t slice_bytes(const options *o)
{
    int64_t bytes = o->element;
    for (int i = 1; i < o->dimensions; i++)
        bytes *= o->array.size[o->order[i]];
    return bytes;
}

static int explain(const options *o, weir_pattern **patterns)
{
    weir_plan *plan;
    weir_plan_request request = {.ranks = o->ranks,
                                 .ranks_per_node = o->ranks_per_node,
                                 .cores = o->cores,
                                 .patterns = (const weir_pattern *const *)patterns,
                                 .write = o->write,
                                 .alone = o->alone,
                                 .form = o->form,
                                 .file_size = slice_bytes(o) * o->array.size[o->order[0]],
                                 .unit = slice_bytes(o),
                                 .hints = o->hints};
    if (weir_plan_new(&request, &plan))
        return cli_report("plan");
    const bool alone = o->svg && !strcmp(o->svg, "-"); /* the picture, on standard output */
    int code = cli_rank() == 0 && !alone ? print_plan(plan, weir_plan_print, stdout) : 0;
    int status = cli_settle("plan", code);
    if (!status && o->svg)
        status = cli_new_file_write("plan", o->svg, "<svg", draw, plan);
    weir_plan_free(plan);
    return status;
}

static int run(int argc, char **argv)
{
    options o;
    const char *problem = parse_options(argc, argv, &o);
    if (problem)
        return cli_usage(argv[0], problem);
    weir_pattern **patterns = calloc((size_t)o.ranks, sizeof(weir_pattern *));
    int status = CLI_FAILED;
    for (int i = 0; patterns && i < o.ranks && !problem; i++)
        problem = make_pattern(&o, i, &patterns[i]);
    if (problem)
        status = cli_usage(argv[0], problem);
    else if (patterns)
        status = explain(&o, patterns);
    for (int i = 0; patterns && i < o.ranks; i++)
        weir_pattern_free(patterns[i]);
    free(patterns);
    return status;
}

const cli_command cli_plan = {
    .name = "plan",
    .group = CLI_TUNE,
    .arguments = "--array SIZES --section TEXT",
    .help = "what an access would do, and why",
    .about =
        "A section has ranges. Without brackets as in the papers: one for each dimension, from 1, "
        "LOWER:UPPER:STRIDE with UPPER included, '1+32p:16+32p:1, 1:4096:1'. In brackets as in "
        "NumPy: from 0, the end not included, '[32p:32p+16]'; dimensions not given are whole, and "
        "those that \"...\" stands for. p is the rank, P the number of ranks; terms are added and "
        "subtracted: 200, p, 2p, 250p+250.",
    .options = table,
    .example = {"weir plan --array 4096,4096 --ranks 4 --section '[:, 1024p:1024p+1024]'",
                "weir plan --array 64,4,256 --ranks 4 --section '[:, :, 64p:64p+64]' --op write "
                "--svg plan.svg"},
    .run = run};
