/* An open file as the engine sees it, and the two ways to access it. */
#ifndef WR_ENGINE_PORT_H
#define WR_ENGINE_PORT_H

#include "engine/access.h"
#include "engine/behind.h"
#include "engine/hall.h"
#include "engine/usher.h"
#include "pattern/cursor.h"
#include "storage/costs.h"
#include "storage/lock.h"
#include "storage/map.h"

/* How a call is made; equal on all ranks. */
enum wr_form { WR_BLOCKING, WR_SPLIT, WR_NONBLOCKING };

struct wr_operation;

typedef struct wr_port {
    wr_world *world;
    wr_channel channel;
    wr_channel inner;   /* for what happens between a call's entry and its exit, on one node */
    wr_transport *wide; /* for all-to-alls; NULL unless tuned so */
    int64_t seats;      /* ranks that may be aggregators, */
    int *seat;          /* their places among the ranks sorted by node; NULL: all */
    wr_storage *storage;
    pthread_mutex_t moving; /* held while the storage is used: it knows one thread at a time */
    wr_map map;             /* of the storage's file */
    struct wr_cold *cold;   /* or NULL */
    bool cold_busy;         /* somebody reads by it */
    wr_clerk clerk;         /* uses it in the background */
    wr_usher usher;         /* tends its pass */
    wr_behind behind;       /* what this rank keeps as aggregator; with the storage held */
    wr_hall hall;           /* opened by the first collective call */
    wr_region requests;     /* patterns that do not fit a mailbox, during a call */
    struct wr_port *idle_next, **idle_place; /* of a list (idle.h), or NULL */
    bool dropped;                            /* this rank has let go of both since the last call */
    int64_t in_flight;       /* bytes of the hall that count as memory for overlap */
    wr_course course[2];     /* of this rank as aggregator, by direction */
    wr_tunables tunables;    /* equal on all ranks, as are the fields below */
    wr_price price[2];       /* by direction */
    wr_samples samples;      /* this rank's, of the storage; with it held */
    int64_t cores;           /* of a node */
    int64_t unit, align;     /* of realms */
    int64_t origin;          /* where the first unit starts */
    int64_t base, block;     /* of persistent realms; block 0 before the first collective call */
    int64_t owners;          /* and how many have them */
    wr_custom_realms custom; /* for realms=custom; the patterns are the port's */
    int64_t custom_hash;
    bool news;                /* this rank has hints to agree on; it says so at its next call, */
    bool has_news;            /* and then all know that somebody has */
    bool can_read;            /* the file is open for reading too */
    bool lockless;            /* it cannot be locked: nobody reads, modifies and writes it */
    bool hurried;             /* the latest window to be modified could not be locked in time */
    bool atomic;              /* accesses are as if one came after the other */
    bool sole;                /* no other rank or program has it open: writes need no lock */
    uint64_t calls;           /* collective calls so far */
    wr_queue together, alone; /* operations in flight: collective ones run in their order */
    uint32_t started;         /* collective operations so far, */
    wr_word ended;            /* and those that are over */
} wr_port;

/* Whether bytes may be read and written back with others changed. */
static inline bool wr_port_may_modify(const wr_port *port)
{
    return port->can_read && !port->lockless;
}

/* How an access ended. */
typedef struct wr_outcome {
    int code;     /* 0 or a negative code, the error raised */
    int64_t stop; /* everything below this offset was moved; INT64_MAX: all of it */
} wr_outcome;

/* Moves everything for this rank alone, by the access method that is cheapest or tuned. */
wr_outcome wr_alone_run(wr_port *port, const wr_access_request *a);

/* [collective] All ranks return the same code; *count is how many bytes of this rank's data, from
 * the first, are known to be moved. A rank comes with `code` != 0 if it cannot take part: then all
 * fail, and nothing is moved. `op` is the operation it belongs to, NULL for a blocking call. */
int wr_collective_run(wr_port *port, const wr_access_request *a, int code, struct wr_operation *op,
                      int64_t *count);

/* 0, or, where an access stopped before its end, the error that the file has ended there. */
int wr_port_demand_all(const wr_port *port, int64_t stop);

/* A storage that takes longer for a MiB is no memory. */
enum { WR_SLOW_MIB_NS = 600000 };

