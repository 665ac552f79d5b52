/* What was done of a plan, noted by the code that does it and logged at debug level beside what the
 * plan said: so that one can be compared with the other. */
#ifndef WR_ACCESS_DID_H
#define WR_ACCESS_DID_H

#include "base/timer.h"
#include "plan/plan.h"
#include "storage/lock.h"

struct wr_access_request;
struct wr_handle;

typedef struct wr_did {
    int64_t began;     /* when, if there is a profile; otherwise 0 */
    int64_t number;    /* of the file's collective calls, or of a rank's own accesses if logged */
    int64_t way;       /* enum wr_way: the one that got through */
    int64_t alone;     /* the same, of a rank by itself in a collective call */
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

/* For the profile, and only then: 0 otherwise. */
static inline int64_t wr_did_begin(const wr_watch *watch)
{
    if (!watch->profile)
        return 0;
    return wr_timer_now ? wr_timer_now->last : wr_clock_ns();
}

/* An access that is over. The exchange is that of its rounds, by name. */
typedef struct wr_noted {
    const struct wr_access_request *a;
    const wr_plan_input *in;
    const wr_plan *plan;
    const wr_did *did;
    const char *exchange;
} wr_noted;

/* Its class in the profile, from 1, with the text of its plan where the profile wants that. */
int wr_note_class(const struct wr_handle *handle, const wr_noted *access);

#endif
