/* Medians of windows that are too large for networks of comparators. */
#ifndef WR_KERNELS_MEDIAN_SELECT_H
#define WR_KERNELS_MEDIAN_SELECT_H

#include "kernels/image.h"

/* Largest window: places of a tile are numbered in 32 bits. */
enum { WR_SELECT_MOST = 32767 };

typedef struct wr_selector {
    int64_t window, tile;
    int64_t element;         /* bytes of one */
    uint64_t sign, infinity; /* the bit, 0 if there is none; bits of the infinite, 0 if none is */
    uint64_t *key;           /* of a tile with what its windows need, */
    uint32_t *place, *rank;  /* by rank the place of an element; and the other way */
    uint64_t *present;       /* ranks in the window, as bits; */
    uint32_t *many;          /* counts of many of these */
} wr_selector;

/* Memory for tiles of so many elements a side; with a window these are less than 2^16. */
int64_t wr_selector_bytes(int64_t window, int64_t tile);

/* For elements of a type but complex; `memory` is borrowed until the last run. */
void wr_selector_init(wr_selector *selector, int type, int64_t window, int64_t tile, void *memory);

/* Medians of all elements of the image. */
void wr_selector_run(wr_selector *selector, const wr_image *image);

#endif
