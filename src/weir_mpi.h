/* From a communicator to its world. */
#ifndef WR_WEIR_MPI_H
#define WR_WEIR_MPI_H

#include <mpi.h>
#include <stdbool.h>

#include "runtime/world.h"

/* [collective at the first call on a communicator, local afterwards] The world of `comm`, borrowed;
 * it ends when the communicator is freed, or at MPI_Finalize. That of MPI_COMM_NULL has
 * this process only, never calls MPI, and does not end. WEIR_ETRANSPORT where MPI is not
 * running. */
int wr_world_get(MPI_Comm comm, wr_world **out);

/* Whether some operation gets on only by calls such as weir_progress_poll. */
bool wr_worlds_need_callers(void);

/* Makes sure that worlds end when MPI does; wr_world_get does it too. */
int wr_mpi_prepare(void);

#endif
