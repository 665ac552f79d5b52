/* Requests of the door as MPI's own: waited for together with messages, in every way; freed,
 * cancelled, left behind by a file that is closed; with errors, and a hundred thousand of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "mpiio/door_support.h"

enum { BYTES = 4096, TRANSFERS = 4, MESSAGES = 4, MANY = 100000, SECONDS = 100 };

static const int everything = MPI_MODE_CREATE | MPI_MODE_RDWR;
static char data[TRANSFERS][BYTES], letters[2][MESSAGES][64];

static MPI_File open_file(const char *path, const char *hints, int amode)
{
    MPI_File fh;
    MPI_Info info = door_info(hints);
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, amode, info, &fh));
    MPI_Info_free(&info);
    return fh;
}

/* Half of the requests are messages around a ring of ranks, half are transfers. */
static void start_both(MPI_File fh, bool together, MPI_Request *requests)
{
    int to = (door_rank + 1) % door_ranks, from = (door_rank + door_ranks - 1) % door_ranks;
    for (int i = 0; i < MESSAGES; i++) {
        memset(letters[0][i], 'a' + i, sizeof letters[0][i]);
        memset(letters[1][i], 0, sizeof letters[1][i]);
        MPI_Irecv(letters[1][i], 64, MPI_BYTE, from, i, MPI_COMM_WORLD, &requests[2 * i]);
    }
    for (int i = 0; i < TRANSFERS; i++) {
        MPI_Offset at = (MPI_Offset)(i * door_ranks + door_rank) * BYTES;
        memset(data[i], 'A' + i + door_rank, BYTES);
        door_order o = {true,           together,        true, .offset = at, .buffer = data[i],
                        .count = BYTES, .type = MPI_BYTE};
        CHECK_OK(door_start(fh, &o, &requests[2 * i + 1]));
        CHECK(requests[2 * i + 1] != MPI_REQUEST_NULL);
        MPI_Send(letters[0][i], 64, MPI_BYTE, to, i, MPI_COMM_WORLD);
    }
}

static void wait_mixed(MPI_File fh, bool together, int way)
{
    MPI_Request requests[MESSAGES + TRANSFERS];
    MPI_Status statuses[MESSAGES + TRANSFERS];
    start_both(fh, together, requests);
    door_wait(way, MESSAGES + TRANSFERS, requests, statuses);
    for (int i = 0; i < MESSAGES; i++) {
        int count = -1, bytes = -1;
        MPI_Get_count(&statuses[2 * i], MPI_BYTE, &count);
        MPI_Get_count(&statuses[2 * i + 1], MPI_BYTE, &bytes);
        CHECK_EQUAL(count, 64);
        CHECK_EQUAL(bytes, BYTES);
        CHECK_EQUAL(letters[1][i][63], 'a' + i);
    }
}

