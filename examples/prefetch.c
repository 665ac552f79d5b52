/* Computes on one piece of an array while the next is read: two buffers, by hand
 * (PASSION_prefetch_read and PASSION_prefetch_wait; weir_slabs does the same by itself).
 * usage: mpirun -n RANKS prefetch FOLDER */
#include <stdio.h>
#include <unistd.h>
#include <weir/weir.h>

enum { COLUMNS = 1000, ROWS = 64, PIECES = 12 }; /* rows of a piece, pieces of each rank */

static double piece[2][ROWS * COLUMNS];

static void stop_if(int code)
{
    char text[600];
    if (code && weir_error_format(weir_error_last(), text, sizeof text))
        fprintf(stderr, "%s\n", text), MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Piece number `number` of the whole array: blocks of rows. */
static void write_piece(weir_array *array, int64_t number)
{
    int64_t lo[] = {number * ROWS, 0}, hi[] = {(number + 1) * ROWS, COLUMNS};
    for (int64_t i = 0; i < ROWS * COLUMNS; i++)
        piece[0][i] = (double)(number * ROWS * COLUMNS + i);
    stop_if(weir_array_write(array, &(weir_selection){.lo = lo, .hi = hi}, NULL, piece[0], NULL));
}

static void start_reading(weir_array *array, int64_t number, double *data, weir_request **reading)
{
    int64_t lo[] = {number * ROWS, 0}, hi[] = {(number + 1) * ROWS, COLUMNS};
    stop_if(weir_array_read(array, &(weir_selection){.lo = lo, .hi = hi}, NULL, data, reading));
}

static double sum(const double *data)
{
    double all = 0;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        all += data[i];
    return all;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    weir_array *array;
    weir_request *reading[2] = {NULL, NULL};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 2 || chdir(argv[1]))
        return fprintf(stderr, "usage: prefetch FOLDER\n"), MPI_Abort(MPI_COMM_WORLD, 2), 2;
    weir_array_info info = {
        .type = WEIR_F8, .dimensions = 2, .shape = {(int64_t)PIECES * ROWS * ranks, COLUMNS}};
    stop_if(weir_array_create(MPI_COMM_WORLD, "prefetch.npy", &info, NULL, NULL, &array));
    const int64_t first = (int64_t)PIECES * rank; /* of this rank's pieces, which it alone uses */
    for (int k = 0; k < PIECES; k++)
        write_piece(array, first + k);

    double total = 0;
    start_reading(array, first, piece[0], &reading[0]);
    for (int k = 0; k < PIECES; k++) {
        int now = k % 2, next = 1 - now;
        stop_if(weir_request_wait(&reading[now], NULL));
        if (k + 1 < PIECES)
            start_reading(array, first + k + 1, piece[next], &reading[next]);
        total += sum(piece[now]); /* while the next piece is read */
    }
    double count = (double)PIECES * ROWS * COLUMNS, lowest = count * rank;
    int right = total == count * lowest + count * (count - 1) / 2;
    printf("rank %d: the sum of %.0f elements is %s\n", rank, count, right ? "right" : "WRONG");
    stop_if(weir_array_discard(array));
    MPI_Finalize();
    return !right;
}
