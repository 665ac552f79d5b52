/* What ways of cutting realms share, and those that have files of their own. */
#ifndef WR_PLAN_REALMS_H
#define WR_PLAN_REALMS_H

#include "plan/plan.h"

/* Cuts fall on multiples of `size` from `origin` on. */
typedef struct wr_grain {
    int64_t origin, size;
} wr_grain;

wr_grain wr_grain_of(const wr_plan_input *in, int64_t realms);

int wr_balanced_cut(const wr_plan_input *in, wr_plan *out);
int wr_balanced_make(const wr_plan *plan, int64_t i, weir_pattern **out);

/* That they do not overlap and leave no gap, within a period or from their first byte to the last;
 * WEIR_EINVAL names what is wrong. */
int wr_custom_verify(const wr_custom_realms *realms);

/* Frees patterns and list; *realms is empty then. */
void wr_custom_release(wr_custom_realms *realms);

int wr_custom_cut(const wr_plan_input *in, wr_plan *out);
int wr_custom_make(const wr_plan *plan, int64_t i, weir_pattern **out);

#endif
