/* weir convert and weir copy: an array in another form, order or type, or in the same. */
#include "command.h"
#include "operator.h"

typedef struct options {
    int copy; /* the form stays */
    int type, columns, dimensions;
    cli_operator_options how;
} options;

enum { TARGET = offsetof(options, how) + offsetof(cli_operator_options, target) };

static const cli_option table[] = {
    CLI_OPTION_TYPE(offsetof(options, type), "that of OLD"),
    CLI_OPTION_ORDER(offsetof(options, columns), "that of OLD, but C in NetCDF and HDF5"),
    CLI_OPERATOR_MAKING(offsetof(options, how)),
    CLI_TARGET_SET(TARGET),
    {0}};

static const char *describe(void *user, const weir_array_info *const *in, weir_array_info *out)
{
    options *o = user;
    const cli_target *target = &o->how.target;
    out->type = o->type ? o->type : out->type;
    out->columns = o->columns < 0 ? out->columns : o->columns;
    o->dimensions = out->dimensions;
    out->tile = in[0]->tile; /* as far as the new one can have them */
    out->shard = in[0]->shard;
    out->codec = in[0]->codec;
    const char *problem = cli_target_deal(target, out);
    if (!problem && o->copy && !target->grid.given) {
        out->members = in[0]->members;
        out->distribution = in[0]->distribution;
    }
    return problem;
}

/* Unlike weir_array_copy this can tell what it would take and how far it is. */
static int apply(void *user, cli_operands *a, const weir_work *work)
{
    const options *o = user;
    int axes[WEIR_MAX_DIMENSIONS];
    for (int d = 0; d < o->dimensions; d++)
        axes[d] = d;
    return weir_array_transpose(a->in[0], a->out[0], axes, work);
}

static int run_as(int argc, char **argv, int copy)
{
    static const cli_operator op = {
        .inputs = 1, .outputs = 1, .same = 1, .describe = describe, .apply = apply};
    int arguments;
    options o = {.copy = copy, .columns = -1};
    const char *problem = cli_options_parse(argc, argv, table, &o, &arguments);
    if (problem || arguments != 2)
        return cli_usage(argv[0], problem ? problem : "takes two arrays, old and new");
    return cli_operator_run(&op, argv, &o.how, &o);
}

static int run_convert(int argc, char **argv)
{
    return run_as(argc, argv, 0);
}

static int run_copy(int argc, char **argv)
{
    return run_as(argc, argv, 1);
}

const cli_command cli_convert = {
    .name = "convert",
    .group = CLI_MAKE,
    .arguments = "OLD NEW",
    .help = "copies an array into another form, order or type",
    .about =
        "Attributes and names of dimensions are kept where NEW can have them: NetCDF, Zarr, HDF5; "
        "chunks, shards and codec are those of OLD if NEW has the same format, unless told. "
        "Complex converts to complex only, f2 to f2 only. Beyond what integers can hold numbers "
        "become the nearest they can, and NaN 0; fractions are cut off; bool is whether not 0.",
    .options = table,
    .example = {"weir convert a.npy a.zarr --codec zstd:3",
                "mpirun -n 2 weir convert a.npy a.h5:/data --dtype f4"},
    .run = run_convert};

const cli_command cli_copy = {
    .name = "copy",
    .group = CLI_MAKE,
    .arguments = "OLD NEW",
    .help = "copies an array, element by element; a set of local arrays stays one",
    .about = "As convert, but a set of local arrays stays one, in its own folder, unless --grid "
             "makes another. cp copies files as they are.",
    .options = table,
    .example = {"weir copy a.npy again.npy", "weir copy set again --grid 1,4"},
    .run = run_copy};
