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

#include <stddef.h>

#include "base/tunables.h"
#include "pattern/pattern.h"

/* What one rank wants, or all of them together. */
typedef struct wr_summary {
    int64_t lo, hi;                /* bounds; lo == hi: nothing */
    int64_t bytes, runs;           /* counted once per rank */
    int64_t once_bytes, once_runs; /* counted once however many ranks want them: an estimate */
    int64_t spans;                 /* the ranks' hi - lo, added up */
    int64_t active;                /* ranks that want something */
    int64_t apart;                 /* 1: their bounds are known not to overlap */
    /* where all are loops of one stride, and otherwise stride 0 */
    int64_t stride;
    int64_t steps;                     /* counted once per rank */
    int64_t step_bytes, step_runs;     /* of one rank, the most */
    int64_t step_span;                 /* of one rank, the longest, and of all: */
    int64_t step_lo, step_hi, step_at; /* from step_at, where the first rank's loop starts, on */
} wr_summary;

/* Of one request; `begin` and `end` are data positions of the pattern. */
wr_summary wr_summary_of(const weir_pattern *pattern, int64_t begin, int64_t end);

/* Adds the next rank's; start with {0}. `apart` is found out by comparing bounds in the order
 * given, which is enough where ranks own ascending parts of a file. */
void wr_summary_add(wr_summary *all, const wr_summary *part);

/* Adds that of a node to that of others: only sums and bounds, which one reduction over all nodes
 * gives; what ranks of different nodes have in common is not known. */
void wr_summary_add_node(wr_summary *all, const wr_summary *node);

/* What the storage asks for transfers in one direction. */
typedef struct wr_price {
    int64_t call_ns, mib_ns, scaling;
} wr_price;

enum { WR_CUTS = 64 };

/* Realms given by the caller: patterns, again every `period` bytes, or, with period 0, once. */
typedef struct wr_custom_realms {
    int64_t count, period;
    const weir_pattern *const *realm;
} wr_custom_realms;

/* Everything a plan depends on. All fields but the last are int64_t, so that it can be hashed
 * and printed. */
typedef struct wr_plan_input {
    int64_t direction; /* enum wr_direction */
    int64_t ranks, nodes, cores;
    wr_summary wanted;
    int64_t file_size;
    int64_t unit;        /* realms are cut at multiples of it: a slice of an array, an etype, */
    int64_t origin;      /* counted from here; */
    int64_t align;       /* and at multiples of this: stripes, pages */
    int64_t dealt;       /* bytes of a block where realms are dealt; 0: not said */
    int64_t base, block; /* of persistent realms; block 0: not fixed yet */
    int64_t disks;       /* that hold the file; 0: it is not striped */
    int64_t stripe;      /* bytes of it dealt to a disk at a time */
    int64_t realms, aggregators, collective, access, access_extent, exchange;
    int64_t shared; /* 1: all ranks can meet in shared memory */
    int64_t seats;  /* ranks that may be aggregators; 0: all */
    int64_t window, buffer;
    int64_t write_behind; /* 1: kept back and written later: only what is wanted, and together */
    int64_t blind; /* 1: the file cannot be read, so nothing but what is wanted can be written */
    int64_t call_ns, mib_ns, scaling; /* of the storage, in this direction */
    int64_t read_call_ns, read_mib_ns;
    int64_t custom, custom_hash;   /* realms given by the caller, how many and which */
    int64_t cut[WR_CUTS];          /* of realms=balanced: where realms begin (balance.h) */
    const wr_custom_realms *given; /* or NULL; borrowed */
} wr_plan_input;

/* How many numbers a plan depends on; only balanced realms on cuts. */
static inline size_t wr_plan_input_fields(const wr_plan_input *in)
{
    return (in->realms == WR_REALMS_BALANCED ? offsetof(wr_plan_input, given)
                                             : offsetof(wr_plan_input, cut)) /
           sizeof(int64_t);
}

/* The part of an input that tunables and prices, by direction, make up; the rest is the caller's.
 */
wr_plan_input wr_plan_input_tuned(enum wr_direction direction, const wr_tunables *tunables,
                                  const wr_price price[2]);

/* Why together or alone. */
enum wr_reason {
    WR_TUNED_ALWAYS,
    WR_TUNED_NEVER,
    WR_NOTHING_WANTED,
    WR_MAY_OVERLAP,
    WR_WRITTEN_BEHIND,
    WR_CHEAPER_TOGETHER,
    WR_CHEAPER_ALONE
};

