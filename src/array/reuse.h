/* What two selections of an array have in common. */
#ifndef WR_ARRAY_REUSE_H
#define WR_ARRAY_REUSE_H

#include "array/mapping.h"

/* The mapping of what is wanted, without what of it `held` (NULL: nothing) has: that is to be
 * copied. What is found is ranges in the array's type. */
int wr_reuse_map_rest(const weir_array *array, const weir_selection *wanted,
                      const weir_layout *layout, const weir_held *held, wr_mapping *out);

/* Copies to `base`, where what is wanted is going to be, what of it is held. */
int wr_reuse_copy(const weir_array *array, const weir_selection *wanted, const weir_layout *layout,
                  char *base, const weir_held *held);

#endif
