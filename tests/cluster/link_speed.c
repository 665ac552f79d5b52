/* What the cluster's links do: microseconds of a barrier, MB/s from the first rank to the last. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BARRIERS = 200, MESSAGES = 4, BYTES = 1 << 20 };

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char *data = calloc(BYTES, 1);
    double barrier = 0, message = 0;
    for (int i = 0; i < 2 * BARRIERS; i++) {
        if (i == BARRIERS) /* connected by now */
            barrier = MPI_Wtime();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    barrier = (MPI_Wtime() - barrier) / BARRIERS;
    message = MPI_Wtime();
    for (int i = 0; i < MESSAGES; i++) {
        if (rank == 0)
            MPI_Send(data, BYTES, MPI_BYTE, ranks - 1, 0, MPI_COMM_WORLD);
        if (rank == ranks - 1)
            MPI_Recv(data, BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    message = (MPI_Wtime() - message) / MESSAGES;
    if (rank == 0)
        printf("barrier %.0f us, %.0f MB/s\n", barrier * 1e6, BYTES / message / 1e6);
    free(data);
    MPI_Finalize();
    return 0;
}
