/* The transport's cases with MPI processes, as they are placed and with 1, 2 and 4 ranks a node. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "transport/mpi_transport.h"
#include "transport/transport_cases.h"

static int rank, ranks;

static wr_transport *open_with(wr_tunables *tunables, int64_t ranks_per_node)
{
    wr_transport *t;
    bool differed;
    wr_tunables_init(tunables);
    tunables->ranks_per_node = ranks_per_node;
    CHECK(!wr_transport_open_mpi(MPI_COMM_WORLD, 0, tunables, &differed, &t));
    CHECK(!differed);
    return t;
}

/* More than 2 GiB in one message. */
static void check_large_message(void)
{
    wr_tunables tunables;
    wr_transport *t = open_with(&tunables, 0);
    int64_t bytes = (INT64_C(2) << 30) + 12345;
    char *data = malloc((size_t)bytes);
    CHECK(data);
    for (int64_t i = 0; i < bytes; i += 4093)
        data[i] = rank == 0 ? (char)(i / 4093) : 0;
    if (rank == 0)
        CHECK(!wr_send(t, 1, 3, data, bytes));
    else
        CHECK(!wr_receive(t, 0, 3, data, bytes));
    for (int64_t i = 0; i < bytes; i += 4093)
        CHECK(data[i] == (char)(i / 4093));
    free(data);
    wr_transport_close(t);
}

/* One rank that has failed before, or has no memory, or other tunables. */
static void check_unlike_ranks(void)
{
    wr_transport *t = NULL;
    wr_tunables tunables;
    bool differed;
    int last = ranks - 1;
    wr_tunables_init(&tunables);
    int code = rank == last ? wr_fail(WEIR_EINVAL, "window=none") : 0;
    CHECK_EQUAL(wr_transport_open_mpi(MPI_COMM_WORLD, code, &tunables, &differed, &t), WEIR_EINVAL);
    CHECK(strstr(weir_error_last()->text, "window=none") && weir_error_last()->rank == last);
    for (int64_t skip = 0; skip < 3; skip++) {
        wr_alloc_fail_after(rank == last ? skip : -1);
        code = wr_transport_open_mpi(MPI_COMM_WORLD, 0, &tunables, &differed, &t);
        wr_alloc_fail_after(-1);
        CHECK_EQUAL(code, WEIR_ENOMEM);
        CHECK_EQUAL(weir_error_last()->rank, last);
    }
    tunables.window = 4096 + rank;
    CHECK(!wr_transport_open_mpi(MPI_COMM_WORLD, 0, &tunables, &differed, &t));
    CHECK_EQUAL(tunables.window, 4096);
    CHECK_EQUAL(differed, rank > 0);
    wr_transport_close(t);
}

/* A message of ours that nobody has received yet keeps no other from being received. */
static void check_poke(void)
{
    enum { BYTES = 1 << 20 };
    static char data[BYTES];
    wr_tunables tunables;
    wr_transport *t = open_with(&tunables, 1);
    _Atomic int *sent;
    MPI_Aint size;
    int unit, go = 1;
    char byte = 'x';
    MPI_Win window;
    MPI_Request posted;
    MPI_Win_allocate_shared(rank == 0 ? sizeof *sent : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                            (void *)&sent, &window);
    MPI_Win_shared_query(window, 0, &size, &unit, (void *)&sent);
    check_within(20);
    if (rank == 0) {
        wr_parcel found = {.rank = 1};
        *sent = 0;
        MPI_Irecv(data, BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &posted);
        for (bool any = false; !any;)
            CHECK(!t->ops->probe(t, 3, &found, &any));
        MPI_Send(&go, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
        while (!*sent)
            t->ops->poke(t);
        CHECK(!wr_receive(t, 1, 3, &byte, 1));
        MPI_Wait(&posted, MPI_STATUS_IGNORE);
    } else {
        CHECK(!wr_send(t, 0, 3, &byte, 1));
        MPI_Recv(&go, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Ssend(data, BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        *sent = 1;
    }
    check_within(0);
    MPI_Win_free(&window);
    wr_transport_close(t);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    uint64_t seed = rank == 0 ? test_seed() : 0;
    MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    static const int64_t per_node[] = {0, 1, 2, 4};
    for (int i = 0; i < 4; i++) {
        wr_tunables tunables;
        check_case(per_node[i]);
        wr_transport *t = open_with(&tunables, per_node[i]);
        check_transport(t, &tunables, seed);
        check_world(t, &tunables, seed);
        wr_transport_close(t);
    }
    check_unlike_ranks();
    if (ranks == 2) {
        check_poke();
        check_large_message();
    }
    MPI_Finalize();
    return 0;
}
