/* The transport over MPI. */
#ifndef WR_TRANSPORT_MPI_TRANSPORT_H
#define WR_TRANSPORT_MPI_TRANSPORT_H

#include <mpi.h>

#include "transport/transport.h"

/* [collective] A transport on a new communicator with the ranks of `comm`, which stays the
 * caller's. The tunables become those of rank 0 on every rank; *differed tells whether they were
 * others here. Nodes are those the MPI library tells, or every `tunables->ranks_per_node` ranks of
 * one. A rank comes with `code` != 0 if it has failed already; all ranks fail alike. */
int wr_transport_open_mpi(MPI_Comm comm, int code, wr_tunables *tunables, bool *differed,
                          wr_transport **out);

/* Lets go of the communicator without freeing it, which all ranks would have to do together:
 * closing the transport is local from then on. */
void wr_mpi_abandon(wr_transport *t);

/* Whether MPI calls are still possible: initialised and not finalised. */
int wr_mpi_alive(void);

/* The thread level at which MPI runs. */
int wr_mpi_level(void);

/* For who has started MPI at another level than MPI_Query_thread tells the program. */
void wr_mpi_set_level(int level);

#endif
