/* The plan of an access: a pure function of one input, made before a byte moves.
 *
 * The input is what one rank, or all of them together, want, where they run, what was tuned, what
 * the file allows and what the storage costs. The plan says everything that will be done: whether
 * ranks go together, which are aggregators, which part of the file (realm) each is responsible for,
 * how much it handles in a round, in which way data go between memory and file, what is locked
 * meanwhile, and who moves it all along. No I/O, no MPI, no clock, no floating point: prices are
 * nanoseconds. Equal inputs give equal plans, byte for byte, on every rank. What cannot be known
 * before it is tried, whether a lock or memory is to be had, is in the plan as the order in which
 * things are tried.
 *
 * Invariant L1: the realms of a plan never overlap, and cover every byte of [lo, hi). */
#ifndef WR_PLAN_PLAN_H
#define WR_PLAN_PLAN_H

#include <stddef.h>

#include "base/arith.h"
#include "base/price.h"
#include "base/tunables.h"
#include "pattern/pattern.h"

/* What one rank wants, or all of them together. */
typedef struct wr_summary {
    int64_t lo, hi;                /* bounds; lo == hi: nothing */
    int64_t bytes, runs;           /* counted once per rank; runs are an estimate, */
    int64_t most_runs;             /* and there are never more than that */
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
    int64_t loose; /* of several nodes that want something: bits of what is not so */
} wr_summary;

/* What nodes may lack, in the order of their numbers. */
enum {
    WR_NOT_ASCENDING = 1,  /* the bounds of each begin at or after the end of those before, */
    WR_NOT_DESCENDING = 2, /* or end at or before their start; */
    WR_STEPS_MEET = 4,     /* what it wants of a stride comes after what those before want, */
    WR_STEPS_DIFFER = 8,   /* or is in the same place */
};

/* Whether one node may have bytes within the bounds of another. */
static inline bool wr_summary_nodes_mix(const wr_summary *w)
{
    return w->loose & WR_NOT_ASCENDING && w->loose & WR_NOT_DESCENDING;
}

/* Whether two nodes may want the same byte. */
static inline bool wr_summary_nodes_meet(const wr_summary *w)
{
    return wr_summary_nodes_mix(w) && w->loose & WR_STEPS_MEET;
}

/* Of one request; `begin` and `end` are data positions of the pattern. */
void wr_summary_set(wr_summary *out, const weir_pattern *pattern, int64_t begin, int64_t end);

static inline wr_summary wr_summary_of(const weir_pattern *pattern, int64_t begin, int64_t end)
{
    wr_summary s;
    wr_summary_set(&s, pattern, begin, end);
    return s;
}

/* Adds the next rank's; start with {0}. `apart` is found out by comparing bounds in the order
 * given, which is enough where ranks own ascending parts of a file. */
void wr_summary_add(wr_summary *all, const wr_summary *part);

/* Adds that of the next nodes to that of the nodes before; start with {0}. Any grouping of adjacent
 * nodes gives the same, so that nodes can be joined in rounds. What is counted once is only added
 * up, until the last node is there and wr_summary_end_nodes estimates it. */
void wr_summary_add_node(wr_summary *all, const wr_summary *next);
void wr_summary_end_nodes(wr_summary *all);

/* Steps of the file, however many ranks take them, and what a step of all ranks together spans;
 * where there is a stride. */
int64_t wr_summary_steps(const wr_summary *w);
int64_t wr_summary_step(const wr_summary *w);

enum { WR_CUTS = 64 };

/* Realms given by the caller: patterns, again every `period` bytes, or, with period 0, once. */
typedef struct wr_custom_realms {
    int64_t count, period;
    const weir_pattern *const *realm;
} wr_custom_realms;

/* How a call is made; equal on all ranks. */
enum wr_form { WR_BLOCKING, WR_SPLIT, WR_NONBLOCKING };

/* What decides who moves an access along: each rank's own, known when it is started. Zeroed is a
 * plain blocking call. */
typedef struct wr_moving {
    bool beside; /* it is an operation, which can go on beside its caller's own work */
    bool alone;  /* of one rank for itself */
    enum wr_form form;
    enum wr_direction direction;
    bool one_run;  /* all of it is one run of a plain file */
    bool memory;   /* the storage is memory in disguise, a page cache, in this direction */
    bool cached;   /* what was sampled is there now; asked only where it matters */
    bool thread;   /* this rank has a progress thread for it */
    bool messages; /* the rounds of collective calls are by messages, */
    bool multiple; /* and the thread may send them */
    bool handed;   /* its caller has left all of it to that thread */
    int64_t bytes;
    int64_t overlap;  /* enum wr_overlap */
    int64_t may_keep; /* bytes that operations may keep in flight; 0: none overlap */
} wr_moving;

