/* Worlds and channels. */
#include "engine/world.h"

#include <string.h>

#include "base/arith.h"

/* The world's own span of tags; channels have those behind it. */
enum { WORLD_TAG = 0, FIRST_TAG = WR_TAG_SPAN };

_Static_assert(FIRST_TAG + WR_MAX_CHANNELS * WR_TAG_SPAN + WR_TAG_SPAN <= WR_TAG_MAX, "tags fit");

/* Of its own barrier and lanes, and of its inner channel's. */
static int64_t half_bytes(const wr_transport *t)
{
    return (int64_t)sizeof(wr_barrier) + 2 * (int64_t)t->local_size * WR_LANE;
}

static int64_t channel_bytes(const wr_transport *t)
{
    return 2 * half_bytes(t) + WR_BOARD;
}

static void set_log(wr_world *w)
{
    w->log.level = (int)w->tunables.log.which;
}

static int open_trace(wr_world *w)
{
    if (!*w->tunables.trace)
        return 0;
    return wr_trace_open(&w->trace, w->tunables.trace, w->transport->rank);
}

/* Shared memory for the next channels, on every node or on none. */
static int add_region(wr_world *w)
{
    wr_transport *t = w->transport;
    wr_region *larger = wr_alloc_array(w->regions + 1, sizeof *larger);
    int code = wr_agree(t, WORLD_TAG, larger ? 0 : WEIR_ENOMEM);
    if (!code && larger) {
        if (w->regions)
            memcpy(larger, w->region, (size_t)w->regions * sizeof *larger);
        code = wr_region_open(t, WORLD_TAG, &w->tunables, WR_REGION_CHANNELS * channel_bytes(t),
                              &larger[w->regions]);
        bool opened = !code;
        code = wr_agree(t, WORLD_TAG, code);
        if (code && opened)
            wr_region_close(&larger[w->regions]);
    }
    if (code) {
        wr_free(larger);
        return code;
    }
    wr_free(w->region);
    w->region = larger;
    w->regions++;
    return 0;
}

/* The channel of that number, whose region is there. */
static void take(wr_world *w, int number, wr_channel *out)
{
    atomic_fetch_or(&w->used[number / 64], UINT64_C(1) << number % 64);
    char *base = w->region[number / WR_REGION_CHANNELS].base +
                 number % WR_REGION_CHANNELS * channel_bytes(w->transport);
    *out = (wr_channel){.world = w, .number = number, .tag = FIRST_TAG + number * WR_TAG_SPAN};
    out->barrier = (wr_barrier *)(void *)base;
    out->lanes = base + sizeof(wr_barrier);
    out->board = base + 2 * half_bytes(w->transport);
}

/* Done while waiting. */
static void idle(void *user)
{
    wr_world *w = user;
    wr_progress_move(w->progress);
}

wr_channel wr_channel_inner(const wr_channel *c)
{
    char *base = (char *)c->barrier + half_bytes(c->world->transport);
    wr_channel inner = *c;
    inner.turn = 0;
    inner.inner = true;
    inner.barrier = (wr_barrier *)(void *)base;
    inner.lanes = base + sizeof(wr_barrier);
    return inner;
}

int wr_world_open(wr_transport *transport, const wr_tunables *tunables, wr_world **out)
{
    wr_world *w = wr_alloc(sizeof *w);
    int code = w ? 0 : WEIR_ENOMEM;
    if (w) {
        *w = (wr_world){.transport = transport, .tunables = *tunables};
        pthread_mutex_init(&w->lock, NULL);
        w->costs = &w->own_costs;
        wr_budget_init(&w->budget, INT64_MAX);
        set_log(w);
        w->progress = &w->own_progress;
        code = wr_progress_open(w->progress, &w->tunables);
        if (!code)
            code = open_trace(w);
    }
    code = wr_agree(transport, WORLD_TAG, code);
    if (!code && w)
        code = add_region(w);
    if (!code && w) {
        transport->idle = idle;
        transport->idle_user = w;
        take(w, 0, &w->council);
        *out = w;
        return 0;
    }
    wr_world_release(w);
    return code;
}

