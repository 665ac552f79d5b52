/* A world is what one communicator has: the transport, the memory its node shares, channels, the
 * tunables all ranks agreed on, log, events and budget. There is one per communicator and process,
 * or one per thread where ranks are threads. A wr_process holds what the worlds of a process share.
 */
#ifndef WR_RUNTIME_WORLD_H
#define WR_RUNTIME_WORLD_H

#include <pthread.h>

#include "base/log.h"
#include "base/profile.h"
#include "runtime/channel.h"
#include "runtime/link.h"
#include "runtime/progress.h"
#include "runtime/region_cache.h"
#include "storage/costs.h"
#include "transport/transport.h"

/* Something that lives on a world, such as an open file. */
typedef struct wr_world_user {
    struct wr_world_user *next, **place;
    void (*evict)(struct wr_world_user *user); /* MPI ends: let go of the world, by local actions */
} wr_world_user;

/* What the worlds of a process share; where ranks are threads each world has its own. */
typedef struct wr_process {
    wr_costs costs;              /* what rank 0 knows */
    wr_region_cache regions;     /* of the files of all worlds */
    wr_progress progress;        /* of operations in flight */
    wr_tally tally;              /* of all files */
    wr_profile *_Atomic profile; /* of these; borrowed, or NULL */
    _Atomic bool timed;          /* calls are */
} wr_process;

/* What the processes of a world have done, with the tunable `stats`, as of the latest close of a
 * file of all of them. */
enum wr_stat {
    WR_STAT_WANTED,                     /* bytes, by direction; */
    WR_STAT_MOVED = WR_STAT_WANTED + 2, /* the same; */
    WR_STAT_CALLS = WR_STAT_MOVED + 2,
    WR_STAT_ERRORS,
    WR_STAT_NS, /* in all of them; up to here sums, from here on the most of any process */
    WR_STAT_SUMS,
    WR_STAT_MOST_NS = WR_STAT_SUMS,
    WR_STAT_MEMORY,
    WR_STATS
};

void wr_stats_get(const wr_tally *tally, int64_t stats[WR_STATS]);

/* The tunables say how the progress thread is scheduled. */
void wr_process_open(wr_process *process, const wr_tunables *tunables);
void wr_process_close(wr_process *process);

typedef struct wr_world {
    wr_transport *transport; /* ours */
    wr_tunables tunables;    /* equal on all ranks */
    wr_link link;            /* between its nodes, as rank 0 knows */
    wr_log log;
    wr_events *events; /* or NULL */
    wr_budget budget;
    wr_process *process;
    wr_process own;           /* if that is nobody else's */
    _Atomic uint64_t numbers; /* of regions, given by the first rank of a node */
    int regions;
    struct wr_channel_memory *region;            /* WR_REGION_CHANNELS channels in each */
    _Atomic uint64_t used[WR_MAX_CHANNELS / 64]; /* channels, equal on all ranks */
    wr_channel channel;                          /* number 0: the world's own */
    int *places;                                 /* of its ranks in MPI_COMM_WORLD, for the
                                                    profile; NULL: the same; ours */
    int64_t stats[WR_STATS];                     /* of all its ranks; rank 0's count */
    _Atomic int64_t in_flight;                   /* memory that operations keep */
    pthread_mutex_t lock;                        /* of what follows */
    wr_world_user *users;
    bool orphan;              /* its communicator is gone: it ends with its last user */
    void (*ends)(void *user); /* or NULL: called before it does; nobody uses it afterwards */
    void *user;
} wr_world;

/* [collective] Takes the transport, on success only. All ranks fail alike. */
int wr_world_open(wr_transport *transport, const wr_tunables *tunables, wr_world **out);

/* The same for one of several worlds of a process, which is borrowed until the last has ended. */
int wr_world_open_in(wr_process *process, wr_transport *transport, const wr_tunables *tunables,
                     wr_world **out);

/* [collective, on one of its channels] Sets `stats`, if the tunables say so. */
void wr_world_learn_stats(wr_world *world, wr_channel *channel);

/* A rank of the world was waited for just now, by this thread's call, if that is timed. */
void wr_world_name_waited(const wr_world *world, int rank);

/* Closes the transport too; see there about who must take part. NULL is fine. */
void wr_world_close(wr_world *world);

/* Closes it now, or, if something lives on it, when the last of that parts. */
void wr_world_leave(wr_world *world);

/* Closes it now, whoever lives on it. */
void wr_world_end(wr_world *world);

/* Local: a user keeps its world until it parts. */
void wr_world_join(wr_world *world, wr_world_user *world_user, void (*evict)(wr_world_user *user));
void wr_world_part(wr_world *world, wr_world_user *user);

/* Waits for the end of a job, or for a word to differ from `seen`, as wr_progress_wait does. */
void wr_world_wait_job(wr_world *world, wr_job *job);
void wr_world_wait(wr_world *world, wr_word *word, uint32_t seen);

/* As wr_world_close, but the transport goes back to its owner. */
void wr_world_release(wr_world *world);

#endif
