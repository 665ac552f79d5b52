/* What ranks tell each other at the two ends of a collective call. Nobody passes the entry before
 * all are there, and nobody leaves before all are through. */
#ifndef WR_EXCHANGE_MEETING_H
#define WR_EXCHANGE_MEETING_H

#include "exchange/rounds.h"

/* What all ranks want and have. */
typedef struct wr_joint {
    wr_summary wanted;
    wr_summary node; /* of this node's ranks */
    int64_t node_ns; /* what it costs the dearest node to go for itself; INT64_MAX: one cannot */
    int64_t file_size;
    int64_t room;        /* the least that any rank may keep in flight */
    int64_t aside;       /* 1: some rank would rather leave the storage to its thread */
    int64_t news;        /* 1: some rank has hints to agree on */
    int64_t wrote_alone; /* 1: some rank has written alone what owners may not see yet */
    int64_t unready;     /* 1: some rank may lack memory for its part in the rounds */
    int64_t unpaged;     /* 1: some rank reads what is not in small pieces in the page cache */
    wr_learned learned;  /* between nodes: of the first, and from now on of all */
} wr_joint;

/* [collective] Every rank says what it wants, or, by `code`, that it cannot take part; all learn of
 * all, and return the same. */
int wr_call_enter(wr_call *call, int code, wr_joint *all);

/* What the plan of a call is made from, the same on all ranks but for what moves it. */
void wr_call_input(const wr_call *call, const wr_joint *all);

/* [collective] Between entry and exit: whoever comes with a code, all return that of the lowest
 * rank. */
int wr_call_agree(wr_call *call, int code);

/* What this rank's transfers have taken since this was last asked for; nothing while one is just
 * being timed. NULL: for nobody. */
void wr_call_take_times(const wr_call *call, wr_timings *took);

/* [collective] Every rank says how it went; the error of the lowest rank counts, and the lowest
 * stop. All return the same. */
int wr_call_leave(wr_call *call);

#endif
