/* An open file as its ranks access it together: who takes part, the memory they share, and the
 * realms they keep from call to call. */
#ifndef WR_EXCHANGE_GROUP_H
#define WR_EXCHANGE_GROUP_H

#include "access/handle.h"
#include "exchange/descriptions.h"
#include "exchange/node_windows.h"
#include "runtime/operation.h"

struct wr_group_access;

typedef struct wr_group {
    wr_handle handle;
    wr_channel channel;
    wr_channel inner;   /* for what happens between a call's entry and its exit, on one node */
    wr_transport *wide; /* for all-to-alls; NULL unless tuned so */
    int64_t seats;      /* ranks that may be aggregators, */
    int *seat;          /* their places among the ranks sorted by node; NULL: all */
    wr_node_windows node_windows; /* opened by the first collective call */
    wr_region requests;           /* patterns that do not fit a mailbox, during a call */
    wr_cached_regions kept;       /* both of these, between calls */
    wr_descriptions descriptions; /* of what all ranks want, of several nodes */
    wr_learned learned;           /* what its calls have taken, and what follows */
    wr_held held;                 /* what all ranks have memory for by now */
    void *aside;                  /* for what else rounds between parties take */
    wr_region packed;             /* of this rank as aggregator: messages on their way */
    int64_t in_flight;            /* bytes of the node windows that count as memory for overlap */
    wr_window_cache window_cache[2]; /* of this rank as aggregator, by direction */
    int64_t unit, align;             /* of realms */
    int64_t origin;                  /* where the first unit starts */
    int64_t base, block;     /* of persistent realms; block 0 before the first collective call */
    int64_t owners;          /* and how many have them */
    bool unsettled;          /* they have written since the latest sync: only they see it */
    wr_custom_realms custom; /* for realms=custom; the patterns are the group's */
    int64_t custom_hash;
    bool news;                /* this rank has hints to agree on; it says so at its next call, */
    bool has_news;            /* and then all know that somebody has */
    uint64_t calls;           /* collective calls so far */
    wr_operations operations; /* in flight */
} wr_group;

/* [collective] All ranks return the same code; *count is how many bytes of this rank's data, from
 * the first, are known to be moved. A rank comes with `code` != 0 if it cannot take part: then all
 * fail, and nothing is moved. `access` is what it belongs to, NULL for a blocking call. */
int wr_collective_run(wr_group *group, const wr_access_request *a, int code,
                      struct wr_group_access *access, int64_t *count);

/* Ready to be used, but for its channel and what its handle still needs. */
void wr_group_init(wr_group *group, wr_world *world);

/* Whether the rounds of collective calls are by messages, whatever they are about. */
bool wr_group_by_messages(const wr_group *group);

/* [collective] What the tunables ask for besides transfers is there: who may be aggregator, a
 * transport of the file's own. On failure nothing has changed. */
int wr_group_prepare(wr_group *group, const wr_tunables *tunables);

/* Sets memory aside for a call that has promised to have enough; whether it is there. When it runs
 * short it gives that back to the system. */
bool wr_group_set_aside(wr_group *group);
void wr_group_give_back(wr_group *group);

/* Gives up memory shared by the ranks of a node: the node windows, and what holds large requests.
 * By whoever has the group to itself: a call, or the region cache; at its end a group leaves that
 * first. */
void wr_group_close_regions(wr_group *group);
void wr_group_end_regions(wr_group *group);

/* What was learned comes before what was known when the file was opened. A MiB counts at least so
 * much: windows go from one rank's processor to another's. */
void wr_group_prices(const wr_group *group, int64_t least_mib_ns, wr_plan_input *in);

/* The part of a plan's input that the open file knows, of all ranks; what is wanted is the
 * caller's. */
void wr_group_input(const wr_group *group, enum wr_direction direction, wr_plan_input *in);

#endif
