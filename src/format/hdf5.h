/* Datasets of HDF5 files: where their data lie, asked of the HDF5 library, which is loaded when one
 * is first needed (libweir_hdf5, beside the library); data never go through it. Calls are made by
 * one thread of one rank. */
#ifndef WR_FORMAT_HDF5_H
#define WR_FORMAT_HDF5_H

#include "format/labels.h"

enum { WR_HDF5_START = 8 }; /* bytes at the beginning that tell whether it is one */

typedef struct wr_hdf5 {
    wr_description what; /* of chunks: with its tiling, one level, tiles by rows */
    char fill[16];       /* an element as memory has it */
    int64_t tiles;       /* 0 where data are one run from what.data_offset on */
    wr_tile_place *tile; /* by number; by wr_alloc */
    bool reused;         /* of a new one: its place in the file had other data before */
} wr_hdf5;

bool wr_hdf5_begins(const void *start, int64_t bytes);

/* The dataset `name` ("group/data") of the file, and, unless `labels` is NULL, what is said of
 * it, to be released. WEIR_ENOENT if there is none: the error lists what there is, if that is
 * not much; WEIR_EUNSUPPORTED names a type, layout or filter that is not known here, or says
 * that this build has no HDF5; WEIR_EACCESS if a program writes the file by HDF5. */
int wr_hdf5_look(const char *path, const char *name, wr_hdf5 *out, wr_labels *labels);

/* A new file at `path` with that dataset, and groups on the way to it; WEIR_EEXIST if there is one.
 * h->what and fill say what it is. Its data, if it has no codecs, have their place then, and are
 * unspecified; *h becomes what wr_hdf5_look would say. */
int wr_hdf5_make(const char *path, const char *name, wr_hdf5 *h, const wr_labels *labels);

/* The same in a file that has other data, which stay as they are. The dataset is called `made`
 * until wr_hdf5_name calls it `name` and says what is said of it, or wr_hdf5_remove removes it;
 * WEIR_EEXIST if there is something of that name. */
int wr_hdf5_join(const char *path, const char *made, const char *name, wr_hdf5 *h);
int wr_hdf5_name(const char *path, const char *made, const char *name, const wr_hdf5 *h,
                 const wr_labels *labels);
int wr_hdf5_remove(const char *path, const char *made);

/* Encoded tiles: `next` gives a tile's number and bytes, which stay its own, and returns 1, or 0
 * after the last one, or a negative code. */
typedef struct wr_hdf5_tiles {
    int (*next)(void *user, int64_t *number, const void **data, int64_t *bytes);
    void *user;
    int64_t bytes; /* of all */
} wr_hdf5_tiles;

/* Puts them into a dataset that wr_hdf5_make made with codecs. */
int wr_hdf5_pack(const char *path, const char *name, const wr_hdf5 *h, const wr_hdf5_tiles *tiles);

/* How many datasets the file has, but for those that only name dimensions: 1 if there is just one
 * and nothing else that would be lost with the file; or a negative code. */
int wr_hdf5_count(const char *path);

/* Tells each dataset by name, but for those that only name dimensions; `d` is NULL, and the
 * thread's error set, for one that is not known here. Other than 0 ends it, and is returned. */
typedef int wr_hdf5_listed(void *user, const char *name, const wr_description *d);
int wr_hdf5_list(const char *path, wr_hdf5_listed *each, void *user);

void wr_hdf5_release(wr_hdf5 *h); /* a zeroed one is fine */

#endif
