/* What the parts of suite `tiles` share; bench_tiles.c says which there are. */
#ifndef WR_BENCH_TILES_H
#define WR_BENCH_TILES_H

#include <stdbool.h>
#include <stdint.h>

#include "contest.h"
#include "weir/weir.h"

/* Indices [lo, hi) of an array of that shape; of the dimensions not used 0 to 1. */
typedef struct tiles_box {
    int dimensions;
    int64_t shape[3], lo[3], hi[3];
} tiles_box;

int64_t tiles_box_count(const tiles_box *box);

/* Cuts `box` along `dimension` among the ranks; this rank's share. */
void tiles_box_share(tiles_box *box, int dimension);

/* Ends the program if the code is not 0. */
void tiles_must(int code, const char *what);

/* FOLDER/tiles-NAME; valid for the next seven calls. */
const char *tiles_path(const char *name);

/* Memory that is there, or the program ends; to be freed. */
void *tiles_memory(int64_t bytes);

/* What an array of f4 has: a smooth field with a little noise, which deflate makes a third of. */
void tiles_field(const tiles_box *box, float *to);

/* A new array of that shape, still open; info says the rest. [collective] */
weir_array *tiles_create(const char *path, const weir_array_info *info);
weir_array *tiles_open(const char *path);

/* An array that nobody has open. [collective] */
void tiles_remove(const char *path);

/* The box of an array, dense at `base`. [collective] */
void tiles_read(weir_array *array, const tiles_box *box, void *base);
void tiles_write(weir_array *array, const tiles_box *box, const void *base);

/* The parts: arrays with n indices along their longest dimension. */
void tiles_encoded(int64_t n);
void tiles_shards(int64_t n);
void tiles_lines(int64_t n, int dimensions);
void tiles_sections(int64_t n);
void tiles_columns(int64_t n);
void tiles_serve(void);

/* Parallel HDF5, by the box of each rank, from creating or opening the file to closing it; false:
 * this build has none. [collective] */
bool tiles_hdf5_write(const char *path, const tiles_box *box, const int64_t *tile, int level,
                      const float *data);
bool tiles_hdf5_read(const char *path, const tiles_box *box, float *data);

#endif
