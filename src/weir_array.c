/* Arrays on communicators. */
#include "array/array.h"
#include "weir/weir.h"
#include "weir_mpi.h"

int weir_array_create(MPI_Comm comm, const char *path, const weir_array_info *info,
                      const weir_array_options *options, const char *hints, weir_array **out)
{
    wr_world *world;
    int code = wr_world_get(comm, &world);
    if (code)
        return code;
    code = wr_array_create(world, path, info, options, hints, out);
    wr_world_let(comm, world);
    return code;
}

int weir_array_remove(MPI_Comm comm, const char *path)
{
    wr_world *world;
    int code = wr_world_get(comm, &world);
    if (code)
        return code;
    code = wr_array_delete(world, path);
    wr_world_let(comm, world);
    return code;
}

int weir_array_open(MPI_Comm comm, const char *path, int mode, const char *hints, weir_array **out)
{
    wr_world *world;
    int code = wr_world_get(comm, &world);
    if (code)
        return code;
    code = wr_array_open(world, path, mode, hints, out);
    wr_world_let(comm, world);
    return code;
}
