/* weir reduce: a few numbers that tell of all elements, or of those along dimensions. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "operator.h"

typedef struct options {
    cli_sizes axis; /* count is -1: all */
    int kind;       /* enum weir_reduction_kind; -1: not given */
    int type, skip_nans;
    const char *output;
    int dimensions, along[WEIR_MAX_DIMENSIONS];
    weir_statistics found;
    int found_in; /* type of elements */
    cli_operator_options how;
} options;

/* "0,-1", or all: count is -1. */
static const char *parse_axis(const char *text, void *out)
{
    cli_sizes *axes = out;
    *axes = (cli_sizes){.given = 1, .count = strcmp(text, "all") ? 0 : -1};
    for (const char *at = text; axes->count >= 0; at++) {
        char *end;
        const int64_t axis = strtoll(at, &end, 10);
        if (end == at || (*end && *end != ',') || axes->count == WEIR_MAX_DIMENSIONS)
            return "must be dimensions such as 0,2, or all";
        axes->size[axes->count++] = axis;
        at = end;
        if (!*at)
            break;
    }
    return NULL;
}

static const cli_option table[] = {
    {"--axis", 0, "DIMENSIONS", offsetof(options, axis), parse_axis,
     "these are reduced, numbered from 0, or -1 for the last, or all; makes an array of what is "
     "left",
     "numbers are printed"},
    {"--kind", 0, "sum|mean|min|max|std", offsetof(options, kind), NULL,
     "with --axis: what of the elements", "mean"},
    {"--output", 'o', "NEW", offsetof(options, output), cli_parse_text,
     "with --axis: the new array", NULL},
    CLI_OPTION_TYPE(offsetof(options, type), "with --axis: as in NumPy, see below"),
    {"--skip-nans", 0, NULL, offsetof(options, skip_nans), NULL,
     "with --axis: elements that are not a number do not count",
     "what becomes of them is not a number"},
    CLI_OPERATOR_MAKING(offsetof(options, how)),
    {0}};

static int apply(void *user, cli_operands *a, const weir_work *work)
{
    options *o = user;
    const cli_source *s = &a->source[0];
    o->found_in = s->info->type;
    const int whole =
        !s->bracket.list && s->elements * weir_type_bytes(s->info->type) == s->info->bytes;
    return whole ? weir_array_reduce(a->in[0], &o->found, work)
                 : weir_array_reduce_section(a->in[0], a->of[0], &o->found, work);
}

/* --- along dimensions --- */

/* Sums of integers are as wide as they can be, means and deviations floats, all else stays. */
static int type_of(int kind, int type)
{
    const int is_float = type >= WEIR_F2;
    if (kind == WEIR_MIN || kind == WEIR_MAX)
        return type;
    if (is_float)
        return type == WEIR_F2 ? WEIR_F4 : type;
    if (kind == WEIR_SUM)
        return type >= WEIR_U1 && type <= WEIR_U8 ? WEIR_U8 : WEIR_I8;
    return WEIR_F8;
}

static const char *describe(void *user, const weir_array_info *const *in, weir_array_info *out)
{
    options *o = user;
    int left = 0;
    for (int i = 0; i < o->axis.count; i++) {
        const int64_t given = o->axis.size[i], axis = given < 0 ? given + in[0]->dimensions : given;
        if (axis < 0 || axis >= in[0]->dimensions)
            return "--axis: the array has fewer dimensions";
        if (o->along[axis])
            return "--axis: a dimension comes twice";
        o->along[axis] = 1;
    }
    for (int d = 0; d < in[0]->dimensions; d++) {
        o->along[d] = o->along[d] || o->axis.count < 0;
        if (!o->along[d])
            out->shape[left++] = in[0]->shape[d];
    }
    out->dimensions = left;
    out->type = o->type ? o->type : type_of(o->kind, in[0]->type);
    return NULL;
}

static int apply_along(void *user, cli_operands *a, const weir_work *work)
{
    const options *o = user;
    const weir_reduction reduction = {
        .kind = o->kind, .along = o->along, .skip_nans = o->skip_nans};
    return weir_array_reduce_along(a->in[0], a->out[0], &reduction, work);
}

