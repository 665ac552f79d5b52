/* The bytes of external32, type by type, against literal ones; what does not fit; sizes and extents
 * of derived types in such a file. */
#include <float.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "check.h"
#include "mpiio/door_support.h"

enum { MOST = 64, COUNT = 3 };

/* One value of a type in memory, and in the file. */
typedef struct row {
    const char *name;
    MPI_Datatype type;
    const void *value;
    size_t size; /* from one value to the next in memory */
    const char *bytes;
} row;

#define ROW(type, C, bytes, ...)                                                                   \
    {                                                                                              \
#type, type, (const C[]){__VA_ARGS__ }, sizeof(const C[]){__VA_ARGS__ }, bytes             \
    }

typedef struct float_int {
    float a;
    int b;
} float_int;
typedef struct double_int {
    double a;
    int b;
} double_int;
typedef struct long_int {
    long a;
    int b;
} long_int;
typedef struct short_int {
    short a;
    int b;
} short_int;
typedef struct long_double_int {
    long double a;
    int b;
} long_double_int;

static const row rows[] = {
    ROW(MPI_BYTE, char, "81", -127),
    ROW(MPI_PACKED, char, "17", 0x17),
    ROW(MPI_CHAR, char, "41", 'A'),
    ROW(MPI_SIGNED_CHAR, signed char, "fe", -2),
    ROW(MPI_UNSIGNED_CHAR, unsigned char, "fe", 254),
    ROW(MPI_C_BOOL, _Bool, "01", 1),
    ROW(MPI_CXX_BOOL, _Bool, "01", 1),
    ROW(MPI_WCHAR, wchar_t, "20ac", 0x20ac),
    ROW(MPI_SHORT, short, "fffe", -2),
    ROW(MPI_UNSIGNED_SHORT, unsigned short, "c001", 0xc001),
    ROW(MPI_INT, int, "fffffffe", -2),
    ROW(MPI_UNSIGNED, unsigned, "c0000001", 0xc0000001),
    ROW(MPI_LONG, long, "80000000", -0x80000000L),
    ROW(MPI_UNSIGNED_LONG, unsigned long, "fffffffe", 0xfffffffe),
    ROW(MPI_LONG_LONG, long long, "fedcba9876543210", -0x123456789abcdf0),
    ROW(MPI_UNSIGNED_LONG_LONG, unsigned long long, "fedcba9876543210", 0xfedcba9876543210),
    ROW(MPI_INT8_T, int8_t, "80", -128),
    ROW(MPI_INT16_T, int16_t, "8001", -0x7fff),
    ROW(MPI_INT32_T, int32_t, "80000001", -0x7fffffff),
    ROW(MPI_INT64_T, int64_t, "8000000000000001", -0x7fffffffffffffff),
    ROW(MPI_UINT8_T, uint8_t, "80", 128),
    ROW(MPI_UINT16_T, uint16_t, "8001", 0x8001),
    ROW(MPI_UINT32_T, uint32_t, "80000001", 0x80000001),
    ROW(MPI_UINT64_T, uint64_t, "8000000000000001", 0x8000000000000001),
    ROW(MPI_AINT, MPI_Aint, "0000000100000002", 0x100000002),
    ROW(MPI_OFFSET, MPI_Offset, "0000000100000002", 0x100000002),
    ROW(MPI_COUNT, MPI_Count, "0000000100000002", 0x100000002),
    ROW(MPI_FLOAT, float, "bfc00000", -1.5F),
    ROW(MPI_DOUBLE, double, "c008000000000000", -3.0),
    ROW(MPI_LONG_DOUBLE, long double, "c0008000000000000000000000000000", -3.0L),
    ROW(MPI_C_FLOAT_COMPLEX, float, "3f800000c0000000", 1.0F, -2.0F),
    ROW(MPI_C_DOUBLE_COMPLEX, double, "3ff0000000000000c000000000000000", 1.0, -2.0),
    ROW(MPI_C_LONG_DOUBLE_COMPLEX, long double,
        "3fff0000000000000000000000000000c0000000000000000000000000000000", 1.0L, -2.0L),
    ROW(MPI_CXX_FLOAT_COMPLEX, float, "3f800000c0000000", 1.0F, -2.0F),
    ROW(MPI_CXX_DOUBLE_COMPLEX, double, "3ff0000000000000c000000000000000", 1.0, -2.0),
    ROW(MPI_CXX_LONG_DOUBLE_COMPLEX, long double,
        "3fff0000000000000000000000000000c0000000000000000000000000000000", 1.0L, -2.0L),
    ROW(MPI_CHARACTER, char, "5a", 'Z'),
    ROW(MPI_LOGICAL, int, "00000001", 1),
    ROW(MPI_INTEGER, int, "01020304", 0x1020304),
    ROW(MPI_REAL, float, "bfc00000", -1.5F),
    ROW(MPI_DOUBLE_PRECISION, double, "c008000000000000", -3.0),
    ROW(MPI_COMPLEX, float, "3f800000c0000000", 1.0F, -2.0F),
    ROW(MPI_DOUBLE_COMPLEX, double, "3ff0000000000000c000000000000000", 1.0, -2.0),
    ROW(MPI_INTEGER1, int8_t, "7f", 127),
    ROW(MPI_INTEGER2, int16_t, "0102", 0x102),
    ROW(MPI_INTEGER4, int32_t, "01020304", 0x1020304),
    ROW(MPI_INTEGER8, int64_t, "0102030405060708", 0x102030405060708),
    ROW(MPI_REAL4, float, "bfc00000", -1.5F),
    ROW(MPI_REAL8, double, "c008000000000000", -3.0),
    ROW(MPI_REAL16, uint64_t, "c0008000000000000000000000000007", 7, 0xc000800000000000),
    ROW(MPI_COMPLEX8, float, "3f800000c0000000", 1.0F, -2.0F),
    ROW(MPI_COMPLEX16, double, "3ff0000000000000c000000000000000", 1.0, -2.0),
    ROW(MPI_COMPLEX32, uint64_t,
        "00000000000000020000000000000001000000000000000400000000000000"
        "03",
        1, 2, 3, 4),
    ROW(MPI_FLOAT_INT, float_int, "bfc00000fffffffe", {-1.5F, -2}),
    ROW(MPI_DOUBLE_INT, double_int, "c008000000000000fffffffe", {-3.0, -2}),
    ROW(MPI_LONG_INT, long_int, "fffffffd00000002", {-3, 2}),
    ROW(MPI_SHORT_INT, short_int, "fffd00000002", {-3, 2}),
    ROW(MPI_2INT, int, "0000000100000002", 1, 2),
    ROW(MPI_LONG_DOUBLE_INT, long_double_int, "c000800000000000000000000000000000000002",
        {-3.0L, 2}),
    ROW(MPI_2INTEGER, int, "0000000100000002", 1, 2),
    ROW(MPI_2REAL, float, "3f800000c0000000", 1.0F, -2.0F),
    ROW(MPI_2DOUBLE_PRECISION, double, "3ff0000000000000c000000000000000", 1.0, -2.0),
};

