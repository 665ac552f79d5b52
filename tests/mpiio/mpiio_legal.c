/* Programs that are legal MPI, and hang where a nonblocking start or a split begin waits for the
 * wrong rank, where a rank that waits lets MPI rest, or where a rank that is in MPI lets its
 * transfers rest. Even ranks play one part, odd ones the other, in pairs.
 *
 * The first argument is the thread level to ask MPI_Init_thread for, 0 to 3, or "init" for
 * MPI_Init. "own" behind it says that MPI has no more than that (WEIR_MPI_THREADS=program): then
 * programs do not run in which a rank is waited for that is in a call of MPI only. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "mpiio/door_support.h"

enum { PIECE = 4096, PIECES = 64, BYTES = PIECE * PIECES, MESSAGE = 1 << 20, SECONDS = 20 };

static char *message, data[2][BYTES];
static MPI_File files[2];

static bool first(void)
{
    return door_rank % 2 == 0;
}

static int partner(void)
{
    int other = first() ? door_rank + 1 : door_rank - 1;
    return other < door_ranks ? other : MPI_PROC_NULL;
}

static void send(void)
{
    MPI_Ssend(message, MESSAGE, MPI_BYTE, partner(), 1, MPI_COMM_WORLD);
}

static void receive(void)
{
    MPI_Recv(message, MESSAGE, MPI_BYTE, partner(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static MPI_Request post(void)
{
    MPI_Request request;
    MPI_Irecv(message, MESSAGE, MPI_BYTE, partner(), 1, MPI_COMM_WORLD, &request);
    return request;
}

/* Ranks take turns, piece by piece. */
static void set_view(MPI_File fh)
{
    MPI_Datatype type;
    MPI_Type_vector(PIECES, PIECE, PIECE * door_ranks, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    CHECK_OK(MPI_File_set_view(fh, (MPI_Offset)door_rank * PIECE, MPI_BYTE, type, "native",
                               MPI_INFO_NULL));
    MPI_Type_free(&type);
}

static MPI_Request start(int file, bool write)
{
    MPI_Request request;
    door_order o = {write, true, true, .buffer = data[file], .count = BYTES, .type = MPI_BYTE};
    CHECK_OK(door_start(files[file], &o, &request));
    return request;
}

static void transfer(int file, bool write)
{
    MPI_Status status;
    int count = -1;
    door_order o = {write, true, true, .buffer = data[file], .count = BYTES, .type = MPI_BYTE};
    CHECK_OK(door_transfer(files[file], &o, &status));
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK_EQUAL(count, BYTES);
}

static void finish(MPI_Request request)
{
    MPI_Status status;
    int count = -1;
    CHECK_OK(MPI_Wait(&request, &status));
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK_EQUAL(count, BYTES);
}

/* One starts, sends, waits; the other receives before it starts. */
static void start_then_send(bool write)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (first())
        request = start(0, write);
    if (first())
        send();
    else
        receive();
    finish(first() ? request : start(0, write));
}

/* A receive is posted by who is in a blocking call that the other comes to after sending. */
static void send_into_call(bool write)
{
    MPI_Request posted = MPI_REQUEST_NULL;
    if (first())
        posted = post();
    else
        send();
    transfer(0, write);
    CHECK_OK(MPI_Wait(&posted, MPI_STATUS_IGNORE));
}

