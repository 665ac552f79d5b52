/* Programs that are legal, and hang where a nonblocking start waits for another rank, where a
 * waiting rank lets MPI rest, or where files outstanding in different order meet. Even ranks play
 * one part, odd ones the other, in pairs; all of them write and read one file.
 *
 * The argument is the thread level to ask MPI for, 0 to 3. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "split_access.h"
#include "weir/weir.h"

enum { PIECE = 4096, PIECES = 64, MESSAGE = 1 << 20, SECONDS = 20 };

static int rank, ranks;
static char paths[2][100];
static char *message;
static weir_file *files[2];
static weir_pattern *where, *memory;
static char data[2][PIECE * PIECES];

static bool first(void)
{
    return rank % 2 == 0;
}

/* The other of the pair, or MPI_PROC_NULL. */
static int partner(void)
{
    int other = first() ? rank + 1 : rank - 1;
    return other < ranks ? other : MPI_PROC_NULL;
}

static void send(void)
{
    MPI_Send(message, MESSAGE, MPI_BYTE, partner(), 1, MPI_COMM_WORLD);
}

static void receive(void)
{
    MPI_Recv(message, MESSAGE, MPI_BYTE, partner(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static weir_request *start(int file, bool write)
{
    weir_request *request;
    if (write)
        CHECK(!weir_file_write_all(files[file], where, memory, data[file], NULL, &request));
    else
        CHECK(!weir_file_read_all(files[file], where, memory, data[file], NULL, &request));
    return request;
}

static void finish(weir_request *request)
{
    int64_t count;
    CHECK(!weir_request_wait(&request, &count));
    CHECK_EQUAL(count, (int64_t)sizeof data[0]);
}

/* One starts, sends, waits; the other receives before it starts. */
static void start_then_send(bool write)
{
    weir_request *request = NULL;
    if (first())
        request = start(0, write);
    if (first())
        send();
    else
        receive();
    finish(request ? request : start(0, write));
}

/* One has a receive posted while it is in a blocking call that the other comes to after sending. */
static void send_into_call(bool write)
{
    MPI_Request posted = MPI_REQUEST_NULL;
    int64_t count;
    if (first())
        MPI_Irecv(message, MESSAGE, MPI_BYTE, partner(), 1, MPI_COMM_WORLD, &posted);
    else
        send();
    if (write)
        CHECK(!weir_file_write_all(files[0], where, memory, data[0], &count, NULL));
    else
        CHECK(!weir_file_read_all(files[0], where, memory, data[0], &count, NULL));
    CHECK_EQUAL(count, (int64_t)sizeof data[0]);
    MPI_Wait(&posted, MPI_STATUS_IGNORE);
}

/* An access of one's own does not wait for a collective one that others have not come to. */
static void access_beside(bool write)
{
    weir_request *request = NULL;
    weir_pattern *own, *one;
    CHECK(!weir_pattern_contiguous((int64_t)ranks * PIECE * PIECES + rank, 1, &own));
    CHECK(!weir_pattern_contiguous(0, 1, &one));
    if (first()) {
        request = start(0, write);
        CHECK(!weir_file_write(files[0], own, one, "x", NULL, NULL));
        send();
    } else {
        receive();
    }
    finish(request ? request : start(0, write));
    weir_pattern_free(own);
    weir_pattern_free(one);
}

/* Two files, in the order each rank likes. */
static void cross_files(bool write)
{
    weir_request *requests[2];
    for (int i = 0; i < 2; i++)
        requests[i] = start(first() ? i : 1 - i, write);
    for (int i = 0; i < 2; i++)
        finish(requests[i]);
}

/* One is in a blocking call on a file while the other waits for the other file. */
static void wait_elsewhere(bool write)
{
    weir_request *request = start(0, write);
    if (!first())
        finish(request);
    if (write)
        CHECK(!weir_file_write_all(files[1], where, memory, data[1], NULL, NULL));
    else
        CHECK(!weir_file_read_all(files[1], where, memory, data[1], NULL, NULL));
    if (first())
        finish(request);
}

/* The same in a communicator that the library has not seen before. */
static void open_elsewhere(bool write)
{
    MPI_Comm comm;
    weir_file *f;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    weir_request *request = start(0, write);
    if (!first())
        finish(request);
    CHECK(!weir_file_open(comm, paths[0], WEIR_READ, NULL, &f));
    CHECK(!weir_file_close(f));
    if (first())
        finish(request);
    MPI_Comm_free(&comm);
}

/* What was begun holds nobody up who writes between the bytes of it. */
static void write_between(bool write)
{
    weir_pattern *halves, *half, *gap, *one;
    weir_request *request;
    if (!write)
        return;
    CHECK(!weir_pattern_strided((int64_t)rank * PIECE, PIECES, PIECE / 2, (int64_t)ranks * PIECE,
                                &halves));
    CHECK(!weir_pattern_strided(0, PIECES, PIECE / 2, PIECE, &half));
    CHECK(!weir_pattern_contiguous((int64_t)rank * PIECE + PIECE / 2, 1, &gap));
    CHECK(!weir_pattern_contiguous(PIECE / 2, 1, &one));
    CHECK(!begin_all(files[0], wr_request_of(WR_WRITE, halves, half, data[0]), &request));
    if (first()) {
        receive();
    } else {
        CHECK(!weir_file_write(files[0], gap, one, data[0], NULL, NULL));
        send();
    }
    CHECK(!weir_request_wait(&request, NULL));
    CHECK(!weir_file_write_all(files[0], halves, half, data[0], NULL, &request));
    CHECK(!weir_file_write(files[0], gap, one, data[0], NULL, NULL));
    CHECK(!weir_request_wait(&request, NULL));
    weir_pattern_free(halves);
    weir_pattern_free(half);
    weir_pattern_free(gap);
    weir_pattern_free(one);
}

/* A blocking call behind nonblocking ones, and all of them done by the time of close. */
static void queue_up(bool write)
{
    weir_request *requests[3];
    for (int i = 0; i < 3; i++)
        requests[i] = start(0, write);
    CHECK(!weir_file_read_all(files[0], where, memory, data[0], NULL, NULL));
    CHECK(!weir_request_wait_all(3, requests, NULL));
}

static void check_data(int file)
{
    memset(data[file], 0, sizeof data[file]);
    CHECK(!weir_file_read_all(files[file], where, memory, data[file], NULL, NULL));
    for (int64_t i = 0; i < PIECE * PIECES; i++)
        CHECK(data[file][i] == (char)(i * 7 + rank + file));
}

static void run_programs(const char *hints, MPI_Comm other)
{
    const MPI_Comm comms[] = {MPI_COMM_WORLD, other};
    static void (*const programs[])(bool write) = {start_then_send, send_into_call, access_beside,
                                                   cross_files,     wait_elsewhere, write_between,
                                                   queue_up,        open_elsewhere};
    for (int i = 0; i < 2; i++) {
        CHECK(!weir_file_open(comms[i], paths[i],
                              WEIR_READ | WEIR_WRITE | WEIR_CREATE | WEIR_TRUNCATE, hints,
                              &files[i]));
        for (int64_t k = 0; k < PIECE * PIECES; k++)
            data[i][k] = (char)(k * 7 + rank + i);
        CHECK(!weir_file_write_all(files[i], where, memory, data[i], NULL, NULL));
    }
    for (int write = 0; write < 2; write++)
        for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
            check_within(SECONDS);
            check_case((int64_t)i + 10 * write);
            programs[i](write);
        }
    for (int i = 0; i < 2; i++) {
        check_data(i);
        CHECK(!weir_file_close(files[i]));
    }
    check_within(0);
}

int main(int argc, char **argv)
{
    static const char *const hints[] = {
        "overlap=auto",
        "overlap=none",
        "overlap=io",
        "overlap=all",
        "overlap=auto;overlap_memory=100000;collective=always;access=sieve",
        "overlap=all;storage=posix;collective=always;window=20000",
        "overlap=auto;exchange=p2p;collective=always",
        "overlap=all;exchange=p2p;collective=always;window=30000",
        "overlap=auto;exchange=leaders;collective=always",
        "overlap=all;exchange=alltoall;collective=always;window=30000",
        "overlap=io;collective=always;access=sieve;progress=poll",
        "overlap=io;collective=always;access=sieve;fault=bandwidth:50"};
    int level = argc > 1 ? atoi(argv[1]) : 0, provided;
    MPI_Comm other;
    MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int number = (int)getpid();
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    message = calloc(1, MESSAGE);
    CHECK(message);
    for (int i = 0; i < 2; i++)
        snprintf(paths[i], sizeof paths[i], "overlap-legal-%d-%d.bin", number, i);
    CHECK(!weir_pattern_strided((int64_t)rank * PIECE, PIECES, PIECE, (int64_t)ranks * PIECE,
                                &where));
    CHECK(!weir_pattern_contiguous(0, PIECE * PIECES, &memory));
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        run_programs(hints[i], MPI_COMM_WORLD);
        run_programs(hints[i], other);
    }
    MPI_Comm_free(&other);
    if (rank == 0)
        for (int i = 0; i < 2; i++)
            unlink(paths[i]);
    weir_pattern_free(where);
    weir_pattern_free(memory);
    free(message);
    MPI_Finalize();
    return 0;
}
