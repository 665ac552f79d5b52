/* make demo: a product and a transposition of matrices that are many times larger than the memory
 * they may take, checked row by row. */
#include <stdio.h>
#include <stdlib.h>
#include <weir/weir.h>

enum { N = 1500, MEMORY = 4 << 20, ROWS = 25 }; /* rows that each rank checks */

static int rank, ranks;

static void stop_if(int code)
{
    char text[600];
    if (!code)
        return;
    weir_error_format(weir_error_last(), text, sizeof text);
    fprintf(stderr, "demo: rank %d: %s\n", rank, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Small whole numbers, so that sums are exact. */
static double value(int which, int64_t i, int64_t j)
{
    return (double)((i * 31 + j * 17 + which * 5) % 11);
}

/* A new matrix; which < 0: zeros. */
static weir_array *make_matrix(const char *folder, const char *name, int which)
{
    char path[4096];
    weir_array *array;
    weir_slabs *slabs;
    weir_slab s;
    weir_array_info info = {.type = WEIR_F8, .dimensions = 2, .shape = {N, N}};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    stop_if(weir_array_create(MPI_COMM_WORLD, path, &info, &(weir_array_options){.overwrite = 1},
                              NULL, &array));
    if (which < 0)
        return array;
    stop_if(weir_slabs_begin(
        &(weir_slabs_options){.outputs = 1, .output = &array, .memory = MEMORY}, &slabs));
    while (weir_slabs_next(slabs, &s) == 1)
        for (int64_t i = s.lo[0]; i < s.hi[0]; i++)
            for (int64_t j = s.lo[1]; j < s.hi[1]; j++)
                ((double *)s.out[0])[(i - s.lo[0]) * s.out_stride[0] + j - s.lo[1]] =
                    value(which, i, j);
    stop_if(weir_slabs_end(slabs));
    return array;
}

static void read_row(weir_array *array, int64_t i, double *row)
{
    const int64_t lo[] = {i, 0}, hi[] = {i + 1, N};
    stop_if(weir_array_read(array, &(weir_selection){.lo = lo, .hi = hi}, NULL, row, NULL));
}

/* Rows of the product, and of the transposed product, which are its columns. */
static int count_wrong(weir_array *product, weir_array *turned)
{
    static double row[N], column[N];
    int wrong = 0;
    for (int64_t k = 0; k < ROWS; k++) {
        const int64_t i = (k * 59 + rank * 7) % N;
        read_row(product, i, row);
        read_row(turned, i, column);
        for (int64_t j = 0; j < N; j++) {
            double sum = 0, turned_sum = 0;
            for (int64_t l = 0; l < N; l++) {
                sum += value(0, i, l) * value(1, l, j);
                turned_sum += value(0, j, l) * value(1, l, i);
            }
            wrong += (row[j] != sum) + (column[j] != turned_sum);
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return wrong;
}

int main(int argc, char **argv)
{
    const weir_work work = {.memory = MEMORY};
    weir_array *a, *b, *c, *t;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *folder = argc > 1 ? argv[1] : ".";
    a = make_matrix(folder, "demo-a.npy", 0);
    b = make_matrix(folder, "demo-b.npy", 1);
    c = make_matrix(folder, "demo-c.npy", -1);
    t = make_matrix(folder, "demo-t.npy", -1);
    double start = MPI_Wtime();
    stop_if(weir_array_multiply(a, b, c, WEIR_PANELS, &work));
    double multiplied = MPI_Wtime();
    stop_if(weir_array_transpose(c, t, NULL, &work));
    double turned = MPI_Wtime();
    MPI_Barrier(MPI_COMM_WORLD);
    int wrong = count_wrong(c, t);
    if (rank == 0)
        printf("matrices of %d x %d doubles, %d MiB each, %d MiB of memory a rank, %d ranks\n"
               "  matmul %.2f s, %.1f GFLOP/s   transpose %.2f s   data %s\n",
               N, N, N * N / (1 << 17), MEMORY >> 20, ranks, multiplied - start,
               2e-9 * N * N * N / (multiplied - start), turned - multiplied,
               wrong ? "WRONG" : "right");
    stop_if(weir_array_discard(a) || weir_array_discard(b) || weir_array_discard(c) ||
            weir_array_discard(t));
    MPI_Finalize();
    return wrong != 0;
}
