/* Arrays larger than memory: a .npy file, or a folder with one .npy file for each local array; and
 * arrays in files of other programs, which the name of an array tells (docs/formats.md).
 *
 * An array has a type, up to WEIR_MAX_DIMENSIONS dimensions, and is stored by rows (the last
 * dimension is the fastest) or by columns (the first is). What is read or written of it is a
 * selection (pattern.h), how that lies in memory a layout. Errors and requests are those of file.h:
 * collective calls return the same code on every rank. Reading past what a file holds is an error
 * here: an array that is cut short is damaged. */
#ifndef WEIR_ARRAY_H
#define WEIR_ARRAY_H

#include "weir/file.h"
#include "weir/type.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Threads may use an array as they may use a file (file.h); no other call may overlap close and
 * discard. */
typedef struct weir_array weir_array;

/* --- distributions --- */

/* How the indices of an array are dealt to a grid of ranks, which are numbered with the last
 * dimension fastest. Zeroed: not dealt, all of it belongs to rank 0. */
typedef struct weir_distribution {
    int grid[WEIR_MAX_DIMENSIONS]; /* ranks along each dimension; 0 counts as 1 */
    int64_t
        block[WEIR_MAX_DIMENSIONS]; /* so many indices at a time, round-robin (1: cyclic); 0: one
                                           block each, as large as the first */
    int64_t reserved[4];            /* 0 */
} weir_distribution;

/* A grid for so many ranks, as square as they allow; dimensions in which grid is not 0 keep that.
 * WEIR_EINVAL if these do not divide the number of ranks. [local] */
WEIR_API int weir_distribution_grid(int ranks, int dimensions, int *grid);

/* The shape of a rank's part of an array; 0 in some dimension if it has nothing. [local] */
WEIR_API int weir_distribution_shape(const weir_distribution *distribution, int dimensions,
                                     const int64_t *shape, int rank, int64_t *part);

/* The place of a rank in the grid, by dimension; the rank must be one of the grid's. [local] */
WEIR_API int weir_distribution_place(const weir_distribution *distribution, int dimensions,
                                     int rank, int *place);

/* The index, of n in a dimension, that is number `local` of those at a place of the grid; -1 if
 * there are not so many. [local] */
WEIR_API int64_t weir_distribution_index(const weir_distribution *distribution, int dimension,
                                         int64_t n, int place, int64_t local);

/* --- creating, opening, closing --- */

typedef struct weir_array_info {
    int type; /* enum weir_type */
    int dimensions;
    int64_t shape[WEIR_MAX_DIMENSIONS];
    int columns; /* 1: stored by columns */
    int members; /* 0: one file; otherwise local arrays, the product of the grid */
    weir_distribution distribution; /* of these */
    int64_t bytes;                  /* of the data; not looked at when creating, like the next */
    int swapped;                    /* 1: the file has the other byte order */
    int format; /* enum weir_format; of a new one 0: as its name says, or WEIR_ZARR, WEIR_ZARR2 */
    /* of arrays in tiles; borrowed, from a new array's maker until it is made */
    const int64_t *tile;  /* indices of a tile along each dimension; NULL: none, or the library's
                             choice */
    const int64_t *shard; /* of a file, multiples of these; NULL: a file has one tile */
    const char *codec;    /* what tiles go through, such as "zstd:3" (docs/formats.md); NULL: not */
    int64_t reserved[1];  /* 0 */
} weir_array_info;

/* For a new array; all-zero is fine. */
typedef struct weir_array_options {
    int overwrite;           /* 1: an array of that name is replaced, once the new one is whole; it
                                keeps owner and permissions, as far as the process may */
    const void *fill;        /* what elements are until they are written; NULL: zeros */
    int disks;               /* local arrays only: logical disks, */
    const char *const *disk; /* folders, relative to the array's; of a set that is replaced, only
                                what is in its folder or on these disks is removed */
    const int *map;          /* and for each local array its disk; NULL: round-robin */
    weir_array *like;        /* attributes and names of dimensions are those of this array, as far
                                as the new one's format has them; borrowed until it is made. Names
                                only if it has as many dimensions; of Zarr's version 2 a
                                _FillValue is what elements are, unless fill says. NULL: none */
    int64_t reserved[3];     /* 0 */
} weir_array_options;

/* weir_array_create and weir_array_open are in weir.h, because they take a communicator. */

/* Waits for everything started; a new array gets its name now, if no write to it has failed on any
 * rank (one refused because of its arguments has changed nothing, and does not count), and, unless
 * durable=disable, it is on stable storage. Otherwise the error says where the data
 * are. Requests are still to be waited for, to be freed. The array is not used after it, whatever
 * it returns. [collective] */
WEIR_API int weir_array_close(weir_array *array);

