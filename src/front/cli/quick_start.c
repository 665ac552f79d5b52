/* Settings of Open MPI for a process that nobody else belongs to. */
#include "quick_start.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
