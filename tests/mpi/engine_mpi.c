/* The random scenes on MPI processes, on a real file, as placed and with 1 to 4 ranks a node. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/scene.h"
#include "engine/short_memory.h"
#include "mpi/open_and_read.h"
#include "transport/mpi_transport.h"

static int rank, ranks;

static void check_file(const scene *s)
{
    static char bytes[FILE_BYTES + 1];
    char hints[200];
    snprintf(hints, sizeof hints, "storage=%s", s->storage);
    if (test_weak()) {
        CHECK_EQUAL(open_and_read(s->path, hints, bytes, sizeof bytes), s->size);
        CHECK(!memcmp(bytes, s->file, (size_t)s->size));
    } else if (rank == 0)
        scene_check_file(s);
}

static void run_with(scene *s, int64_t ranks_per_node, bool shares, uint64_t seed, int64_t cases)
{
    wr_world *w;
    wr_transport *t;
    bool differed;
    wr_tunables tunables;
    wr_tunables_init(&tunables);
    tunables.ranks_per_node = ranks_per_node;
    short_memory_set(seed, shares ? 0 : 100, INT64_MAX);
    CHECK(!wr_transport_open_mpi(MPI_COMM_WORLD, 0, &tunables, &differed, &t));
    CHECK(!wr_world_open(t, &tunables, &w));
    for (int64_t i = 0; i < cases; i++) {
        rng r = {seed + (uint64_t)i * UINT64_C(0x5851f42d4c957f2d)};
        check_case(i);
        scene_make(&r, s);
        if (rank == 0 && getenv("WEIR_TEST_SHOW"))
            fprintf(stderr, "%lld: %lld a node, %s\n", (long long)i, (long long)ranks_per_node,
                    s->hints);
        short_memory_set(r.state, s->short_of, INT64_MAX);
        scene_run(s, w);
        scene_check_rank(s, rank);
        check_file(s);
        CHECK(!wr_agree(w->transport, 0, 0));
        if (rank == 0)
            CHECK(!wr_storage_remove(s->path));
        for (int k = 0; k < ranks; k++)
            for (int c = 0; k != rank && c < CALLS; c++) {
                modelled_free(&s->calls[c].part[k].where);
                weir_pattern_free(s->calls[c].part[k].memory);
            }
        CHECK(!wr_agree(w->transport, 0, 0));
    }
    wr_world_close(w);
}

int main(int argc, char **argv)
{
    static const int64_t per_node[] = {0, 1, 2, 3, 4};
    static const char *const storages[] = {"posix", "pool", "uring",
                                           "striped;disks=.:.:.;striping_unit=500"};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    uint64_t seed = rank == 0 ? test_seed() : 0;
    int64_t number = rank == 0 ? getpid() : 0;
    MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    MPI_Bcast(&number, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    scene *s = calloc(1, sizeof *s);
    CHECK(s && ranks <= SCENE_RANKS);
    s->ranks = ranks;
    snprintf(s->path, sizeof s->path, "engine-mpi-%lld.bin", (long long)number);
    for (int i = 0; i < 5; i++) {
        s->storage = storages[i % 4];
        run_with(s, per_node[i], true, seed + (uint64_t)i, test_cases(20, 500));
    }
    run_with(s, 0, false, seed + 5, test_cases(20, 500));
    free(s);
    MPI_Finalize();
    return 0;
}
