/* weir get: a section of an array, as text or as a new array. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "account.h"
#include "array_text.h"
#include "command.h"
#include "launched.h"
#include "new_file.h"
#include "target.h"
#include "terminal.h"
#include "text_file.h"

enum { DEFAULT_MEMORY = 64 << 20, COLUMNS = 75 }; /* as NumPy has where there is no terminal */

typedef struct options {
    const char *output;
    int all, plain;
    cli_target target;
    cli_manner manner;
} options;

static const cli_option table[] = {
    {"--output", 'o', "FILE", offsetof(options, output), cli_parse_text,
     "a new array of the section, of the array's type and order; .bin or .raw: its elements "
     "alone; .csv: text, - that on standard output",
     "as text for people"},
    {"--all", 'a', NULL, offsetof(options, all), NULL, "every element, however many", NULL},
    {"--plain", 0, NULL, offsetof(options, plain), NULL,
     "every element, without brackets: a row a line, an empty line between matrices", NULL},
    CLI_TARGET_FILE(offsetof(options, target)),
    CLI_MANNER(offsetof(options, manner)),
    {0}};

static int copy_slabs(const cli_source *s, weir_array *to, int64_t memory, cli_account *account)
{
    weir_slabs *slabs = NULL;
    weir_slab slab;
    weir_slabs_options how = {.outputs = 1, .output = &to, .memory = memory};
    how.progress = cli_account_progress(account, 2 * weir_array_get_info(to)->bytes);
    how.user = &account->bar;
    int code = weir_slabs_begin(&how, &slabs);
    while (!code && weir_slabs_next(slabs, &slab) == 1)
        code = cli_source_read(s, slab.lo, slab.hi, slab.out_stride, slab.out[0]);
    int ended = weir_slabs_end(slabs);
    cli_account_quiet(account);
    return ended ? ended : code; /* the later one has the details */
}

static int put_array(const char *command, const cli_source *s, const options *o,
                     cli_account *account)
{
    weir_array *to;
    char name[PATH_MAX + 400];
    weir_array_info info = {.type = s->info->type,
                            .dimensions = s->dimensions,
                            .columns =
                                s->info->columns && !cli_target_is_by_rows(&o->target, o->output)};
    for (int d = 0; d < s->dimensions; d++)
        info.shape[d] = s->shape[d];
    const char *path = cli_raw_name(o->output, &info, name, sizeof name);
    int status = cli_target_create(command, &o->target, path, &(cli_model){&info, NULL}, &to);
    if (!status)
        status = cli_target_finish(command, to, copy_slabs(s, to, o->target.memory, account));
    return status;
}

static int64_t memory_of(const options *o)
{
    return o->target.memory ? o->target.memory : DEFAULT_MEMORY;
}

static int refuse_csv(const char *command, const cli_source *s)
{
    char problem[80];
    snprintf(problem, sizeof problem, "%d dimensions, and csv has one or two", s->dimensions);
    return cli_usage_of(command, weir_array_where(s->array), problem);
}

/* [local] */
static int print(const cli_source *s, FILE *out, cli_text_form *form, cli_account *account)
{
    form->tell = cli_account_progress(account, s->elements * weir_type_bytes(s->info->type));
    form->user = &account->bar;
    /* a bar would be amid the text, which tells how far it is */
    if ((cli_terminal_is(out) || (out == stdout && cli_launcher_has_terminal(STDOUT_FILENO))) &&
        cli_errors_are_seen())
        form->tell = NULL;
    int code = cli_source_print(s, out, form);
    cli_account_quiet(account);
    return code;
}

static int put_text(const char *command, const cli_source *s, const options *o,
                    cli_account *account)
{
    const int columns = cli_terminal_is(stdout) ? cli_terminal_columns(stdout) : COLUMNS;
    cli_text_form form = {.columns = columns, .memory = memory_of(o)};
    form.how = o->output  ? CLI_TEXT_CSV
               : o->plain ? CLI_TEXT_PLAIN
               : o->all   ? CLI_TEXT_ALL
                          : CLI_TEXT_SHORT;
    if (form.how == CLI_TEXT_CSV && s->dimensions > 2)
        return refuse_csv(command, s);
    int code = cli_rank() == 0 ? print(s, stdout, &form, account) : 0;
    return cli_settle(command, code);
}

typedef struct text {
    const cli_source *source;
    int64_t memory;
    cli_account *account;
} text;

static int fill_csv(void *user, FILE *out)
{
    const text *t = user;
    cli_text_form form = {.how = CLI_TEXT_CSV, .memory = t->memory};
    return out ? print(t->source, out, &form, t->account) : 0;
}

static int put_csv(const char *command, const cli_source *s, const options *o, cli_account *account)
{
    const char *replaces = o->target.overwrite ? "" : NULL;
    if (s->dimensions > 2)
        return refuse_csv(command, s);
    return cli_new_file_write(command, o->output, replaces, fill_csv,
                              &(text){s, memory_of(o), account});
}

static int run(int argc, char **argv)
{
    int arguments;
    options o = {0};
    cli_source s;
    cli_account account;
    const char *problem = cli_options_parse(argc, argv, table, &o, &arguments);
    if (!problem && (o.output != NULL) + o.all + o.plain > 1)
        problem = "--output, --all and --plain exclude each other";
    if (!problem && o.manner.json && (!o.output || !strcmp(o.output, "-")))
        problem = "--json is for files (--output)";
    if (problem || arguments != 1)
        return cli_usage(argv[0], problem ? problem : "takes one array, or a section of it");
    cli_account_begin(&account, argv[0], &o.manner);
    int status = cli_source_open(argv[0], argv[1], o.target.hints, &s);
    if (status)
        return status;
    if (o.output && strcmp(o.output, "-") != 0)
        status = (cli_is_csv(o.output) ? put_csv : put_array)(argv[0], &s, &o, &account);
    else
        status = put_text(argv[0], &s, &o, &account);
    cli_source_close(&s);
    if (!status)
        cli_account_end(&account, &(cli_outcome){.plan = ""});
    return status;
}

const cli_command cli_get = {
    .name = "get",
    .group = CLI_LOOK,
    .arguments = "'ARRAY[...]'",
    .help = "a section of an array, as text or as a new array",
    .about = "The bracket is NumPy's: indices, which drop a dimension, slices, also with negative "
             "bounds and steps, one list of indices, and one \"...\"; what is not given is whole.\n"
             "Text is as NumPy prints the section: of more than 1000 elements only those at the "
             "corners are read and shown; columns are as wide as the terminal, or 75 characters. A "
             ".csv file has a line for each row, or element of one dimension, with as many digits "
             "as tell elements apart.",
    .options = table,
    .example = {"weir get 'a.npy[0:10, ::200]'", "weir get 'a.npy[:, [0, 2]]' -o columns.npy"},
    .run = run};
