/* What weir_totals_get counts, for each form of access: the bytes asked for, and those moved, which
 * are the same in all where nothing lies between.
 * usage: totals_mpi */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "weir/weir.h"

enum { ROWS = 64, RUN = 1024 };

static int rank, size;
static char path[64], data[ROWS * RUN];

typedef struct sums {
    int64_t wanted[2], moved[2], calls, errors;
} sums;

/* Of all ranks. */
static sums get(MPI_Comm comm)
{
    weir_totals t;
    CHECK(!weir_totals_get(comm, &t));
    CHECK(t.memory_peak >= 0);
    for (int i = 0; i < 8; i++)
        CHECK_EQUAL(t.reserved[i], 0);
    int64_t own[] = {t.wanted_read,   t.wanted_written, t.moved_read,
                     t.moved_written, t.calls,          t.errors};
    sums all;
    MPI_Allreduce(own, &all, 6, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void check(MPI_Comm comm, const sums *before, const sums *more)
{
    sums now = get(comm);
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(now.wanted[i] - before->wanted[i], more->wanted[i]);
        CHECK_EQUAL(now.moved[i] - before->moved[i], more->moved[i]);
    }
    CHECK_EQUAL(now.calls - before->calls, more->calls);
    CHECK_EQUAL(now.errors - before->errors, more->errors);
}

/* Rows of all ranks in turn, so that together they leave no holes. */
static void run_form(MPI_Comm comm, const char *hints, int together, int nonblocking)
{
    weir_file *f;
    weir_pattern *where, *memory;
    weir_request *request = NULL, **later = nonblocking ? &request : NULL;
    const int64_t all = (int64_t)size * ROWS * RUN;
    CHECK(!weir_file_open(comm, path, WEIR_READ | WEIR_WRITE | WEIR_CREATE, hints, &f));
    CHECK(!weir_pattern_strided((int64_t)rank * RUN, ROWS, RUN, (int64_t)size * RUN, &where));
    CHECK(!weir_pattern_contiguous(0, sizeof data, &memory));
    sums before = get(comm);
    CHECK(!(together ? weir_file_write_all : weir_file_write)(f, where, memory, data, NULL, later));
    CHECK(!weir_request_wait(&request, NULL));
    check(comm, &before, &(sums){{0, all}, {0, all}, size, 0});
    MPI_Barrier(MPI_COMM_WORLD);
    before = get(comm);
    CHECK(!(together ? weir_file_read_all : weir_file_read)(f, where, memory, data, NULL, later));
    CHECK(!weir_request_wait(&request, NULL));
    check(comm, &before, &(sums){{all, 0}, {all, 0}, size, 0});
    before = get(comm);
    CHECK(weir_file_read(f, where, NULL, data, NULL, NULL) == WEIR_EINVAL);
    check(comm, &before, &(sums){.calls = size, .errors = size});
    weir_pattern_free(where);
    weir_pattern_free(memory);
    CHECK(!weir_file_close(f));
}

/* Each rank wants one byte of every hundred, by sieving: it moves all of them. */
static void run_sieve(void)
{
    weir_file *f;
    weir_pattern *where, *memory;
    CHECK(!weir_file_open(MPI_COMM_WORLD, path, WEIR_READ, "access=sieve;map=0;collective=never",
                          &f));
    CHECK(!weir_pattern_strided(0, 100, 1, 100, &where));
    CHECK(!weir_pattern_contiguous(0, 100, &memory));
    sums before = get(MPI_COMM_WORLD);
    CHECK(!weir_file_read(f, where, memory, data, NULL, NULL));
    check(MPI_COMM_WORLD, &before, &(sums){{size * INT64_C(100)}, {size * INT64_C(9901)}, size, 0});
    weir_pattern_free(where);
    weir_pattern_free(memory);
    CHECK(!weir_file_close(f));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_within(60);
    if (rank == 0)
        snprintf(path, sizeof path, "weir_totals_%d", (int)getpid());
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    static const char *const ways[] = {"access=list;map=0", "access=list;overlap=all",
                                       "access=list;exchange=p2p", "access=list;map=1M"};
    for (int i = 0; i < 4; i++)
        for (int form = 0; form < 4; form++)
            run_form(MPI_COMM_WORLD, ways[i], form & 1, form >> 1);
    for (int form = 0; form < 4; form++) {
        run_form(MPI_COMM_SELF, "access=list", form & 1, form >> 1);
        run_form(MPI_COMM_NULL, "access=list", form & 1, form >> 1);
    }
    run_sieve();
    weir_totals t;
    CHECK(!weir_totals_get(MPI_COMM_WORLD, &t));
    CHECK(rank || t.memory_peak >= 64 << 10);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        unlink(path);
    MPI_Finalize();
}
