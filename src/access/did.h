/* What was done of a plan, noted by the code that does it and logged at debug level beside what the
 * plan said: so that one can be compared with the other. */
#ifndef WR_ACCESS_DID_H
#define WR_ACCESS_DID_H

#include "plan/plan.h"
#include "storage/lock.h"

struct wr_handle;

typedef struct wr_did {
    int64_t number;    /* of the file's collective calls, or of a rank's own accesses if logged */
    int64_t way;       /* enum wr_way: the one that got through */
    int64_t exchange;  /* enum wr_exchange: of the rounds, if there were any */
    int64_t windows;   /* that were made */
    int64_t open;      /* of these, with us now, */
    int64_t most_open; /* and at a time */
    int64_t aside;     /* transfers of windows that the thread made */
    int64_t locks;     /* a bit by enum wr_lock_kind for each that was taken, */
    int64_t leased;    /* 1: a lease instead */
    int64_t handed;    /* 1: the thread was called for all of it */
    int64_t meetings;  /* of all ranks */
} wr_did;

static inline void wr_did_lock(wr_did *did, enum wr_lock_kind kind)
{
    did->locks |= INT64_C(1) << kind;
}

static inline void wr_did_open(wr_did *did)
{
    did->windows++;
    if (++did->open > did->most_open)
        did->most_open = did->open;
}

/* For WEIR_LOG=debug, and only then: the lines of a plan before it is obeyed, one line after. */
void wr_log_plan(const struct wr_handle *handle, int64_t number, const wr_plan_input *in,
                 const wr_plan *plan);
void wr_log_did(const struct wr_handle *handle, const wr_did *did);

#endif
