/* With a region folder that is too small, every rank gets the same error, and none a signal. */
#include <mpi.h>
#include <stdio.h>

#include "check.h"
#include "weir_mpi.h"

int main(int argc, char **argv)
{
    int rank;
    wr_world *w;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK_FAILS(wr_world_get(MPI_COMM_WORLD, &w), WEIR_ENOSPC, "reserve shared memory");
    CHECK_EQUAL(weir_error_last()->rank, 0);
    MPI_Finalize();
    return 0;
}
