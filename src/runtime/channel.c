/* Channels. What a rank says stands in its lane until the exchange after the next. */
#include "runtime/channel.h"

#include <string.h>

#include "base/arith.h"
#include "base/timer.h"
#include "runtime/world.h"
#include "transport/region.h"

enum { FIRST_TAG = WR_TAG_SPAN };

_Static_assert(FIRST_TAG + WR_MAX_CHANNELS * WR_TAG_SPAN <= WR_TAG_ALLTOALL, "tags fit");

/* Channels next to each other, in memory that ranks share or not. */
typedef struct wr_channel_memory {
    wr_region memory;
    bool apart;
} wr_channel_memory;

/* Of its own barrier and lanes, and of its inner channel's. */
static int64_t half_bytes(const wr_transport *t)
{
    return (int64_t)sizeof(wr_barrier) + 2 * (int64_t)t->local_size * WR_LANE;
}

static int64_t channel_bytes(const wr_transport *t)
{
    return 2 * half_bytes(t) + WR_SCRATCH;
}

/* [collective] Shared memory on every node, or why there is none; on failure *out is as it was. */
static int share(wr_world *w, int64_t bytes, wr_region *out)
{
    wr_region region = {0};
    int code = wr_region_open(w->transport, WR_TAG_WORLD, &w->tunables, bytes, &region);
    code = wr_agree(w->transport, WR_TAG_WORLD, code);
    if (code)
        wr_region_close(&region);
    else
        *out = region;
    return code;
}

/* [collective] Where memory is short, what files keep of it is let go; where there is none all the
 * same, ranks have their own and exchange messages. */
static int open_memory(wr_world *w, wr_channel_memory *out)
{
    wr_transport *t = w->transport;
    int64_t bytes = WR_REGION_CHANNELS * channel_bytes(t);
    *out = (wr_channel_memory){0};
    if (!share(w, bytes, &out->memory))
        return 0;
    wr_region_cache_drop(&w->process->regions, 0);
    if (!wr_agree(t, WR_TAG_WORLD, 0) && !share(w, bytes, &out->memory))
        return 0;
    if (t->local_rank == 0)
        wr_log_line(&w->log, WR_LOG_WARN, "%s: the ranks of a node exchange messages",
                    weir_error_last()->text);
    int code = wr_agree(t, WR_TAG_WORLD, wr_region_own(bytes, &out->memory));
    if (code)
        wr_region_close(&out->memory);
    out->apart = true;
    return code;
}

/* Memory for the next channels. */
int wr_channels_add(wr_world *w)
{
    wr_channel_memory *larger = wr_alloc_array(w->regions + 1, sizeof *larger);
    int code = wr_agree(w->transport, WR_TAG_WORLD, larger ? 0 : WEIR_ENOMEM);
    if (!code && larger)
        code = open_memory(w, &larger[w->regions]);
    if (code || !larger) {
        wr_free(larger);
        return code;
    }
    if (w->regions)
        memcpy(larger, w->region, (size_t)w->regions * sizeof *larger);
    wr_free(w->region);
    w->region = larger;
    w->regions++;
    return 0;
}

void wr_channels_release(wr_world *w)
{
    for (int i = 0; i < w->regions; i++)
        wr_region_close(&w->region[i].memory);
    wr_free(w->region);
}

/* The channel of that number, whose region is there. */
void wr_channel_set(wr_world *w, int number, wr_channel *out)
{
    atomic_fetch_or(&w->used[number / 64], UINT64_C(1) << number % 64);
    const wr_channel_memory *region = &w->region[number / WR_REGION_CHANNELS];
    char *base = region->memory.base + number % WR_REGION_CHANNELS * channel_bytes(w->transport);
    *out = (wr_channel){.world = w,
                        .ranks = w->transport->local_size,
                        .number = number,
                        .tag = FIRST_TAG + number * WR_TAG_SPAN,
                        .apart = region->apart};
    out->barrier = (wr_barrier *)(void *)base;
    out->lanes = base + sizeof(wr_barrier);
    out->scratch = base + 2 * half_bytes(w->transport);
}

wr_channel wr_channel_inner(const wr_channel *c)
{
    char *base = (char *)c->barrier + half_bytes(c->world->transport);
    wr_channel inner = *c;
    inner.epoch = 0;
    inner.inner = true;
    inner.barrier = (wr_barrier *)(void *)base;
    inner.lanes = base + sizeof(wr_barrier);
    return inner;
}

