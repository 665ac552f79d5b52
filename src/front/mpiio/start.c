/* Starting MPI: our callback on MPI_COMM_SELF must be the first to be set, because they run last
 * set first when MPI ends, and other libraries (HDF5) close their files in theirs. */
#include <dlfcn.h>

#include "front/mpiio/mpi_file.h"
#include "weir_mpi.h"

static void started(int result)
{
    if (result == MPI_SUCCESS)
        wr_mpi_prepare();
}

/* Whether the program gets the highest level, whatever it asks for. What is wrong with the
 * environment is said by the first open. */
static bool want_multiple(void)
{
    wr_tunables t;
    wr_tunables_init(&t);
    return !wr_tunables_set_environment(&t) && t.mpi_threads.which;
}

static int init_thread(int *argc, char ***argv, int wanted, int *provided)
{
    int (*theirs)(int *, char ***, int, int *) = NULL;
    *(void **)(void *)&theirs = dlsym(RTLD_NEXT, "PMPI_Init_thread");
    return theirs ? theirs(argc, argv, wanted, provided) : MPI_ERR_INTERN;
}

static int init(int *argc, char ***argv)
{
    int (*theirs)(int *, char ***) = NULL;
    *(void **)(void *)&theirs = dlsym(RTLD_NEXT, "PMPI_Init");
    return theirs ? theirs(argc, argv) : MPI_ERR_INTERN;
}

WR_EXPORT int PMPI_Init(int *argc, char ***argv)
{
    int provided;
    int result = want_multiple() ? init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided)
                                 : init(argc, argv);
    started(result);
    return result;
}
WR_BOTH_NAMES(Init)

WR_EXPORT int PMPI_Init_thread(int *argc, char ***argv, int wanted, int *provided)
{
    int result = init_thread(argc, argv, want_multiple() ? MPI_THREAD_MULTIPLE : wanted, provided);
    started(result);
    return result;
}
WR_BOTH_NAMES(Init_thread)
