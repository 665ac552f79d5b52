/* Sections of an array that is stored as one local array a rank (PASSION_read_section and
 * PASSION_write_section): strided ones of all of it by global indices, and strided ones of a rank's
 * own local array by local indices. usage: mpirun -n RANKS read_section FOLDER */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <weir/weir.h>

enum { ROWS = 300, COLUMNS = 40 }; /* of each local array */

static void stop_if(int code)
{
    char text[600];
    if (code && weir_error_format(weir_error_last(), text, sizeof text))
        fprintf(stderr, "%s\n", text), MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Every second row and every third column of this rank's local array change their sign. [local] */
static void negate(weir_array *array, int rank)
{
    static double data[(ROWS / 2) * (COLUMNS / 3 + 1)];
    int64_t step[] = {2, 3};
    weir_selection own = {.step = step, .local = rank + 1};
    stop_if(weir_array_read(array, &own, NULL, data, NULL));
    for (size_t i = 0; i < sizeof data / sizeof *data; i++)
        data[i] = -data[i];
    stop_if(weir_array_write(array, &own, NULL, data, NULL));
}

/* What element (i, j) of the whole array is in the end. */
static double expected(int64_t i, int64_t j, int64_t columns)
{
    double first = (double)(i * columns + j);
    return i % 2 == 0 && j % COLUMNS % 3 == 0 ? -first : first;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    weir_array *array;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 2 || chdir(argv[1]))
        return fprintf(stderr, "usage: read_section FOLDER\n"), MPI_Abort(MPI_COMM_WORLD, 2), 2;
    const int64_t columns = (int64_t)COLUMNS * ranks;
    weir_array_info info = {.type = WEIR_F8, .dimensions = 2, .shape = {ROWS, columns}};
    info.members = ranks;
    info.distribution.grid[1] = ranks; /* blocks of columns */
    stop_if(weir_array_create(MPI_COMM_WORLD, "section", &info, NULL, NULL, &array));

    int64_t lo[] = {rank, 0}, hi[] = {ROWS, columns}, step[] = {ranks, 1};
    weir_selection every_nth_row = {.lo = lo, .hi = hi, .step = step};
    double *rows = malloc((size_t)(ROWS * columns) * sizeof *rows), *at = rows;
    for (int64_t i = rank; i < ROWS; i += ranks)
        for (int64_t j = 0; j < columns; j++)
            *at++ = (double)(i * columns + j);
    stop_if(weir_array_write_all(array, &every_nth_row, NULL, rows,
                                 NULL)); /* goes to all local arrays */
    negate(array, rank);
    MPI_Barrier(MPI_COMM_WORLD); /* the others have changed theirs too */
    stop_if(weir_array_read_all(array, &every_nth_row, NULL, rows, NULL));

    int64_t wrong = 0;
    at = rows;
    for (int64_t i = rank; i < ROWS; i += ranks)
        for (int64_t j = 0; j < columns; j++)
            wrong += *at++ != expected(i, j, columns);
    printf("rank %d: %td elements read, %lld wrong\n", rank, at - rows, (long long)wrong);
    stop_if(weir_array_discard(array));
    free(rows);
    MPI_Finalize();
    return wrong != 0;
}