/* Whether the storage is memory in disguise: a page cache. */
static inline bool wr_port_is_memory(const wr_port *port, enum wr_direction direction)
{
    return !port->storage->facts.direct && port->price[direction].mib_ns <= WR_SLOW_MIB_NS;
}

/* Whether the rounds of collective calls are by messages, whatever they are about. */
bool wr_port_by_messages(const wr_port *port);

/* [collective] What the tunables ask for besides transfers is there: who may be aggregator, a
 * transport of the file's own. On failure nothing has changed. */
int wr_port_prepare(wr_port *port, const wr_tunables *tunables);

/* Gives up memory shared by the ranks of a node: the hall, and what holds large requests. By who
 * has the port to itself: a call, or idle.c; the other also takes it off idle.c's list. */
void wr_port_close_regions(wr_port *port);
void wr_port_end_regions(wr_port *port);

/* The input of a plan for `wanted`; the file's size only matters to realms=static. */
wr_plan_input wr_port_input(const wr_port *port, enum wr_direction direction,
                            const wr_summary *wanted, int64_t file_size);

/* How many bytes of the access are known to be moved. */
static inline int64_t wr_outcome_count(const wr_outcome *o, const wr_access_request *a)
{
    return o->stop == INT64_MAX ? a->end - a->begin : wr_access_count(a, o->stop);
}

/* Offset of the first byte a transfer did not move. */
static inline int64_t wr_transfer_missing(const wr_transfer *t)
{
    return t->offset + t->done / t->run * t->stride + t->done % t->run;
}

/* A batch of a file that lies in `buffer` at its data position. */
static inline wr_transfer wr_port_transfer(enum wr_direction direction, const wr_batch *b,
                                           char *buffer)
{
    return (wr_transfer){.direction = direction,
                         .offset = b->offset,
                         .run = b->run,
                         .count = b->count,
                         .stride = b->stride,
                         .memory = buffer + b->data,
                         .memory_stride = b->run};
}

/* Reads or writes a cover; window bytes lie at their data positions in `buffer`. When reading,
 * *valid is set to the offset of the first byte that does not exist, INT64_MAX if all do, and what
 * is missing is zeroed. */
int wr_port_move(wr_port *port, enum wr_direction direction, const weir_pattern *cover,
                 char *buffer, int64_t *valid);

/* --- for who holds `moving` --- */

int wr_port_move_held(wr_port *port, enum wr_direction direction, const weir_pattern *cover,
                      char *buffer, int64_t *valid);

/* Waits for everything that the storage has. */
void wr_port_reap_all(wr_port *port);

/* What a transfer that is over and not complete means: 0 if it is a read that met the end of the
 * file, or that could be completed because the file has grown, otherwise a negative code. Nothing
 * else may be outstanding. */
int wr_port_judge(wr_port *port, wr_transfer *t);

/* Judges those transfers that are not complete: returns the first error, lowers *valid, and zeroes
 * what is missing, as wr_port_move does. */
int wr_port_look(wr_port *port, int count, wr_transfer *transfers, int64_t *valid);

/* Holds a range, or fails after lock_wait with EAGAIN: WR_LOCK_MODIFY for a read-modify-write,
 * WR_LOCK_SHARED for a plain write, so that no plain write falls between another's read and its
 * write. In atomic mode there is one lock for an access and no other beneath it: shared for
 * reading, one of the others for writing. */
int wr_port_lock(wr_port *port, enum wr_lock_kind kind, int64_t lo, int64_t hi);
int wr_port_try(wr_port *port, enum wr_lock_kind kind, int64_t lo, int64_t hi); /* or WR_BUSY */
int wr_port_fail_late(wr_port *port, enum wr_lock_kind kind, int64_t lo, int64_t hi);
void wr_port_unlock(wr_port *port, int64_t lo, int64_t hi);

enum { WR_BUSY = 2 }; /* somebody holds the range: try again */

/* Locks a window if nobody holds any of it, or returns WR_BUSY: its range, or, where realms are
 * dealt (`scattered`), every run of its cover, because other aggregators' windows lie between them.
 */
int wr_port_try_window(wr_port *port, const wr_window *w, enum wr_lock_kind kind, bool scattered);
void wr_port_unlock_window(wr_port *port, const wr_window *w, bool scattered);

#endif
