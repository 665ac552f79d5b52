/* A program of Global Arrays that goes on where it was, on any number of ranks: after every second
 * step the array is kept, in a file that has its name only once it is whole, and that is written
 * while the next step computes. usage: mpirun -n RANKS checkpoint FILE STEPS */
#include <dra.h>
#include <ga.h>
#include <macdecls.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <weir/dra.h>

enum { N = 600, MOST = 100 };

static void stop_if(int code)
{
    if (code)
        fprintf(stderr, "%s\n", weir_dra_error()), MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The newest file there is, read into g; the step it was made after, or 0. */
static int restart(const char *file, int g)
{
    char name[240];
    int d, request;
    for (int step = MOST; step > 0; step--) {
        snprintf(name, sizeof name, "%s.%d", file, step);
        if (DRA_Open(name, DRA_R, &d))
            continue;
        stop_if(NDRA_Read(g, d, &request));
        stop_if(DRA_Wait(request));
        stop_if(DRA_Close(d));
        return step;
    }
    return 0;
}

/* Starts writing what g is after a step; it must not change until the end. */
static void begin(const char *file, int g, int step, int *d, int *request)
{
    char name[240], title[] = "state";
    dra_size_t dims[] = {N, N}, typical[] = {-1, -1};
    snprintf(name, sizeof name, "%s.%d", file, step);
    stop_if(NDRA_Create(C_DBL, 2, dims, title, name, DRA_RW, typical, d));
    stop_if(NDRA_Write(g, *d, request));
}

static void end(int d, int request)
{
    stop_if(DRA_Wait(request));
    stop_if(DRA_Close(d));
}

/* One step: every element of `to` is that of `from` and 1 more. */
static void compute(int from, int to)
{
    double one = 1;
    GA_Fill(to, &one);
    GA_Add(&one, from, &one, to, to);
}

/* Steps up to `steps`, the state being in g[0] first; returns where it is then. */
static int run(const char *file, int g[2], int step, int steps)
{
    int now = 0, d = 0, request = DRA_REQ_INVALID;
    for (step++; step <= steps; step++, now = 1 - now) {
        if (step % 2 == 0 && d) /* what is computed now takes the place of what is written */
            end(d, request);
        compute(g[now], g[1 - now]);
        if (step % 2 == 0)
            begin(file, g[1 - now], step, &d, &request);
    }
    if (d)
        end(d, request);
    return now;
}

int main(int argc, char **argv)
{
    int dims[] = {N, N}, chunk[] = {-1, -1}, g[2];
    double zero = 0;
    MPI_Init(&argc, &argv);
    GA_Initialize();
    MA_init(C_DBL, 1 << 20, 1 << 20);
    if (argc < 3 || atoi(argv[2]) > MOST)
        GA_Error("usage: checkpoint FILE STEPS", 2);
    stop_if(DRA_Init(4, -1, -1, -1));
    for (int i = 0; i < 2; i++)
        g[i] = NGA_Create(C_DBL, 2, dims, "state", chunk);
    GA_Fill(g[0], &zero);
    int first = restart(argv[1], g[0]), steps = atoi(argv[2]);
    int now = run(argv[1], g, first, steps);
    double sum = GA_Ddot(g[now], g[now]), wanted = (double)steps * steps * N * N;
    if (GA_Nodeid() == 0)
        printf("%d ranks, %d steps after the first %d: %s\n", GA_Nnodes(), steps - first, first,
               sum == wanted ? "right" : "wrong");
    DRA_Terminate();
    GA_Terminate();
    MPI_Finalize();
    return sum != wanted;
}
