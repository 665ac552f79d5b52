/* Computes time steps of a field and writes each while the next one is computed: two buffers, one
 * for the step that is computed, one for the step that is written. Ranks have blocks of rows of a
 * matrix; each step is a matrix of its own in the file. usage: mpirun -n RANKS time_steps FILE */
#include <stdio.h>
#include <stdlib.h>
#include <weir/weir.h>

enum { ROWS = 64, COLUMNS = 1000, STEPS = 20 }; /* rows of each rank */

static int rank, ranks;

static void stop_if(int code)
{
    char text[600];
    if (!code)
        return;
    weir_error_format(weir_error_last(), text, sizeof text);
    fprintf(stderr, "rank %d: %s\n", rank, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void compute(double *field, int step)
{
    for (int i = 0; i < ROWS * COLUMNS; i++)
        field[i] = step * 1000.0 + rank + i * 1e-6;
}

/* This rank's block in the file, by step. */
static weir_pattern *block_of(int step)
{
    int64_t bytes = (int64_t)ROWS * COLUMNS * (int64_t)sizeof(double);
    weir_pattern *where;
    stop_if(weir_pattern_contiguous(((int64_t)step * ranks + rank) * bytes, bytes, &where));
    return where;
}

int main(int argc, char **argv)
{
    static double fields[2][ROWS * COLUMNS];
    weir_file *file;
    weir_request *writing = NULL;
    weir_pattern *memory;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 2)
        return fprintf(stderr, "usage: time_steps FILE\n"), MPI_Abort(MPI_COMM_WORLD, 2), 2;
    stop_if(
        weir_file_open(MPI_COMM_WORLD, argv[1], WEIR_READ | WEIR_WRITE | WEIR_CREATE, NULL, &file));
    stop_if(weir_pattern_contiguous(0, sizeof fields[0], &memory));
    for (int step = 0; step < STEPS; step++) {
        weir_pattern *where = block_of(step);
        compute(fields[step % 2], step);            /* while the step before is written */
        stop_if(weir_request_wait(&writing, NULL)); /* its buffer is the next step's */
        stop_if(weir_file_write_all(file, where, memory, fields[step % 2], NULL, &writing));
        weir_pattern_free(where);
    }
    stop_if(weir_request_wait(&writing, NULL));

    int64_t wrong = 0;
    for (int step = 0; step < STEPS; step++) {
        weir_pattern *where = block_of(step);
        stop_if(weir_file_read_all(file, where, memory, fields[0], NULL, NULL));
        compute(fields[1], step);
        for (int i = 0; i < ROWS * COLUMNS; i++)
            wrong += fields[0][i] != fields[1][i];
        weir_pattern_free(where);
    }
    printf("rank %d: %d steps written, %lld elements wrong\n", rank, STEPS, (long long)wrong);
    stop_if(weir_file_close(file));
    weir_pattern_free(memory);
    MPI_Finalize();
    return wrong != 0;
}
