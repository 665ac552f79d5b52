/* The subcommands of `weir`. */
#ifndef WR_CLI_COMMAND_H
#define WR_CLI_COMMAND_H

#include <weir/weir.h>

/* Exit statuses: what was asked for failed; what was asked for makes no sense. */
enum { CLI_FAILED = 1, CLI_USAGE = 2 };

/* Run on every rank, MPI being initialised; argv[0] is the subcommand. Returns an exit status. */
typedef struct cli_command {
    const char *name;
    const char *arguments;
    const char *help;
    const char *details; /* what its arguments are, line by line; NULL: nothing more to say */
    int (*run)(int argc, char **argv);
} cli_command;

extern const cli_command cli_create, cli_info, cli_get, cli_convert, cli_copy, cli_transpose,
    cli_matmul, cli_laplace, cli_median, cli_reduce, cli_fill, cli_doctor, cli_plan;

/* Prints weir_error_last() as one line, on rank 0 only; returns CLI_FAILED, or CLI_USAGE if the
 * argument was to blame. */
int cli_report(const char *command);

/* [collective] `code` is this rank's. If it is an error on some rank, prints that of the lowest
 * such rank as one line, on rank 0. Returns the same exit status on all ranks. */
int cli_settle(const char *command, int code);

/* What rank 0 has printed is out: 0, or an exit status, the same on all ranks. [collective] */
int cli_flush(const char *command);

/* Prints a line about the arguments, on rank 0 only; returns CLI_USAGE. */
int cli_usage(const char *command, const char *problem);

int cli_rank(void);

#endif
