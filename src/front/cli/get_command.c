/* weir get: a section of an array, as text or as a new array. */
#include "command.h"
#include "source.h"
#include "target.h"

enum { DEFAULT_MEMORY = 64 << 20 };

typedef struct options {
    const char *output;
    cli_target target;
} options;

static const cli_option table[] = {{"-o", offsetof(options, output), cli_parse_text},
                                   CLI_TARGET_FILE(offsetof(options, target)),
                                   {0}};

static int copy_slabs(const cli_source *s, weir_array *to, int64_t memory)
{
    weir_slabs *slabs = NULL;
    weir_slab slab;
    weir_slabs_options how = {.outputs = 1, .output = &to, .memory = memory};
    int code = weir_slabs_begin(&how, &slabs);
    while (!code && weir_slabs_next(slabs, &slab) == 1)
        code = cli_source_read(s, slab.lo, slab.hi, slab.out_stride, slab.out[0]);
    int ended = weir_slabs_end(slabs);
    return ended ? ended : code; /* the later one has the details */
}

static int put_array(const char *command, const cli_source *s, const options *o)
{
    weir_array *to;
    weir_array_info info = {
        .type = s->info->type, .dimensions = s->dimensions, .columns = s->info->columns};
    for (int d = 0; d < s->dimensions; d++)
        info.shape[d] = s->shape[d];
    int status = cli_target_create(command, &o->target, o->output, &(cli_model){&info, NULL}, &to);
    return status ? status : cli_target_finish(command, to, copy_slabs(s, to, o->target.memory));
}

static int put_text(const char *command, const cli_source *s, const options *o)
{
    const int64_t memory = o->target.memory ? o->target.memory : DEFAULT_MEMORY;
    int code = cli_rank() == 0 ? cli_source_print(s, memory) : 0;
    int status = cli_settle(command, code);
    return status ? status : cli_flush(command);
}

static int run(int argc, char **argv)
{
    int arguments;
    options o = {0};
    cli_source s;
    const char *problem = cli_options_parse(argc, argv, table, &o, &arguments);
    if (problem || arguments != 1)
        return cli_usage(argv[0], problem ? problem : "takes one array, or a section of it");
    int status = cli_source_open(argv[0], argv[1], o.target.hints, &s);
    if (status)
        return status;
    status = (o.output ? put_array : put_text)(argv[0], &s, &o);
    cli_source_close(&s);
    return status;
}

const cli_command cli_get = {
    .name = "get",
    .arguments = "'ARRAY[...]'",
    .help = "a section of an array, as text or as a new array",
    .details =
        "  -o FILE           a .npy file of the section, of the array's type and order\n"
        "  --overwrite, --memory SIZE, --hints H, as for create\n"
        "  The bracket is NumPy's: indices, which drop a dimension, slices, also with negative\n"
        "  bounds and steps, one list of indices, and one \"...\"; what is not given is whole, "
        "such\n"
        "  as 'A.npy[0:10, ::2]' and 'A.npy[:, [0, 2]]'.\n",
    .run = run};
