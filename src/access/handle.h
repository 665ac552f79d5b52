/* An open file as one rank accesses it: its storage, its locks, and whatever works on it in the
 * background. Nothing here knows of other ranks, except that a lock may be held by one. */
#ifndef WR_ACCESS_HANDLE_H
#define WR_ACCESS_HANDLE_H

#include "access/access.h"
#include "access/io_worker.h"
#include "access/lease.h"
#include "access/write_behind.h"
#include "pattern/cursor.h"
#include "runtime/world.h"
#include "storage/costs.h"
#include "storage/lock.h"
#include "storage/map.h"

typedef struct wr_handle {
    wr_world *world;
    wr_storage *storage;
    _Atomic bool ready;     /* the storage is open; otherwise wr_handle_ready opens it */
    int open_flags;         /* so */
    pthread_mutex_t moving; /* held while the storage is used: it knows one thread at a time */
    wr_map map;             /* of the storage's file */
    struct wr_direct_reader *direct_reader; /* or NULL */
    bool direct_reader_busy;
    wr_io_worker io_worker;
    wr_lease_reaper lease_reaper;
    wr_write_behind write_behind; /* what this rank keeps as aggregator; with `moving` held */
    wr_watch watch;               /* what counts it; with `moving` held */
    wr_samples samples;           /* timed transfers of this rank; with `moving` held */
    wr_tunables tunables;         /* equal on all ranks, as are the fields below */
    wr_price price[2];            /* by direction */
    wr_link link;                 /* between nodes */
    int64_t cores;                /* of a node */
    bool can_read;                /* the file is open for reading too */
    bool lockless;                /* it cannot be locked: nobody reads, modifies and writes it */
    bool hurried;                 /* the latest window to be modified could not be locked in time */
    bool atomic;                  /* accesses are as if one came after the other */
    bool sole;                    /* no other rank or program has it open: writes need no lock */
    bool local;                   /* the file system is this machine's alone */
    bool weak;                    /* other hosts see what one writes after a sync only */
    bool owned;   /* so every byte has one host that writes it in collective calls */
    bool carries; /* a host may write old bytes around what it writes and has not locked */
    /* this rank's own */
    _Atomic int64_t reach;    /* of what hosts have written so, during collective reads; or 0 */
    _Atomic bool wrote_alone; /* since the latest sync: owners must hear of it */
    _Atomic bool aged;        /* owners have written since this host last looked */
    _Atomic bool unmapped;    /* pages of the file could not be had, or not be guarded */
    _Atomic int64_t logged;   /* accesses of this rank alone that the log has numbers for */
} wr_handle;

/* Ready to be used, but for storage, tunables, prices and flags; and its end, once the storage is
 * closed. */
void wr_handle_init(wr_handle *handle, wr_world *world);
void wr_handle_release(wr_handle *handle);

/* Opens the storage of a rank that has not needed it so far. To be called, without `moving`, before
 * an access uses it. */
int wr_handle_ready(wr_handle *handle);

/* Whether bytes may be read and written back with others changed: not if they may be old. */
static inline bool wr_handle_may_modify(const wr_handle *handle)
{
    return handle->can_read && !handle->lockless && (!handle->weak || handle->sole);
}

/* How an access ended. */
typedef struct wr_outcome {
    int code;     /* 0 or a negative code, the error raised */
    int64_t stop; /* everything below this offset was moved; INT64_MAX: all of it */
    int64_t way;  /* enum wr_way: the one that got through */
    int class;    /* of the profile, from 1; 0: not known */
} wr_outcome;

/* Moves everything for this rank alone, as its plan says. `moving` is that of the operation it
 * belongs to, NULL for a blocking call; `call` that of the collective call in which each goes
 * alone, or NULL. */
wr_outcome wr_alone_run(wr_handle *handle, const wr_access_request *a, const wr_moving *moving,
                        const wr_plan_input *call);

/* What this rank's host has written is with the file system, and, refreshed, what others have so
 * stored is seen. */
int wr_handle_sync(wr_handle *handle, enum wr_sync how);

/* Before this rank reads alone, or asks for the size: what owners have written for it is there. */
int wr_handle_catch_up(wr_handle *handle);

/* Whether plans and what came of them are logged. */
static inline bool wr_handle_tells(const wr_handle *handle)
{
    return handle->world->log.level >= WR_LOG_DEBUG;
}

/* 0, or, where an access stopped before its end, the error that the file has ended there. */
int wr_handle_demand_all(const wr_handle *handle, int64_t stop);

/* Whether the storage is memory in disguise: a page cache. */
static inline bool wr_handle_is_memory(const wr_handle *handle, enum wr_direction direction)
{
    return !handle->storage->facts.direct && handle->price[direction].mib_ns <= WR_SLOW_MIB_NS;
}

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
static inline wr_transfer wr_handle_transfer(enum wr_direction direction, const wr_batch *b,
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
int wr_handle_move(wr_handle *handle, enum wr_direction direction, const weir_pattern *cover,
                   char *buffer, int64_t *valid);

/* --- with `moving` held --- */

int wr_handle_move_held(wr_handle *handle, enum wr_direction direction, const weir_pattern *cover,
                        char *buffer, int64_t *valid);

/* Waits for everything that the storage has. */
void wr_handle_reap_all(wr_handle *handle);

/* What a transfer that is over and not complete means: 0 if it is a read that met the end of the
 * file, or that could be completed because the file has grown, otherwise a negative code. Nothing
 * else may be outstanding. */
int wr_handle_judge(wr_handle *handle, wr_transfer *t);

/* Judges those transfers that are not complete: returns the first error, lowers *valid, and zeroes
 * what is missing, as wr_handle_move does. */
int wr_handle_look(wr_handle *handle, int count, wr_transfer *transfers, int64_t *valid);

/* Holds a range, or fails after lock_wait with EAGAIN: WR_LOCK_MODIFY for a read-modify-write,
 * WR_LOCK_SHARED for a plain write, so that no plain write falls between another's read and its
 * write. In atomic mode there is one lock for an access and no other beneath it: shared for
 * reading, one of the others for writing. */
int wr_handle_lock(wr_handle *handle, enum wr_lock_kind kind, int64_t lo, int64_t hi);
int wr_handle_try(wr_handle *handle, enum wr_lock_kind kind, int64_t lo,
                  int64_t hi); /* or WR_BUSY */
int wr_handle_fail_late(wr_handle *handle, enum wr_lock_kind kind, int64_t lo, int64_t hi);
void wr_handle_unlock(wr_handle *handle, int64_t lo, int64_t hi);

enum { WR_BUSY = 2 }; /* somebody holds the range: try again */

/* Locks a window if nobody holds any of it, or returns WR_BUSY: its range, or, where realms are
 * dealt (`scattered`), every run of its cover, because other aggregators' windows lie between them.
 */
int wr_handle_try_window(wr_handle *handle, const wr_window *w, enum wr_lock_kind kind,
                         bool scattered);
void wr_handle_unlock_window(wr_handle *handle, const wr_window *w, bool scattered);

/* Adds what the open file knows to the input of a plan for this rank alone; tunables, prices and
 * what is wanted are the caller's. */
void wr_handle_input(const wr_handle *handle, wr_plan_input *in);

#endif
