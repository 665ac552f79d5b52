/* The rounds of a collective call, and the ways in which data move between ranks in them. */
#ifndef WR_EXCHANGE_ROUNDS_H
#define WR_EXCHANGE_ROUNDS_H

#include "exchange/group_access.h"

/* What ranks want, ascending by rank. */
typedef struct wr_wants {
    int64_t count;
    wr_want *list;
    int64_t made; /* patterns of wr_call_know: of the first wants, dropped ones included */
} wr_wants;

/* Who shares memory in the rounds of a call: the ranks of a node, or, where exchange=p2p or there
 * is no shared memory, each rank by itself. Data go from one party to another by messages: between
 * an aggregator and, in each other party, its gate, which is one of that party's ranks. */
typedef struct wr_party {
    bool ranks;     /* each rank is one */
    int count, own; /* parties, and this rank's; sorted as nodes are, or by rank */
    int size, self; /* ranks of the own one: members, and this rank's number among them */
} wr_party;

/* What a call is about, the same for all exchanges; built by collective.c. */
typedef struct wr_call {
    wr_group *group;
    const wr_access_request *a;
    wr_rounds rounds; /* of this rank as aggregator */
    wr_plan_input *in;
    wr_plan *plan;
    int64_t mine;        /* number of the realm this rank is aggregator of, or -1 */
    wr_party party;      /* of this rank, in the rounds */
    int rings;           /* aggregators of the party: they have adjacent realms, */
    int64_t first_realm; /* from this one on */
    int gates;           /* that take part in the windows of other parties' aggregators */
    wr_wants wants; /* that this aggregator serves, by rank; by member, if there is one party */
    uint32_t epoch; /* of the mailbox, in which the node's requests are */
    bool shown;     /* with those that do not fit it, in group->requests */
    bool described; /* this node knows what all ranks want */
    const struct wr_exchanger *exchange; /* of the rounds, or NULL: there are none */
    int slots;               /* windows that may be under way in a ring; 0: there are no rings */
    struct roles *roles;     /* of this rank, in the rounds (rounds.c) */
    bool holds;              /* this rank does all that is accessed, in atomic mode */
    bool wrote_alone;        /* owners must look at the file anew */
    wr_group_access *access; /* or NULL: a blocking call */
    wr_outcome outcome;      /* of this rank; goes on to the exit agreement */
    weir_error *error;       /* if outcome.code */
} wr_call;

/* Where aggregator i is among the ranks sorted by node. */
static inline int64_t wr_call_place(const wr_call *c, int64_t i)
{
    int64_t seat = wr_plan_seat(c->plan, i);
    if (c->plan->per_node)
        return c->group->handle.world->transport->local_first + seat;
    return c->group->seat && c->plan->seats == c->group->seats ? c->group->seat[seat] : seat;
}

/* The rank that is aggregator i. */
static inline int wr_call_aggregator(const wr_call *c, int64_t i)
{
    return c->group->handle.world->transport->by_node[wr_call_place(c, i)];
}

/* The member that owns a ring: an aggregator of the party, or a gate; these are the aggregators
 * again, or, if there are none, the first member. */
int wr_call_owner(const wr_call *call, int ring);

/* The party of a rank, and its number there; with one party, ranks are numbers of members. */
int wr_call_party(const wr_call *call, int rank);
int wr_call_member(const wr_call *call, int rank);

/* The rank that is the gate of another party to aggregator i. */
int wr_call_gate(const wr_call *call, int party, int64_t i);

/* Fills `wants`, which has room, with what each of `ranks` ranks (rank[i], or i where that is NULL)
 * wants of a realm (NULL: at all), as the call itself tells; wants are numbered by i. */
int wr_call_know(const wr_call *call, int ranks, const int *rank, const weir_pattern *realm,
                 wr_wants *wants);

/* Frees what wr_call_know made. */
void wr_wants_forget(wr_wants *wants);

/* What all ranks want of a realm, ascending by rank; NULL: this rank is no aggregator, or has
 * failed, and gets nothing. [collective, unless the call itself tells or all are described]
 * Patterns lie in `memory` or in shared memory, as long as the call. */
int wr_call_served(wr_call *call, wr_arena *memory, const weir_pattern *realm, wr_wants *out);

/* [collective on the node] Requests too large for a mailbox are put where others find them, or
 * there is WR_NO_REGION for that. */
int wr_call_show(wr_call *call);

/* The most that a request of the node has in a window because it has bytes several times; 0: none
 * has. */
int64_t wr_call_widest(const wr_call *call);

/* What everyone on the node wants, by local rank, after wr_call_show. */
int wr_call_gather(const wr_call *call, wr_arena *memory, wr_wants *out);

/* Notes an error of this rank that leaves everything from `stop` on undone. */
void wr_call_fail(wr_call *call, int code, int64_t stop);

/* From here on only the storage keeps this rank in the call: the caller of a split call may go. */
static inline void wr_call_stored(const wr_call *c)
{
    if (c->access)
        wr_operation_stored(&c->access->op);
}

/* Says what the plan is now, if the log asks for it. */
void wr_call_log(const wr_call *call);

/* Leaves rounds, or another part of a call, to the progress thread, and waits for them. */
void wr_call_hand_over(wr_call *call, void (*run)(wr_call *call));

/* [collective, on one node] All rounds, where there is no shared memory for them. */
void wr_call_run_apart(wr_call *call);

/* A way of moving data between ranks. */
typedef struct wr_exchanger {
    const char *name;
    const char *help;
    /* [collective] All rounds, admission included; what goes wrong is noted in the call. Nobody
     * leaves before all windows are through. */
    void (*run)(wr_call *call);
    /* After the exit agreement, when nobody looks at shared memory any more; or NULL. */
    void (*end)(wr_call *call);
} wr_exchanger;

/* In the order of the tunable `exchange`; ended by {0}. */
extern const wr_exchanger wr_exchanges[];

void wr_rounds_windows(wr_call *call);
void wr_rounds_windows_end(wr_call *call);
void wr_rounds_alltoall(wr_call *call);

#endif
