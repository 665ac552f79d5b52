/* Networks of comparators, as data: wires carry values, a comparator puts the lesser of two on one
 * wire and the greater on the other. What is done does not depend on values, so that many are
 * handled at once. */
#ifndef WR_KERNELS_NETWORK_H
#define WR_KERNELS_NETWORK_H

#include <stdint.h>

enum { WR_KEEP_LOW = 1, WR_KEEP_HIGH = 2 }; /* what somebody looks at afterwards */

typedef struct wr_comparator {
    int16_t low, high; /* wires */
    int16_t keep;
} wr_comparator;

typedef struct wr_network {
    int count;
    wr_comparator *at; /* borrowed */
    int output;        /* wire of the median */
} wr_network;

enum { WR_NETWORK_MOST = 11 }; /* largest window */

/* Comparators that a network for an odd window takes, at most. */
static inline int64_t wr_network_room(int64_t window)
{
    return 18 * window * window;
}

/* Sorts `window` wires; at `at`, which the caller owns, there is room. */
void wr_network_sort(int window, wr_comparator *at, wr_network *out);

/* Finds the median of `window` columns of as many wires, each of them sorted: wire c * window + r
 * is number r of column c. */
void wr_network_median(int window, wr_comparator *at, wr_network *out);

#endif
