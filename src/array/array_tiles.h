/* Tiles of open arrays as a storage, and new datasets of HDF5 files.
 *
 * Where the tiles of a dataset go is known when they are encoded, all of them: until then each is a
 * file in a folder that has the name the new file will have, and closing packs them. */
#ifndef WR_ARRAY_ARRAY_TILES_H
#define WR_ARRAY_ARRAY_TILES_H

#include "array/array.h"
#include "array/array_name.h"
#include "tiles/tiles.h"

/* [collective] How many threads of a rank encode and decode, besides whoever waits. */
int wr_array_count_threads(weir_array *array);

/* Of an array in tiles; borrows from it. */
void wr_array_tiles(const weir_array *array, wr_tiles *out);

/* Memory that accesses take besides the caller's, of a budget of `memory`: for windows, tiles that
 * are encoded, and what codecs need; at most half of it, however large tiles are. */
int64_t wr_array_coding_memory(const weir_array *array, int64_t memory);

/* Whether tiles of a dataset follow each other in its file, as they are: sets `flat`, and then
 * where the first is. */
void wr_array_find_flat(weir_array *array);

/* The file that a flat array is, from the name it has now. */
int wr_array_flat_path(const weir_array *array, const char *path, char out[WR_PATH]);

/* What a new dataset is to be. */
int wr_dataset_describe(const weir_array_info *info, const void *fill, wr_hdf5 *out);

/* Rank 0: the file of a new dataset, or the folder of its tiles. */
int wr_dataset_create(weir_array *array, const wr_folder *in, const char *name,
                      const wr_owner *owner);

/* Rank 0: the folder becomes a file. */
int wr_dataset_pack_stage(weir_array *array, const wr_folder *in, const char *name);

/* Rank 0: the folder, if it is one, is removed. */
void wr_dataset_erase_stage(const weir_array *array, const wr_folder *in, const char *name);

/* [collective] What rank 0 knows of the dataset's tiles, all know. */
int wr_dataset_share(weir_array *array);

#endif
