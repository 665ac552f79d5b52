/* Bytes between ranks, and how to wait for them.
 *
 * A transport is one rank's end of a group of ranks: who it is, on which node, and a handful of
 * operations. `mpi` works on a communicator of its own; `local` makes the ranks threads of one
 * process, for tests. Messages between two ranks with one tag arrive in the order they were sent.
 * Lengths are 64-bit; where MPI wants an int, mpi_transport.c cuts.
 *
 * Threads: a transport's messages are used by one thread at a time, unless `multiple` says that the
 * MPI library allows more; tags keep the threads' messages apart. */
#ifndef WR_TRANSPORT_TRANSPORT_H
#define WR_TRANSPORT_TRANSPORT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/tunables.h"
#include "base/wait.h"

enum { WR_HOST = 256 }; /* most of a host's name */

/* A message under way; `parts` is 0 once it is over. Plain data, the caller's. */
typedef struct wr_request {
    int64_t parts;
    void *inside;
    int64_t bytes; /* expected by a receive, otherwise -1 */
    _Alignas(8) char one[16];
} wr_request;

/* A message of a sparse exchange: to or from `rank`. */
typedef struct wr_parcel {
    int rank;
    int64_t bytes;
    const void *data;
} wr_parcel;

/* Where a message from `rank` goes. */
typedef struct wr_place {
    int rank;
    int64_t bytes;
    void *data;
} wr_place;

/* A strided piece of memory to or from `rank`: `count` runs of `run` bytes, `stride` apart. */
typedef struct wr_lane {
    int rank;
    char *memory;
    int64_t run, stride, count;
} wr_lane;

/* Messages sent to ranks of other nodes, by what they are for. */
enum wr_traffic_kind { WR_TO_AGREE, WR_TO_EXCHANGE, WR_TRAFFIC_KINDS };

typedef struct wr_traffic {
    _Atomic int64_t messages, bytes;
} wr_traffic;

enum wr_reduction { WR_SUM, WR_MIN, WR_MAX, WR_OR };

/* What shared memory is made of, in the order in which it is tried: memory without a name, which
 * others find through its maker's descriptor; a file in a folder. */
enum wr_region_kind { WR_REGION_ANONYMOUS, WR_REGION_FILE, WR_REGION_KINDS };

/* Memory shared by the ranks of a node, zeroed at first, at different addresses in each. */
typedef struct wr_region {
    char *base;
    int64_t bytes;
    uint64_t number; /* the same on all ranks of the node, if their channel made it; or 0 */
    bool counted;    /* as memory of this process, which made it */
} wr_region;

typedef struct wr_transport wr_transport;

enum { WR_EMPTY = 2 };

/* Errors of send and receive are returned at once or by test; after one the message is over. */
typedef struct wr_transport_ops {
    const char *name;
    const char *help;
    void (*close)(wr_transport *t);
    /* Lets messages of other code make progress; called while waiting. */
    void (*poke)(wr_transport *t);
    /* `when_received`: over only when the receiver has it. Otherwise when the memory can be reused.
     */
    int (*send)(wr_transport *t, wr_parcel to, int tag, bool when_received, wr_request *r);
    /* A message of another length than `bytes` is an error, and cut. With data NULL it is received
     * and dropped: for who has no memory for it. */
    int (*receive)(wr_transport *t, wr_place from, int tag, wr_request *r);
    /* WR_EMPTY, which is no error: it is over, and had no bytes where some were due. */
    int (*test)(wr_transport *t, wr_request *r, bool *over);
    /* Whether a message with this tag can be received from from->rank, or from anybody if that is
     * -1: from whom, and its length (below 2 GiB). */
    int (*probe)(wr_transport *t, int tag, wr_parcel *from, bool *found);
    /* [collective] Moves every rank's lanes at once, straight from and to their memory; those of a
     * rank are next to each other, and as many bytes as that rank has for this one. With a code as
     * in wr_agree: then nothing moves. One at a time on a transport: who wants it at any other time
     * makes a copy. */
    int (*alltoall)(wr_transport *t, int code, int sends, const wr_lane *send, int receives,
                    const wr_lane *receive);
    /* [collective] Another transport of the same ranks, whose messages are apart from this one's;
     * to be closed before it. All ranks fail alike. */
    int (*copy)(wr_transport *t, int tag, wr_transport **out);
} wr_transport_ops;

