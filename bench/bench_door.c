/* Suite `door`: small MPI-IO calls of whatever MPI-IO the program runs on; bench/door.py runs it on
 * the door and on each peer. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

#include "contest.h"

enum { BYTES = 800 };

typedef struct job {
    const char *path;
    MPI_File file;
    MPI_Datatype type;
    char buffer[BYTES];
} job;

static void check(int result, const char *what)
{
    if (result != MPI_SUCCESS)
        contest_stop(what);
}

static void open_and_close(void *user)
{
    job *j = user;
    MPI_File file;
    check(MPI_File_open(MPI_COMM_WORLD, j->path, MPI_MODE_RDWR, MPI_INFO_NULL, &file), "open");
    check(MPI_File_close(&file), "close");
}

/* As HDF5 does around every collective call. */
static void flip_view(void *user)
{
    job *j = user;
    check(MPI_File_set_view(j->file, 8 * contest_rank, MPI_BYTE, j->type, "native", MPI_INFO_NULL),
          "set_view");
    check(MPI_File_set_view(j->file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "set_view");
}

static void read_little(void *user)
{
    job *j = user;
    MPI_Offset at = (MPI_Offset)BYTES * contest_rank;
    check(MPI_File_read_at_all(j->file, at, j->buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE), "read");
}

static void run(const char *name, void (*step)(void *user), int calls, job *j)
{
    contest c = {.part = "door", .name = name, .op = "call", .seconds = 0.5, .warm = true};
    c.list[0] = (contestant){.step = step, .calls = calls};
    c.user = j;
    contest_run(&c);
}

int main(int argc, char **argv)
{
    contest_init(argc, argv);
    if (argc < 2)
        return fprintf(stderr, "usage: bench_door FILE\n"), MPI_Finalize(), 2;
    job j = {.path = argv[1]};
    check(MPI_File_open(MPI_COMM_WORLD, j.path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL,
                        &j.file),
          "open");
    check(MPI_File_set_size(j.file, (MPI_Offset)BYTES * contest_ranks), "set_size");
    MPI_Type_vector(100, 8, 8 * contest_ranks, MPI_BYTE, &j.type);
    MPI_Type_commit(&j.type);
    run("set_view, derived and back", flip_view, 20, &j);
    run("read_at_all of 800 bytes a rank", read_little, 50, &j);
    run("open and close", open_and_close, 5, &j);
    MPI_Type_free(&j.type);
    check(MPI_File_close(&j.file), "close");
    if (contest_rank == 0)
        unlink(j.path);
    MPI_Finalize();
    return 0;
}
