/* make demo: an array many times larger than the memory it is made in, of which each rank reads and
 * writes a part in short pieces: one call a piece, and all ranks together. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/weir.h>

/* Rank p of P has LAST / P elements of every run of LAST. */
enum { ROWS = 4096, COLUMNS = 16, LAST = 256, MEMORY = 8 << 20, TRIES = 3 };

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

static double value(int64_t i, int64_t j, int64_t k)
{
    return (double)((i * COLUMNS + j) * LAST + k);
}

static void fill_slab(const weir_slab *s)
{
    double *out = s->out[0];
    for (int64_t i = s->lo[0]; i < s->hi[0]; i++)
        for (int64_t j = s->lo[1]; j < s->hi[1]; j++)
            for (int64_t k = s->lo[2]; k < s->hi[2]; k++)
                out[(i - s->lo[0]) * s->out_stride[0] + (j - s->lo[1]) * s->out_stride[1] + k -
                    s->lo[2]] = value(i, j, k);
}

/* Every element becomes its own number, slab by slab. */
static void make_array(const char *path)
{
    weir_array *array;
    weir_slabs *slabs;
    weir_slab s;
    weir_array_info info = {.type = WEIR_F8, .dimensions = 3, .shape = {ROWS, COLUMNS, LAST}};
    weir_array_options replace = {.overwrite = 1};
    int more;
    stop_if(weir_array_create(MPI_COMM_WORLD, path, &info, &replace, NULL, &array));
    stop_if(weir_slabs_begin(
        &(weir_slabs_options){.outputs = 1, .output = &array, .memory = MEMORY}, &slabs));
    while ((more = weir_slabs_next(slabs, &s)) == 1)
        fill_slab(&s);
    stop_if(more);
    stop_if(weir_slabs_end(slabs));
    stop_if(weir_array_close(array));
}

/* Reads or writes this rank's part; milliseconds of the slowest rank, the best of some tries. */
static double move(const char *path, const char *hints, double *memory, int write)
{
    int64_t width = LAST / ranks, lo[] = {0, 0, rank * width}, hi[] = {ROWS, COLUMNS, 0};
    hi[2] = lo[2] + width;
    weir_selection mine = {.lo = lo, .hi = hi};
    weir_array *array;
    double best = 1e9;
    stop_if(weir_array_open(MPI_COMM_WORLD, path, WEIR_READ | WEIR_WRITE, hints, &array));
    for (int i = 0; i < TRIES; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double took = -MPI_Wtime();
        stop_if(write ? weir_array_write_all(array, &mine, NULL, memory, NULL)
                      : weir_array_read_all(array, &mine, NULL, memory, NULL));
        took += MPI_Wtime();
        MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        best = took < best ? took : best;
    }
    stop_if(weir_array_close(array));
    return 1e3 * best;
}

/* Whether the part is `sign` times what make_array wrote, on all ranks. */
static int is_right(const double *memory, double sign)
{
    int64_t width = LAST / ranks;
    int wrong = 0;
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < COLUMNS; j++)
            for (int64_t k = 0; k < width; k++)
                wrong |= *memory++ != sign * value(i, j, rank * width + k);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return !wrong;
}

static void print_row(const char *what, double alone, double together, int right)
{
    if (rank == 0)
        printf("  %-6s %15.1f ms %9.1f ms %9.1f x   %s\n", what, alone, together, alone / together,
               right ? "yes" : "NO");
}

int main(int argc, char **argv)
{
    static const char pieces[] = "collective=never;access=naive";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *path = argc > 1 ? argv[1] : "demo.npy";
    const int64_t count = (int64_t)ROWS * COLUMNS * (LAST / ranks);
    double *memory = calloc((size_t)count, sizeof *memory);
    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, 1);
    make_array(path);
    if (rank == 0)
        printf("%d MiB array of %d x %d x %d doubles, created with %d MiB of memory per rank.\n"
               "Each of %d ranks reads and writes %d of every %d values.\n"
               "           one call a piece     together     faster   verified\n",
               ROWS / 1024 * COLUMNS * LAST * 8 / 1024, ROWS, COLUMNS, LAST, MEMORY >> 20, ranks,
               LAST / ranks, LAST);
    double alone = move(path, pieces, memory, 0);
    memset(memory, 0, (size_t)count * sizeof *memory);
    double together = move(path, NULL, memory, 0);
    int read = is_right(memory, 1);
    print_row("read", alone, together, read);
    for (int64_t i = 0; i < count; i++)
        memory[i] = -memory[i];
    together = move(path, NULL, memory, 1);
    memset(memory, 0, (size_t)count * sizeof *memory);
    move(path, pieces, memory, 0);
    int written = is_right(memory, -1);
    alone = move(path, pieces, memory, 1);
    print_row("write", alone, together, written);
    if (rank == 0)
        remove(path);
    free(memory);
    MPI_Finalize();
    return !(read && written);
}
