/* Figures of a job that follow from its sums: what the head of a report shows and rules compare. */
#ifndef WR_CLI_REPORT_FIGURES_H
#define WR_CLI_REPORT_FIGURES_H

#include "report_job.h"

typedef struct report_figures {
    double wanted[2], moved[2];
    double
        rate[2]; /* bytes wanted in a second of the rank that spent most in such calls, or in which
                       bytes moved, if that is longer */
    double amplification[2]; /* bytes moved for a byte wanted; 0: none wanted */
    double lived, spent;     /* ns of all ranks: traced; in calls */
    /* Shares of the time of all ranks: in calls; in opens, closes and syncs; phases of both; what
     * else calls do; the program's own. */
    double share, outside, phase[TRACE_PHASES], rest, own;
    double ranks;        /* that have a trace */
    double best_rate[2]; /* bytes per ns of the fastest blocking calls that move large pieces */
    double call_ns[2];   /* least mean time of a run that is moved, of blocking calls */
    int aggregators;     /* ranks that moved bytes in calls together */
    double served_ns;    /* mean file access of these */
    int served_rank;     /* which has most */
} report_figures;

void report_figures_find(const report_job *job, report_figures *out);

/* Bytes moved for a byte wanted; 0: none wanted. */
double figures_ratio(double moved, double wanted);

/* Bytes wanted in a second, of calls; 0: not known, as calls that go on in the background have
 * no time of their own. */
double figures_rate(const job_call *c);

/* The name of a file without its folders, or "other files". */
const char *figures_file(const report_job *job, int file);

#endif
