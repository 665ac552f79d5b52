/* What makes MPI start quickly where there is one process. */
#ifndef WR_CLI_QUICK_START_H
#define WR_CLI_QUICK_START_H

#include <stdbool.h>

/* To be called before MPI_Init; does nothing where a launcher has started this process. */
void cli_start_quickly(void);

/* Whether the launcher of another MPI has started this process: of several, each is alone. To be
 * asked after MPI_Init. Prints a line, by one of them. */
bool cli_is_astray(void);

#endif
