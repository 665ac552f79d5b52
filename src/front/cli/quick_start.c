/* Settings of Open MPI for a process that nobody else belongs to. */
#include "quick_start.h"

#include <stdlib.h>

#include "launched.h"

/* Alone, Open MPI would start a daemon and look for networks, which takes half a second. Without
 * the daemon all would share one session folder, so there is none. What the user has set stays;
 * other MPIs do not look at these. */
void cli_start_quickly(void)
{
    if (cli_was_launched() || getenv("OMPI_MCA_ess_singleton_isolated"))
        return;
    setenv("OMPI_MCA_ess_singleton_isolated", "1", 1);
    setenv("OMPI_MCA_orte_create_session_dirs", "0", 1);
    setenv("OMPI_MCA_pml", "ob1", 0);
    setenv("OMPI_MCA_btl", "self", 0);
}
