/* Arrays as files, inside: what a name leads to, and going through what an array consists of. */
#ifndef WR_ARRAY_ARRAY_PARTS_H
#define WR_ARRAY_ARRAY_PARTS_H

#include "array/array_site.h"
#include "format/zarr.h"
#include "weir/files.h"

/* A folder that is an array, or has arrays as Zarr's groups do. */
enum wr_nest_kind { WR_NEST_SET, WR_NEST_ZARR, WR_NEST_GROUP };

typedef struct wr_nest {
    enum wr_nest_kind kind;
    wr_set set;   /* of a set, */
    wr_zarr zarr; /* of a Zarr array */
} wr_nest;

/* WEIR_EFORMAT if it is none of them. To be released, also if this fails. */
int wr_nest_read(const wr_folder *in, wr_nest *out);
void wr_nest_release(wr_nest *nest);

/* Tells what is in an open one, as weir_array_parts. */
int wr_nest_tell(const wr_folder *in, weir_part_told *each, void *user);

/* What has the name of an array, links not followed. */
enum wr_array_kind {
    WR_ARRAY_FILE,    /* .npy, NetCDF, HDF5, or what a raw name says is one */
    WR_ARRAY_NEST,    /* a folder */
    WR_ARRAY_STRIPED, /* a description; its parts are elsewhere */
    WR_ARRAY_OLD_DRA, /* NAME.info, and NAME, or NAME.0, NAME.1, ... */
    WR_ARRAY_LINK     /* a link to one of those */
};

typedef struct wr_found {
    enum wr_array_kind kind;
    wr_site site; /* where; to be closed */
    bool whole;   /* of a file: the array fills it */
    int files;    /* of an old DRA; 0: of no other kind */
} wr_found;

/* WEIR_ENOENT, WEIR_EFORMAT if it is no array, WEIR_EUNSUPPORTED for FILE:/NAME. `follow`: a link
 * counts as what it leads to. To be closed, also if this fails. */
int wr_found_look(const char *path, bool follow, wr_found *out);
void wr_found_close(wr_found *found);

/* The i-th name, from 0, that an array has beside its own, the one that says what it is last; 0
 * after the last. "" is its own name. Of what is not there it need not be. */
enum { WR_SUFFIX = 24 };
bool wr_found_suffix(const wr_found *found, int i, char suffix[WR_SUFFIX]);

/* Whether NAME with that suffix is there; NAME.dra only if it is a label. */
bool wr_has_suffix(const wr_folder *in, const char *name, const char *suffix);

#endif
