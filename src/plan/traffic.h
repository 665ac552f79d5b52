/* What the rounds of a plan send between nodes, counted without sending it: parts are cut as
 * aggregators and gates cut them (stretch.h). For one process that plans for all ranks, which are
 * placed in blocks. */
#ifndef WR_PLAN_TRAFFIC_H
#define WR_PLAN_TRAFFIC_H

#include "plan/cover.h"

typedef struct wr_sent {
    int64_t messages, bytes;
} wr_sent;

/* Whether a plan says which messages carry data. */
static inline bool wr_plan_has_parts(const wr_plan *plan)
{
    return plan->collective && plan->cell;
}

/* Adds what each node sends for the realm of aggregator i, of a walk that has not begun. */
int wr_traffic_add(const wr_windows *walk, int64_t i, int64_t ranks_per_node, wr_sent *nodes);

/* Messages that a node sends when all meet once: those of wr_join_run. */
int64_t wr_traffic_to_meet(int64_t node, int64_t nodes);

#endif
