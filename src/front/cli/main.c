/* The command `weir`: finds the subcommand, starts MPI, runs it on every rank. */
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "failure.h"
#include "help.h"
#include "launched.h"
#include "quick_start.h"

/* MPI's answer; `otherwise` without MPI. */
static int ask(int (*what)(MPI_Comm, int *), int otherwise)
{
    int started, ended;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    if (started && !ended)
        what(MPI_COMM_WORLD, &otherwise);
    return otherwise;
}

int cli_rank(void)
{
    return ask(MPI_Comm_rank, cli_launched_rank());
}

int cli_ranks(void)
{
    return ask(MPI_Comm_size, 1);
}

/* The library's option is the command's, where that has it. */
static void name_option(const char *command, weir_error *e)
{
    static const char name[] = "overwrite was not given";
    const cli_command *c = cli_command_find(command);
    char *at = e->code == WEIR_EEXIST ? strstr(e->text, name) : NULL;
    for (const cli_option *o = c && at ? c->options : NULL; o && o->name; o++)
        if (!strcmp(o->name, "--overwrite"))
            snprintf(at, sizeof e->text - (size_t)(at - e->text), "--%s", name);
}

/* The file first; which rank, where there are several, is less often what helps. */
static int report(const char *command, const weir_error *e)
{
    char text[1024], where[40] = "";
    weir_error plain = *e;
    plain.rank = -1;
    name_option(command, &plain);
    weir_error_format(&plain, text, sizeof text);
    if (cli_ranks() > 1 && e->rank >= 0)
        snprintf(where, sizeof where, " (rank %d)", e->rank);
    if (cli_rank() == 0)
        cli_tell("weir %s: %s%s", command, text, where);
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

/* As of `weir get x.npy | head`, where SIGPIPE is ignored. */
static int has_no_reader(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

/* Whether what was printed is out, here: 0, or an exit status. */
static int flush(const char *name)
{
    if (!fflush(stdout) && !ferror(stdout))
        return 0;
    if (has_no_reader())
        return CLI_UNREAD;
    fprintf(stderr, "weir%s%s: standard output cannot be written\n", *name ? " " : "", name);
    return CLI_FAILED;
}

int cli_flush(const char *command)
{
    int status = cli_rank() == 0 ? flush(command) : 0;
    if (cli_command_find(command)->who == CLI_RANKS)
        MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return status;
}

int cli_usage(const char *command, const char *problem)
{
    if (cli_rank() == 0)
        cli_tell("weir %s: %s; see weir %s --help", command, problem, command);
    return CLI_USAGE;
}

int cli_usage_of(const char *command, const char *name, const char *problem)
{
    if (cli_rank() == 0)
        cli_tell("weir %s: %s: %s; see weir %s --help", command, name, problem, command);
    return CLI_USAGE;
}

/* As other programs call it. */
static const char *usual_name(const char *name)
{
    static const char *const names[][2] = {
        {"list", "ls"},     {"cat", "get"},      {"print", "get"},  {"show", "view"},
        {"dump", "get"},    {"head", "get"},     {"stat", "info"},  {"histogram", "hist"},
        {"cmp", "diff"},    {"compare", "diff"}, {"remove", "rm"},  {"delete", "rm"},
        {"rename", "mv"},   {"move", "mv"},      {"plot", "view"},  {"draw", "view"},
        {"mean", "reduce"}, {"sum", "reduce"},   {"max", "reduce"}, {"min", "reduce"},
        {"size", "du"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i][0]))
            return names[i][1];
    return NULL;
}

int cli_no_command(const char *name)
{
    const char *names[64] = {"--help", "--version"}, *nearest = usual_name(name);
    for (int i = 0; *name != '-' && cli_commands[i]; i++)
        names[i] = cli_commands[i]->name;
    if (!nearest && name[0] && name[1]) /* a letter is near to all that is short */
        nearest = cli_nearest(name, names);
    if (cli_rank() == 0)
        cli_tell("weir: %s %s; %s%s%s", *name == '-' ? "unknown option" : "no command is called",
                 name, nearest ? "perhaps weir " : "see weir --help", nearest ? nearest : "",
                 nearest ? "?" : "");
    return CLI_USAGE;
}

/* What the user has misspelt, whatever the log is set to. */
static void warn(void)
{
    char line[200];
    for (int i = 0; cli_rank() == 0 && weir_tunable_unknown(i, line, sizeof line); i++)
        cli_tell("weir: %s", line);
}

static int is_help(const char *word)
{
    return !strcmp(word, "--help") || !strcmp(word, "-h");
}

/* Before "--", behind which are another program's. */
static int asks_for_help(int argc, char **argv)
{
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (is_help(argv[i]))
            return 1;
    return 0;
}

static int run(const cli_command *command, int argc, char **argv)
{
    const int alone = command->who != CLI_RANKS;
    int level;
    if (!alone) {
        cli_start_quickly();
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
        warn();
    }
    int status = !alone && cli_is_astray() ? CLI_USAGE : command->run(argc - 1, argv + 1);
    if (!alone)
        MPI_Allreduce(MPI_IN_PLACE, &status, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (!status)
        status = cli_flush(command->name);
    if (!alone)
        MPI_Finalize();
    return status;
}

static int refuse(int argc, char **argv)
{
    (void)argc;
    return cli_no_command(argv[0]);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    const cli_command *command = cli_command_find(name);
    const int told = command ? command->who == CLI_FIRST || asks_for_help(argc, argv)
                             : !*name || !strcmp(name, "--version") || is_help(name);
    if (told && cli_rank())
        return 0;
    if (!strcmp(name, "--version"))
        return printf("weir %s\n", weir_version()), flush("");
    if (!*name || is_help(name)) {
        cli_help_list(stdout);
        return *name ? flush("") : CLI_USAGE;
    }
    if (command && asks_for_help(argc, argv))
        return cli_help_command(stdout, command), flush(name);
    /* under a launcher all ranks meet, so that one line is printed before it ends the job */
    const cli_command none = {
        .name = name, .run = refuse, .who = cli_was_launched() ? CLI_RANKS : CLI_EACH};
    return run(command ? command : &none, argc, argv);
}
