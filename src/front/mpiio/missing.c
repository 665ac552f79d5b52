/* What the door does not do yet: each function says so. */
#include "front/mpiio/door.h"

static int missing(MPI_File fh, const char *name)
{
    wr_door *door = wr_door_of(fh);
    int code = WEIR_EINVAL;
    if (door)
        code = wr_misuse(MPI_ERR_UNSUPPORTED_OPERATION, "%s is not there yet", name);
    return wr_door_result(door, code);
}

/* Parameters are there for the type only. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Nonatomic mode is all there is. */
WR_DOOR int PMPI_File_set_atomicity(MPI_File fh, int flag)
{
    wr_door *door = wr_door_of(fh);
    if (door && !flag)
        return MPI_SUCCESS;
    return missing(fh, "atomic mode");
}
WR_BOTH_NAMES(File_set_atomicity)

WR_DOOR int PMPI_File_get_atomicity(MPI_File fh, int *flag)
{
    wr_door *door = wr_door_of(fh);
    if (door)
        *flag = 0;
    return wr_door_result(door, door ? 0 : WEIR_EINVAL);
}
WR_BOTH_NAMES(File_get_atomicity)

WR_DOOR int PMPI_Register_datarep(const char *datarep, MPI_Datarep_conversion_function *read,
                                  MPI_Datarep_conversion_function *write,
                                  MPI_Datarep_extent_function *extent, void *state)
{
    return wr_door_result(
        NULL, wr_misuse(MPI_ERR_UNSUPPORTED_OPERATION, "MPI_Register_datarep is not there yet"));
}
WR_BOTH_NAMES(Register_datarep)

#if MPI_VERSION >= 4
WR_DOOR int PMPI_Register_datarep_c(const char *datarep, MPI_Datarep_conversion_function_c *read,
                                    MPI_Datarep_conversion_function_c *write,
                                    MPI_Datarep_extent_function *extent, void *state)
{
    return wr_door_result(
        NULL, wr_misuse(MPI_ERR_UNSUPPORTED_OPERATION, "MPI_Register_datarep is not there yet"));
}
WR_BOTH_NAMES(Register_datarep_c)
#endif

#pragma GCC diagnostic pop
