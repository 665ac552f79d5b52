/* Who wants something of a realm, found without asking everybody: for one process that plans for
 * all ranks. Of a realm between two offsets only those are looked at whose bounds reach there. */
#ifndef WR_PLAN_PARTNERS_H
#define WR_PLAN_PARTNERS_H

#include "plan/cover.h"

/* The bounds of a want; sorted by where they begin. */
typedef struct wr_reach {
    int64_t lo, hi;
    int64_t furthest; /* hi of this one and all before */
    int64_t want;
} wr_reach;

typedef struct wr_partners {
    int64_t count;
    const wr_want *wants; /* borrowed, ascending by rank */
    wr_reach *reach;
} wr_partners;

/* 0 or WEIR_ENOMEM. */
int wr_partners_build(wr_partners *p, int64_t count, const wr_want *wants);
void wr_partners_release(wr_partners *p);

/* Sets *out, to be freed, to the wants that meet a realm, ascending by rank. */
int wr_partners_find(const wr_partners *p, const weir_pattern *realm, wr_want **out,
                     int64_t *count);

#endif
