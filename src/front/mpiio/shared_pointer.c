/* Seeking the shared pointer is collective: ranks must agree, and rank 0 moves it for all. */
#include "base/arith.h"
#include "file/pointer.h"
#include "front/mpiio/mpi_file.h"

/* [collective] All ranks say the same. */
static int check_same(wr_mpi_file *mf, int64_t offset, int whence)
{
    int64_t both[] = {offset, ~offset, whence, ~(int64_t)whence};
    int code = wr_file_settle(mf->file);
    if (!code)
        code = wr_file_reduce(mf->file, WR_OR, 4, both);
    if (!code && (both[0] & both[1] || both[2] & both[3]))
        code = wr_misuse(MPI_ERR_NOT_SAME, "ranks seek to different places");
    return code;
}

static int move(wr_mpi_file *mf, int64_t offset, int whence)
{
    int64_t position = 0;
    int code = 0;
    if (whence == MPI_SEEK_CUR)
        code = wr_pointer_look(mf->file, mf->views, &position);
    if (!code)
        code = wr_view_seek(mf, position, offset, whence, &position);
    return code ? code : wr_pointer_set(mf->file, mf->views, position);
}

/* [collective] Rank 0 does it when all have come, and the others wait for it. */
static int seek_shared(wr_mpi_file *mf, int64_t offset, int whence)
{
    int code = check_same(mf, offset, whence);
    if (code)
        return code;
    if (wr_file_ranks(mf->file)->rank == 0)
        code = move(mf, offset, whence);
    return wr_file_agree(mf->file, code);
}

WR_EXPORT int PMPI_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence)
{
    wr_mpi_file *mf = wr_mpi_file_of(fh);
    int code = mf ? wr_mpi_file_refuse_sequential(mf) : WEIR_EINVAL;
    return wr_mpi_file_result(mf, code ? code : seek_shared(mf, offset, whence));
}
WR_BOTH_NAMES(File_seek_shared)

WR_EXPORT int PMPI_File_get_position_shared(MPI_File fh, MPI_Offset *offset)
{
    wr_mpi_file *mf = wr_mpi_file_of(fh);
    int64_t position = 0;
    int code = mf ? wr_mpi_file_refuse_sequential(mf) : WEIR_EINVAL;
    if (!code)
        code = wr_pointer_advance(mf->file, mf->views, 0, &position);
    if (!code)
        *offset = position / mf->unit;
    return wr_mpi_file_result(mf, code);
}
WR_BOTH_NAMES(File_get_position_shared)
