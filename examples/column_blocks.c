/* Every rank writes its block of columns of a matrix, all together in one call, and reads a block
 * of rows back. usage: mpirun -n RANKS column_blocks FILE */
#include <stdio.h>
#include <stdlib.h>
#include <weir/weir.h>

enum { N = 240 }; /* rows and columns; any number of ranks up to that */

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

/* Rows [row, row + rows) and columns [column, column + columns) of the matrix, stored by rows. */
static weir_pattern *block(int64_t row, int64_t rows, int64_t column, int64_t columns)
{
    int64_t shape[] = {N, N}, lo[] = {row, column}, hi[] = {row + rows, column + columns};
    weir_shape whole = {.dimensions = 2, .element = sizeof(double), .size = shape};
    weir_selection s = {.lo = lo, .hi = hi};
    weir_pattern *pattern;
    stop_if(weir_pattern_section(&whole, &s, NULL, &pattern));
    return pattern;
}

int main(int argc, char **argv)
{
    weir_file *file;
    int64_t count;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 2)
        return fprintf(stderr, "usage: column_blocks FILE\n"), MPI_Abort(MPI_COMM_WORLD, 2), 2;
    int64_t first = N * rank / ranks, mine = N * (rank + 1) / ranks - first, items = mine * N;
    double *data = malloc((size_t)items * sizeof *data);
    for (int64_t i = 0; i < items; i++) /* row by row of the block */
        data[i] = (double)(i / mine * N + first + i % mine);
    stop_if(
        weir_file_open(MPI_COMM_WORLD, argv[1], WEIR_READ | WEIR_WRITE | WEIR_CREATE, NULL, &file));

    weir_pattern *columns = block(0, N, first, mine), *rows = block(first, mine, 0, N), *memory;
    stop_if(weir_pattern_contiguous(0, items * (int64_t)sizeof *data, &memory));
    stop_if(weir_file_write_all(file, columns, memory, data, &count, NULL));
    stop_if(weir_file_read_all(file, rows, memory, data, &count, NULL));

    int64_t wrong = 0;
    for (int64_t i = 0; i < items; i++)
        wrong += data[i] != (double)(first * N + i);
    printf("rank %d: %lld bytes read, %lld elements wrong\n", rank, (long long)count,
           (long long)wrong);
    stop_if(weir_file_close(file));
    weir_pattern_free(columns);
    weir_pattern_free(rows);
    weir_pattern_free(memory);
    free(data);
    MPI_Finalize();
    return wrong != 0;
}
