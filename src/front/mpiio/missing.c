/* What the door does not do yet: each function says so. */
#include "front/mpiio/door.h"

/* Parameters are there for the type only. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

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
