/* Fuzz target: whatever bytes arrive, parsing them as a NetCDF header either fails with an error or
 * gives a sound description. The first byte says how long the file claims to be, the rest is its
 * beginning. */
#include <string.h>

#include "base/arith.h"
#include "check.h"
#include "format/json.h"
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

/* Of a list with so many items. */
static void check_json(const char *text, char kind, int items)
{
    wr_json root;
    if (!text)
        return;
    CHECK(strlen(text) < WR_LABELS_LONGEST && !wr_json_check(text, (int64_t)strlen(text), &root));
    CHECK(wr_json_kind(root) == kind && (items < 0 || wr_json_count(root) == items));
}

static void try_name(const wr_netcdf_head *head, const char *name)
{
    wr_netcdf found;
    bool cut;
    int code = wr_netcdf_parse(head, name, &found, &cut);
    if (!code) {
        CHECK(!cut && name);
        check_sound(&found.what);
        check_json(found.labels.attributes, '{', -1);
        check_json(found.labels.names, '[', found.what.dimensions);
        wr_labels_release(&found.labels);
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
