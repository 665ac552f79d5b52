/* Representations that users register: when their functions are called and with what, what happens
 * when they fail, and which names are refused. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "mpiio/door_support.h"

enum { MANY = 3000, KEY = 0x5a5a5a5a };

/* Every second int of memory, in the file with its bits changed and a second word that says which
 * element it was. */
typedef struct state {
    int calls;
    int64_t fails; /* the element at which a function gives up, or -1 */
    int64_t next;  /* position of the next element; the first starts again */
} state;

static state mine = {.fails = -1};

static int in_memory(MPI_Datatype type)
{
    MPI_Aint lb, extent;
    int size;
    MPI_Type_size(type, &size);
    MPI_Type_get_extent(type, &lb, &extent);
    CHECK(size == 4 || size == 8);
    CHECK_EQUAL(extent, size == 4 ? 4 : 16); /* the type that the call was given, or its like */
    return size == 4 ? 1 : 2;                /* ints from one element to the next */
}

static bool gives_up(state *s, MPI_Count count, MPI_Offset position)
{
    CHECK(count > 0);
    CHECK(position == 0 || position == s->next);
    s->calls++;
    s->next = position + count;
    return s->fails >= position && s->fails < position + count;
}

static int to_file(void *memory, MPI_Datatype type, MPI_Count count, void *file,
                   MPI_Offset position, void *user)
{
    int step = in_memory(type), *from = memory, *to = file;
    for (MPI_Count k = 0; k < count; k++) {
        to[2 * k] = from[(position + k) * step] ^ KEY;
        to[2 * k + 1] = (int)(position + k);
    }
    return gives_up(user, count, position) ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int to_memory(void *memory, MPI_Datatype type, MPI_Count count, void *file,
                     MPI_Offset position, void *user)
{
    int step = in_memory(type), *from = file, *to = memory;
    for (MPI_Count k = 0; k < count; k++)
        to[(position + k) * step] = from[2 * k] ^ KEY;
    return gives_up(user, count, position) ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int to_file_plain(void *memory, MPI_Datatype type, int count, void *file,
                         MPI_Offset position, void *user)
{
    return to_file(memory, type, count, file, position, user);
}

static int to_memory_plain(void *memory, MPI_Datatype type, int count, void *file,
                           MPI_Offset position, void *user)
{
    return to_memory(memory, type, count, file, position, user);
}

/* Twice the size; only MPI's own types are asked for. */
static int twice(MPI_Datatype type, MPI_Aint *extent, void *user)
{
    int size, ints, aints, types, combiner;
    (void)user;
    MPI_Type_get_envelope(type, &ints, &aints, &types, &combiner);
    CHECK_EQUAL(combiner, MPI_COMBINER_NAMED);
    MPI_Type_size(type, &size);
    *extent = 2 * (MPI_Aint)size;
    return type == MPI_FLOAT ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int once(MPI_Datatype type, MPI_Aint *extent, void *user)
{
    int size;
    (void)user;
    MPI_Type_size(type, &size);
    *extent = size;
    return MPI_SUCCESS;
}

static int nothing(MPI_Datatype type, MPI_Aint *extent, void *user)
{
    (void)type;
    (void)user;
    *extent = 0;
    return MPI_SUCCESS;
}

static void register_all(void)
{
    char longest[MPI_MAX_DATAREP_STRING + 1];
    MPI_Datarep_conversion_function *none = MPI_CONVERSION_FN_NULL;
    memset(longest, 'x', sizeof longest);
    longest[MPI_MAX_DATAREP_STRING] = 0;
    CHECK_OK(MPI_Register_datarep("twice", to_memory_plain, to_file_plain, twice, &mine));
    CHECK_CLASS(MPI_Register_datarep("twice", to_memory_plain, to_file_plain, twice, &mine),
                MPI_ERR_DUP_DATAREP);
    CHECK_CLASS(MPI_Register_datarep("native", none, none, once, NULL), MPI_ERR_DUP_DATAREP);
    CHECK_CLASS(MPI_Register_datarep("external32", none, none, once, NULL), MPI_ERR_DUP_DATAREP);
    CHECK_CLASS(MPI_Register_datarep(longest, none, none, once, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Register_datarep("", none, none, once, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Register_datarep("no extent", none, none, NULL, NULL), MPI_ERR_ARG);
    longest[MPI_MAX_DATAREP_STRING - 1] = 0;
    CHECK_OK(MPI_Register_datarep(longest, none, none, once, NULL));
    CHECK_OK(MPI_Register_datarep("as it is", none, none, once, NULL));
    CHECK_OK(MPI_Register_datarep("half", to_memory_plain, none, twice, &mine));
    CHECK_OK(MPI_Register_datarep("empty", none, none, nothing, NULL));
#if MPI_VERSION >= 4
    CHECK_OK(MPI_Register_datarep_c("twice large", to_memory, to_file, twice, &mine));
    CHECK_CLASS(MPI_Register_datarep_c("twice", to_memory, to_file, twice, &mine),
                MPI_ERR_DUP_DATAREP);
#else
    CHECK_OK(MPI_Register_datarep("twice large", to_memory_plain, to_file_plain, twice, &mine));
#endif
}

static MPI_File open_file(const char *path)
{
    MPI_File fh;
    MPI_Info info = door_info("weir_window=1000");
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &fh));
    MPI_Info_free(&info);
    return fh;
}

static int64_t counted(const MPI_Status *status, MPI_Datatype type)
{
    int count;
    MPI_Get_count(status, type, &count);
    return count;
}

/* Values of a rank, `step` ints apart. */
static void fill(int *memory, int step)
{
    for (int k = 0; k < MANY * 2; k++)
        memory[k] = k % step ? -1 : door_rank << 16 | k / step;
}

/* [collective] All forms of a transfer of `items` items of a type. */
enum { FORMS = 6 };

static int transfer(MPI_File fh, int form, const door_order *o, MPI_Status *status)
{
    door_order how = *o;
    MPI_Request request;
    how.together = form % 2;
    if (form < 2)
        return door_transfer(fh, &how, status);
    if (form < 4) {
        int code = door_start(fh, &how, &request);
        return code ? code : MPI_Wait(&request, status);
    }
    how.together = true;
    how.large = form == 5;
    int code = door_begin_split(fh, &how);
    return code ? code : door_end(fh, &how, status);
}

static void check_forms(MPI_File fh, MPI_Datatype type, int step)
{
    static int memory[2 * MANY], again[2 * MANY], raw[2 * MANY];
    MPI_Status status;
    int size;
    MPI_Type_size(type, &size);
    const int items = MANY * 4 / size;
    fill(memory, step);
    for (int form = 0; form < FORMS; form++) {
        check_case(form);
        door_order o = {.write = true,
                        .at = true,
                        .offset = (MPI_Offset)door_rank * MANY,
                        .buffer = memory,
                        .count = items,
                        .type = type};
        CHECK_OK(MPI_File_set_view(fh, 12, MPI_INT, MPI_INT, form % 2 ? "twice" : "twice large",
                                   MPI_INFO_NULL));
        int calls = mine.calls;
        CHECK_OK(transfer(fh, form, &o, &status));
        CHECK_EQUAL(counted(&status, type), items);
        CHECK(mine.calls > calls);
        CHECK(form >= 2 || mine.calls > calls + 5); /* in chunks */
        memset(again, 0xff, sizeof again);
        o.write = false;
        o.buffer = again;
        CHECK_OK(transfer(fh, form, &o, &status));
        CHECK_EQUAL(counted(&status, type), items);
        CHECK(!memcmp(again, memory, (size_t)(step * MANY) * sizeof(int)));
        CHECK_OK(MPI_File_set_view(fh, 12, MPI_INT, MPI_INT, "internal", MPI_INFO_NULL));
        CHECK_OK(MPI_File_read_at(fh, o.offset * 2, raw, 2 * MANY, MPI_INT, &status));
        for (int64_t k = 0; k < MANY; k++) {
            CHECK_EQUAL(raw[2 * k], memory[k * step] ^ KEY);
            CHECK_EQUAL(raw[2 * k + 1], k);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_OK(MPI_File_set_size(fh, 0));
    }
}

/* A type may be freed as soon as its transfer has been started. */
static void check_freed_type(MPI_File fh)
{
    static int memory[2 * MANY], again[2 * MANY];
    MPI_Datatype pairs;
    MPI_Request request;
    MPI_Status status;
    fill(memory, 2);
    memset(again, 0xff, sizeof again);
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "twice", MPI_INFO_NULL));
    for (int write = 1; write >= 0; write--) {
        MPI_Type_vector(2, 1, 2, MPI_INT, &pairs);
        MPI_Datatype resized;
        MPI_Type_create_resized(pairs, 0, 16, &resized);
        MPI_Type_commit(&resized);
        MPI_Type_free(&pairs);
        const door_order o = {.write = write,
                              .at = true,
                              .offset = (MPI_Offset)door_rank * MANY,
                              .buffer = write ? memory : again,
                              .count = MANY / 2,
                              .type = resized};
        CHECK_OK(door_start(fh, &o, &request));
        MPI_Type_free(&resized);
        door_wait(0, 1, &request, &status);
    }
    CHECK(!memcmp(memory, again, sizeof again));
}

/* The last rank's function gives up: in collective calls that is everyone's error. */
static void check_failures(MPI_File fh)
{
    static int memory[2 * MANY];
    MPI_Status status;
    const int64_t places[] = {0, 1234, MANY - 1};
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "twice", MPI_INFO_NULL));
    door_order o = {.write = true,
                    .together = true,
                    .at = true,
                    .offset = (MPI_Offset)door_rank * MANY,
                    .buffer = memory,
                    .count = MANY,
                    .type = MPI_INT};
    CHECK_OK(door_transfer(fh, &o, &status));
    for (int k = 0; k < 6; k++) {
        check_case(k);
        o.write = k % 2;
        mine.fails = door_rank == door_ranks - 1 ? places[k / 2] : -1;
        o.together = true;
        int code = door_transfer(fh, &o, &status);
        CHECK_CLASS(code, MPI_ERR_CONVERSION);
        door_check_text(code, "twice", "conversion function");
        if (door_rank == door_ranks - 1)
            CHECK(counted(&status, MPI_INT) <= places[k / 2]);
        o.together = false;
        CHECK_CLASS(door_transfer(fh, &o, &status),
                    mine.fails < 0 ? MPI_SUCCESS : MPI_ERR_CONVERSION);
    }
    mine.fails = -1;
    CHECK_OK(door_transfer(fh, &o, &status));
}

