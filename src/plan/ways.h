/* How data go between memory and file, what is locked and who moves it: the part of a plan that
 * does not depend on where realms are cut. Used by plan.c only. */
#ifndef WR_PLAN_WAYS_H
#define WR_PLAN_WAYS_H

#include "plan/plan.h"

/* The rest of a plan whose realms, prices and exchange are known. */
void wr_ways_together(const wr_plan_input *in, wr_plan *plan);

/* Windows are no larger than there is shared memory for. */
void wr_ways_limit(const wr_plan_input *in, wr_plan *plan);

/* Whether a rank that reads alone pays less for exactly what it wants than for more. */
bool wr_plan_list_is_cheaper(const wr_plan_input *in);

#endif
