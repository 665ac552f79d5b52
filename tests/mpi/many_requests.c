/* Thousands of nonblocking accesses outstanding at a time cost as much each as a few hundred do;
 * many communicators share one thread, which sleeps while their files rest. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "weir/weir.h"

enum { FEW = 400, MANY = 5000, BYTES = 64, COMMUNICATORS = 40, SECONDS = 100 };

/* Linear but for caches; quadratic is 12. */
enum { GROWTH = 4 };

static int rank, ranks;
static char data[BYTES];

static int64_t threads(void)
{
    char line[200];
    long long count = -1;
    FILE *f = fopen("/proc/self/status", "r");
    CHECK(f);
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "Threads: %lld", &count) == 1)
            break;
    fclose(f);
    return count;
}

/* Of all threads: what else runs on the machine does not count. */
static double processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* Microseconds for each of `number` writes, of which all are started before any is waited for. */
static double each(weir_file *f, bool together, int number)
{
    weir_request **requests = calloc((size_t)number, sizeof *requests);
    weir_pattern *memory;
    CHECK(requests && !weir_pattern_contiguous(0, BYTES, &memory));
    MPI_Barrier(MPI_COMM_WORLD);
    double start = processor_time();
    for (int i = 0; i < number; i++) {
        weir_pattern *where;
        CHECK(!weir_pattern_contiguous(((int64_t)i * ranks + rank) * BYTES, BYTES, &where));
        CHECK(!(together ? weir_file_write_all : weir_file_write)(f, where, memory, data, NULL,
                                                                  &requests[i]));
        weir_pattern_free(where);
    }
    CHECK(!weir_request_wait_all(number, requests, NULL));
    double elapsed = (processor_time() - start) / number;
    free(requests);
    weir_pattern_free(memory);
    return elapsed;
}

static void check_growth(const char *path, const char *hints, bool together)
{
    weir_file *f;
    check_within(SECONDS);
    CHECK(!weir_file_open(MPI_COMM_WORLD, path, WEIR_READ | WEIR_WRITE | WEIR_CREATE, hints, &f));
    double few = each(f, together, FEW), many = each(f, together, MANY);
    double both[2] = {few, many};
    MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s, %s: %.1f us each of %d, %.1f of %d\n", hints, together ? "together" : "alone",
               both[0], FEW, both[1], MANY);
    CHECK(both[1] < GROWTH * both[0]);
    CHECK(!weir_file_close(f));
}

static void check_threads(const char *path)
{
    static MPI_Comm comms[COMMUNICATORS];
    static weir_file *files[COMMUNICATORS];
    weir_pattern *where, *memory;
    weir_request *request;
    int64_t before = threads();
    check_within(SECONDS);
    CHECK(!weir_pattern_contiguous((int64_t)rank * BYTES, BYTES, &where));
    CHECK(!weir_pattern_contiguous(0, BYTES, &memory));
    double start = MPI_Wtime();
    for (int i = 0; i < COMMUNICATORS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        CHECK(!weir_file_open(comms[i], path, WEIR_READ | WEIR_WRITE, "overlap=all", &files[i]));
        CHECK(!weir_file_write_all(files[i], where, memory, data, NULL, &request));
        CHECK(!weir_request_wait(&request, NULL));
    }
    CHECK(threads() <= before + 1);
    if (rank == 0)
        printf("%.0f us a communicator\n", (MPI_Wtime() - start) * 1e6 / COMMUNICATORS);
    for (int i = 0; i < COMMUNICATORS; i++) {
        CHECK(!weir_file_close(files[i]));
        MPI_Comm_free(&comms[i]);
    }
    CHECK(threads() <= before + 1);
    weir_pattern_free(where);
    weir_pattern_free(memory);
}

/* Files that are open and rest take no processor time, however many. */
static void check_rest(const char *path)
{
    enum { FILES = 150 };
    static weir_file *files[FILES];
    weir_pattern *first;
    const char *hints = "progress=thread";
    check_within(SECONDS);
    CHECK(!weir_pattern_contiguous(0, BYTES, &first));
    for (int i = 0; i < FILES; i++) {
        CHECK(!weir_file_open(MPI_COMM_SELF, path, WEIR_READ | WEIR_WRITE, hints, &files[i]));
        CHECK(!weir_file_write(files[i], first, first, data, NULL, NULL));
    }
    usleep(100000);
    double start = processor_time();
    usleep(500000);
    double took = processor_time() - start;
    CHECK(took < 25000);
    for (int i = 0; i < FILES; i++)
        CHECK(!weir_file_close(files[i]));
    weir_pattern_free(first);
}

int main(int argc, char **argv)
{
    char path[100];
    int number = (int)getpid();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "many-requests-%d.bin", number);
    check_growth(path, "overlap=auto", true);
    check_growth(path, "progress=poll", true);
    check_growth(path, "overlap=all", false);
    check_threads(path);
    check_rest(path);
    check_within(0);
    if (rank == 0)
        unlink(path);
    MPI_Finalize();
    return 0;
}
