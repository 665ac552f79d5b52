/* Random patterns, each with the naive model of it: the list of its bytes' offsets in data order.
 */
#ifndef WR_TESTS_RANDOM_PATTERN_H
#define WR_TESTS_RANDOM_PATTERN_H

#include "check.h"
#include "weir/pattern.h"

enum { MODEL_BYTES = 4096, MODEL_SPAN = 1 << 14 };

typedef struct modelled {
    weir_pattern *pattern;
    int64_t bytes;
    int64_t *offset; /* of data position 0, 1, ... */
} modelled;

/* A pattern of at most MODEL_BYTES bytes at offsets within +-MODEL_SPAN, nested up to `depth` deep;
 * `forward` makes ordered ones likely. */
modelled random_pattern(rng *r, int depth, bool forward);

void modelled_free(modelled *m);

#endif