/* What the ranks of a file have found memory for, all of them, in an earlier call. */
typedef struct wr_held {
    int64_t exchange; /* 0: nothing */
    int64_t aggregators, slots, window;
} wr_held;

/* Everything a plan depends on. What realms and windows depend on is int64_t, to be hashed. */
typedef struct wr_plan_input {
    int64_t direction; /* enum wr_direction */
    int64_t ranks, nodes, cores;
    wr_summary wanted;
    int64_t file_size;
    int64_t unit;        /* realms are cut at multiples of it: a slice of an array, an etype, */
    int64_t origin;      /* counted from here; */
    int64_t align;       /* and at multiples of this: stripes, pages */
    int64_t granule;     /* the storage moves whole multiples of it: tiles; 0: any bytes; */
    int64_t coarse;      /* the larger of those that are read and written; */
    int64_t batch;       /* with so much at once all its threads are busy */
    int64_t dealt;       /* bytes of a block where realms are dealt; 0: not said */
    int64_t base, block; /* of persistent realms; block 0: not fixed yet */
    int64_t disks;       /* that hold the file; 0: it is not striped */
    int64_t stripe;      /* bytes of it dealt to a disk at a time */
    int64_t realms, aggregators, collective, access, access_extent, exchange;
    int64_t shared; /* 1: all ranks can meet in shared memory */
    int64_t seats;  /* ranks that may be aggregators; 0: all */
    int64_t window, buffer;
    int64_t write_behind; /* enum wr_behind: kept back and written later: only what is wanted, and
                           * together */
    int64_t blind; /* 1: the file cannot be read, so nothing but what is wanted can be written */
    int64_t call_ns, mib_ns, scaling; /* of the storage, in this direction */
    int64_t read_call_ns, read_mib_ns;
    int64_t link_mib_ns, link_ns; /* of the network between nodes: a MiB, and a message */
    int64_t node_ns; /* if every node goes for itself, for the dearest; INT64_MAX: one cannot */
    int64_t custom, custom_hash; /* realms given by the caller, how many and which */
    /* realms and windows depend on what follows by the plan's window only */
    bool alone;     /* one rank for itself, without the others */
    bool known;     /* the call itself tells what all ranks want */
    bool described; /* or all have told all, so that aggregators need not be asked */
    bool atomic;    /* accesses are as if one came after the other */
    bool sole;      /* nobody else has the file open */
    bool weak; /* hosts may see old data: nobody reads to write back, so nobody locks for that, */
    bool carries; /* unless a host may write old bytes around what it has not locked */
    bool local;   /* the file system is this machine's: what nodes write does not disturb others */
    bool owned;   /* and so all that is accessed together is by those who have it for good */
    bool aside;   /* some rank would leave the storage to its thread */
    bool whole;   /* an array is read, whose file seldom shrinks meanwhile */
    bool frugal;  /* mapped pages would count as memory */
    bool cold;    /* some of it is on the device only, by sample; asked only where it matters */
    bool leased;  /* this rank may have a lease, to write without a lock each time */
    bool task;    /* it may be left where it waits, for others to go on */
    bool paged;   /* all ranks read small pieces that are in the page cache, by sample */
    bool between; /* in a call of all: what lies between its own is no other rank's */
    bool mixed;   /* ranks of a node lie between those of another */
    bool among;   /* it writes where the call before it wrote */
    bool ready;   /* all ranks have set memory aside for their part in rounds between parties */
    enum wr_form form;
    wr_held held;         /* what that is besides */
    int64_t asked;        /* how often ranks were asked where balanced realms begin */
    int64_t overlap;      /* enum wr_overlap */
    int64_t may_keep;     /* bytes that operations of a rank may keep in flight, */
    int64_t room;         /* and those that every rank still may */
    int64_t limit;        /* of windows in shared memory, which was short; 0: none; -1: all */
    int64_t column;       /* of one rank for itself: bytes of a slice of an array, or 0 */
    int64_t sieve_unit;   /* enum wr_sieve_unit */
    int64_t sieve_buffer; /* bytes of a window */
    int64_t direct;       /* enum wr_switch: past the page cache */
    int64_t map;          /* bytes of the file that may be mapped; 0: none */
    wr_moving moving;
    const int64_t *cut;            /* of realms=balanced: where realms begin (balance.h); or NULL */
    const wr_custom_realms *given; /* or NULL; both borrowed */
} wr_plan_input;

/* What describing a rank to others takes: a header, and its pattern in whole multiples of 16 bytes.
 * All descriptions together are told to all nodes up to WR_DESCRIBED_BYTES. */
enum { WR_DESCRIBED_HEAD = 32 };
static inline int64_t wr_described_room(int64_t pattern_bytes)
{
    return WR_DESCRIBED_HEAD + (pattern_bytes + 15) / 16 * 16;
}

