/* Axes of a whole array, member by member of a local-array set. */
#ifndef WR_ARRAY_MEMBER_AXES_H
#define WR_ARRAY_MEMBER_AXES_H

#include "array/array.h"

/* Everything that the axes take, one pair for each member they touch, joined. */
int wr_members_pair(const weir_array *array, const wr_axis *axes, const wr_layout *layout,
                    wr_pair *out);

/* Everything but what is `in` in all dimensions; all axes are single blocks. */
int wr_members_rest(const weir_array *array, const wr_cuts *cuts, const wr_layout *layout,
                    wr_pair *out);

#endif
