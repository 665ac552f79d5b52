/* Elements as integers that have the same order, from which they can be had back. */
#ifndef WR_KERNELS_ORDER_KEY_H
#define WR_KERNELS_ORDER_KEY_H

#include <stdint.h>

/* Keys of elements of a type that is not complex: below 2 to the power of bits of an element. Zeros
 * have one key; what is not a number has the greatest, which nothing else has; returns how many
 * these are. */
int64_t wr_order_keys(int type, const char *from, uint64_t *keys, int64_t count);

/* The number of a key; of integers beyond 2^53 the nearest. */
double wr_order_number(int type, uint64_t key);

/* How much greater the number of one key is than that of another. */
double wr_order_distance(int type, uint64_t low, uint64_t high);

#endif
