/* weir get: a section of an array, as text or as a new array. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "account.h"
#include "array_text.h"
#include "command.h"
#include "failure.h"
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
     "alone, by rows; .csv: text, - that on standard output",
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

static weir_array_info describe(const cli_source *s)
{
    weir_array_info info = {.type = s->info->type, .dimensions = s->dimensions};
    for (int d = 0; d < s->dimensions; d++)
        info.shape[d] = s->shape[d];
    return info;
}

static int put_array(const char *command, const cli_source *s, const options *o,
                     cli_account *account)
{
    weir_array *to;
    weir_array_info info = describe(s);
    info.columns = s->info->columns && !cli_target_is_by_rows(&o->target, o->output);
    int status = cli_target_create(command, &o->target, o->output, &(cli_model){&info, NULL}, &to);
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

/* What a file that is no array is made of. */
typedef struct filling {
    const cli_source *source;
    const options *o;
    cli_account *account;
} filling;

static int fill_csv(void *user, FILE *out, const char *made)
{
    const filling *f = user;
    cli_text_form form = {.how = CLI_TEXT_CSV, .memory = memory_of(f->o)};
    (void)made;
    return out ? print(f->source, out, &form, f->account) : 0;
}

/* Room for all elements. [local] */
static int extend(const filling *f, FILE *out)
{
    int64_t bytes;
    const cli_source *s = f->source;
    if (__builtin_mul_overflow(s->elements, weir_type_bytes(s->info->type), &bytes))
        bytes = INT64_MAX; /* is told to be too large */
    return ftruncate(fileno(out), bytes) ? cli_fail_errno(f->o->output, "cannot be written") : 0;
}

/* An error about the file, by the name it has now, becomes one about what was asked for. */
static int blame(const filling *f, const char *name, int code)
{
    weir_error e = *weir_error_last();
    if (!code || !*e.file || !strstr(name, e.file))
        return code;
    snprintf(e.file, sizeof e.file, "%s", f->o->output);
    return weir_error_raise(&e);
}

/* All ranks write the array that the file's elements are. */
static int fill_bare(void *user, FILE *out, const char *made)
{
    const filling *f = user;
    const cli_target *target = &f->o->target;
    const weir_array_info info = describe(f->source);
    char name[CLI_RAW_NAME] = "";
    weir_array *to;
    int code = out ? extend(f, out) : 0;
    if (out && !code)
        cli_raw_name(made, &info, name);
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (!*name)
        return code;
    code = weir_array_open(MPI_COMM_WORLD, name, WEIR_READ | WEIR_WRITE, target->hints, &to);
    if (code)
        return blame(f, name, code);
    code = copy_slabs(f->source, to, target->memory, f->account);
    int failed = code != 0;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (!failed)
        code = weir_array_sync_durable(to);
    const weir_error first = *weir_error_last();
    const int closed = weir_array_close(to);
    if (code)
        weir_error_raise(&first);
    return blame(f, name, code ? code : closed);
}

/* A pipe or a device would be written as it is, and a link replaced. [local] */
static int check_bare(const char *path)
{
    struct stat there;
    return lstat(path, &there) || S_ISREG(there.st_mode)
               ? 0
               : cli_fail(WEIR_EEXIST, path, 0, "is there, is no file, and is left alone");
}

static int put_file(const char *command, const cli_source *s, const options *o,
                    cli_account *account)
{
    const cli_target *target = &o->target;
    const bool bare = cli_is_bare(o->output);
    if (target->chunk.given || target->shard.given || target->codec || target->format)
        return cli_usage(command, "--chunk, --shard, --codec and --format are for arrays");
    if (!bare && s->dimensions > 2)
        return refuse_csv(command, s);
    int status = cli_settle(command, bare && cli_rank() == 0 ? check_bare(o->output) : 0);
    if (status)
        return status;
    return cli_new_file_write(command, o->output, target->overwrite ? "" : NULL,
                              bare ? fill_bare : fill_csv, &(filling){s, o, account});
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
    const bool is_text = !o.output || !strcmp(o.output, "-");
    const bool is_file = !is_text && (cli_is_csv(o.output) || cli_is_bare(o.output));
    status = (is_text ? put_text : is_file ? put_file : put_array)(argv[0], &s, &o, &account);
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
