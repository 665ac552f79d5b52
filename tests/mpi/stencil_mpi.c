/* The random operators on MPI processes, as placed and with 1 and 2 ranks a node. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kernels/kernel_scene.h"
#include "transport/mpi_transport.h"

static int rank;

static void run_case(rng *r, kernel_scene *s, wr_world *w)
{
    kernel_scene_make(r, s);
    check_within(60);
    kernel_scene_run(s, w);
    kernel_scene_check_told(s, rank);
    CHECK(!wr_agree(w->transport, 0, 0));
    if (rank == 0) {
        kernel_scene_check(s);
        kernel_scene_remove(s);
    }
    kernel_scene_release(s);
    CHECK(!wr_agree(w->transport, 0, 0));
}

static void run_with(kernel_scene *s, int64_t ranks_per_node, uint64_t seed, int64_t cases)
{
    wr_world *w;
    wr_transport *t;
    bool differed;
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    tunables.ranks_per_node = ranks_per_node;
    CHECK(!wr_transport_open_mpi(MPI_COMM_WORLD, 0, &tunables, &differed, &t));
    CHECK(!wr_world_open(t, &tunables, &w));
    for (int64_t i = 0; i < cases; i++) {
        rng r = {seed + (uint64_t)i * UINT64_C(0x5851f42d4c957f2d)};
        check_case(i);
        run_case(&r, s, w);
    }
    wr_world_close(w);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    uint64_t seed = rank == 0 ? test_seed() : 0;
    int number = (int)getpid();
    MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    kernel_scene *s = calloc(1, sizeof *s);
    CHECK(s);
    MPI_Comm_size(MPI_COMM_WORLD, &s->ranks);
    CHECK(s->ranks <= KERNEL_RANKS);
    s->first = REDUCE;
    s->last = RELAX;
    s->rings = true;
    snprintf(s->path, sizeof s->path, "stencil-mpi-%d", number);
    for (int64_t per_node = 0; per_node < 3; per_node++)
        run_with(s, per_node, seed + (uint64_t)per_node, test_cases(12, 300));
    free(s);
    MPI_Finalize();
    return 0;
}
