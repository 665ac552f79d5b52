/* Persistent realms and write-behind through the door: whatever views, sizes and hints follow, a
 * byte is written by the rank that wrote it first. Who writes is seen by this program's own pwrite.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check.h"
#include "mpiio/door_support.h"

enum { CELL = 512, CELLS = 40000, MOST = 1 << 16, MAPS = 2 };

/* The part of the file that a map is of starts here. */
static const int64_t base_of[MAPS] = {0, INT64_C(5) << 30};

/* By map and cell: who wrote it, counted from 1, and in which call. */
static int owner[MAPS][CELLS];
static char latest[MAPS][CELLS];

/* What this rank has written since it was asked last. */
static struct iovec_at {
    int64_t offset, bytes;
} written[MOST];
static int64_t count;

/* By the door, which is a library. */
#define SEEN __attribute__((visibility("default")))

static void note(off64_t offset, size_t bytes)
{
    CHECK(count < MOST);
    written[count++] = (struct iovec_at){offset, (int64_t)bytes};
}

SEEN ssize_t pwrite64(int fd, const void *memory, size_t bytes, off64_t offset)
{
    note(offset, bytes);
    return syscall(SYS_pwrite64, fd, memory, bytes, offset);
}

SEEN ssize_t pwritev64(int fd, const struct iovec *iov, int parts, off64_t offset)
{
    size_t bytes = 0;
    for (int i = 0; i < parts; i++)
        bytes += iov[i].iov_len;
    note(offset, bytes);
    return syscall(SYS_pwritev, fd, iov, parts, (long)offset, 0L);
}

/* --- calls --- */

/* Cells [first, first + cells) of a map, dealt to the ranks. */
typedef struct call {
    int map;
    int64_t first, cells;
} call;

static const call calls[] = {{0, 0, 2048},    {0, 6144, 64}, {0, 0, 32768}, {1, 100, 4096},
                             {0, 4093, 5000}, {0, 1000, 1},  {1, 0, 20000}};
enum { CALLS = sizeof calls / sizeof *calls };

static void write_cells(MPI_File fh, const call *c, int number)
{
    static char memory[CELLS * CELL];
    MPI_Datatype cell, dealt;
    int64_t own = (c->cells - door_rank + door_ranks - 1) / door_ranks;
    memset(memory, number + 1, sizeof memory);
    MPI_Type_contiguous(CELL, MPI_BYTE, &cell);
    MPI_Type_create_resized(cell, 0, (MPI_Aint)CELL * door_ranks, &dealt);
    MPI_Type_commit(&cell);
    MPI_Type_commit(&dealt);
    CHECK_OK(MPI_File_set_view(fh, base_of[c->map] + (c->first + door_rank) * CELL, cell, dealt,
                               "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_write_all(fh, memory, (int)own, cell, MPI_STATUS_IGNORE));
    MPI_Type_free(&cell);
    MPI_Type_free(&dealt);
}

/* [collective] Every cell of the call was written by one rank, the one that always does. */
static void check_owners(const call *c, int number)
{
    static int mine[CELLS], all[CELLS];
    memset(mine, 0, sizeof mine);
    for (int64_t i = 0; i < count; i++) {
        int64_t at = written[i].offset - base_of[c->map];
        CHECK(at >= 0 && at % CELL == 0 && written[i].bytes % CELL == 0);
        for (int64_t k = 0; k < written[i].bytes / CELL; k++)
            mine[at / CELL + k] += 1 + door_rank;
    }
    MPI_Allreduce(mine, all, CELLS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int64_t i = c->first; i < c->first + c->cells; i++) {
        CHECK(all[i] > 0 && (mine[i] == 0 || mine[i] == all[i]));
        CHECK(owner[c->map][i] == 0 || owner[c->map][i] == all[i]);
        owner[c->map][i] = all[i];
        latest[c->map][i] = (char)(number + 1);
    }
    count = 0;
}

static void check_content(const char *path)
{
    static char bytes[CELLS * CELL];
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0);
    for (int map = 0; map < MAPS; map++) {
        ssize_t got = pread(fd, bytes, sizeof bytes, base_of[map]);
        for (int64_t i = 0; i < CELLS * (int64_t)CELL; i++)
            CHECK_EQUAL(i < got ? bytes[i] : 0, latest[map][i / CELL]);
    }
    CHECK(!close(fd));
}

static MPI_File open_with(MPI_Comm comm, const char *path, const char *hints)
{
    MPI_File fh;
    MPI_Info info = door_info(hints);
    CHECK_OK(MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &fh));
    CHECK(!strcmp(door_hint(fh, "weir_realms"), "persistent"));
    MPI_Info_free(&info);
    return fh;
}

