/* Applies the rules to a job, and leaves out what is not worth it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report_rules.h"

static const report_rule nothing = {"nothing", RULE_NOTE, NULL, NULL};

/* By kind, then by gain; what is not known comes after what is. */
static int compare(const void *a, const void *b)
{
    const report_advice *x = a, *y = b;
    if (x->rule->kind != y->rule->kind)
        return x->rule->kind - y->rule->kind;
    if (x->saved != y->saved)
        return x->saved > y->saved ? -1 : 1;
    return (x->rule > y->rule) - (x->rule < y->rule);
}

/* Of the job's time, and ns: what is less may be chance. */
#define WORTH 0.02
#define LEAST 20e6

static int is_worth(const report_job *job, const report_advice *a)
{
    const int gain = a->rule->kind == RULE_GAIN || a->rule->kind == RULE_BOUND;
    const double stake = a->saved < 0 ? (double)job->length : a->saved;
    return !gain || (stake >= WORTH * (double)job->length && stake >= LEAST);
}

/* Of two changes to the same calls the one that gains more is told. */
static int is_beaten(const report_advice *all, int count, const report_advice *a)
{
    for (int i = 0; i < count && a->rule->kind == RULE_GAIN && a->call; i++)
        if (&all[i] != a && all[i].call == a->call && all[i].rule->kind == RULE_GAIN &&
            compare(&all[i], a) < 0)
            return 1;
    return 0;
}

int report_advise(const report_job *job, const report_figures *f, report_advice *out)
{
    int found = 0, count = 0, gains = 0;
    report_advice *all = calloc((size_t)report_rules_count, sizeof *all);
    for (int i = 0; all && i < report_rules_count; i++) {
        report_advice *a = &all[found];
        *a = (report_advice){.rule = &report_rules[i], .rank = -1, .other = -1};
        found += a->rule->test(job, f, a) && is_worth(job, a);
    }
    for (int i = 0; i < found && count < ADVICE_MOST - 1; i++)
        if (!is_beaten(all, found, &all[i])) {
            out[count] = all[i];
            out[count].rule->text(job, f, &out[count]);
            gains += out[count++].rule->kind != RULE_PROBLEM;
        }
    free(all);
    if (count)
        qsort(out, (size_t)count, sizeof *out, compare);
    if (!gains) {
        out[count] = (report_advice){.rule = &nothing, .rank = -1, .other = -1};
        snprintf(out[count].text, sizeof out->text, "%s",
                 job->calls ? "nothing to change: no rule expects to save 2 % of the job's time, "
                              "or 20 ms"
                            : "no call is in the traces that had come to its end");
        count++;
    }
    return count;
}
