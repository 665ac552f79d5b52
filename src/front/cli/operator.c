/* Runs an operator: opens inputs, makes outputs, works, closes; after an error no half-made array
 * is left. */
#include "operator.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bar.h"
#include "command.h"
#include "interrupt.h"
#include "size_text.h"
#include "source.h"

typedef struct running {
    const cli_operator *op;
    char **argv;
    const cli_operator_options *how;
    void *options;
    cli_operands arrays;
    int opened, made;
} running;

const char *cli_parse_access(const char *text, void *out)
{
    int direct = !strcmp(text, "direct");
    *(int *)out = direct;
    return direct || !strcmp(text, "collective") ? NULL : "must be collective or direct";
}

static void print_array(const char *role, const char *path, const weir_array *array)
{
    const weir_array_info *info = weir_array_get_info(array);
    printf("  %-12s %s: %s %s ", role, path, weir_type_name(info->type), info->columns ? "F" : "C");
    cli_print_sizes(info->dimensions, info->shape);
    putchar('\n');
}

static void print_size(const char *what, int64_t bytes)
{
    printf("  %-12s ", what);
    cli_print_bytes(bytes);
    putchar('\n');
}

static void print_estimate(const running *r, const weir_estimate *e)
{
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    printf("%s, ranks: %d; nothing is done\n", r->argv[0], ranks);
    for (int i = 0; i < r->opened; i++)
        print_array(r->op->in_place ? "in place" : "in", r->argv[1 + i], r->arrays.in[i]);
    for (int i = 0; i < r->made; i++)
        print_array(i ? "scratch" : "out", r->argv[1 + r->opened], r->arrays.out[i]);
    print_size("read", e->read);
    print_size("written", e->written);
    printf("  %-12s %lld\n", "accesses", (long long)e->calls);
    print_size("memory", e->memory);
    printf("  %-12s %s\n", "plan", e->how);
}

static int open_inputs(running *r)
{
    const int mode = r->op->in_place ? WEIR_READ | WEIR_WRITE : WEIR_READ;
    int status = 0;
    for (; r->opened < r->op->inputs && !status; r->opened += !status)
        status = cli_array_open(r->argv[0], r->argv[1 + r->opened], mode, r->how->target.hints,
                                &r->arrays.in[r->opened]);
    return status;
}

static int make_outputs(running *r)
{
    const weir_array_info *in[CLI_OPERANDS] = {NULL};
    for (int i = 0; i < r->opened; i++)
        in[i] = weir_array_get_info(r->arrays.in[i]);
    weir_array_info info = *weir_array_get_info(r->arrays.in[0]);
    info.members = 0;
    info.distribution = (weir_distribution){0};
    info.tile = info.shard = NULL;
    info.codec = NULL;
    const char *problem = r->op->describe ? r->op->describe(r->options, in, &info) : NULL;
    int status = problem ? cli_usage(r->argv[0], problem) : 0;
    const cli_model model = {&info, r->op->same ? r->arrays.in[0] : NULL};
    for (; r->made < r->op->outputs && !status; r->made += !status)
        status = cli_target_create(r->argv[0], &r->how->target, r->argv[1 + r->opened], &model,
                                   &r->arrays.out[r->made]);
    return status;
}

static int work(running *r)
{
    cli_bar bar;
    weir_estimate estimate = {0};
    weir_work how = {
        .memory = r->how->target.memory, .direct = r->how->direct, .estimate = &estimate};
    int status = cli_settle(r->argv[0], r->op->apply(r->options, &r->arrays, &how));
    if (status)
        return status;
    if (r->how->dry_run && cli_rank() == 0)
        print_estimate(r, &estimate);
    if (r->how->dry_run)
        return cli_flush(r->argv[0]);
    how.estimate = NULL;
    cli_bar_init(&bar, r->argv[0], estimate.read + estimate.written);
    if (cli_rank() == 0 && !r->how->quiet && (r->how->progress || isatty(STDERR_FILENO))) {
        how.progress = cli_bar_draw;
        how.user = &bar;
    }
    int code = r->op->apply(r->options, &r->arrays, &how);
    cli_bar_erase(&bar);
    return cli_settle(r->argv[0], code);
}

/* The result last: its name is to appear when nothing else can be left behind. */
static int close_outputs(running *r, int status)
{
    const int kept = status || r->how->dry_run ? -1 : r->arrays.last;
    cli_interrupt_hold(r->argv[0]);
    for (int i = 0; i < r->made; i++)
        if (i != kept)
            weir_array_discard(r->arrays.out[i]);
    if (kept >= 0 && r->made)
        status = cli_settle(r->argv[0], weir_array_close(r->arrays.out[kept]));
    cli_interrupt_release();
    return status;
}

/* What was changed in place outlasts a power failure, as new arrays do. */
static int sync_inputs(const running *r)
{
    int status = 0;
    for (int i = 0; i < r->opened && r->op->in_place && !status; i++)
        status = cli_settle(r->argv[0], weir_array_sync_durable(r->arrays.in[i]));
    return status;
}

int cli_operator_run(const cli_operator *op, char **argv, const cli_operator_options *how,
                     void *options)
{
    running r = {.op = op, .argv = argv, .how = how, .options = options};
    int status = open_inputs(&r);
    if (!status)
        status = make_outputs(&r);
    if (!status)
        status = work(&r);
    status = close_outputs(&r, status);
    if (!status && !how->dry_run)
        status = sync_inputs(&r);
    for (int i = 0; i < r.opened; i++) {
        int code = weir_array_close(r.arrays.in[i]);
        status = status ? status : cli_settle(argv[0], code);
    }
    return status;
}
