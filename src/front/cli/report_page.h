/* Sections of a page that are tables. */
#ifndef WR_CLI_REPORT_PAGE_H
#define WR_CLI_REPORT_PAGE_H

#include "report_output.h"

void page_put_calls(const report_job *job, FILE *f);
void page_put_plans(const report_job *job, FILE *f);
void page_put_aggregators(const report *r, FILE *f);
void page_put_sizes(const report_job *job, FILE *f);
void page_put_outliers(const report_job *job, FILE *f);

/* Parts of 1, as a bar: access, exchange, wait, what else calls do. */
void page_put_split(FILE *f, const double *phase, double rest);

#endif
