/* What makes MPI start quickly where there is one process. */
#ifndef WR_CLI_QUICK_START_H
#define WR_CLI_QUICK_START_H

/* To be called before MPI_Init; does nothing where a launcher has started this process. */
void cli_start_quickly(void);

#endif