static MPI_File fh;
static const char *path;

static int unhex(const char *text, unsigned char *out)
{
    int n = 0;
    for (unsigned byte; *text && sscanf(text, "%2x", &byte) == 1; text += 2)
        out[n++] = (unsigned char)byte;
    return n;
}

static void view(MPI_Datatype type, const char *rep)
{
    CHECK_OK(MPI_File_set_view(fh, 0, type, type, rep, MPI_INFO_NULL));
}

static int64_t counted(const MPI_Status *status, MPI_Datatype type)
{
    int count;
    MPI_Get_count(status, type, &count);
    return count;
}

/* Types of which the MPI's own functions make something else. Both keep wide characters at four
 * bytes and only turn those of long doubles; MPICH 4.0 turns complex numbers as a whole and stops
 * the program at pairs. */
static bool is_wrong_there(const row *r)
{
    static const char *const both[] = {
        "MPI_WCHAR",  "MPI_LONG_DOUBLE", "MPI_C_LONG_DOUBLE_COMPLEX", "MPI_CXX_LONG_DOUBLE_COMPLEX",
        "MPI_REAL16", "MPI_COMPLEX32",   "MPI_LONG_DOUBLE_INT",       NULL};
    static const char *const mpich[] = {"MPI_COMPLEX",
                                        "MPI_DOUBLE_COMPLEX",
                                        "MPI_FLOAT_INT",
                                        "MPI_DOUBLE_INT",
                                        "MPI_LONG_INT",
                                        "MPI_SHORT_INT",
                                        "MPI_2INT",
                                        "MPI_2INTEGER",
                                        "MPI_2REAL",
                                        "MPI_2DOUBLE_PRECISION",
                                        NULL};
#ifdef OPEN_MPI
    const char *const *lists[] = {both, both};
    (void)mpich;
#else
    const char *const *lists[] = {both, mpich};
#endif
    for (int i = 0; i < 2; i++)
        for (const char *const *name = lists[i]; *name; name++)
            if (!strcmp(*name, r->name))
                return true;
    return false;
}