/* What a view of it is, and what cannot be one. */
static void check_views(MPI_File fh)
{
    char name[MPI_MAX_DATAREP_STRING], longest[MPI_MAX_DATAREP_STRING];
    MPI_Offset place, byte;
    MPI_Datatype etype, filetype;
    MPI_Aint extent;
    memset(longest, 'x', sizeof longest);
    longest[MPI_MAX_DATAREP_STRING - 1] = 0;
    CHECK_OK(MPI_File_set_view(fh, 3, MPI_INT, MPI_INT, longest, MPI_INFO_NULL));
    CHECK_OK(MPI_File_get_view(fh, &place, &etype, &filetype, name));
    CHECK(!strcmp(name, longest));
    CHECK_OK(MPI_File_set_view(fh, 3, MPI_INT, MPI_INT, "twice", MPI_INFO_NULL));
    CHECK_CLASS(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "thrice", MPI_INFO_NULL),
                MPI_ERR_UNSUPPORTED_DATAREP);
    CHECK_CLASS(MPI_File_set_view(fh, 0, MPI_FLOAT, MPI_FLOAT, "twice", MPI_INFO_NULL),
                MPI_ERR_CONVERSION);
    CHECK_CLASS(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "empty", MPI_INFO_NULL),
                MPI_ERR_CONVERSION);
    CHECK_OK(MPI_File_get_view(fh, &place, &etype, &filetype, name));
    CHECK(place == 3 && etype == MPI_INT && filetype == MPI_INT && !strcmp(name, "twice"));
    CHECK_OK(MPI_File_get_byte_offset(fh, 5, &byte));
    CHECK_EQUAL(byte, 43);
    CHECK_OK(MPI_File_get_type_extent(fh, MPI_DOUBLE, &extent));
    CHECK_EQUAL(extent, 16);
    CHECK_CLASS(MPI_File_get_type_extent(fh, MPI_FLOAT, &extent), MPI_ERR_CONVERSION);
}