struct wr_transport {
    const wr_transport_ops *ops;
    int rank, size;
    int node, nodes; /* own node, number of nodes; numbered by their first ranks */
    char
        host[WR_HOST]; /* name of the own node; its number, where nodes are not as the machine is */
    bool mixed;        /* sorted by node, ranks do not ascend */
    int local_rank, local_size;
    int cores;       /* of the node, that its ranks may use; 0: not known */
    int *node_of;    /* of each rank */
    int *by_node;    /* all ranks, sorted by node, ascending within it */
    int *local;      /* ranks of the own node: a part of by_node, */
    int local_first; /* from this place on */
    int *leaders;    /* of each node, its first rank */
    wr_traffic traffic[WR_TRAFFIC_KINDS];
    enum wr_region_kind regions; /* the first that works, as far as is known */
    int spins;                   /* for wr_waiter: 0 where the node has more ranks than cores */
    bool multiple;               /* several threads may use it at once */
    bool real;                   /* its messages take as long as messages do: it is no model */
    void (*idle)(void *user); /* or NULL: also done while waiting, in threads that may call MPI */
    void *idle_user;
    void *state;
};

/* A caller of collective operations has WR_TAG_SPAN tags, from a multiple of that on. Within them
 * each kind of message has a tag of its own: none is taken for one of another kind. */
enum {
    WR_TAG_REDUCE, /* wr_allreduce, wr_agree and the like */
    WR_TAG_BROADCAST,
    WR_TAG_JOIN,
    WR_TAG_EXCHANGE,                 /* those above serve agreement, the others exchange */
    WR_TAG_SPARSE = WR_TAG_EXCHANGE, /* of even rounds */
    WR_TAG_SPARSE_ODD,
    WR_TAG_SPARSE_REST,
    WR_TAG_SPARSE_BARRIER,
    WR_TAG_REGION,  /* opening shared memory */
    WR_TAG_READ,    /* data from an aggregator, */
    WR_TAG_NOTICE,  /* what is not as expected of them, */
    WR_TAG_WRITE,   /* and data to it */
    WR_TAG_PARCELS, /* a leader to the aggregators of its node */
    WR_TAG_LANES,   /* a mailbox without shared memory; an all-to-all made of messages */
    WR_TAG_KINDS,
    WR_TAG_SPAN = 16,
    WR_TAG_MAX = 32000,
    WR_TAG_ALLTOALL = WR_TAG_MAX - WR_TAG_SPAN /* the last span: all-to-alls' own */
};
_Static_assert(WR_TAG_KINDS <= WR_TAG_SPAN, "a span has a tag for each kind");

/* Fills in nodes and locals; used by the backends. numbers[0, size) holds each rank's node, the
 * rest of its WR_NUMBERS * size elements is filled here; ours from now on. */
enum { WR_NUMBERS = 3 };
void wr_transport_place(wr_transport *t, int *numbers);
void wr_transport_close(wr_transport *t);

/* For the backends: a message leaves. */
static inline void wr_transport_count(wr_transport *t, int to, int tag, int64_t bytes)
{
    if (t->node_of[to] == t->node)
        return;
    /* relaxed: figures, read once all is quiet */
    wr_traffic *sum =
        &t->traffic[tag % WR_TAG_SPAN < WR_TAG_EXCHANGE ? WR_TO_AGREE : WR_TO_EXCHANGE];
    atomic_fetch_add_explicit(&sum->messages, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&sum->bytes, bytes, memory_order_relaxed);
}

/* How to wait for a word in a region. `may_poke`: this thread may call MPI. */
wr_waiter wr_transport_waiter(wr_transport *t, bool may_poke);

