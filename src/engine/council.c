/* Councils. What a rank says stands in its lane until the exchange after the next. */
#include "engine/council.h"

#include <string.h>

#include "base/arith.h"
#include "engine/idle.h"
#include "transport/region.h"

_Static_assert(WR_COUNCIL_VALUES * sizeof(int64_t) <= WR_LANE, "values fit a lane");
_Static_assert(sizeof(weir_error) <= WR_LANE, "an error fits a lane");

static bool by_messages(const wr_channel *c)
{
    return (!c->inner && c->world->transport->nodes > 1) || c->apart;
}

static char *own_lane(const wr_channel *c)
{
    return wr_channel_lane(c, c->turn, c->world->transport->local_rank);
}

static uint32_t exchange(wr_channel *c)
{
    wr_waiter waiter = wr_transport_waiter(c->world->transport, true);
    return wr_channel_exchange(c, &waiter);
}

int wr_council_reduce(wr_channel *c, enum wr_reduction reduction, int count, int64_t *values)
{
    wr_transport *t = c->world->transport;
    size_t bytes = (size_t)count * sizeof *values;
    if (count > WR_COUNCIL_VALUES)
        return wr_fail(WEIR_EINVAL, "%d values in a council", count);
    if (by_messages(c))
        return wr_allreduce(t, c->tag, reduction, count, values);
    memcpy(own_lane(c), values, bytes);
    uint32_t turn = exchange(c);
    for (int rank = 0; rank < t->local_size; rank++) {
        int64_t theirs[WR_COUNCIL_VALUES];
        memcpy(theirs, wr_channel_lane(c, turn, rank), bytes);
        for (int i = 0; rank != t->local_rank && i < count; i++)
            wr_combine(reduction, &values[i], theirs[i]);
    }
    return 0;
}

int wr_council_sums(wr_channel *c, int count, const int64_t *values, int64_t *before,
                    int64_t *total)
{
    wr_transport *t = c->world->transport;
    size_t bytes = (size_t)count * sizeof *values;
    if (count > WR_COUNCIL_VALUES)
        return wr_fail(WEIR_EINVAL, "%d values in a council", count);
    memcpy(total, values, bytes);
    if (by_messages(c)) {
        int code = wr_sum_before(t, c->tag, count, values, before);
        return code ? code : wr_allreduce(t, c->tag, WR_SUM, count, total);
    }
    memcpy(own_lane(c), values, bytes);
    memset(before, 0, bytes);
    memset(total, 0, bytes);
    uint32_t turn = exchange(c);
    for (int rank = 0; rank < t->local_size; rank++) {
        int64_t theirs[WR_COUNCIL_VALUES];
        memcpy(theirs, wr_channel_lane(c, turn, rank), bytes);
        for (int i = 0; i < count; i++) {
            total[i] += theirs[i];
            before[i] += rank < t->local_rank ? theirs[i] : 0;
        }
    }
    return 0;
}

/* Nobody else speaks, so all lanes are the first rank's. */
int wr_council_tell(wr_channel *c, void *data, int64_t bytes)
{
    wr_transport *t = c->world->transport;
    if (by_messages(c))
        return wr_broadcast(t, c->tag, data, bytes);
    for (int64_t at = 0, part; at < bytes; at += part) {
        part = wr_min(bytes - at, (int64_t)t->local_size * WR_LANE);
        if (t->local_rank == 0)
            memcpy(wr_channel_lane(c, c->turn, 0), (char *)data + at, (size_t)part);
        uint32_t turn = exchange(c);
        if (t->local_rank)
            memcpy((char *)data + at, wr_channel_lane(c, turn, 0), (size_t)part);
    }
    return 0;
}

int wr_council_agree(wr_channel *c, int code)
{
    wr_transport *t = c->world->transport;
    if (by_messages(c))
        return wr_agree(t, c->tag, code);
    weir_error said = {0};
    if (code) {
        said = *weir_error_last();
        said.code = code;
        said.rank = said.rank < 0 ? t->rank : said.rank;
        memcpy(own_lane(c), &said, sizeof said);
    } else {
        memcpy(own_lane(c), &said.code, sizeof said.code); /* the first member */
    }
    uint32_t turn = exchange(c);
    for (int rank = 0; rank < t->local_size; rank++) {
        const char *lane = wr_channel_lane(c, turn, rank);
        memcpy(&said.code, lane, sizeof said.code);
        if (said.code > 0) /* no code: the lane of another kind of call */
            return wr_fail(WEIR_EDISAGREE, "rank %d makes another collective call", t->local[rank]);
        if (said.code) {
            memcpy(&said, lane, sizeof said);
            return wr_error_raise(&said);
        }
    }
    return 0;
}

static int open_kind(wr_channel *c, enum wr_region_kind kind, wr_region *region)
{
    wr_segment segment = {0};
    bool first = c->world->transport->local_rank == 0;
    int64_t bytes = region->bytes;
    int code = first ? wr_segment_create(kind, &c->world->tunables, bytes, &segment, region) : 0;
    bool created = first && !code;
    segment.number = first ? ++c->world->numbers : 0;
    code = wr_council_agree(c, code);
    if (!code) {
        code = wr_council_tell(c, &segment, sizeof segment);
        if (!code && !first)
            code = wr_segment_open(&segment, bytes, region);
        code = wr_council_agree(c, code);
    }
    if (created)
        wr_segment_hide(&segment);
    region->number = segment.number;
    return code;
}

int wr_council_region(wr_channel *c, int code, int64_t bytes, wr_region *out)
{
    wr_transport *t = c->world->transport;
    code = c->apart ? WR_NO_REGION : wr_council_agree(c, code);
    if (code)
        return code;
    if (t->local_size == 1) {
        code = wr_region_own(bytes, out);
        out->number = ++c->world->numbers;
        return code;
    }
    for (int tries = 0; tries < 2; tries++) {
        enum wr_region_kind kind = wr_region_first(t, &c->world->tunables);
        for (; kind < WR_REGION_KINDS; kind++) {
            wr_region region = {.bytes = bytes};
            if (!open_kind(c, kind, &region)) {
                *out = region;
                return 0;
            }
            wr_region_close(&region);
        }
        wr_idle_drop(&c->world->process->idle, 0);
        wr_council_agree(c, 0); /* all have done so */
    }
    return WR_NO_REGION;
}
