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

#define MISSING(name, ...)                                                                         \
    WR_DOOR int PMPI_File_##name(MPI_File fh, __VA_ARGS__)                                         \
    {                                                                                              \
        return missing(fh, "MPI_File_" #name);                                                     \
    }                                                                                              \
    WR_BOTH_NAMES(File_##name)

/* Nonblocking ones leave no request. */
#define MISSING_REQUEST(name, ...)                                                                 \
    WR_DOOR int PMPI_File_##name(MPI_File fh, __VA_ARGS__, MPI_Request *request)                   \
    {                                                                                              \
        *request = MPI_REQUEST_NULL;                                                               \
        return missing(fh, "MPI_File_" #name);                                                     \
    }                                                                                              \
    WR_BOTH_NAMES(File_##name)

#define ITEMS(TYPE) void *buffer, TYPE count, MPI_Datatype datatype

#define ALL_MISSING(s, TYPE)                                                                       \
    MISSING_REQUEST(iread##s, ITEMS(TYPE))                                                         \
    MISSING_REQUEST(iread_all##s, ITEMS(TYPE))                                                     \
    MISSING_REQUEST(iread_at##s, MPI_Offset at, ITEMS(TYPE))                                       \
    MISSING_REQUEST(iread_at_all##s, MPI_Offset at, ITEMS(TYPE))                                   \
    MISSING_REQUEST(iread_shared##s, ITEMS(TYPE))                                                  \
    MISSING_REQUEST(iwrite##s, const ITEMS(TYPE))                                                  \
    MISSING_REQUEST(iwrite_all##s, const ITEMS(TYPE))                                              \
    MISSING_REQUEST(iwrite_at##s, MPI_Offset at, const ITEMS(TYPE))                                \
    MISSING_REQUEST(iwrite_at_all##s, MPI_Offset at, const ITEMS(TYPE))                            \
    MISSING_REQUEST(iwrite_shared##s, const ITEMS(TYPE))                                           \
    MISSING(read_shared##s, ITEMS(TYPE), MPI_Status *status)                                       \
    MISSING(write_shared##s, const ITEMS(TYPE), MPI_Status *status)                                \
    MISSING(read_ordered##s, ITEMS(TYPE), MPI_Status *status)                                      \
    MISSING(write_ordered##s, const ITEMS(TYPE), MPI_Status *status)                               \
    MISSING(read_all_begin##s, ITEMS(TYPE))                                                        \
    MISSING(write_all_begin##s, const ITEMS(TYPE))                                                 \
    MISSING(read_at_all_begin##s, MPI_Offset at, ITEMS(TYPE))                                      \
    MISSING(write_at_all_begin##s, MPI_Offset at, const ITEMS(TYPE))                               \
    MISSING(read_ordered_begin##s, ITEMS(TYPE))                                                    \
    MISSING(write_ordered_begin##s, const ITEMS(TYPE))

ALL_MISSING(, int)
#if MPI_VERSION >= 4
ALL_MISSING(_c, MPI_Count)
#endif

MISSING(read_all_end, void *buffer, MPI_Status *status)
MISSING(write_all_end, const void *buffer, MPI_Status *status)
MISSING(read_at_all_end, void *buffer, MPI_Status *status)
MISSING(write_at_all_end, const void *buffer, MPI_Status *status)
MISSING(read_ordered_end, void *buffer, MPI_Status *status)
MISSING(write_ordered_end, const void *buffer, MPI_Status *status)
MISSING(seek_shared, MPI_Offset at, int whence)
MISSING(get_position_shared, MPI_Offset *at)

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
