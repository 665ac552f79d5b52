/* Ten thousand accesses of each form leave nothing behind: no memory, no thread, no descriptor, no
 * mapping. Those that end badly do not either; and what is outstanding at close, or when MPI ends,
 * is no one's loss. */
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "split_access.h"
#include "weir/weir.h"

enum { PIECE = 64, PIECES = 64, BYTES = PIECE * PIECES, WARM = 500, ROUNDS = 10000, SECONDS = 200 };

static int rank, ranks;
static weir_pattern *where, *memory, *unequal;
static char data[BYTES];

typedef struct usage {
    int64_t kib, threads, descriptors, mappings;
} usage;

static usage now(void)
{
    usage u = {0};
    char line[4096];
    long long number;
    FILE *f = fopen("/proc/self/status", "r");
    CHECK(f);
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "VmRSS: %lld", &number) == 1)
            u.kib = number;
        if (sscanf(line, "Threads: %lld", &number) == 1)
            u.threads = number;
    }
    fclose(f);
    f = fopen("/proc/self/maps", "r");
    CHECK(f);
    while (fgets(line, sizeof line, f))
        u.mappings++;
    fclose(f);
    DIR *d = opendir("/proc/self/fd");
    CHECK(d);
    while (readdir(d))
        u.descriptors++;
    closedir(d);
    return u;
}

static void split(weir_file *f, int64_t i)
{
    int64_t count;
    weir_request *request;
    enum wr_direction direction = i % 2 ? WR_WRITE : WR_READ;
    CHECK(!begin_all(f, wr_request_of(direction, where, memory, data), &request));
    CHECK(!weir_request_wait(&request, &count));
    CHECK_EQUAL(count, BYTES);
}

static void nonblocking(weir_file *f, int64_t i)
{
    weir_request *requests[3];
    for (int k = 0; k < 3; k++)
        if (i % 2)
            CHECK(!weir_file_write_all(f, where, memory, data, NULL, &requests[k]));
        else
            CHECK(!weir_file_read(f, where, memory, data, NULL, &requests[k]));
    CHECK(!weir_request_wait_all(3, requests, NULL));
}

/* A rank's request that makes no sense is an error for all, told by wait. */
static void refused(weir_file *f, int64_t i)
{
    weir_request *request;
    CHECK(
        !weir_file_write_all(f, where, i % ranks == rank ? unequal : memory, data, NULL, &request));
    CHECK_EQUAL(weir_request_wait(&request, NULL), WEIR_EINVAL);
}

static void check_growth(const char *path, const char *hints, void (*use)(weir_file *f, int64_t i))
{
    weir_file *f;
    usage before = {0};
    CHECK(!weir_file_open(MPI_COMM_WORLD, path, WEIR_READ | WEIR_WRITE | WEIR_CREATE, hints, &f));
    CHECK(!weir_file_write_all(f, where, memory, data, NULL, NULL));
    for (int64_t i = 0; i < ROUNDS; i++) {
        if (i == WARM)
            before = now();
        use(f, i);
    }
    usage after = now();
    CHECK(after.kib - before.kib < 1024);
    CHECK_EQUAL(after.threads, before.threads);
    CHECK_EQUAL(after.descriptors, before.descriptors);
    CHECK(after.mappings - before.mappings < 8);
    CHECK(!weir_file_close(f));
}

/* Requests outlive their file, and tell how it went. */
static void check_close(const char *path)
{
    weir_file *f;
    weir_request *requests[4];
    int64_t counts[4];
    CHECK(!weir_file_open(MPI_COMM_WORLD, path, WEIR_READ | WEIR_WRITE, NULL, &f));
    for (int k = 0; k < 4; k++)
        CHECK(!weir_file_write_all(f, where, memory, data, NULL, &requests[k]));
    CHECK(!weir_file_close(f));
    CHECK(!weir_request_wait_all(4, requests, counts));
    for (int k = 0; k < 4; k++)
        CHECK_EQUAL(counts[k], BYTES);
}

int main(int argc, char **argv)
{
    char path[100];
    int number = (int)getpid();
    weir_file *f;
    weir_request *request, *begun;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "overlap-growth-%d.bin", number);
    CHECK(!weir_pattern_strided((int64_t)rank * PIECE, PIECES, PIECE, (int64_t)ranks * PIECE,
                                &where));
    CHECK(!weir_pattern_contiguous(0, BYTES, &memory));
    CHECK(!weir_pattern_contiguous(0, BYTES + 1, &unequal));
    check_within(SECONDS);
    check_growth(path, "overlap=io;collective=always", split);
    check_growth(path, "overlap=all;collective=always", split);
    check_growth(path, "overlap=auto;collective=always", nonblocking);
    check_growth(path, "overlap=auto", refused);
    check_close(path);
    check_within(0);
    /* MPI ends while the storage is at work for a split access, and while half of the ranks have
     * started something else: both are lost, and told to be */
    weir_file *paced;
    CHECK(!weir_file_open(MPI_COMM_WORLD, path, WEIR_READ | WEIR_WRITE,
                          "fault=bandwidth:1;window=1000;collective=always;overlap=io", &paced));
    CHECK(!begin_all(paced, wr_request_of(WR_WRITE, where, memory, data), &begun));
    CHECK(!weir_file_open(MPI_COMM_WORLD, path, WEIR_READ | WEIR_WRITE, NULL, &f));
    bool starts = ranks > 1 && rank % 2 == 0;
    if (starts)
        CHECK(!weir_file_write_all(f, where, memory, data, NULL, &request));
    if (rank == 0)
        unlink(path);
    check_within(SECONDS);
    MPI_Finalize();
    if (starts)
        CHECK_EQUAL(weir_request_wait(&request, NULL), WEIR_ETRANSPORT);
    CHECK_EQUAL(weir_file_close(f), WEIR_ETRANSPORT);
    CHECK_EQUAL(weir_request_wait(&begun, NULL), WEIR_ETRANSPORT);
    CHECK_EQUAL(weir_file_close(paced), WEIR_ETRANSPORT);
    weir_pattern_free(where);
    weir_pattern_free(memory);
    weir_pattern_free(unequal);
    return 0;
}
