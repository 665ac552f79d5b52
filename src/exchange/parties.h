/* Who shares memory in the rounds of a call (wr_party in rounds.h). */
#ifndef WR_EXCHANGE_PARTIES_H
#define WR_EXCHANGE_PARTIES_H

#include "exchange/rounds.h"
#include "plan/stretch.h"

/* Sets what the call says of this rank's party, of the aggregators in it, and of its own role. */
void wr_call_find_party(wr_call *call, bool ranks);

/* A queue of wants, whose ranks are numbers of ranks, or, for a gate, of its party's members; in
 * memory of `memory`. */
int wr_call_demand(const wr_call *call, const wr_wants *wants, bool members, wr_arena *memory,
                   wr_demand *out);

#endif
