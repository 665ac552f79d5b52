/* The random arrays and accesses on MPI processes, as placed and with 1 and 2 ranks a node. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array/array_scene.h"
#include "transport/mpi_transport.h"
#include "weir/weir.h"

static int rank;

/* By each rank. */
static void check_opened(const naive *a, const char *path)
{
    weir_array *opened;
    char *data = malloc((size_t)(a->elements * a->element + 1));
    CHECK(data);
    CHECK(!weir_array_open(MPI_COMM_SELF, path, WEIR_READ, NULL, &opened));
    CHECK(!weir_array_read(opened, &(weir_selection){0}, NULL, data, NULL));
    CHECK(!memcmp(data, a->data, (size_t)(a->elements * a->element)));
    CHECK(!weir_array_close(opened));
    free(data);
}

static void run_stage(rng *r, array_scene *s, wr_world *w)
{
    array_scene_make(r, s);
    check_within(test_weak() ? 120 : 60);
    array_scene_run(s, w);
    array_scene_check(s, rank);
    CHECK(!wr_agree(w->transport, 0, 0));
    if (test_weak())
        check_opened(&s->array, s->path);
    else if (rank == 0)
        naive_check_files(&s->array, s->path);
    CHECK(!wr_agree(w->transport, 0, 0));
    array_scene_release(s);
}

static void run_case(rng *r, array_scene *s, wr_world *w)
{
    naive_random(r, &s->array);
    naive_settle(&s->array);
    s->create = true;
    run_stage(r, s, w);
    if (rng_chance(r, 30) && !test_weak()) {
        if (rank == 0)
            naive_swap_files(&s->array, s->path);
        else if (s->array.element > 1 && !s->array.info.format)
            s->array.info.swapped = 1;
    }
    CHECK(!wr_agree(w->transport, 0, 0));
    s->create = false;
    run_stage(r, s, w);
    naive_release(&s->array);
    CHECK(!wr_agree(w->transport, 0, 0));
    if (rank == 0)
        remove_tree(s->path);
    CHECK(!wr_agree(w->transport, 0, 0));
}

static void run_with(array_scene *s, int64_t ranks_per_node, uint64_t seed, int64_t cases)
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
    array_scene *s = calloc(1, sizeof *s);
    CHECK(s);
    MPI_Comm_size(MPI_COMM_WORLD, &s->ranks);
    s->limits.rings = true;
    CHECK(s->ranks <= ARRAY_RANKS);
    snprintf(s->path, sizeof s->path, "array-mpi-%d", number);
    for (int64_t per_node = 0; per_node < 3; per_node++)
        run_with(s, per_node, seed + (uint64_t)per_node, test_cases(12, 300));
    free(s);
    MPI_Finalize();
    return 0;
}
