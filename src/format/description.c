/* A description is checked here before anybody multiplies its sizes. */
#include "format/description.h"

#include "base/arith.h"
#include "base/error.h"

#define LIMIT (INT64_C(1) << 62)

static int64_t slice_of(const wr_description *d)
{
    int64_t bytes = weir_type_bytes(d->type);
    for (int i = 1; i < d->dimensions; i++)
        bytes *= d->shape[i];
    return bytes;
}

int64_t wr_description_end(const wr_description *d)
{
    if (!d->record || !d->bytes)
        return d->data_offset + d->bytes;
    return d->data_offset + (d->shape[0] - 1) * d->record + slice_of(d);
}

/* What follows from shape, tile and shard. */
static int settle_tiling(const wr_description *d, wr_tiling *t)
{
    int64_t all;
    t->tile_bytes = weir_type_bytes(d->type);
    t->shards = 1;
    for (int i = 0; i < d->dimensions; i++)
        if (t->tile[i] < 1 || !wr_mul(t->tile_bytes, t->tile[i], &t->tile_bytes) ||
            t->tile_bytes > WR_TILE_MOST)
            return wr_fail(
                WEIR_ERANGE,
                "a chunk of %lld in dimension %d: sizes are 1 or more, of at most %d bytes in all",
                (long long)t->tile[i], i, WR_TILE_MOST);
    t->shard_bytes = t->tile_bytes;
    for (int i = 0; i < d->dimensions; i++) {
        if (t->levels == 1)
            t->shard[i] = t->tile[i];
        if (t->shard[i] < 1 || t->shard[i] % t->tile[i])
            return wr_fail(WEIR_EINVAL,
                           "a shard of %lld in dimension %d is no multiple of a chunk's %lld",
                           (long long)t->shard[i], i, (long long)t->tile[i]);
        if (!wr_mul(t->shard_bytes, t->shard[i] / t->tile[i], &t->shard_bytes) ||
            !wr_mul(t->shards, wr_max(1, wr_div_ceil(d->shape[i], t->shard[i])), &t->shards))
            return wr_fail(WEIR_ERANGE, "too many tiles up to dimension %d", i);
    }
    if (!wr_mul(t->shards, t->shard_bytes, &all) || all >= LIMIT)
        return wr_fail(WEIR_ERANGE, "%lld shards of %lld bytes are too many", (long long)t->shards,
                       (long long)t->shard_bytes);
    return 0;
}

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
    const int64_t bytes = size;
    if (!wr_add(d->data_offset, size, &end) || end >= LIMIT)
        return wr_fail(WEIR_ERANGE, "%lld bytes of elements at offset %lld are too many",
                       (long long)size, (long long)d->data_offset);
    if (d->record && (!d->dimensions || d->columns || d->record < slice_of(d) ||
                      !wr_mul(d->record, d->shape[0] ? d->shape[0] : 1, &size) ||
                      !wr_add(d->data_offset, size, &end) || end >= LIMIT))
        return wr_fail(WEIR_ERANGE, "records of %lld bytes at offset %lld", (long long)d->record,
                       (long long)d->data_offset);
    wr_tiling tiling = d->tiling;
    int code = tiling.levels ? settle_tiling(d, &tiling) : 0;
    if (code)
        return code;
    d->tiling = tiling;
    d->bytes = empty ? 0 : bytes;
    return 0;
}
