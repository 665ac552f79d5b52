/* A plain program of MPI-IO, of which a trace is made.
 * usage: trace_client all|some|self|long FILE
 *   all    every rank, in every form: WRITTEN and READ bytes each
 *   some   the even ranks only, on a communicator of their own
 *   self   each rank a file of its own
 *   long   until it is killed */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096, BLOCKS = 16, ROUNDS = 5, BYTES = BLOCK * BLOCKS };

static int rank, size;
static char data[BYTES];

static void must(int result, const char *what)
{
    if (result == MPI_SUCCESS)
        return;
    fprintf(stderr, "%s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static MPI_File open_file(MPI_Comm comm, const char *path)
{
    MPI_File f;
    MPI_Datatype blocks;
    int ranks, own;
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_rank(comm, &own);
    must(MPI_File_open(comm, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f), "open");
    MPI_Type_vector(BLOCKS, BLOCK, BLOCK * ranks, MPI_BYTE, &blocks);
    MPI_Type_commit(&blocks);
    must(MPI_File_set_view(f, (MPI_Offset)own * BLOCK, MPI_BYTE, blocks, "native", MPI_INFO_NULL),
         "view");
    MPI_Type_free(&blocks);
    return f;
}

static void write_once(MPI_File f)
{
    must(MPI_File_write_at_all(f, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE), "write_at_all");
}

/* 7 writes and 6 reads of all the data. */
static void run_all(MPI_File f)
{
    MPI_Request request;
    for (int i = 0; i < ROUNDS; i++) {
        write_once(f);
        must(MPI_File_read_at_all(f, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE), "read_at_all");
    }
    must(MPI_File_iwrite_at(f, 0, data, BYTES, MPI_BYTE, &request), "iwrite_at");
    must(MPI_Wait(&request, MPI_STATUS_IGNORE), "wait");
    must(MPI_File_write_at_all_begin(f, 0, data, BYTES, MPI_BYTE), "begin");
    must(MPI_File_write_at_all_end(f, data, MPI_STATUS_IGNORE), "end");
    must(MPI_File_read_at(f, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE), "read_at");
    must(MPI_File_sync(f), "sync");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *mode = argc == 3 ? argv[1] : "", *path = argc == 3 ? argv[2] : "";
    char own[400];
    memset(data, 'a' + rank % 26, sizeof data);
    MPI_File f = MPI_FILE_NULL;
    MPI_Comm comm = MPI_COMM_WORLD;
    if (!strcmp(mode, "some"))
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
    if (!strcmp(mode, "all") || (!strcmp(mode, "some") && rank % 2 == 0))
        run_all(f = open_file(comm, path));
    if (!strcmp(mode, "self")) {
        snprintf(own, sizeof own, "%s.%d", path, rank);
        run_all(f = open_file(MPI_COMM_SELF, own));
    }
    if (!strcmp(mode, "long"))
        for (f = open_file(comm, path);;)
            write_once(f);
    if (f != MPI_FILE_NULL)
        must(MPI_File_close(&f), "close");
    if (comm != MPI_COMM_WORLD)
        MPI_Comm_free(&comm);
    MPI_Finalize();
}
