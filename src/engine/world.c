/* Worlds and channels. */
#include "engine/world.h"

#include <string.h>

#include "base/arith.h"
#include "engine/idle.h"

/* The world's own span of tags; channels have those behind it. */
enum { WORLD_TAG = 0, FIRST_TAG = WR_TAG_SPAN };
enum { TAG_LANES = 13 }; /* of a channel's span */

_Static_assert(FIRST_TAG + WR_MAX_CHANNELS * WR_TAG_SPAN + WR_TAG_SPAN <= WR_TAG_MAX, "tags fit");

/* Channels next to each other, in memory that ranks share or not. */
typedef struct wr_channel_region {
    wr_region memory;
    bool apart;
} wr_channel_region;

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

/* [collective] Shared memory on every node, or why there is none; on failure *out is as it was. */
static int share(wr_world *w, int64_t bytes, wr_region *out)
{
    wr_region region = {0};
    int code = wr_region_open(w->transport, WORLD_TAG, &w->tunables, bytes, &region);
    code = wr_agree(w->transport, WORLD_TAG, code);
    if (code)
        wr_region_close(&region);
    else
        *out = region;
    return code;
}

/* [collective] Where memory is short, what files keep of it is let go; where there is none all the
 * same, ranks have their own and exchange messages. */
static int open_region(wr_world *w, wr_channel_region *out)
{
    wr_transport *t = w->transport;
    int64_t bytes = WR_REGION_CHANNELS * channel_bytes(t);
    *out = (wr_channel_region){0};
    if (!share(w, bytes, &out->memory))
        return 0;
    wr_idle_drop(&w->process->idle, 0);
    if (!wr_agree(t, WORLD_TAG, 0) && !share(w, bytes, &out->memory))
        return 0;
    if (t->local_rank == 0)
        wr_log_line(&w->log, WR_LOG_WARN, "%s: the ranks of a node exchange messages",
                    weir_error_last()->text);
    int code = wr_agree(t, WORLD_TAG, wr_region_own(bytes, &out->memory));
    if (code)
        wr_region_close(&out->memory);
    out->apart = true;
    return code;
}

/* Memory for the next channels. */
static int add_region(wr_world *w)
{
    wr_channel_region *larger = wr_alloc_array(w->regions + 1, sizeof *larger);
    int code = wr_agree(w->transport, WORLD_TAG, larger ? 0 : WEIR_ENOMEM);
    if (!code && larger)
        code = open_region(w, &larger[w->regions]);
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

/* The channel of that number, whose region is there. */
static void take(wr_world *w, int number, wr_channel *out)
{
    atomic_fetch_or(&w->used[number / 64], UINT64_C(1) << number % 64);
    const wr_channel_region *region = &w->region[number / WR_REGION_CHANNELS];
    char *base = region->memory.base + number % WR_REGION_CHANNELS * channel_bytes(w->transport);
    *out = (wr_channel){.world = w,
                        .number = number,
                        .tag = FIRST_TAG + number * WR_TAG_SPAN,
                        .apart = region->apart};
    out->barrier = (wr_barrier *)(void *)base;
    out->lanes = base + sizeof(wr_barrier);
    out->board = base + 2 * half_bytes(w->transport);
}

/* Done while waiting. */
static void idle(void *user)
{
    wr_world *w = user;
    wr_progress_move(&w->process->progress);
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

void wr_process_open(wr_process *p, const wr_tunables *tunables)
{
    *p = (wr_process){0};
    pthread_mutex_init(&p->costs.lock, NULL);
    pthread_mutex_init(&p->idle.lock, NULL);
    wr_progress_open(&p->progress, tunables);
}

void wr_process_close(wr_process *p)
{
    wr_progress_close(&p->progress);
    pthread_mutex_destroy(&p->idle.lock);
    pthread_mutex_destroy(&p->costs.lock);
}

/* Everything that needs no other rank. */
static int furnish(wr_world *w, wr_process *process)
{
    pthread_mutex_init(&w->lock, NULL);
    wr_budget_init(&w->budget, INT64_MAX);
    set_log(w);
    w->process = process ? process : &w->own;
    if (!process)
        wr_process_open(w->process, &w->tunables);
    return open_trace(w);
}

int wr_world_open(wr_transport *transport, const wr_tunables *tunables, wr_world **out)
{
    return wr_world_open_in(NULL, transport, tunables, out);
}

int wr_world_open_in(wr_process *process, wr_transport *transport, const wr_tunables *tunables,
                     wr_world **out)
{
    wr_world *w = wr_alloc(sizeof *w);
    int code = w ? 0 : WEIR_ENOMEM;
    if (w) {
        *w = (wr_world){.transport = transport, .tunables = *tunables};
        code = furnish(w, process);
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
    if (w->process == &w->own)
        wr_process_close(w->process);
    for (int i = 0; i < w->regions; i++)
        wr_region_close(&w->region[i].memory);
    wr_free(w->region);
    wr_trace_close(w->trace);
    pthread_mutex_destroy(&w->lock);
    wr_free(w);
}

void wr_world_wait(wr_world *w, wr_word *word, uint32_t seen)
{
    wr_progress_wait(&w->process->progress, w->transport, word, seen);
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
    wr_progress_stop(&w->process->progress);
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

/* The node's first rank collects the lanes, or, with 0 bytes of each, hears that all are here, and
 * tells the others. */
static void exchange_by_messages(wr_channel *c, int64_t bytes)
{
    wr_transport *t = c->world->transport;
    const int tag = c->tag + TAG_LANES;
    char *lanes = wr_channel_lane(c, c->turn, 0);
    int64_t all = bytes * t->local_size;
    int code = 0;
    if (t->local_rank)
        code = wr_send(t, t->local[0], tag, wr_channel_lane(c, c->turn, t->local_rank), bytes);
    else
        for (int i = 1; i < t->local_size && !code; i++)
            code = wr_receive(t, t->local[i], tag, wr_channel_lane(c, c->turn, i), bytes);
    if (t->local_rank && !code)
        code = wr_receive(t, t->local[0], tag, lanes, all);
    for (int i = 1; t->local_rank == 0 && i < t->local_size && !code; i++)
        code = wr_send(t, t->local[i], tag, lanes, all);
    c->lost = code;
}

/* The last to arrive lets the others go on. */
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
        atomic_store_explicit(&b->arrived.value, 0, memory_order_relaxed);
        wr_word_set(&b->generation, generation + 1);
    } else {
        wr_wait(&b->generation, generation, waiter);
    }
}

uint32_t wr_channel_exchange(wr_channel *c, const wr_waiter *waiter)
{
    if (c->apart)
        exchange_by_messages(c, WR_LANE);
    else
        wr_channel_barrier(c, waiter);
    return c->turn++;
}
