/* Headers of .npy files: those that NumPy writes and wrote, and those that nobody should. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "format/npy.h"
#include "weir/error.h"

#define BIG_ENDIAN_HERE (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

enum { ROOM = 8192 };

typedef struct header {
    char bytes[ROOM];
    int64_t length;
} header;

/* A header of that version around `dict`, padded with spaces and a newline to a multiple of
 * `align`; 1 adds nothing. */
static header make(int major, const char *dict, int64_t align)
{
    header h = {.bytes = "\x93NUMPY"};
    int64_t first = major == 1 ? 10 : 12, used = first + (int64_t)strlen(dict);
    h.bytes[6] = (char)major;
    memcpy(h.bytes + first, dict, strlen(dict));
    h.length = align == 1 ? used : (used + 1 + align - 1) / align * align;
    memset(h.bytes + used, ' ', (size_t)(h.length - used));
    if (align > 1)
        h.bytes[h.length - 1] = '\n';
    for (int64_t i = 8, rest = h.length - first; i < first; i++, rest >>= 8)
        h.bytes[i] = (char)(rest & 0xff);
    return h;
}

static int parse(const char *dict, wr_description *out)
{
    header h = make(1, dict, 64);
    return wr_npy_parse(h.bytes, h.length, out);
}

static void test_versions(void)
{
    static const char dict[] = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }";
    for (int major = 1; major <= 3; major++)
        for (int64_t align = 1; align <= 4096; align *= 4) {
            header h = make(major, dict, align);
            wr_description d;
            int64_t length;
            CHECK(!wr_npy_measure(h.bytes, WR_NPY_START, &length));
            CHECK_EQUAL(length, h.length);
            CHECK(!wr_npy_parse(h.bytes, h.length, &d));
            CHECK(d.type == WEIR_F8 && !d.columns && d.swapped == BIG_ENDIAN_HERE);
            CHECK(d.dimensions == 2 && d.shape[0] == 3 && d.shape[1] == 4);
            CHECK_EQUAL(d.data_offset, h.length);
            CHECK_EQUAL(d.bytes, 96);
            memset(h.bytes + h.length, 'x', 100);
            CHECK(!wr_npy_parse(h.bytes, h.length + 100, &d));
            CHECK_EQUAL(d.data_offset, h.length);
        }
}

/* As NumPy wrote them, byte for byte. */
static void test_of_numpy(void)
{
    static const char modern[] = "\x93NUMPY\x01\x00v\x00"
                                 "{'descr': '>i4', 'fortran_order': True, 'shape': (2, 3, 5), }"
                                 "                                                        \n";
    static const char python2[] = "\x93NUMPY\x01\x00\x46\x00"
                                  "{'descr': '|b1', 'fortran_order': False, 'shape': (7L, 11L), }"
                                  "       \n";
    wr_description d;
    CHECK_EQUAL(sizeof modern - 1, 128);
    CHECK(!wr_npy_parse(modern, sizeof modern - 1, &d));
    CHECK(d.type == WEIR_I4 && d.columns && d.swapped == !BIG_ENDIAN_HERE && d.bytes == 120);
    CHECK_EQUAL(sizeof python2 - 1, 80);
    CHECK(!wr_npy_parse(python2, sizeof python2 - 1, &d));
    CHECK(d.type == WEIR_BOOL && !d.swapped && d.shape[1] == 11 && d.data_offset == 80);
}

static void test_literals(void)
{
    static const char *const same[] = {
        "{'descr':'<u2','fortran_order':True,'shape':(5,)}",
        "{\"shape\": (5,), \"fortran_order\": True, \"descr\": \"<u2\"}",
        " \t\n{ 'fortran_order' : True,\n 'descr'\t: '<u2' , 'shape' : ( 5L , ) , } \n\n",
    };
    wr_description d;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        CHECK(!parse(same[i], &d));
        CHECK(d.type == WEIR_U2 && d.columns && d.dimensions == 1 && d.shape[0] == 5);
    }
    CHECK(!parse("{'descr': '=f4', 'fortran_order': False, 'shape': ()}", &d));
    CHECK(!d.swapped && d.dimensions == 0 && d.bytes == 4);
    CHECK(!parse("{'descr': 'c16', 'fortran_order': False, 'shape': (0, 3)}", &d));
    CHECK(!d.swapped && d.type == WEIR_C16 && d.bytes == 0);
    CHECK(!parse("{'descr': '>i1', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
                 "1,1)}",
                 &d));
    CHECK(!d.swapped && d.dimensions == 16 && d.bytes == 1);
}

