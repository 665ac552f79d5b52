/* Suite `dra`: a program of Global Arrays that uses nothing but the DRA interface, so that it is
 * linked with the door, as bench_dra, and without, as bench_dra_ga. Prints a line a repetition,
 *     PART  case  op  seconds
 * usage: bench_dra PART FILE N [IO_RANKS MEMORY]
 *   whole    an array of N x N, all of it; and plain calls of 1 MiB
 *   lines    one row, one column of it
 *   section  N/2 x N/2 of N x N, aligned and not (the DRA paper, figures 5 and 6)
 *   matmul   the product of two matrices of N x N (figure 8)
 *   riscf    written in rows, read in columns behind computing */
#include <dra.h>
#include <fcntl.h>
#include <ga.h>
#include <macdecls.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REPEAT = 4, BLOCKS = 8, MIB = 1 << 20 };

int NDRA_Create_config(int type, int ndim, dra_size_t dims[], char *name, char *filename, int mode,
                       dra_size_t reqdims[], int numfiles, int ioprocs, int *d_a);

static int rank, ranks;
static char *file;
static double started;

static void must(int code, const char *what)
{
    if (!code)
        return;
    fprintf(stderr, "rank %d: %s: %d\n", rank, what, code);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static int make_global(int rows, int columns)
{
    int dims[] = {rows, columns}, chunk[] = {-1, -1};
    double one = 1;
    int g_a = NGA_Create(C_DBL, 2, dims, "g", chunk);
    GA_Fill(g_a, &one);
    return g_a;
}

static int make_disk(const char *ending, int n, const dra_size_t *typical, int io_ranks)
{
    static char path[300];
    dra_size_t dims[] = {n, n}, request[] = {typical[0], typical[1]};
    int d_a;
    snprintf(path, sizeof path, "%s%s", file, ending);
    must(io_ranks
             ? NDRA_Create_config(C_DBL, 2, dims, "d", path, DRA_RW, request, 1, io_ranks, &d_a)
             : NDRA_Create(C_DBL, 2, dims, "d", path, DRA_RW, request, &d_a),
         "create");
    return d_a;
}

static void begin(void)
{
    GA_Sync();
    started = MPI_Wtime();
}

static void say(const char *part, const char *name, const char *op, double seconds)
{
    if (rank)
        return;
    printf("%s\t%s\t%s\t%.9g\n", part, name, op, seconds);
    fflush(stdout);
}

/* The slowest rank counts; the first repetition does not. */
static void end(const char *part, const char *name, const char *op, int repetition)
{
    double took = MPI_Wtime() - started, most;
    MPI_Allreduce(&took, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (repetition)
        say(part, name, op, most);
}

/* A box of a global array from its corner, and one of a disk resident array at (row, column). */
static int start(int write, int g_a, int d_a, const int *extent, const long *at)
{
    int request, lo[] = {0, 0}, hi[] = {extent[0] - 1, extent[1] - 1};
    dra_size_t dlo[] = {at[0], at[1]}, dhi[] = {at[0] + extent[0] - 1, at[1] + extent[1] - 1};
    must(write ? NDRA_Write_section(0, g_a, lo, hi, d_a, dlo, dhi, &request)
               : NDRA_Read_section(0, g_a, lo, hi, d_a, dlo, dhi, &request),
         "start");
    return request;
}

static void move(int write, int g_a, int d_a, const int *extent, const long *at)
{
    must(DRA_Wait(start(write, g_a, d_a, extent, at)), "wait");
}

static void plain(int n)
{
    char path[300], *buffer = malloc(MIB);
    const long share = (long)n * n * 8 / ranks / MIB * MIB;
    snprintf(path, sizeof path, "%s-plain", file);
    int fd = open(path, O_RDWR | O_CREAT, 0666);
    must(fd < 0 || !buffer, "plain file");
    memset(buffer, 1, MIB);
    for (int k = 0; k < REPEAT; k++)
        for (int write = 1; write >= 0; write--) {
            begin();
            for (long at = 0; at < share; at += MIB) {
                const off_t place = rank * share + at;
                must((write ? pwrite(fd, buffer, MIB, place) : pread(fd, buffer, MIB, place)) !=
                         MIB,
                     "plain call");
            }
            end("whole", "plain", write ? "write" : "read", k);
        }
    close(fd);
    free(buffer);
    GA_Sync();
    if (rank == 0)
        unlink(path);
}

static void run_whole(int n)
{
    const dra_size_t typical[2][2] = {{-1, -1}, {n / 4, n / 4}};
    int g_a = make_global(n, n), extent[] = {n, n};
    for (int h = 0; h < 2; h++) {
        const long at[] = {0, 0};
        int d_a = make_disk("-whole", n, typical[h], 0);
        for (int k = 0; k < REPEAT; k++)
            for (int write = 1; write >= 0; write--) {
                begin();
                move(write, g_a, d_a, extent, at);
                end("whole", h ? "hint" : "none", write ? "write" : "read", k);
            }
        must(DRA_Delete(d_a), "delete");
    }
    GA_Destroy(g_a);
    plain(n);
}

static void run_lines(int n)
{
    static const char *const names[] = {"none", "rows", "columns"};
    const dra_size_t typical[3][2] = {{-1, -1}, {1, n}, {n, 1}};
    int all = make_global(n, n), line[2] = {make_global(1, n), make_global(n, 1)};
    const int extent[2][2] = {{1, n}, {n, 1}}, whole[] = {n, n};
    for (int h = 0; h < 3; h++) {
        const long at[] = {0, 0};
        int d_a = make_disk("-lines", n, typical[h], 1);
        move(1, all, d_a, whole, at);
        for (int k = 0; k < 2 * REPEAT; k++)
            for (int way = 0; way < 4; way++) {
                const int column = way / 2, write = 1 - way % 2;
                const long place[] = {column ? 0 : 37 + 50 * k, column ? 41 + 50 * k : 0};
                char op[40];
                snprintf(op, sizeof op, "%s a %s", write ? "write" : "read",
                         column ? "column" : "row");
                begin();
                move(write, line[column], d_a, extent[column], place);
                end("lines", names[h], op, k);
            }
        must(DRA_Delete(d_a), "delete");
    }
}

static void run_section(int n, int io_ranks)
{
    const dra_size_t typical[] = {n / 2, n / 2};
    const int extent[] = {n / 2, n / 2};
    const long aligned[] = {0, 0}, shifted[] = {n / 4 + 13, n / 4 + 7};
    int g_a = make_global(n / 2, n / 2), d_a = make_disk("-section", n, typical, io_ranks);
    for (int k = 0; k < REPEAT; k++)
        for (int way = 0; way < 4; way++) {
            const int write = 1 - way % 2;
            begin();
            move(write, g_a, d_a, extent, way / 2 ? shifted : aligned);
            end("section", way / 2 ? "not aligned" : "aligned", write ? "write" : "read", k);
        }
    must(DRA_Delete(d_a), "delete");
}

/* The loop of the DRA paper, section 5.2, with blocks of n / 4; of it, what multiplying takes. */
static void run_matmul(int n)
{
    const int nb = n / 4, band[] = {nb, n}, panel[] = {n, nb}, block[] = {nb, nb};
    const dra_size_t rows[] = {nb, n}, columns[] = {n, nb}, blocks[] = {nb, nb};
    const long corner[] = {0, 0};
    const int whole[] = {n, n};
    int all = make_global(n, n), a = make_global(nb, n), c = make_global(nb, nb);
    int b[] = {make_global(n, nb), make_global(n, nb)};
    int disk[] = {make_disk("-a", n, rows, 0), make_disk("-b", n, columns, 0),
                  make_disk("-c", n, blocks, 0)};
    move(1, all, disk[0], whole, corner);
    move(1, all, disk[1], whole, corner);
    for (int k = 0; k < 2; k++) {
        double multiplying = 0;
        begin();
        int next = start(0, b[0], disk[1], panel, corner), now = 0;
        for (int i = 0; i < n; i += nb) {
            move(0, a, disk[0], band, (long[]){i, 0});
            for (int j = 0; j < n; j += nb, now = 1 - now) {
                must(DRA_Wait(next), "wait");
                next = DRA_REQ_INVALID;
                if (i + nb < n || j + nb < n)
                    next = start(0, b[1 - now], disk[1], panel, (long[]){0, (j + nb) % n});
                double before = MPI_Wtime();
                GA_Dgemm('n', 'n', nb, nb, n, 1, a, b[now], 0, c);
                multiplying += MPI_Wtime() - before;
                move(1, c, disk[2], block, (long[]){i, j});
            }
        }
        end("matmul", "all", "multiply", k);
        started = MPI_Wtime() - multiplying;
        end("matmul", "in core", "multiply", k);
    }
    for (int i = 0; i < 3; i++)
        must(DRA_Delete(disk[i]), "delete");
}

/* So much computing, on all ranks. */
static void compute(double seconds)
{
    volatile double x = 1;
    for (double until = MPI_Wtime() + seconds; MPI_Wtime() < until;)
        for (int i = 0; i < 1000; i++)
            x = x * 0.999 + 1;
}

/* Reads all columns in blocks, computing so long on each, one read ahead or not. */
static double read_columns(int d_a, const int *buffer, int n, double seconds, int ahead)
{
    const int extent[] = {n, n / BLOCKS};
    begin();
    int next = start(0, buffer[0], d_a, extent, (long[]){0, 0});
    for (int k = 0; k < BLOCKS; k++) {
        must(DRA_Wait(next), "wait");
        if (k + 1 < BLOCKS && ahead)
            next = start(0, buffer[(k + 1) % 2], d_a, extent, (long[]){0, (k + 1) * (n / BLOCKS)});
        compute(seconds);
        if (k + 1 < BLOCKS && !ahead)
            next = start(0, buffer[(k + 1) % 2], d_a, extent, (long[]){0, (k + 1) * (n / BLOCKS)});
    }
    double took = MPI_Wtime() - started, most;
    MPI_Allreduce(&took, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

/* The share of the reads that is hidden; the first cannot be. */
static void run_riscf(int n)
{
    const dra_size_t typical[] = {1, n};
    const int rows[] = {n / BLOCKS, n};
    int band = make_global(n / BLOCKS, n), d_a = make_disk("-riscf", n, typical, 0);
    int buffer[] = {make_global(n, n / BLOCKS), make_global(n, n / BLOCKS)};
    for (int k = 0; k < BLOCKS; k++)
        move(1, band, d_a, rows, (long[]){k * (n / BLOCKS), 0});
    for (int k = 0; k < REPEAT; k++) {
        const double reads = read_columns(d_a, buffer, n, 0, 0), each = reads / BLOCKS;
        const double apart = read_columns(d_a, buffer, n, each, 0);
        const double behind = read_columns(d_a, buffer, n, each, 1);
        say("riscf", "read ahead", "hidden", (apart - behind) / (reads - each));
    }
    must(DRA_Delete(d_a), "delete");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    GA_Initialize();
    MA_init(C_DBL, 4000000, 4000000);
    rank = GA_Nodeid();
    ranks = GA_Nnodes();
    if (argc < 4)
        must(1, "usage: bench_dra PART FILE N [IO_RANKS MEMORY]");
    const int n = atoi(argv[3]);
    file = argv[2];
    must(DRA_Init(8, -1, -1, argc > 5 ? atof(argv[5]) : -1), "begin");
    if (!strcmp(argv[1], "whole"))
        run_whole(n);
    else if (!strcmp(argv[1], "lines"))
        run_lines(n);
    else if (!strcmp(argv[1], "section"))
        run_section(n, argc > 4 ? atoi(argv[4]) : 0);
    else if (!strcmp(argv[1], "matmul"))
        run_matmul(n);
    else
        run_riscf(n);
    DRA_Terminate();
    GA_Terminate();
    MPI_Finalize();
    return 0;
}
