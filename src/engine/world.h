/* A world is what one communicator has: the transport, the memory its node shares, channels, the
 * tunables all ranks agreed on, log, trace and budget. There is one per communicator and process,
 * or one per thread where ranks are threads. What those of a process share is told to them.
 *
 * A channel keeps the collective calls on one open file apart from those on another: it owns a part
 * of the shared memory and a span of tags, so that two files of one communicator can be used from
 * two threads, or with operations outstanding in different order. */
#ifndef WR_ENGINE_WORLD_H
#define WR_ENGINE_WORLD_H

#include <pthread.h>

#include "base/log.h"
#include "engine/progress.h"
#include "storage/costs.h"
#include "transport/transport.h"

enum {
    WR_LINE = 128,           /* words of different writers lie in different lines of this size */
    WR_LANE = 8 * WR_LINE,   /* bytes of a rank's part of a mailbox */
    WR_BOARD = 4 * WR_LINE,  /* bytes of a channel that the node's ranks share as they like */
    WR_REGION_CHANNELS = 16, /* channels in one region */
    WR_MAX_CHANNELS = 1024
};

/* Something that lives on a world, such as an open file. */
typedef struct wr_lodger {
    struct wr_lodger *next, **place;
    void (*evict)(struct wr_lodger *lodger); /* MPI ends: let go of the world, by local actions */
} wr_lodger;

/* The words of a node's barrier, each alone in its line. */
typedef struct wr_barrier {
    _Alignas(WR_LINE) wr_word arrived;
    _Alignas(WR_LINE) wr_word generation;
} wr_barrier;

typedef struct wr_channel {
    struct wr_world *world;
    int number;
    int tag;       /* first of WR_TAG_SPAN */
    uint32_t turn; /* mailboxes exchanged so far; its parity names the bank in use */
    wr_barrier *barrier;
    char *lanes; /* bank, then local rank */
    char *board; /* as the last file left it */
    bool inner;  /* of the node's ranks only */
    bool apart; /* its ranks share no memory: lanes are exchanged by messages, equal on all nodes */
    int lost;   /* code of an exchange that could not be */
} wr_channel;

struct wr_port;

/* Files that keep shared memory between collective calls, the one used last first. */
typedef struct wr_idle {
    pthread_mutex_t lock;
    struct wr_port *first;
    int64_t kept; /* so many may be on the list, as the latest of them says */
} wr_idle;

/* What the worlds of a process share; where ranks are threads each world has its own. */
typedef struct wr_process {
    wr_costs costs;       /* what rank 0 knows */
    wr_idle idle;         /* files of all worlds */
    wr_progress progress; /* of operations in flight */
} wr_process;

/* The tunables say how the progress thread is scheduled. */
void wr_process_open(wr_process *process, const wr_tunables *tunables);
void wr_process_close(wr_process *process);

typedef struct wr_world {
    wr_transport *transport; /* ours */
    wr_tunables tunables;    /* equal on all ranks */
    wr_log log;
    wr_trace *trace; /* or NULL */
    wr_budget budget;
    wr_process *process;
    wr_process own;           /* if that is nobody else's */
    _Atomic uint64_t numbers; /* of regions, given by the first rank of a node */
    int regions;
    struct wr_channel_region *region;            /* WR_REGION_CHANNELS channels in each */
    _Atomic uint64_t used[WR_MAX_CHANNELS / 64]; /* channels, equal on all ranks */
    wr_channel council;                          /* number 0: the world's own */
    _Atomic int64_t in_flight;                   /* memory that operations keep */
    pthread_mutex_t lock;                        /* of what follows */
    wr_lodger *lodgers;
    bool orphan;              /* its communicator is gone: it ends with its last lodger */
    void (*ends)(void *user); /* or NULL: called before it does; nobody uses it afterwards */
    void *user;
} wr_world;

/* [collective] Takes the transport, on success only. All ranks fail alike. */
int wr_world_open(wr_transport *transport, const wr_tunables *tunables, wr_world **out);

/* The same for one of several worlds of a process, which is borrowed until the last has ended. */
int wr_world_open_in(wr_process *process, wr_transport *transport, const wr_tunables *tunables,
                     wr_world **out);

/* Closes the transport too; see there about who must take part. NULL is fine. */
void wr_world_close(wr_world *world);

/* Closes it now, or, if something lives on it, when the last of that parts. */
void wr_world_leave(wr_world *world);

/* Closes it now, whoever lives on it. */
void wr_world_end(wr_world *world);

/* Local: a lodger keeps its world until it parts. */
void wr_world_join(wr_world *world, wr_lodger *lodger, void (*evict)(wr_lodger *lodger));
void wr_world_part(wr_world *world, wr_lodger *lodger);

/* Waits for a word to differ from `seen`, as wr_progress_wait does. */
void wr_world_wait(wr_world *world, wr_word *word, uint32_t seen);

/* As wr_world_close, but the transport goes back to who lent it. */
void wr_world_release(wr_world *world);

/* [collective] All ranks fail alike. */
int wr_channel_open(wr_world *world, wr_channel *out);

/* The same in two steps, for who has a reduction to make anyway: which channels are taken, to be
 * combined over all ranks by WR_OR; then, [collective], the lowest that is free. */
enum { WR_CHANNEL_WORDS = WR_MAX_CHANNELS / 64 };
void wr_channels_taken(wr_world *world, int64_t *words);
int wr_channel_take(wr_world *world, const int64_t *words, wr_channel *out);

/* Another one beside it, of the node's ranks only, for who must not disturb its mailboxes; it
 * closes with it. */
wr_channel wr_channel_inner(const wr_channel *channel);

/* Local. When a number is free again on all ranks follows from open being collective. */
void wr_channel_close(wr_channel *channel);

/* [collective on the node] Waits for the node's other ranks. */
void wr_channel_barrier(wr_channel *channel, const wr_waiter *waiter);

/* WR_LANE bytes of the mailbox: to be filled by its owner before wr_channel_exchange, and read by
 * the others after it, until they call it the next time. */
static inline char *wr_channel_lane(const wr_channel *c, uint32_t turn, int local_rank)
{
    int64_t lanes = c->world->transport->local_size;
    return c->lanes + ((turn & 1) * lanes + local_rank) * WR_LANE;
}

/* [collective on the node] Everyone's lane of this turn is there, unless the channel is lost;
 * returns the turn to read. */
uint32_t wr_channel_exchange(wr_channel *channel, const wr_waiter *waiter);

#endif
