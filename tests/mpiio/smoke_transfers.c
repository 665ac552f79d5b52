/* The eight blocking transfers, with an int count and with a large one. */
#include <string.h>

#include "check.h"
#include "mpiio/smoke.h"

enum { KINDS = 16, BYTES = 64, EACH = 10 };

/* The k-th of all kinds of transfers. */
static door_order kind_of(int k)
{
    return (door_order){
        .write = k & 1, .together = k & 2, .at = k & 4, .large = k & 8, .type = MPI_BYTE};
}

static MPI_File open_file(const char *path, int amode)
{
    MPI_File fh;
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &fh));
    return fh;
}

static void check_count(const MPI_Status *status, MPI_Datatype type, int wanted)
{
    int count = -1;
    MPI_Get_count(status, type, &count);
    CHECK_EQUAL(count, wanted);
}

/* Each kind: rank r at EACH * r, 5 shorts; a read past the end gets what is there. */
static void test_valid(const char *path)
{
    const int64_t size = (int64_t)EACH * door_ranks;
    for (int k = 0; k < KINDS; k++) {
        char data[BYTES];
        MPI_Status status;
        MPI_Offset position = -1;
        door_make_file(path, size);
        MPI_File fh = open_file(path, MPI_MODE_RDWR);
        CHECK_OK(MPI_File_set_view(fh, 0, MPI_SHORT, MPI_SHORT, "native", MPI_INFO_NULL));
        door_order o = kind_of(k);
        o.buffer = data;
        o.count = EACH / 2;
        o.type = MPI_SHORT;
        o.offset = door_rank * EACH / 2;
        memset(data, -1, sizeof data);
        if (!o.at)
            CHECK_OK(MPI_File_seek(fh, o.offset, MPI_SEEK_SET));
        CHECK_OK(door_transfer(fh, &o, &status));
        check_count(&status, MPI_SHORT, EACH / 2);
        CHECK_OK(MPI_File_get_position(fh, &position));
        CHECK_EQUAL(position, o.at ? 0 : o.offset + EACH / 2);
        CHECK_OK(MPI_File_sync(fh));
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; !o.write && i < BYTES; i++)
            CHECK(data[i] == (i < EACH ? door_byte(door_rank * EACH + i) : -1));
        door_order past = {.at = true, .buffer = data, .count = BYTES / 2, .type = MPI_SHORT};
        CHECK_OK(door_transfer(fh, &past, &status));
        check_count(&status, MPI_BYTE, size < BYTES ? (int)size : BYTES);
        for (int i = 0; i < size && i < BYTES; i++)
            CHECK(data[i] == (o.write ? -1 : door_byte(i)));
        CHECK_OK(door_transfer(fh, &past, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_File_close(&fh));
    }
}

/* What any transfer refuses; a collective one on all ranks if the last does. */
static void test_refused(const char *path)
{
    MPI_File fh = open_file(path, MPI_MODE_RDWR | MPI_MODE_CREATE);
    char data[BYTES] = "";
    MPI_Offset size = -1, after = -1;
    CHECK_OK(MPI_File_get_size(fh, &size));
    for (int k = 0; k < KINDS; k++) {
        door_order good = kind_of(k), o = good;
        MPI_Status status;
        good.buffer = o.buffer = data;
        bool mine = !o.together || door_rank == door_ranks - 1;
        o.count = mine ? -1 : 0;
        CHECK_CLASS(door_transfer(MPI_FILE_NULL, &o, &status), MPI_ERR_FILE);
        int code = CHECK_CLASS(door_transfer(fh, &o, &status), MPI_ERR_COUNT);
        if (o.together)
            door_check_text(code, path, "count -1");
        else
            door_check_text(code, path, "count -1");
        o = good;
        o.type = mine ? MPI_DATATYPE_NULL : MPI_BYTE;
        CHECK_CLASS(door_transfer(fh, &o, &status), MPI_ERR_TYPE);
        check_count(&status, MPI_BYTE, 0);
        o = good;
        o.offset = mine ? -1 : 0;
        CHECK_CLASS(door_transfer(fh, &o, &status), o.at ? MPI_ERR_ARG : MPI_SUCCESS);
        o = good;
        o.count = mine ? 1000 : 0;
        for (int i = 1; i <= 2 && o.at; i++) { /* beyond what files and numbers can be */
            o.offset = INT64_MAX / i - 10;
            CHECK_CLASS(door_transfer(fh, &o, &status), MPI_ERR_ARG);
        }
    }
    CHECK_OK(MPI_File_get_size(fh, &after));
    CHECK_EQUAL(after, size);
    CHECK_OK(MPI_File_close(&fh));
}

