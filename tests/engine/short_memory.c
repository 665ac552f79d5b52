#include "engine/short_memory.h"

#include <errno.h>

#include "check.h"
#include "transport/region.h"

static _Atomic uint64_t seed;
static _Atomic int64_t percent, most = INT64_MAX, made, refused;

void short_memory_set(uint64_t chosen, int64_t of_hundred, int64_t from)
{
    seed = chosen;
    percent = of_hundred;
    most = from;
}

void short_memory_count(int64_t *segments, int64_t *failed)
{
    *segments = made;
    *failed = refused;
}

int __real_wr_segment_create(enum wr_region_kind kind, const wr_tunables *tunables, int64_t bytes,
                             wr_segment *segment, wr_region *out);
int __wrap_wr_segment_create(enum wr_region_kind kind, const wr_tunables *tunables, int64_t bytes,
                             wr_segment *segment, wr_region *out);

int __wrap_wr_segment_create(enum wr_region_kind kind, const wr_tunables *tunables, int64_t bytes,
                             wr_segment *segment, wr_region *out)
{
    rng r = {seed ^ (uint64_t)bytes};
    made++;
    if (bytes < most && !rng_chance(&r, (int)percent))
        return __real_wr_segment_create(kind, tunables, bytes, segment, out);
    refused++;
    return wr_fail_system(ENOSPC, "", -1, "reserve shared memory");
}
