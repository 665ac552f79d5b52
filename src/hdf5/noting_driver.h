/* How HDF5 reads a file of which we want to know where chunks are: by functions of ours, which
 * while `active` do not read data, but note where it would have. */
#ifndef WR_HDF5_NOTING_DRIVER_H
#define WR_HDF5_NOTING_DRIVER_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct wr_notes {
    bool active;
    bool busy;             /* who writes the file kept it from being opened */
    int reads;             /* so many since it was set to 0 */
    int64_t offset, bytes; /* of the last one; from the first byte of the file */
} wr_notes;

/* The driver is the caller's, for H5FDunregister; negative if HDF5 refuses. */
hid_t wr_noting_driver_register(void);

/* Files opened with these properties use *notes, which outlives them. Negative on failure. */
herr_t wr_noting_driver_set(hid_t access, hid_t driver, wr_notes *notes);

#endif