/* The same, with what is under way waited for in one call, whose order means nothing. */
static void wait_for_both(bool write)
{
    for (int turn = 0; turn < 2; turn++) {
        MPI_Request both[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        if (first()) {
            both[turn] = post();
            both[1 - turn] = start(0, write);
            CHECK_OK(MPI_Waitall(2, both, door_no_statuses));
        } else {
            send();
            finish(start(0, write));
        }
    }
}

/* One waits for a message that the other sends only when its transfer is done. */
static void message_after_transfer(bool write)
{
    MPI_Request request = start(0, write), posted;
    if (first()) {
        posted = post();
        CHECK_OK(MPI_Wait(&posted, MPI_STATUS_IGNORE));
        finish(request);
    } else {
        finish(request);
        send();
    }
}

/* The same in calls that nobody but the MPI library knows of. */
static void receive_after_transfer(bool write)
{
    MPI_Request request = start(0, write);
    if (first())
        receive();
    finish(request);
    if (!first())
        send();
}

static void send_before_transfer(bool write)
{
    MPI_Request request = start(0, write);
    if (first())
        send();
    finish(request);
    if (!first())
        receive();
}

static void probe_after_transfer(bool write)
{
    MPI_Request request = start(0, write);
    int flag = partner() == MPI_PROC_NULL;
    if (!first()) {
        finish(request);
        send();
        return;
    }
    while (write && !flag)
        MPI_Iprobe(partner(), 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Probe(partner(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    receive();
    finish(request);
}

/* The same for all, who meet: some have waited before, others wait afterwards. */
static void meet_after_transfer(bool write)
{
    MPI_Request request = start(0, write);
    int one = 1, sum = 0;
    if (!first())
        finish(request);
    if (write)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(sum, door_ranks);
    if (first())
        finish(request);
}

/* The same for who makes a communicator, and has several transfers under way. */
static void split_after_transfers(bool write)
{
    MPI_Request requests[] = {start(0, write), start(1, write), start(0, write)};
    MPI_Comm comm;
    if (!first())
        CHECK_OK(MPI_Waitall(3, requests, door_no_statuses));
    MPI_Comm_split(MPI_COMM_WORLD, first(), 0, &comm);
    if (first())
        CHECK_OK(MPI_Waitall(3, requests, door_no_statuses));
    MPI_Comm_free(&comm);
}

/* The same by looking, and by any of several. */
static void look_meanwhile(bool write)
{
    MPI_Request both[2] = {start(0, write), MPI_REQUEST_NULL};
    if (!first()) {
        finish(both[0]);
        send();
        return;
    }
    both[1] = post();
    int index = -1, flag = 0;
    while (!flag)
        CHECK_OK(MPI_Request_get_status(both[1], &flag, MPI_STATUS_IGNORE));
    for (flag = 0; !flag;)
        CHECK_OK(MPI_Testany(1, &both[1], &index, &flag, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Waitany(2, both, &index, MPI_STATUS_IGNORE));
    CHECK_EQUAL(index, 0);
}

/* Two files, in the order each rank likes, and waited for in any. */
static void cross_files(bool write)
{
    for (int turn = 0; turn < 3; turn++) {
        MPI_Request requests[2];
        for (int i = 0; i < 2; i++)
            requests[i] = start(first() ? i : 1 - i, write);
        if (turn == 2)
            CHECK_OK(MPI_Waitall(2, requests, door_no_statuses));
        else
            for (int i = 0; i < 2; i++)
                finish(requests[turn ? 1 - i : i]);
    }
}

/* One file, the last first. */
static void wait_backwards(bool write)
{
    MPI_Request requests[] = {start(0, write), start(0, write), start(0, write)};
    for (int i = 3; i-- > 0;)
        finish(requests[first() ? i : 2 - i]);
}

/* One is in a blocking call on a file while the other waits for the other file. */
static void wait_elsewhere(bool write)
{
    MPI_Request request = start(0, write);
    if (!first())
        finish(request);
    transfer(1, write);
    if (first())
        finish(request);
}

/* The same in a communicator that has no files yet. */
static void open_elsewhere(bool write)
{
    MPI_Comm comm;
    MPI_File fh;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Request request = start(0, write);
    if (!first())
        finish(request);
    CHECK_OK(MPI_File_open(comm, door_path("a"), MPI_MODE_RDONLY, MPI_INFO_NULL, &fh));
    CHECK_OK(MPI_File_close(&fh));
    if (first())
        finish(request);
    MPI_Comm_free(&comm);
}

/* A split access does not keep ranks from messages. */
static void message_within(MPI_File fh, door_order o)
{
    CHECK_OK(door_begin_split(fh, &o));
    if (first())
        send();
    else
        receive();
    CHECK_OK(door_end(fh, &o, MPI_STATUS_IGNORE));
}

static void message_within_split(bool write)
{
    message_within(files[0], (door_order){write, true, true, .buffer = data[0], .count = BYTES,
                                          .type = MPI_BYTE});
}

static void message_within_ordered(bool write)
{
    MPI_File_set_view(files[1], 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    CHECK_OK(MPI_File_seek_shared(files[1], (MPI_Offset)BYTES * door_ranks, MPI_SEEK_SET));
    message_within(files[1], (door_order){write, true, .shared = true, .buffer = data[1],
                                          .count = BYTES, .type = MPI_BYTE});
    set_view(files[1]);
}

/* Accesses of one's own, at both pointers, beside a collective one others have not come to. */
static void access_beside(bool write)
{
    MPI_Request request = MPI_REQUEST_NULL;
    char byte = 'x';
    if (first()) {
        request = start(0, write);
        CHECK_OK(MPI_File_read_at(files[0], 0, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_File_read_shared(files[0], &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE));
        send();
    } else {
        receive();
    }
    finish(first() ? request : start(0, write));
}

static MPI_File open_file(MPI_Comm comm, const char *path, const char *hints)
{
    MPI_File fh;
    MPI_Info info = door_info(hints);
    int amode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    CHECK_OK(MPI_File_open(comm, path, amode, info, &fh));
    MPI_Info_free(&info);
    set_view(fh);
    return fh;
}

/* All but those whose ranks are waited for while they are in MPI alone, if nothing moves then. */
static void run_programs(const char *hints, MPI_Comm other, bool moves)
{
    static const struct {
        void (*run)(bool write);
        bool in_mpi;
    } programs[] = {{start_then_send, false},       {send_into_call, false},
                    {wait_for_both, false},         {look_meanwhile, false},
                    {cross_files, false},           {wait_backwards, false},
                    {wait_elsewhere, false},        {open_elsewhere, false},
                    {access_beside, false},         {message_after_transfer, false},
                    {message_within_split, true},   {message_within_ordered, true},
                    {receive_after_transfer, true}, {send_before_transfer, true},
                    {probe_after_transfer, true},   {meet_after_transfer, true},
                    {split_after_transfers, true}};
    const MPI_Comm comms[] = {MPI_COMM_WORLD, other};
    for (int i = 0; i < 2; i++) {
        files[i] = open_file(comms[i], door_path(i ? "b" : "a"), hints);
        for (int64_t k = 0; k < BYTES; k++)
            data[i][k] = (char)(k * 7 + door_rank + i);
        transfer(i, true);
    }
    for (int write = 0; write < 2; write++)
        for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
            if (programs[i].in_mpi && !moves)
                continue;
            check_within(SECONDS);
            check_case((int64_t)i + 100 * write);
            programs[i].run(write);
        }
    for (int i = 0; i < 2; i++) {
        memset(data[i], 0, BYTES);
        transfer(i, false);
        for (int64_t k = 0; k < BYTES; k++)
            CHECK(data[i][k] == (char)(k * 7 + door_rank + i));
        CHECK_OK(MPI_File_close(&files[i]));
    }
    check_within(0);
}

/* Asks for a level, and checks that it is what the program is told. */
static void start_mpi(int argc, char **argv)
{
    int level = -1, provided = -1, asked = MPI_THREAD_SINGLE, is_main = 0;
    CHECK(argc > 1);
    if (!strcmp(argv[1], "init")) {
        MPI_Init(&argc, &argv);
        provided = asked;
    } else {
        asked = atoi(argv[1]);
        MPI_Init_thread(&argc, &argv, asked, &provided);
    }
    CHECK_EQUAL(provided, asked);
    MPI_Query_thread(&level);
    CHECK_EQUAL(level, asked);
    MPI_Is_thread_main(&is_main);
    CHECK(is_main);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *hints;
        enum { ALWAYS, AT_MULTIPLE, NEVER } moves; /* while its rank is in MPI, on one node */
    } cases[] = {{"", ALWAYS},
                 {"weir_overlap=none", NEVER},
                 {"weir_overlap=all;weir_collective=always;weir_window=20000", ALWAYS},
                 {"weir_overlap=io;weir_collective=always;weir_access=sieve", ALWAYS},
                 {"weir_overlap=auto;weir_exchange=p2p;weir_collective=always", AT_MULTIPLE},
                 {"weir_overlap=all;weir_exchange=p2p;weir_collective=always;weir_window=30000",
                  AT_MULTIPLE},
                 {"weir_overlap=io;weir_exchange=p2p;weir_collective=always;weir_window=20000;"
                  "weir_overlap_memory=40000",
                  AT_MULTIPLE},
                 {"weir_overlap=all;weir_exchange=alltoall;weir_collective=always", AT_MULTIPLE}};
    bool own = argc > 2 && !strcmp(argv[2], "own");
    MPI_Comm other;
    start_mpi(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &door_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &door_ranks);
    message = calloc(1, MESSAGE);
    CHECK(message);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run_programs(cases[i].hints, i % 2 ? other : MPI_COMM_WORLD,
                     cases[i].moves == ALWAYS || (cases[i].moves == AT_MULTIPLE && !own));
    MPI_Comm_free(&other);
    free(message);
    MPI_Finalize();
    return 0;
}
