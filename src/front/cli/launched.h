/* The launcher of MPI that has started this process, if one has. */
#ifndef WR_CLI_LAUNCHED_H
#define WR_CLI_LAUNCHED_H

#include <stdbool.h>

/* Whether something that starts several processes has started this one. To be asked first before
 * MPI_Init, which may set the same variables. */
bool cli_was_launched(void);

/* The process's number among those that a launcher has started; 0 if none is its parent. */
int cli_launched_rank(void);

/* Whether the launcher of another MPI has started this process: of several, each is alone. To be
 * asked after MPI_Init. Prints a line, by one of them. */
bool cli_is_astray(void);

/* Whether this descriptor leads to a launcher on this host, whose own is a terminal. */
bool cli_launcher_has_terminal(int descriptor);

/* Whether somebody sees at once what is written to standard error. */
bool cli_errors_are_seen(void);

#endif
