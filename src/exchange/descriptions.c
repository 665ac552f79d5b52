/* Descriptions written, kept and found again. */
#include "exchange/descriptions.h"

#include <string.h>

#include "base/arith.h"
#include "runtime/world.h"

char *wr_described_put(char *to, wr_described d, const weir_pattern *pattern)
{
    memcpy(to, &d, sizeof d);
    to += sizeof d;
    if (d.same)
        return to;
    int64_t bytes = weir_pattern_footprint(pattern), rest = bytes - (int64_t)sizeof *pattern;
    memcpy(to, pattern, sizeof *pattern); /* which may have been attached to its nodes */
    memcpy(to + sizeof *pattern, pattern->node, (size_t)rest);
    memset(to + bytes, 0, (size_t)(d.bytes - bytes));
    return to + d.bytes;
}

const wr_described *wr_described_next(const wr_described *d)
{
    return (const wr_described *)(const void *)((const char *)(d + 1) + (d->same ? 0 : d->bytes));
}

bool wr_descriptions_hold(const wr_descriptions *d, const weir_pattern *pattern, int64_t begin,
                          int64_t end)
{
    return d->call && begin < end && d->begin == begin && d->end == end &&
           wr_hash_equal(d->hash, pattern->hash);
}

void wr_descriptions_grow(wr_descriptions *d, wr_channel *inner, int64_t bytes)
{
    enum { SMALLEST = 16 << 10 };
    int64_t room = SMALLEST;
    wr_region larger = {0};
    while (room < bytes)
        room *= 2;
    room = wr_min(room, WR_DESCRIBED_BYTES);
    if (d->full || d->region.bytes >= room)
        return;
    int code =
        inner->apart ? wr_region_own(room, &larger) : wr_channel_region(inner, 0, room, &larger);
    if (code) {
        d->full = true;
        return;
    }
    if (d->bytes && (inner->apart || inner->world->transport->local_rank == 0))
        memcpy(larger.base, d->region.base, (size_t)d->bytes);
    wr_region_close(&d->region);
    d->region = larger;
}

void wr_descriptions_keep(wr_descriptions *d, int64_t count, int64_t same, const void *said,
                          void *spare)
{
    const wr_described *s = said, *kept = (const void *)d->region.base;
    char *to = spare;
    if (same == count && count == d->count)
        return;
    for (int64_t i = 0; i < count; i++, s = wr_described_next(s)) {
        wr_described whole = *s;
        const void *pattern = s + 1;
        if (s->same) {
            while (kept->rank != s->rank) /* the order is the same */
                kept = wr_described_next(kept);
            pattern = kept + 1;
            whole.same = 0;
        }
        memcpy(to, &whole, sizeof whole);
        memcpy(to + sizeof whole, pattern, (size_t)whole.bytes);
        to += (int64_t)sizeof whole + whole.bytes;
    }
    d->count = count;
    d->bytes = to - (char *)spare;
    memcpy(d->region.base, spare, (size_t)d->bytes);
}

void wr_descriptions_release(wr_descriptions *d)
{
    wr_region_close(&d->region);
    if (d->messages)
        wr_pages_free(d->messages, WR_MEETING_MEMORY);
    *d = (wr_descriptions){0};
}