static void compare_with_pack(const row *r, const unsigned char *wanted, int size)
{
    char packed[4 * MOST];
    MPI_Aint at = 0;
    if (is_wrong_there(r))
        return;
    CHECK_OK(MPI_Pack_external("external32", r->value, 1, r->type, packed, sizeof packed, &at));
    CHECK_EQUAL(at, size);
    CHECK(!memcmp(packed, wanted, (size_t)size));
}

/* Three in a row: written, looked at as bytes, read. */
static void check_row(const row *r)
{
    unsigned char wanted[MOST], found[COUNT * MOST];
    char memory[COUNT * MOST], again[COUNT * MOST];
    int size = unhex(r->bytes, wanted);
    MPI_Status status;
    MPI_Aint extent = -1;
    memset(memory, 0, sizeof memory);
    memset(again, 0, sizeof again);
    for (size_t k = 0; k < COUNT; k++)
        memcpy(memory + k * r->size, r->value, r->size);
    CHECK_OK(MPI_File_set_size(fh, 0));
    view(r->type, "external32");
    CHECK_OK(MPI_File_get_type_extent(fh, r->type, &extent));
    CHECK_EQUAL(extent, size);
    CHECK_OK(MPI_File_write_at(fh, 0, memory, COUNT, r->type, &status));
    CHECK_EQUAL(counted(&status, r->type), COUNT);
    CHECK_OK(MPI_File_read_at(fh, 1, again, COUNT, r->type, &status)); /* to the end */
    CHECK_EQUAL(counted(&status, r->type), COUNT - 1);
    CHECK_OK(MPI_File_read_at(fh, 0, again, COUNT, r->type, &status));
    CHECK_EQUAL(counted(&status, r->type), COUNT);
    view(MPI_BYTE, "native");
    CHECK_OK(MPI_File_read_at(fh, 0, found, (int)sizeof found, MPI_BYTE, &status));
    CHECK_EQUAL(counted(&status, MPI_BYTE), (int64_t)COUNT * size);
    for (int64_t k = 0; k < COUNT; k++)
        CHECK(!memcmp(found + k * size, wanted, (size_t)size));
    view(r->type, "external32"); /* read values are those written: they are written again */
    CHECK_OK(MPI_File_write_at(fh, COUNT, again, COUNT, r->type, &status));
    view(MPI_BYTE, "native");
    CHECK_OK(
        MPI_File_read_at(fh, (MPI_Offset)COUNT * size, found, COUNT * size, MPI_BYTE, &status));
    for (int64_t k = 0; k < COUNT; k++)
        CHECK(!memcmp(found + k * size, wanted, (size_t)size));
    compare_with_pack(r, wanted, size);
}

/* Nothing of a transfer with a value that has no counterpart comes into the file. */
static void check_limit(MPI_Datatype type, const void *good, const void *bad, size_t size)
{
    char two[4 * MOST];
    MPI_Status status;
    MPI_Offset bytes = -1;
    memcpy(two, good, size);
    memcpy(two + size, bad, size);
    CHECK_OK(MPI_File_set_size(fh, 0));
    view(type, "external32");
    int code = MPI_File_write_at(fh, 0, two, 2, type, &status);
    CHECK_CLASS(code, MPI_ERR_CONVERSION);
    door_check_text(code, "element 1", "external32");
    CHECK_EQUAL(counted(&status, type), 0);
    CHECK_OK(MPI_File_get_size(fh, &bytes));
    CHECK_EQUAL(bytes, 0);
    CHECK_OK(MPI_File_write_at(fh, 0, two, 1, type, &status));
}

