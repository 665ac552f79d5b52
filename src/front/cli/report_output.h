/* The three forms of a report. */
#ifndef WR_CLI_REPORT_OUTPUT_H
#define WR_CLI_REPORT_OUTPUT_H

#include "report_rules.h"

typedef struct report {
    const report_job *job;
    report_figures figures;
    report_advice advice[ADVICE_MOST];
    int count; /* of advice */
} report;

void report_print_text(const report *r, FILE *f); /* for a terminal: up to 20 lines */
void report_print_json(const report *r, FILE *f); /* one object, in a line */
void report_print_page(const report *r, FILE *f); /* HTML that needs nothing else */

/* "2026-11-18 12:30:01 UTC". */
enum { REPORT_DATE = 32 };
char *report_date(int64_t ns, char out[REPORT_DATE]);

/* Whether all ranks ended in order, and their traces are there. */
int report_is_whole(const report_job *job);

#endif
