/* Split collective functions: one at a time on a file. */
#include "front/mpiio/order.h"

static int begin(MPI_File fh, const wr_order *o)
{
    wr_mpi_file *mf = wr_mpi_file_of(fh);
    if (!mf)
        return wr_mpi_file_result(NULL, WEIR_EINVAL);
    if (mf->split.request)
        return wr_mpi_file_result(
            mf, wr_misuse(MPI_ERR_OTHER, "another split access of the file has not ended"));
    wr_ready ready;
    int code = wr_order_prepare(mf, o, &ready);
    wr_after after;
    code = wr_ready_stage(&ready, code, &after);
    const wr_start how = {.together = true, .form = WR_SPLIT, .code = code, .after = after};
    struct wr_split begun = {.write = o->write, .pointer = (int)o->pointer};
    code = wr_file_start(mf->file, &ready.a, &how, &begun.request);
    if (!code)
        ready.staged = NULL;
    wr_ready_release(mf, &ready);
    if (!code)
        mf->split = begun;
    return wr_mpi_file_result(mf, code);
}

static int end(MPI_File fh, bool write, enum wr_pointer_kind pointer, MPI_Status *status)
{
    wr_mpi_file *mf = wr_mpi_file_of(fh);
    int64_t count = 0;
    if (!mf)
        return wr_mpi_file_result(NULL, WEIR_EINVAL);
    if (!mf->split.request || mf->split.write != write || mf->split.pointer != (int)pointer)
        return wr_mpi_file_result(
            mf, wr_misuse(MPI_ERR_OTHER, "the end of a split access that was not begun"));
    int code = weir_request_wait(&mf->split.request, &count);
    wr_status_set(status, count);
    return wr_mpi_file_result(mf, code);
}

#define AT_POINTER(name, TYPE, BUFFER, write, pointer)                                             \
    WR_TRANSFER(name, (MPI_File fh, BUFFER buffer, TYPE count, MPI_Datatype datatype), write,      \
                true, pointer, 0, begin(fh, &order))

#define AT_OFFSET(name, TYPE, BUFFER, write)                                                       \
    WR_TRANSFER(                                                                                   \
        name, (MPI_File fh, MPI_Offset offset, BUFFER buffer, TYPE count, MPI_Datatype datatype),  \
        write, true, WR_EXPLICIT, offset, begin(fh, &order))

#define BEGINNINGS(suffix, TYPE)                                                                   \
    AT_POINTER(read_all_begin##suffix, TYPE, wr_into, false, WR_INDIVIDUAL)                        \
    AT_POINTER(read_ordered_begin##suffix, TYPE, wr_into, false, WR_ORDERED)                       \
    AT_POINTER(write_all_begin##suffix, TYPE, wr_from, true, WR_INDIVIDUAL)                        \
    AT_POINTER(write_ordered_begin##suffix, TYPE, wr_from, true, WR_ORDERED)                       \
    AT_OFFSET(read_at_all_begin##suffix, TYPE, wr_into, false)                                     \
    AT_OFFSET(write_at_all_begin##suffix, TYPE, wr_from, true)

BEGINNINGS(, int)
#if MPI_VERSION >= 4
BEGINNINGS(_c, MPI_Count)
#endif

#define ENDING(name, BUFFER, write, pointer)                                                       \
    WR_EXPORT int PMPI_File_##name(MPI_File fh, BUFFER buffer, MPI_Status *status)                 \
    {                                                                                              \
        (void)buffer;                                                                              \
        return end(fh, (write), (pointer), status);                                                \
    }                                                                                              \
    WR_BOTH_NAMES(File_##name)

ENDING(read_all_end, wr_into, false, WR_INDIVIDUAL)
ENDING(read_at_all_end, wr_into, false, WR_EXPLICIT)
ENDING(read_ordered_end, wr_into, false, WR_ORDERED)
ENDING(write_all_end, wr_from, true, WR_INDIVIDUAL)
ENDING(write_at_all_end, wr_from, true, WR_EXPLICIT)
ENDING(write_ordered_end, wr_from, true, WR_ORDERED)
