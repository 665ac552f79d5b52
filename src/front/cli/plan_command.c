/* weir plan: explains what a collective access of an array would do. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "section_text.h"

typedef struct options {
    int dimensions, ranks, ranks_per_node, cores, write;
    int64_t shape[WEIR_MAX_DIMENSIONS], element;
    int order[WEIR_MAX_DIMENSIONS];
    const char *section, *svg, *hints;
} options;

/* "4096,4096" */
static const char *parse_shape(const char *text, options *o)
{
    o->dimensions = 0;
    for (const char *at = text; *at; at += *at == ',') {
        char *end;
        if (o->dimensions == WEIR_MAX_DIMENSIONS)
            return "--array has too many dimensions";
        o->shape[o->dimensions++] = strtoll(at, &end, 10);
        if (end == at || (*end && *end != ',') || o->shape[o->dimensions - 1] < 1)
            return "--array must be sizes such as 4096,4096";
        at = end;
    }
    return o->dimensions ? NULL : "--array must be sizes such as 4096,4096";
}

/* A kind and a number of bytes, such as f4. */
static const char *parse_dtype(const char *text, options *o)
{
    char *end;
    o->element = *text && strchr("iufcb", *text) ? strtoll(text + 1, &end, 10) : 0;
    return o->element >= 1 && o->element <= 16 && !*end
               ? NULL
               : "--dtype must be a kind and a size, such as f4 or i8";
}

static const char *parse_count(const char *text, int least, int *out)
{
    char *end;
    long value = strtol(text, &end, 10);
    *out = (int)value;
    return *text && !*end && value >= least && value <= 1000000 ? NULL : "a count is not valid";
}

static const char *parse_order(const char *text, options *o)
{
    bool columns = !strcmp(text, "F");
    if (!columns && strcmp(text, "C"))
        return "--order must be C or F";
    for (int i = 0; i < WEIR_MAX_DIMENSIONS; i++)
        o->order[i] = columns ? -1 - i : i; /* -1 - i: counted from the last, once that is known */
    return NULL;
}

static const char *parse_option(const char *name, const char *value, options *o)
{
    if (!strcmp(name, "--array"))
        return parse_shape(value, o);
    if (!strcmp(name, "--dtype"))
        return parse_dtype(value, o);
    if (!strcmp(name, "--order"))
        return parse_order(value, o);
    if (!strcmp(name, "--ranks"))
        return parse_count(value, 1, &o->ranks);
    if (!strcmp(name, "--ranks-per-node"))
        return parse_count(value, 1, &o->ranks_per_node);
    if (!strcmp(name, "--cores"))
        return parse_count(value, 1, &o->cores);
    if (!strcmp(name, "--op")) {
        o->write = !strcmp(value, "write");
        return o->write || !strcmp(value, "read") ? NULL : "--op must be read or write";
    }
    if (!strcmp(name, "--section"))
        o->section = value;
    else if (!strcmp(name, "--svg"))
        o->svg = value;
    else if (!strcmp(name, "--hints"))
        o->hints = value;
    else
        return "unknown option";
    return NULL;
}

static const char *parse_options(int argc, char **argv, options *o)
{
    static char text[120];
    *o = (options){.ranks = 1, .element = 8};
    parse_order("C", o);
    for (int i = 1; i < argc; i += 2) {
        const char *problem = "not an option";
        if (!strncmp(argv[i], "--", 2))
            problem = i + 1 < argc ? parse_option(argv[i], argv[i + 1], o) : "needs a value";
        if (problem) {
            snprintf(text, sizeof text, "%.40s: %s", argv[i], problem);
            return text;
        }
    }
    for (int i = 0; i < o->dimensions; i++)
        if (o->order[i] < 0)
            o->order[i] = o->dimensions + o->order[i];
    return o->dimensions && o->section ? NULL : "--array and --section are needed";
}

/* The pattern of one rank. */
static const char *make_pattern(const options *o, int rank, weir_pattern **out)
{
    cli_section s;
    const char *problem =
        cli_section_parse(o->section, o->dimensions, o->shape, rank, o->ranks, &s);
    if (problem)
        return problem;
    weir_section section = {.dimensions = o->dimensions,
                            .element = o->element,
                            .shape = o->shape,
                            .lo = s.lo,
                            .hi = s.hi,
                            .step = s.step,
                            .order = o->order};
    return weir_pattern_section(&section, out) ? weir_error_last()->text : NULL;
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
        bytes *= o->shape[o->order[i]];
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
                                 .file_size = slice_bytes(o) * o->shape[o->order[0]],
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
    .help = "what a collective access would do, and why",
    .details =
        "  --array SIZES     of the array, such as 4096,4096\n"
        "  --section TEXT    what each rank wants, see below\n"
        "  --dtype T         i1 to i8, u1 to u8, f4, f8, c8, c16 (f8)\n"
        "  --order C|F       stored by rows or by columns (C)\n"
        "  --ranks N         (1)    --ranks-per-node N (all)    --cores N of a node (its ranks)\n"
        "  --op read|write   (read)\n"
        "  --hints H         NAME=VALUE;..., see docs/tunables.md; WEIR_HINTS is stronger\n"
        "  --svg FILE        draws requests, realms and windows\n"
        "  A section has a range for each dimension. Without brackets as in the papers: from 1,\n"
        "  LOWER:UPPER:STRIDE with UPPER included, '1+32p:16+32p:1, 1:4096:1'. In brackets as in\n"
        "  NumPy: from 0, the end not included, '[32p:32p+16, :]'. p is the rank, P the number of\n"
        "  ranks; terms are added and subtracted: 200, p, 2p, 250p+250.\n",
    .run = run};
