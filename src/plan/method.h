/* Access methods: how a window is covered, by one run with whatever lies between (sieve) or by what
 * is wanted (list). A new one is a file and a line in the table. */
#ifndef WR_PLAN_METHOD_H
#define WR_PLAN_METHOD_H

#include "plan/cover.h"

typedef struct wr_method {
    const char *name;
    const char *help;
    /* Of a window [lo, hi) of a realm, with who touches it out of the queue: 1 to sieve, 0 to list,
     * or a negative code; says why. NULL: always as `sieve` says. */
    int (*choose)(wr_windows *w, int64_t lo, int64_t hi, const char **reason);
    const char *why;
    bool sieve;
    bool exact; /* of what is listed, runs that are close are not joined */
    bool plain; /* a rank alone, too, touches nothing but what it wants */
} wr_method;

/* In the order of the tunable `access`; ended by {0}. */
extern const wr_method wr_methods[];

/* The tuned one; where a file cannot be read, listing. */
const wr_method *wr_method_of(const wr_plan_input *in);

/* Runs closer than this are joined where they are listed: a gap costs less than a call. */
int64_t wr_method_gap(const wr_windows *w);

#endif
