/* Suite `door`: small MPI-IO calls of whatever MPI-IO the program runs on; bench/door.py runs it on
 * the door and on each peer. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

#include "contest.h"

enum { BYTES = 800, LOOKS = 1000 };

typedef struct job {
    const char *path;
    MPI_File file;
    MPI_Datatype type;
    MPI_Request another;
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

/* At the shared pointer, from where the last call has left it. */
static void write_shared(void *user)
{
    job *j = user;
    check(MPI_File_write_shared(j->file, j->buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE), "write");
}

static void write_ordered(void *user)
{
    job *j = user;
    check(MPI_File_write_ordered(j->file, j->buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE), "write");
}

/* Requests that are no file's. */
static void test_another(void *user)
{
    job *j = user;
    int flag;
    for (int i = 0; i < LOOKS; i++)
        MPI_Test(&j->another, &flag, MPI_STATUS_IGNORE);
}

static void wait_another(void *user)
{
    job *j = user;
    for (int i = 0; i < LOOKS; i++) {
        MPI_Request request;
        MPI_Irecv(j->buffer, 0, MPI_BYTE, MPI_PROC_NULL, 2, MPI_COMM_SELF, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void run(const char *name, void (*step)(void *user), int calls, job *j)
{
    contest c = {.part = "door", .name = name, .op = "call", .seconds = 0.5, .warm = true};
    c.list[0] = (contestant){.step = step, .calls = calls};
    c.user = j;
    contest_run(&c);
}

/* With no request of a file alive, and with one. */
static void run_others(job *j)
{
    char nothing;
    MPI_Request ours;
    MPI_Irecv(&nothing, 1, MPI_BYTE, 0, 1, MPI_COMM_SELF, &j->another);
    run("MPI_Test of a message", test_another, 10, j);
    run("MPI_Wait for a message", wait_another, 10, j);
    check(MPI_File_iread_at(j->file, 0, j->buffer, BYTES, MPI_BYTE, &ours), "iread_at");
    run("MPI_Test of a message beside a transfer", test_another, 10, j);
    run("MPI_Wait for a message beside a transfer", wait_another, 10, j);
    check(MPI_Wait(&ours, MPI_STATUS_IGNORE), "wait");
    MPI_Cancel(&j->another);
    MPI_Wait(&j->another, MPI_STATUS_IGNORE);
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
    run("write_ordered of 800 bytes a rank", write_ordered, 50, &j);
    run("write_shared of 800 bytes a rank", write_shared, 50, &j);
    if (contest_ranks == 2)
        run_others(&j);
    run("open and close", open_and_close, 5, &j);
    MPI_Type_free(&j.type);
    check(MPI_File_close(&j.file), "close");
    if (contest_rank == 0)
        unlink(j.path);
    MPI_Finalize();
    return 0;
}
