/* Headers of NetCDF files: what is built is read again; every cut of one, and every byte of one
 * changed, is an error or a sound description. Files of other programs: netcdf_python.py. */
#include <stdio.h>
#include <string.h>

#include "base/arith.h"
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

static void check_back(const wr_description *d, const char *name)
{
    char header[WR_NETCDF_WRITTEN];
    wr_description back;
    bool cut;
    CHECK(!wr_netcdf_build(d, name, header));
    const wr_netcdf_head head = {header, sizeof header, d->data_offset + d->bytes};
    CHECK(!wr_netcdf_parse(&head, name, &back, &cut) && !cut);
    CHECK(back.type == d->type && back.dimensions == d->dimensions && back.bytes == d->bytes);
    CHECK(!memcmp(back.shape, d->shape, sizeof d->shape));
    CHECK_EQUAL(back.data_offset, WR_NETCDF_WRITTEN);
    CHECK(!back.record || !back.shape[0]);
    CHECK_EQUAL(wr_netcdf_variables(&head), 1);
    CHECK_FAILS(wr_netcdf_parse(&head, "none", &back, &cut), WEIR_ENOENT,
                strlen(name) < 100 ? name : "it has xxx");
    CHECK_FAILS(wr_netcdf_parse(&head, NULL, &back, &cut), WEIR_ENOENT, "FILE:/NAME");
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
    char header[WR_NETCDF_WRITTEN], longest[300];
    const int64_t shape[] = {3, 4}, empty[] = {3, 0};
    wr_description d = describe(WEIR_BOOL, 2, shape);
    CHECK_FAILS(wr_netcdf_build(&d, "v", header), WEIR_EUNSUPPORTED, "no type bool");
    d = describe(WEIR_C16, 2, shape);
    CHECK_FAILS(wr_netcdf_build(&d, "v", header), WEIR_EUNSUPPORTED, "no type c16");
    d = describe(WEIR_F8, 2, empty);
    CHECK_FAILS(wr_netcdf_build(&d, "v", header), WEIR_EUNSUPPORTED, "size 0");
    d = describe(WEIR_F8, 2, shape);
    CHECK_FAILS(wr_netcdf_build(&d, "", header), WEIR_EINVAL, "no name");
    CHECK_FAILS(wr_netcdf_build(&d, "a/b", header), WEIR_EINVAL, "no name");
    memset(longest, 'x', sizeof longest);
    longest[257] = 0;
    CHECK_FAILS(wr_netcdf_build(&d, longest, header), WEIR_EINVAL, "no name");
    longest[256] = 0;
    check_back(&d, longest);
    d.columns = true;
    CHECK_FAILS(wr_netcdf_build(&d, "v", header), WEIR_EUNSUPPORTED, "by rows");
}

/* The end of a header is where one byte less is too little. */
static void check_cut(void)
{
    char header[WR_NETCDF_WRITTEN];
    const int64_t shape[] = {5, 7};
    const wr_description d = describe(WEIR_F8, 2, shape);
    int64_t whole = 0;
    CHECK(!wr_netcdf_build(&d, "v", header));
    for (int64_t length = 0; length < 300; length++) {
        wr_description out;
        bool cut;
        const wr_netcdf_head head = {header, length, 5000};
        const int code = wr_netcdf_parse(&head, "v", &out, &cut);
        CHECK(code == 0 || code == WEIR_EFORMAT);
        CHECK(cut == (code && length >= WR_NETCDF_START));
        CHECK(!whole || !code);
        whole = !code && !whole ? length : whole;
    }
    CHECK(whole > 60 && whole < 200);
}

static void check_changed(void)
{
    char header[WR_NETCDF_WRITTEN];
    const int64_t shape[] = {5, 7};
    const wr_description d = describe(WEIR_U8, 2, shape);
    for (int at = 0; at < 200; at++)
        for (int value = 0; value < 256; value += 5) {
            wr_description out;
            bool cut;
            CHECK(!wr_netcdf_build(&d, "v", header));
            header[at] = (char)value;
            const wr_netcdf_head head = {header, sizeof header, sizeof header + 280};
            const int code = wr_netcdf_parse(&head, "v", &out, &cut);
            CHECK(code <= 0);
            if (!code)
                CHECK(wr_description_end(&out) >= out.data_offset + out.bytes);
        }
}

int main(void)
{
    check_built();
    check_refused();
    check_cut();
    check_changed();
    return 0;
}