/* The same, but of a new array nothing is left. [collective] */
WEIR_API int weir_array_discard(weir_array *array);

/* Everything written before is on stable storage, by whatever rank: of a set all local arrays.
 * [collective] */
WEIR_API int weir_array_sync(weir_array *array);

/* The same, unless durable=disable was said of the array when it was opened: what closing does for
 * new ones, for one that was changed in place. Ranks need not have the same environment.
 * [collective] */
WEIR_API int weir_array_sync_durable(weir_array *array);

/* Borrowed until the array is closed. [local] */
WEIR_API const weir_array_info *weir_array_get_info(const weir_array *array);

/* What is said of an array besides: attributes, JSON text of an object ("{}": there are none), and
 * names of dimensions, of a list with a string or null for each ("[]": there are none). UTF-8, on
 * one line, the same on all ranks; not-a-number is NaN. What would be longer than 1 MiB is not
 * there. NetCDF, HDF5 and Zarr have them (docs/formats.md). Borrowed until the array is closed.
 * [local] */
WEIR_API const char *weir_array_attributes(const weir_array *array);
WEIR_API const char *weir_array_names(const weir_array *array);

/* What an array takes where it is stored: bytes of its tiles, encoded, with what files of them have
 * besides, and how many of the tiles are there: those that were never written need not be. Of an
 * array without tiles, all its bytes, and no tiles. Looks at every file; of shards at their
 * indexes. [collective] */
WEIR_API int weir_array_stored(weir_array *array, int64_t *bytes, int64_t *tiles);

/* The file or folder the array is in; a new one's has another name until it is closed, unless it
 * becomes a part of a file that was there. Borrowed. [local] */
WEIR_API const char *weir_array_where(const weir_array *array);

/* --- reading and writing --- */

/* How elements lie in memory, from `base` on. All-zero, or NULL: one after the other, by rows, in
 * the array's type. Boxes lie one after the other, each of them so. */
typedef struct weir_layout {
    const int64_t *stride; /* bytes from index to index taken, by dimension; NULL: dense, */
    const int *order;      /* slowest dimension first; NULL: by rows */
    int type;              /* the library converts to and from it; 0: the array's */
    int64_t reserved[4];   /* 0 */
} weir_layout;

/* What is selected, between the array and memory. NULL for the selection: this rank has nothing to
 * do. To be written, indices must not repeat, nor boxes overlap. `request` as in file.h: NULL, or
 * the access goes on in the background; selection and layout are the caller's again at once, `base`
 * when the request is over. Where elements are converted, and writing those of a file with the
 * other byte order, this takes as much memory again as what is selected. [collective] */
WEIR_API int weir_array_read_all(weir_array *array, const weir_selection *selection,
                                 const weir_layout *layout, void *base, weir_request **request);
WEIR_API int weir_array_write_all(weir_array *array, const weir_selection *selection,
                                  const weir_layout *layout, const void *base,
                                  weir_request **request);

/* Takes the place of either where a rank finds, before the call, that it cannot make it: all ranks
 * return its error. For libraries on top of this one. [collective] */
WEIR_API int weir_array_refuse_all(weir_array *array, int write, const weir_error *error,
                                   weir_request **request);

/* By this rank alone. Who reads what another rank has written alone must know that it is over: by a
 * barrier, or a message. [local] */
WEIR_API int weir_array_read(weir_array *array, const weir_selection *selection,
                             const weir_layout *layout, void *base, weir_request **request);
WEIR_API int weir_array_write(weir_array *array, const weir_selection *selection,
                              const weir_layout *layout, const void *base, weir_request **request);

/* Where every rank can say what any other wants, ranks tell each other nothing: `of` gives the
 * selection of a rank, the same on all ranks, and returns 1, or 0 if that rank wants nothing. What
 * the selection points to must stay until the next call of `of`. [collective] */
typedef int weir_selection_of(void *user, int rank, weir_selection *selection);
WEIR_API int weir_array_read_by(weir_array *array, weir_selection_of *of, void *user,
                                const weir_layout *layout, void *base);
WEIR_API int weir_array_write_by(weir_array *array, weir_selection_of *of, void *user,
                                 const weir_layout *layout, const void *base);

/* All of an array that is, in memory, dealt to the ranks: each has its part at `base`. Ranks tell
 * each other nothing. WEIR_EINVAL if the grid has more ranks than there are; those beyond it have
 * nothing. [collective] */
WEIR_API int weir_array_read_distributed(weir_array *array, const weir_distribution *distribution,
                                         const weir_layout *layout, void *base);
WEIR_API int weir_array_write_distributed(weir_array *array, const weir_distribution *distribution,
                                          const weir_layout *layout, const void *base);

/* --- what PASSION has besides --- */

