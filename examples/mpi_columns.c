/* Plain MPI-IO: each rank writes its columns of a matrix to one file, and reads them back.
 * usage: mpirun -n 4 mpi_columns FILE [ROWS [COLUMNS_OF_A_RANK]]
 * With Weir: weir run -- mpirun -n 4 mpi_columns FILE */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, ranks, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *path = argc > 1 ? argv[1] : "columns.bin";
    const int rows = argc > 2 ? atoi(argv[2]) : 512, columns = argc > 3 ? atoi(argv[3]) : 256;
    const int count = rows * columns;
    double *mine = malloc((size_t)count * sizeof *mine),
           *again = malloc((size_t)count * sizeof *again);
    if (!mine || !again)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < count; i++)
        mine[i] = rank + i * 1e-6;

    MPI_Datatype part;
    MPI_File f;
    MPI_Type_create_subarray(2, (int[]){rows, columns * ranks}, (int[]){rows, columns},
                             (int[]){0, columns * rank}, MPI_ORDER_C, MPI_DOUBLE, &part);
    MPI_Type_commit(&part);
    const double begun = MPI_Wtime();
    if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f)) {
        fprintf(stderr, "%s cannot be opened\n", path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_File_set_view(f, 0, MPI_DOUBLE, part, "native", MPI_INFO_NULL);
    int failed = MPI_File_write_at_all(f, 0, mine, count, MPI_DOUBLE, MPI_STATUS_IGNORE) ||
                 MPI_File_read_at_all(f, 0, again, count, MPI_DOUBLE, MPI_STATUS_IGNORE);
    failed = MPI_File_close(&f) || failed;
    const double seconds = MPI_Wtime() - begun;
    for (int i = 0; i < count; i++)
        wrong += failed || again[i] != mine[i];
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks, %.0f MB written and read in %.3f s, %d wrong\n", ranks,
               2e-6 * count * ranks * (double)sizeof *mine, seconds, wrong);
    MPI_Type_free(&part);
    free(mine);
    free(again);
    MPI_Finalize();
    return wrong != 0;
}
