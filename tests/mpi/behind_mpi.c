/* The random series of behind_model.h with ranks as processes, on real files. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/behind_model.h"
#include "mpi/open_and_read.h"
#include "transport/mpi_transport.h"

static int64_t get(const behind_play *p, char *bytes, int64_t count)
{
    if (test_weak())
        return open_and_read(p->path, NULL, bytes, count);
    int fd = open(p->path, O_RDONLY);
    CHECK(fd >= 0);
    int64_t got = read(fd, bytes, (size_t)count);
    CHECK(!close(fd));
    return got;
}

int main(int argc, char **argv)
{
    static const char *const storages[] = {"posix", "pool", "uring"};
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    uint64_t seed = rank == 0 ? test_seed() : 0;
    MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    behind_play *p = calloc(1, sizeof *p);
    CHECK(p && ranks <= BEHIND_RANKS);
    p->ranks = ranks;
    p->get = get;
    snprintf(p->path, sizeof p->path, "behind-mpi-%d.bin", ranks);
    for (int per_node = 0; per_node < 5; per_node++) {
        wr_world *w;
        wr_transport *t;
        wr_tunables tunables;
        bool differed;
        rng r = {seed + (uint64_t)per_node};
        wr_tunables_init(&tunables);
        tunables.ranks_per_node = per_node;
        CHECK(!wr_transport_open_mpi(MPI_COMM_WORLD, 0, &tunables, &differed, &t));
        CHECK(!wr_world_open(t, &tunables, &w));
        for (int64_t i = 0; i < test_cases(3, 200); i++) {
            check_case(per_node * 1000 + i);
            p->storage = storages[(per_node + i) % 3];
            behind_make(&r, p);
            behind_run(p, w);
            if (rank == 0)
                unlink(p->path);
            CHECK(!wr_agree(w->transport, 0, 0));
        }
        wr_world_close(w);
    }
    free(p);
    MPI_Finalize();
    return 0;
}