/* What was selected and read before, and is still in memory. */
typedef struct weir_held {
    const weir_selection *selection; /* NULL: nothing */
    const weir_layout *layout;
    const void *base;
    int64_t reserved[4]; /* 0 */
} weir_held;

/* Reads what is selected, but copies what of it is held; held NULL: nothing. That is found where
 * both give ranges, a step of the selection is a multiple of the held one's, and both are in the
 * array's type. [local] */
WEIR_API int weir_array_read_reuse(weir_array *array, const weir_selection *selection,
                                   const weir_layout *layout, void *base, const weir_held *held);

/* Boundary data of neighbours. Along `dimension` of a distribution's grid each rank gets the first
 * `count` slices of the next rank's part, or, where it is negative, the last -count of the one
 * before; the last rank, or the first, gets nothing, or, with `wrap`, that of the other end. */
typedef struct weir_shift {
    const weir_distribution *distribution; /* NULL: that of the array's members */
    int dimension;
    int64_t count;
    int wrap;
    int64_t reserved[4]; /* 0 */
} weir_shift;

/* Dense by rows; shape[] is set to the shape received. At most count slices as large as the largest
 * part's. [collective] */
WEIR_API int weir_array_shift(weir_array *array, const weir_shift *shift, void *base,
                              int64_t *shape);

/* Which of `disks` logical disks each of `members` has: round-robin, or, with `blocks`, neighbours
 * on the same. WEIR_EINVAL if there are no disks. [local] */
WEIR_API int weir_disk_map(int disks, int members, int blocks, int *map);

/* --- slab loops --- */

/* Walks arrays of equal shape in slabs that fit memory: the next slabs are read and the last ones
 * written while the caller computes (as many as the tunable `prefetch` says), and what the halo of
 * a slab has in common with the slab before is not read again.
 *
 * A loop does not wait for other ranks, unless it is `together`: before a next one reads what they
 * write, there must be a barrier. Memory: an input has one buffer more than are read ahead, and at
 * least 2, an output one more than are written behind. One thread at a time may use a loop, whose
 * arrays stay open until it is finished or at its end. */
typedef struct weir_slabs weir_slabs;

typedef struct weir_slabs_options {
    int inputs, outputs;
    weir_array *const *input, *const *output; /* one array may be both if there is no halo */
    int64_t memory;                           /* most bytes of a rank's buffers; 0: 64 MiB */
    int64_t besides;                    /* of these, what the caller takes for buffers of its own */
    int64_t halo[WEIR_MAX_DIMENSIONS];  /* indices on both sides of a slab that are read with it */
    int64_t block[WEIR_MAX_DIMENSIONS]; /* size of slabs; 0: as large as memory allows */
    int deal;     /* 0: each rank has a contiguous part; 1: slabs are dealt round-robin */
    int together; /* 1: by collective calls; then all ranks call next until it says 0 */
    void (*progress)(void *user, int64_t done, int64_t all); /* NULL, or told after each slab: */
    void *user;                                              /* elements of this rank */
    int64_t reserved[4];                                     /* 0 */
} weir_slabs_options;

enum { WEIR_MAX_SLAB_ARRAYS = 16 };

/* Pointers are to the element at `lo`; element strides are in elements and by dimension. Of inputs
 * the indices [in_lo, in_hi) are there: the halo, as far as the array goes. */
typedef struct weir_slab {
    int64_t lo[WEIR_MAX_DIMENSIONS], hi[WEIR_MAX_DIMENSIONS];
    int64_t in_lo[WEIR_MAX_DIMENSIONS], in_hi[WEIR_MAX_DIMENSIONS];
    int64_t in_stride[WEIR_MAX_DIMENSIONS], out_stride[WEIR_MAX_DIMENSIONS];
    const void *in[WEIR_MAX_SLAB_ARRAYS];
    void *out[WEIR_MAX_SLAB_ARRAYS]; /* to be filled before the next call */
    int64_t reserved[4];             /* 0 */
} weir_slab;

/* Starts reading. WEIR_EBUDGET, naming what would do, if memory does not suffice for slabs of one
 * element's thickness. [collective: the same options on all ranks] */
WEIR_API int weir_slabs_begin(const weir_slabs_options *options, weir_slabs **out);

/* 1: there is a slab, valid until the next call; 0: no more; or an error. [local, or collective if
 * together] */
WEIR_API int weir_slabs_next(weir_slabs *slabs, weir_slab *slab);

/* Waits for what is written, and returns the first error there was. Where a loop is left early, the
 * slab handed out last is not written. Buffers of slabs stay until the end. [as next] */
WEIR_API int weir_slabs_finish(weir_slabs *slabs);

/* The same, and frees the loop. NULL is fine. [as next] */
WEIR_API int weir_slabs_end(weir_slabs *slabs);

#ifdef __cplusplus
}
#endif
#endif
