/* A window slides over an array, and what it has in common with the window before is copied, not
 * read again (PASSION_read_with_reuse). usage: mpirun -n RANKS read_with_reuse FOLDER */
#include <math.h>
#include <stdio.h>
#include <unistd.h>
#include <weir/weir.h>

enum { ROWS = 50, COLUMNS = 1000, WIDTH = 100, SLIDE = 20 }; /* rows of each rank */

static double rows[ROWS * COLUMNS], window[2][ROWS * WIDTH];

static void stop_if(int code)
{
    char text[600];
    if (code && weir_error_format(weir_error_last(), text, sizeof text))
        fprintf(stderr, "%s\n", text), MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Uses a window, at that row and column of the array. What was used is negative from then on, so
 * what is positive has just come from the file: returns how much, or -1 if anything is wrong. */
static int64_t use(double *data, int64_t row, int64_t column)
{
    int64_t fresh = 0;
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < WIDTH; j++, data++) {
            if (fabs(*data) != (double)((row + i) * COLUMNS + column + j + 1))
                return -1;
            fresh += *data > 0;
            *data = -fabs(*data);
        }
    return fresh;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    weir_array *array;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 2 || chdir(argv[1]))
        return fprintf(stderr, "usage: read_with_reuse FOLDER\n"), MPI_Abort(MPI_COMM_WORLD, 2), 2;
    weir_array_info info = {.type = WEIR_F8, .dimensions = 2, .shape = {ROWS * ranks, COLUMNS}};
    stop_if(weir_array_create(MPI_COMM_WORLD, "reuse.npy", &info, NULL, NULL, &array));
    const int64_t row = (int64_t)ROWS * rank;
    int64_t lo[2][2] = {{row, 0}, {row, 0}}, hi[2][2] = {{row + ROWS, COLUMNS}, {row + ROWS, 0}};
    weir_selection section[] = {{.lo = lo[0], .hi = hi[0]}, {.lo = lo[1], .hi = hi[1]}};
    for (int64_t i = 0; i < ROWS * COLUMNS; i++)
        rows[i] = (double)(row * COLUMNS + i + 1);
    stop_if(weir_array_write_all(array, &section[0], NULL, rows, NULL));

    int64_t windows = 0, fresh = 0, used = 0;
    for (int64_t column = 0; column + WIDTH <= COLUMNS && used >= 0; column += SLIDE, windows++) {
        int64_t now = windows % 2, before = 1 - now;
        lo[now][1] = column;
        hi[now][1] = column + WIDTH;
        const weir_held held = {.selection = windows ? &section[before] : NULL,
                                .base = window[before]};
        stop_if(weir_array_read_reuse(array, &section[now], NULL, window[now], &held));
        used = use(window[now], row, column);
        fresh += used;
    }
    int right = fresh == ROWS * COLUMNS; /* each element was read once */
    printf("rank %d: %lld elements in windows, %lld read of %d: %s\n", rank,
           (long long)(windows * ROWS * WIDTH), (long long)fresh, ROWS * COLUMNS,
           right ? "right" : "WRONG");
    stop_if(weir_array_discard(array));
    MPI_Finalize();
    return !right;
}
