/* A traced job: what its ranks' traces say together, which is what `weir report` draws and judges.
 *
 * Time is cut into columns, from the first open of any rank to the last trace written. Ranks are
 * cut into rows for heat maps and, more coarsely, into bands for phases. Memory: some 30 MiB, and
 * 200 bytes a rank; traces are read one at a time, twice. */
#ifndef WR_CLI_REPORT_JOB_H
#define WR_CLI_REPORT_JOB_H

#include "report_trace.h"

enum {
    JOB_COLUMNS = 256,
    JOB_ROWS = 200,
    JOB_BANDS = 64,
    JOB_FILES = 12, /* of which offsets are kept: those of which most is moved */
    JOB_CALLS = 256,
    JOB_SIZES = 9, /* below 128 bytes, 1 KiB, 8 KiB, ..., 32 MiB, 256 MiB, and more */
    JOB_OTHERS = 5
};

typedef struct job_rank {
    int rank, complete, whole;
    int64_t start, length, memory, errors;
    int64_t spent[2], phase[TRACE_PHASES]; /* spent: in calls that read, that write */
    int64_t time[TRACE_PHASES], behind;    /* time: also outside of calls, in opens and syncs */
    int64_t wanted[2], moved[2];
    int64_t alone;     /* bytes wanted in calls on its own */
    int64_t served;    /* bytes moved in calls with aggregators, as one */
    int64_t served_ns; /* file access in these */
    int64_t waited_ns; /* for the rank that it waited longest for, or */
    int waited_rank;   /* -1 */
} job_rank;

typedef struct job_file {
    char *name; /* of the last one NULL: all others */
    uint64_t hash;
    int64_t size, step, wanted[2], moved[2];
    double bytes[2]; /* of its cells: reads of calls that write are reads there */
    double *cell[2]; /* bytes, TRACE_ROWS of JOB_COLUMNS each; NULL: none */
} job_file;

/* What calls of one kind on one file with one plan came to, on all ranks. */
typedef struct job_call {
    int file, write, alone, form, ranks;
    int slowest_rank;
    int64_t slowest; /* time of the rank that spent most in them */
    int64_t busiest; /* file access of the rank that had most */
    int64_t most;    /* calls of the rank that made most */
    int64_t count, wanted, moved, syscalls, spent, phase[TRACE_PHASES], longest, errors;
    trace_shape shape; /* run and stride: of the rank that spent most; rounds: the most */
    char *plan;        /* or NULL */
    int plan_rank;
    int rank; /* whose calls were added last, and what they came to */
    int64_t rank_spent, rank_access, rank_count;
} job_call;

typedef struct report_job {
    char id[17], host[256], version[64], program[256];
    int ranks, hosts;      /* ranks: as they say, whether their traces are there or not */
    int files, more_files; /* more_files: there are more than could be counted */
    int found, unreadable, cut, unfinished;
    char problem[160]; /* of one that is unreadable */
    int64_t damaged;   /* lines */
    int64_t start, length, memory, errors, behind;
    int64_t width;
    int columns, rows, row_ranks, bands, band_ranks;
    job_rank *rank; /* those found, in order */
    job_file file[JOB_FILES + 1];
    int named;        /* files that have a name here; others are in file[JOB_FILES] */
    double bytes[2];  /* of all cells */
    double *moved[2]; /* bytes by row and column */
    double *phase[TRACE_PHASES], *alive; /* ns by band and column; alive: in all */
    job_call call[JOB_CALLS];            /* those that took most time first */
    int calls, left_calls;               /* left_calls: of ranks, for which there was no room */
    int64_t sizes[2][JOB_SIZES], requests[2][JOB_SIZES]; /* runs moved, calls, by mean size */
    int others;                                          /* jobs in the folder besides */
    char other[JOB_OTHERS][17];                          /* the newest of them */
} report_job;

/* The job of that folder whose name begins with `name`; "": the newest. 0, or an error that
 * weir_error_last() has. */
int report_job_read(const char *folder, const char *name, report_job **out);
void report_job_free(report_job *job);

/* For tests: one without ranks. NULL: there is no memory. */
report_job *report_job_new(void);

/* Bytes of the largest access that has this place among sizes; INT64_MAX for the last. */
int64_t report_size_limit(int place);

#endif
