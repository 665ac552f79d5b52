/* weir matmul: the product of two matrices. */
#include "command.h"
#include "operator.h"

typedef struct options {
    int layout;
    cli_operator_options how;
} options;

static const cli_option table[] = {
    {"--layout", 0, "panels|gaxpy", offsetof(options, layout), NULL,
     "panels: ranks compute blocks of C, which stay in memory while panels of A and B go by; "
     "gaxpy: blocks of A span rows, those of B columns, and a global sum",
     "panels"},
    CLI_OPERATOR_MAKING(offsetof(options, how)),
    {0}};

/* The library checks the rest; but what C is must be known to make it. */
static const char *describe(void *user, const weir_array_info *const *in, weir_array_info *out)
{
    (void)user;
    if (in[0]->dimensions != 2 || in[1]->dimensions != 2)
        return "takes matrices, arrays of two dimensions";
    out->shape[1] = in[1]->shape[1];
    return NULL;
}

static int apply(void *user, cli_operands *a, const weir_work *work)
{
    const options *o = user;
    return weir_array_multiply(a->in[0], a->in[1], a->out[0], o->layout, work);
}

static int run(int argc, char **argv)
{
    static const cli_operator op = {
        .inputs = 2, .outputs = 1, .describe = describe, .apply = apply};
    int arguments;
    options o = {.layout = WEIR_PANELS};
    const char *problem = cli_options_parse(argc, argv, table, &o, &arguments);
    if (problem || arguments != 3)
        return cli_usage(argv[0], problem ? problem : "takes three matrices, the last one new");
    return cli_operator_run(&op, argv, &o.how, &o);
}

const cli_command cli_matmul = {.name = "matmul",
                                .group = CLI_COMPUTE,
                                .arguments = "A B C",
                                .help = "C = A B, matrices of one type: f4, f8, c8, c16",
                                .about = "C has type and order of A.\n" CLI_OPERATOR_LEAVES,
                                .options = table,
                                .example = {"weir matmul a.npy b.npy c.npy",
                                            "mpirun -n 2 weir matmul a.npy b.npy d.npy --dry-run"},
                                .run = run};
