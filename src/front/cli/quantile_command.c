/* weir quantile: below which number so much of all elements lies, exactly. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "float_text.h"
#include "operator.h"

enum { MOST = 128 };

typedef struct wanted {
    int count;
    double p[MOST];
} wanted;

typedef struct options {
    wanted wanted;
    int skip_nans;
    double value[MOST];
    weir_quantiles found;
    cli_operator_options how;
} options;

static const char *parse_quantiles(const char *text, void *out)
{
    wanted *w = out;
    char *end;
    for (w->count = 0;; text = end + 1) {
        if (w->count == MOST)
            return "has more than 128 quantiles";
        const double p = strtod(text, &end);
        if (end == text || (*end && *end != ',') || !(p >= 0 && p <= 1))
            return "must be numbers from 0 to 1, such as 0.5,0.9";
        w->p[w->count++] = p;
        if (!*end)
            return NULL;
    }
}

static const cli_option table[] = {
    {"--quantiles", 'p', "P,...", offsetof(options, wanted), parse_quantiles,
     "from 0, the least element, to 1, the largest", "0,0.25,0.5,0.75,1"},
    {"--skip-nans", 0, NULL, offsetof(options, skip_nans), NULL,
     "elements that are not a number do not count", "if there is one, no quantile is a number"},
    CLI_OPERATOR(offsetof(options, how)),
    {0}};

static int apply(void *user, cli_operands *a, const weir_work *work)
{
    options *o = user;
    o->found = (weir_quantiles){.quantiles = o->wanted.count,
                                .p = o->wanted.p,
                                .skip_nans = o->skip_nans,
                                .value = o->value};
    return weir_array_quantiles(a->in[0], a->of[0], &o->found, work);
}

static void print_text(const options *o)
{
    char text[CLI_FLOAT];
    for (int i = 0; i < o->wanted.count; i++) {
        cli_float_print(WEIR_F8, o->value[i], text);
        printf("%-6g %s\n", o->wanted.p[i], text);
    }
    if (o->found.nans)
        printf("%-6s %lld\n", "NaN", (long long)o->found.nans);
}

static void print_json(const options *o)
{
    for (int i = 0; i < o->wanted.count; i++)
        printf("%s%.17g", i ? ", " : ", \"p\": [", o->wanted.p[i]);
    for (int i = 0; i < o->wanted.count; i++)
        if (isfinite(o->value[i]))
            printf("%s%.17g", i ? ", " : "], \"value\": [", o->value[i]);
        else
            printf("%snull", i ? ", " : "], \"value\": [");
    printf("], \"count\": %lld, \"nans\": %lld, \"passes\": %d", (long long)o->found.count,
           (long long)o->found.nans, o->found.passes);
}

static void print(const void *user, int json)
{
    (json ? print_json : print_text)(user);
}

static int run(int argc, char **argv)
{
    static const cli_operator op = {.inputs = 1, .sections = 1, .apply = apply, .print = print};
    int arguments;
    options o = {.wanted = {5, {0, 0.25, 0.5, 0.75, 1}}};
    const char *problem = cli_options_parse(argc, argv, table, &o, &arguments);
    if (problem || arguments != 1)
        return cli_usage(argv[0], problem ? problem : "takes one array, or a section of it");
    return cli_operator_run(&op, argv, &o.how, &o);
}

const cli_command cli_quantile = {
    .name = "quantile",
    .group = CLI_LOOK,
    .arguments = "'ARRAY[...]'",
    .help = "median and other quantiles, exactly",
    .about = "Interpolates as numpy.quantile does, in f8. Reads everything twice as a rule: once "
             "if elements have up to 16 bits, and more often where half of --memory does not hold "
             "what is near the quantiles; --json says how often. For any type but complex.",
    .options = table,
    .example = {"weir quantile a.npy", "weir quantile 'a.npy[:, 0]' -p 0.5,0.9,0.99 --json"},
    .run = run};
