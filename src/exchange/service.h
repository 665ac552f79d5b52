/* An aggregator's rounds by messages, and what all ranks need for them.
 *
 * An aggregator handles one window at a time. It announces the window's range to those that take
 * part, and their data follow, one message after the other; both sides know the lengths from range
 * and pattern. It deals with ranks, each for itself, or with leaders, each for the ranks of its
 * node. A stretch is what moves in one message: one want, or several of one node, packed in
 * ascending order of ranks.
 *
 * Stretches move in ascending order of nodes, or of ranks where writes overlap. So a rank that
 * waits for an aggregator waits, in the end, for a lower one that does not wait. Where writes
 * overlap and the ranks of nodes interleave, the two orders differ: then a window is announced to
 * one partner at a time (in_turn). */
#ifndef WR_EXCHANGE_SERVICE_H
#define WR_EXCHANGE_SERVICE_H

#include "exchange/rounds.h"

/* From an aggregator. */
typedef struct wr_announcement {
    int64_t lo, hi;
    int64_t valid;      /* when reading: bytes from here on do not exist */
    int64_t last;       /* 1: there are no more windows */
    int64_t realm;      /* the aggregator's */
    int64_t first, end; /* whose data move: of ranks [first, end), those of the node announced to */
} wr_announcement;

typedef struct wr_stretch {
    int64_t first, count; /* of the wants, in the order of the window */
    int rank;             /* whom to deal with */
    int64_t bytes;        /* -1: not counted yet */
} wr_stretch;

typedef struct wr_service {
    wr_call *call;
    wr_transport *t;
    bool by_node;    /* it deals with leaders */
    wr_arena memory; /* all of it is there before the first round; for other roles too */
    int state;
    weir_pattern **realms; /* by aggregator */
    wr_windows walk;
    wr_round round;
    bool moving;                   /* the data of stretch `next` are under way */
    bool spoiled;                  /* data did not come: the window must not be written */
    bool waits;                    /* for the storage, which the progress thread has */
    bool in_turn;                  /* announce to one partner at a time */
    int64_t *ascending, *by_nodes; /* wants: in these orders, */
    const int64_t *order;          /* of which the window has this */
    int64_t stretches, next;       /* next: being announced to, or whose data move */
    wr_stretch *stretch;
    wr_announcement *announcement; /* by stretch, as is */
    wr_request *announced;
    wr_request data;
    char *buffer;
    char *packed; /* of one stretch */
    int64_t own;  /* bytes that were this rank's own, and went without a message */
} wr_service;

static inline int wr_service_tag(const wr_service *s, int tag)
{
    return s->call->group->channel.tag + tag;
}

/* The rank that is aggregator i. */
static inline int wr_service_rank(const wr_service *s, int64_t i)
{
    return s->t->by_node[wr_call_place(s->call, i)];
}

/* What of its window exists. */
static inline wr_window wr_service_range(const wr_service *s)
{
    const wr_window *w = &s->round.window;
    return (wr_window){.lo = w->lo, .hi = w->hi < s->round.valid ? w->hi : s->round.valid};
}

/* All realms. */
int wr_service_open(wr_service *s);

/* Requests in a parcel: how much one takes, and where the next one goes. */
int64_t wr_parcel_room(const wr_want *want);
char *wr_parcel_put(char *to, const wr_want *want);

/* What an aggregator is asked for, by parcels, which it keeps, or by what the call itself tells. */
int wr_service_hear(wr_service *s, int count, const wr_parcel *in);
int wr_service_know(wr_service *s);

/* [collective] All of that where each rank asks for itself, *partners aggregators. */
int wr_service_ask(wr_service *s, int64_t *partners);

/* The memory of its rounds. */
int wr_service_prepare(wr_service *s);

/* The most that a want has in a window: more than a window only if it has bytes several times. */
int64_t wr_service_part(const wr_service *s, const weir_pattern *pattern, int64_t bytes);

/* Of an aggregator, once all have memory; others are through at once. */
void wr_service_begin(wr_service *s);

/* Does what can be done without waiting; whether that was anything. */
bool wr_service_run(wr_service *s);
bool wr_service_is_over(const wr_service *s);

/* Whether only the storage keeps it. */
bool wr_service_is_stored(const wr_service *s);

void wr_service_close(wr_service *s);

#endif
