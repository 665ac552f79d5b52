/* What the door does not do yet says so, touches nothing and leaves no request. A function that
 * begins to work leaves this file for a test of what it does. */
#include <stddef.h>

#include "check.h"
#include "mpiio/smoke.h"

static const int unsupported = MPI_ERR_UNSUPPORTED_OPERATION;

static char data[8];
static MPI_Status status;

#define REFUSED(...) CHECK_CLASS(MPI_File_##__VA_ARGS__, unsupported)

/* A nonblocking one. */
#define REQUEST(name, ...)                                                                         \
    do {                                                                                           \
        MPI_Request request;                                                                       \
        CHECK_CLASS(MPI_File_##name(fh, __VA_ARGS__, &request), unsupported);                      \
        CHECK(request == MPI_REQUEST_NULL);                                                        \
        CHECK_CLASS(PMPI_File_##name(MPI_FILE_NULL, __VA_ARGS__, &request), MPI_ERR_FILE);         \
    } while (0)

/* All that have a count, in both variants. */
#define WITH_COUNT(c)                                                                              \
    REQUEST(iread##c, data, 1, MPI_BYTE);                                                          \
    REQUEST(iread_all##c, data, 1, MPI_BYTE);                                                      \
    REQUEST(iread_at##c, 0, data, 1, MPI_BYTE);                                                    \
    REQUEST(iread_at_all##c, 0, data, 1, MPI_BYTE);                                                \
    REQUEST(iread_shared##c, data, 1, MPI_BYTE);                                                   \
    REQUEST(iwrite##c, data, 1, MPI_BYTE);                                                         \
    REQUEST(iwrite_all##c, data, 1, MPI_BYTE);                                                     \
    REQUEST(iwrite_at##c, 0, data, 1, MPI_BYTE);                                                   \
    REQUEST(iwrite_at_all##c, 0, data, 1, MPI_BYTE);                                               \
    REQUEST(iwrite_shared##c, data, 1, MPI_BYTE);                                                  \
    REFUSED(read_shared##c(fh, data, 1, MPI_BYTE, &status));                                       \
    REFUSED(write_shared##c(fh, data, 1, MPI_BYTE, &status));                                      \
    REFUSED(read_ordered##c(fh, data, 1, MPI_BYTE, &status));                                      \
    REFUSED(write_ordered##c(fh, data, 1, MPI_BYTE, &status));                                     \
    REFUSED(read_all_begin##c(fh, data, 1, MPI_BYTE));                                             \
    REFUSED(write_all_begin##c(fh, data, 1, MPI_BYTE));                                            \
    REFUSED(read_at_all_begin##c(fh, 0, data, 1, MPI_BYTE));                                       \
    REFUSED(write_at_all_begin##c(fh, 0, data, 1, MPI_BYTE));                                      \
    REFUSED(read_ordered_begin##c(fh, data, 1, MPI_BYTE));                                         \
    REFUSED(write_ordered_begin##c(fh, data, 1, MPI_BYTE))

static void refuse_int(MPI_File fh)
{
    WITH_COUNT();
}

static void refuse_large(MPI_File fh)
{
#if MPI_VERSION >= 4
    WITH_COUNT(_c);
#else
    (void)fh;
#endif
}

static void refuse_others(MPI_File fh)
{
    MPI_Offset at;
    REFUSED(read_all_end(fh, data, &status));
    REFUSED(write_all_end(fh, data, &status));
    REFUSED(read_at_all_end(fh, data, &status));
    REFUSED(write_at_all_end(fh, data, &status));
    REFUSED(read_ordered_end(fh, data, &status));
    REFUSED(write_ordered_end(fh, data, &status));
    REFUSED(seek_shared(fh, 0, MPI_SEEK_SET));
    REFUSED(get_position_shared(fh, &at));
    REFUSED(set_atomicity(fh, 1));
    CHECK_CLASS(MPI_File_seek_shared(MPI_FILE_NULL, 0, MPI_SEEK_SET), MPI_ERR_FILE);
    CHECK_CLASS(MPI_Register_datarep("mine", NULL, NULL, NULL, NULL), unsupported);
}

void smoke_missing(const char *path)
{
    MPI_File fh;
    MPI_Offset size = -1;
    int amode = MPI_MODE_CREATE | MPI_MODE_RDWR;
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &fh));
    CHECK_OK(MPI_File_set_size(fh, 0));
    refuse_int(fh);
    refuse_large(fh);
    refuse_others(fh);
    CHECK_OK(MPI_File_get_size(fh, &size));
    CHECK_EQUAL(size, 0);
    CHECK_OK(MPI_File_close(&fh));
}
