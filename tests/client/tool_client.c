/* A program for run_tool.py, which knows how many calls it makes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 500 };

static void check(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s is wrong\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void fill(int *data, int first)
{
    for (int i = 0; i < N; i++)
        data[i] = first + i;
}

static void check_data(const int *data, int first, const char *what)
{
    for (int i = 0; i < N; i++)
        check(data[i] == first + i, what);
}

int main(int argc, char **argv)
{
    int data[N], rank, ranks;
    MPI_File f;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    check(argc == 2, "the usage");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int amode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    check(!MPI_File_open(MPI_COMM_WORLD, argv[1], amode, MPI_INFO_NULL, &f), "open");
    MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    for (int step = 0; step < 3; step++) {
        fill(data, step * 100000 + rank * 1000);
        MPI_File_write_at(f, (MPI_Offset)(step * ranks + rank) * N, data, N, MPI_INT,
                          MPI_STATUS_IGNORE);
    }
    fill(data, 7000000 + rank * 1000);
    MPI_File_iwrite_at(f, (MPI_Offset)(3 * ranks + rank) * N, data, N, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    int next = (rank + 1) % ranks;
    MPI_File_read_at_all(f, (MPI_Offset)(3 * ranks + next) * N, data, N, MPI_INT,
                         MPI_STATUS_IGNORE);
    check_data(data, 7000000 + next * 1000, "iwrite_at");
    fill(data, rank * 1000);
    MPI_File_write_ordered(f, data, N, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(f, (MPI_Offset)next * N, data, N, MPI_INT, MPI_STATUS_IGNORE);
    check_data(data, next * 1000, "write_ordered");
    check(!MPI_File_close(&f), "close");
    return MPI_Finalize();
}