/* Numbers, equal byte for byte on all ranks, and realms that the caller gave. */
typedef struct wr_plan {
    int64_t collective; /* 1: through aggregators; 0: every rank for itself */
    int64_t reason;     /* enum wr_reason */
    int64_t aggregators;
    int64_t seats;        /* those of the input, or all ranks, if that is too few */
    int64_t realms;       /* number of their rule */
    int64_t base, block;  /* where regular: realm i has `block` bytes from base + i * block on, */
    int64_t period;       /* and again every `period` bytes; 0: once; the last may have less */
    int64_t scattered;    /* 1: other realms lie between the parts of one */
    int64_t cut[WR_CUTS]; /* of balanced ones */
    int64_t lo, hi;       /* what is accessed */
    int64_t window;       /* most data in a round */
    int64_t exchange;     /* enum wr_exchange, and not auto: how data move between ranks */
    int64_t price_together, price_alone; /* nanoseconds, for the slowest rank */
    const wr_custom_realms *given;       /* the input's */
} wr_plan;

const char *wr_plan_reason(const wr_plan *plan);

/* Whether rounds are by messages, whatever is wanted. */
static inline bool wr_plan_by_messages(int64_t exchange, int64_t shared)
{
    return !shared || (exchange != WR_EXCHANGE_AUTO && exchange != WR_EXCHANGE_SHM);
}

/* A way of cutting realms. */
typedef struct wr_realm_rule {
    const char *name;
    const char *help;
    /* Sets what tells the realms of out->aggregators apart, of which it may choose another number,
     * no more than ranks; 0 or a negative code. */
    int (*cut)(const wr_plan_input *in, wr_plan *out);
    /* Makes realm i: everything in [lo, hi) that belongs to it, and perhaps more. NULL: it is
     * regular, as base, block and period say. */
    int (*make)(const wr_plan *plan, int64_t i, weir_pattern **out);
} wr_realm_rule;

/* In the order of the tunable `realms`; ended by {0}. */
extern const wr_realm_rule wr_realm_rules[];

int wr_plan_build(const wr_plan_input *in, wr_plan *out);

/* How many aggregators there will be: it does not depend on where realms are cut. */
int64_t wr_plan_aggregators(const wr_plan_input *in);

/* The plan of one rank that accesses the file for itself: its request is its realm. */
wr_plan wr_plan_alone(const wr_summary *wanted, int64_t window);

/* Whether a rank alone may read or write more than it wants: reading, where exactly that would cost
 * more. A write that reads first endangers neighbours: only if asked for, and if the file can be
 * read. */
bool wr_plan_may_sieve(const wr_plan_input *in);

/* Whether a rank alone, reading, may look where the data are now, page cache or device, and read
 * accordingly: where there is enough to make that worth it. */
bool wr_plan_may_look(const wr_plan_input *in);

/* Whether it then reads best from mapped pages: where pieces are small. */
bool wr_plan_may_map(const wr_plan_input *in);

/* Whether a cover must hold what is wanted and nothing else. */
static inline bool wr_plan_is_exact(const wr_plan_input *in)
{
    return in->blind || in->write_behind;
}

/* Of all the input's fields. */
uint64_t wr_plan_input_hash(const wr_plan_input *in);

/* Bytes of realm i in a period. */
static inline int64_t wr_plan_block(const wr_plan *plan, int64_t i)
{
    int64_t rest = plan->period - i * plan->block;
    return plan->period && rest < plan->block ? rest : plan->block;
}

/* Whether [lo, hi), which begins with a byte of one realm, may have bytes of others. */
bool wr_plan_is_scattered(const wr_plan *plan, int64_t lo, int64_t hi);

/* Realm i as a pattern: all of [lo, hi) that belongs to it, and perhaps more. */
int wr_plan_realm(const wr_plan *plan, int64_t i, weir_pattern **out);

/* Checks L1 on realms given as patterns; WEIR_EINVAL names what is wrong. */
int wr_realms_verify(int64_t count, const weir_pattern *const *realms, int64_t lo, int64_t hi);

/* Which seat aggregator i has; seats are sorted by node. They are spread evenly, so that each node
 * has its share, and adjacent realms. */
static inline int64_t wr_plan_seat(const wr_plan *plan, int64_t i)
{
    return i * plan->seats / plan->aggregators;
}

#endif
