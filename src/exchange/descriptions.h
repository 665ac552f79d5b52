/* What all ranks want, as it travels between nodes, and as each node keeps it until the next call:
 * a rank that wants the same again is described by a header only.
 *
 * Every call in which all ranks are described replaces what is kept, on all nodes alike; `call` is
 * its number, by which nodes find out whether they keep the same. */
#ifndef WR_EXCHANGE_DESCRIPTIONS_H
#define WR_EXCHANGE_DESCRIPTIONS_H

#include "base/price.h"
#include "pattern/pattern.h"
#include "plan/plan.h"
#include "runtime/channel.h"

/* Of one rank; ranks follow each other in the order of nodes. */
typedef struct wr_described {
    int32_t rank;
    int32_t same; /* 1: the pattern is the one kept; otherwise it follows, */
    int64_t begin, end;
    int64_t bytes; /* in so many */
} wr_described;

_Static_assert(sizeof(wr_described) == WR_DESCRIBED_HEAD, "as plans count it");

/* Of a message with as many descriptions as there may be, and of two. */
enum {
    WR_MEETING_BYTES = WR_DESCRIBED_BYTES + (32 << 10),
    WR_MEETING_MEMORY = 2 * WR_MEETING_BYTES
};

/* Of an open file. */
typedef struct wr_descriptions {
    wr_region region;     /* what is kept, shared by the ranks of the node; never lent */
    bool full;            /* there is no memory for a larger one */
    int64_t call;         /* number of the call that it is of; 0: none */
    int64_t count, bytes; /* ranks, and what they take */
    int64_t need;         /* what the latest call would have taken */
    int64_t begin, end;   /* this rank's part of it */
    wr_hash hash;
    char *messages; /* of a leader: WR_MEETING_MEMORY, where they are made */
} wr_descriptions;

static inline wr_described wr_described_of(int rank, int64_t begin, int64_t end,
                                           int64_t pattern_bytes)
{
    return (wr_described){rank, 0, begin, end,
                          wr_described_room(pattern_bytes) - WR_DESCRIBED_HEAD};
}

/* Where the next one goes: behind the pattern, unless that is the one kept. */
char *wr_described_put(char *to, wr_described d, const weir_pattern *pattern);
const wr_described *wr_described_next(const wr_described *d);

/* Whether this rank is described there as it wants to be now. */
bool wr_descriptions_hold(const wr_descriptions *d, const weir_pattern *pattern, int64_t begin,
                          int64_t end);

/* [collective on the node] Makes room for `bytes` if that can be had. */
void wr_descriptions_grow(wr_descriptions *d, wr_channel *inner, int64_t bytes);

/* Leader: what `count` ranks said, `same` of them by a header, becomes what is kept, by way of
 * `spare` memory. */
void wr_descriptions_keep(wr_descriptions *d, int64_t count, int64_t same, const void *said,
                          void *spare);

void wr_descriptions_release(wr_descriptions *d);

#endif
