/* What the library and libweir_hdf5 know of each other. The latter is a module that the library
 * loads when a dataset is first named, so that only those need HDF5 who use it. It contains none of
 * the library's code: it returns codes of weir/error.h and, but where a function that was passed to
 * it failed, a text, of which `text` has room for WR_HDF5_TEXT. One thread calls it at a time. */
#ifndef WR_HDF5_MODULE_H
#define WR_HDF5_MODULE_H

#include <stdint.h>

#include "weir/type.h"

enum {
    WR_HDF5_VERSION = 4, /* of all that is here */
    WR_HDF5_TEXT = 256,
    WR_HDF5_RANK = 32, /* what HDF5 can have */
    WR_HDF5_FILTERS = 32,
    WR_HDF5_FILTER_NAME = 40,
    WR_HDF5_ELEMENT = 16,     /* bytes of the largest */
    WR_HDF5_LONGEST = 1 << 20 /* bytes of an attribute that is told */
};

/* Numbers of filters, as files have them. */
enum { WR_HDF5_DEFLATE = 1, WR_HDF5_SHUFFLE, WR_HDF5_FLETCHER32 };

typedef struct wr_hdf5_filter {
    int id;
    unsigned parameter; /* its first: the level of deflate, bytes of an element of shuffle */
    char name[WR_HDF5_FILTER_NAME];
} wr_hdf5_filter;

typedef struct wr_hdf5_facts {
    int type;    /* enum weir_type */
    int swapped; /* bytes are in the other order than this machine's */
    int dimensions;
    int tiled;
    int64_t shape[WR_HDF5_RANK], tile[WR_HDF5_RANK];
    int64_t offset; /* of data that are not tiled; -1: they have no place yet */
    int filters;
    wr_hdf5_filter filter[WR_HDF5_FILTERS];
    char fill[WR_HDF5_ELEMENT]; /* as memory has it */
} wr_hdf5_facts;

/* Numbers, or strings. */
typedef struct wr_hdf5_attribute {
    const char *name;
    int type; /* i8, u8 or f8 where it is told, any integer or float where it is made; 0: strings */
    int list; /* 0: it has one value, and no dimension */
    int64_t count;
    const void *data;  /* of numbers; */
    const char **text; /* strings */
} wr_hdf5_attribute;

/* What is said of a dataset. */
typedef struct wr_hdf5_labels {
    int64_t attributes;
    const wr_hdf5_attribute *attribute;
    const char *const *name; /* of each dimension; NULL: none */
} wr_hdf5_labels;

/* Who is told: first the facts, then attributes and names of dimensions, if that is wanted, then
 * each tile that was written, by number. Other than 0 ends it with that code. */
typedef struct wr_hdf5_listener {
    void *user;
    int (*facts)(void *user, const wr_hdf5_facts *facts);
    int (*attribute)(void *user, const wr_hdf5_attribute *attribute); /* or NULL, both */
    int (*name)(void *user, int dimension, const char *name);
    int (*tile)(void *user, int64_t number, int64_t offset, int64_t bytes, unsigned skipped);
} wr_hdf5_listener;

/* Gives a tile's number and bytes and returns 1, or 0 after the last one, or a negative code. */
typedef int wr_hdf5_source(void *user, int64_t *number, const void **data, int64_t *bytes);

typedef int wr_hdf5_told(void *user, const char *name, const wr_hdf5_facts *facts,
                         const char *text);

typedef struct wr_hdf5_module {
    int version;
    int (*look)(const char *path, const char *name, const wr_hdf5_listener *listener, char *text);
    /* The file is there, and empty; or it has other data, and must have none of the name `room`,
     * which is NULL otherwise. Tiles without filters, and data that are not tiled, get their place.
     * `offset` and names of filters are not looked at. Where it fails groups may be left. */
    int (*make)(const char *path, const char *name, const char *room, const wr_hdf5_facts *facts,
                char *text);
    /* What is said of a dataset, which gets another name, unless that is NULL. Names of dimensions
     * are, as NetCDF-4 has them, those of datasets without data, or labels; attributes that HDF5
     * cannot hold, of more than 64 KiB, are left out. */
    int (*finish)(const char *path, const char *name, const char *other,
                  const wr_hdf5_labels *labels, char *text);
    int (*remove)(const char *path, const char *name, char *text);
    int (*pack)(const char *path, const char *name, wr_hdf5_source *source, void *user, char *text);
    /* Datasets of a file, but for those that only name dimensions, and what else would be lost with
     * the file: 1 if there is just one dataset, more than that if there is more; or a negative
     * code. */
    int (*count)(const char *path, char *text);
    /* Tells each dataset, but for those that only name dimensions: of facts type, swapped, shape
     * and tile. They are NULL, with a text, for one that `look` refuses for its type or shape.
     * Other than 0 ends it with that code. */
    int (*list)(const char *path, wr_hdf5_told *each, void *user, char *text);
} wr_hdf5_module;

/* The only name that the module exports. */
#define WR_HDF5_SYMBOL "weir_hdf5_module"
extern WEIR_API const wr_hdf5_module weir_hdf5_module;

#endif