/* [collective] All calls; hints that ask for other aggregators and blocks change nothing. */
static void test_owners(MPI_Comm comm, const char *hints, bool behind)
{
    const char *path = door_path("owners");
    MPI_File fh = open_with(comm, path, hints);
    MPI_Info other = door_info("cb_nodes=1;romio_cb_fr_type=1000;romio_cb_fr_alignment=4096");
    memset(owner, 0, sizeof owner);
    memset(latest, 0, sizeof latest);
    count = 0;
    for (int i = 0; i < CALLS; i++) {
        write_cells(fh, &calls[i], i);
        CHECK(!behind || count == 0); /* all of it is kept */
        MPI_Barrier(comm);
        CHECK_OK(MPI_File_sync(fh));
        check_owners(&calls[i], i);
        if (i == 3)
            CHECK_OK(MPI_File_set_info(fh, other));
    }
    MPI_Info_free(&other);
    int several = 0;
    for (int64_t i = 1; i < calls[2].cells; i++)
        several |= owner[0][i] != owner[0][0];
    CHECK(several || door_ranks == 1);
    CHECK_OK(MPI_File_close(&fh));
    if (door_rank == 0)
        check_content(path);
    MPI_Barrier(comm);
    if (door_rank == 0)
        CHECK(!unlink(path));
}

/* A file left open: the end of MPI writes what is kept. */
static const char *leave_open(void)
{
    const char *path = door_path("left");
    MPI_File fh = open_with(MPI_COMM_WORLD, path, "weir_write_behind=always");
    memset(latest, 0, sizeof latest);
    for (int i = 0; i < CALLS; i++) {
        write_cells(fh, &calls[i], i);
        memset(latest[calls[i].map] + calls[i].first, i + 1, (size_t)calls[i].cells);
    }
    return path;
}

int main(int argc, char **argv)
{
    static const char *const hints[] = {
        "romio_cb_pfr=enable;romio_cb_fr_type=aar;romio_cb_fr_alignment=512",
        "romio_cb_pfr=enable;romio_cb_fr_alignment=2097152",
        "romio_cb_fr_type=65536;romio_cb_pfr=enable",
        "romio_cb_pfr=enable;romio_cb_fr_type=100352;weir_write_behind=always",
        "weir_write_behind=always;romio_cb_fr_alignment=2097152"};
    char pairs[300], per_node[20];
    door_begin(&argc, &argv);
    for (int nodes = 0; nodes < 4; nodes++)
        for (int i = 0; i < 5; i++) {
            MPI_Comm comm;
            check_within(100);
            snprintf(per_node, sizeof per_node, "%d", nodes);
            setenv("WEIR_RANKS_PER_NODE", per_node, 1);
            snprintf(pairs, sizeof pairs, "%s;cb_nodes=%d;romio_cb_write=enable;weir_storage=posix",
                     hints[i], door_ranks > 3 ? 3 : door_ranks);
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
            test_owners(comm, pairs, i >= 3);
            MPI_Comm_free(&comm);
        }
    setenv("WEIR_RANKS_PER_NODE", "0", 1);
    const char *left = leave_open();
    MPI_Finalize();
    if (door_rank == 0) {
        check_content(left);
        CHECK(!unlink(left));
    }
    return 0;
}
