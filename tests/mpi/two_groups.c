/* Two groups of ranks write one file at the same time, each collectively: neither waits for the
 * other for ever, and neither undoes what the other has written.
 * usage: two_groups, on 4 ranks */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "weir/weir.h"

enum { PIECE = 16, ROW = 128, ROWS = 4096, MOST_SECONDS = 150 };

static int rank;
static int64_t rows = ROWS;
static char path[64], data[ROWS * PIECE], back[ROWS * PIECE];

/* Rank r has bytes 16r to 16r + 16 of every row of 128: all calls leave holes. */
static weir_file *open_half(MPI_Comm half, const char *hints, weir_pattern **where,
                            weir_pattern **memory)
{
    weir_file *f;
    CHECK(!weir_file_open(half, path, WEIR_READ | WEIR_WRITE | WEIR_CREATE, hints, &f));
    CHECK(!weir_pattern_strided(rank * PIECE, rows, PIECE, ROW, where));
    CHECK(!weir_pattern_contiguous(0, rows * PIECE, memory));
    return f;
}

/* What this rank has written is there, whatever the others did meanwhile. */
static void check_back(weir_file *f, const weir_pattern *where, const weir_pattern *memory)
{
    int64_t count;
    if (test_weak()) /* another rank may have stored it */
        CHECK(!weir_file_sync(f));
    CHECK(!weir_file_read(f, where, memory, back, &count, NULL));
    CHECK_EQUAL(count, rows * PIECE);
    CHECK(!memcmp(back, data, (size_t)count));
}

static void write_both(MPI_Comm half, const char *const *hints)
{
    weir_pattern *where, *memory;
    weir_file *f = open_half(half, hints[rank / 2], &where, &memory);
    for (int64_t i = 0; i < test_cases(60, 60); i++) {
        int64_t count;
        memset(data, (rank + 1) * 16 + (int)(i % 16), sizeof data);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(!weir_file_write_all(f, where, memory, data, &count, NULL));
        CHECK_EQUAL(count, rows * PIECE);
        check_back(f, where, memory);
    }
    CHECK(!weir_file_close(f));
    weir_pattern_free(where);
    weir_pattern_free(memory);
}

int main(int argc, char **argv)
{
    /* the second group's access=list writes its runs only, so that it has no holes to lock for */
    static const char *const hints[][2] = {
        {"collective=always;aggregators=2;access=sieve;window=64K",
         "collective=always;aggregators=2;access=sieve;window=64K"},
        {"collective=always;aggregators=2;access=sieve;window=64K;exchange=p2p",
         "collective=always;aggregators=2;access=sieve;window=64K;exchange=p2p"},
        {"collective=always;access=sieve;window=64K", "collective=always;access=list;window=64K"},
        {"collective=always;access=sieve;window=64K;realms=cyclic;aggregators=2",
         "collective=always;access=list;exchange=p2p"},
    };
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    alarm(MOST_SECONDS);
    if (test_weak()) /* each window takes milliseconds */
        rows = ROWS / 8;
    long long id = getpid();
    MPI_Bcast(&id, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "two-groups-%lld", id);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        write_both(half, hints[i]);
    MPI_Comm_free(&half);
    if (rank == 0)
        CHECK(!unlink(path));
    MPI_Finalize();
    return 0;
}
