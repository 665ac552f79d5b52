/* weir create: makes an array, and fills it slab by slab on all ranks. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "element_text.h"
#include "numbers.h"
#include "target.h"

typedef struct options {
    cli_sizes shape;
    int type, columns, iota;
    cli_seed random;
    const char *fill;
    cli_target target;
} options;

static const cli_option table[] = {{"--shape", offsetof(options, shape), cli_parse_sizes},
                                   {"--dtype", offsetof(options, type), cli_parse_type},
                                   {"--order", offsetof(options, columns), cli_parse_columns},
                                   {"--iota", offsetof(options, iota), NULL},
                                   {"--random", offsetof(options, random), cli_parse_seed},
                                   {"--fill", offsetof(options, fill), cli_parse_text},
                                   CLI_TARGET_FILE(offsetof(options, target)),
                                   CLI_TARGET_SET(offsetof(options, target)),
                                   {0}};

/* The loops over a slab, fastest dimension first. */
typedef struct nest {
    cli_numbers *numbers;
    uint64_t seed;
    int loops;
    int64_t count[WEIR_MAX_DIMENSIONS + 1], bytes[WEIR_MAX_DIMENSIONS + 1];
    uint64_t step[WEIR_MAX_DIMENSIONS + 1]; /* of row-major numbers */
} nest;

static void add_loop(nest *n, int64_t count, int64_t bytes, uint64_t step)
{
    int last = n->loops - 1;
    if (last >= 0 && bytes == n->bytes[last] * n->count[last] &&
        step == n->step[last] * (uint64_t)n->count[last]) {
        n->count[last] *= count;
        return;
    }
    n->count[n->loops] = count;
    n->bytes[n->loops] = bytes;
    n->step[n->loops++] = step;
}

static void run_loops(const nest *n, int loop, char *at, uint64_t first)
{
    if (loop == 0)
        n->numbers(at, n->count[0], first, n->step[0], n->seed);
    else
        for (int64_t i = 0; i < n->count[loop]; i++)
            run_loops(n, loop - 1, at + i * n->bytes[loop], first + (uint64_t)i * n->step[loop]);
}

static void fill_slab(const weir_array_info *info, const weir_slab *slab, nest n)
{
    const int64_t element = weir_type_bytes(info->type);
    uint64_t step[WEIR_MAX_DIMENSIONS], first = 0, all = 1;
    for (int d = info->dimensions - 1; d >= 0; d--) {
        step[d] = all;
        all *= (uint64_t)info->shape[d];
        first += (uint64_t)slab->lo[d] * step[d];
    }
    n.loops = 0;
    for (int i = 0; i < info->dimensions; i++) {
        int d = info->columns ? i : info->dimensions - 1 - i;
        add_loop(&n, slab->hi[d] - slab->lo[d], slab->out_stride[d] * element, step[d]);
    }
    if (!n.loops)
        add_loop(&n, 1, element, 1);
    run_loops(&n, n.loops - 1, slab->out[0], first);
}

static int fill_slabs(weir_array *array, const nest *n, int64_t memory)
{
    weir_slabs *slabs = NULL;
    weir_slab slab;
    weir_slabs_options how = {.outputs = 1, .output = &array, .memory = memory};
    int code = weir_slabs_begin(&how, &slabs);
    if (code)
        return code;
    while (weir_slabs_next(slabs, &slab) == 1)
        fill_slab(weir_array_get_info(array), &slab, *n);
    return weir_slabs_end(slabs);
}

/* Here and not by the library as it makes the array: that would not let signals end it. */
static int fill(weir_array *array, const options *o, const void *element)
{
    static const char zeros[CLI_ELEMENT];
    nest n = {.seed = o->random.value};
    n.numbers = o->iota ? cli_numbers_iota(o->type) : cli_numbers_random(o->type);
    if (o->iota || o->random.given)
        return fill_slabs(array, &n, o->target.memory);
    if (!o->fill || !memcmp(element, zeros, (size_t)weir_type_bytes(o->type)))
        return 0;
    return weir_array_fill(array, element, &(weir_work){.memory = o->target.memory});
}

static const char *parse_fill(const char *text, int type, void *element)
{
    static char message[80];
    const char *problem = cli_element_parse(text, type, element);
    snprintf(message, sizeof message, "--fill: %s", problem ? problem : "");
    return problem ? message : NULL;
}

/* Everything that is wrong before anything is made. */
static const char *check(options *o, int arguments, weir_array_info *info, void *element)
{
    *info = (weir_array_info){.type = o->type, .dimensions = o->shape.count, .columns = o->columns};
    for (int d = 0; d < o->shape.count; d++)
        info->shape[d] = o->shape.size[d];
    if (arguments != 1)
        return "takes the name of one array";
    if (!o->shape.given)
        return "--shape is needed";
    if (o->iota + o->random.given + !!o->fill > 1)
        return "--random, --iota and --fill exclude each other";
    const char *problem = o->fill ? parse_fill(o->fill, o->type, element) : NULL;
    return problem ? problem : cli_target_deal(&o->target, info);
}

static int run(int argc, char **argv)
{
    int arguments;
    options o = {.type = WEIR_F8};
    weir_array_info info;
    weir_array *array;
    char element[CLI_ELEMENT];
    const char *problem = cli_options_parse(argc, argv, table, &o, &arguments);
    if (!problem)
        problem = check(&o, arguments, &info, element);
    if (problem)
        return cli_usage(argv[0], problem);
    int status = cli_target_create(argv[0], &o.target, argv[1], &(cli_model){&info, NULL}, &array);
    return status ? status : cli_target_finish(argv[0], array, fill(array, &o, element));
}

const cli_command cli_create = {
    .name = "create",
    .arguments = "ARRAY OPTIONS",
    .help = "makes an array: a .npy file, a set of local arrays, Zarr, HDF5, NetCDF",
    .details =
        "  --shape SIZES     such as 4096,4096; () for a single element\n"
        "  --dtype T         bool, i1 to i8, u1 to u8, f2, f4, f8, c8, c16 (f8)\n"
        "  --order C|F       stored by rows or by columns (C)\n"
        "  --fill V          all elements are V (0)\n"
        "  --iota            elements are 0, 1, 2, ... by rows; integers wrap around\n"
        "  --random SEED     floats from 0 to 1, integers and bool from all they can hold; the "
        "same\n"
        "                    for any number of ranks and either order\n"
        "  --chunk SIZES     of Zarr (NAME.zarr) and HDF5 (FILE.h5:/NAME): in chunks (up to 1 "
        "MiB)\n"
        "  --shard SIZES     of Zarr: so much in a file, or all (a chunk)\n"
        "  --codec C         such as zstd:3, gzip:6, blosc:lz4:5:shuffle (none); docs/formats.md\n"
        "  --format F        npy, zarr or zarr2, whatever the name says\n"
        "  --grid SIZES      a folder of local arrays, so many along each dimension\n"
        "  --block SIZES     indices dealt at a time; 0: one block for each place of the grid (0)\n"
        "  --disks A:B       folders for the local arrays, round-robin (the array's own)\n"
        "  --overwrite       replaces an array of that name, once this one is whole; local arrays\n"
        "                    on disks outside its folder only if --disks names these, too\n"
        "  --memory SIZE     of buffers of each rank: K, M, G (64M)\n"
        "  --hints H         NAME=VALUE;..., see docs/tunables.md; WEIR_HINTS is stronger\n",
    .run = run};