static void test_starts(void)
{
    static const char dict[] = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }";
    header h = make(1, dict, 64), wide = make(2, dict, 64);
    int64_t length;
    wr_description d;
    CHECK_FAILS(wr_npy_measure("", 0, &length), WEIR_EFORMAT, "not a .npy file");
    CHECK_FAILS(wr_npy_measure("\x89HDF\r\n\x1a\n....", 12, &length), WEIR_EFORMAT, "not a .npy");
    CHECK_FAILS(wr_npy_measure(h.bytes, 9, &length), WEIR_EFORMAT, "ends at byte 9");
    CHECK_FAILS(wr_npy_measure(h.bytes, 10, &length), WEIR_EFORMAT, "ends at byte 10");
    CHECK_FAILS(wr_npy_measure(wide.bytes, 11, &length), WEIR_EFORMAT, "ends at byte 11");
    for (int64_t cut = 0; cut < h.length; cut++)
        CHECK(wr_npy_parse(h.bytes, cut, &d) == WEIR_EFORMAT);
    h.bytes[7] = 1;
    CHECK_FAILS(wr_npy_parse(h.bytes, h.length, &d), WEIR_EFORMAT, "version 1.1");
    h.bytes[6] = 4;
    CHECK_FAILS(wr_npy_parse(h.bytes, h.length, &d), WEIR_EFORMAT, "version 4.1");
    wide.bytes[11] = 0x7f;
    CHECK_FAILS(wr_npy_parse(wide.bytes, wide.length, &d), WEIR_EFORMAT, "at most 1048576");
}

/* The head and tail are right, so that a case is one value. */
static void refused(const char *format, const char *value, int code, const char *text)
{
    char dict[512];
    wr_description d, before;
    memset(&d, 0x55, sizeof d);
    before = d;
    snprintf(dict, sizeof dict, format, value);
    CHECK_FAILS(parse(dict, &d), code, text);
    CHECK(!memcmp(&d, &before, sizeof d));
}

static void test_types_refused(void)
{
    static const char format[] = "{'descr': %s, 'fortran_order': False, 'shape': (2,), }";
    refused(format, "'|O'", WEIR_EUNSUPPORTED, "'|O' are Python objects (byte 20)");
    refused(format, "[('a', '<f8'), ('b', '<i4')]", WEIR_EUNSUPPORTED, "structures (byte 20)");
    refused(format, "('<f8', (2,))", WEIR_EUNSUPPORTED, "structures");
    refused(format, "'<M8[ns]'", WEIR_EUNSUPPORTED, "dates");
    refused(format, "'<m8'", WEIR_EUNSUPPORTED, "spans of time");
    refused(format, "'|S5'", WEIR_EUNSUPPORTED, "strings");
    refused(format, "'<U5'", WEIR_EUNSUPPORTED, "strings");
    refused(format, "'|V16'", WEIR_EUNSUPPORTED, "raw bytes");
    refused(format, "'<f16'", WEIR_EUNSUPPORTED, "long doubles");
    refused(format, "'<c32'", WEIR_EUNSUPPORTED, "long doubles");
    refused(format, "'<i3'", WEIR_EFORMAT, "'<i3' is no type at byte 20");
    refused(format, "'<bool'", WEIR_EFORMAT, "no type");
    refused(format, "''", WEIR_EFORMAT, "no type");
    refused(format, "'<'", WEIR_EFORMAT, "no type");
    refused(format, "'<<f8'", WEIR_EFORMAT, "no type");
    refused(format, "'\n\x01 and a great many letters more'", WEIR_EFORMAT,
            "'?? and a great many l...");
    refused(format, "8", WEIR_EFORMAT, "'descr' is no string at byte 20");
    refused(format, "'<f8", WEIR_EFORMAT, "'<f8, ' is no type");
}