/* Where there is no function, elements are as in memory, and so must be their sizes. */
static void check_absent(MPI_File fh)
{
    int value = 77, raw[2] = {77 ^ KEY, 0};
    MPI_Offset at = door_rank;
    MPI_Status status;
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "as it is", MPI_INFO_NULL));
    CHECK_OK(MPI_File_write_at(fh, 2 * at, raw, 2, MPI_INT, &status));
    CHECK_OK(MPI_File_read_at(fh, 2 * at, &value, 1, MPI_INT, &status));
    CHECK_EQUAL(value, raw[0]);
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "half", MPI_INFO_NULL));
    CHECK_OK(MPI_File_read_at(fh, at, &value, 1, MPI_INT, &status));
    CHECK_EQUAL(value, 77);
    CHECK_CLASS(MPI_File_write_at(fh, at, &value, 1, MPI_INT, &status), MPI_ERR_CONVERSION);
}

int main(int argc, char **argv)
{
    MPI_Datatype two, pairs;
    door_begin(&argc, &argv);
    const char *path = door_path("datarep");
    check_within(60);
    register_all();
    MPI_File fh = open_file(path);
    MPI_Type_vector(2, 1, 2, MPI_INT, &two);
    MPI_Type_create_resized(two, 0, 16, &pairs);
    MPI_Type_commit(&pairs);
    check_forms(fh, MPI_INT, 1);
    check_forms(fh, pairs, 2);
    check_freed_type(fh);
    check_failures(fh);
    check_views(fh);
    check_absent(fh);
    MPI_Type_free(&two);
    MPI_Type_free(&pairs);
    CHECK_OK(MPI_File_close(&fh));
    if (door_rank == 0)
        MPI_File_delete(path, MPI_INFO_NULL);
    check_within(0);
    return MPI_Finalize();
}
