/* A description is checked here before anybody multiplies its sizes. */
#include "format/description.h"

#include "base/arith.h"
#include "base/error.h"

#define LIMIT (INT64_C(1) << 62)

int wr_description_settle(wr_description *d)
{
    int64_t size = weir_type_bytes(d->type), end;
    if (!size)
        return wr_fail(WEIR_EINVAL, "%d is no element type", d->type);
    if (d->dimensions < 0 || d->dimensions > WR_DIMENSIONS)
        return wr_fail(WEIR_EINVAL, "%d dimensions, at most %d are possible", d->dimensions,
                       WR_DIMENSIONS);
    if (d->data_offset < 0)
        return wr_fail(WEIR_EINVAL, "data at offset %lld", (long long)d->data_offset);
    bool empty = false;
    for (int i = 0; i < d->dimensions; i++) {
        if (d->shape[i] < 0)
            return wr_fail(WEIR_EINVAL, "size %lld of dimension %d is negative",
                           (long long)d->shape[i], i);
        empty |= d->shape[i] == 0;
        if (!wr_mul(size, d->shape[i] ? d->shape[i] : 1, &size))
            return wr_fail(WEIR_ERANGE, "dimensions up to %d have too many elements together", i);
    }
    if (!wr_add(d->data_offset, size, &end) || end >= LIMIT)
        return wr_fail(WEIR_ERANGE, "%lld bytes of elements at offset %lld are too many",
                       (long long)size, (long long)d->data_offset);
    d->bytes = empty ? 0 : size;
    return 0;
}