/* A file opened for one direction refuses the other. */
static void test_directions(const char *path)
{
    char data[BYTES] = "";
    for (int k = 0; k < KINDS; k++) {
        door_order o = kind_of(k);
        o.buffer = data;
        o.count = 1;
        MPI_File fh = open_file(path, o.write ? MPI_MODE_RDONLY : MPI_MODE_WRONLY);
        CHECK_CLASS(door_transfer(fh, &o, MPI_STATUS_IGNORE),
                    o.write ? MPI_ERR_READ_ONLY : MPI_ERR_ACCESS);
        if (o.write) {
            CHECK_CLASS(MPI_File_set_size(fh, 3), MPI_ERR_READ_ONLY);
            CHECK_CLASS(MPI_File_preallocate(fh, 3), MPI_ERR_READ_ONLY);
        }
        CHECK_OK(MPI_File_close(&fh));
    }
}

/* A view that shows bytes twice can be read, not written; one that shows nothing takes nothing. */
static void test_odd_views(const char *path)
{
    MPI_File fh = open_file(path, MPI_MODE_RDWR);
    MPI_Datatype twice, nothing;
    char data[8];
    MPI_Type_create_indexed_block(2, 4, (int[]){0, 2}, MPI_BYTE, &twice);
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&twice);
    MPI_Type_commit(&nothing);
    CHECK_OK(MPI_File_set_view(fh, 1, MPI_BYTE, twice, "native", MPI_INFO_NULL));
    for (int k = 0; k < KINDS; k++) {
        door_order o = kind_of(k);
        o.buffer = data;
        o.count = 8;
        CHECK_OK(MPI_File_seek(fh, 0, MPI_SEEK_SET));
        int code = door_transfer(fh, &o, MPI_STATUS_IGNORE);
        CHECK((code == MPI_SUCCESS) == !o.write);
        for (int i = 0; !o.write && i < 8; i++)
            CHECK(data[i] == door_byte(1 + (i < 4 ? i : i - 2)));
    }
    CHECK_OK(MPI_File_set_view(fh, 1, MPI_INT, nothing, "native", MPI_INFO_NULL));
    for (int k = 0; k < KINDS; k++) {
        door_order o = kind_of(k);
        CHECK_OK(door_transfer(fh, &o, MPI_STATUS_IGNORE));
        o.buffer = data;
        o.count = 4;
        CHECK(door_transfer(fh, &o, MPI_STATUS_IGNORE) != MPI_SUCCESS);
    }
    MPI_Type_free(&twice);
    MPI_Type_free(&nothing);
    CHECK_OK(MPI_File_close(&fh));
}

/* An access is a whole number of etypes, or nothing moves. */
static void test_whole_etypes(const char *path)
{
    for (int k = 0; k < KINDS; k++) {
        char data[BYTES] = "";
        MPI_Offset position = -1;
        door_make_file(path, BYTES);
        MPI_File fh = open_file(path, MPI_MODE_RDWR);
        CHECK_OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
        door_order o = kind_of(k);
        o.buffer = data;
        o.count = 6;
        CHECK_CLASS(door_transfer(fh, &o, MPI_STATUS_IGNORE), MPI_ERR_IO);
        CHECK_OK(MPI_File_get_position(fh, &position));
        CHECK_EQUAL(position, 0);
        CHECK_OK(MPI_File_close(&fh));
    }
}

void smoke_transfers(const char *path)
{
    door_make_file(path, 100);
    test_refused(path);
    test_directions(path);
    test_odd_views(path);
    test_valid(path);
    test_whole_etypes(path);
}
