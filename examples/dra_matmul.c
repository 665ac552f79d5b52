/* The product of matrices on disk, block by block, the next panel of B being read behind the
 * multiplication (the DRA paper, section 5.2). Equation 1 gives the size of blocks for which
 * reading keeps up with multiplying. usage: mpirun -n RANKS dra_matmul FOLDER [N] */
#include <dra.h>
#include <ga.h>
#include <macdecls.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <weir/dra.h>

static int n = 960;

static void stop_if(int code)
{
    if (code)
        fprintf(stderr, "%s\n", weir_dra_error()), GA_Error("matmul", code);
}

static int make_global(int rows, int columns)
{
    int dims[] = {rows, columns}, chunk[] = {-1, -1};
    return NGA_Create(C_DBL, 2, dims, "block", chunk);
}

static int make_disk(char *file, int rows, int columns)
{
    dra_size_t dims[] = {n, n}, typical[] = {rows, columns};
    int d_a;
    stop_if(NDRA_Create(C_DBL, 2, dims, file, file, DRA_RW, typical, &d_a));
    return d_a;
}

/* All of a global array, to or from (row, column) of one on disk; 4 of its 6 bounds follow. */
static int start(int write, int g_a, int d_a, int row, int column)
{
    int type, ndim, dims[2], lo[] = {0, 0}, request;
    NGA_Inquire(g_a, &type, &ndim, dims);
    int hi[] = {dims[0] - 1, dims[1] - 1};
    dra_size_t dlo[] = {row, column}, dhi[] = {row + hi[0], column + hi[1]};
    stop_if(write ? NDRA_Write_section(0, g_a, lo, hi, d_a, dlo, dhi, &request)
                  : NDRA_Read_section(0, g_a, lo, hi, d_a, dlo, dhi, &request));
    return request;
}

/* a[i][k] = i + 1, b[k][j] = j + 1, so that c[i][j] must be n (i + 1) (j + 1). */
static void fill(int disk, int by_rows)
{
    const int band = n / 8;
    int g_a = by_rows ? make_global(band, n) : make_global(n, band), lo[2], hi[2], ld[1];
    NGA_Distribution(g_a, GA_Nodeid(), lo, hi);
    for (int at = 0; at < n; at += band) {
        double *block;
        NGA_Access(g_a, lo, hi, &block, ld);
        for (int i = lo[0]; i <= hi[0]; i++)
            for (int j = lo[1]; j <= hi[1]; j++)
                block[(i - lo[0]) * ld[0] + j - lo[1]] = at + (by_rows ? i : j) + 1;
        NGA_Release_update(g_a, lo, hi);
        stop_if(DRA_Wait(start(1, g_a, disk, by_rows ? at : 0, by_rows ? 0 : at)));
    }
    GA_Destroy(g_a);
}

/* n_b = 4 P M / B: P M, in Mflop/s, is measured on a small product, B, in MB/s, on a panel. */
static int choose_block(int disk)
{
    const int try = n / 8;
    int a = make_global(try, n), b = make_global(n, try), c = make_global(try, try);
    double begun = MPI_Wtime();
    stop_if(DRA_Wait(start(0, b, disk, 0, 0)));
    double bytes = 8e-6 * n * try / (MPI_Wtime() - begun);
    GA_Zero(a);
    GA_Dgemm('n', 'n', try, try, n, 1, a, b, 0, c);
    begun = MPI_Wtime();
    GA_Dgemm('n', 'n', try, try, n, 1, a, b, 0, c);
    double flops = 2e-6 * try * try * n / (MPI_Wtime() - begun);
    double wanted = 4 * flops / bytes;
    GA_Brdcst(&wanted, sizeof wanted, 0); /* clocks differ */
    GA_Destroy(a);
    GA_Destroy(b);
    GA_Destroy(c);
    int block = n / 16; /* a divisor of n; at most a quarter, for memory */
    while (block < wanted && block < n / 4)
        block *= 2;
    if (GA_Nodeid() == 0)
        printf("equation 1 asks for blocks of at least %.0f; taken: %d\n", wanted, block);
    return block;
}

static void multiply(const int *disk, int block)
{
    int a = make_global(block, n), c = make_global(block, block), now = 0;
    int b[] = {make_global(n, block), make_global(n, block)};
    int next = start(0, b[0], disk[1], 0, 0);
    for (int i = 0; i < n; i += block) {
        stop_if(DRA_Wait(start(0, a, disk[0], i, 0)));
        for (int j = 0; j < n; j += block, now = 1 - now) {
            stop_if(DRA_Wait(next));
            next = DRA_REQ_INVALID;
            if (i + block < n || j + block < n)
                next = start(0, b[1 - now], disk[1], 0, (j + block) % n);
            GA_Dgemm('n', 'n', block, block, n, 1, a, b[now], 0, c);
            stop_if(DRA_Wait(start(1, c, disk[2], i, j)));
        }
    }
}

static int count_wrong(int disk)
{
    int row = make_global(1, n), wrong = 0;
    double *got = malloc((size_t)n * sizeof *got);
    for (int i = 0; i < n; i += 61) {
        int lo[] = {0, 0}, hi[] = {0, n - 1};
        stop_if(DRA_Wait(start(0, row, disk, i, 0)));
        NGA_Get(row, lo, hi, got, &n);
        GA_Sync();
        for (int j = 0; j < n; j++)
            wrong += got[j] != (double)n * (i + 1) * (j + 1);
    }
    free(got);
    return wrong;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    GA_Initialize();
    MA_init(C_DBL, 1000000, 1000000);
    if (argc < 2 || chdir(argv[1]))
        GA_Error("usage: dra_matmul FOLDER [N]", 0);
    n = argc > 2 ? atoi(argv[2]) / 16 * 16 : n;
    stop_if(DRA_Init(3, -1, -1, 8e6));
    int disk[] = {make_disk("a.npy", n / 4, n), make_disk("b.npy", n, n / 4),
                  make_disk("c.npy", n / 4, n / 4)};
    fill(disk[0], 1);
    fill(disk[1], 0);
    int block = choose_block(disk[1]);
    double begun = MPI_Wtime();
    multiply(disk, block);
    double rate = 2e-9 * n * n * n / (MPI_Wtime() - begun);
    int wrong = count_wrong(disk[2]);
    if (GA_Nodeid() == 0)
        printf("%d x %d by %d ranks: %.1f Gflop/s, %d elements wrong\n", n, n, GA_Nnodes(), rate,
               wrong);
    for (int i = 0; i < 3; i++)
        stop_if(DRA_Delete(disk[i]));
    stop_if(DRA_Terminate());
    GA_Terminate();
    MPI_Finalize();
    return wrong != 0;
}
