/* Runs an operator: opens inputs, makes outputs, works, closes; after an error no half-made array
 * is left. */
#include "operator.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "interrupt.h"
#include "size_text.h"
#include "trial_run.h"

typedef struct running {
    const cli_operator *op;
    char **argv;
    const cli_operator_options *how;
    void *options;
    cli_operands arrays;
    int opened, made;
    cli_account account;
    cli_expected expected; /* by a dry run */
} running;

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

static void print_estimate(const running *r)
{
    const weir_estimate *e = &r->expected.estimate;
    printf("%s, ranks: %d; nothing is done\n", r->argv[0], cli_ranks());
    for (int i = 0; i < r->opened; i++)
        print_array(r->op->in_place ? "in place" : "in", r->argv[1 + i], r->arrays.in[i]);
    for (int i = 0; i < r->made; i++)
        print_array(i ? "scratch" : "out", r->argv[1 + r->opened], r->arrays.out[i]);
    print_size("read", e->read);
    print_size("written", e->written);
    printf("  %-12s %lld\n", "accesses", (long long)e->calls);
    print_size("memory", e->memory);
    if (r->expected.memory > e->memory)
        print_size("in all", r->expected.memory);
    if (r->expected.seconds < 0)
        printf("  %-12s not known: trying would change the array\n", "seconds");
    else
        printf("  %-12s %.3g\n", "seconds", r->expected.seconds);
    printf("  %-12s %s\n", "plan", e->how);
}

static int open_section(running *r, int i)
{
    cli_operands *a = &r->arrays;
    cli_source *s = &a->source[i];
    int status = cli_source_open(r->argv[0], r->argv[1 + i], r->how->target.hints, s);
    if (status)
        return status;
    cli_source_choose(s, NULL, NULL, &a->chosen[i]);
    a->of[i] = &a->chosen[i].selection;
    a->in[i] = s->array;
    return 0;
}

static int open_inputs(running *r)
{
    const int mode = r->op->in_place ? WEIR_READ | WEIR_WRITE : WEIR_READ;
    int status = 0;
    for (; r->opened < r->op->inputs && !status; r->opened += !status)
        status = r->op->sections ? open_section(r, r->opened)
                                 : cli_array_open(r->argv[0], r->argv[1 + r->opened], mode,
                                                  r->how->target.hints, &r->arrays.in[r->opened]);
    return status;
}

/* A dry run leaves a file alone that a dataset would be added to: HDF5 files grow when one is
 * removed. What it tries it tries in another file. */
static int make_output(running *r, const cli_model *model)
{
    const char *path = r->argv[1 + r->opened];
    char *beside = r->how->dry_run ? cli_target_beside(path, r->how->target.hints) : NULL;
    int status = cli_target_create(r->argv[0], &r->how->target, beside ? beside : path, model,
                                   &r->arrays.out[r->made]);
    free(beside);
    return status;
}

static int make_outputs(running *r)
{
    const weir_array_info *in[CLI_OPERANDS] = {NULL};
    for (int i = 0; i < r->opened; i++)
        in[i] = weir_array_get_info(r->arrays.in[i]);
    weir_array_info info = {0};
    if (r->opened)
        info = *weir_array_get_info(r->arrays.in[0]);
    info.members = 0;
    info.distribution = (weir_distribution){0};
    info.tile = info.shard = NULL;
    info.codec = NULL;
    if (r->op->outputs && cli_target_is_by_rows(&r->how->target, r->argv[1 + r->opened]))
        info.columns = 0;
    const char *problem = r->op->describe ? r->op->describe(r->options, in, &info) : NULL;
    int status = problem ? cli_usage(r->argv[0], problem) : 0;
    const cli_model model = {&info, r->op->same ? r->arrays.in[0] : NULL};
    for (; r->made < r->op->outputs && !status; r->made += !status)
        status = make_output(r, &model);
    return status;
}

