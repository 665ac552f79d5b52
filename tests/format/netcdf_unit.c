/* Headers of NetCDF files: what is built is read again; every cut of one, and every byte of one
 * changed, is an error or a sound description. Files of other programs: netcdf_python.py. */
#include <stdio.h>
#include <string.h>

#include "base/arith.h"
#include "base/memory.h"
#include "check.h"
#include "format/netcdf.h"
#include "weir/error.h"

static const int types[] = {WEIR_I1, WEIR_I2, WEIR_I4, WEIR_I8, WEIR_U1,
                            WEIR_U2, WEIR_U4, WEIR_U8, WEIR_F4, WEIR_F8};

static wr_description describe(int type, int dimensions, const int64_t *shape)
{
    wr_description d = {.type = type, .dimensions = dimensions, .data_offset = WR_NETCDF_WRITTEN};
    memcpy(d.shape, shape, (size_t)dimensions * sizeof *shape);
    CHECK(!wr_description_settle(&d));
    return d;
}

static const wr_labels none;

static void check_back(const wr_description *d, const char *name)
{
    char *header;
    int64_t length;
    wr_netcdf found;
    bool cut;
    CHECK(!wr_netcdf_build(d, name, &none, &header, &length));
    CHECK_EQUAL(length, WR_NETCDF_WRITTEN);
    const wr_netcdf_head head = {header, length, d->data_offset + d->bytes};
    CHECK(!wr_netcdf_parse(&head, name, &found, &cut) && !cut);
    const wr_description back = found.what;
    CHECK(!found.labels.attributes && !found.labels.names == !d->dimensions);
    CHECK(!d->dimensions || !strncmp(found.labels.names, "[\"dim_0\"", 8));
    wr_labels_release(&found.labels);
    CHECK(back.type == d->type && back.dimensions == d->dimensions && back.bytes == d->bytes);
    CHECK(!memcmp(back.shape, d->shape, sizeof d->shape));
    CHECK_EQUAL(back.data_offset, WR_NETCDF_WRITTEN);
    CHECK(!back.record || !back.shape[0]);
    CHECK_EQUAL(wr_netcdf_variables(&head), 1);
    CHECK_FAILS(wr_netcdf_parse(&head, "none", &found, &cut), WEIR_ENOENT,
                strlen(name) < 100 ? name : "it has xxx");
    CHECK_FAILS(wr_netcdf_parse(&head, NULL, &found, &cut), WEIR_ENOENT, "FILE:/NAME");
    wr_free(header);
}

static void check_built(void)
{
    rng r = {test_seed()};
    for (int64_t i = 0; i < 300; i++) {
        int64_t shape[WR_DIMENSIONS];
        check_case(i);
        const int dimensions = (int)rng_within(&r, 0, WR_DIMENSIONS);
        for (int k = 0; k < dimensions; k++)
            shape[k] = rng_within(&r, k > 0, k < 2 ? 1 << 20 : 2);
        wr_description d =
            describe(types[rng_within(&r, 0, (int64_t)(sizeof types / sizeof *types) - 1)],
                     dimensions, shape);
        check_back(&d, i % 2 ? "v" : "temperature");
    }
    check_case(-1);
}

static void check_refused(void)
{
    char *header, longest[300];
    int64_t length;
    const int64_t shape[] = {3, 4}, empty[] = {3, 0};
    wr_description d = describe(WEIR_BOOL, 2, shape);
    CHECK_FAILS(wr_netcdf_build(&d, "v", &none, &header, &length), WEIR_EUNSUPPORTED,
                "no type bool");
    d = describe(WEIR_C16, 2, shape);
    CHECK_FAILS(wr_netcdf_build(&d, "v", &none, &header, &length), WEIR_EUNSUPPORTED,
                "no type c16");
    d = describe(WEIR_F8, 2, empty);
    CHECK_FAILS(wr_netcdf_build(&d, "v", &none, &header, &length), WEIR_EUNSUPPORTED, "size 0");
    d = describe(WEIR_F8, 2, shape);
    CHECK_FAILS(wr_netcdf_build(&d, "", &none, &header, &length), WEIR_EINVAL, "no name");
    CHECK_FAILS(wr_netcdf_build(&d, "a/b", &none, &header, &length), WEIR_EINVAL, "no name");
    memset(longest, 'x', sizeof longest);
    longest[257] = 0;
    CHECK_FAILS(wr_netcdf_build(&d, longest, &none, &header, &length), WEIR_EINVAL, "no name");
    longest[256] = 0;
    check_back(&d, longest);
    d.columns = true;
    CHECK_FAILS(wr_netcdf_build(&d, "v", &none, &header, &length), WEIR_EUNSUPPORTED, "by rows");
}

static const wr_labels said = {"{\"a\": [1, 2], \"b\": \"text\", \"c\": 1.5}", "[\"x\", \"y\"]"};

