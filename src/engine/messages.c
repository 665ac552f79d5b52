/* Rounds by messages. */
#include "engine/rounds.h"

void wr_rounds_messages(wr_call *call)
{
    wr_call_fail(call, wr_fail(WEIR_EUNSUPPORTED, "rounds by messages"), call->plan->lo);
}