void wr_channels_taken(wr_world *w, int64_t *words)
{
    for (int i = 0; i < WR_CHANNEL_WORDS; i++)
        words[i] = (int64_t)atomic_load(&w->used[i]);
}

/* The lowest channel that is free on all ranks, or WEIR_EUNSUPPORTED. */
static int find_free(const int64_t *words)
{
    for (int i = 0; i < WR_CHANNEL_WORDS; i++)
        if (~(uint64_t)words[i])
            return i * 64 + __builtin_ctzll(~(uint64_t)words[i]);
    return wr_fail(WEIR_EUNSUPPORTED, "%d files open on one communicator", WR_MAX_CHANNELS);
}

int wr_channel_open(wr_world *w, wr_channel *out)
{
    int64_t words[WR_CHANNEL_WORDS];
    wr_channels_taken(w, words);
    int code = wr_allreduce(w->transport, WR_TAG_WORLD, WR_OR, WR_CHANNEL_WORDS, words);
    return code ? code : wr_channel_take(w, words, out);
}

int wr_channel_take(wr_world *w, const int64_t *words, wr_channel *out)
{
    int number = find_free(words);
    int code = number < 0 ? number : 0;
    while (!code && number / WR_REGION_CHANNELS >= w->regions)
        code = wr_channels_add(w);
    if (code)
        return code;
    wr_channel_set(w, number, out);
    return 0;
}

void wr_channel_close(wr_channel *c)
{
    if (c->world)
        atomic_fetch_and(&c->world->used[c->number / 64], ~(UINT64_C(1) << c->number % 64));
    *c = (wr_channel){0};
}

/* The node's first rank collects the lanes, or, with 0 bytes of each, hears that all are here, and
 * tells the others. */
static void exchange_by_messages(wr_channel *c, int64_t bytes)
{
    wr_transport *t = c->world->transport;
    const int tag = c->tag + WR_TAG_LANES;
    char *lanes = wr_channel_lane(c, c->epoch, 0);
    int64_t all = bytes * t->local_size;
    int code = 0;
    if (t->local_rank)
        code = wr_send(t, t->local[0], tag, wr_channel_lane(c, c->epoch, t->local_rank), bytes);
    else
        for (int i = 1; i < t->local_size && !code; i++)
            code = wr_receive(t, t->local[i], tag, wr_channel_lane(c, c->epoch, i), bytes);
    if (t->local_rank && !code)
        code = wr_receive(t, t->local[0], tag, lanes, all);
    for (int i = 1; t->local_rank == 0 && i < t->local_size && !code; i++)
        code = wr_send(t, t->local[i], tag, lanes, all);
    c->lost = code;
}

/* The last to arrive lets the others go on. It acquires what all wrote before (wr_word_add) and
 * releases it to them with the generation (wr_word_set, wr_wait). */
void wr_channel_barrier(wr_channel *c, const wr_waiter *waiter)
{
    wr_barrier *b = c->barrier;
    if (c->apart) {
        exchange_by_messages(c, 0);
        return;
    }
    uint32_t size = (uint32_t)c->world->transport->local_size;
    uint32_t generation = wr_word_get(&b->generation);
    if (wr_word_add(&b->arrived, 1) + 1 == size) {
        /* relaxed: nobody adds again before it sees the new generation, which releases this */
        atomic_store_explicit(&b->arrived.value, 0, memory_order_relaxed);
        b->last = c->world->transport->local_rank;
        wr_word_set(&b->generation, generation + 1);
    } else {
        wr_timer_name(WR_NOBODY);
        wr_wait(&b->generation, generation, waiter);
        wr_world_name_waited(c->world, c->world->transport->local[b->last]);
    }
}

uint32_t wr_channel_exchange(wr_channel *c, const wr_waiter *waiter)
{
    if (c->apart)
        exchange_by_messages(c, WR_LANE);
    else
        wr_channel_barrier(c, waiter);
    return c->epoch++;
}

/* --- reductions, broadcasts, agreement --- */

_Static_assert(WR_CHANNEL_VALUES * sizeof(int64_t) <= WR_LANE, "values fit a lane");
_Static_assert(sizeof(weir_error) <= WR_LANE, "an error fits a lane");

