/* What one trace adds to a job. */
#ifndef WR_CLI_REPORT_MERGE_H
#define WR_CLI_REPORT_MERGE_H

#include "report_job.h"

/* [from, to) of a line of `count` fields of `width` each, from 0, gets `value`, in proportion. */
typedef struct merge_line {
    double *field;
    int count;
    int64_t width;
} merge_line;

void report_spread(const merge_line *line, int64_t from, int64_t to, double value);

/* For report_trace.cell, `user` being the job. */
void report_merge_cell(report_trace *t, const trace_cell *cell);

/* Before the trace is read again: its files are found. After that: all but the cells is added.
 * `rank` is that of the job. */
void report_merge(report_job *job, report_trace *t, job_rank *rank);

/* Which file of the job that is: its place, or JOB_FILES. */
int report_merge_file(const report_job *job, const char *name);

#endif
