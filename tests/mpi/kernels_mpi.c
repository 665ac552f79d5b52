/* The random products and transpositions on MPI processes, as placed and with 1 and 2 ranks a
 * node. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kernels/multiply_case.h"
#include "kernels/transpose_case.h"
#include "transport/mpi_transport.h"

typedef struct scene {
    multiply_case multiply;
    transpose_case transpose;
} scene;

static void run_case(rng *r, scene *s, wr_world *w)
{
    const hint_limits limits = {.rings = true};
    check_within(60);
    multiply_case_make(r, &limits, &s->multiply);
    multiply_case_run(&s->multiply, w);
    multiply_case_release(&s->multiply);
    transpose_case_make(r, &limits, &s->transpose);
    transpose_case_run(&s->transpose, w);
    transpose_case_release(&s->transpose);
}

static void run_with(scene *s, int64_t ranks_per_node, uint64_t seed, int64_t cases)
{
    wr_world *w;
    wr_transport *t;
    bool differed;
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    tunables.ranks_per_node = ranks_per_node;
    CHECK(!wr_transport_open_mpi(MPI_COMM_WORLD, 0, &tunables, &differed, &t));
    CHECK(!wr_world_open(t, &tunables, &w));
    CHECK(t->cores > 0);
    for (int64_t i = 0; i < cases; i++) {
        rng r = {seed + (uint64_t)i * UINT64_C(0x5851f42d4c957f2d)};
        check_case(i);
        run_case(&r, s, w);
    }
    wr_world_close(w);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    uint64_t seed = rank == 0 ? test_seed() : 0;
    int number = (int)getpid();
    MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    scene *s = calloc(1, sizeof *s);
    CHECK(s);
    for (int i = 0; i < 3; i++)
        snprintf(s->multiply.path[i], sizeof s->multiply.path[i], "kernels-mpi-%d-m%d", number, i);
    for (int i = 0; i < 2; i++)
        snprintf(s->transpose.path[i], sizeof s->transpose.path[i], "kernels-mpi-%d-t%d", number,
                 i);
    for (int64_t per_node = 0; per_node < 3; per_node++)
        run_with(s, per_node, seed + (uint64_t)per_node, test_cases(8, 200));
    free(s);
    MPI_Finalize();
    return 0;
}
