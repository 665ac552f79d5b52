/* Attributes of a dataset, and names of its dimensions. These are names of dimension scales, as
 * NetCDF-4 has them, or labels. What cannot be had is left out: data do without. */
#include <hdf5_hl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hdf5/dataset.h"

enum { NAME = 512 };

/* How NetCDF-4 calls a scale that is no variable. */
#define NO_VARIABLE "This is a netCDF dimension but not a netCDF variable."

/* What HDF5 and NetCDF-4 note there for themselves. */
static bool is_inner(const char *name)
{
    static const char *const names[] = {"CLASS",
                                        "NAME",
                                        "DIMENSION_LIST",
                                        "REFERENCE_LIST",
                                        "DIMENSION_LABELS",
                                        "_Netcdf4Dimid",
                                        "_Netcdf4Coordinates",
                                        "_nc3_strict",
                                        "_NCProperties"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

/* --- telling attributes --- */

typedef struct teller {
    const wr_hdf5_listener *listener;
    int code;
} teller;

typedef struct opened {
    hid_t attribute, type, space;
    int64_t count;
} opened;

static void close_attribute(opened *o)
{
    if (o->space >= 0)
        H5Sclose(o->space);
    if (o->type >= 0)
        H5Tclose(o->type);
    if (o->attribute >= 0)
        H5Aclose(o->attribute);
}

/* False if it has more than one dimension, or is too long. */
static bool open_attribute(hid_t set, const char *name, opened *o)
{
    *o = (opened){-1, -1, -1, 0};
    o->attribute = H5Aopen(set, name, H5P_DEFAULT);
    if (o->attribute < 0)
        return false;
    o->type = H5Aget_type(o->attribute);
    o->space = H5Aget_space(o->attribute);
    if (o->type < 0 || o->space < 0 || H5Sget_simple_extent_ndims(o->space) > 1)
        return false;
    const hssize_t count = H5Sget_simple_extent_npoints(o->space);
    const size_t bytes = H5Tget_size(o->type);
    o->count = count;
    return count >= 0 && bytes > 0 && count <= WR_HDF5_LONGEST / 8 &&
           bytes <= WR_HDF5_LONGEST / (size_t)(count ? count : 1);
}

static int tell(const teller *t, wr_hdf5_attribute *a, int64_t count)
{
    a->count = count;
    a->list = count != 1;
    return t->listener->attribute(t->listener->user, a);
}

static int tell_numbers(const teller *t, const opened *o, wr_hdf5_attribute *a)
{
    const bool whole = H5Tget_class(o->type) == H5T_INTEGER;
    const bool negative = whole && H5Tget_sign(o->type) == H5T_SGN_2;
    const hid_t type = negative ? H5T_NATIVE_INT64 : whole ? H5T_NATIVE_UINT64 : H5T_NATIVE_DOUBLE;
    void *data = calloc((size_t)o->count + 1, 8);
    int code = 0;
    a->type = negative ? WEIR_I8 : whole ? WEIR_U8 : WEIR_F8;
    a->data = data;
    if (data && (!o->count || H5Aread(o->attribute, type, data) >= 0))
        code = tell(t, a, o->count);
    free(data);
    return code;
}

/* Strings of one length; what pads them is not theirs. */
static int tell_fixed(const teller *t, const opened *o, wr_hdf5_attribute *a)
{
    const size_t size = H5Tget_size(o->type), count = (size_t)o->count;
    const bool spaces = H5Tget_strpad(o->type) == H5T_STR_SPACEPAD;
    char *data = calloc(count + 1, size), *own = calloc(count + 1, size + 1);
    int code = 0;
    if (data && own && (!count || H5Aread(o->attribute, o->type, data) >= 0)) {
        for (size_t i = 0; i < count; i++) {
            char *text = own + i * (size + 1);
            memcpy(text, data + i * size, size);
            for (size_t end = size; spaces && end && text[end - 1] == ' '; end--)
                text[end - 1] = 0;
            a->text[i] = text;
        }
        code = tell(t, a, o->count);
    }
    free(own);
    free(data);
    return code;
}

static int tell_variable(const teller *t, const opened *o, wr_hdf5_attribute *a)
{
    char **text = (char **)(void *)a->text;
    int code = 0;
    if (o->count && H5Aread(o->attribute, o->type, text) < 0)
        return 0;
    char **own = calloc((size_t)o->count + 1, sizeof *own);
    for (int64_t i = 0; own && i < o->count; i++) {
        own[i] = text[i];
        a->text[i] = text[i] ? text[i] : "";
    }
    if (own)
        code = tell(t, a, o->count);
    if (own && o->count)
        H5Dvlen_reclaim(o->type, o->space, H5P_DEFAULT, own);
    free(own);
    return code;
}

/* What has no elements is the empty string. */
static int tell_strings(const teller *t, const opened *o, wr_hdf5_attribute *a)
{
    int code = 0;
    a->text = calloc((size_t)o->count + 1, sizeof *a->text);
    if (!a->text)
        return 0;
    *a->text = "";
    if (H5Sget_simple_extent_type(o->space) == H5S_NULL)
        code = tell(t, a, 1);
    else
        code = H5Tis_variable_str(o->type) > 0 ? tell_variable(t, o, a) : tell_fixed(t, o, a);
    free((void *)a->text);
    return code;
}

static herr_t tell_attribute(hid_t set, const char *name, const H5A_info_t *info, void *user)
{
    teller *t = user;
    opened o;
    wr_hdf5_attribute a = {.name = name};
    (void)info;
    if (is_inner(name))
        return 0;
    if (open_attribute(set, name, &o)) {
        const H5T_class_t kind = H5Tget_class(o.type);
        if (kind == H5T_INTEGER || kind == H5T_FLOAT)
            t->code = tell_numbers(t, &o, &a);
        else if (kind == H5T_STRING)
            t->code = tell_strings(t, &o, &a);
    }
    close_attribute(&o);
    return t->code ? 1 : 0;
}

/* --- telling names --- */

/* The last part of an object's name. */
static bool own_name(hid_t object, char name[NAME])
{
    char path[4 * NAME];
    const ssize_t length = H5Iget_name(object, path, sizeof path);
    if (length <= 0 || length >= (ssize_t)sizeof path)
        return false;
    const char *slash = strrchr(path, '/');
    const char *own = slash ? slash + 1 : path;
    const size_t bytes = strlen(own) + 1;
    if (bytes > NAME)
        return false;
    memcpy(name, own, bytes);
    return *name;
}

static herr_t take_scale(hid_t set, unsigned dimension, hid_t scale, void *user)
{
    (void)set, (void)dimension;
    return own_name(scale, user);
}

static bool find_name(const wr_dataset *d, int dimensions, unsigned i, char name[NAME])
{
    int first = 0;
    if (dimensions == 1 && H5DSis_scale(d->set) > 0)
        return own_name(d->set, name);
    if (H5DSget_num_scales(d->set, i) > 0 &&
        H5DSiterate_scales(d->set, i, &first, take_scale, name) > 0)
        return true;
    const ssize_t length = H5DSget_label(d->set, i, name, NAME);
    return length > 0 && length < NAME;
}

int wr_dataset_labels_tell(const wr_dataset *d, int dimensions, const wr_hdf5_listener *listener)
{
    teller t = {.listener = listener};
    hsize_t at = 0;
    unsigned order = 0;
    if (H5Pget_attr_creation_order(d->properties, &order) < 0)
        order = 0;
    H5Aiterate2(d->set, order & H5P_CRT_ORDER_TRACKED ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME,
                order & H5P_CRT_ORDER_TRACKED ? H5_ITER_INC : H5_ITER_NATIVE, &at, tell_attribute,
                &t);
    for (int i = 0; i < dimensions && !t.code; i++) {
        char name[NAME] = "";
        if (find_name(d, dimensions, (unsigned)i, name))
            t.code = listener->name(listener->user, i, name);
    }
    return t.code;
}

/* --- making --- */

static hid_t string_type(void)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    if (type < 0 || (H5Tset_size(type, H5T_VARIABLE) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0))
        return type;
    H5Tclose(type);
    return H5I_INVALID_HID;
}

static void put_attribute(hid_t set, const wr_hdf5_attribute *a)
{
    const hsize_t count = (hsize_t)a->count;
    const hid_t type = a->type ? wr_dataset_type_build(a->type, 0) : string_type();
    const hid_t space = a->list ? H5Screate_simple(1, &count, NULL) : H5Screate(H5S_SCALAR);
    hid_t attribute = H5I_INVALID_HID;
    if (type >= 0 && space >= 0 && !is_inner(a->name) && H5Aexists(set, a->name) == 0)
        attribute = H5Acreate2(set, a->name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute >= 0 && count &&
        H5Awrite(attribute, type, a->type ? a->data : (const void *)a->text) < 0)
        H5Adelete(set, a->name);
    if (attribute >= 0)
        H5Aclose(attribute);
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
}

/* The dataset that has the name, if it is a scale of that size. */
static hid_t scale_open(hid_t group, const char *name, int64_t size)
{
    const hid_t scale = H5Dopen2(group, name, H5P_DEFAULT);
    const hid_t space = scale < 0 ? H5I_INVALID_HID : H5Dget_space(scale);
    const bool fits = space >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
                      H5Sget_simple_extent_npoints(space) == size && H5DSis_scale(scale) > 0;
    if (space >= 0)
        H5Sclose(space);
    if (fits || scale < 0)
        return scale;
    H5Dclose(scale);
    return H5I_INVALID_HID;
}

/* A scale that has no data, beside the dataset, or the one that is there. */
static hid_t scale_build(hid_t group, const char *name, int64_t size)
{
    char text[80];
    const hsize_t length = (hsize_t)size;
    if (H5Lexists(group, name, H5P_DEFAULT) > 0)
        return scale_open(group, name, size);
    const hid_t space = H5Screate_simple(1, &length, NULL);
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    hid_t scale = H5I_INVALID_HID;
    snprintf(text, sizeof text, NO_VARIABLE "%10lld", (long long)size);
    if (space >= 0 && properties >= 0 && H5Pset_obj_track_times(properties, false) >= 0)
        scale =
            H5Dcreate2(group, name, H5T_IEEE_F32BE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    if (scale >= 0)
        H5DSset_scale(scale, text);
    if (properties >= 0)
        H5Pclose(properties);
    if (space >= 0)
        H5Sclose(space);
    return scale;
}

/* `name` is the dataset's: where a dimension has the same, there can be no scale of that name, but
 * the dataset can be one. False if there are none. */
static bool put_scales(const wr_dataset *d, const char *name, const wr_hdf5_facts *f,
                       const char *const *names)
{
    char folder[4 * NAME];
    const char *slash = strrchr(name, '/'), *own = slash ? slash + 1 : name;
    for (int i = 0; i < f->dimensions; i++)
        if (!strcmp(names[i], own))
            return f->dimensions == 1 && H5DSset_scale(d->set, own) >= 0;
    if (snprintf(folder, sizeof folder, "/%.*s", slash ? (int)(slash - name) : 0, name) >=
        (int)sizeof folder)
        return false;
    const hid_t group = H5Gopen2(d->file, folder, H5P_DEFAULT);
    for (int i = 0; i < f->dimensions && group >= 0; i++) {
        const hid_t scale = scale_build(group, names[i], f->shape[i]);
        if (scale < 0) {
            H5DSset_label(d->set, (unsigned)i, names[i]);
            continue;
        }
        H5DSattach_scale(d->set, scale, (unsigned)i);
        H5Dclose(scale);
    }
    if (group >= 0)
        H5Gclose(group);
    return group >= 0;
}

/* Both would be too much: NetCDF takes labels for an attribute. */
void wr_dataset_labels_put(const wr_dataset *d, const char *name, const wr_hdf5_facts *f,
                           const wr_hdf5_labels *labels)
{
    for (int64_t i = 0; i < labels->attributes; i++)
        put_attribute(d->set, &labels->attribute[i]);
    if (!labels->name || put_scales(d, name, f, labels->name))
        return;
    for (int i = 0; i < f->dimensions; i++)
        H5DSset_label(d->set, (unsigned)i, labels->name[i]);
}

int wr_dataset_is_name(hid_t set)
{
    char text[80] = "";
    return H5DSis_scale(set) > 0 && H5DSget_scale_name(set, text, sizeof text) > 0 &&
           !strncmp(text, NO_VARIABLE, sizeof NO_VARIABLE - 1);
}
