/* A channel is what one open file has of a world: a barrier and a mailbox in shared memory, and a
 * span of message tags. It keeps the collective calls on one file apart from those on another, so
 * that two files of one communicator can be used from two threads, or with operations outstanding
 * in different order.
 *
 * Reductions, broadcasts and agreement on errors go by the mailbox where all ranks share memory,
 * otherwise by messages. On an inner channel they concern the ranks of the node, whose first stands
 * for rank 0. */
#ifndef WR_RUNTIME_CHANNEL_H
#define WR_RUNTIME_CHANNEL_H

#include "base/wait.h"
#include "transport/transport.h"

enum {
    WR_LINE = 128,            /* words of different writers lie in different lines of this size */
    WR_LANE = 8 * WR_LINE,    /* bytes of a rank's part of a mailbox */
    WR_SCRATCH = 4 * WR_LINE, /* bytes of a channel that the node's ranks share as they like */
    WR_REGION_CHANNELS = 16,  /* channels in one region */
    WR_MAX_CHANNELS = 1024
};

/* The words of a node's barrier, each alone in its line. */
typedef struct wr_barrier {
    _Alignas(WR_LINE) wr_word arrived;
    _Alignas(WR_LINE) wr_word generation;
    int32_t last; /* who came last, of the node's ranks; written before the generation */
} wr_barrier;

typedef struct wr_channel {
    struct wr_world *world;
    int ranks; /* of the node */
    int number;
    int tag;        /* first of WR_TAG_SPAN */
    uint32_t epoch; /* mailboxes exchanged so far; its parity names the bank in use */
    wr_barrier *barrier;
    char *lanes;   /* bank, then local rank */
    char *scratch; /* as the last file left it */
    bool inner;    /* of the node's ranks only */
    bool apart; /* its ranks share no memory: lanes are exchanged by messages, equal on all nodes */
    int lost;   /* code of an exchange that could not be */
} wr_channel;

/* [collective] All ranks fail alike. */
int wr_channel_open(struct wr_world *world, wr_channel *out);

/* The same in two steps, for callers that make a reduction anyway: which channels are taken, to be
 * combined over all ranks by WR_OR; then, [collective], the lowest that is free. */
enum { WR_CHANNEL_WORDS = WR_MAX_CHANNELS / 64 };
void wr_channels_taken(struct wr_world *world, int64_t *words);
int wr_channel_take(struct wr_world *world, const int64_t *words, wr_channel *out);

/* Memory for the next channels of a world, and the channel of a number whose memory is there: for
 * whoever opens a world. [collective], local, local */
enum { WR_TAG_WORLD = 0 }; /* the world's own span of tags; channels have those after it */
int wr_channels_add(struct wr_world *world);
void wr_channels_release(struct wr_world *world);
void wr_channel_set(struct wr_world *world, int number, wr_channel *out);

/* Another one beside it, of the node's ranks only, for calls that must not disturb its mailboxes;
 * it closes with it. */
wr_channel wr_channel_inner(const wr_channel *channel);

/* Local. When a number is free again on all ranks follows from open being collective. */
void wr_channel_close(wr_channel *channel);

/* [collective on the node] Waits for the node's other ranks. */
void wr_channel_barrier(wr_channel *channel, const wr_waiter *waiter);

/* WR_LANE bytes of the mailbox: to be filled by its owner before wr_channel_exchange, and read by
 * the others after it, until they call it the next time. */
static inline char *wr_channel_lane(const wr_channel *c, uint32_t epoch, int local_rank)
{
    return c->lanes + ((int64_t)(epoch & 1) * c->ranks + local_rank) * WR_LANE;
}

/* [collective on the node] Everyone's lane of this epoch is there, unless the channel is lost;
 * returns the epoch to read. */
uint32_t wr_channel_exchange(wr_channel *channel, const wr_waiter *waiter);

enum { WR_CHANNEL_VALUES = 64 };

/* [collective] At most WR_CHANNEL_VALUES. */
int wr_channel_reduce(wr_channel *c, enum wr_reduction reduction, int count, int64_t *values);

/* [collective] What the lower ranks' values come to, and those of all. */
int wr_channel_sums(wr_channel *c, int count, const int64_t *values, int64_t *before,
                    int64_t *total);

/* [collective] Rank 0's bytes reach all. */
int wr_channel_broadcast(wr_channel *c, void *data, int64_t bytes);

/* [collective on the node, on an inner channel] As wr_region_open, without messages; with a code as
 * in agree. WR_NO_REGION: no memory is left, not even what idle files keep. */
enum { WR_NO_REGION = 1 };
int wr_channel_region(wr_channel *c, int code, int64_t bytes, wr_region *out);

/* [collective] Whoever failed, all return the code and details of the lowest rank that did. */
int wr_channel_agree(wr_channel *c, int code);

#endif
