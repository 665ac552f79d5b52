/* The tables of a profile: for what fills them, what writes them, and tests. */
#ifndef WR_BASE_PROFILE_TABLES_H
#define WR_BASE_PROFILE_TABLES_H

#include <pthread.h>
#include <sys/types.h>

#include "base/profile.h"

enum { WR_PROFILE_TEXT = 1024 };
enum { WR_FIRST_BIN = 1000000 /* nanoseconds */, WR_FIRST_SHIFT = 12 };

/* Bytes by time and offset; what moves at a time lies together. */
typedef int64_t wr_cells[WR_BINS][WR_ROWS];

typedef struct wr_profiled_file {
    char name[WR_PROFILE_TEXT];
    int64_t size;        /* largest offset touched */
    _Atomic int shift;   /* a row has 2 to the power of this bytes */
    wr_cells *cells;     /* by direction; NULL: there was no memory for them */
    int bins;            /* that have some */
    int64_t moved, runs; /* that no call has been charged with */
    int latest;          /* class of the latest call, or -1 */
} wr_profiled_file;

/* The kind stays as it was when the class came to its place, and can be compared without a lock. */
typedef struct wr_class {
    wr_call_kind kind;
    int64_t count, wanted, moved, runs, longest, errors;
    wr_spent spent;
    _Atomic int64_t cost;   /* to the engine */
    _Atomic int64_t rounds; /* of the latest call */
    _Atomic int plan;       /* its text, or -1 */
} wr_class;

struct wr_profile {
    pthread_mutex_t lock; /* of what follows, but for what is atomic */
    uint64_t job;
    int rank, size, node;
    char folder[WR_PROFILE_TEXT], version[64], host[64];
    wr_log log;
    pid_t process;
    int64_t day;                 /* when it began, since 1970, */
    int64_t start;               /* and by the clock of durations */
    _Atomic int64_t next;        /* when it is written again, */
    _Atomic int64_t next_closed; /* and when after a file was closed */
    bool broken;                 /* it cannot be written */
    _Atomic bool written;        /* there is a file */
    _Atomic int64_t width;       /* of a bin */
    int bin;                     /* the one that was looked for last, */
    _Atomic int64_t bin_end;     /* and when it ends */
    int64_t time[WR_PHASES][WR_BINS], behind[WR_BINS];
    int files, classes, plans, partners;
    wr_profiled_file file[WR_PROFILED_FILES + 1];
    wr_class class[WR_CLASSES + 2];        /* the last two: other, by direction */
    _Atomic int16_t place[2 * WR_CLASSES]; /* of a class by its hash, from 1; 0: none */
    struct {
        int class;
        char text[WR_PLAN_TEXT];
    } plan[WR_PLANS];
    struct {
        int rank;
        int64_t ns;
    } partner[WR_PARTNERS + 1];
};

/* With the lock held: the bin of a moment, which has one then; mostly that of the moment before. */
int wr_profile_bin(wr_profile *p, int64_t ns);

/* With the lock held: what the file has moved counts for the latest call on it. */
void wr_profile_charge(wr_profile *p, wr_profiled_file *file);

#endif
