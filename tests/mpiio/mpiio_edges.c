/* Every transfer that MPI has, at the edges: nothing at all, behind the end of the file, across it,
 * and through a view without data. */
#include <string.h>

#include "check.h"
#include "mpiio/door_support.h"

enum { BYTES = 1000, SECONDS = 30 };
enum form { BLOCKING, SPLIT, NONBLOCKING, FORMS };

static MPI_File fh;

/* What MPI has of it. */
static bool exists(const door_order *o, int form)
{
    if (o->at && o->shared)
        return false;
    if (form == SPLIT)
        return o->together;
    return form == BLOCKING || !(o->shared && o->together);
}

/* The bytes that were moved. */
static int run(const door_order *o, int form)
{
    MPI_Status status;
    MPI_Request request;
    int count = -1;
    if (form == BLOCKING) {
        CHECK_OK(door_transfer(fh, o, &status));
    } else if (form == SPLIT) {
        CHECK_OK(door_begin_split(fh, o));
        CHECK_OK(door_end(fh, o, &status));
    } else {
        CHECK_OK(door_start(fh, o, &request));
        CHECK_OK(MPI_Wait(&request, &status));
    }
    MPI_Get_count(&status, MPI_BYTE, &count);
    return count;
}

/* Both pointers to `offset`, which no rank moves on from before all are there. */
static void go_to(int64_t offset)
{
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_File_seek(fh, offset, MPI_SEEK_SET));
    CHECK_OK(MPI_File_seek_shared(fh, offset, MPI_SEEK_SET));
}

static int64_t size_now(void)
{
    MPI_Offset size = -1;
    CHECK_OK(MPI_File_get_size(fh, &size));
    return size;
}

static void nothing_at_all(door_order *o, int form)
{
    MPI_Offset at = -1;
    int64_t size = size_now();
    go_to(70);
    o->count = 0;
    o->offset = 3 * BYTES;
    CHECK_EQUAL(run(o, form), 0);
    o->buffer = NULL;
    CHECK_EQUAL(run(o, form), 0);
    CHECK_EQUAL(size_now(), size);
    CHECK_OK(MPI_File_get_position(fh, &at));
    CHECK_EQUAL(at, 70);
    CHECK_OK(MPI_File_get_position_shared(fh, &at));
    CHECK_EQUAL(at, 70);
}

/* Rank 0 has none; of collective accesses all hear of it. */
static void without_buffer(door_order *o)
{
    char data[4] = "abc";
    bool fails = o->together || door_rank == 0;
    MPI_Barrier(MPI_COMM_WORLD);
    o->count = 4;
    o->offset = 0;
    o->buffer = door_rank == 0 ? NULL : data;
    CHECK_CLASS(door_transfer(fh, o, MPI_STATUS_IGNORE), fails ? MPI_ERR_BUFFER : MPI_SUCCESS);
}

/* Every rank reads 100 bytes; with the shared pointer one after the other. */
static void across_the_end(door_order *o, int form)
{
    char data[100];
    int64_t size = size_now();
    for (int64_t before = -50; before <= 300; before += 70) {
        int64_t sum = 0, wanted = 0, own;
        go_to(size - before);
        memset(data, 'x', sizeof data);
        o->buffer = data;
        o->count = 100;
        o->offset = size - before;
        own = run(o, form);
        MPI_Allreduce(&own, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        for (int q = 0; q < door_ranks; q++) {
            int64_t left = before - (o->shared ? 100 * q : 0);
            wanted += left < 0 ? 0 : left > 100 ? 100 : left;
        }
        CHECK_EQUAL(sum, wanted);
        for (int64_t i = own; i < 100; i++)
            CHECK_EQUAL(data[i], 'x');
        for (int64_t i = 0; i < own && !o->shared; i++)
            CHECK_EQUAL(data[i], door_byte(size - before + i));
    }
}

/* A rank alone has it, and only zero bytes go through. */
static void without_data(door_order *o, int form)
{
    MPI_Datatype empty;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Type_contiguous(0, MPI_BYTE, &empty);
    MPI_Type_commit(&empty);
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_BYTE, empty, "native", MPI_INFO_NULL));
    o->count = 0;
    o->offset = 0;
    CHECK_EQUAL(run(o, form), 0);
    MPI_Type_free(&empty);
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
}

int main(int argc, char **argv)
{
    door_begin(&argc, &argv);
    const char *path = door_path("edges");
    door_make_file(path, BYTES);
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                           MPI_INFO_NULL, &fh));
    int count = 0;
    for (int bits = 0; bits < 32; bits++)
        for (int form = 0; form < FORMS; form++) {
            door_order o = {bits & 1, bits & 2, bits & 4, bits & 8, bits & 16, .type = MPI_BYTE};
            char byte = 0;
            o.buffer = &byte;
            if (!exists(&o, form))
                continue;
            check_within(SECONDS);
            check_case(bits * 10 + form);
            nothing_at_all(&o, form);
            if (!o.write)
                across_the_end(&o, form);
            without_data(&o, form);
            if (!o.write && form == BLOCKING)
                without_buffer(&o);
            count++;
        }
    CHECK_EQUAL(count, 2 * (12 + 6 + 10)); /* blocking, split and nonblocking, of two counts */
    CHECK_OK(MPI_File_close(&fh));
    check_within(0);
    MPI_Finalize();
    return 0;
}
