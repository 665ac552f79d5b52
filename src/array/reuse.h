/* What two sections of an array have in common. */
#ifndef WR_ARRAY_REUSE_H
#define WR_ARRAY_REUSE_H

#include "array/mapping.h"

/* A section that is in memory. */
typedef struct wr_held {
    const weir_array_section *section;
    const void *base;
} wr_held;

/* The mapping of `wanted`, without what `held` (NULL: nothing) has of it: that is to be copied.
 * What is found is ranges in the array's type. */
int wr_reuse_map_rest(const weir_array *array, const weir_array_section *wanted,
                      const weir_array_section *held, wr_mapping *out);

/* Copies to `base`, where `wanted` is going to be, what of it is held. */
int wr_reuse_copy(const weir_array *array, const weir_array_section *wanted, char *base,
                  const wr_held *held);

#endif
