/* Where the shared pointer stands. */
#include "base/arith.h"
#include "engine/council.h"
#include "file/pointer.h"
#include "front/mpiio/door.h"

/* [collective] All ranks say the same. */
static int check_same(wr_door *door, int64_t offset, int whence)
{
    int64_t both[] = {offset, ~offset, whence, ~(int64_t)whence};
    int code = wr_file_settle(door->file);
    if (!code)
        code = wr_council_reduce(&door->file->port.channel, WR_OR, 4, both);
    if (!code && (both[0] & both[1] || both[2] & both[3]))
        code = wr_misuse(MPI_ERR_NOT_SAME, "ranks seek to different places");
    return code;
}

static int move(wr_door *door, int64_t offset, int whence)
{
    int64_t position = 0;
    int code = 0;
    if (whence == MPI_SEEK_CUR)
        code = wr_pointer_advance(door->file, door->views, 0, &position);
    if (!code)
        code = wr_view_seek(door, position, offset, whence, &position);
    return code ? code : wr_pointer_set(door->file, door->views, position);
}

/* [collective] Rank 0 does it when all have come, and the others wait for it. */
static int seek_shared(wr_door *door, int64_t offset, int whence)
{
    int code = check_same(door, offset, whence);
    if (code)
        return code;
    if (door->file->port.world->transport->rank == 0)
        code = move(door, offset, whence);
    return wr_council_agree(&door->file->port.channel, code);
}

WR_DOOR int PMPI_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence)
{
    wr_door *door = wr_door_of(fh);
    int code = door ? wr_door_refuse_sequential(door) : WEIR_EINVAL;
    return wr_door_result(door, code ? code : seek_shared(door, offset, whence));
}
WR_BOTH_NAMES(File_seek_shared)

WR_DOOR int PMPI_File_get_position_shared(MPI_File fh, MPI_Offset *offset)
{
    wr_door *door = wr_door_of(fh);
    int64_t position = 0;
    int code = door ? wr_door_refuse_sequential(door) : WEIR_EINVAL;
    if (!code)
        code = wr_pointer_advance(door->file, door->views, 0, &position);
    if (!code)
        *offset = position / door->unit;
    return wr_door_result(door, code);
}
WR_BOTH_NAMES(File_get_position_shared)
