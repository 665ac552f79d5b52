/* A matrix in memory that is dealt to the ranks block-cyclic goes to a file in one call, and comes
 * back dealt otherwise. usage: mpirun -n RANKS distributed FOLDER */
#include <stdio.h>
#include <unistd.h>
#include <weir/weir.h>

enum { ROWS = 300, COLUMNS = 200 };

static const int64_t shape[] = {ROWS, COLUMNS};
static double part[ROWS * COLUMNS]; /* the largest, on one rank */
static int rank, ranks;

static void stop_if(int code)
{
    char text[600];
    if (code && weir_error_format(weir_error_last(), text, sizeof text))
        fprintf(stderr, "%s\n", text), MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The index in the whole array of index `local` of a part, at `place` of the grid. */
static int64_t find_global(const weir_distribution *deal, int dimension, int place, int64_t local)
{
    int64_t block = deal->block[dimension], turn = local / block;
    return (turn * deal->grid[dimension] + place) * block + local % block;
}

/* Fills this rank's part with what belongs there, or counts what does not. */
static int64_t visit(const weir_distribution *deal, int fill)
{
    int64_t size[2], wrong = 0;
    int row_place = rank / deal->grid[1], column_place = rank % deal->grid[1];
    stop_if(weir_distribution_shape(deal, 2, shape, rank, size));
    for (int64_t i = 0; i < size[0] * size[1]; i++) {
        int64_t row = find_global(deal, 0, row_place, i / size[1]);
        int64_t column = find_global(deal, 1, column_place, i % size[1]);
        double element = (double)(row * COLUMNS + column);
        wrong += !fill && part[i] != element;
        part[i] = element;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    weir_array_info info = {.type = WEIR_F8, .dimensions = 2, .shape = {ROWS, COLUMNS}};
    weir_distribution blocks = {.block = {16, 8}}, cyclic_rows = {.block = {1, COLUMNS}};
    weir_array *matrix;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 2 || chdir(argv[1]))
        return fprintf(stderr, "usage: distributed FOLDER\n"), MPI_Abort(MPI_COMM_WORLD, 2), 2;
    stop_if(weir_distribution_grid(ranks, 2, blocks.grid));
    visit(&blocks, 1);
    stop_if(weir_array_create(MPI_COMM_WORLD, "distributed.npy", &info,
                              &(weir_array_options){.overwrite = 1}, NULL, &matrix));
    stop_if(weir_array_write_distributed(matrix, &blocks, NULL, part));
    stop_if(weir_array_close(matrix));

    cyclic_rows.grid[0] = ranks;
    cyclic_rows.grid[1] = 1;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        part[i] = -1;
    stop_if(weir_array_open(MPI_COMM_WORLD, "distributed.npy", WEIR_READ, NULL, &matrix));
    stop_if(weir_array_read_distributed(matrix, &cyclic_rows, NULL, part));
    int64_t wrong = visit(&cyclic_rows, 0);
    printf("rank %d: from a grid of %d x %d to rows dealt one by one, %lld elements wrong\n", rank,
           blocks.grid[0], blocks.grid[1], (long long)wrong);
    stop_if(weir_array_close(matrix));
    if (rank == 0)
        remove("distributed.npy");
    MPI_Finalize();
    return wrong != 0;
}
