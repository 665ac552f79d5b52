/* What is said of an array, between JSON, Zarr and numbers; without memory nothing is left. */
#include "format/labels.h"

#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "check.h"
#include "format/json_text.h"
#include "format/netcdf.h"
#include "weir/error.h"

static wr_zarr zarr_of(int version, int type)
{
    wr_zarr z = {.version = version, .what = {.type = type, .dimensions = 2, .shape = {3, 4}}};
    return z;
}

static void check_text(const char *got, const char *wanted)
{
    check_that(!strcmp(got ? got : "", wanted), got ? got : "nothing", __FILE__, __LINE__);
}

/* As a version of Zarr has it, and what comes back of it. */
static void check_zarr(int version, const wr_labels *given, const char *attributes,
                       const char *back)
{
    wr_zarr z = zarr_of(version, WEIR_F4);
    wr_labels found;
    CHECK(!wr_labels_to_zarr(given, &z));
    check_text(z.attributes, attributes);
    CHECK(!wr_labels_from_zarr(&z, z.attributes, &found));
    check_text(found.attributes, back);
    wr_labels_release(&found);
    wr_zarr_release(&z);
}

static void check_both(void)
{
    char attributes[] = "{\"a\": \"\xc3\xa9\", \"b\": [NaN, 1], \"_FillValue\": 1.0}";
    char names[] = "[\"x\", null]";
    const wr_labels given = {attributes, names};
    check_zarr(3, &given,
               "{\"a\": \"\\u00e9\", \"b\": [\"NaN\", 1], \"_FillValue\": \"AAAAAAAA8D8=\"}",
               "{\"a\": \"\\u00e9\", \"b\": [NaN, 1], \"_FillValue\": 1.0}");
    check_zarr(2, &given,
               "{\"a\": \"\\u00e9\", \"b\": [NaN, 1], \"_FillValue\": 1.0, "
               "\"_ARRAY_DIMENSIONS\": [\"x\", \"dim_1\"]}",
               "{\"a\": \"\\u00e9\", \"b\": [NaN, 1], \"_FillValue\": 1.0}");
    check_zarr(3, &(wr_labels){0}, "", "");
    check_zarr(2, &(wr_labels){0}, "", "");
}

/* What others have in .zattrs. */
static void check_file(const char *file, const char *attributes, const char *names)
{
    const wr_zarr z = zarr_of(2, WEIR_I4);
    wr_labels found;
    CHECK(!wr_labels_from_zarr(&z, file, &found));
    check_text(found.attributes, attributes);
    check_text(found.names, names);
    wr_labels_release(&found);
}

static void check_files(void)
{
    check_file(NULL, "", "");
    check_file("", "", "");
    check_file("{", "", "");
    check_file("[1, 2]", "", "");
    check_file("7", "", "");
    check_file("\n{ }\n", "", "");
    check_file("{\n  \"a\" : {\"b\":\t[1 , \"c d\"]}\n}", "{\"a\": {\"b\": [1, \"c d\"]}}", "");
    check_file("{\"_ARRAY_DIMENSIONS\": [\"y\",\"x\"]}", "", "[\"y\", \"x\"]");
    check_file("{\"_ARRAY_DIMENSIONS\": [\"y\"]}", "", "");
    check_file("{\"_ARRAY_DIMENSIONS\": [1, 2], \"a\": 1}", "{\"a\": 1}", "");
}

static void check_names(const char *names, const char *first, const char *second, bool square)
{
    wr_description d = {.dimensions = 2, .shape = {3, square ? 3 : 4}};
    const wr_labels given = {NULL, (char *)(uintptr_t)names};
    wr_names n;
    CHECK(!wr_names_list(&given, &d, &n));
    check_text(n.name[0], first);
    check_text(n.name[1], second);
    CHECK_EQUAL(n.first[1], strcmp(first, second) != 0);
}

static void check_all_names(void)
{
    check_names(NULL, "dim_0", "dim_1", false);
    check_names("[\"x\", \"x\"]", "x", "x", true);
    check_names("[\"x\", \"x\"]", "x", "dim_1", false);
    check_names("[\"dim_1\", null]", "dim_1", "dim_2", false);
    check_names("[\"a/b\", \"\\u000a\"]", "dim_0", "dim_1", false);
    check_names("[\"\", \"\\ud83d\\ude00\"]", "dim_0", "\xf0\x9f\x98\x80", false);
}

/* Bytes of no character are Latin-1; whatever bytes they are, they come back as UTF-8. */
static void check_strings(void)
{
    rng r = {test_seed()};
    for (int64_t i = 0; i < 2000; i++) {
        char bytes[8];
        wr_json root = {0};
        wr_text quoted = {.name = "a string", .most = 1000}, plain = quoted, again = quoted;
        const int64_t count = rng_within(&r, 0, sizeof bytes);
        check_case(i);
        for (int64_t k = 0; k < count; k++)
            bytes[k] = (char)rng_within(&r, i % 2 ? 1 : 0x80, i % 2 ? 0x7f : 0xff);
        wr_json_quote(bytes, count, &quoted);
        CHECK(!quoted.code && !wr_json_check(quoted.bytes, quoted.used, &root));
        wr_json_unquote(root, &plain);
        CHECK(i % 2 == 0 ||
              (plain.used == count && (!count || !memcmp(plain.bytes, bytes, (size_t)count))));
        wr_json_quote(plain.bytes ? plain.bytes : "", plain.used, &again);
        CHECK(again.used == quoted.used && !memcmp(again.bytes, quoted.bytes, (size_t)again.used));
        wr_free(again.bytes);
        wr_free(plain.bytes);
        wr_free(quoted.bytes);
    }
    check_case(-1);
}

static int all_ways(const wr_labels *given)
{
    const wr_description d = {.type = WEIR_F4, .dimensions = 2, .shape = {3, 4}, .bytes = 48};
    wr_zarr z = zarr_of(3, WEIR_F4);
    wr_labels copy = {0}, found = {0};
    char *header = NULL;
    int64_t length;
    int code = wr_labels_copy(given, true, &copy);
    if (!code)
        code = wr_labels_to_zarr(given, &z);
    if (!code)
        code = wr_labels_from_zarr(&z, NULL, &found);
    if (!code)
        code = wr_netcdf_build(&d, "v", given, &header, &length);
    if (!code) {
        const wr_netcdf_head head = {header, length, length + d.bytes};
        wr_netcdf read;
        bool cut;
        code = wr_netcdf_parse(&head, "v", &read, &cut);
        wr_labels_release(&read.labels);
    }
    wr_free(header);
    wr_labels_release(&copy);
    wr_labels_release(&found);
    wr_zarr_release(&z);
    return code;
}

static void check_faults(void)
{
    char attributes[] = "{\"a\": [1, 2], \"b\": \"c\", \"d\": {}, \"_FillValue\": 7.0}";
    char names[] = "[\"x\", \"y\"]";
    const wr_labels given = {attributes, names};
    int code = WEIR_ENOMEM;
    for (int64_t skip = 0; code; skip++) {
        CHECK(skip < 1000);
        wr_alloc_fail_after(skip);
        code = all_ways(&given);
        CHECK(!code || code == WEIR_ENOMEM);
    }
    wr_alloc_fail_after(-1);
}

int main(void)
{
    check_both();
    check_files();
    check_all_names();
    check_strings();
    check_faults();
    return 0;
}