static void test_shapes_refused(void)
{
    static const char format[] = "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }";
    refused(format, "(-1,)", WEIR_EFORMAT, "negative size at byte 61");
    refused(format, "(3, -4)", WEIR_EFORMAT, "negative size at byte 64");
    refused(format, "(9223372036854775808,)", WEIR_ERANGE, "too large");
    refused(format, "(99999999999999999999999999, 0)", WEIR_ERANGE, "byte 61 is too large");
    refused(format, "(576460752303423488,)", WEIR_ERANGE, "too many");
    refused(format, "(4294967296, 4294967296, 4)", WEIR_ERANGE, "too many");
    refused(format, "(4294967296, 4294967296, 0)", WEIR_ERANGE, "too many");
    refused(format, "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)", WEIR_EUNSUPPORTED, "16 dimensions");
    refused(format, "(5)", WEIR_EFORMAT, "no tuple");
    refused(format, "5", WEIR_EFORMAT, "no tuple");
    refused(format, "[3, 4]", WEIR_EFORMAT, "no tuple");
    refused(format, "(,)", WEIR_EFORMAT, "no size");
    refused(format, "(3 4)", WEIR_EFORMAT, "no comma between sizes");
    refused(format, "(3,,4)", WEIR_EFORMAT, "no size");
    refused(format, "(3.5,)", WEIR_EFORMAT, "no comma between sizes");
    refused(format, "(03,)", WEIR_EFORMAT, "begins with 0");
    refused(format, "(3LL,)", WEIR_EFORMAT, "no comma");
    refused(format, "(3, 4", WEIR_EFORMAT, "no size");
}