/* What is also done while waiting; nothing within a task. */
void wr_transport_idle(wr_transport *t);

/* Between two looks at messages: wr_backoff, and what else is done while waiting. */
void wr_transport_rest(wr_transport *t, int *tries);

/* Memory shared by the ranks of this node, `bytes` on each; [collective on the node]. All of them
 * fail alike: a full folder is WEIR_ENOSPC on every rank, not a signal later. Of a rank that is
 * alone on its node it is that rank's own. */
int wr_region_open(wr_transport *t, int tag, const wr_tunables *tunables, int64_t bytes,
                   wr_region *out);

/* Where regions that are files lie. */
static inline const char *wr_region_folder(const wr_tunables *tunables)
{
    return *tunables->region_folder ? tunables->region_folder : "/dev/shm";
}

/* The kind to try first: a folder that is given is used, or nothing. */
static inline enum wr_region_kind wr_region_first(const wr_transport *t,
                                                  const wr_tunables *tunables)
{
    return *tunables->region_folder ? WR_REGION_FILE : t->regions;
}

/* Memory that nobody else has. */
int wr_region_own(int64_t bytes, wr_region *out);
void wr_region_close(wr_region *region);

/* Starts, and waits for, one message. */
int wr_send(wr_transport *t, int to, int tag, const void *data, int64_t bytes);
int wr_receive(wr_transport *t, int from, int tag, void *data, int64_t bytes);
int wr_request_wait(wr_transport *t, wr_request *r);

/* *to becomes what the reduction makes of it and `value`. */
void wr_combine(enum wr_reduction reduction, int64_t *to, int64_t value);

/* [collective] Combines `count` numbers of every rank, in log2(size) rounds. */
int wr_allreduce(wr_transport *t, int tag, enum wr_reduction reduction, int count, int64_t *values);

/* [collective] What the lower ranks' numbers come to, in log2(size) rounds. */
int wr_sum_before(wr_transport *t, int tag, int count, const int64_t *values, int64_t *before);

/* [collective] Rank 0's bytes for all. */
int wr_broadcast(wr_transport *t, int tag, void *data, int64_t bytes);

/* [collective] If any rank comes with code != 0, all return the code and details of the lowest such
 * rank, its number included. */
int wr_agree(wr_transport *t, int tag, int code);

/* [collective among the group's `count` ranks, of which this one is number `own`] Everyone says
 * something, and all get what everything that is said comes to; log2(count) messages after each
 * other, and two more unless count is a power of two. Nothing is returned: who has lost a message,
 * or has no room for one, goes on and says so. */
typedef struct wr_join {
    int tag;
    const int *group;
    int count, own;
    void *data;    /* what is said; at the end, by all, */
    int64_t bytes; /* so many, */
    int64_t room;  /* of so many at most */
    void *theirs;  /* as much room, where messages arrive */
    /* Makes one of `data` and the `bytes` of `theirs`, which are from neighbours: what all of the
     * group's ranks just below say, or just above. The same on those who have said `theirs`. */
    void (*merge)(struct wr_join *join, int64_t bytes, bool below);
    /* Puts it into `data` that a message has not come; the thread's error says why. */
    void (*lose)(struct wr_join *join, int code);
} wr_join;

void wr_join_run(wr_transport *t, wr_join *join);

/* [collective] Everyone sends parcels to whom it wants, at most one to a rank, and gets those sent
 * to it, in the order of senders' ranks; nobody knows beforehand from whom. Takes time with the
 * number of partners and log2(size). `round` counts the exchanges made with this tag, on every rank
 * alike. What arrives lies in `memory`. With a group, only its `count` ranks take part, and this
 * one is number `own` of them. */
typedef struct wr_sparse {
    int tag;
    uint64_t round;
    wr_arena *memory;
    const int *group; /* or NULL: all ranks */
    int count, own;
} wr_sparse;

int wr_sparse_exchange(wr_transport *t, wr_sparse *exchange, int count, const wr_parcel *out,
                       int *received, wr_parcel **in);

#endif
