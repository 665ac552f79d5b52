/* MPI's beginning and end for Fortran programs whose integers are not MPI's. */
#include <mpi.h>
#include <stddef.h>

void begin_mpi_(void);
void end_mpi_(void);

void begin_mpi_(void)
{
    MPI_Init(NULL, NULL);
}

void end_mpi_(void)
{
    MPI_Finalize();
}
