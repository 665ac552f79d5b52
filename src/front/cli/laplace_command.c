/* weir laplace: Jacobi iterations for Laplace's equation. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "operator.h"

enum { DEFAULT_ITERATIONS = 100 };

typedef struct options {
    int iterations, from_file;
    double tolerance;
    weir_relaxation relaxation;
    const weir_work *work;
    cli_operator_options how;
} options;

static const char *parse_tolerance(const char *text, void *out)
{
    char *end;
    double value = strtod(text, &end);
    *(double *)out = value;
    return !isspace((unsigned char)*text) && !*end && isfinite(value) && value > 0
               ? NULL
               : "must be a number above 0";
}

static const cli_option table[] = {
    {"--iterations", 0, "COUNT", offsetof(options, iterations), cli_parse_count, "at most so many",
     "100, or, with --tolerance, any number"},
    {"--tolerance", 0, "NUMBER", offsetof(options, tolerance), parse_tolerance,
     "ends when no element changes by more", NULL},
    {"--halo", 0, "exchange|file", offsetof(options, from_file), NULL,
     "neighbours' rows come from their memory, or from the file", "exchange"},
    CLI_OPERATOR_MAKING(offsetof(options, how)),
    {0}};

/* Steps tell nothing where nobody knows how many there will be. */
static void tell(void *user, int64_t done, int64_t all)
{
    const options *o = user;
    o->work->progress(o->work->user, all ? done : o->relaxation.done, all);
}

static int stop(void *user)
{
    const options *o = user;
    return o->work->stop(o->work->user);
}

static int apply(void *user, cli_operands *a, const weir_work *work)
{
    options *o = user;
    weir_work told = *work;
    o->work = work;
    told.progress = work->progress ? tell : NULL;
    told.stop = work->stop ? stop : NULL;
    told.user = o;
    /* A dry run tells of one iteration, where nobody knows how many there will be. */
    const int one = o->how.dry_run && !o->iterations;
    o->relaxation = (weir_relaxation){.iterations = one ? 1 : o->iterations,
                                      .tolerance = o->tolerance,
                                      .exchange = !o->from_file};
    return weir_array_relax(a->in[0], a->out, &o->relaxation, &told, &a->last);
}

static void print(const void *user, int json)
{
    const weir_relaxation *r = &((const options *)user)->relaxation;
    if (!json)
        printf("iterations %d, residual %.17g\n", r->done, r->residual);
    else if (isfinite(r->residual))
        printf(", \"iterations\": %d, \"residual\": %.17g", r->done, r->residual);
    else
        printf(", \"iterations\": %d, \"residual\": null", r->done);
}

static int run(int argc, char **argv)
{
    static const cli_operator op = {.inputs = 1, .outputs = 2, .apply = apply, .print = print};
    int arguments;
    options o = {0};
    const char *problem = cli_options_parse(argc, argv, table, &o, &arguments);
    if (problem || arguments != 2)
        return cli_usage(argv[0], problem ? problem : "takes two matrices, in and out");
    if (!o.iterations && o.tolerance <= 0)
        o.iterations = DEFAULT_ITERATIONS;
    return cli_operator_run(&op, argv, &o.how, &o);
}

const cli_command cli_laplace = {
    .name = "laplace",
    .group = CLI_COMPUTE,
    .arguments = "IN OUT",
    .help = "Jacobi iterations for Laplace's equation on a matrix of f4 or f8",
    .about =
        "The outermost rows and columns are fixed. Prints the iterations made and the residual, "
        "the largest change in the last of them. Until it ends there are two new arrays. Where "
        "only --tolerance is given, what --dry-run tells is for one "
        "iteration.\n" CLI_OPERATOR_LEAVES,
    .options = table,
    .example = {"weir laplace a.npy l.npy --iterations 20",
                "mpirun -n 2 weir laplace a.npy m.npy --tolerance 0.01 --halo file"},
    .run = run};
