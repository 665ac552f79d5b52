/* Gaussian elimination of a matrix in a file: each pivot row goes to all ranks that have rows
 * below it, and is read once (PASSION_oc_multicast). usage: mpirun -n RANKS multicast FOLDER */
#include <stdio.h>
#include <unistd.h>
#include <weir/weir.h>

enum { N = 60 };

static double rows[N * N], pivot[N];

static void stop_if(int code)
{
    char text[600];
    if (code && weir_error_format(weir_error_last(), text, sizeof text))
        fprintf(stderr, "%s\n", text), MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Rows below k, of those that are this rank's, [first, last), lose their elements in column k. */
static void eliminate(weir_array *matrix, int64_t k, int64_t first, int64_t last)
{
    const int64_t top = first > k ? first : k + 1, width = N - k;
    int64_t pivot_lo[] = {k, k}, pivot_hi[] = {k + 1, N}, lo[] = {top, k}, hi[] = {last, N};
    weir_selection pivot_row = {.lo = pivot_lo, .hi = pivot_hi};
    weir_selection below = {.lo = lo, .hi = hi};
    const int has_some = top < last;
    stop_if(weir_array_read_all(matrix, has_some ? &pivot_row : NULL, NULL, pivot, NULL));
    if (has_some)
        stop_if(weir_array_read(matrix, &below, NULL, rows, NULL));
    for (int64_t i = 0; i < last - top; i++) {
        double factor = rows[i * width] / pivot[0];
        for (int64_t j = 0; j < width; j++)
            rows[i * width + j] -= factor * pivot[j];
    }
    stop_if(weir_array_write_all(matrix, has_some ? &below : NULL, NULL, rows, NULL));
}

int main(int argc, char **argv)
{
    int rank, ranks;
    weir_array *matrix;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 2 || chdir(argv[1]))
        return fprintf(stderr, "usage: multicast FOLDER\n"), MPI_Abort(MPI_COMM_WORLD, 2), 2;
    weir_array_info info = {.type = WEIR_F8, .dimensions = 2, .shape = {N, N}};
    stop_if(weir_array_create(MPI_COMM_WORLD, "multicast.npy", &info, NULL, NULL, &matrix));
    const int64_t first = N * rank / ranks, last = N * (rank + 1) / ranks;
    int64_t lo[] = {first, 0}, hi[] = {last, N};
    weir_selection own = {.lo = lo, .hi = hi};
    for (int64_t i = first; i < last; i++)
        for (int64_t j = 0; j < N; j++)
            rows[(i - first) * N + j] = (double)(i < j ? i + 1 : j + 1);
    stop_if(weir_array_write_all(matrix, &own, NULL, rows, NULL));
    for (int64_t k = 0; k < N - 1; k++)
        eliminate(matrix, k, first, last);

    /* Of the matrix min(i, j) ones are left, on the diagonal and above it. */
    int64_t wrong = 0;
    stop_if(weir_array_read(matrix, &own, NULL, rows, NULL));
    for (int64_t i = first; i < last; i++)
        for (int64_t j = 0; j < N; j++)
            wrong += rows[(i - first) * N + j] != (i <= j ? 1 : 0);
    printf("rank %d: %d steps, %lld elements wrong\n", rank, N - 1, (long long)wrong);
    stop_if(weir_array_discard(matrix));
    MPI_Finalize();
    return wrong != 0;
}
