/* weir median: smoothing by medians of windows. */
#include "command.h"
#include "operator.h"

typedef struct options {
    int window;
    cli_operator_options how;
} options;

static const cli_option table[] = {
    {"--window", 0, "COUNT", offsetof(options, window), cli_parse_count,
     "rows and columns of a window, odd, up to 32767; edges are repeated", "3"},
    CLI_OPERATOR_MAKING(offsetof(options, how)),
    {0}};

static int apply(void *user, cli_operands *a, const weir_work *work)
{
    const options *o = user;
    return weir_array_median(a->in[0], a->out[0], o->window, work);
}

static int run(int argc, char **argv)
{
    static const cli_operator op = {.inputs = 1, .outputs = 1, .apply = apply};
    int arguments;
    options o = {.window = 3};
    const char *problem = cli_options_parse(argc, argv, table, &o, &arguments);
    if (problem || arguments != 2)
        return cli_usage(argv[0], problem ? problem : "takes two matrices, in and out");
    return cli_operator_run(&op, argv, &o.how, &o);
}

const cli_command cli_median = {
    .name = "median",
    .group = CLI_COMPUTE,
    .arguments = "IN OUT",
    .help = "each element becomes the median of the window around it",
    .about =
        "For matrices of any type but complex; OUT has type and order of IN.\n" CLI_OPERATOR_LEAVES,
    .options = table,
    .example = {"weir median a.npy m.npy --window 5", "mpirun -n 2 weir median a.npy n.npy"},
    .run = run};