/* --- numbers --- */

enum { NUMBERS = 4, LONGEST = 40 };
typedef char number[LONGEST];

/* All but "none", "nan" or "inf" is a number in JSON, too. */
static void write_numbers(const options *o, number text[NUMBERS])
{
    const weir_statistics *s = &o->found;
    const double value[NUMBERS] = {s->min, s->max, s->mean, s->deviation};
    const int64_t exact[] = {s->exact_min, s->exact_max};
    for (int i = 0; i < NUMBERS; i++)
        if (s->count == s->nans)
            snprintf(text[i], LONGEST, "none");
        else if (i >= 2 || o->found_in >= WEIR_F2) /* printf tells the sign of what is no number */
            snprintf(text[i], LONGEST, "%.17g", isnan(value[i]) ? (double)NAN : value[i]);
        else if (o->found_in == WEIR_U8)
            snprintf(text[i], LONGEST, "%llu", (unsigned long long)exact[i]);
        else
            snprintf(text[i], LONGEST, "%lld", (long long)exact[i]);
}

static void print(const void *user, int json)
{
    static const char *const name[NUMBERS] = {"min", "max", "mean", "std"};
    const options *o = user;
    const long long nans = o->found.nans, count = o->found.count;
    number text[NUMBERS];
    write_numbers(o, text);
    for (int i = 0; i < NUMBERS; i++)
        if (json)
            printf(", \"%s\": %s", name[i], strchr(text[i], 'n') ? "null" : text[i]);
        else
            printf("%-6s %s\n", name[i], text[i]);
    if (json)
        printf(", \"nans\": %lld, \"count\": %lld", nans, count);
    else
        printf("%-6s %lld\n%-6s %lld\n", "NaN", nans, "count", count);
}

static const char *check(const options *o, int arguments, const char *array)
{
    if (arguments != 1)
        return "takes one array, or a section of it";
    if (o->axis.given && *cli_bracket_find(array))
        return "--axis takes a whole array; weir get --output makes one of a section";
    if (o->axis.given && !o->output)
        return "--axis needs --output, the new array";
    if (!o->axis.given &&
        (o->output || o->kind >= 0 || o->type || o->skip_nans || o->how.target.overwrite))
        return "--output, --overwrite, --kind, --dtype and --skip-nans need --axis";
    return NULL;
}

static int run(int argc, char **argv)
{
    static const cli_operator numbers = {
        .inputs = 1, .sections = 1, .apply = apply, .print = print};
    static const cli_operator along = {
        .inputs = 1, .outputs = 1, .describe = describe, .apply = apply_along};
    int arguments;
    options o = {.kind = -1};
    const char *problem = cli_options_parse(argc, argv, table, &o, &arguments);
    if (!problem)
        problem = check(&o, arguments, argv[1]);
    if (problem)
        return cli_usage(argv[0], problem);
    o.kind = o.kind < 0 ? WEIR_MEAN : o.kind;
    char *names[] = {argv[0], argv[1], (char *)o.output, NULL};
    return cli_operator_run(o.axis.given ? &along : &numbers, names, &o.how, &o);
}

const cli_command cli_reduce = {
    .name = "reduce",
    .group = CLI_LOOK,
    .arguments = "'ARRAY[...]'",
    .help = "minimum, maximum, mean, standard deviation; or sums and more along dimensions",
    .about =
        "For any type but complex. What is not a number counts as NaN only; std is that of "
        "the population. min and max of integers are exact, mean and std are f8. In JSON null is "
        "what there is not, or what is not finite.\n"
        "With --axis, of whole arrays: sums of integers are i8 or u8 and wrap there, mean and "
        "std of integers are f8, all else keeps its type, but f2 becomes f4. " CLI_OPERATOR_LEAVES,
    .options = table,
    .example = {"weir reduce 'a.npy[:, 0]'",
                "mpirun -n 2 weir reduce cube.npy --axis 0,2 --kind max -o max.npy"},
    .run = run};
