/* Zarr arrays as folders: what is in them, how a new one is made, and what of one is its own.
 *
 * A folder with zarr.json, or .zarray, is an array. Of a new one that file has another name until
 * all else is there, so that an unfinished array is none. Its own are these files, .zattrs, and
 * files and folders whose names are those of its shards. */
#ifndef WR_ARRAY_ARRAY_ZARR_H
#define WR_ARRAY_ARRAY_ZARR_H

#include "format/zarr.h"
#include "storage/folder.h"
#include "tiles/tiles.h"
#include "weir/array.h"

/* The metadata of an array that is to be made: tiles as asked for, or, if nothing was, of up to
 * 1 MiB. WEIR_EINVAL for tiles, shards and codecs that cannot be. */
int wr_zarr_describe(const weir_array_info *info, const void *fill, int version, wr_zarr *out);

/* The name of the metadata file of a version; of an array that is not finished: of its metadata. */
const char *wr_zarr_file(int version, bool finished);

/* As the storage sees it. */
void wr_zarr_tiles(const wr_zarr *zarr, bool finished, wr_tiles *out);

/* The folder of a new array, with its metadata under the other name. */
int wr_zarr_make(const wr_folder *in, const char *name, const wr_zarr *zarr, const wr_owner *owner);

/* Whether all tiles are in one file as they are: then it is used as that, in place. It may be that
 * the file has them elsewhere, or not at all: what is there says wr_zarr_looks_flat. */
bool wr_zarr_is_flat(const wr_zarr *zarr);
int64_t wr_zarr_looks_flat(const wr_zarr *zarr, const char *path); /* the file's number, or 0 */

/* All else is there: it becomes an array. */
int wr_zarr_finish(const wr_folder *in, const char *name, const wr_zarr *zarr, bool durable);

/* The text of the metadata in a folder, and its version; WEIR_EFORMAT if there is none. */
int wr_zarr_read(const wr_folder *in, int *version, char **text, int64_t *length);

/* The text of .zattrs, which version 2 may have; NULL if there is none, or none that can be
 * read. */
int wr_zarr_read_attributes(const wr_folder *in, char **text);

/* Its metadata, finished or not; WEIR_EFORMAT if it is no array. To be released. */
int wr_zarr_load(const wr_folder *in, wr_zarr *out);

/* Whether an entry has a name of the array's own: `depth` folders down from the array's. */
bool wr_zarr_is_own(const wr_zarr *zarr, const char *name, int depth);

/* Removes the files of tiles that have such names. */
void wr_zarr_erase_tiles(const wr_folder *in, const wr_zarr *zarr);

/* Tiles of up to 1 MiB, where nothing is asked for: halves of the longest side. */
void wr_choose_tile(const weir_array_info *info, int64_t *tile);

#endif
