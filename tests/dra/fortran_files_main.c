/* Runs the Fortran program, so that MPI is started by one who knows its integers. */
#include <ga.h>
#include <macdecls.h>
#include <mpi.h>

#include "check.h"

void fortran_files_(long *me, long *nproc, long *failures);

int main(int count, char **words)
{
    long me, nproc, failures = -1;
    MPI_Init(&count, &words);
    GA_Initialize();
    MA_init(C_DBL, 10000, 10000);
    me = GA_Nodeid();
    nproc = GA_Nnodes();
    check_within(60);
    fortran_files_(&me, &nproc, &failures);
    check_within(0);
    CHECK_EQUAL(failures, 0);
    GA_Terminate();
    MPI_Finalize();
    return 0;
}
