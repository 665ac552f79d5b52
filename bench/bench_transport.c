/* Suite `transport`: waiting and copying within a node, against MPI_Barrier and memcpy. Run with
 * several numbers of ranks; rank 0 reports. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench.h"
#include "weir_mpi.h"

static int rank, ranks;
static wr_world *world;
static wr_channel channel;
static wr_waiter waiter;

static int repetitions(void)
{
    return bench_quick() ? 5 : 21;
}

static void stop(const char *what)
{
    fprintf(stderr, "bench_transport: %s: %s\n", what, weir_error_last()->text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void weir_barrier(int times)
{
    for (int i = 0; i < times; i++)
        wr_channel_barrier(&channel, &waiter);
}

static void mpi_barrier(int times)
{
    for (int i = 0; i < times; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}

static double time_barrier(void (*barrier)(int times), int times)
{
    MPI_Barrier(MPI_COMM_WORLD);
    weir_barrier(2);
    double start = bench_seconds();
    barrier(times);
    return (bench_seconds() - start) / times;
}

static void bench_barrier(void)
{
    char name[32];
    snprintf(name, sizeof name, "node barrier, %d ranks", ranks);
    bench_figure f = {
        name,         "time", "slowdown", ranks == 2 ? "<=1.2" : "<1.0", "s", "wr_channel_barrier",
        "MPI_Barrier"};
    int times = ranks <= 2 ? 20000 : 1000;
    if (rank == 0)
        bench_declare(&f);
    for (int i = 0; i < repetitions(); i++) {
        double ours = time_barrier(weir_barrier, times), theirs = time_barrier(mpi_barrier, times);
        if (rank == 0)
            bench_sample(&f, ours, theirs);
    }
}

/* 64 MB in all, each rank its part: into memory shared by the node, and into memory of its own. */
static void bench_window(void)
{
    const int64_t total = 64000000, part = total / ranks;
    char name[48];
    snprintf(name, sizeof name, "64 MB through a shared window, %d ranks", ranks);
    bench_figure f = {name, "copy",          "speed", ranks == 16 ? ">=0.7" : "-",
                      "s",  "shared region", "memcpy"};
    wr_region window;
    if (wr_region_open(world->transport, 0, &world->tunables, total, &window))
        stop("region");
    char *mine = malloc((size_t)part), *copy = malloc((size_t)part);
    if (!mine || !copy)
        stop("out of memory");
    memset(mine, rank, (size_t)part);
    memset(copy, 0, (size_t)part);
    memset(window.base + rank * part, 0, (size_t)part);
    if (rank == 0)
        bench_declare(&f);
    for (int i = 0; i < repetitions(); i++) {
        double took[2];
        for (int k = 0; k < 2; k++) {
            weir_barrier(2);
            double start = bench_seconds();
            memcpy(k ? copy : window.base + rank * part, mine, (size_t)part);
            weir_barrier(1);
            took[k] = bench_seconds() - start;
        }
        if (rank == 0)
            bench_sample(&f, took[0], took[1]);
    }
    wr_region_close(&window);
    free(mine);
    free(copy);
}

static double cpu_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Rank 0 is a second late; the most CPU time any other rank spends on waiting for it. */
static void bench_idle(void)
{
    char name[32];
    snprintf(name, sizeof name, "waiting 1 s, %d ranks", ranks);
    bench_figure f = {name, "CPU time", "value", "<5", "%", "wr_wait", "-"};
    if (rank == 0)
        bench_declare(&f);
    for (int i = 0; i < (bench_quick() ? 1 : 5); i++) {
        weir_barrier(2);
        double start = cpu_seconds(), spent, most;
        if (rank == 0)
            sleep(1);
        weir_barrier(1);
        spent = cpu_seconds() - start;
        MPI_Reduce(&spent, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0)
            bench_sample(&f, 100 * most, 0);
    }
}

int main(int argc, char **argv)
{
    bench_init(argc, argv);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (wr_world_get(MPI_COMM_WORLD, &world) || wr_channel_open(world, &channel))
        stop("world");
    waiter = wr_transport_waiter(world->transport, true);
    bench_barrier();
    bench_window();
    bench_idle();
    wr_channel_close(&channel);
    MPI_Finalize();
    return 0;
}
