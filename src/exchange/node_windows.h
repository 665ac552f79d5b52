/* Memory for the rounds of a collective call, shared by the ranks of a party (rounds.h). Each rank
 * has a word on which it is woken; each aggregator and each gate has a ring of slots. A slot shows
 * one window, or a part of one that is elsewhere: its range, its cover, which ranks take part, and
 * its buffer.
 *
 * A rank waits on its own word only; whoever changes something that concerns it wakes it.
 * Invariants
 *   H1  only a ring's owner writes a slot's description, and only while no rank takes part in it
 *   H2  a rank that takes part acknowledges only once it is done with the slot's memory */
#ifndef WR_EXCHANGE_NODE_WINDOWS_H
#define WR_EXCHANGE_NODE_WINDOWS_H

#include "access/round.h"
#include "runtime/channel.h"

enum {
    WR_NODE_RANKS = 1024, /* most ranks of a node that can take part */
    WR_COVER_ROOM = WR_COVER_BYTES
};

typedef struct wr_slot {
    /* of the window it shows, from 1; while the slot changes, minus the number before */
    _Alignas(WR_LINE) _Atomic int64_t number;
    _Atomic int64_t lo, hi;   /* its range of the file */
    int64_t valid;            /* when reading: bytes at or after this do not exist */
    int64_t ordered;          /* 1: ranks copy one after the other, in their turns */
    int64_t packed;           /* 1: each rank's data lie by themselves, where its share says */
    _Atomic int64_t expected; /* ranks of this party that take part */
    _Atomic uint64_t who[WR_NODE_RANKS / 64]; /* which, by local rank */
    _Alignas(WR_LINE) _Atomic int64_t acknowledged;
    _Alignas(WR_LINE) _Atomic int64_t next; /* turns that are over */
} wr_slot;

/* What a slot says of one rank that takes part. */
typedef struct wr_slot_share {
    int64_t place; /* of its data in the buffer, if packed */
    int64_t turn;  /* if ordered */
} wr_slot_share;

typedef struct wr_ring {
    _Alignas(
        WR_LINE) _Atomic int64_t windows; /* 1 more than there are, once that is known; 0 before */
    wr_slot slot[];
} wr_ring;

typedef struct wr_node_windows {
    wr_region region;
    int members;     /* ranks that share it */
    int rings;       /* of the party's aggregators, then of its gates */
    int slots;       /* of each */
    int64_t window;  /* bytes of a slot's buffer */
    wr_round *round; /* by slot, of this rank as aggregator */
    int64_t limit;   /* of windows, since memory was short; 0: it was not; -1: there is none */
    int64_t seen[2 * WR_NODE_RANKS]; /* by ring: windows this rank is through with */
} wr_node_windows;

/* How much there must be room for. */
typedef struct wr_node_windows_need {
    int members, rings, slots;
    int64_t window;
} wr_node_windows_need;

bool wr_node_windows_fits(const wr_node_windows *nw, const wr_node_windows_need *need);

/* [collective on the node, unless it is for one member] Makes room, unless it is there already.
 * WR_NO_REGION: there is no memory; all but the limit is as closed. */
int wr_node_windows_open(wr_node_windows *nw, wr_channel *channel,
                         const wr_node_windows_need *need);
void wr_node_windows_close(wr_node_windows *nw);

wr_word *wr_node_windows_wakeup(const wr_node_windows *nw, int local_rank);
wr_ring *wr_node_windows_ring(const wr_node_windows *nw, int ring);
char *wr_node_windows_buffer(const wr_node_windows *nw, int ring, int slot);

/* The description of a slot's cover, put there by its aggregator and borrowed from there by others.
 */
void wr_node_windows_put_cover(const wr_node_windows *nw, int ring, int slot,
                               const weir_pattern *cover);
weir_pattern wr_node_windows_get_cover(const wr_node_windows *nw, int ring, int slot);

/* By member. */
wr_slot_share *wr_node_windows_shares(const wr_node_windows *nw, int ring, int slot);

#endif