void wr_world_close(wr_world *w)
{
    if (!w)
        return;
    wr_transport *t = w->transport;
    if (w->ends)
        w->ends(w->user);
    wr_world_release(w);
    wr_transport_close(t);
}

void wr_world_release(wr_world *w)
{
    if (!w)
        return;
    w->transport->idle = NULL;
    if (w->progress == &w->own_progress)
        wr_progress_close(w->progress);
    for (int i = 0; i < w->regions; i++)
        wr_region_close(&w->region[i]);
    wr_free(w->region);
    wr_trace_close(w->trace);
    pthread_mutex_destroy(&w->lock);
    wr_free(w);
}

void wr_world_share(wr_world *w, wr_progress *progress, wr_costs *costs)
{
    wr_progress_close(w->progress);
    w->progress = progress;
    w->costs = costs;
}

void wr_world_wait(wr_world *w, wr_word *word, uint32_t seen)
{
    wr_progress_wait(w->progress, w->transport, word, seen);
}

void wr_world_leave(wr_world *w)
{
    pthread_mutex_lock(&w->lock);
    bool lodged = w->orphan = w->lodgers != NULL;
    pthread_mutex_unlock(&w->lock);
    if (!lodged)
        wr_world_close(w);
}

void wr_world_end(wr_world *w)
{
    wr_progress_stop(w->progress);
    while (w->lodgers) {
        wr_lodger *l = w->lodgers;
        w->lodgers = l->next;
        l->place = NULL;
        l->evict(l);
    }
    wr_world_close(w);
}

void wr_world_join(wr_world *w, wr_lodger *l, void (*evict)(wr_lodger *lodger))
{
    pthread_mutex_lock(&w->lock);
    *l = (wr_lodger){w->lodgers, &w->lodgers, evict};
    if (l->next)
        l->next->place = &l->next;
    w->lodgers = l;
    pthread_mutex_unlock(&w->lock);
}

void wr_world_part(wr_world *w, wr_lodger *l)
{
    pthread_mutex_lock(&w->lock);
    *l->place = l->next;
    if (l->next)
        l->next->place = l->place;
    bool last = w->orphan && !w->lodgers;
    pthread_mutex_unlock(&w->lock);
    if (last)
        wr_world_close(w);
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
    int code = wr_allreduce(w->transport, WORLD_TAG, WR_OR, WR_CHANNEL_WORDS, words);
    return code ? code : wr_channel_take(w, words, out);
}

int wr_channel_take(wr_world *w, const int64_t *words, wr_channel *out)
{
    int number = find_free(words);
    int code = number < 0 ? number : 0;
    while (!code && number / WR_REGION_CHANNELS >= w->regions)
        code = add_region(w);
    if (code)
        return code;
    take(w, number, out);
    return 0;
}

void wr_channel_close(wr_channel *c)
{
    if (c->world)
        atomic_fetch_and(&c->world->used[c->number / 64], ~(UINT64_C(1) << c->number % 64));
    *c = (wr_channel){0};
}

/* The last to arrive lets the others go on. */
void wr_channel_barrier(wr_channel *c, const wr_waiter *waiter)
{
    wr_barrier *b = c->barrier;
    uint32_t size = (uint32_t)c->world->transport->local_size;
    uint32_t generation = wr_word_get(&b->generation);
    if (wr_word_add(&b->arrived, 1) + 1 == size) {
        atomic_store_explicit(&b->arrived.value, 0, memory_order_relaxed);
        wr_word_set(&b->generation, generation + 1);
    } else {
        wr_wait(&b->generation, generation, waiter);
    }
}

uint32_t wr_channel_exchange(wr_channel *c, const wr_waiter *waiter)
{
    wr_channel_barrier(c, waiter);
    return c->turn++;
}
