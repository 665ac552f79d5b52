/* What a job leaves for people to look at: the tunables `trace` and `stats`. */
#ifndef WR_WEIR_WATCHING_H
#define WR_WEIR_WATCHING_H

#include "weir_mpi.h"

/* [collective] A world has been opened, before files are. */
void wr_watching_begin(MPI_Comm comm, wr_world *world);

/* The same of a process that opens files on MPI_COMM_NULL. */
void wr_watching_begin_alone(wr_process *process, const wr_tunables *tunables);

/* By a child process: somebody may have been here when it was made. */
void wr_watching_forget(void);

/* A world is about to end; local. */
void wr_watching_part(const wr_world *world);

/* MPI is about to end, and all worlds have. Collective only if all ranks are known to come here. */
void wr_watching_end(const wr_process *process);

#endif
