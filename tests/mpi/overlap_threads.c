/* Two threads of each process use two files, on one communicator or on two, in all forms and with
 * no order between them. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "split_access.h"
#include "weir/weir.h"

enum { PIECE = 5000, PIECES = 40, BYTES = PIECE * PIECES, ROUNDS = 60, SECONDS = 60 };

static int rank, ranks;

typedef struct side {
    int number;
    weir_file *file;
    weir_pattern *where, *memory;
    char data[BYTES];
} side;

static char byte_of(const side *s, int64_t round, int64_t i)
{
    return (char)(i * 11 + round * 5 + rank * 3 + s->number);
}

/* A write and a read of it, in the forms that the round's number says. */
static void *use(void *user)
{
    side *s = user;
    for (int64_t round = 0; round < ROUNDS; round++) {
        weir_request *request;
        int64_t count = 0;
        for (int64_t i = 0; i < BYTES; i++)
            s->data[i] = byte_of(s, round, i);
        if (round % 3 == 0) {
            CHECK(!weir_file_write_all(s->file, s->where, s->memory, s->data, &count, NULL));
        } else if (round % 3 == 1) {
            CHECK(!begin_all(s->file, wr_request_of(WR_WRITE, s->where, s->memory, s->data),
                             &request));
            CHECK(!weir_request_wait(&request, &count));
        } else {
            CHECK(!weir_file_write_all(s->file, s->where, s->memory, s->data, NULL, &request));
            CHECK(!weir_request_wait(&request, &count));
        }
        CHECK_EQUAL(count, BYTES);
        memset(s->data, 0, BYTES);
        if (round % 2) {
            CHECK(!weir_file_read_all(s->file, s->where, s->memory, s->data, NULL, &request));
            CHECK(!weir_request_wait(&request, &count));
        } else {
            CHECK(!begin_all(s->file, wr_request_of(WR_READ, s->where, s->memory, s->data),
                             &request));
            CHECK(!weir_request_wait(&request, &count));
        }
        CHECK_EQUAL(count, BYTES);
        for (int64_t i = 0; i < BYTES; i++)
            CHECK(s->data[i] == byte_of(s, round, i));
    }
    return NULL;
}

static void run(MPI_Comm one, MPI_Comm other, int number, const char *hints)
{
    static side sides[2];
    MPI_Comm comms[] = {one, other};
    char paths[2][100];
    pthread_t thread;
    check_within(SECONDS);
    for (int i = 0; i < 2; i++) {
        side *s = &sides[i];
        s->number = i;
        snprintf(paths[i], sizeof paths[i], "overlap-threads-%d-%d.bin", number, i);
        CHECK(!weir_file_open(comms[i], paths[i], WEIR_READ | WEIR_WRITE | WEIR_CREATE, hints,
                              &s->file));
        CHECK(!weir_pattern_strided((int64_t)rank * PIECE, PIECES, PIECE, (int64_t)ranks * PIECE,
                                    &s->where));
        CHECK(!weir_pattern_contiguous(0, BYTES, &s->memory));
    }
    CHECK(!pthread_create(&thread, NULL, use, &sides[1]));
    use(&sides[0]);
    CHECK(!pthread_join(thread, NULL));
    for (int i = 0; i < 2; i++) {
        CHECK(!weir_file_close(sides[i].file));
        weir_pattern_free(sides[i].where);
        weir_pattern_free(sides[i].memory);
        if (rank == 0)
            unlink(paths[i]);
    }
    check_within(0);
}

int main(int argc, char **argv)
{
    static const char *const hints[] = {
        "overlap=auto;collective=always", "overlap=all;collective=always;window=50000",
        "overlap=io;collective=always;exchange=p2p", "overlap=none;collective=always"};
    int provided, number = (int)getpid();
    MPI_Comm other;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE)
        return 77;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        run(MPI_COMM_WORLD, MPI_COMM_WORLD, number, hints[i]);
        run(MPI_COMM_WORLD, other, number, hints[i]);
    }
    MPI_Comm_free(&other);
    MPI_Finalize();
    return 0;
}
