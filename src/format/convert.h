/* Elements from one type to another, and from one byte order to the other. */
#ifndef WR_FORMAT_CONVERT_H
#define WR_FORMAT_CONVERT_H

#include "format/description.h"

/* 0 if elements can be converted: every number to every other, except complex ones to others than
 * complex, and f2, which is only moved. Otherwise WEIR_EINVAL. */
int wr_convert_check(int from, int to);

/* Elements at `base`, `stride` bytes from one to the next; at any address. */
typedef struct wr_elements {
    int type;
    void *base; /* borrowed */
    int64_t stride;
} wr_elements;

/* Converts `count` elements. To integers: numbers beyond the target's become the nearest it can
 * hold, not-a-number becomes 0, fractions are cut off. To bool: whether not 0. To floats: rounded
 * to the nearest as IEEE 754 has it, so what is far beyond the largest f4 becomes infinite. To
 * complex: the imaginary part is 0. Types must pass the check; places must not overlap, except that
 * source and target may be the same where both sizes and strides are equal. */
void wr_convert(const wr_elements *from, const wr_elements *to, int64_t count);

/* Reverses the bytes of each element, of each half of complex ones. Both are of one type, and are
 * the same or do not overlap. */
void wr_swap_bytes(const wr_elements *from, const wr_elements *to, int64_t count);

static inline void wr_swap_here(const wr_elements *elements, int64_t count)
{
    wr_swap_bytes(elements, elements, count);
}

#endif