static void check_file(MPI_File fh)
{
    char found[BYTES];
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < TRANSFERS; i++) {
        MPI_Offset at = (MPI_Offset)(i * door_ranks + door_rank) * BYTES;
        CHECK_OK(MPI_File_read_at(fh, at, found, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK(!memcmp(found, data[i], BYTES));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_File_set_size(fh, 0));
}

static void test_mixed(const char *hints)
{
    MPI_File fh = open_file(door_path("mixed"), hints, everything | MPI_MODE_DELETE_ON_CLOSE);
    for (int way = 0; way < DOOR_WAYS; way++)
        for (int together = 0; together < 2; together++) {
            if (way == 6) /* MPI_Cancel of a message may cancel it */
                continue;
            check_within(SECONDS);
            wait_mixed(fh, together, way);
            check_file(fh);
        }
    CHECK_OK(MPI_File_close(&fh));
}

/* Ranks that have nothing to wait for. */
static void test_nothing(void)
{
    MPI_Request none[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, real;
    MPI_Status statuses[2];
    char byte = 'x';
    int index = 0, flag = 0, out = 0, indices[2];
    MPI_File fh = open_file(door_path("none"), "", everything | MPI_MODE_DELETE_ON_CLOSE);
    CHECK_OK(MPI_File_iwrite_at(fh, door_rank, &byte, 1, MPI_BYTE, &real));
    CHECK_OK(MPI_Wait(&none[0], &statuses[0]));
    CHECK_OK(MPI_Waitall(2, none, door_no_statuses));
    CHECK_OK(MPI_Testall(2, none, &flag, statuses));
    CHECK(flag);
    CHECK_OK(MPI_Waitany(2, none, &index, &statuses[0]));
    CHECK_EQUAL(index, MPI_UNDEFINED);
    CHECK_OK(MPI_Testany(2, none, &index, &flag, &statuses[0]));
    CHECK(flag && index == MPI_UNDEFINED);
    CHECK_OK(MPI_Waitsome(2, none, &out, indices, statuses));
    CHECK_EQUAL(out, MPI_UNDEFINED);
    CHECK_OK(MPI_Testsome(2, none, &out, indices, statuses));
    CHECK_EQUAL(out, MPI_UNDEFINED);
    CHECK_OK(MPI_Waitall(0, NULL, door_no_statuses));
    CHECK_OK(MPI_Wait(&real, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_close(&fh));
}

/* Freed before it is over, it is done all the same; cancelled it is done, and says so. */
static void test_freed(const char *hints)
{
    MPI_Request request;
    MPI_Status status;
    int cancelled = -1;
    const char *path = door_path("freed");
    MPI_File fh = open_file(path, hints, everything);
    for (int i = 0; i < TRANSFERS; i++) {
        MPI_Offset at = (MPI_Offset)(i * door_ranks + door_rank) * BYTES;
        memset(data[i], 'a' + i, BYTES);
        if (i % 2)
            CHECK_OK(MPI_File_iwrite_at(fh, at, data[i], BYTES, MPI_BYTE, &request));
        else
            CHECK_OK(MPI_File_iwrite_at_all(fh, at, data[i], BYTES, MPI_BYTE, &request));
        CHECK_OK(MPI_Cancel(&request));
        if (i == 3) {
            CHECK_OK(MPI_Wait(&request, &status));
            MPI_Test_cancelled(&status, &cancelled);
            CHECK_EQUAL(cancelled, 0);
        } else {
            CHECK_OK(MPI_Request_free(&request));
        }
        CHECK(request == MPI_REQUEST_NULL);
    }
    CHECK_OK(MPI_File_close(&fh));
    fh = open_file(path, "", everything | MPI_MODE_DELETE_ON_CLOSE);
    check_file(fh);
    CHECK_OK(MPI_File_close(&fh));
}

static int handled;

static void count_errors(MPI_File *fh, int *code, ...)
{
    (void)fh;
    (void)code;
    handled++;
}

/* One of three fails: its status says so, the others' that they have not, and the handler of the
 * file hears of it once. */
static void test_errors(void)
{
    MPI_Request requests[3];
    MPI_Status statuses[3];
    MPI_Errhandler handler;
    int class, flag = 0, out = 0, indices[3], number = 3;
    char letter = 'x';
    MPI_File fh = open_file(door_path("errors"), "weir_fault=eio:1;weir_storage=posix",
                            everything | MPI_MODE_DELETE_ON_CLOSE);
    CHECK_OK(MPI_File_create_errhandler(count_errors, &handler));
    CHECK_OK(MPI_File_set_errhandler(fh, handler));
    for (int round = 0; round < 3; round++) {
        char got = 0;
        handled = 0;
        MPI_Irecv(&got, 1, MPI_BYTE, door_rank, 7, MPI_COMM_WORLD, &requests[0]);
        CHECK_OK(MPI_File_iread_at(fh, 0, data[0], 0, MPI_BYTE, &requests[1]));
        CHECK_OK(MPI_File_iwrite_at(fh, 0, data[0], BYTES, MPI_BYTE, &requests[2]));
        MPI_Send(&letter, 1, MPI_BYTE, door_rank, 7, MPI_COMM_WORLD);
        if (round == 0) {
            CHECK_CLASS(MPI_Waitall(3, requests, statuses), MPI_ERR_IN_STATUS);
        } else if (round == 1) {
            int result = MPI_SUCCESS;
            while (!flag)
                result = MPI_Testall(3, requests, &flag, statuses);
            CHECK_CLASS(result, MPI_ERR_IN_STATUS);
        } else {
            int done = 0, failed = 0;
            while (done < number) {
                int result = MPI_Waitsome(3, requests, &out, indices, statuses);
                for (int i = 0; i < out; i++)
                    failed += result == MPI_ERR_IN_STATUS && statuses[i].MPI_ERROR != MPI_SUCCESS;
                done += out;
            }
            CHECK_EQUAL(failed, 1);
        }
        CHECK_EQUAL(handled, 1);
        CHECK_EQUAL(got, letter);
        for (int i = 0; i < 3; i++)
            CHECK(requests[i] == MPI_REQUEST_NULL);
        if (round < 2) {
            CHECK_EQUAL(statuses[0].MPI_ERROR, MPI_SUCCESS);
            CHECK_EQUAL(statuses[1].MPI_ERROR, MPI_SUCCESS);
            MPI_Error_class(statuses[2].MPI_ERROR, &class);
            CHECK_EQUAL(class, MPI_ERR_IO);
        }
        CHECK_OK(MPI_File_close(&fh));
        fh = open_file(door_path("errors"), "weir_fault=eio:1;weir_storage=posix",
                       everything | MPI_MODE_DELETE_ON_CLOSE);
        CHECK_OK(MPI_File_set_errhandler(fh, handler));
    }
    CHECK_OK(MPI_File_close(&fh));
    MPI_Errhandler_free(&handler);
}

static int64_t resident(void)
{
    char line[1000];
    long long number = 0, kib = 0;
    FILE *f = fopen("/proc/self/status", "r");
    CHECK(f);
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "VmRSS: %lld", &number) == 1)
            kib = number;
    fclose(f);
    return kib;
}

/* Memory is the same after a thousand and after a hundred thousand: waited for, freed, and some
 * under way at a time. */
static void test_many(void)
{
    enum { AT_ONCE = 50, WARM = 5000 };
    MPI_Request requests[AT_ONCE];
    int64_t before = 0;
    MPI_File fh = open_file(door_path("many"), "", everything | MPI_MODE_DELETE_ON_CLOSE);
    for (int i = 0; i < (door_ranks < 3 ? MANY : MANY / 5); i += AT_ONCE) {
        if (i == WARM)
            before = resident();
        if (i % 1000 == 0)
            check_within(SECONDS);
        for (int k = 0; k < AT_ONCE; k++) {
            MPI_Offset at = (MPI_Offset)(k * door_ranks + door_rank) * 16;
            door_order o = {
                k % 2,       k % 10 == 0,     true, .offset = at, .buffer = data[0] + k * 16,
                .count = 16, .type = MPI_BYTE};
            CHECK_OK(door_start(fh, &o, &requests[k]));
            if (k % 5 == 4)
                CHECK_OK(MPI_Request_free(&requests[k]));
        }
        CHECK_OK(MPI_Waitall(AT_ONCE, requests, door_no_statuses));
    }
    CHECK(resident() - before < 2000);
    CHECK_OK(MPI_File_close(&fh));
}

int main(int argc, char **argv)
{
    static const char *const hints[] = {"", "weir_overlap=none", "weir_exchange=p2p",
                                        "weir_exchange=p2p;weir_progress=poll",
                                        "weir_collective=always;weir_overlap=all"};
    door_begin(&argc, &argv);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        test_mixed(hints[i]);
        test_freed(hints[i]);
    }
    test_nothing();
    test_errors();
    test_many();
    check_within(0);
    MPI_Finalize();
    return 0;
}
