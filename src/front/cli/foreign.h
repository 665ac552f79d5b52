/* Names that claim a format of other libraries, such as "a.h5". */
#ifndef WR_CLI_FOREIGN_H
#define WR_CLI_FOREIGN_H

/* Those that are ours, for a line that says so. */
#define CLI_FORMATS                                                                                \
    ".npy files, sets of local arrays, .zarr, FILE:/NAME of NetCDF and HDF5, and "                 \
    "raw:FILE:TYPE:SHAPE; get -o and put take .csv, .bin and .raw, too"

/* The format that the name's ending claims, or NULL if it is none of those known and not ours. */
const char *cli_foreign_format(const char *path);

#endif
