/* Nobody's writing undoes a neighbour's: two parties of processes on one real file, on a split
 * communicator each, or each rank by itself. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "engine/party.h"
#include "weir_mpi.h"

static int rank, ranks;
static char path[100];

static void make_file(void)
{
    if (rank == 0) {
        FILE *f = fopen(path, "w");
        CHECK(f && !ftruncate(fileno(f), ROWS * ROW + 2) && !fclose(f));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

enum how { ALONE, LEADER_TOGETHER, BOTH_TOGETHER };

/* The leader's ranks write by read-modify-write, the others into the holes. */
static void play(MPI_Comm comm, bool leads, const char *hints, enum how how)
{
    party p = leads ? (party){.width = 180, .leads = true} : (party){.first = 180, .width = 60};
    wr_world *w;
    char all[300];
    p.together = how == BOTH_TOGETHER || (leads && how == LEADER_TOGETHER);
    p.spots = !leads && how == LEADER_TOGETHER;
    snprintf(all, sizeof all, "collective=always;window=700;sieve_buffer_write=700;%s;%s", hints,
             leads                  ? "access=sieve;fault=delay:150"
             : how == BOTH_TOGETHER ? "access=sieve"
                                    : "");
    p.hints = all;
    make_file();
    check_within(60);
    if (comm != MPI_COMM_NULL) {
        CHECK(!wr_world_get(comm, &w));
        party_play(&p, w, path, test_cases(8, 300));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The last rank, or the last two, against all others. */
static void test_split(void)
{
    static const char *const hints[] = {
        "storage=posix;aggregators=1",
        "storage=pool;realms=cyclic;aggregators=2",
        "storage=uring;realms=persistent;realm_block=200;aggregators=2",
        "storage=posix;exchange=p2p;aggregators=2",
        "storage=posix;exchange=leaders;aggregators=2",
        "storage=posix;exchange=alltoall;aggregators=2"};
    bool leads = rank < ranks - (ranks > 3 ? 2 : 1);
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, leads, rank, &comm);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        play(comm, leads, hints[i], LEADER_TOGETHER);
        play(comm, leads, hints[i], BOTH_TOGETHER);
        play(comm, leads, hints[i], ALONE); /* the leader's ranks are neighbours too */
    }
    MPI_Comm_free(&comm);
}

/* Two ranks by themselves, and both read what they do not write. */
static void test_self(void)
{
    play(rank < 2 ? MPI_COMM_SELF : MPI_COMM_NULL, rank == 0, "access=sieve", ALONE);
    play(rank < 2 ? MPI_COMM_SELF : MPI_COMM_NULL, rank == 0, "access=list", ALONE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int number = (int)getpid();
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "neighbours-mpi-%d.bin", number);
    test_split();
    test_self();
    if (rank == 0)
        unlink(path);
    MPI_Finalize();
    return 0;
}