static int is_durable(const running *r)
{
    char text[20] = "";
    return weir_tunable_get(r->how->target.hints, "durable", text, sizeof text) ||
           strcmp(text, "disable") != 0;
}

/* Of what is read. */
static double part_read_anew(const running *r)
{
    double bytes = 0, all = (double)r->expected.estimate.read;
    for (int i = 0; i < r->opened; i++)
        bytes += (double)weir_array_get_info(r->arrays.in[i])->bytes;
    return bytes < all ? bytes / all : 1;
}

/* The trial may have had less for its steps; what the library takes besides is the same. */
static int64_t memory_expected(int64_t of_steps, const cli_trial *t)
{
    const int64_t besides = t->memory > t->most ? t->memory - t->most : 0;
    return of_steps + besides > t->memory ? of_steps + besides : t->memory;
}

/* What is changed in place cannot be tried. */
static int predict(running *r, const weir_work *how)
{
    cli_trial trial = {.before = cli_seconds() - r->account.begun, .anew = part_read_anew(r)};
    r->expected.seconds = -1;
    r->expected.memory = r->expected.estimate.memory;
    if (r->op->in_place)
        return 0;
    int code = cli_trial_run(r->op, r->options, &r->arrays, how, is_durable(r), &trial);
    r->expected.seconds = cli_trial_seconds(&trial);
    r->expected.memory = memory_expected(r->expected.memory, &trial);
    return cli_settle(r->argv[0], code);
}

static int work(running *r)
{
    weir_estimate *estimate = &r->expected.estimate;
    weir_work how = {
        .memory = r->how->target.memory, .direct = r->how->direct, .estimate = estimate};
    int status = cli_settle(r->argv[0], r->op->apply(r->options, &r->arrays, &how));
    if (status)
        return status;
    how.estimate = NULL;
    if (r->how->dry_run)
        return predict(r, &how);
    how.progress = cli_account_progress(&r->account, estimate->read + estimate->written);
    how.user = &r->account.bar;
    int code = r->op->apply(r->options, &r->arrays, &how);
    if (code)
        cli_account_quiet(&r->account);
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
    if (kept >= 0 && r->made) {
        cli_account_closing(&r->account);
        int code = weir_array_close(r->arrays.out[kept]);
        cli_account_quiet(&r->account);
        status = cli_settle(r->argv[0], code);
    }
    cli_interrupt_release();
    return status;
}

/* What was changed in place outlasts a power failure, as new arrays do. */
static int sync_inputs(running *r)
{
    int status = 0;
    for (int i = 0; i < r->opened && r->op->in_place && !status; i++) {
        int code = weir_array_sync_durable(r->arrays.in[i]);
        cli_account_quiet(&r->account);
        status = cli_settle(r->argv[0], code);
    }
    return status;
}

static int close_inputs(running *r, int status)
{
    for (int i = 0; i < r->opened; i++) {
        cli_bracket_release(&r->arrays.source[i].bracket);
        int code = weir_array_close(r->arrays.in[i]);
        cli_account_quiet(&r->account);
        status = status ? status : cli_settle(r->argv[0], code);
    }
    return status;
}

int cli_operator_run(const cli_operator *op, char **argv, const cli_operator_options *how,
                     void *options)
{
    running r = {.op = op, .argv = argv, .how = how, .options = options};
    const cli_outcome outcome = {.expected = how->dry_run ? &r.expected : NULL,
                                 .plan = r.expected.estimate.how,
                                 .print = op->print,
                                 .user = options};
    cli_account_begin(&r.account, argv[0], &how->manner);
    int status = open_inputs(&r);
    if (!status)
        status = make_outputs(&r);
    if (!status)
        status = work(&r);
    if (!status && how->dry_run && !how->manner.json && cli_rank() == 0)
        print_estimate(&r); /* arrays are still there */
    status = close_outputs(&r, status);
    if (!status && !how->dry_run)
        status = sync_inputs(&r);
    status = close_inputs(&r, status);
    if (!status)
        cli_account_end(&r.account, &outcome);
    return status;
}
