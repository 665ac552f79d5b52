/* A plan for people: what all ranks want, and walks over the realms and windows of all aggregators,
 * for text and for pictures. */
#ifndef WR_PLAN_EXPLAIN_H
#define WR_PLAN_EXPLAIN_H

#include "plan/cover.h"
#include "plan/say.h"
#include "plan/traffic.h"
#include "weir/plan.h"

struct weir_plan {
    weir_plan_request request;
    wr_plan_input in;
    wr_plan plan;
    wr_want *wants;
    int64_t wants_count;
    wr_summary *nodes;  /* what each wants, by node; NULL if there is one */
    int64_t first_rank; /* of what is about one node */
    int64_t aggregators;
    wr_custom_realms custom;
    int64_t cut[WR_CUTS];
};

/* What is written so far, and whose realms have been written about. */
typedef struct wr_explainer {
    wr_text text;
    wr_want_queue wants; /* to be released */
} wr_explainer;

void wr_explainer_init(wr_explainer *w, const weir_plan *p, char *text, size_t size);

/* What all windows of all realms come to. */
typedef struct wr_total {
    int64_t windows, rounds, calls, moved;
    wr_sent *nodes; /* what each sends to others; NULL: not asked */
} wr_total;

/* What is said or drawn of a realm, if anything, and of each of its windows. */
typedef struct wr_visitor {
    void (*realm)(wr_explainer *w, const weir_plan *p, const wr_windows *walk, int64_t i);
    int (*window)(wr_explainer *w, const weir_plan *p, wr_windows *walk, const wr_window *window);
} wr_visitor;

int wr_explained_node_ranks(const weir_plan_request *r);

/* Walks over realm i and its windows; adds them to *sum. */
int wr_explain_realm(const weir_plan *p, int64_t i, wr_total *sum, const wr_visitor *visit,
                     wr_explainer *w);

/* Of a plan per node the part of one, whose wants are the first of those from `from` on, and which
 * is written about next; it borrows all. */
int wr_explain_node(wr_explainer *w, const weir_plan *p, int64_t node, int64_t from,
                    weir_plan *out);

/* The plan that a rank makes for itself; and, if that goes through windows, a walk over them. `of`
 * has that plan and its input. */
void wr_explain_rank(const weir_plan *p, const wr_want *want, wr_plan_input *in, wr_plan *plan);
int wr_explain_windows(const weir_plan *p, const wr_want *want, const wr_windows *of, wr_total *sum,
                       const wr_visitor *visit, wr_explainer *w);

/* What all of it comes to. */
int wr_explain_total(const weir_plan *p, wr_total *sum);

#endif
