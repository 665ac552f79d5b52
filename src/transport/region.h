/* Segments of shared memory: made by one rank, mapped by all of its node; a fork does not inherit
 * it. Anonymous memory has no name and no limit but the machine's; the others find it through the
 * maker's descriptor in /proc. Where that is closed to them it is a file in a memory file system,
 * whose name exists only until everyone has mapped it. */
#ifndef WR_TRANSPORT_REGION_H
#define WR_TRANSPORT_REGION_H

#include "transport/transport.h"

enum { WR_REGION_NAME = 1280 };

/* What its maker tells the others. Plain data. */
typedef struct wr_segment {
    char name[WR_REGION_NAME];
    uint64_t device, inode; /* so that nothing else is taken for it */
    uint64_t number;        /* of the region */
    int file;               /* the maker's descriptor */
    enum wr_region_kind kind;
} wr_segment;

/* Creates a segment of `bytes` zeroed bytes, its memory reserved, and maps it. After success
 * wr_segment_hide, once everyone has it or will not have it. */
int wr_segment_create(enum wr_region_kind kind, const wr_tunables *tunables, int64_t bytes,
                      wr_segment *segment, wr_region *out);

/* Maps the segment of another rank. */
int wr_segment_open(const wr_segment *segment, int64_t bytes, wr_region *out);

/* Its maker takes away name and descriptor. */
void wr_segment_hide(wr_segment *segment);

#endif