/* How many numbers realms and windows depend on, besides cuts and the plan's window. */
enum { WR_PLAN_INPUT_FIELDS = offsetof(wr_plan_input, alone) / sizeof(int64_t) };

/* Sets the part of an input that tunables and prices, by direction, make up, and all else to 0, but
 * not what is wanted. For a rank alone only what counts there. */
void wr_plan_input_tune(wr_plan_input *in, enum wr_direction direction, const wr_tunables *tunables,
                        const wr_price price[2]);
void wr_plan_input_tune_alone(wr_plan_input *in, enum wr_direction direction,
                              const wr_tunables *tunables, const wr_price price[2]);

/* Of one run that a rank moves for itself: nothing is tuned, and what realms and windows depend on
 * is not even set. */
void wr_plan_input_plain(wr_plan_input *in, enum wr_direction direction);

/* Why together or alone. */
enum wr_reason {
    WR_OWNED,
    WR_TUNED_ALWAYS,
    WR_TUNED_NEVER,
    WR_NOTHING_WANTED,
    WR_MAY_OVERLAP,
    WR_WRITTEN_BEHIND,
    WR_CHEAPER_TOGETHER,
    WR_CHEAPER_ALONE,
    WR_CHEAPER_PER_NODE,
    WR_ONE_RANK,
    WR_ATOMIC_BESIDE,
    WR_NO_MEMORY
};

/* In which way data go between memory and file. */
enum wr_way {
    WR_WAY_NONE,
    WR_WAY_LIST,    /* from and to the rank's memory, a transfer a run */
    WR_WAY_SIEVE,   /* through a buffer, window by window, with what lies between */
    WR_WAY_COLUMNS, /* through a buffer, whole slices of an array */
    WR_WAY_MAPPED,  /* copied from pages of the file */
    WR_WAY_DIRECT,  /* past the page cache, some windows on their way while one is copied */
    WR_WAY_ROUNDS,  /* through windows of aggregators, each by sieve or by list */
    WR_WAY_KEPT,    /* likewise, but aggregators keep it and write it later */
    WR_WAYS
};

/* What is locked meanwhile. */
enum wr_hold {
    WR_HOLD_NOTHING,
    WR_HOLD_LEASE,     /* nothing, if the file's lease is to be had; otherwise as the next */
    WR_HOLD_RANGE,     /* from first to last byte, against those who modify */
    WR_HOLD_WINDOWS,   /* each window: against all if it has holes, otherwise as a range */
    WR_HOLD_HOLES,     /* each window that has holes */
    WR_HOLD_SHARED,    /* in atomic mode all of it, as long as it takes: to read, */
    WR_HOLD_EXCLUSIVE, /* to write, */
    WR_HOLD_MODIFY,    /* to read and write back */
    WR_HOLDS
};

/* Who moves an access along. */
enum wr_moved {
    WR_MOVED_AT_ONCE,    /* by the caller */
    WR_MOVED_BY_CALLERS, /* threads of the process, whenever they are inside the library */
    WR_MOVED_BY_THREAD   /* the progress thread */
};

enum { WR_TRIES = 3, WR_SLOTS = 256, WR_DIRECT_WINDOWS = 3, WR_DIRECT_WINDOW = 4 << 20 };

