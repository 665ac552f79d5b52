/* Traces and statistics where processes differ: a rank that was asked for numbers alone waits for
 * nobody, and what ranks fork leaves traces of its own; who finalizes at exit comes to where the
 * others wait.
 * usage: watching_mpi [late|early] */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "weir/weir.h"

enum { CHILDREN = 2 };

static char folder[64];

static void use_file(MPI_Comm comm, const char *name)
{
    weir_file *f;
    weir_pattern *where;
    char data[8] = "", path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    CHECK(!weir_pattern_contiguous(0, sizeof data, &where));
    CHECK(!weir_file_open(comm, path, WEIR_READ | WEIR_WRITE | WEIR_CREATE, NULL, &f));
    CHECK(!weir_file_write(f, where, where, data, NULL, NULL));
    CHECK(!weir_file_close(f));
    weir_pattern_free(where);
}

static void fork_children(void)
{
    for (int i = 0; i < CHILDREN; i++)
        if (!fork()) {
            use_file(MPI_COMM_NULL, "child");
            _exit(0);
        }
    for (int status; wait(&status) > 0;)
        CHECK_EQUAL(status, 0);
}

static int count_and_remove(void)
{
    int traces = 0;
    char path[400];
    DIR *dir = opendir(folder);
    CHECK(dir);
    for (const struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        traces += strstr(e->d_name, ".weir") != NULL;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        unlink(path);
    }
    closedir(dir);
    rmdir(folder);
    return traces;
}

static void finalize(void)
{
    MPI_Finalize();
}

/* A file alone before MPI runs: each rank is itself nevertheless. */
static void begin_early(int argc, char **argv)
{
    int rank, size;
    char own[40];
    snprintf(folder, sizeof folder, "weir_watching_%d", (int)getppid());
    snprintf(own, sizeof own, "own%d", (int)getpid());
    mkdir(folder, 0777);
    setenv("WEIR_TRACE", folder, 1);
    use_file(MPI_COMM_NULL, own);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    use_file(MPI_COMM_WORLD, "all");
    MPI_Finalize();
    if (rank == 0)
        CHECK_EQUAL(count_and_remove(), size * INT64_C(1));
}

/* What was told to run at exit first runs last. */
static void end_late(int rank, int size)
{
    CHECK(!atexit(finalize));
    setenv("WEIR_STATS", "1", 1);
    use_file(MPI_COMM_WORLD, "all");
    if (rank == size - 1) /* rank 0 waits for it */
        use_file(MPI_COMM_NULL, "own");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        count_and_remove();
}

int main(int argc, char **argv)
{
    int rank, size;
    check_within(60);
    if (argc > 1 && !strcmp(argv[1], "early")) {
        begin_early(argc, argv);
        _exit(0); /* at exit each writes its trace once more */
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(folder, sizeof folder, "weir_watching_%d", (int)getpid());
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    CHECK(rank || !mkdir(folder, 0777));
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1) {
        end_late(rank, size);
        return 0;
    }
    setenv("WEIR_TRACE", folder, 1);
    use_file(MPI_COMM_WORLD, "all");
    if (rank == 0) { /* who would wait for the others */
        setenv("WEIR_STATS", "1", 1);
        use_file(MPI_COMM_NULL, "own");
    }
    fork_children();
    MPI_Finalize(); /* waits for all ranks */
    if (rank == 0)
        CHECK_EQUAL(count_and_remove(), size * INT64_C(1) * (1 + CHILDREN));
}
