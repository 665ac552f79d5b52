/* Where the ranks of a node meet during the rounds of a collective call: shared memory with a bell
 * for each rank and slots for each aggregator: two, or, where the file is accessed behind the
 * caller's back, as many as there is memory for. A slot is a window on its way: its range, its
 * cover, who takes part, and its buffer.
 *
 * A rank waits for its own bell only; whoever changes something that concerns it rings. Invariants
 *   H1  only the aggregator writes a slot's description, and only while nobody takes part in it
 *   H2  a rank that takes part has not acknowledged until it is done with the slot's memory */
#ifndef WR_ENGINE_HALL_H
#define WR_ENGINE_HALL_H

#include "engine/turn.h"
#include "engine/world.h"

enum {
    WR_HALL_RANKS = 1024, /* most ranks of a node that can take part */
    WR_HALL_SLOTS = 256,  /* most of an aggregator */
    WR_COVER_ROOM = WR_COVER_BYTES
};

typedef struct wr_slot {
    /* number of the window it shows, from 1; while it is changed, minus that of the one before */
    _Alignas(WR_LINE) _Atomic int64_t turn;
    _Atomic int64_t lo, hi;   /* its range of the file */
    int64_t valid;            /* when reading: bytes at or after this do not exist */
    int64_t ordered;          /* 1: ranks copy one after the other, ascending */
    _Atomic int64_t expected; /* ranks of this node that take part */
    _Atomic uint64_t who[WR_HALL_RANKS / 64]; /* which, by local rank */
    _Alignas(WR_LINE) _Atomic int64_t acknowledged;
    _Alignas(WR_LINE) _Atomic int64_t next; /* how many, in ascending order of rank, have copied */
} wr_slot;

typedef struct wr_desk {
    _Alignas(
        WR_LINE) _Atomic int64_t windows; /* 1 more than there are, once that is known; 0 before */
    wr_slot slot[];
} wr_desk;

typedef struct wr_hall {
    wr_region region;
    int local_size;
    int desks;      /* aggregators of this node */
    int slots;      /* of each */
    int64_t window; /* bytes of a slot's buffer */
    wr_turn *turn;  /* by slot, of this rank as aggregator */
    int64_t limit;  /* of windows, since memory was short; 0: it was not; -1: there is none */
    int64_t seen[WR_HALL_RANKS]; /* by desk: windows this rank is through with */
} wr_hall;

/* How much there must be room for. */
typedef struct wr_hall_need {
    int desks, slots;
    int64_t window;
} wr_hall_need;

/* Of one window: its buffer, and room for the description of its cover. */
int64_t wr_hall_slot_bytes(int64_t window);

bool wr_hall_fits(const wr_hall *hall, const wr_hall_need *need);

/* [collective on the node] Makes room, unless it is there already. WR_NO_REGION: there is no
 * memory; all but the limit is as closed. */
int wr_hall_open(wr_hall *hall, wr_channel *channel, const wr_hall_need *need);
void wr_hall_close(wr_hall *hall);

wr_word *wr_hall_bell(const wr_hall *hall, int local_rank);
wr_desk *wr_hall_desk(const wr_hall *hall, int desk);
char *wr_hall_buffer(const wr_hall *hall, int desk, int slot);

/* The description of a slot's cover, put there by its aggregator and borrowed from there by others.
 */
void wr_hall_put_cover(const wr_hall *hall, int desk, int slot, const weir_pattern *cover);
weir_pattern wr_hall_get_cover(const wr_hall *hall, int desk, int slot);

/* That room, for who has something else to tell. */
void *wr_hall_note(const wr_hall *hall, int desk, int slot);

#endif
