/* An open array: its file, what the file holds, and, where it is new, what becomes of it. */
#ifndef WR_ARRAY_ARRAY_H
#define WR_ARRAY_ARRAY_H

#include "array/array_site.h"
#include "array/axes.h"
#include "file/file.h"
#include "format/hdf5.h"
#include "format/labels.h"
#include "format/set_json.h"
#include "format/zarr.h"
#include "weir/array.h"

struct weir_array {
    wr_world_user world_user; /* first: the world knows the array by it, and stays */
    wr_world *world;          /* NULL once MPI has ended */
    _Atomic int users;        /* its owner, and accesses that are not over: the last one frees it */
    weir_file *file;
    weir_array_info info;
    wr_body body;     /* of the whole array; its offset is that of one file's data */
    wr_tiling tiling; /* levels 0: it is not in tiles */
    char codec[120];  /* of these, for info */
    int64_t threads;  /* that encode and decode */
    wr_zarr zarr;     /* version 0: it is none */
    wr_hdf5 hdf5;     /* of a dataset in tiles: where they are */
    char *inner;      /* and its name in the file */
    char *joined;     /* of a new one in a file that was there, at rank 0: its name until then */
    bool flat;        /* its tiles follow each other in one file, as they are: it is that */
    wr_labels labels; /* on all ranks the same */
    bool staged;      /* a new one, whose tiles are encoded: they are files until it is closed */
    wr_set set;       /* if info.members */
    int64_t *start;   /* where in `file` a member's data begin; one more entry: where all end */
    wr_folder inside; /* of a set: its folder */
    char *path;       /* its name */
    char *at;         /* the file or folder it is in */
    char *made;       /* what a new array is called until it is closed; NULL: it is not new */
    wr_site *site;    /* of a new one, at rank 0: where it is; otherwise NULL */
    bool *made_disk;  /* and of a set: which of its disks were not there; otherwise NULL */
    bool synced;      /* its name is to outlast what its data do */
    _Atomic bool spoiled;               /* a write of this rank has failed */
    struct wr_block_cache *cache;       /* or NULL */
    _Atomic(struct wr_staging *) stage; /* memory of the latest access that was staged, or NULL */
};

/* [collective] As the public calls; `world` is borrowed until the array is closed. */
int wr_array_create(wr_world *world, const char *path, const weir_array_info *info,
                    const weir_array_options *options, const char *hints, weir_array **out);
int wr_array_open(wr_world *world, const char *path, int mode, const char *hints, weir_array **out);

/* [collective] Removes an array that nobody has open. */
int wr_array_delete(wr_world *world, const char *path);

/* One user less; the last one frees it. */
void wr_array_leave(weir_array *array);

/* [collective] After everything started on the array; as wr_channel_agree. */
int wr_array_agree(weir_array *array, int code);

/* Member m of a set as an array of its own in the set's file. */
wr_body wr_array_member(const weir_array *array, int m);

/* WEIR_ETRANSPORT once MPI has ended. */
int wr_array_check_alive(const weir_array *array);

/* Both alive, and on the same communicator. */
int wr_array_check_pair(const weir_array *a, const weir_array *b);

static inline wr_transport *wr_array_transport(const weir_array *array)
{
    return array->world->transport;
}

#endif
