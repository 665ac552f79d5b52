/* From one file to local array files (PASSION_oc_file_map), to local arrays of another grid, and
 * back to one file. The arrays stay in the folder. usage: mpirun -n RANKS file_map FOLDER */
#include <stdio.h>
#include <unistd.h>
#include <weir/weir.h>

enum { ROWS = 400, COLUMNS = 300, MEMORY = 100 << 10 }; /* 940 KiB, copied in buffers of 100 KiB */

static const weir_array_options replace = {.overwrite = 1};

static void stop_if(int code)
{
    char text[600];
    if (code && weir_error_format(weir_error_last(), text, sizeof text))
        fprintf(stderr, "%s\n", text), MPI_Abort(MPI_COMM_WORLD, 1);
}

/* A new array; with rows or columns of the grid that are not 0, a set of local arrays. */
static weir_array *create(const char *name, int grid_rows, int grid_columns, int64_t block)
{
    weir_array_info info = {.type = WEIR_F8, .dimensions = 2, .shape = {ROWS, COLUMNS}};
    weir_array *array;
    info.members = grid_rows * grid_columns;
    info.distribution =
        (weir_distribution){.grid = {grid_rows, grid_columns}, .block = {block, block}};
    stop_if(weir_array_create(MPI_COMM_WORLD, name, &info, &replace, NULL, &array));
    return array;
}

/* Copies an array that is there to a new one. */
static void copy(const char *from_name, weir_array *to)
{
    weir_array *from;
    stop_if(weir_array_open(MPI_COMM_WORLD, from_name, WEIR_READ, NULL, &from));
    stop_if(weir_array_copy(from, to, MEMORY));
    stop_if(weir_array_close(from));
    stop_if(weir_array_close(to));
}

int main(int argc, char **argv)
{
    static double data[ROWS * COLUMNS];
    int rank, ranks;
    weir_array *array;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 2 || chdir(argv[1]))
        return fprintf(stderr, "usage: file_map FOLDER\n"), MPI_Abort(MPI_COMM_WORLD, 2), 2;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        data[i] = i;
    array = create("global.npy", 0, 0, 0);
    stop_if(weir_array_write_all(array, rank == 0 ? &(weir_selection){0} : NULL, NULL, data, NULL));
    stop_if(weir_array_close(array));

    copy("global.npy", create("by_columns", 1, ranks, 0)); /* a block of columns each */
    copy("by_columns", create("dealt", 2, ranks, 16));     /* blocks of 16 x 16, round-robin */
    copy("dealt", create("back.npy", 0, 0, 0));

    int64_t lo[] = {ROWS * rank / ranks, 0}, hi[] = {ROWS * (rank + 1) / ranks, COLUMNS};
    int64_t elements = (hi[0] - lo[0]) * COLUMNS, wrong = 0;
    stop_if(weir_array_open(MPI_COMM_WORLD, "back.npy", WEIR_READ, NULL, &array));
    stop_if(weir_array_read_all(array, &(weir_selection){.lo = lo, .hi = hi}, NULL, data, NULL));
    stop_if(weir_array_close(array));
    for (int64_t i = 0; i < elements; i++)
        wrong += data[i] != (double)(lo[0] * COLUMNS + i);
    printf("rank %d: %lld elements came back, %lld wrong\n", rank, (long long)elements,
           (long long)wrong);
    MPI_Finalize();
    return wrong != 0;
}
