/* The plan of a collective access: a pure function of one input.
 *
 * The input is what all ranks together want, where they run, what was tuned and what the storage
 * costs. The plan says whether they go together, which ranks are aggregators, which part of the
 * file (realm) each is responsible for, and how much it handles in a round. No I/O, no MPI, no
 * clock, no floating point: prices are nanoseconds. Equal inputs give equal plans, byte for byte,
 * on every rank.
 *
 * Invariant L1: the realms of a plan never overlap, and cover every byte of [lo, hi). */
#ifndef WR_PLAN_PLAN_H
#define WR_PLAN_PLAN_H

#include "base/tunables.h"
#include "pattern/pattern.h"

/* What one rank wants, or all of them together. */
typedef struct wr_summary {
    int64_t lo, hi; /* bounds; lo == hi: nothing */
    int64_t bytes;  /* data, counted once per rank */
    int64_t runs;
    int64_t active; /* ranks that want something */
    int64_t apart;  /* 1: their bounds are known not to overlap */
} wr_summary;

/* Of one request; `begin` and `end` are data positions of the pattern. */
wr_summary wr_summary_of(const weir_pattern *pattern, int64_t begin, int64_t end);

/* Of several; `apart` is found out by comparing bounds in the order given, which is enough where
 * ranks own ascending parts of a file. */
wr_summary wr_summary_join(int64_t count, const wr_summary *parts);

/* Everything a plan depends on. All fields are int64_t, so that it can be hashed and printed. */
typedef struct wr_plan_input {
    int64_t direction; /* enum wr_direction */
    int64_t ranks, nodes, cores;
    wr_summary wanted;
    int64_t file_size;
    int64_t unit;  /* realms are cut at multiples of it: a slice of an array, an etype */
    int64_t align; /* and of this: stripes, pages */
    int64_t block; /* of persistent realms; 0: not fixed yet */
    int64_t realms, aggregators, collective, access, access_extent, exchange;
    int64_t window, buffer;
    int64_t call_ns, mib_ns, scaling; /* of the storage, in this direction */
    int64_t read_call_ns, read_mib_ns;
} wr_plan_input;

typedef struct wr_plan {
    int64_t collective; /* 1: through aggregators; 0: every rank for itself */
    int64_t aggregators;
    int64_t base, block; /* realm i has the bytes from base + i * block on, `block` of them, */
    int64_t period;      /* and again every `period` bytes; 0: once */
    int64_t lo, hi;      /* what is accessed */
    int64_t window;      /* most data in a round */
    int64_t price_together, price_alone; /* nanoseconds, for the slowest rank */
    const char *reason;                  /* why together or alone */
} wr_plan;

/* A way of cutting realms: sets base, block and period for out->aggregators realms. */
typedef struct wr_realm_rule {
    const char *name;
    const char *help;
    void (*cut)(const wr_plan_input *in, wr_plan *out);
} wr_realm_rule;

/* In the order of the tunable `realms`; NULL where a rule does not exist yet; ended by {0}. */
extern const wr_realm_rule wr_realm_rules[];

int wr_plan_build(const wr_plan_input *in, wr_plan *out);

/* Of all the input's fields. */
uint64_t wr_plan_input_hash(const wr_plan_input *in);

/* Which realm a byte of [lo, hi) belongs to. */
int64_t wr_plan_realm_of(const wr_plan *plan, int64_t offset);

/* Realm i as a pattern, cut to [lo, hi). */
int wr_plan_realm(const wr_plan *plan, int64_t i, weir_pattern **out);

/* Checks L1 on realms given as patterns; WEIR_EINVAL names what is wrong. */
int wr_realms_verify(int64_t count, const weir_pattern *const *realms, int64_t lo, int64_t hi);

/* The rank of aggregator i: spread evenly over the ranks sorted by node, so that each node has its
 * share, and adjacent realms. node_of has `ranks` entries. */
int wr_plan_aggregator(const wr_plan *plan, int64_t i, int64_t ranks, int64_t nodes,
                       const int *node_of);

#endif
