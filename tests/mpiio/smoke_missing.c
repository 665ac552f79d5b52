/* What the door does not do yet says so, touches nothing and leaves no request. A function that
 * begins to work leaves this file for a test of what it does. */
#include <stddef.h>

#include "check.h"
#include "mpiio/smoke.h"

void smoke_missing(const char *path)
{
    MPI_File fh;
    MPI_Offset size = -1;
    int amode = MPI_MODE_CREATE | MPI_MODE_RDWR;
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &fh));
    CHECK_OK(MPI_File_set_size(fh, 0));
    CHECK_CLASS(MPI_Register_datarep("mine", NULL, NULL, NULL, NULL),
                MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_OK(MPI_File_get_size(fh, &size));
    CHECK_EQUAL(size, 0);
    CHECK_OK(MPI_File_close(&fh));
}
