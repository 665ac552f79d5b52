/* Who takes part in a window, and what of it moves between two parties in one message: a stretch,
 * the data of some ranks of a party, packed one after the other in ascending order. What several of
 * them want alike stands there once. An aggregator and its gates cut the same stretches, each for
 * itself: from the range of the window, which the plan tells, and the party's wants. */
#ifndef WR_PLAN_STRETCH_H
#define WR_PLAN_STRETCH_H

#include "plan/cover.h"

/* Wants in the order in which they are dealt with: party by party, or, where ranks of different
 * parties must be written one after the other and the parties' ranks interleave, by rank. */
typedef struct wr_demand {
    const wr_plan *plan;
    const weir_pattern *realm;
    int64_t count;
    const wr_want **want;
    int *party;     /* of each */
    int64_t *same;  /* of each, the first of its party that wants the same */
    int64_t active; /* those in the window, */
    int64_t *list;  /* ascending */
} wr_demand;

typedef struct wr_stretch {
    int64_t first, count; /* of the active wants */
    int64_t bytes;
} wr_stretch;

/* Wants, ascending by rank, and the party of each, below `parties`; in memory of `memory`. Keeps
 * pointers to wants, but not to `party`. */
typedef struct wr_parted {
    int64_t count;
    const wr_want *wants;
    const int *party;
    int parties;
} wr_parted;

int wr_demand_build(wr_demand *q, const wr_plan *plan, const wr_parted *wants, wr_arena *memory);

/* Those who want something in the window are active. */
void wr_demand_open(wr_demand *q, const wr_window *window);

static inline const wr_want *wr_demand_want(const wr_demand *q, int64_t active)
{
    return q->want[q->list[active]];
}

static inline int wr_demand_party(const wr_demand *q, int64_t active)
{
    return q->party[q->list[active]];
}

/* Whether the data of an active want stand in the stretch already. */
static inline bool wr_demand_repeats(const wr_demand *q, const wr_stretch *s, int64_t active)
{
    int64_t first = q->same[q->list[active]];
    return first != q->list[active] && first >= q->list[s->first];
}

/* The stretch from an active want on; no bytes: there are none. */
wr_stretch wr_demand_cut(const wr_demand *q, const wr_window *window, int64_t from);

/* Data of one want in the window. */
int64_t wr_demand_bytes(const wr_demand *q, const wr_window *window, int64_t active);

#endif
