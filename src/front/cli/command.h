/* The subcommands of `weir`. */
#ifndef WR_CLI_COMMAND_H
#define WR_CLI_COMMAND_H

#include "options.h"

/* Exit statuses: what was asked for failed, or, of diff, differs; what was asked for makes no
 * sense, or is not there, or, of diff, failed. */
enum { CLI_FAILED = 1, CLI_USAGE = 2 };

/* Nobody reads what is printed, which is no error: as if SIGPIPE had ended it. */
enum { CLI_UNREAD = 128 + 13 };

/* Headings under which help lists subcommands, in this order. */
enum cli_group { CLI_LOOK, CLI_MAKE, CLI_COMPUTE, CLI_FILES, CLI_TUNE, CLI_HELP, CLI_GROUPS };

/* Who runs a subcommand: all ranks, with MPI; or without it the first process that a launcher has
 * started, or each of them. */
enum cli_who { CLI_RANKS, CLI_FIRST, CLI_EACH };

/* What there is to know of a subcommand; help, manual pages and completion are made of it. */
typedef struct cli_command {
    const char *name;
    enum cli_group group;
    const char *arguments;     /* as in usage: "OLD NEW" */
    const char *help;          /* a few words, without a full stop */
    const char *about;         /* paragraphs, with "\n" between them; NULL: nothing more to say */
    const cli_option *options; /* NULL: none */
    const char *example[3];    /* lines of the shell, NULL after the last; tests run them in a
                                  folder with the arrays that tests/cli/test_help.sh makes */
    int (*run)(int argc, char **argv); /* argv[0] is the subcommand; returns an exit status, of
                                          which the largest of all ranks counts */
    enum cli_who who;
} cli_command;

/* All of them, in the order of help; NULL after the last. */
extern const cli_command *const cli_commands[];

/* NULL if there is none. */
const cli_command *cli_command_find(const char *name);

/* Of names, NULL after the last, the one that was perhaps meant; NULL if none is near. */
const char *cli_nearest(const char *name, const char *const *names);

/* Prints weir_error_last() as one line, on rank 0 only; returns CLI_FAILED, or CLI_USAGE if the
 * argument was to blame. */
int cli_report(const char *command);

/* [collective] `code` is this rank's. If it is an error on some rank, prints that of the lowest
 * such rank as one line, on rank 0. Returns the same exit status on all ranks. */
int cli_settle(const char *command, int code);

/* What rank 0 has printed is out: 0, or an exit status, the same on all ranks. Done after each
 * subcommand that returns 0. [collective] */
int cli_flush(const char *command);

/* Prints a line about the arguments, on rank 0 only; returns CLI_USAGE. */
int cli_usage(const char *command, const char *problem);

/* The same, about this file or array. */
int cli_usage_of(const char *command, const char *name, const char *problem);

int cli_rank(void);  /* without MPI as the launcher has it, or 0 */
int cli_ranks(void); /* 1 without MPI */

#endif
