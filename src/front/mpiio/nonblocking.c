/* All reads and writes that leave a request: one function, and a macro that lists the names of
 * MPI. */
#include "front/mpiio/order.h"
#include "front/mpiio/tokens.h"

/* Once a collective access can be started, what goes wrong is an error of all ranks, and comes with
 * the request. A rank without memory for one takes part all the same. */
static int launch(wr_mpi_file *mf, const wr_order *o, wr_ready *ready, int code,
                  MPI_Request *request)
{
    wr_token *token = NULL;
    weir_request *started = NULL;
    int lost = wr_token_new(mf, &token);
    if (lost && !o->together)
        return lost;
    wr_start how = {.together = o->together, .form = WR_NONBLOCKING};
    how.code = wr_ready_stage(ready, lost ? lost : code, &how.after);
    if (how.code && !o->together) {
        wr_token_free(token);
        return how.code;
    }
    int refused = wr_file_start(mf->file, &ready->a, &how, &started);
    if (!refused)
        ready->staged = NULL;
    if (refused)
        wr_token_free(token);
    else if (lost)
        wr_tokens_adopt(started);
    else
        wr_token_give(token, started, request);
    return refused ? refused : lost;
}

static int start(MPI_File fh, const wr_order *o, MPI_Request *request)
{
    wr_mpi_file *mf = wr_mpi_file_of(fh);
    *request = MPI_REQUEST_NULL;
    if (!mf)
        return wr_mpi_file_result(NULL, WEIR_EINVAL);
    wr_ready ready;
    int code = wr_order_prepare(mf, o, &ready);
    if (!code || o->together)
        code = launch(mf, o, &ready, code, request);
    wr_ready_release(mf, &ready);
    return wr_mpi_file_result(mf, code);
}

#define AT_POINTER(name, TYPE, BUFFER, write, all, pointer)                                        \
    WR_TRANSFER(                                                                                   \
        name,                                                                                      \
        (MPI_File fh, BUFFER buffer, TYPE count, MPI_Datatype datatype, MPI_Request * request),    \
        write, all, pointer, 0, start(fh, &order, request))

#define AT_OFFSET(name, TYPE, BUFFER, write, all)                                                  \
    WR_TRANSFER(name,                                                                              \
                (MPI_File fh, MPI_Offset offset, BUFFER buffer, TYPE count, MPI_Datatype datatype, \
                 MPI_Request * request),                                                           \
                write, all, WR_EXPLICIT, offset, start(fh, &order, request))

#define STARTS(suffix, TYPE)                                                                       \
    AT_POINTER(iread##suffix, TYPE, wr_into, false, false, WR_INDIVIDUAL)                          \
    AT_POINTER(iread_all##suffix, TYPE, wr_into, false, true, WR_INDIVIDUAL)                       \
    AT_POINTER(iread_shared##suffix, TYPE, wr_into, false, false, WR_SHARED)                       \
    AT_POINTER(iwrite##suffix, TYPE, wr_from, true, false, WR_INDIVIDUAL)                          \
    AT_POINTER(iwrite_all##suffix, TYPE, wr_from, true, true, WR_INDIVIDUAL)                       \
    AT_POINTER(iwrite_shared##suffix, TYPE, wr_from, true, false, WR_SHARED)                       \
    AT_OFFSET(iread_at##suffix, TYPE, wr_into, false, false)                                       \
    AT_OFFSET(iread_at_all##suffix, TYPE, wr_into, false, true)                                    \
    AT_OFFSET(iwrite_at##suffix, TYPE, wr_from, true, false)                                       \
    AT_OFFSET(iwrite_at_all##suffix, TYPE, wr_from, true, true)

STARTS(, int)
#if MPI_VERSION >= 4
STARTS(_c, MPI_Count)
#endif
