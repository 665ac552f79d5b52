/* Inside of the module: a dataset that is open, and what is done with it. Functions return codes of
 * weir/error.h, with a text. */
#ifndef WR_HDF5_DATASET_H
#define WR_HDF5_DATASET_H

#include <hdf5.h>

#include "hdf5/module.h"

/* Puts down the text and returns `code`. */
int wr_say(char *text, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same, with what HDF5 said of its last call. */
int wr_say_hdf5(char *text, int code, const char *what);

/* 0: not open. */
typedef struct wr_dataset {
    hid_t file, set, type, space, properties;
} wr_dataset;

/* `access`, `flags`: how the file is opened. To be closed whatever comes of it. */
int wr_dataset_open(hid_t access, unsigned flags, const char *path, const char *name, wr_dataset *d,
                    char *text);
void wr_dataset_close(wr_dataset *d); /* a zeroed one is fine */

/* Shape, and shape of a tile if it is tiled. */
int wr_dataset_read_shape(const wr_dataset *d, wr_hdf5_facts *f, char *text);

/* HDF5's type for one of ours, to be closed; negative if HDF5 refuses. */
hid_t wr_dataset_type_build(int type, int swapped);

/* Sets type and swapped, or WEIR_EUNSUPPORTED. */
int wr_dataset_type_find(hid_t type, wr_hdf5_facts *f, char *text);

/* An element from the order of bytes of memory to that of the file, or back. */
void wr_dataset_type_turn(const wr_hdf5_facts *f, char *element);

/* Tells attributes and names of dimensions; what cannot be read, or is neither numbers nor strings,
 * is left out. */
int wr_dataset_labels_tell(const wr_dataset *d, int dimensions, const wr_hdf5_listener *listener);

/* Puts them into a new dataset, as far as HDF5 can have them. */
void wr_dataset_labels_put(const wr_dataset *d, const char *name, const wr_hdf5_facts *f,
                           const wr_hdf5_labels *labels);

/* Whether a dataset is nothing but the name of a dimension. */
int wr_dataset_is_name(hid_t set);

/* What weir_hdf5_module has. */
int wr_dataset_look(const char *path, const char *name, const wr_hdf5_listener *listener,
                    char *text);
int wr_dataset_make(const char *path, const char *name, const char *room,
                    const wr_hdf5_facts *facts, char *text);
int wr_dataset_finish(const char *path, const char *name, const char *other,
                      const wr_hdf5_labels *labels, char *text);
int wr_dataset_remove(const char *path, const char *name, char *text);
int wr_dataset_list(const char *path, wr_hdf5_told *each, void *user, char *text);
int wr_dataset_count(const char *path, char *text);
int wr_dataset_pack(const char *path, const char *name, wr_hdf5_source *source, void *user,
                    char *text);

#endif
