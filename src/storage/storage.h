/* Bytes between memory and one open file.
 *
 * A transfer is a strided batch in the file and one in memory. Transfers are submitted, run in any
 * order (so those outstanding together must not overlap where one of them writes), and come back by
 * reap, each once. Whoever submits keeps the transfer and its memory until then.
 *
 * Short transfers, EINTR and EAGAIN end here: a transfer comes back complete, or failed, or, when
 * reading, cut at the end of the file.
 *
 * A storage is used by one thread at a time; range locks are the exception (lock.h). Backends and
 * wrappers are wr_storage_ops in one table each; they speak bytes and batches, never patterns.
 *
 * Invariants
 *   S1  done is the longest prefix of the transfer's bytes known to be moved
 *   S2  a transfer that comes back with error == 0 is complete, or a read whose next byte lies at
 *       or past the end of the file */
#ifndef WR_STORAGE_STORAGE_H
#define WR_STORAGE_STORAGE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/price.h"
#include "base/profile.h"
#include "base/tunables.h"
#include "storage/system_stripe.h"

typedef struct wr_transfer {
    enum wr_direction direction;
    int64_t offset;        /* in the file, of the first run */
    int64_t run, count;    /* bytes of a run, number of runs */
    int64_t stride;        /* from run to run in the file */
    char *memory;          /* first run; only read when writing */
    int64_t memory_stride; /* from run to run in memory */
    void *user;            /* the submitter's, not looked at */

    int64_t done; /* bytes moved, in data order; what a read leaves past them is unspecified */
    int error;    /* 0 or an errno */

    /* The storage's while submitted. */
    bool marked;              /* chosen by `fault` */
    struct wr_transfer *next; /* the caller's until then: what is submitted together */
    int64_t tried;            /* what `done` was before the latest attempt */
    int64_t stalls;           /* attempts in a row that were interrupted before anything moved */
    int64_t claimed;          /* parts start from here (parts.h) */
    int64_t pending;          /* parts under way */
    int64_t reached;          /* lowest position where a part stopped short */
    int64_t due;              /* when `fault` lets it come back */
} wr_transfer;

static inline int64_t wr_transfer_bytes(const wr_transfer *t)
{
    return t->run * t->count;
}

/* Of one file, as fstat tells: on one host device and number tell it from every other. */
typedef struct wr_file_mark {
    int64_t device, number, size;
    int64_t modified, changed; /* when, in nanoseconds */
} wr_file_mark;

typedef struct wr_storage_facts {
    wr_price cost[2];   /* by direction */
    int64_t alignment;  /* of offsets, lengths and memory for direct access; 1: none */
    int64_t granule[2]; /* by direction: transfers are whole multiples of it, and so are offsets; 0:
                           any bytes */
    int64_t batch;      /* so much at once keeps all its threads busy; 0: as little as one wants */
    int64_t coding[2];  /* by direction: what a MiB takes besides, in nanoseconds */
    bool direct;        /* file accessed past the page cache where aligned */
    bool local;         /* the file system is this machine's alone */
    bool weak;          /* hosts may see old data, sizes and names until they sync (systems.h) */
    bool carries;       /* what a host writes may carry old bytes around it, unless it is locked */
    const char *kind;   /* of file system */
    int64_t system;     /* tells the file system from others; 0: not known */
    /* of a striped file; otherwise 0 */
    int64_t disks, stripe;  /* files that hold it, bytes dealt to each at a time */
    int64_t identity;       /* tells it from every other; 0: not known */
    wr_system_stripe dealt; /* what the file system does, once somebody has asked for it */
    wr_file_mark mark;      /* when it was opened; zeroed where it is not one file */
    int descriptor;         /* where it is one file; otherwise -1 */
} wr_storage_facts;

enum wr_open_flags {
    WR_OPEN_READ = 1,
    WR_OPEN_WRITE = 2,
    WR_OPEN_CREATE = 4,
    WR_OPEN_EXCLUSIVE = 8, /* with CREATE: must not exist */
    WR_OPEN_TRUNCATE = 16
};

enum wr_sync {
    WR_SYNC_STORE,  /* what was written is on stable storage, metadata included */
    WR_SYNC_REFRESH /* likewise, and what others have stored is seen from now on */
};

