/* What ranks say at the entry of a call, and who hears it: an entry stands in its rank's lane of
 * the node's mailbox until the call is over. */
#ifndef WR_EXCHANGE_ENTRY_H
#define WR_EXCHANGE_ENTRY_H

#include "base/arith.h"
#include "exchange/rounds.h"

/* With code 0 the rank's pattern stands in `body` if it fits, otherwise the details of its error
 * do. */
typedef struct wr_call_entry {
    uint64_t call;
    int32_t code;
    int32_t kind;        /* direction and form */
    int32_t aside;       /* 1: its storage is better left to the thread */
    int32_t dropped;     /* 1: it has let go of shared memory since the last call */
    int32_t news;        /* 1: it has hints that all must agree on */
    int32_t wrote_alone; /* 1: it has stored what it wrote alone since the latest sync */
    int32_t unready;     /* 1: it may lack memory for its part in the rounds */
    int32_t same;        /* 1: it wants what is kept of its latest description */
    int32_t unpaged;     /* 1: what it reads is not in small pieces, or not in the page cache */
    wr_summary summary;
    int64_t begin, end;
    int64_t pattern_bytes;
    int64_t file_size;
    int64_t room;  /* memory that it may keep in flight */
    int64_t again; /* bytes, if it wants some of them several times */
    _Alignas(16) char body[];
} wr_call_entry;

_Static_assert(sizeof(wr_call_entry) + sizeof(weir_error) <= WR_LANE, "an entry fits a lane");

enum { WR_ENTRY_BODY = WR_LANE - sizeof(wr_call_entry) };

static inline wr_call_entry *wr_call_entry_of(const wr_call *c, int local_rank)
{
    return (wr_call_entry *)(void *)wr_channel_lane(&c->group->channel, c->epoch, local_rank);
}

/* Bytes of a rank's request among the large ones, which lie next to each other; 0 if it is in its
 * lane. */
static inline int64_t wr_call_entry_large(const wr_call_entry *e)
{
    enum { ALIGN = 64 };
    return e->pattern_bytes <= WR_ENTRY_BODY ? 0 : wr_round_up(e->pattern_bytes, ALIGN);
}

/* What a rank of the node wants; if it does not fit its lane it is in `large`, from `place` on. */
static inline weir_pattern wr_call_entry_pattern(const wr_call *c, int local_rank,
                                                 const char *large, int64_t place)
{
    const wr_call_entry *e = wr_call_entry_of(c, local_rank);
    if (local_rank == c->group->handle.world->transport->local_rank)
        return *c->a->file;
    return wr_pattern_attach(wr_call_entry_large(e) ? (const void *)(large + place) : e->body);
}

/* Who meets: the first rank of each node for those of its node; or, where these share no memory,
 * every rank for itself. */
typedef struct wr_leaders {
    const int *rank; /* of all of them, in the order of nodes */
    int count, own;  /* own: number of this one, or of its node's */
    bool leads;
    int first, seen; /* local ranks whose entries this one sees */
} wr_leaders;

static inline wr_leaders wr_group_leaders(const wr_group *group)
{
    const wr_transport *t = group->handle.world->transport;
    if (group->channel.apart)
        return (wr_leaders){t->by_node, t->size,       t->local_first + t->local_rank,
                            true,       t->local_rank, 1};
    return (wr_leaders){t->leaders, t->nodes, t->node, t->local_rank == 0, 0, t->local_size};
}

#endif
