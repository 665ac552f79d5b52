/* Shared memory that is short: linked with --wrap=wr_segment_create. */
#ifndef WR_TESTS_SHORT_MEMORY_H
#define WR_TESTS_SHORT_MEMORY_H

#include <stdint.h>

/* So many of a hundred sizes cannot be had, which ones is up to the seed; sizes from `most` on
 * never. */
void short_memory_set(uint64_t seed, int64_t percent, int64_t most);

/* How many segments there were, and how many there could not be. */
void short_memory_count(int64_t *made, int64_t *refused);

#endif
