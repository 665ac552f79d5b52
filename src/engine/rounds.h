/* The rounds of a collective call, by shared memory or by messages. */
#ifndef WR_ENGINE_ROUNDS_H
#define WR_ENGINE_ROUNDS_H

#include "engine/operation.h"

/* What a call is about, the same for both ways; built by collective.c. */
typedef struct wr_call {
    wr_port *port;
    const wr_access_request *a;
    const wr_plan_input *in;
    const wr_plan *plan;
    int64_t mine;        /* number of the realm this rank is aggregator of, or -1 */
    int desk;            /* its number among the aggregators of the node */
    int desks;           /* aggregators of the node: they have adjacent realms, */
    int64_t first_realm; /* from this one on */
    int64_t wants_count; /* of the ranks that this aggregator serves, ascending by rank */
    wr_want *wants;      /* `rank` is the local rank for rounds_shared */
    int64_t known_count; /* patterns of wr_call_know: of the first wants, dropped ones included */
    bool shared;         /* rounds were through shared memory */
    int slots;           /* windows an aggregator may have under way, with shared memory */
    bool away;           /* the storage is the progress thread's */
    wr_operation *op;    /* or NULL: a blocking call */
    wr_word *bell;       /* rung when it is through with something, or NULL */
    wr_outcome outcome;  /* of this rank; goes on to the exit agreement */
    weir_error *error;   /* if outcome.code */
} wr_call;

/* Local rank of an aggregator of the node. */
static inline int wr_call_desk_rank(const wr_call *c, int desk)
{
    const wr_transport *t = c->port->world->transport;
    return (int)wr_plan_place(c->plan, c->first_realm + desk, t->size) - t->local_first;
}

/* Fills `wants`, which has room, with what each of `ranks` ranks (rank[i], or i where that is NULL)
 * wants of a realm (NULL: at all), as the call itself tells; wants are numbered by i. */
int wr_call_know(wr_call *call, int ranks, const int *rank, const weir_pattern *realm);

/* Frees what wr_call_know made. */
void wr_call_forget(wr_call *call);

/* Notes an error of this rank that leaves everything from `stop` on undone. */
void wr_call_fail(wr_call *call, int code, int64_t stop);

/* From here on only the storage keeps this rank in the call: the caller of _begin may go. */
static inline void wr_call_stored(const wr_call *c)
{
    if (c->op)
        wr_operation_stored(c->op);
}

/* Everyone on the node, wants being known. Nobody leaves before all windows are through. */
void wr_rounds_shared(wr_call *call);

/* After the exit agreement, when nobody looks at the hall any more. */
void wr_rounds_shared_end(wr_call *call);

/* [collective] By messages; requests travel here too. */
void wr_rounds_messages(wr_call *call);

#endif
