/* Segments of shared memory: made by one rank, mapped by all of its node. Names exist only until
 * everyone has mapped it; a fork does not inherit it. */
#ifndef WR_TRANSPORT_REGION_H
#define WR_TRANSPORT_REGION_H

#include "transport/transport.h"

enum { WR_REGION_NAME = 1280 };

/* Creates a segment of `bytes` zeroed bytes under a new name in `folder`, its memory reserved, and
 * maps it. */
int wr_segment_create(const char *folder, int64_t bytes, char name[WR_REGION_NAME], wr_region *out);

/* Maps the segment of that name. */
int wr_segment_open(const char *name, int64_t bytes, wr_region *out);

void wr_segment_unlink(const char *name);

#endif
