/* Arrays as files: which there are, which files each has, and copying and moving these as they are.
 *
 * Names are those of arrays (docs/formats.md); a whole HDF5 or NetCDF file, a striped file
 * (docs/storage.md) and a Zarr group count as arrays here. Calls are [local]: of several ranks one
 * makes them for all. No element is looked at. */
#ifndef WEIR_FILES_H
#define WEIR_FILES_H

#include "weir/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- which arrays there are --- */

/* `info` has no tile, shard and codec; NULL: something that is called so and cannot be opened, for
 * its type or its damage, which weir_error_last() tells. Other than 0 ends the list. */
typedef int weir_array_told(void *user, const char *name, const weir_array_info *info);

/* Tells the arrays of a name: an array itself, the datasets of an HDF5 file, the variables of a
 * NetCDF file, the arrays of a Zarr group and its groups. Looks at headers and descriptions only.
 * Returns what `each` returned; WEIR_EFORMAT if it is no array. [local] */
WEIR_API int weir_array_list(const char *path, weir_array_told *each, void *user);

/* --- which files an array has --- */

enum weir_part_kind {
    WEIR_PART_FILE,
    WEIR_PART_FOLDER, /* told before what is in it */
    WEIR_PART_END,    /* the same, after that; a foreign folder is told of once, not gone through */
    WEIR_PART_OTHER,  /* a link, which is not followed, or something else */
    WEIR_PART_AWAY    /* a foreign folder that cannot be opened, for the reason that
                         weir_error_last() tells, where the array has files: a disk that is away */
};

/* Whose it is. */
enum weir_part_owner {
    WEIR_PART_FOREIGN,   /* it only lies among the array's files */
    WEIR_PART_OWN,       /* provably the array's */
    WEIR_PART_ELSEWHERE, /* likewise: a local array on another disk, by its name */
    WEIR_PART_CLAIMED,   /* a file on another disk that may as well be another array's: somebody
                            has copied the description that leads to it */
    WEIR_PART_UNPROVEN   /* likewise: an older version made it, and did not say whose it is */
};

/* Borrowed until the function that is told returns. */
typedef struct weir_part {
    const char *path;
    int folder;          /* the open folder it is in, and its name there: for openat and the */
    const char *name;    /* like, past links that somebody puts in the way */
    int kind;            /* enum weir_part_kind */
    int owner;           /* enum weir_part_owner */
    int64_t reserved[4]; /* 0 */
} weir_part;

/* Other than 0 ends it. */
typedef int weir_part_told(void *user, const weir_part *part);

/* Tells the files and folders of an array, wherever they are: local arrays and parts of striped
 * files on other disks, the label NAME.dra of a disk resident array, all files of an old one; of
 * a link, those of what it leads to. What says that it is an array comes last, so that what is
 * left of one that is being removed still is one. Returns what `each` returned; WEIR_EFORMAT if it
 * is no array, WEIR_EUNSUPPORTED if it is only a part of a file. [local] */
WEIR_API int weir_array_parts(const char *path, weir_part_told *each, void *user);

/* --- copying and moving them --- */

/* All-zero is fine. */
typedef struct weir_parts_options {
    int overwrite; /* 1: an array of that name is replaced, once the new one is whole */
    int disks; /* folders, absolute or relative to the new array's, for local arrays that a set has
                  on other disks, and for parts of a striped file. 0: a copied set has them in its
                  own folder, a copied striped file beside the old parts; moved ones stay */
    const char *const *disk;
    /* NULL, or told after some MiB copied; other than 0 ends it. */
    int (*progress)(void *user, int64_t done, int64_t all);
    void *user;
    int64_t reserved[4]; /* 0 */
} weir_parts_options;

/* A second array with the same bytes, permissions and times, by what the file systems can do best;
 * holes stay holes. It has its name once it is whole and, unless durable=disable, on stable
 * storage; otherwise nothing is left of it. WEIR_EEXIST if there is something of that name that
 * must not be replaced, WEIR_EUNSUPPORTED for a part of a file, WEIR_EINTERRUPTED if `progress`
 * said so, WEIR_EIO if the array changes meanwhile. [local] */
WEIR_API int weir_parts_copy(const char *from, const char *to, const weir_parts_options *options);

/* Gives an array another name: at once where both are on one file system; otherwise it is copied,
 * and the old one removed then. Of a link the link is moved. [local] */
WEIR_API int weir_parts_move(const char *from, const char *to, const weir_parts_options *options);

/* --- what killed programs leave --- */

/* What this library calls a file or folder that it has not finished, or needs only while it works:
 * a few words on it; NULL: it has no such name. Whether it is still in use the name does not tell.
 * [local] */
WEIR_API const char *weir_leftover_kind(const char *name);

#ifdef __cplusplus
}
#endif
#endif
