/* Numbers to fill arrays with: each follows from the row-major number of its element, so an array
 * is the same whoever fills which part of it, and however it is stored. */
#ifndef WR_CLI_NUMBERS_H
#define WR_CLI_NUMBERS_H

#include <weir/weir.h>

/* Elements with the row-major numbers first, first + step, ..., one after the other at `out`. */
typedef void cli_numbers(void *out, int64_t count, uint64_t first, uint64_t step, uint64_t seed);

/* The element's number itself: modulo 2^n for integers of n bits, rounded for floats, whether not
 * 0 for bool. */
cli_numbers *cli_numbers_iota(int type);

/* Number k of splitmix64 begun at the hash of a seed; numbers 2k and 2k + 1 for complex ones.
 * Floats have its upper bits and lie in [0, 1), integers its lower bits, bool the uppermost. */
cli_numbers *cli_numbers_random(int type);

#endif
