/* Small writes beside read-modify-writes of one file, by processes: rank 0 writes every first half
 * of a cell through a view, reading what lies between; the others write second halves, one a call,
 * without a pause. Nobody's bytes are lost, and all come to an end. */
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "mpiio/door_support.h"

enum { CELLS = 48, CELL = 16, HALF = 8 };

static void modify(const char *path, int64_t rounds)
{
    MPI_File fh;
    MPI_Datatype halves;
    MPI_Info info = door_info("romio_ds_write=enable;ind_wr_buffer_size=300;weir_fault=delay:100");
    char data[CELLS * HALF], back[CELLS * HALF];
    CHECK_OK(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR, info, &fh));
    MPI_Type_vector(CELLS, HALF, CELL, MPI_BYTE, &halves);
    MPI_Type_commit(&halves);
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_BYTE, halves, "native", MPI_INFO_NULL));
    for (int64_t i = 0; i < rounds; i++) {
        memset(data, (int)(i % 100 + 1), sizeof data);
        CHECK_OK(MPI_File_write_at(fh, 0, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_File_read_at(fh, 0, back, sizeof back, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK(!memcmp(data, back, sizeof data));
    }
    MPI_Type_free(&halves);
    MPI_Info_free(&info);
    CHECK_OK(MPI_File_close(&fh));
}

/* Until rank 0 is done. */
static void write_holes(const char *path, MPI_Request *done)
{
    MPI_File fh;
    int64_t held[CELLS] = {0}, back;
    int over = 0;
    CHECK_OK(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR, MPI_INFO_NULL, &fh));
    for (int64_t i = door_rank - 1; !over; i += door_ranks - 1) {
        int at = (int)(i % CELLS); /* the count of others divides CELLS */
        held[at] = i;
        CHECK_OK(
            MPI_File_write_at(fh, at * CELL + HALF, &held[at], HALF, MPI_BYTE, MPI_STATUS_IGNORE));
        at = (int)(i * 7 % CELLS) / (door_ranks - 1) * (door_ranks - 1) + door_rank - 1;
        CHECK_OK(MPI_File_read_at(fh, at * CELL + HALF, &back, HALF, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK_EQUAL(back, held[at]);
        MPI_Test(done, &over, MPI_STATUS_IGNORE);
    }
    CHECK_OK(MPI_File_close(&fh));
}

/* A rank with a lease waits in close for one that modifies before it comes there. */
static void close_early(const char *path)
{
    enum { ROUNDS = 20 };
    MPI_Info info = door_info("romio_ds_write=enable");
    for (int i = 0; i < ROUNDS; i++) {
        MPI_File fh;
        MPI_Datatype halves;
        int64_t word = i;
        char data[CELLS * HALF] = {0};
        CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, info, &fh));
        if (door_rank > 0) {
            CHECK_OK(MPI_File_write_at(fh, HALF, &word, HALF, MPI_BYTE, MPI_STATUS_IGNORE));
        } else {
            usleep(500);
            MPI_Type_vector(CELLS, HALF, CELL, MPI_BYTE, &halves);
            MPI_Type_commit(&halves);
            CHECK_OK(MPI_File_set_view(fh, 0, MPI_BYTE, halves, "native", MPI_INFO_NULL));
            MPI_Type_free(&halves);
            CHECK_OK(MPI_File_write_at(fh, 0, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE));
        }
        CHECK_OK(MPI_File_close(&fh));
    }
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    door_begin(&argc, &argv);
    const char *path = door_path("lease");
    MPI_Request done;
    char zeros[CELLS * CELL] = {0};
    MPI_File fh;
    check_within(60);
    CHECK_OK(
        MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &fh));
    CHECK_OK(MPI_File_write_at_all(fh, 0, zeros, door_rank ? 0 : (int)sizeof zeros, MPI_BYTE,
                                   MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_close(&fh));
    if (door_rank == 0)
        modify(path, test_cases(200, 5000));
    MPI_Ibarrier(MPI_COMM_WORLD, &done);
    if (door_rank > 0)
        write_holes(path, &done);
    else
        MPI_Wait(&done, MPI_STATUS_IGNORE);
    check_within(60);
    close_early(path);
    if (door_rank == 0)
        CHECK_OK(MPI_File_delete(path, MPI_INFO_NULL));
    MPI_Finalize();
    return 0;
}
