/* weir transpose: an array with its dimensions in another order. */
#include "command.h"
#include "operator.h"

typedef struct options {
    cli_sizes given; /* as read */
    int axes[WEIR_MAX_DIMENSIONS];
    int type, columns;
    cli_operator_options how;
} options;

static const char *parse_axes(const char *text, void *out)
{
    return cli_parse_sizes(text, out) ? "must be dimensions such as 2,0,1" : NULL;
}

static const cli_option table[] = {
    {"--axes", 0, "SIZES", offsetof(options, given), parse_axes,
     "dimensions of IN as OUT has them, such as 2,0,1", "in reverse"},
    CLI_OPTION_TYPE(offsetof(options, type), "that of IN"),
    CLI_OPTION_ORDER(offsetof(options, columns), "that of IN, but C in NetCDF and HDF5"),
    CLI_OPERATOR_MAKING(offsetof(options, how)),
    {0}};

static const char *describe(void *user, const weir_array_info *const *in, weir_array_info *out)
{
    options *o = user;
    const int n = out->dimensions;
    unsigned seen = 0;
    if (o->given.given && o->given.count != n)
        return "--axes must name each dimension";
    for (int d = 0; d < n; d++) {
        int64_t axis = o->given.given ? o->given.size[d] : n - 1 - d;
        if (axis >= n || seen >> axis & 1)
            return "--axes must name each dimension once, the first as 0";
        seen |= 1U << axis;
        o->axes[d] = (int)axis;
        out->shape[d] = in[0]->shape[axis];
    }
    out->type = o->type ? o->type : out->type;
    out->columns = o->columns < 0 ? out->columns : o->columns;
    return NULL;
}

static int apply(void *user, cli_operands *a, const weir_work *work)
{
    const options *o = user;
    return weir_array_transpose(a->in[0], a->out[0], o->axes, work);
}

static int run(int argc, char **argv)
{
    static const cli_operator op = {
        .inputs = 1, .outputs = 1, .describe = describe, .apply = apply};
    int arguments;
    options o = {.columns = -1};
    const char *problem = cli_options_parse(argc, argv, table, &o, &arguments);
    if (problem || arguments != 2)
        return cli_usage(argv[0], problem ? problem : "takes two arrays, in and out");
    return cli_operator_run(&op, argv, &o.how, &o);
}

const cli_command cli_transpose = {
    .name = "transpose",
    .group = CLI_COMPUTE,
    .arguments = "IN OUT",
    .help = "an array with its dimensions in another order",
    .about = CLI_OPERATOR_LEAVES,
    .options = table,
    .example = {"weir transpose a.npy t.npy --memory 2M",
                "mpirun -n 2 weir transpose cube.npy c.npy --axes 2,0,1"},
    .run = run};
