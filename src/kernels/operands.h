/* Elements as numbers to compute with: i8, u8 or f8, each the widest of its kind. */
#ifndef WR_KERNELS_OPERANDS_H
#define WR_KERNELS_OPERANDS_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/type.h"

static inline bool wr_is_float(int type)
{
    return type == WEIR_F2 || type == WEIR_F4 || type == WEIR_F8;
}

/* Elements of a type that is not complex as numbers of type `as`, which is f8 for floats: where
 * they are, if they are so already, or in `room`. */
const void *wr_operands_load(int type, const char *from, int as, void *room, int64_t count);

/* Numbers as elements of a type that is not complex; f2 only if it has them. */
void wr_operands_store(int as, const void *from, int type, char *to, int64_t count);

#endif
