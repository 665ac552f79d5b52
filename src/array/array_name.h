/* What the name of an array says: the file or folder it is in, and where in it.
 *   PATH                                    a .npy file, or the folder of a set
 *   raw:PATH:TYPE:SHAPE[:OFFSET][:F]        elements from a byte of a file on
 *   PATH:/NAME                              a variable of a file; but where there is a folder of
 *                                           that name with its colon, it is a path */
#ifndef WR_ARRAY_ARRAY_NAME_H
#define WR_ARRAY_ARRAY_NAME_H

#include "format/hdf5.h"
#include "format/netcdf.h"
#include "storage/folder.h"

enum wr_name_kind { WR_NAME_PATH, WR_NAME_RAW, WR_NAME_INSIDE };

typedef struct wr_array_name {
    enum wr_name_kind kind;
    char file[WR_PATH];
    const char *inner;  /* of INSIDE: what is behind the slash, in the text itself */
    wr_description raw; /* of RAW */
} wr_array_name;

/* WEIR_EINVAL for what begins with raw: and does not go on so, WEIR_ERANGE for a long name. */
int wr_array_name_parse(const char *text, wr_array_name *out);

/* What the file at `path` holds of the array of that name; it must be there as a whole. Errors name
 * `path`. Of HDF5 also where tiles are, and what is missing; to be released, and so are labels. */
int wr_array_name_look(const wr_array_name *name, const char *path, wr_hdf5 *out,
                       wr_labels *labels);

/* What a new array of that name is to be: sets format, unless it is set, data_offset, byte order,
 * and settles it. WEIR_EINVAL if a raw name tells of another. */
int wr_array_name_describe(const wr_array_name *name, const wr_labels *labels, wr_description *d);

/* Calls `use` with the beginning of a NetCDF file, and again with more of it while it sets *cut. */
typedef int wr_netcdf_user(void *user, const wr_netcdf_head *head, bool *cut);
int wr_netcdf_head_use(const char *path, wr_netcdf_user *use, void *user);

/* Whether the name is that of a dataset of an HDF5 file. */
bool wr_array_name_is_hdf5(const wr_array_name *name);

/* Whether the name of a new file looks as if a dataset was meant: x.h5:, x.h5:name. */
bool wr_array_name_is_unsure(const wr_array_name *name);

/* A new file with what comes before the data, and zeros. */
typedef struct wr_new_file {
    const wr_folder *in;
    const char *name; /* of the file */
    const wr_owner *owner;
} wr_new_file;
int wr_array_name_make(const wr_array_name *name, const wr_new_file *file, const wr_description *d,
                       const wr_labels *labels);

/* Whether a file begins as an array does, or as a file of arrays: .npy, NetCDF, HDF5. */
int wr_array_file_begins(const wr_folder *in, const char *file, bool *begins);

/* Whether a file begins as an array does that fills it, damaged or not: it is somebody's to replace
 * or to remove. An error if it cannot be looked at. */
int wr_array_file_is_one(const wr_folder *in, const char *file, bool *is_one);

#endif
