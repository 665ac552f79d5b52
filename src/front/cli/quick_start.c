/* Settings of Open MPI for a process that nobody else belongs to. */
#include "quick_start.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "weir/weir.h"

/* Whether something that starts several processes has started this one. */
static bool was_launched(void)
{
    static const char *const signs[] = {"OMPI_COMM_WORLD_", "PMI",   "MPIEXEC_",
                                        "SLURM_STEP",       "PALS_", "FLUX_TASK_"};
    for (char **at = environ; *at; at++)
        for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
            if (!strncmp(*at, signs[i], strlen(signs[i])))
                return true;
    return false;
}

/* Alone, Open MPI would start a daemon and look for networks, which takes half a second. Without
 * the daemon all would share one session folder, so there is none. What the user has set stays;
 * other MPIs do not look at these. */
void cli_start_quickly(void)
{
    if (was_launched() || getenv("OMPI_MCA_ess_singleton_isolated"))
        return;
    setenv("OMPI_MCA_ess_singleton_isolated", "1", 1);
    setenv("OMPI_MCA_orte_create_session_dirs", "0", 1);
    setenv("OMPI_MCA_pml", "ob1", 0);
    setenv("OMPI_MCA_btl", "self", 0);
}

static int number_in(const char *variable)
{
    const char *text = getenv(variable);
    return text ? atoi(text) : 0;
}

bool cli_is_astray(void)
{
    static const struct {
        const char *size, *rank;
    } launchers[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, {"PMI_SIZE", "PMI_RANK"}};
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; size == 1 && i < sizeof launchers / sizeof *launchers; i++) {
        if (number_in(launchers[i].size) <= 1)
            continue;
        if (number_in(launchers[i].rank) == 0)
            fprintf(stderr,
                    "weir: started %d times by the launcher of another MPI; this is weir %s\n",
                    number_in(launchers[i].size), weir_version());
        return true;
    }
    return false;
}
