/* Files on communicators. */
#include "file/file.h"
#include "weir/weir.h"
#include "weir_mpi.h"

int weir_file_open(MPI_Comm comm, const char *path, int mode, const char *hints, weir_file **out)
{
    wr_world *world;
    int code = wr_world_get(comm, &world);
    if (code)
        return code;
    code = wr_file_open(world, path, mode, hints, out);
    wr_world_let(comm, world);
    return code;
}
