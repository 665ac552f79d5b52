/* The pattern of RI-SCF (the DRA paper, section 5.3): integrals are written once, in full rows as
 * they are computed, and read in every iteration in full columns, each block behind the work on the
 * one before. usage: mpirun -n RANKS dra_riscf FOLDER */
#include <dra.h>
#include <ga.h>
#include <macdecls.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
#include <weir/dra.h>

enum { PAIRS = 2000, FUNCTIONS = 240, ROWS = 250, COLUMNS = 60, ITERATIONS = 3 };

static void stop_if(int code)
{
    if (code)
        fprintf(stderr, "%s\n", weir_dra_error()), GA_Error("riscf", code);
}

static int make_global(int rows, int columns)
{
    int dims[] = {rows, columns}, chunk[] = {-1, -1};
    return NGA_Create(C_DBL, 2, dims, "part", chunk);
}

/* Element (pair, function) is pair + function. */
static void compute_rows(int g_a, int first)
{
    int lo[2], hi[2], ld[1];
    double *block;
    NGA_Distribution(g_a, GA_Nodeid(), lo, hi);
    NGA_Access(g_a, lo, hi, &block, ld);
    for (int i = lo[0]; i <= hi[0]; i++)
        for (int j = lo[1]; j <= hi[1]; j++)
            block[(i - lo[0]) * ld[0] + j - lo[1]] = first + i + j;
    NGA_Release_update(g_a, lo, hi);
}

static int start(int write, int g_a, int d_a, int row, int column)
{
    int rows = write ? ROWS : PAIRS, columns = write ? FUNCTIONS : COLUMNS, request;
    int lo[] = {0, 0}, hi[] = {rows - 1, columns - 1};
    dra_size_t dlo[] = {row, column}, dhi[] = {row + rows - 1, column + columns - 1};
    stop_if(write ? NDRA_Write_section(0, g_a, lo, hi, d_a, dlo, dhi, &request)
                  : NDRA_Read_section(0, g_a, lo, hi, d_a, dlo, dhi, &request));
    return request;
}

/* Rows are computed while those before are written. */
static void write_rows(int d_a)
{
    int band[] = {make_global(ROWS, FUNCTIONS), make_global(ROWS, FUNCTIONS)};
    int request = DRA_REQ_INVALID;
    for (int k = 0; k < PAIRS / ROWS; k++) {
        compute_rows(band[k % 2], k * ROWS);
        stop_if(DRA_Wait(request));
        request = start(1, band[k % 2], d_a, k * ROWS, 0);
    }
    stop_if(DRA_Wait(request));
    GA_Destroy(band[0]);
    GA_Destroy(band[1]);
}

/* The sum of all integrals stands for the Fock matrix. */
static double iterate(int d_a, const int *buffer, int ones)
{
    double sum = 0;
    int request = start(0, buffer[0], d_a, 0, 0);
    for (int k = 0; k < FUNCTIONS / COLUMNS; k++) {
        stop_if(DRA_Wait(request));
        request = DRA_REQ_INVALID;
        if (k + 1 < FUNCTIONS / COLUMNS)
            request = start(0, buffer[(k + 1) % 2], d_a, 0, (k + 1) * COLUMNS);
        sum += GA_Ddot(buffer[k % 2], ones);
    }
    stop_if(DRA_Wait(request));
    return sum;
}

int main(int argc, char **argv)
{
    dra_size_t dims[] = {PAIRS, FUNCTIONS}, typical[] = {PAIRS, COLUMNS};
    int d_a, right = 0;
    double one = 1, sum = 0;
    MPI_Init(&argc, &argv);
    GA_Initialize();
    MA_init(C_DBL, 1000000, 1000000);
    if (argc < 2 || chdir(argv[1]))
        GA_Error("usage: dra_riscf FOLDER", 0);
    stop_if(DRA_Init(1, -1, -1, -1));
    stop_if(NDRA_Create(C_DBL, 2, dims, "integrals", "integrals.npy", DRA_RW, typical, &d_a));
    write_rows(d_a);
    int ones = make_global(PAIRS, COLUMNS);
    int buffer[] = {make_global(PAIRS, COLUMNS), make_global(PAIRS, COLUMNS)};
    GA_Fill(ones, &one);
    const double exact = 0.5 * PAIRS * FUNCTIONS * (PAIRS + FUNCTIONS - 2);
    for (int k = 0; k < ITERATIONS; k++)
        right += (sum = iterate(d_a, buffer, ones)) == exact;
    if (GA_Nodeid() == 0)
        printf("%d of %d iterations right: %.0f\n", right, ITERATIONS, sum);
    stop_if(DRA_Delete(d_a));
    stop_if(DRA_Terminate());
    GA_Terminate();
    MPI_Finalize();
    return right != ITERATIONS;
}
