/* weir plan: explains what an access of an array would do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "options.h"
#include "section_text.h"

typedef struct options {
    int ranks, ranks_per_node, cores, write, type, columns, alone, form;
    cli_sizes array;
    const char *section, *svg, *hints;
    int dimensions, order[WEIR_MAX_DIMENSIONS]; /* these follow from the others */
    int64_t element;
} options;

static const char *parse_op(const char *text, void *out)
{
    int write = !strcmp(text, "write");
    *(int *)out = write;
    return write || !strcmp(text, "read") ? NULL : "must be read or write";
}

static const char *parse_form(const char *text, void *out)
{
    static const char *const forms[] = {
        [WEIR_BLOCKING] = "blocking", [WEIR_SPLIT] = "split", [WEIR_NONBLOCKING] = "nonblocking"};
    for (int i = WEIR_BLOCKING; i <= WEIR_NONBLOCKING; i++)
        if (!strcmp(text, forms[i])) {
            *(int *)out = i;
            return NULL;
        }
    return "must be blocking, split or nonblocking";
}

static const cli_option table[] = {
    {"--array", offsetof(options, array), cli_parse_sizes},
    {"--section", offsetof(options, section), cli_parse_text},
    {"--dtype", offsetof(options, type), cli_parse_type},
    {"--order", offsetof(options, columns), cli_parse_columns},
    {"--ranks", offsetof(options, ranks), cli_parse_count},
    {"--ranks-per-node", offsetof(options, ranks_per_node), cli_parse_count},
    {"--cores", offsetof(options, cores), cli_parse_count},
    {"--op", offsetof(options, write), parse_op},
    {"--alone", offsetof(options, alone), NULL},
    {"--form", offsetof(options, form), parse_form},
    {"--hints", offsetof(options, hints), cli_parse_text},
    {"--svg", offsetof(options, svg), cli_parse_text},
    {0}};

static const char *parse_options(int argc, char **argv, options *o)
{
    int arguments;
    *o = (options){.ranks = 1, .type = WEIR_F8};
    const char *problem = cli_options_parse(argc, argv, table, o, &arguments);
    if (problem || arguments)
        return problem ? problem : "takes options only";
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

/* A plan's text or picture, printed or written to `path`. */
static int put(const weir_plan *plan, int64_t (*make)(const weir_plan *, char *, size_t),
               const char *path)
{
    int64_t length = make(plan, NULL, 0);
    char *text = length < 0 ? NULL : malloc((size_t)length + 1);
    FILE *f = path ? fopen(path, "w") : stdout;
    int status = 0;
    if (!text || !f || make(plan, text, (size_t)length + 1) < 0 || fputs(text, f) < 0 ||
        (path && fclose(f))) {
        fprintf(stderr, "weir plan: cannot write %s\n", path ? path : "the plan");
        status = CLI_FAILED;
    }
    free(text);
    return status;
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
    int status = put(plan, weir_plan_print, NULL);
    if (!status && o->svg)
        status = put(plan, weir_plan_svg, o->svg);
    weir_plan_free(plan);
    return status;
}

static int run(int argc, char **argv)
{
    options o;
    const char *problem = parse_options(argc, argv, &o);
    if (problem)
        return cli_usage(argv[0], problem);
    if (cli_rank() != 0)
        return 0;
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
    .arguments = "OPTIONS",
    .help = "what an access would do, and why",
    .details =
        "  --array SIZES     of the array, such as 4096,4096\n"
        "  --section TEXT    what each rank wants, see below\n"
        "  --dtype T         bool, i1 to i8, u1 to u8, f2, f4, f8, c8, c16 (f8)\n"
        "  --order C|F       stored by rows or by columns (C)\n"
        "  --ranks N         (1)    --ranks-per-node N (all)    --cores N of a node (its ranks)\n"
        "  --op read|write   (read)    --alone each rank for itself, not all together\n"
        "  --form F          blocking, split or nonblocking (blocking)\n"
        "  --hints H         NAME=VALUE;..., see docs/tunables.md; WEIR_HINTS is stronger\n"
        "  --svg FILE        draws requests, realms and windows\n"
        "  A section has ranges. Without brackets as in the papers: one for each dimension, from "
        "1,\n"
        "  LOWER:UPPER:STRIDE with UPPER included, '1+32p:16+32p:1, 1:4096:1'. In brackets as in\n"
        "  NumPy: from 0, the end not included, '[32p:32p+16]'; dimensions not given are whole, "
        "and\n"
        "  those that \"...\" stands for. p is the rank, P the number of ranks; terms are added "
        "and\n"
        "  subtracted: 200, p, 2p, 250p+250.\n",
    .run = run};
