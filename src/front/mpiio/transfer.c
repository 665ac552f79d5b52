/* All blocking reads and writes: one function, and a macro that lists the names of MPI and what
 * each of them means. */
#include "front/mpiio/order.h"

static int transfer(MPI_File fh, const wr_order *o, MPI_Status *status)
{
    wr_mpi_file *mf = wr_mpi_file_of(fh);
    if (!mf)
        return wr_mpi_file_result(NULL, WEIR_EINVAL);
    wr_ready ready;
    int64_t count = 0;
    int code = wr_order_prepare(mf, o, &ready);
    if (wr_datarep_converts(mf->datarep))
        code = wr_staging_run(
            mf->file, &(wr_trip){mf->datarep, ready.staged, &ready.a, o->together}, code, &count);
    else if (!code || o->together)
        code = wr_file_access(mf->file, &ready.a, o->together, code, &count);
    wr_ready_release(mf, &ready);
    if (o->together)
        wr_hints_agree(mf);
    wr_status_set(status, count);
    return wr_mpi_file_result(mf, code);
}

#define AT_POINTER(name, TYPE, BUFFER, write, all, pointer)                                        \
    WR_TRANSFER(                                                                                   \
        name,                                                                                      \
        (MPI_File fh, BUFFER buffer, TYPE count, MPI_Datatype datatype, MPI_Status * status),      \
        write, all, pointer, 0, transfer(fh, &order, status))

#define AT_OFFSET(name, TYPE, BUFFER, write, all)                                                  \
    WR_TRANSFER(name,                                                                              \
                (MPI_File fh, MPI_Offset offset, BUFFER buffer, TYPE count, MPI_Datatype datatype, \
                 MPI_Status * status),                                                             \
                write, all, WR_EXPLICIT, offset, transfer(fh, &order, status))

#define TRANSFERS(suffix, TYPE)                                                                    \
    AT_POINTER(read##suffix, TYPE, wr_into, false, false, WR_INDIVIDUAL)                           \
    AT_POINTER(read_all##suffix, TYPE, wr_into, false, true, WR_INDIVIDUAL)                        \
    AT_POINTER(read_shared##suffix, TYPE, wr_into, false, false, WR_SHARED)                        \
    AT_POINTER(read_ordered##suffix, TYPE, wr_into, false, true, WR_ORDERED)                       \
    AT_POINTER(write##suffix, TYPE, wr_from, true, false, WR_INDIVIDUAL)                           \
    AT_POINTER(write_all##suffix, TYPE, wr_from, true, true, WR_INDIVIDUAL)                        \
    AT_POINTER(write_shared##suffix, TYPE, wr_from, true, false, WR_SHARED)                        \
    AT_POINTER(write_ordered##suffix, TYPE, wr_from, true, true, WR_ORDERED)                       \
    AT_OFFSET(read_at##suffix, TYPE, wr_into, false, false)                                        \
    AT_OFFSET(read_at_all##suffix, TYPE, wr_into, false, true)                                     \
    AT_OFFSET(write_at##suffix, TYPE, wr_from, true, false)                                        \
    AT_OFFSET(write_at_all##suffix, TYPE, wr_from, true, true)

TRANSFERS(, int)
#if MPI_VERSION >= 4
TRANSFERS(_c, MPI_Count)
#endif
