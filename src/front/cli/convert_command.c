/* weir convert: an array in another form, order or type. */
#include "command.h"
#include "target.h"

typedef struct options {
    int type, columns;
    cli_target target;
} options;

static const cli_option table[] = {{"--dtype", offsetof(options, type), cli_parse_type},
                                   {"--order", offsetof(options, columns), cli_parse_columns},
                                   CLI_TARGET_FILE(offsetof(options, target)),
                                   CLI_TARGET_SET(offsetof(options, target)),
                                   {0}};

static int convert(const char *command, weir_array *from, const char *path, const options *o)
{
    weir_array *to;
    weir_array_info info = *weir_array_get_info(from);
    info.type = o->type ? o->type : info.type;
    info.columns = o->columns < 0 ? info.columns : o->columns;
    const char *problem = cli_target_deal(&o->target, &info);
    if (problem)
        return cli_usage(command, problem);
    int status = cli_target_create(command, &o->target, path, &info, NULL, &to);
    if (status)
        return status;
    return cli_target_finish(command, to, weir_array_copy(from, to, o->target.memory));
}

static int run(int argc, char **argv)
{
    int arguments;
    options o = {.columns = -1};
    weir_array *from;
    const char *problem = cli_options_parse(argc, argv, table, &o, &arguments);
    if (problem || arguments != 2)
        return cli_usage(argv[0], problem ? problem : "takes two arrays, old and new");
    int code = weir_array_open(MPI_COMM_WORLD, argv[1], WEIR_READ, o.target.hints, &from);
    int status = cli_settle(argv[0], code);
    if (status)
        return status;
    status = convert(argv[0], from, argv[2], &o);
    weir_array_close(from);
    return status;
}

const cli_command cli_convert = {
    .name = "convert",
    .arguments = "OLD NEW",
    .help = "copies an array into another form, order or type",
    .details =
        "  --order C|F, --dtype T, (those of OLD); complex only to complex, f2 only to f2\n"
        "  --grid SIZES      a set of local arrays instead of a .npy file\n"
        "  --block SIZES, --disks A:B, --overwrite, --memory SIZE, --hints H, as for create\n"
        "  Beyond what integers can hold numbers become the nearest they can; fractions are\n"
        "  cut off; bool is whether not 0.\n",
    .run = run};
