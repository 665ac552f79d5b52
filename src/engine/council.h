/* Collective operations on a channel: by its mailboxes where all ranks share memory, otherwise by
 * messages. As wr_allreduce, wr_broadcast and wr_agree of the transport, and in their words; on an
 * inner channel they concern the ranks of the node, whose first stands for rank 0. */
#ifndef WR_ENGINE_COUNCIL_H
#define WR_ENGINE_COUNCIL_H

#include "engine/world.h"

enum { WR_COUNCIL_VALUES = 64 };

/* [collective] At most WR_COUNCIL_VALUES. */
int wr_council_reduce(wr_channel *c, enum wr_reduction reduction, int count, int64_t *values);

/* [collective] What the lower ranks' values come to, and those of all. */
int wr_council_sums(wr_channel *c, int count, const int64_t *values, int64_t *before,
                    int64_t *total);

/* [collective] Rank 0's bytes reach all. */
int wr_council_tell(wr_channel *c, void *data, int64_t bytes);

/* [collective on the node, on an inner channel] As wr_region_open, without messages; with a code as
 * in agree. WR_NO_REGION: there is no memory to be had, not even that which idle files keep. */
enum { WR_NO_REGION = 1 };
int wr_council_region(wr_channel *c, int code, int64_t bytes, wr_region *out);

/* [collective] Whoever failed, all return the code and details of the lowest rank that did. */
int wr_council_agree(wr_channel *c, int code);

#endif
