/* Fuzz target: whatever bytes arrive, parsing them as a NetCDF header either fails with an error or
 * gives a sound description. The first byte says how long the file claims to be, the rest is its
 * beginning. */
#include <string.h>

#include "base/arith.h"
#include "check.h"
#include "format/netcdf.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define LIMIT (INT64_C(1) << 62)

/* A1, in other words than those of the library. */
static void check_sound(const wr_description *d)
{
    int64_t bytes = weir_type_bytes(d->type), slice = bytes;
    CHECK(bytes > 0 && d->dimensions >= 0 && d->dimensions <= WR_DIMENSIONS);
    for (int i = 0; i < d->dimensions; i++) {
        CHECK(d->shape[i] >= 0);
        bytes *= d->shape[i];
        slice *= i ? d->shape[i] : 1;
    }
    CHECK(bytes == d->bytes && d->data_offset >= 0 && d->data_offset < LIMIT - bytes);
    CHECK(!d->columns && d->format == WEIR_NETCDF);
    CHECK(!d->record || d->record >= slice);
    CHECK(wr_description_end(d) >= d->data_offset + bytes && wr_description_end(d) < LIMIT);
}

static void try_name(const wr_netcdf_head *head, const char *name)
{
    wr_description d;
    bool cut;
    int code = wr_netcdf_parse(head, name, &d, &cut);
    if (!code) {
        CHECK(!cut && name);
        check_sound(&d);
        return;
    }
    CHECK(code == weir_error_last()->code && !strchr(weir_error_last()->text, '\n'));
    CHECK(code == WEIR_EFORMAT || code == WEIR_EUNSUPPORTED || code == WEIR_ERANGE ||
          code == WEIR_ENOENT);
    CHECK(!cut || (code == WEIR_EFORMAT && head->length < head->size));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (!size)
        return 0;
    wr_netcdf_head head = {bytes + 1, (int64_t)size - 1, (int64_t)(size - 1) << (*bytes & 31)};
    static const char *const names[] = {"a", "r", "q", "b", "s", "v", "", NULL};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        try_name(&head, names[i]);
    CHECK(wr_netcdf_variables(&head) >= -1);
    return 0;
}
