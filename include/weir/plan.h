/* What an access would do, without doing it: ways of access, locks, realms, aggregators, windows,
 * and what it would cost. The same functions decide when a file is really accessed. */
#ifndef WEIR_PLAN_H
#define WEIR_PLAN_H

#include "weir/pattern.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a call is made. Split is what MPI-IO's split collectives are. */
enum weir_form { WEIR_BLOCKING, WEIR_SPLIT, WEIR_NONBLOCKING };

/* `ranks` and `patterns` must be set; everything else may be 0 or NULL. */
typedef struct weir_plan_request {
    int ranks;
    int ranks_per_node;                  /* 0: all on one node */
    int cores;                           /* of a node; 0: as many as ranks on it */
    const weir_pattern *const *patterns; /* by rank, ordered; NULL where a rank wants nothing */
    int write;                           /* 0: reading */
    int alone;                           /* 1: each rank for itself, not a collective call */
    int form;                            /* enum weir_form */
    int64_t file_size;
    int64_t unit;    /* realms are cut at multiples of it, such as a column; 0: 1 */
    int realm_count; /* realms of the caller's own, as for weir_file_set_realms */
    const weir_pattern *const *realms;
    int64_t realm_period;
    const char *hints;   /* NAME=VALUE;..., as for weir_file_open; the environment is stronger */
    int64_t reserved[4]; /* 0 */
} weir_plan_request;

/* Never changes once made: any number of threads may use it. */
typedef struct weir_plan weir_plan;

/* Borrows patterns and realms until the plan is freed. WEIR_EINVAL: no ranks, patterns or such
 * form, a pattern that is not ordered, or, for writing, not disjoint, realms or hints that are
 * refused; WEIR_ENOMEM. [local] */
WEIR_API int weir_plan_new(const weir_plan_request *request, weir_plan **out);

/* Write the plan as lines of text, or as a picture: the file from left to right, requests, realms
 * and windows as bands. Cut to fit text[0, size) and terminated; return the length of the whole, or
 * a negative code. [local] */
WEIR_API int64_t weir_plan_print(const weir_plan *plan, char *text, size_t size);
WEIR_API int64_t weir_plan_svg(const weir_plan *plan, char *text, size_t size);

/* NULL is fine. [local] */
WEIR_API void weir_plan_free(weir_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
