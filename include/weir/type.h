/* What elements of an array are, the types of NumPy that have a fixed size and mean a number; and
 * which formats of arrays there are. */
#ifndef WEIR_TYPE_H
#define WEIR_TYPE_H

#include "weir/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum weir_type {
    WEIR_BOOL = 1, /* one byte, 0 or 1 */
    WEIR_I1,
    WEIR_I2,
    WEIR_I4,
    WEIR_I8,
    WEIR_U1,
    WEIR_U2,
    WEIR_U4,
    WEIR_U8,
    WEIR_F2, /* moved, never converted */
    WEIR_F4,
    WEIR_F8,
    WEIR_C8, /* two f4 */
    WEIR_C16 /* two f8 */
};

enum weir_format {
    WEIR_NPY,
    WEIR_SET,    /* of local arrays */
    WEIR_RAW,    /* elements in a file, as the name says: raw:PATH:TYPE:SHAPE[:OFFSET][:F] */
    WEIR_NETCDF, /* a variable of a classic NetCDF file: PATH:/NAME */
    WEIR_ZARR,   /* a folder with zarr.json: version 3 */
    WEIR_ZARR2,  /* a folder with .zarray: version 2 */
    WEIR_HDF5    /* a dataset of an HDF5 file: PATH:/NAME */
};

/* Bytes of an element; 0 for what is no type. [local] */
WEIR_API int64_t weir_type_bytes(int type);

/* "f8", "bool" and so on; "?" for what is no type. [local] */
WEIR_API const char *weir_type_name(int type);

/* The type of that name, also with one of <, >, | and = before it, which is not looked at further;
 * "b1" is bool too. 0 if there is none. [local] */
WEIR_API int weir_type_find(const char *name);

#ifdef __cplusplus
}
#endif
#endif
