/* weir laplace: Jacobi iterations for Laplace's equation. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static const char *parse_halo(const char *text, void *out)
{
    int from_file = !strcmp(text, "file");
    *(int *)out = from_file;
    return from_file || !strcmp(text, "exchange") ? NULL : "must be exchange or file";
}

static const cli_option table[] = {{"--iterations", offsetof(options, iterations), cli_parse_count},
                                   {"--tolerance", offsetof(options, tolerance), parse_tolerance},
                                   {"--halo", offsetof(options, from_file), parse_halo},
                                   CLI_OPERATOR_MAKING(offsetof(options, how)),
                                   {0}};

/* Steps tell nothing where nobody knows how many there will be. */
static void tell(void *user, int64_t done, int64_t all)
{
    const options *o = user;
    o->work->progress(o->work->user, all ? done : o->relaxation.done, all);
}

static int apply(void *user, cli_operands *a, const weir_work *work)
{
    options *o = user;
    weir_work told = *work;
    o->work = work;
    if (work->progress) {
        told.progress = tell;
        told.user = o;
    }
    o->relaxation = (weir_relaxation){
        .iterations = o->iterations, .tolerance = o->tolerance, .exchange = !o->from_file};
    return weir_array_relax(a->in[0], a->out, &o->relaxation, &told, &a->last);
}

static int run(int argc, char **argv)
{
    static const cli_operator op = {.inputs = 1, .outputs = 2, .apply = apply};
    int arguments;
    options o = {0};
    const char *problem = cli_options_parse(argc, argv, table, &o, &arguments);
    if (problem || arguments != 2)
        return cli_usage(argv[0], problem ? problem : "takes two matrices, in and out");
    if (!o.iterations && o.tolerance <= 0)
        o.iterations = DEFAULT_ITERATIONS;
    int status = cli_operator_run(&op, argv, &o.how, &o);
    if (status || o.how.dry_run)
        return status;
    if (cli_rank() == 0)
        printf("iterations %d, residual %.17g\n", o.relaxation.done, o.relaxation.residual);
    return cli_flush(argv[0]);
}

const cli_command cli_laplace = {
    .name = "laplace",
    .arguments = "IN OUT",
    .help = "Jacobi iterations for Laplace's equation on a matrix of f4 or f8",
    .details =
        "  --iterations N    at most so many (100, or, with --tolerance, any number)\n"
        "  --tolerance T     ends when no element changes by more\n"
        "  --halo H          neighbours' rows come from their memory: exchange; or from the file:\n"
        "                    file (exchange)\n"
        "  --access A, --dry-run, --progress, --quiet, as for transpose; where only --tolerance\n"
        "                    is given, what --dry-run tells is for one iteration\n"
        "  --overwrite, --memory SIZE, --hints H, as for create\n"
        "  The outermost rows and columns are fixed. Prints the iterations made and the residual,\n"
        "  the largest change in the last of them. Until it ends there are two new arrays.\n",
    .run = run};
