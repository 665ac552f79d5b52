/* What one rank wants of a file, and questions about it that cost no more than a search in its
 * pattern. */
#ifndef WR_PLAN_WANT_H
#define WR_PLAN_WANT_H

#include "pattern/pattern.h"

/* What one rank wants: data [begin, end) of an ordered pattern, borrowed. */
typedef struct wr_want {
    const weir_pattern *pattern;
    int64_t begin, end;
    int rank;
} wr_want;

/* Drops those who want nothing of a realm: what its windows are must not depend on them. Returns
 * how many are left; the others lie behind these. */
int64_t wr_wants_keep(const weir_pattern *realm, int64_t count, wr_want *wants);

/* Whether a rank wants something of a realm. */
bool wr_want_meets(const wr_want *want, const weir_pattern *realm);

/* The first byte at or after x that a rank wants; false if there is none. */
bool wr_want_first(const wr_want *want, int64_t x, int64_t *offset);

/* Whether a rank wants something in [lo, hi): the same answer on the aggregator and on the rank. */
bool wr_want_touches(const wr_want *want, int64_t lo, int64_t hi);

/* How many bytes of a realm a rank wants in [lo, hi). */
int64_t wr_want_bytes(const wr_want *want, const weir_pattern *realm, int64_t lo, int64_t hi);

/* Its innermost stride at x, or where it goes on after that; 0 if it does not. */
int64_t wr_want_stride(const wr_want *want, int64_t x);

#endif