static bool by_messages(const wr_channel *c)
{
    return (!c->inner && c->world->transport->nodes > 1) || c->apart;
}

static char *own_lane(const wr_channel *c)
{
    return wr_channel_lane(c, c->epoch, c->world->transport->local_rank);
}

static uint32_t exchange(wr_channel *c)
{
    wr_waiter waiter = wr_transport_waiter(c->world->transport, true);
    return wr_channel_exchange(c, &waiter);
}

int wr_channel_reduce(wr_channel *c, enum wr_reduction reduction, int count, int64_t *values)
{
    wr_transport *t = c->world->transport;
    size_t bytes = (size_t)count * sizeof *values;
    if (count > WR_CHANNEL_VALUES)
        return wr_fail(WEIR_EINVAL, "%d values in one reduction", count);
    if (by_messages(c))
        return wr_allreduce(t, c->tag, reduction, count, values);
    memcpy(own_lane(c), values, bytes);
    uint32_t epoch = exchange(c);
    for (int rank = 0; rank < t->local_size; rank++) {
        int64_t theirs[WR_CHANNEL_VALUES];
        memcpy(theirs, wr_channel_lane(c, epoch, rank), bytes);
        for (int i = 0; rank != t->local_rank && i < count; i++)
            wr_combine(reduction, &values[i], theirs[i]);
    }
    return 0;
}

int wr_channel_sums(wr_channel *c, int count, const int64_t *values, int64_t *before,
                    int64_t *total)
{
    wr_transport *t = c->world->transport;
    size_t bytes = (size_t)count * sizeof *values;
    if (count > WR_CHANNEL_VALUES)
        return wr_fail(WEIR_EINVAL, "%d values in one reduction", count);
    memcpy(total, values, bytes);
    if (by_messages(c)) {
        int code = wr_sum_before(t, c->tag, count, values, before);
        return code ? code : wr_allreduce(t, c->tag, WR_SUM, count, total);
    }
    memcpy(own_lane(c), values, bytes);
    memset(before, 0, bytes);
    memset(total, 0, bytes);
    uint32_t epoch = exchange(c);
    for (int rank = 0; rank < t->local_size; rank++) {
        int64_t theirs[WR_CHANNEL_VALUES];
        memcpy(theirs, wr_channel_lane(c, epoch, rank), bytes);
        for (int i = 0; i < count; i++) {
            total[i] += theirs[i];
            before[i] += rank < t->local_rank ? theirs[i] : 0;
        }
    }
    return 0;
}

/* Nobody else speaks, so all lanes are the first rank's. */
int wr_channel_broadcast(wr_channel *c, void *data, int64_t bytes)
{
    wr_transport *t = c->world->transport;
    if (by_messages(c))
        return wr_broadcast(t, c->tag, data, bytes);
    for (int64_t at = 0, part; at < bytes; at += part) {
        part = wr_min(bytes - at, (int64_t)t->local_size * WR_LANE);
        if (t->local_rank == 0)
            memcpy(wr_channel_lane(c, c->epoch, 0), (char *)data + at, (size_t)part);
        uint32_t epoch = exchange(c);
        if (t->local_rank)
            memcpy((char *)data + at, wr_channel_lane(c, epoch, 0), (size_t)part);
    }
    return 0;
}

int wr_channel_agree(wr_channel *c, int code)
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
    uint32_t epoch = exchange(c);
    for (int rank = 0; rank < t->local_size; rank++) {
        const char *lane = wr_channel_lane(c, epoch, rank);
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
    code = wr_channel_agree(c, code);
    if (!code) {
        code = wr_channel_broadcast(c, &segment, sizeof segment);
        if (!code && !first)
            code = wr_segment_open(&segment, bytes, region);
        code = wr_channel_agree(c, code);
    }
    if (created)
        wr_segment_hide(&segment);
    region->number = segment.number;
    return code;
}

int wr_channel_region(wr_channel *c, int code, int64_t bytes, wr_region *out)
{
    wr_transport *t = c->world->transport;
    code = c->apart ? WR_NO_REGION : wr_channel_agree(c, code);
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
        wr_region_cache_drop(&c->world->process->regions, 0);
        wr_channel_agree(c, 0); /* all have done so */
    }
    return WR_NO_REGION;
}
