/* Starting MPI: our callback on MPI_COMM_SELF must be the first to be set, because they run last
 * set first when MPI ends, and other libraries (HDF5) close their files in theirs. */
#include <dlfcn.h>

#include "front/mpiio/door.h"
#include "weir_mpi.h"

static void started(int result)
{
    if (result == MPI_SUCCESS && !wr_door_flavour())
        wr_mpi_prepare();
}

WR_DOOR int PMPI_Init(int *argc, char ***argv)
{
    int (*theirs)(int *, char ***) = NULL;
    *(void **)(void *)&theirs = dlsym(RTLD_NEXT, "PMPI_Init");
    int result = theirs ? theirs(argc, argv) : MPI_ERR_INTERN;
    started(result);
    return result;
}
WR_BOTH_NAMES(Init)

WR_DOOR int PMPI_Init_thread(int *argc, char ***argv, int wanted, int *provided)
{
    int (*theirs)(int *, char ***, int, int *) = NULL;
    *(void **)(void *)&theirs = dlsym(RTLD_NEXT, "PMPI_Init_thread");
    int result = theirs ? theirs(argc, argv, wanted, provided) : MPI_ERR_INTERN;
    started(result);
    return result;
}
WR_BOTH_NAMES(Init_thread)
