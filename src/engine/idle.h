/* Shared memory that files keep between their collective calls, for a call like the one before.
 * Only those used last keep it, so that many open files hold little; others borrow from the one
 * used longest ago. A rank lets go by itself, and says so at the entry of the file's next call.
 *
 * A port is on its list while no collective call of it is under way. */
#ifndef WR_ENGINE_IDLE_H
#define WR_ENGINE_IDLE_H

#include "engine/world.h"

/* Before a call, and before the port ends: nobody else takes its memory from here on. */
void wr_idle_take(struct wr_port *port);

/* After a call. */
void wr_idle_put(struct wr_port *port);

/* Takes the hall's memory of a file of this world that has it idle: of region `number`, or, with 0,
 * of the one used longest ago of those of at least `bytes`, once as many files as may do keep
 * theirs. */
bool wr_idle_lend(wr_world *world, uint64_t number, int64_t bytes, wr_region *out);

/* All but the first `kept` let go. */
void wr_idle_drop(wr_idle *idle, int64_t kept);

#endif
