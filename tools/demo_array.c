/* make demo: an array larger than its memory budget, made slab by slab; sections of it written and
 * read by all ranks together, and by each for itself, one call a piece. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/weir.h>

/* Rank p has columns 64 p to 64 p + 63 of every 256: short pieces of every row. */
enum { ROWS = 4096, COLUMNS = 8192, WIDTH = 64, MEMORY = 16 << 20, MIB = 1 << 20 };

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

static double value(int64_t i, int64_t j)
{
    return (double)(i * COLUMNS + j);
}

/* Every element becomes its own number. */
static void make_array(const char *path)
{
    weir_array *array;
    weir_slabs *slabs;
    weir_slab s;
    weir_array_info info = {.type = WEIR_F8, .dimensions = 2, .shape = {ROWS, COLUMNS}};
    weir_array_options replace = {.overwrite = 1};
    int more;
    stop_if(weir_array_create(MPI_COMM_WORLD, path, &info, &replace, NULL, &array));
    stop_if(weir_slabs_begin(
        &(weir_slabs_options){.outputs = 1, .output = &array, .memory = MEMORY}, &slabs));
    while ((more = weir_slabs_next(slabs, &s)) == 1) {
        double *out = s.out[0];
        for (int64_t i = s.lo[0]; i < s.hi[0]; i++)
            for (int64_t j = s.lo[1]; j < s.hi[1]; j++)
                out[(i - s.lo[0]) * s.out_stride[0] + j - s.lo[1]] = value(i, j);
    }
    stop_if(more);
    stop_if(weir_slabs_end(slabs));
    stop_if(weir_array_close(array));
}

static int64_t my_columns(int64_t *list, int of)
{
    int64_t count = 0;
    for (int64_t first = (int64_t)of * WIDTH; first < COLUMNS; first += (int64_t)WIDTH * ranks)
        for (int64_t j = first; j < first + WIDTH && j < COLUMNS; j++)
            list[count++] = j;
    return count;
}

/* Reads or writes this rank's columns; seconds, of the slowest rank. */
static double move(const char *path, const char *hints, double *memory, int write)
{
    static int64_t columns[COLUMNS];
    const int64_t *index[] = {NULL, columns};
    int64_t count[] = {0, my_columns(columns, rank)};
    weir_selection mine = {.index = index, .count = count};
    weir_array *array;
    double best = 1e9;
    stop_if(weir_array_open(MPI_COMM_WORLD, path, WEIR_READ | WEIR_WRITE, hints, &array));
    for (int i = 0; i < 3; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double took = -MPI_Wtime();
        stop_if(write ? weir_array_write_all(array, &mine, NULL, memory, NULL)
                      : weir_array_read_all(array, &mine, NULL, memory, NULL));
        took += MPI_Wtime();
        MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        best = took < best ? took : best;
    }
    stop_if(weir_array_close(array));
    return best;
}

static int count_wrong(const double *memory, double sign)
{
    static int64_t columns[COLUMNS];
    int64_t count = my_columns(columns, rank);
    int wrong = 0;
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t k = 0; k < count; k++)
            wrong += memory[i * count + k] != sign * value(i, columns[k]);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return wrong;
}

/* What the collective read does, as the planner tells it. */
static void print_plan(void)
{
    static char text[1 << 16];
    static int64_t columns[COLUMNS];
    const int64_t shape[] = {ROWS, COLUMNS}, *index[] = {NULL, columns};
    weir_pattern **wanted = calloc((size_t)ranks, sizeof(weir_pattern *));
    weir_plan *plan;
    for (int p = 0; p < ranks; p++) {
        int64_t count[] = {0, my_columns(columns, p)};
        weir_shape whole = {.dimensions = 2, .element = 8, .size = shape};
        weir_selection s = {.index = index, .count = count};
        stop_if(weir_pattern_section(&whole, &s, NULL, &wanted[p]));
    }
    weir_plan_request request = {.ranks = ranks,
                                 .patterns = (const weir_pattern *const *)wanted,
                                 .file_size = (int64_t)ROWS * COLUMNS * 8,
                                 .unit = (int64_t)COLUMNS * 8};
    stop_if(weir_plan_new(&request, &plan));
    weir_plan_print(plan, text, sizeof text);
    for (int lines = 0, at = 0; text[at] && lines < 10; lines++) {
        int length = (int)strcspn(text + at, "\n");
        printf("    %.*s\n", length, text + at);
        at += length + (text[at + length] == '\n');
    }
    weir_plan_free(plan);
    for (int p = 0; p < ranks; p++)
        weir_pattern_free(wanted[p]);
    free(wanted);
}

int main(int argc, char **argv)
{
    static const char direct[] = "collective=never;access=naive";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *path = argc > 1 ? argv[1] : "demo.npy";
    double *memory = malloc((size_t)ROWS * (COLUMNS / (size_t)ranks + WIDTH) * sizeof *memory);
    make_array(path);
    double alone = move(path, direct, memory, 0);
    memset(memory, 0, (size_t)ROWS * (COLUMNS / (size_t)ranks) * sizeof *memory);
    double together = move(path, NULL, memory, 0);
    int wrong = count_wrong(memory, 1);
    for (int64_t i = 0; i < (int64_t)ROWS * (COLUMNS / ranks + WIDTH); i++)
        memory[i] = -memory[i];
    double written = move(path, NULL, memory, 1), written_alone = move(path, direct, memory, 1);
    move(path, direct, memory, 0);
    wrong += count_wrong(memory, -1);
    if (rank == 0) {
        printf("array of %d x %d doubles, %d MiB, made with %d MiB a rank; %d ranks have %d of "
               "every %d columns each\n",
               ROWS, COLUMNS, ROWS / 1024 * COLUMNS * 8 / 1024, MEMORY / MIB, ranks, WIDTH,
               WIDTH * ranks);
        print_plan();
        printf("  read  together %6.1f ms   one call a piece %7.1f ms   %5.1f times faster\n",
               1e3 * together, 1e3 * alone, alone / together);
        printf("  write together %6.1f ms   one call a piece %7.1f ms   %5.1f times faster\n",
               1e3 * written, 1e3 * written_alone, written_alone / written);
        printf("  data  %s\n", wrong ? "WRONG" : "right");
        remove(path);
    }
    free(memory);
    MPI_Finalize();
    return wrong != 0;
}
