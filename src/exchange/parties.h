/* Who shares memory in the rounds of a call (wr_party in rounds.h). */
#ifndef WR_EXCHANGE_PARTIES_H
#define WR_EXCHANGE_PARTIES_H

#include "exchange/rounds.h"

/* Sets what the call says of this rank's party, of the aggregators in it, and of its own role. */
void wr_call_find_party(wr_call *call, bool ranks);

#endif
