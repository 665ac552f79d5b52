/* What to change: rules that compare figures of a job. docs/report.md states their models.
 *
 * Each expects some gain: `factor` times faster are the calls concerned, and the job takes `saved`
 * less. What would save less than 2 % of the job's time, or 20 ms, is not worth a sentence. */
#ifndef WR_CLI_REPORT_RULES_H
#define WR_CLI_REPORT_RULES_H

#include "report_figures.h"

/* A PROBLEM is always told. BOUND: a gain that no rule can vouch for comes after the others. NOTE:
 * is told if it holds. */
enum { RULE_PROBLEM, RULE_GAIN, RULE_BOUND, RULE_NOTE };
enum { ADVICE_MOST = 16 };

typedef struct report_advice {
    const struct report_rule *rule;
    const job_call *call; /* concerned, or NULL */
    int rank, other;
    int64_t value;
    double share;
    double factor, saved; /* saved in ns; -1: not known, because nothing recorded tells */
    char hint[64];        /* that may be set, or "" */
    char text[600];
} report_advice;

/* Whether the rule holds for a job; then all but `text` is set. */
typedef int rule_test(const report_job *job, const report_figures *f, report_advice *out);
typedef void rule_text(const report_job *job, const report_figures *f, report_advice *out);

typedef struct report_rule {
    const char *name;
    int kind;
    rule_test *test;
    rule_text *text;
} report_rule;

extern const report_rule report_rules[];
extern const int report_rules_count;

/* The advice for a job, the most important first; returns how many sentences there are, at least
 * one. `out` has room for ADVICE_MOST. */
int report_advise(const report_job *job, const report_figures *f, report_advice *out);

#endif
