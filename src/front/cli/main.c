/* The command `weir`: finds the subcommand, starts MPI, runs it on every rank. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "quick_start.h"

static const cli_command *const commands[] = {
    &cli_create, &cli_info,    &cli_get,    &cli_convert, &cli_copy,   &cli_transpose, &cli_matmul,
    &cli_median, &cli_laplace, &cli_reduce, &cli_fill,    &cli_doctor, &cli_plan};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

int cli_rank(void)
{
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static int report(const char *command, const weir_error *e)
{
    char text[1024];
    weir_error_format(e, text, sizeof text);
    if (cli_rank() == 0)
        fprintf(stderr, "weir %s: %s\n", command, text);
    return e->code == WEIR_EINVAL || e->code == WEIR_ENOENT || e->code == WEIR_ERANGE ? CLI_USAGE
                                                                                      : CLI_FAILED;
}

int cli_report(const char *command)
{
    return report(command, weir_error_last());
}

int cli_settle(const char *command, int code)
{
    int rank = code ? cli_rank() : INT_MAX, first = INT_MAX;
    weir_error error = *weir_error_last();
    if (error.code != code) /* it is the command's own */
        error = (weir_error){.code = code, .rank = -1, .offset = -1};
    MPI_Allreduce(&rank, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == INT_MAX)
        return 0;
    MPI_Bcast(&error, (int)sizeof error, MPI_BYTE, first, MPI_COMM_WORLD);
    return report(command, &error);
}

int cli_flush(const char *command)
{
    int failed = cli_rank() == 0 && (fflush(stdout) || ferror(stdout));
    if (failed)
        fprintf(stderr, "weir %s: standard output cannot be written\n", command);
    MPI_Bcast(&failed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return failed ? CLI_FAILED : 0;
}

int cli_usage(const char *command, const char *problem)
{
    if (cli_rank() == 0)
        fprintf(stderr, "weir %s: %s; see weir --help\n", command, problem);
    return CLI_USAGE;
}

/* Of one subcommand, or of all. */
static void print_help(FILE *out, const char *only)
{
    fprintf(out, "usage: weir COMMAND [ARGUMENTS], alone or under mpirun\n\n");
    for (int i = 0; i < COMMANDS; i++)
        if (!only || !strcmp(only, commands[i]->name))
            fprintf(out, "  %-9s %-14s %s\n", commands[i]->name, commands[i]->arguments,
                    commands[i]->help);
    for (int i = 0; i < COMMANDS; i++)
        if (commands[i]->details && (!only || !strcmp(only, commands[i]->name)))
            fprintf(out, "\n%s:\n%s", commands[i]->name, commands[i]->details);
    fprintf(out, "\n  --help, --version, COMMAND --help; documents: share/doc/weir\n");
}

/* What the user has misspelt, whatever the log is set to. */
static void warn(void)
{
    char line[200];
    for (int i = 0; cli_rank() == 0 && weir_tunable_unknown(i, line, sizeof line); i++)
        fprintf(stderr, "weir: %s\n", line);
}

static int run(const cli_command *command, int argc, char **argv)
{
    int level;
    if (argc > 2 && !strcmp(argv[2], "--help"))
        return print_help(stdout, command->name), 0;
    cli_start_quickly();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    warn();
    int status = cli_is_astray() ? CLI_USAGE : command->run(argc - 1, argv + 1);
    MPI_Finalize();
    return status;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    if (!strcmp(name, "--help") || !strcmp(name, "help"))
        return print_help(stdout, NULL), 0;
    if (!strcmp(name, "--version"))
        return printf("weir %s\n", weir_version()), 0;
    if (!*name)
        return print_help(stderr, NULL), CLI_USAGE;
    for (int i = 0; i < COMMANDS; i++)
        if (!strcmp(commands[i]->name, name))
            return run(commands[i], argc, argv);
    fprintf(stderr, "weir: no command is called %s; see weir --help\n", name);
    return CLI_USAGE;
}
