/* Who wants something of a realm, found without asking everybody: for one process that plans for
 * all ranks. Realms are asked about in ascending order; then each costs who wants something between
 * its bounds. */
#ifndef WR_PLAN_PARTNERS_H
#define WR_PLAN_PARTNERS_H

#include "plan/want_queue.h"

/* Sets *out, to be freed, to the wants of a queue that meet a realm, ascending by rank. */
int wr_partners_find(wr_want_queue *all, const weir_pattern *realm, wr_want **out, int64_t *count);

#endif
