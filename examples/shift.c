/* Boundary columns of neighbours, where each rank has a block of columns of an array as its local
 * array (PASSION_oc_shift). usage: mpirun -n RANKS shift FOLDER */
#include <stdio.h>
#include <unistd.h>
#include <weir/weir.h>

enum { ROWS = 500, COLUMNS = 60, WIDTH = 2 }; /* of each local array; columns of a boundary */

static double local[ROWS * COLUMNS], boundary[ROWS * WIDTH];

static void stop_if(int code)
{
    char text[600];
    if (code && weir_error_format(weir_error_last(), text, sizeof text))
        fprintf(stderr, "%s\n", text), MPI_Abort(MPI_COMM_WORLD, 1);
}

static double element(int64_t row, int64_t column)
{
    return (double)(row * 1000000 + column);
}

/* Elements of the boundary that are not those of the array from column `first` on. */
static int64_t count_wrong(const int64_t *shape, int64_t first)
{
    int64_t wrong = shape[0] != ROWS || shape[1] != WIDTH;
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < WIDTH; j++)
            wrong += boundary[i * WIDTH + j] != element(i, first + j);
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    int64_t shape[2], wrong;
    weir_array *array;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 2 || chdir(argv[1]))
        return fprintf(stderr, "usage: shift FOLDER\n"), MPI_Abort(MPI_COMM_WORLD, 2), 2;
    const int64_t all = (int64_t)COLUMNS * ranks, first = (int64_t)COLUMNS * rank;
    weir_array_info info = {.type = WEIR_F8, .dimensions = 2, .shape = {ROWS, all}};
    info.members = ranks;
    info.distribution.grid[1] = ranks;
    stop_if(weir_array_create(MPI_COMM_WORLD, "shift", &info, NULL, NULL, &array));
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < COLUMNS; j++)
            local[i * COLUMNS + j] = element(i, first + j);
    stop_if(weir_array_write_all(array, &(weir_selection){.local = rank + 1}, NULL, local, NULL));

    /* The first columns of the next rank; the last one has none. */
    weir_shift from_next = {.dimension = 1, .count = WIDTH};
    stop_if(weir_array_shift(array, &from_next, boundary, shape));
    wrong = rank < ranks - 1 ? count_wrong(shape, first + COLUMNS) : shape[1] != 0;

    /* The last columns of the rank before, which of the first is the last: a ring. */
    weir_shift from_before = {.dimension = 1, .count = -WIDTH, .wrap = 1};
    stop_if(weir_array_shift(array, &from_before, boundary, shape));
    wrong += count_wrong(shape, (first + all - WIDTH) % all);

    printf("rank %d: %lld elements of boundaries wrong\n", rank, (long long)wrong);
    stop_if(weir_array_discard(array));
    MPI_Finalize();
    return wrong != 0;
}
