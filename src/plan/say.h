/* A plan as lines of text, the same for `weir plan` and for the log. */
#ifndef WR_PLAN_SAY_H
#define WR_PLAN_SAY_H

#include "plan/plan.h"

/* Text appended to memory of fixed size, counting what does not fit. */
typedef struct wr_text {
    char *at; /* or NULL: only counts */
    size_t size;
    int64_t length;
} wr_text;

void wr_say(wr_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Names of enum wr_way, in its order. */
extern const char *const wr_way_names[WR_WAYS];

/* Of enum wr_exchange, as tunables have them. */
/* By the name it has as a tunable. */
void wr_say_exchange(wr_text *t, int64_t exchange);

/* What a plan was made from; what it says; of that only how one rank moves its data; and of that
 * only what is each rank's own. */
void wr_say_input(wr_text *t, const wr_plan_input *in);
void wr_say_plan(wr_text *t, const wr_plan_input *in, const wr_plan *plan);
void wr_say_ways(wr_text *t, const wr_plan_input *in, const wr_plan *plan);
void wr_say_moved(wr_text *t, const wr_plan *plan);

#endif