static void test_dicts_refused(void)
{
    refused("%s", "", WEIR_EFORMAT, "no dict");
    refused("%s", "[1]", WEIR_EFORMAT, "no dict at byte 10");
    refused("%s", "{}", WEIR_EFORMAT, "no key 'descr'");
    refused("%s", "{'descr': '<f8', 'shape': (1,)}", WEIR_EFORMAT, "no key 'fortran_order'");
    refused("%s", "{'descr': '<f8', 'fortran_order': False}", WEIR_EFORMAT, "no key 'shape'");
    refused("%s", "{'descr': '<f8', 'descr': '<f8'}", WEIR_EFORMAT, "'descr' for the second time");
    refused("%s", "{'order': '<f8'}", WEIR_EFORMAT, "'order' is unknown");
    refused("%s", "{'desc", WEIR_EFORMAT, "string without an end");
    refused("%s", "{,}", WEIR_EFORMAT, "no key");
    refused("%s", "{'descr'}", WEIR_EFORMAT, "no colon");
    refused("%s", "{'descr' '<f8'}", WEIR_EFORMAT, "no colon");
    refused("{'descr': '<f8', 'fortran_order': %s, 'shape': (2,)}", "0", WEIR_EFORMAT,
            "neither True nor False at byte 44");
    refused("{'descr': '<f8', 'fortran_order': %s, 'shape': (2,)}", "Falsely", WEIR_EFORMAT,
            "neither comma nor end");
    refused("{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}%s", " x", WEIR_EFORMAT,
            "after the dict at byte 66");
    refused("{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}%s", "}", WEIR_EFORMAT,
            "after the dict");
    header h = make(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", 64);
    wr_description d;
    h.bytes[h.length - 1] = '\0';
    CHECK_FAILS(wr_npy_parse(h.bytes, h.length, &d), WEIR_EFORMAT, "after the dict");
}

static void test_build_text(void)
{
    char bytes[WR_NPY_WRITTEN];
    wr_description d = {.type = WEIR_F8, .dimensions = 2, .shape = {3, 4}, .swapped = true};
    CHECK(!wr_npy_build(&d, bytes));
    CHECK(!memcmp(bytes, "\x93NUMPY\x01\x00\xf6\x0f", 10));
    const char *wanted = BIG_ENDIAN_HERE
                             ? "{'descr': '>f8', 'fortran_order': False, 'shape': (3, 4), }"
                             : "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }";
    CHECK(!memcmp(bytes + 10, wanted, strlen(wanted)));
    for (size_t i = 10 + strlen(wanted); i < WR_NPY_WRITTEN - 1; i++)
        CHECK_EQUAL(bytes[i], ' ');
    CHECK_EQUAL(bytes[WR_NPY_WRITTEN - 1], '\n');
    CHECK(d.data_offset == WR_NPY_WRITTEN && !d.swapped && d.bytes == 96);
    d = (wr_description){.type = WEIR_BOOL, .dimensions = 1, .shape = {5}, .columns = true};
    CHECK(!wr_npy_build(&d, bytes));
    wanted = "{'descr': '|b1', 'fortran_order': True, 'shape': (5,), }";
    CHECK(!memcmp(bytes + 10, wanted, strlen(wanted)));
}

static void test_build_all(void)
{
    char bytes[WR_NPY_WRITTEN];
    for (int type = WEIR_BOOL; type <= WEIR_C16; type++)
        for (int dimensions = 0; dimensions <= WR_DIMENSIONS; dimensions++) {
            wr_description d = {.type = type, .dimensions = dimensions}, back;
            for (int i = 0; i < dimensions; i++)
                d.shape[i] = i % 3 + 1;
            d.columns = dimensions % 2;
            CHECK(!wr_npy_build(&d, bytes));
            CHECK(!wr_npy_parse(bytes, sizeof bytes, &back));
            CHECK(back.type == type && back.dimensions == dimensions && !back.swapped);
            CHECK(!memcmp(back.shape, d.shape, sizeof d.shape) && back.columns == d.columns);
            CHECK(back.bytes == d.bytes && back.data_offset == WR_NPY_WRITTEN);
        }
}

static void test_build_refused(void)
{
    char bytes[WR_NPY_WRITTEN];
    wr_description d = {.type = 99};
    CHECK_FAILS(wr_npy_build(&d, bytes), WEIR_EINVAL, "99 is no element type");
    d = (wr_description){.type = WEIR_I1, .dimensions = 17};
    CHECK_FAILS(wr_npy_build(&d, bytes), WEIR_EINVAL, "17 dimensions");
    d = (wr_description){.type = WEIR_I1, .dimensions = 2, .shape = {2, -1}};
    CHECK_FAILS(wr_npy_build(&d, bytes), WEIR_EINVAL, "size -1 of dimension 1");
    /* the header itself brings it over the limit */
    d = (wr_description){.type = WEIR_I1, .dimensions = 1, .shape = {(INT64_C(1) << 62) - 1}};
    CHECK(!wr_description_settle(&d));
    CHECK_FAILS(wr_npy_build(&d, bytes), WEIR_ERANGE, "too many");
    CHECK_EQUAL(d.data_offset, 0);
    d.data_offset = -1;
    CHECK_FAILS(wr_description_settle(&d), WEIR_EINVAL, "offset -1");
}

static void test_names(void)
{
    for (int type = WEIR_BOOL; type <= WEIR_C16; type++) {
        CHECK_EQUAL(weir_type_find(weir_type_name(type)), type);
        CHECK(weir_type_bytes(type) > 0);
    }
    CHECK_EQUAL(weir_type_find("<f8"), WEIR_F8);
    CHECK_EQUAL(weir_type_find(">c16"), WEIR_C16);
    CHECK_EQUAL(weir_type_find("|b1"), WEIR_BOOL);
    CHECK_EQUAL(weir_type_find("=i2"), WEIR_I2);
    CHECK(!weir_type_find("") && !weir_type_find("<") && !weir_type_find("f16"));
    CHECK(!weir_type_bytes(0) && !weir_type_bytes(-1) && !weir_type_bytes(WEIR_C16 + 1));
    CHECK(!strcmp(weir_type_name(0), "?") && !weir_type_find("?"));
}

int main(void)
{
    test_names();
    test_versions();
    test_of_numpy();
    test_literals();
    test_starts();
    test_types_refused();
    test_shapes_refused();
    test_dicts_refused();
    test_build_text();
    test_build_all();
    test_build_refused();
    return 0;
}
