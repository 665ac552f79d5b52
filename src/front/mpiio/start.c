/* Starting MPI.
 *
 * Our callback on MPI_COMM_SELF must be the first to be set, because they run last set first when
 * MPI ends, and other libraries (HDF5) close their files in theirs.
 *
 * Where a collective transfer can be under way while the program is inside MPI, only a thread of
 * ours can move it, between nodes by messages: MPI is started with MPI_THREAD_MULTIPLE then. The
 * program is told the level that it has asked for (decision 016). */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>

#include "front/mpiio/mpi_file.h"
#include "front/mpiio/program_names.h"
#include "transport/mpi_transport.h"
#include "weir_mpi.h"

static _Atomic int told = -1; /* to the program, if that is not what MPI says */
static char reason[100];      /* why not */

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

static int query(int *level)
{
    int (*theirs)(int *) = NULL;
    *(void **)(void *)&theirs = dlsym(RTLD_NEXT, "PMPI_Query_thread");
    return theirs ? theirs(level) : MPI_ERR_INTERN;
}

/* Whether MPI gets the highest level, whatever the program asks for; sets the reason. What is wrong
 * with the environment is said by the first open. */
static bool want_multiple(int asked)
{
    wr_tunables t;
    wr_tunables_init(&t);
    if (asked == MPI_THREAD_MULTIPLE || wr_tunables_set_environment(&t) ||
        t.mpi_threads.which == WR_MPI_THREADS_PROGRAM)
        return false;
    if (t.mpi_threads.which == WR_MPI_THREADS_MULTIPLE) {
        snprintf(reason, sizeof reason, "mpi_threads=multiple");
        return true;
    }
    const char *name = wr_program_names_overlap();
    if (name)
        snprintf(reason, sizeof reason, "the program names %s", name);
    return name != NULL;
}

static int start_multiple(int *argc, char ***argv, int asked, int *provided)
{
    int level = asked;
    int result = init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level);
    if (result == MPI_SUCCESS) {
        wr_mpi_set_level(level);
        *provided = asked < level ? asked : level;
        told = *provided;
    }
    return result;
}

static int started(int result)
{
    if (result == MPI_SUCCESS)
        wr_mpi_prepare();
    return result;
}

WR_EXPORT int PMPI_Init(int *argc, char ***argv)
{
    int unused;
    return started(want_multiple(MPI_THREAD_SINGLE)
                       ? start_multiple(argc, argv, MPI_THREAD_SINGLE, &unused)
                       : init(argc, argv));
}
WR_BOTH_NAMES(Init)

WR_EXPORT int PMPI_Init_thread(int *argc, char ***argv, int asked, int *provided)
{
    return started(want_multiple(asked) ? start_multiple(argc, argv, asked, provided)
                                        : init_thread(argc, argv, asked, provided));
}
WR_BOTH_NAMES(Init_thread)

WR_EXPORT int PMPI_Query_thread(int *level)
{
    int result = query(level);
    if (result == MPI_SUCCESS && told >= 0)
        *level = told;
    return result;
}
WR_BOTH_NAMES(Query_thread)

const char *wr_start_reason(void)
{
    return told >= 0 && wr_mpi_level() == MPI_THREAD_MULTIPLE ? reason : "";
}
