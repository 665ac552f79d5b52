/* Fuzz target: whatever bytes arrive, parsing them as a .npy header either fails with an error or
 * gives a sound description, which a header built from it says again. */
#include <string.h>

#include "base/arith.h"
#include "check.h"
#include "format/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define LIMIT (INT64_C(1) << 62)

/* A1, in other words than those of the library. */
static void check_sound(const wr_description *d)
{
    int64_t bytes = weir_type_bytes(d->type), partial = bytes;
    CHECK(bytes > 0 && d->dimensions >= 0 && d->dimensions <= WR_DIMENSIONS);
    for (int i = 0; i < d->dimensions; i++) {
        CHECK(d->shape[i] >= 0);
        bytes *= d->shape[i];
        CHECK(wr_mul(partial, wr_max(d->shape[i], 1), &partial));
    }
    CHECK(bytes == d->bytes && d->data_offset > 0 && d->data_offset < LIMIT - partial);
}

static void check_again(const wr_description *d)
{
    char header[WR_NPY_WRITTEN];
    wr_description built = *d, back;
    int code = wr_npy_build(&built, header);
    if (code) { /* a longer header may push the data over the limit */
        CHECK(code == WEIR_ERANGE && d->data_offset < WR_NPY_WRITTEN);
        return;
    }
    CHECK(!wr_npy_parse(header, sizeof header, &back));
    CHECK(back.type == d->type && back.columns == d->columns && back.bytes == d->bytes);
    CHECK(back.dimensions == d->dimensions && !back.swapped);
    CHECK(!memcmp(back.shape, d->shape, sizeof d->shape));
    CHECK_EQUAL(back.data_offset, WR_NPY_WRITTEN);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    wr_description d;
    int64_t length;
    int code = wr_npy_parse(bytes, (int64_t)size, &d);
    if (code) {
        CHECK(code == weir_error_last()->code && !strchr(weir_error_last()->text, '\n'));
        CHECK(code == WEIR_EFORMAT || code == WEIR_EUNSUPPORTED || code == WEIR_ERANGE);
        return 0;
    }
    CHECK(!wr_npy_measure(bytes, (int64_t)size, &length));
    CHECK(length == d.data_offset && length <= (int64_t)size);
    check_sound(&d);
    check_again(&d);
    return 0;
}
