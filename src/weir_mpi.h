/* From a communicator to its world. */
#ifndef WR_WEIR_MPI_H
#define WR_WEIR_MPI_H

#include <mpi.h>
#include <stdbool.h>

#include "runtime/world.h"

/* [collective at the first call on a communicator, local afterwards] The world of `comm`, borrowed;
 * it ends when the communicator is freed, or at MPI_Finalize. WEIR_ETRANSPORT where MPI is not
 * running. MPI_COMM_NULL has a new world at each call, of this process only, which never calls MPI;
 * it ends with the last of what was opened on it, once the caller lets it. */
int wr_world_get(MPI_Comm comm, wr_world **out);
void wr_world_let(MPI_Comm comm, wr_world *world);

/* Whether some operation gets on only by calls such as weir_progress_poll. */
bool wr_worlds_need_callers(void);

/* Makes sure that worlds end when MPI does; wr_world_get does it too. */
int wr_mpi_prepare(void);

#endif