static void check_limits(void)
{
    CHECK_EQUAL(sizeof(long), 8);
    check_limit(MPI_LONG, &(long){0x7fffffff}, &(long){0x80000000}, sizeof(long));
    check_limit(MPI_LONG, &(long){-0x80000000L}, &(long){-0x80000001L}, sizeof(long));
    check_limit(MPI_UNSIGNED_LONG, &(long){0xffffffff}, &(long){0x100000000}, sizeof(long));
    check_limit(MPI_WCHAR, &(wchar_t){0xffff}, &(wchar_t){0x10000}, sizeof(wchar_t));
}

/* Quadruple precision in the file, and what comes of it here. */
static void check_rounding(void)
{
    const long double least = LDBL_MIN * LDBL_EPSILON;
    const struct {
        const char *bytes;
        long double value;
    } cases[] = {{"3fff0000000000000000000000000001", 1.0L},
                 {"3fff0000000000000001000000000000", 1.0L},
                 {"3fff0000000000000001000000000001", 1.0L + LDBL_EPSILON},
                 {"3fff0000000000000003000000000000", 1.0L + 2 * LDBL_EPSILON},
                 {"bfffffffffffffffffffffffffffffff", -2.0L},
                 {"7fff0000000000000000000000000000", LDBL_MAX * 2},
                 {"7ffeffffffffffffffffffffffffffff", LDBL_MAX * 2},
                 {"7ffefffffffffffffffe000000000000", LDBL_MAX},
                 {"00000000000000000002000000000000", least},
                 {"0000ffffffffffffffff000000000000", LDBL_MIN},
                 {"00000000000000000000000000000000", 0.0L}};
    unsigned char bytes[16];
    long double value;
    MPI_Status status;
    for (size_t k = 0; LDBL_MANT_DIG == 64 && k < sizeof cases / sizeof *cases; k++) {
        check_case((int64_t)k);
        CHECK_EQUAL(unhex(cases[k].bytes, bytes), 16);
        view(MPI_BYTE, "native");
        CHECK_OK(MPI_File_write_at(fh, 0, bytes, 16, MPI_BYTE, &status));
        view(MPI_LONG_DOUBLE, "external32");
        CHECK_OK(MPI_File_read_at(fh, 0, &value, 1, MPI_LONG_DOUBLE, &status));
        CHECK(value == cases[k].value);
        CHECK_OK(MPI_File_write_at(fh, 0, &value, 1, MPI_LONG_DOUBLE, &status));
        CHECK_OK(MPI_File_read_at(fh, 0, &value, 1, MPI_LONG_DOUBLE, &status));
        CHECK(value == cases[k].value);
    }
    view(MPI_BYTE, "native");
    unhex("7fff0000000000000000000000000001", bytes);
    CHECK_OK(MPI_File_write_at(fh, 0, bytes, 16, MPI_BYTE, &status));
    view(MPI_LONG_DOUBLE, "external32");
    CHECK_OK(MPI_File_read_at(fh, 0, &value, 1, MPI_LONG_DOUBLE, &status));
    CHECK(value != value);
}

/* Extents in the file: in items where they were given in items, in bytes where in bytes. */
static void check_extent(MPI_Datatype type, MPI_Aint wanted)
{
    MPI_Aint extent = -1;
    CHECK_OK(MPI_File_get_type_extent(fh, type, &extent));
    CHECK_EQUAL(extent, wanted);
#if MPI_VERSION >= 4
    MPI_Count large = -1;
    CHECK_OK(MPI_File_get_type_extent_c(fh, type, &large));
    CHECK_EQUAL(large, wanted);
#endif
    MPI_Type_free(&type);
}

