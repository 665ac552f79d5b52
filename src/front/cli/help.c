/* weir help: the list of subcommands, and one of them in full, from the table. */
#include "help.h"

#include <stdio.h>
#include <string.h>

#include "manual.h"
#include "terminal.h"

enum { INDENT = 2, NAMES = 13, OPTIONS = 22, NARROW = 60 };

const char *const cli_headings[CLI_GROUPS] = {[CLI_LOOK] = "look at arrays",
                                              [CLI_MAKE] = "make and change arrays",
                                              [CLI_COMPUTE] = "compute with arrays",
                                              [CLI_FILES] = "files of arrays",
                                              [CLI_TUNE] = "see what a job does, and tune it",
                                              [CLI_HELP] = "help"};

static void print_heading(FILE *out, const char *text)
{
    const bool bold = cli_terminal_colours(out);
    fprintf(out, "\n%s%s%s\n", bold ? "\033[1m" : "", text, bold ? "\033[0m" : "");
}

/* A name, and from some column on, or where that is too little room in the next line, its text. */
static void print_entry(FILE *out, const char *name, int column, const char *text)
{
    const int columns = cli_terminal_columns(out);
    int used = fprintf(out, "%*s%s", INDENT, "", name);
    if (columns < NARROW)
        column = 3 * INDENT;
    if (used >= column) {
        fputc('\n', out);
        used = 0;
    }
    fprintf(out, "%*s", column - used, "");
    cli_print_wrapped(out, text, column, columns);
}

void cli_help_list(FILE *out)
{
    cli_print_wrapped(out,
                      "usage: weir COMMAND [ARGUMENTS], alone or under mpirun\n"
                      "weir COMMAND --help tells more of one.",
                      0, cli_terminal_columns(out));
    for (enum cli_group group = 0; group < CLI_GROUPS; group++) {
        print_heading(out, cli_headings[group]);
        for (const cli_command *const *c = cli_commands; *c; c++)
            if ((*c)->group == group)
                print_entry(out, (*c)->name, NAMES, (*c)->help);
    }
    fputc('\n', out);
    cli_print_wrapped(out,
                      "An ARRAY is x.npy, a set of local arrays, x.zarr, FILE.h5:/NAME, "
                      "FILE.nc:/NAME or raw:FILE:TYPE:SHAPE. weir --version; documents: "
                      "share/doc/weir.",
                      0, cli_terminal_columns(out));
}

void cli_option_title(const cli_option *option, char *text, size_t size)
{
    const char letter[] = {'-', option->letter, ',', ' ', 0};
    snprintf(text, size, "%s%s%s%s", option->letter ? letter : "", option->name,
             option->value ? " " : "", option->value ? option->value : "");
}

void cli_option_text(const cli_option *option, char *text, size_t size)
{
    snprintf(text, size, "%s%s%s%s", option->help, option->otherwise ? " (default: " : "",
             option->otherwise ? option->otherwise : "", option->otherwise ? ")" : "");
}

void cli_help_command(FILE *out, const cli_command *c)
{
    char title[200], text[800];
    const int columns = cli_terminal_columns(out);
    const bool before = !strncmp(c->arguments, "--", 2); /* behind which are no options */
    fprintf(out, "usage: weir %s %s%s%s\n\n", c->name, before ? "[OPTIONS] " : "", c->arguments,
            c->options && !before ? " [OPTIONS]" : "");
    cli_print_wrapped(out, c->help, 0, columns);
    if (c->options)
        print_heading(out, "options");
    for (const cli_option *o = c->options; o && o->name; o++) {
        cli_option_title(o, title, sizeof title);
        cli_option_text(o, text, sizeof text);
        print_entry(out, title, OPTIONS, text);
    }
    if (c->about) {
        fputc('\n', out);
        cli_print_wrapped(out, c->about, 0, columns);
    }
    print_heading(out, "examples");
    for (int i = 0; c->example[i]; i++)
        fprintf(out, "%*s%s\n", INDENT, "", c->example[i]);
}

typedef struct options {
    int manual, names;
} options;

static const cli_option table[] = {
    {"--man", 0, NULL, offsetof(options, manual), NULL, "as a manual page, for man -l -", NULL},
    {"--names", 0, NULL, offsetof(options, names), NULL, "names of all commands only", NULL},
    {0}};

static int run(int argc, char **argv)
{
    int arguments;
    options o = {0};
    const char *problem = cli_options_parse(argc, argv, table, &o, &arguments);
    if (problem || arguments > 1)
        return cli_usage(argv[0], problem ? problem : "takes one command at most");
    const cli_command *c = arguments ? cli_command_find(argv[1]) : NULL;
    if (arguments && !c)
        return cli_no_command(argv[1]);
    for (int i = 0; o.names && cli_commands[i]; i++)
        puts(cli_commands[i]->name);
    if (o.names)
        return 0;
    if (o.manual)
        cli_manual_print(stdout, c);
    else if (c)
        cli_help_command(stdout, c);
    else
        cli_help_list(stdout);
    return 0;
}

const cli_command cli_help = {.name = "help",
                              .group = CLI_HELP,
                              .arguments = "[COMMAND]",
                              .help = "all commands, or one in full",
                              .options = table,
                              .example = {"weir help transpose", "weir help --man get"},
                              .run = run,
                              .who = CLI_FIRST};
