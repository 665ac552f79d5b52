/* weir create: makes an array, and fills it slab by slab on all ranks. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "element_text.h"
#include "numbers.h"
#include "operator.h"

typedef struct options {
    cli_sizes shape;
    int type, columns, iota;
    cli_seed random;
    const char *fill;
    char element[CLI_ELEMENT];
    cli_operator_options how;
} options;

enum { TARGET = offsetof(options, how) + offsetof(cli_operator_options, target) };

static const cli_option table[] = {
    {"--shape", 0, "SIZES", offsetof(options, shape), cli_parse_sizes,
     "such as 4096,4096; () for a single element; must be given", NULL},
    CLI_OPTION_TYPE(offsetof(options, type), "f8"),
    CLI_OPTION_ORDER(offsetof(options, columns), "C"),
    {"--fill", 0, "VALUE", offsetof(options, fill), cli_parse_text, "all elements are that", "0"},
    {"--iota", 0, NULL, offsetof(options, iota), NULL,
     "elements are 0, 1, 2, ... by rows; integers wrap around", NULL},
    {"--random", 0, "SEED", offsetof(options, random), cli_parse_seed,
     "floats from 0 to 1, integers and bool from all they can hold; the same for any number of "
     "ranks and either order",
     NULL},
    CLI_TARGET_FILE(TARGET),
    CLI_TARGET_SET(TARGET),
    CLI_OPERATOR_DEEDS(offsetof(options, how)),
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

static int fill_slabs(weir_array *array, const nest *n, const weir_work *work)
{
    weir_slabs *slabs = NULL;
    weir_slab slab;
    weir_slabs_options how = {.outputs = 1,
                              .output = &array,
                              .memory = work->memory,
                              .progress = work->progress,
                              .user = work->user};
    int code = weir_slabs_begin(&how, &slabs);
    if (code)
        return code;
    while (!(work->stop && work->stop(work->user)) && weir_slabs_next(slabs, &slab) == 1)
        fill_slab(weir_array_get_info(array), &slab, *n);
    return weir_slabs_end(slabs);
}

/* Here and not by the library as it makes the array: that would not let signals end it. */
static int apply(void *user, cli_operands *arrays, const weir_work *work)
{
    static const char zeros[CLI_ELEMENT];
    const options *o = user;
    const int each = o->iota || o->random.given;
    if (!each && (!o->fill || !memcmp(o->element, zeros, (size_t)weir_type_bytes(o->type)))) {
        if (work->estimate)
            *work->estimate = (weir_estimate){.how = "all elements are 0, and are not written"};
        return 0;
    }
    if (!each || work->estimate)
        return weir_array_fill(arrays->out[0], o->element, work);
    nest n = {.seed = o->random.value};
    n.numbers = o->iota ? cli_numbers_iota(o->type) : cli_numbers_random(o->type);
    return fill_slabs(arrays->out[0], &n, work);
}

static const char *parse_fill(const char *text, int type, void *element)
{
    static char message[80];
    const char *problem = cli_element_parse(text, type, element);
    snprintf(message, sizeof message, "--fill: %s", problem ? problem : "");
    return problem ? message : NULL;
}

/* Everything that is wrong before anything is made. */
static const char *check(options *o, int arguments)
{
    if (arguments != 1)
        return "takes the name of one array";
    if (!o->shape.given)
        return "--shape is needed";
    if (o->iota + o->random.given + !!o->fill > 1)
        return "--random, --iota and --fill exclude each other";
    return o->fill ? parse_fill(o->fill, o->type, o->element) : NULL;
}

static const char *describe(void *user, const weir_array_info *const *in, weir_array_info *out)
{
    const options *o = user;
    (void)in;
    *out = (weir_array_info){.type = o->type, .dimensions = o->shape.count, .columns = o->columns};
    for (int d = 0; d < o->shape.count; d++)
        out->shape[d] = o->shape.size[d];
    return cli_target_deal(&o->how.target, out);
}

static int run(int argc, char **argv)
{
    static const cli_operator op = {.outputs = 1, .describe = describe, .apply = apply};
    int arguments;
    options o = {.type = WEIR_F8, .how.direct = 1}; /* together there is nothing to gain */
    const char *problem = cli_options_parse(argc, argv, table, &o, &arguments);
    if (!problem)
        problem = check(&o, arguments);
    if (problem)
        return cli_usage(argv[0], problem);
    return cli_operator_run(&op, argv, &o.how, &o);
}

const cli_command cli_create = {
    .name = "create",
    .group = CLI_MAKE,
    .arguments = "ARRAY --shape SIZES",
    .help = "makes an array: a .npy file, a set of local arrays, Zarr, HDF5, NetCDF",
    .about = "The array appears under its name when it is whole.",
    .options = table,
    .example =
        {"weir create new.npy --shape 1000,600 --random 1",
         "weir create new.zarr --shape 512,512,64 --dtype f4 --chunk 64,64,64 --codec zstd:3"},
    .run = run};