/* What is said of a variable, and what is read again. */
static void check_label(int type, const char *attributes, const char *back)
{
    char *header;
    int64_t length;
    wr_netcdf found;
    bool cut;
    const int64_t shape[] = {3, 3, 4};
    const wr_description d = describe(type, 3, shape);
    const wr_labels given = {(char *)(uintptr_t)attributes, "[\"n\", \"n\", null]"};
    CHECK(!wr_netcdf_build(&d, "v", &given, &header, &length));
    CHECK(length % WR_NETCDF_WRITTEN == 0);
    const wr_netcdf_head head = {header, length, length + d.bytes};
    CHECK(!wr_netcdf_parse(&head, "v", &found, &cut));
    CHECK_EQUAL(found.what.data_offset, length);
    CHECK(!strcmp(found.labels.names, "[\"n\", \"n\", \"dim_2\"]"));
    const char *got = found.labels.attributes ? found.labels.attributes : "";
    check_that(!strcmp(got, back), got, __FILE__, __LINE__);
    wr_labels_release(&found.labels);
    wr_free(header);
}

static void check_labels(void)
{
    static const char *const same[] = {
        "{\"a\": 1}",
        "{\"a\": 1.0}",
        "{\"a\": [1, -2, 3]}",
        "{\"a\": [1.0, NaN, -Infinity]}",
        "{\"a\": []}",
        "{\"a\": \"\"}",
        "{\"a\": \"b\\\\\\\"\\u000a\xc3\xa9\", \"\xc3\xa9\": 2}",
        "{\"a\": -2147483648, \"b\": 2147483647, \"_FillValue\": 7}",
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        check_label(WEIR_I2, same[i], same[i]);
    check_label(WEIR_I2, "{\"a\": 2147483648}", "{\"a\": 2147483648.0}");
    check_label(WEIR_I8, "{\"a\": 2147483648}", "{\"a\": 2147483648}");
    check_label(WEIR_U8, "{\"a\": 18446744073709551615}", "{\"a\": 18446744073709551615}");
    check_label(WEIR_I2, "{\"a\": true, \"b\": null}", "{\"a\": \"true\", \"b\": \"null\"}");
    check_label(WEIR_I2, "{\"a\": [\"b\"]}", "{\"a\": \"[\\\"b\\\"]\"}");
    check_label(WEIR_I2, "{\"a\": {\"b\":[1 ,2]}}", "{\"a\": \"{\\\"b\\\": [1, 2]}\"}");
    check_label(WEIR_I2, "{\"\": 1, \"a/b\": 1, \"a_b\": 2}", "{\"a_b\": 1}");
    check_label(WEIR_I2, "{\"_FillValue\": 70000}", "");
    check_label(WEIR_I2, "{\"_FillValue\": \"x\"}", "");
    check_label(WEIR_F4, "{\"_FillValue\": \"NaN\"}", "{\"_FillValue\": NaN}");
    check_label(WEIR_F4, "{\"_FillValue\": \"AAAAAAAA8D8=\"}", "{\"_FillValue\": 1.0}");
    check_label(WEIR_F8, "{\"valid_range\": [1, 2]}", "{\"valid_range\": [1.0, 2.0]}");
    check_label(WEIR_F8, "{\"a\": \"\\ud83d\\ude00\\ud83d\\u0000\"}",
                "{\"a\": \"\xf0\x9f\x98\x80\xef\xbf\xbd\"}");
}

/* A header as long as it must be; what is longer than can be read back is left out. */
static void check_long(void)
{
    enum { LONG = 100000 };
    char *text = wr_alloc(LONG + 10);
    CHECK(text != NULL);
    memset(text, 'x', LONG + 10);
    memcpy(text, "{\"a\": \"", 7);
    memcpy(text + LONG, "\"}", 3);
    check_label(WEIR_F4, text, text);
    wr_free(text);
}

/* The end of a header is where one byte less is too little. */
static void check_cut(void)
{
    char *header;
    int64_t built;
    const int64_t shape[] = {5, 7};
    const wr_description d = describe(WEIR_F8, 2, shape);
    int64_t whole = 0;
    CHECK(!wr_netcdf_build(&d, "v", &said, &header, &built));
    for (int64_t length = 0; length < 300; length++) {
        wr_netcdf out;
        bool cut;
        const wr_netcdf_head head = {header, length, 5000};
        const int code = wr_netcdf_parse(&head, "v", &out, &cut);
        CHECK(code == 0 || code == WEIR_EFORMAT);
        CHECK(cut == (code && length >= WR_NETCDF_START));
        CHECK(!whole || !code);
        whole = !code && !whole ? length : whole;
        wr_labels_release(&out.labels);
    }
    wr_free(header);
    CHECK(whole > 60 && whole < 250);
}

static void check_changed(void)
{
    char *header;
    int64_t built;
    const int64_t shape[] = {5, 7};
    const wr_description d = describe(WEIR_U8, 2, shape);
    CHECK(!wr_netcdf_build(&d, "v", &said, &header, &built));
    for (int at = 0; at < 300; at++)
        for (int value = 0; value < 256; value += 5) {
            wr_netcdf out;
            bool cut;
            const char before = header[at];
            header[at] = (char)value;
            const wr_netcdf_head head = {header, built, built + 280};
            const int code = wr_netcdf_parse(&head, "v", &out, &cut);
            CHECK(code <= 0);
            if (!code)
                CHECK(wr_description_end(&out.what) >= out.what.data_offset + out.what.bytes);
            wr_labels_release(&out.labels);
            header[at] = before;
        }
    wr_free(header);
}

int main(void)
{
    check_built();
    check_refused();
    check_labels();
    check_long();
    check_cut();
    check_changed();
    return 0;
}