/* Transfers, first in, first out; zeroed is empty (parts.h). */
typedef struct wr_transfers {
    wr_transfer *first, *last;
} wr_transfers;

typedef struct wr_storage wr_storage;

/* All of a backend. Every operation but open gets an open storage. */
typedef struct wr_storage_ops {
    const char *name;
    const char *help;
    int (*open)(wr_storage *s, int flags);
    void (*close)(wr_storage *s);
    /* Starts an attempt at everything from t->done on, of t and of all that hangs on t->next; must
     * not fail: errors are t's. What is over at once may go to s->over, where it is found before
     * reap is called. */
    void (*submit)(wr_storage *s, wr_transfer *t);
    /* A transfer whose attempt is over, `done` and `error` set, or NULL: none is under way, or none
     * is over yet and !wait. A short attempt has no error of its own: the front makes another. */
    wr_transfer *(*reap)(wr_storage *s, bool wait);
    int (*get_size)(wr_storage *s, int64_t *size);
    int (*set_size)(wr_storage *s, int64_t size);
    int (*sync)(wr_storage *s, enum wr_sync how);
    /* Tries to lock, or unlocks, the range between processes (enum wr_lock_kind): 0, or 1 if
     * another holds it, or a negative code; what it has locked then is the caller's to unlock. Any
     * thread may call it, one at a time. */
    int (*lock)(wr_storage *s, int kind, int64_t lo, int64_t hi);
    /* The path of the file that holds the byte at *offset, which becomes its offset there. NULL:
     * there is one file. */
    const char *(*locate)(const wr_storage *s, int64_t *offset);
    /* Raises the error of a transfer that has failed, where an errno does not tell it; 0: it does.
     * NULL: always. */
    int (*explain)(const wr_storage *s, const wr_transfer *t);
} wr_storage_ops;

/* A file that is found without its path, which may have come to name another. */
typedef struct wr_origin {
    int file;         /* the file of this descriptor, opened again; -1: */
    int folder;       /* what in this folder */
    const char *name; /* has this name, or, absolute, has it anywhere */
} wr_origin;

/* A file that another process of this host has open: by its descriptor it is found whatever has
 * become of its path. */
typedef struct wr_twin {
    int64_t process;
    int descriptor; /* -1: found by its path */
    wr_file_mark mark;
} wr_twin;

struct wr_storage {
    const wr_storage_ops *ops;
    char *path;                  /* of the innermost; wrappers share it */
    const wr_tunables *tunables; /* as they were when it was opened: its own; wrappers share it */
    const wr_log *log;           /* borrowed, or NULL */
    wr_budget *budget;           /* borrowed, or NULL: of bounce buffers and queues */
    wr_events *events;           /* borrowed, or NULL */
    wr_watch *watch;             /* borrowed, or NULL: of bytes that are moved */
    const wr_origin *origin;     /* while it is opened, or NULL */
    const void *given;           /* the same: of the options */
    const wr_twin *twin;         /* the same: then the facts are known, and do not change */
    wr_storage_facts facts;
    int64_t limit;                 /* of what is written: RLIMIT_FSIZE at first */
    int plain_fd;                  /* pread and pwrite on it do the same as transfers; -1: none */
    wr_storage *inner;             /* of a wrapper */
    void *state;                   /* the backend's */
    int close_error;               /* set by close: an errno */
    int64_t outstanding;           /* submitted and not reaped */
    wr_transfers over;             /* of these, those that were over at once */
    struct wr_range_table *ranges; /* of lock.c; wrappers share it */
};

/* A file of which the bytes [skip, skip + bytes) are seen. */
typedef struct wr_member {
    const char *path;
    int64_t skip, bytes;
} wr_member;

typedef struct wr_members {
    int count;
    const wr_member *member;
} wr_members;

