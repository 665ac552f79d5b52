/* The rings of a call's rounds (node_windows.h): what is shown in them, and what a rank does with
 * what others show. */
#ifndef WR_EXCHANGE_RINGS_H
#define WR_EXCHANGE_RINGS_H

#include "exchange/rounds.h"

/* One rank's view of all rings of its party. */
typedef struct wr_rings {
    wr_call *call;
    wr_transport *t;
    wr_node_windows *nw;
    int count;
} wr_rings;

static inline wr_slot *wr_rings_slot(const wr_rings *r, int ring, int which)
{
    return &wr_node_windows_ring(r->nw, ring)->slot[which];
}

static inline void wr_rings_wake(const wr_rings *r, int member)
{
    wr_word_signal(wr_node_windows_wakeup(r->nw, member));
}

/* Of whoever owns the ring. From here on nobody takes the slot for the window it showed before;
 * nobody takes part in it, and nothing is ordered or packed. */
wr_slot *wr_rings_change(const wr_rings *r, int ring, int which);

/* A member takes part. */
void wr_rings_admit(const wr_rings *r, int ring, int which, int member, wr_slot_share share);

static inline bool wr_slot_has(const wr_slot *slot, int member)
{
    return atomic_load_explicit(&slot->who[member / 64], memory_order_relaxed) >> member % 64 & 1;
}

/* Shows it as window `number` of the ring, from 1, and wakes those who take part. */
void wr_rings_show(const wr_rings *r, int ring, int which, int64_t number);

/* Whether all who take part are done with it; then their copies can be read. */
bool wr_rings_is_done(const wr_rings *r, int ring, int which);

/* Of an ordered window: whether it is this turn's time; then the copies before it can be read. */
bool wr_rings_is_turn(const wr_rings *r, int ring, int which, int64_t turn);
void wr_rings_end_turn(const wr_rings *r, int ring, int which, int64_t turn);

/* The ring has shown `windows`, and shows no more. */
void wr_rings_conclude(const wr_rings *r, int ring, int64_t windows);

/* After the exit, when nobody looks any more: ready for the next call. */
void wr_rings_clear(const wr_node_windows *nw, int ring, int slots);

/* Does what a client can do without waiting; whether that was anything. `*over` once all rings are
 * done. */
bool wr_rings_attend(wr_rings *r, bool *over);

#endif
