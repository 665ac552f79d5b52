/* Calls at their edges on MPI processes, as placed and with 1 and 2 ranks a node; files that only
 * some ranks have open; environments that differ from rank to rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "engine/call_cases.h"
#include "file/inside.h"
#include "transport/mpi_transport.h"
#include "weir/weir.h"
#include "weir_mpi.h"

static int rank, ranks;
static char path[100], other_path[100];

enum { MODE = WEIR_READ | WEIR_WRITE | WEIR_CREATE };

static void forget(const char *file)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        unlink(file);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void test_calls(int64_t per_node)
{
    static const char *const hints[] = {"collective=always;access=sieve;window=200;storage=posix",
                                        "collective=always;realms=static;exchange=p2p;window=100",
                                        "collective=always;realms=cyclic;window=64;storage=uring",
                                        "storage=pool"};
    wr_tunables tunables;
    wr_transport *t;
    wr_world *w;
    bool differed;
    wr_tunables_init(&tunables);
    tunables.ranks_per_node = per_node;
    CHECK(!wr_transport_open_mpi(MPI_COMM_WORLD, 0, &tunables, &differed, &t));
    CHECK(!wr_world_open(t, &tunables, &w));
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        check_within(60);
        check_calls(w, path, hints[i]);
        forget(path);
    }
    wr_world_close(w);
}

/* Odd ranks share a file; even ranks have another open, or only wait for a message that is sent
 * when the odd ranks are done. */
static void test_some_ranks(bool both)
{
    MPI_Comm half;
    weir_file *f;
    wr_world *w;
    int token = 0, odd = rank % 2, last_odd = (ranks - 2) / 2 * 2 + 1;
    check_within(60);
    MPI_Comm_split(MPI_COMM_WORLD, odd, rank, &half);
    if (odd || both) {
        CHECK(!weir_file_open(half, odd ? path : other_path, MODE, "collective=always", &f));
        CHECK(!wr_world_get(half, &w));
        for (int i = 0; i < 20; i++)
            check_round_trip(w, f);
    }
    if (rank == last_odd)
        for (int i = 0; i < ranks; i += 2)
            MPI_Send(&token, 1, MPI_INT, i, 3, MPI_COMM_WORLD);
    if (!odd)
        MPI_Recv(&token, 1, MPI_INT, last_odd, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (odd || both)
        CHECK(!weir_file_close(f));
    MPI_Comm_free(&half);
    forget(path);
    forget(other_path);
}

static void set(const char *name, const char *first, const char *others)
{
    const char *value = rank == 0 ? first : others;
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

/* Opens on a new communicator, so that the environment is read again; what counts is rank 0's. */
static void check_environment(const char *hints, const char *name, const char *wanted)
{
    MPI_Comm copy;
    weir_file *f;
    wr_world *w;
    wr_tunables first;
    char value[100];
    check_within(60);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    CHECK(!weir_file_open(copy, path, MODE, hints, &f));
    CHECK(!wr_world_get(copy, &w));
    wr_tunables_get(&f->group.handle.tunables, name, value, sizeof value);
    CHECK(!strcmp(value, wanted));
    first = w->tunables;
    MPI_Bcast(&first, sizeof first, MPI_BYTE, 0, MPI_COMM_WORLD);
    CHECK(!memcmp(&first, &w->tunables, sizeof first));
    check_round_trip(w, f);
    CHECK(!weir_file_close(f));
    MPI_Comm_free(&copy);
    forget(path);
}

static void test_environments(void)
{
    set("WEIR_HINTS", "window=100;collective=always", "window=3000;collective=never;realms=cyclic");
    check_environment(NULL, "window", "100");
    check_environment(rank ? "window=77" : "window=88;aggregators=1", "window", "100");
    set("WEIR_WINDOW", NULL, "5000");
    check_environment(NULL, "window", "100");
    set("WEIR_WINDOW", "300", "5000");
    check_environment(rank == 1 ? "no hint" : NULL, "window", "300");
    set("WEIR_HINTS", NULL, "fault=eio:1;exchange=p2p;access=list");
    set("WEIR_RANKS_PER_NODE", NULL, "1");
    check_environment(NULL, "access_write", "auto");
    set("WEIR_RANKS_PER_NODE", "1", NULL);
    check_environment("access=sieve", "access_write", "sieve");
    set("WEIR_STORAGE", "posix", "uring");
    check_environment(rank ? "storage=pool" : NULL, "storage", "posix");
    set("WEIR_STORAGE", "pool", NULL);
    check_environment(NULL, "storage", "pool");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int number = (int)getpid();
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "calls-mpi-%d.bin", number);
    snprintf(other_path, sizeof other_path, "calls-mpi-%d-other.bin", number);
    for (int64_t per_node = 0; per_node < 3; per_node++)
        test_calls(per_node);
    if (ranks > 1) {
        test_some_ranks(false);
        test_some_ranks(true);
    }
    test_environments();
    MPI_Finalize();
    return 0;
}