/* Equal on all ranks but for what is each rank's own. */
typedef struct wr_plan {
    bool collective; /* through aggregators; otherwise every rank for itself */
    bool per_node;   /* through those of its own node: every node for itself */
    bool scattered;  /* other realms lie between the parts of one */
    bool fits;       /* all of a realm is in flight at once: nobody has to come back */
    bool aside;      /* on ranks that have a progress thread the storage is left to it */
    bool between;    /* ranks go alone, and write back what lies between their own */
    bool in_turn;    /* ranks go one after the other: they may write the same bytes */
    enum wr_reason reason;
    int64_t aggregators;
    int64_t seats;       /* those of the input, or all ranks, if that is too few */
    int64_t realms;      /* number of their rule */
    int64_t base, block; /* where regular: realm i has `block` bytes from base + i * block on, */
    int64_t period;      /* and again every `period` bytes; 0: once; the last may have less */
    int64_t lo, hi;      /* what is accessed */
    int64_t window;      /* most data in a round */
    int64_t cell;        /* between parties: windows are cut at multiples of so many bytes of a
                          * realm, so that all know them; 0: as their wants are */
    bool by_rank;        /* what ranks of different parties write must be written in their order */
    int64_t exchange;    /* enum wr_exchange, and not auto: how data move between ranks */
    bool admits;         /* between parties: all agree first that there is memory for it */
    int64_t price_together, price_alone; /* nanoseconds, for the slowest rank; in->node_ns too */
    enum wr_way way[WR_TRIES];           /* in the order they are tried, up to NONE, */
    enum wr_hold hold[WR_TRIES];         /* what is locked for each of these, */
    enum wr_hold hold_all; /* and for the access as a whole: by rank 0, if ranks go together */
    int64_t slots;         /* windows that may be in flight, at each aggregator */
    int64_t most;          /* of a realm's data, as far as the plan can tell */
    int64_t meetings;      /* of all ranks, besides rounds and making shared memory */
    /* each rank's own */
    enum wr_moved mover;
    bool left;                     /* its storage is left to the thread; */
    bool handed;                   /* all is, from the entry on, and the caller waits */
    bool unbroken;                 /* what it has locked it gives back before others go on */
    bool advised;                  /* the system is told ahead what will be read */
    int64_t piece, bite;           /* most in one run, and most before others get a turn */
    const int64_t *cut;            /* the input's, */
    const wr_custom_realms *given; /* as are these */
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

/* What it would cost a node, whose ranks want that, to go for itself, while all nodes do; the input
 * is that of all but for what is wanted. INT64_MAX: nodes may not. */
int64_t wr_plan_node_price(const wr_plan_input *in, const wr_summary *node, int64_t node_ranks);

/* Where nodes go for themselves: the input and the plan of all become those of one node. */
int wr_plan_for_node(const wr_summary *node, int64_t node_ranks, wr_plan_input *in, wr_plan *plan);

/* Of one rank for itself, whose request is its realm: the same without a code, as nothing can be
 * wrong with it. */
void wr_plan_alone(const wr_plan_input *in, wr_plan *out);

/* How many aggregators there will be: it does not depend on where realms are cut. */
int64_t wr_plan_aggregators(const wr_plan_input *in);

/* Whether a rank alone should look where its data are now, page cache or device, for in->cold. */
bool wr_plan_must_look(const wr_plan_input *in);

/* Whether a rank that wants so much copies it from the file's own pages, if it can. */
bool wr_plan_may_map(const wr_plan_input *in, const wr_summary *own);

/* Where there is no shared memory for the windows of a plan: fewer of them or smaller ones. Sets
 * in->limit, to -1 if they cannot be smaller. */
void wr_plan_shrink(wr_plan_input *in, wr_plan *plan);

/* Where there is none at all: by messages, or, if the thread of some rank has the call and may send
 * none (`mute`), every rank for itself. */
void wr_plan_do_without(const wr_plan_input *in, wr_plan *plan, bool mute);

/* --- who moves an access, before it is planned --- */

/* Whether operations overlap at all. */
bool wr_moving_overlaps(const wr_moving *m);

/* Whether an access of one rank takes less time than a thread takes to be called: it is small, and
 * memory is all that it goes to. */
bool wr_moving_is_brief(const wr_moving *m);

/* Whether a rank would rather leave the storage to its thread: not where that is memory in
 * disguise, because copying takes the processor from who computes. */
bool wr_moving_prefers_aside(const wr_moving *m);

/* Whether m->cached makes a difference to that. */
bool wr_moving_must_look(const wr_moving *m);

enum wr_moved wr_moving_mover(const wr_moving *m);

/* --- */

/* What write-behind saves, as far as it is worth what keeping data takes; `before`: of the calls
 * before. It begins with more than WR_KEEP_NS. */
int64_t wr_plan_keeping_saves(const wr_plan_input *in, int64_t before);

/* Whether a cover must hold what is wanted and nothing else. */
static inline bool wr_plan_is_exact(const wr_plan_input *in)
{
    return (in->blind || in->write_behind) && !in->granule;
}

/* Offsets at the ends of granules. */
static inline int64_t wr_plan_down(const wr_plan_input *in, int64_t offset)
{
    return in->granule ? wr_round_down(offset, in->granule) : offset;
}

static inline int64_t wr_plan_up(const wr_plan_input *in, int64_t offset)
{
    return in->granule ? wr_round_up(offset, in->granule) : offset;
}

/* So much of a window that it is whole granules, and enough of them. */
static inline int64_t wr_plan_granules(const wr_plan_input *in, int64_t bytes)
{
    return wr_max(in->granule, wr_plan_down(in, wr_max(bytes, wr_min(in->batch, WR_CELL_BYTES))));
}

/* What it takes to write a MiB back that was just read: in the page cache a copy of what the
 * processor's own has. */
static inline int64_t wr_plan_back_mib_ns(const wr_plan_input *in)
{
    const int64_t reading = in->mib_ns <= WR_SLOW_MIB_NS ? WR_BACK_MIB_NS : in->read_mib_ns;
    return in->mib_ns < reading ? in->mib_ns : reading;
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