typedef struct wr_storage_options {
    const wr_tunables *tunables; /* storage, direct, fault, io_*; borrowed while opening */
    const wr_log *log;
    wr_budget *budget;
    wr_events *events;
    wr_watch *watch;
    const wr_storage_ops *ops; /* NULL: by the tunables; otherwise a backend of another room, */
    const void *given;         /* and what its open finds in s->given; borrowed while opening */
    const wr_members *members; /* NULL: path is one file; borrowed while opening */
    const char *folder;        /* of members: opened at once, and those below it are found from
                                * there, whatever its name leads to by then; NULL: by their paths */
    const wr_origin *origin; /* NULL: found by path; borrowed while opening; not for mem, striped */
    bool as_it_is;           /* the file is not looked at: it may look like a description */
    bool patient; /* another host has found it: if it is not there it is waited for (patience.h) */
} wr_storage_options;

/* The backends, ended by NULL. Where the kernel refuses one, the next takes its place, up to posix;
 * what `auto` means is decision 004. */
extern const wr_storage_ops *const wr_storage_backends[];

/* Opens `path` with the backend the tunables name, or, where the kernel refuses it, the next one:
 * uring, pool, posix, with a line in the log. Wrapped by `fault` and `events` as asked for.
 * Errors carry path and errno. A striped file is opened as that, whatever the tunables name, and a
 * file that is there without being striped is opened as by `auto` where they name `striped`.
 *
 * With members, these files are seen as one of constant size, one behind the other, and `path` is
 * only its name. Each is opened when it is first needed, so that its errors come as late; they name
 * the member and the offset there. One that is gone by then is an error, and no other takes its
 * place if there is a folder. Flags that create or truncate are WEIR_EINVAL. */
int wr_storage_open(const char *path, int flags, const wr_storage_options *options,
                    wr_storage **out);

/* Everything but the file: that is opened by wr_storage_open_now, with the backend that `facts`,
 * those of who has it open, call for. Until then it has no bytes to offer; locks, which are taken
 * after it, have their table. Not for members. */
int wr_storage_open_later(const char *path, const wr_storage_options *options, wr_storage **out);
void wr_storage_set_later(wr_storage *s, const wr_storage_facts *facts, const wr_twin *twin);

/* Of one that is to be opened later: opens it, if that was not done before. WEIR_EIO with ESTALE if
 * another file has its name by then. On failure it can be called again. Facts stay as they are:
 * other threads may look at them. */
int wr_storage_open_now(wr_storage *s, int flags);

/* The size of a file that is not open yet, without opening it, where that can be had. */
bool wr_storage_peek_size(const wr_storage *s, int64_t *size);

/* Sets what facts tell of the file system that holds `path`. */
void wr_storage_ask_system(const char *path, const wr_tunables *tunables, wr_storage_facts *facts);

/* Removes a file by its name, a striped one with all its parts (stripes.h). */
int wr_storage_remove(const char *path);

/* Reaps what is outstanding first; whatever it returns, the storage is gone. The error of the first
 * write that fails while closing. NULL is fine. */
int wr_storage_close(wr_storage *s);

/* Takes t, and whatever hangs on t->next, until each is reaped. */
void wr_storage_submit(wr_storage *s, wr_transfer *t);

/* The next transfer that is over, or NULL: nothing is outstanding, or nothing is over and !wait. */
wr_transfer *wr_storage_reap(wr_storage *s, bool wait);

/* Submits t, waits for it, and returns wr_transfer_check(). Nothing else may be outstanding. */
int wr_storage_run(wr_storage *s, wr_transfer *t);

/* 0, or raises an error with path, offset and errno; a read cut at the end of the file is WEIR_EIO
 * too: who expects that looks at `done`. */
int wr_transfer_check(const wr_storage *s, const wr_transfer *t);

/* The path of the file that holds the byte at *offset, which becomes its offset there. Borrowed
 * until close. */
const char *wr_storage_locate(const wr_storage *s, int64_t *offset);

/* Whether reading the byte at `offset` needs no device; false where that is not known. */
bool wr_storage_is_cached(const wr_storage *s, int64_t offset);

int wr_storage_get_size(wr_storage *s, int64_t *size);
int wr_storage_set_size(wr_storage *s, int64_t size);

/* Space for the first `size` bytes; the file is at least as long afterwards. */
int wr_storage_preallocate(wr_storage *s, int64_t size);

int wr_storage_sync(wr_storage *s, enum wr_sync how);

#endif
