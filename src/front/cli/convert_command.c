/* weir convert and weir copy: an array in another form, order or type, or in the same. */
#include "command.h"
#include "operator.h"

typedef struct options {
    int copy; /* the form stays */
    int type, columns, dimensions;
    cli_operator_options how;
} options;

enum { TARGET = offsetof(options, how) + offsetof(cli_operator_options, target) };

static const cli_option table[] = {{"--dtype", offsetof(options, type), cli_parse_type},
                                   {"--order", offsetof(options, columns), cli_parse_columns},
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
    .arguments = "OLD NEW",
    .help = "copies an array into another form, order or type",
    .details =
        "  --order C|F, --dtype T, (those of OLD); complex only to complex, f2 only to f2\n"
        "  --grid SIZES      a set of local arrays instead of a .npy file\n"
        "  --access A, --dry-run, --progress, --quiet, as for transpose\n"
        "  --chunk SIZES, --shard SIZES, --codec C, --format F, as for create (those of OLD)\n"
        "  --block SIZES, --disks A:B, --overwrite, --memory SIZE, --hints H, as for create\n"
        "  Attributes and names of dimensions are kept where NEW can have them: NetCDF, Zarr, "
        "HDF5.\n"
        "  Beyond what integers can hold numbers become the nearest they can; fractions are\n"
        "  cut off; bool is whether not 0.\n",
    .run = run_convert};

const cli_command cli_copy = {
    .name = "copy",
    .arguments = "OLD NEW",
    .help = "copies an array",
    .details =
        "  As convert, but a set of local arrays stays one, in its own folder, unless --grid\n"
        "  makes another.\n",
    .run = run_copy};
