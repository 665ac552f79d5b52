/* The trace of one rank, as the library writes it for WEIR_TRACE: text, a record a line.
 *
 * Whatever the file holds, what is here is sound: numbers are in their ranges, names are there and
 * end. What a damaged line said is left out, and counted. At most a few MiB, most of it plans. */
#ifndef WR_CLI_REPORT_TRACE_H
#define WR_CLI_REPORT_TRACE_H

#include <stdint.h>
#include <stdio.h>

enum {
    TRACE_BINS = 256,
    TRACE_ROWS = 64,
    TRACE_FILES = 256,
    TRACE_CALLS = 512,
    TRACE_WAITS = 64,
    TRACE_PLANS = 16
};

/* Where a rank's time goes in calls; what is left is the program's own. */
enum { TRACE_EXCHANGE, TRACE_ACCESS, TRACE_WAIT, TRACE_PHASES };
enum { TRACE_READ, TRACE_WRITE };
enum { TRACE_BLOCKING, TRACE_SPLIT, TRACE_NONBLOCKING, TRACE_FORMS };

extern const char *const trace_phases[TRACE_PHASES], *const trace_forms[TRACE_FORMS],
                                                         *const trace_directions[2];

typedef struct trace_file {
    char *name; /* NULL: there is no such file */
    int64_t size, step;
    int slot; /* for who reads the trace */
} trace_file;

typedef struct trace_shape {
    int64_t aggregators, window, rounds, run, stride;
    char exchange[24], way[24];
} trace_shape;

/* Calls of one kind on one file with one plan. */
typedef struct trace_call {
    int known, file, write, alone, form;
    int64_t count, wanted, moved, syscalls, spent, phase[TRACE_PHASES], longest, errors;
    trace_shape shape;
    char *plan; /* or NULL */
} trace_call;

typedef struct trace_cell {
    int file, write, row, bin;
    int64_t bytes;
} trace_cell;

typedef struct report_trace {
    uint64_t job;
    int rank, ranks, complete, bins;
    int whole;   /* the last line is there */
    int damaged; /* lines */
    int64_t start, length, memory, errors, width;
    int64_t behind; /* ns of file access in the background */
    char host[256], version[64], program[256];
    int64_t time[TRACE_PHASES][TRACE_BINS];
    trace_file file[TRACE_FILES];
    int files; /* those beyond are not there */
    trace_call call[TRACE_CALLS];
    int calls, plans, waits;
    struct {
        int rank;
        int64_t ns;
    } waited[TRACE_WAITS];
    /* Called for each cell, its file and the bins being known, or NULL. */
    void (*cell)(struct report_trace *t, const trace_cell *cell);
    void *user;
} report_trace;

/* NULL: there is no memory. Freed with what was read. */
report_trace *report_trace_new(void);
void report_trace_free(report_trace *t);

/* Reads a file into `t`, in place of what was there; keeps cell and user. Returns NULL, or what is
 * wrong with the file as a whole. */
const char *report_trace_read(report_trace *t, FILE *f);

/* a + b, or as much as fits; both are 0 or more. */
int64_t trace_add(int64_t a, int64_t b);

#endif
