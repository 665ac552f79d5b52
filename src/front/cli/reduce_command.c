/* weir reduce: a few numbers that tell of all elements. */
#include <math.h>
#include <stdio.h>

#include "command.h"
#include "operator.h"

typedef struct options {
    int json;
    weir_statistics found;
    cli_operator_options how;
} options;

static const cli_option table[] = {
    {"--json", offsetof(options, json), NULL}, CLI_OPERATOR(offsetof(options, how)), {0}};

static int apply(void *user, cli_operands *a, const weir_work *work)
{
    options *o = user;
    return weir_array_reduce(a->in[0], &o->found, work);
}

static void print_text(const weir_statistics *s)
{
    const char *const name[] = {"min", "max", "mean", "std"};
    const double value[] = {s->min, s->max, s->mean, s->deviation};
    for (int i = 0; i < 4; i++)
        if (s->count > s->nans)
            printf("%-6s %.17g\n", name[i], value[i]);
        else
            printf("%-6s none\n", name[i]);
    printf("%-6s %lld\n%-6s %lld\n", "NaN", (long long)s->nans, "count", (long long)s->count);
}

/* JSON has no infinite numbers. */
static void print_json(const weir_statistics *s)
{
    const char *const name[] = {"min", "max", "mean", "std"};
    const double value[] = {s->min, s->max, s->mean, s->deviation};
    putchar('{');
    for (int i = 0; i < 4; i++)
        if (s->count > s->nans && isfinite(value[i]))
            printf("\"%s\": %.17g, ", name[i], value[i]);
        else
            printf("\"%s\": null, ", name[i]);
    printf("\"nans\": %lld, \"count\": %lld}\n", (long long)s->nans, (long long)s->count);
}

static int run(int argc, char **argv)
{
    static const cli_operator op = {.inputs = 1, .apply = apply};
    int arguments;
    options o = {0};
    const char *problem = cli_options_parse(argc, argv, table, &o, &arguments);
    if (problem || arguments != 1)
        return cli_usage(argv[0], problem ? problem : "takes one array");
    int status = cli_operator_run(&op, argv, &o.how, &o);
    if (status || o.how.dry_run)
        return status;
    if (cli_rank() == 0)
        (o.json ? print_json : print_text)(&o.found);
    return cli_flush(argv[0]);
}

const cli_command cli_reduce = {
    .name = "reduce",
    .arguments = "ARRAY",
    .help = "minimum, maximum, mean, standard deviation, NaNs, elements",
    .details =
        "  --json            one object: min, max, mean, std, nans, count; null is what there is\n"
        "                    not, or what is not finite\n"
        "  --access A, --dry-run, --progress, --quiet, as for transpose\n"
        "  --memory SIZE, --hints H, as for create\n"
        "  For any type but complex. What is not a number counts as NaN only; std is that of the\n"
        "  population.\n",
    .run = run};
