/* The ways in which one rank moves its own data between memory and file. A new one is a file, a
 * line in the table (alone.c) and a name in enum wr_way; when it is taken is decided in
 * plan/ways.c. */
#ifndef WR_ACCESS_WAY_H
#define WR_ACCESS_WAY_H

#include "access/did.h"
#include "access/handle.h"

/* An access of one rank, planned. Everything is borrowed but how it went. */
typedef struct wr_lone {
    wr_handle *handle;
    const wr_access_request *a;
    const wr_plan_input *in;
    const wr_plan *plan;
    enum wr_hold hold; /* of the way that is tried */
    wr_outcome outcome;
    wr_did did;
} wr_lone;

typedef struct wr_strategy {
    const char *help;
    /* Moves everything, and says in x->outcome how it went if that is not well; false: it cannot
     * be done in this way, and the next is tried, if the plan has one. */
    bool (*run)(wr_lone *x);
} wr_strategy;

/* The lock or lease that a write needs which reads nothing first; false if it cannot be had, which
 * is then the outcome. */
bool wr_lone_enter(wr_lone *x);
void wr_lone_leave(wr_lone *x);

bool wr_way_list(wr_lone *x);
bool wr_way_sieve(wr_lone *x);
bool wr_way_columns(wr_lone *x);
bool wr_way_mapped(wr_lone *x);
bool wr_way_direct(wr_lone *x);

#endif