static void check_extents(void)
{
    MPI_Datatype made, inner;
    const int lengths[] = {1, 2}, places[] = {5, 1};
    const MPI_Aint bytes[] = {40, 8};
    const MPI_Datatype both[] = {MPI_LONG, MPI_CHAR};
    view(MPI_LONG, "external32");
    MPI_Type_vector(3, 2, 10, MPI_LONG, &made);
    check_extent(made, 88);
    MPI_Type_create_hvector(3, 2, 100, MPI_LONG, &made);
    check_extent(made, 208);
    MPI_Type_indexed(2, lengths, places, MPI_LONG, &made);
    check_extent(made, 20);
    MPI_Type_create_hindexed(2, lengths, bytes, MPI_LONG, &made);
    check_extent(made, 36);
    MPI_Type_create_struct(2, lengths, bytes, both, &made);
    check_extent(made, 36);
    MPI_Type_create_resized(MPI_LONG, -3, 17, &inner);
    MPI_Type_contiguous(4, inner, &made);
    check_extent(made, 68);
    MPI_Type_create_struct(2, lengths, bytes, (MPI_Datatype[]){inner, MPI_CHAR}, &made);
    check_extent(made, 17);
    MPI_Type_dup(inner, &made);
    check_extent(made, 17);
    MPI_Type_free(&inner);
    MPI_Type_create_subarray(2, (int[]){6, 7}, (int[]){2, 3}, (int[]){1, 1}, MPI_ORDER_C, MPI_LONG,
                             &made);
    check_extent(made, 168);
    MPI_Type_create_darray(2, 1, 1, (int[]){11}, (int[]){MPI_DISTRIBUTE_CYCLIC}, (int[]){2},
                           (int[]){2}, MPI_ORDER_C, MPI_LONG_DOUBLE, &made);
    check_extent(made, 176);
    MPI_Type_contiguous(3, MPI_LONG_DOUBLE_INT, &made);
    check_extent(made, 60);
}

/* [collective] A value that one rank cannot convert is an error of all of them. */
static void check_together(void)
{
    enum { MANY = 50000 };
    static long values[MANY];
    MPI_Status status;
    MPI_Info info = door_info("weir_window=4096");
    const char *shared = door_path("external32 together");
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, shared, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &fh));
    MPI_Info_free(&info);
    view(MPI_LONG, "external32");
    for (int k = 0; k < MANY; k++)
        values[k] = k;
    values[MANY - 7] = door_rank == door_ranks - 1 ? 0x80000000 : 0;
    int count = door_rank == 0 && door_ranks > 1 ? 0 : MANY; /* some have less to do */
    MPI_Offset offset = (MPI_Offset)door_rank * MANY;
    int code = MPI_File_write_at_all(fh, offset, values, count, MPI_LONG, &status);
    CHECK_CLASS(code, MPI_ERR_CONVERSION);
    door_check_text(code, "element 49993", "external32");
    MPI_Request request;
    CHECK_OK(MPI_File_iwrite_at_all(fh, offset, values, count, MPI_LONG, &request));
    CHECK_CLASS(MPI_Wait(&request, &status), MPI_ERR_CONVERSION);
    CHECK_OK(MPI_File_write_at_all_begin(fh, offset, values, count, MPI_LONG));
    CHECK_CLASS(MPI_File_write_at_all_end(fh, values, &status), MPI_ERR_CONVERSION);
    values[MANY - 7] = -1;
    int wrong = door_rank == door_ranks - 1 ? -1 : count; /* one has no chunks at all */
    CHECK_CLASS(MPI_File_write_at_all(fh, offset, values, wrong, MPI_LONG, &status), MPI_ERR_COUNT);
    CHECK_OK(MPI_File_iwrite_at_all(fh, offset, values, wrong, MPI_LONG, &request));
    CHECK_CLASS(MPI_Wait(&request, &status), MPI_ERR_COUNT);
    CHECK_OK(MPI_File_write_at_all(fh, offset, values, count, MPI_LONG, &status));
    CHECK_EQUAL(counted(&status, MPI_LONG), count);
    CHECK_OK(MPI_File_close(&fh));
    if (door_rank == 0)
        MPI_File_delete(shared, MPI_INFO_NULL);
}

static void check_alone(void)
{
    CHECK_OK(
        MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh));
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        check_case((int64_t)k);
        check_row(&rows[k]);
    }
    check_limits();
    check_rounding();
    check_extents();
    CHECK_OK(MPI_File_close(&fh));
    MPI_File_delete(path, MPI_INFO_NULL);
}

int main(int argc, char **argv)
{
    door_begin(&argc, &argv);
    path = door_path("external32");
    if (door_rank == 0)
        check_alone();
    check_together();
    return MPI_Finalize();
}
