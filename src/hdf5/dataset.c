/* A dataset is opened by name; of a name that is not there, it is said which are. */
#include "hdf5/dataset.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { NAMES = 8, NAMES_TEXT = 150, OBJECTS = 1000 };

/* Names of datasets, and of all objects that were looked at no more than OBJECTS. */
typedef struct names {
    char text[NAMES_TEXT];
    int count, objects;
    bool more;
} names;

static herr_t add_name(hid_t group, const char *name, const H5O_info_t *info, void *user)
{
    names *n = user;
    const size_t used = strlen(n->text), length = strlen(name);
    (void)group;
    if (info->type == H5O_TYPE_DATASET) {
        n->more = n->count++ == NAMES || used + length + 2 >= NAMES_TEXT;
        if (n->more)
            return 1;
        snprintf(n->text + used, NAMES_TEXT - used, "%s%s", used ? ", " : "", name);
    }
    n->more = ++n->objects == OBJECTS;
    return n->more;
}

/* The error of a name that leads nowhere. */
static int tell_names(hid_t file, const char *name, char *text)
{
    names n = {0};
    H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, add_name, &n);
    for (char *c = n.text; *c; c++)
        *c = isprint((unsigned char)*c) ? *c : '?';
    return wr_say(text, WEIR_ENOENT, "%s; it has %s%s",
                  *name ? "there is no such dataset in the file"
                        : "of an HDF5 file one dataset is named, as FILE:/NAME",
                  *n.text || n.more ? n.text : "none", n.more ? ", ..." : "");
}

/* A group is something if it has attributes, or nothing in it. */
static bool is_kept(hid_t group, const char *name, const H5O_info_t *info)
{
    H5G_info_t links;
    if (info->type != H5O_TYPE_GROUP)
        return true;
    return info->num_attrs > 0 ||
           (strcmp(name, ".") != 0 && H5Gget_info_by_name(group, name, &links, H5P_DEFAULT) >= 0 &&
            !links.nlinks);
}

static herr_t add_one(hid_t group, const char *name, const H5O_info_t *info, void *user)
{
    int *count = user;
    if (info->type != H5O_TYPE_DATASET || info->rc > 1) {
        *count += is_kept(group, name, info) ? 2 : 0;
        return *count >= 2;
    }
    const hid_t set = H5Oopen(group, name, H5P_DEFAULT);
    *count += set < 0 || !wr_dataset_is_name(set);
    if (set >= 0)
        H5Oclose(set);
    return *count >= 2;
}

static herr_t add_link(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
    (void)group, (void)name;
    *(int *)user += info->type == H5L_TYPE_HARD ? 0 : 2;
    return 0;
}

static bool has_user_block(hid_t file)
{
    hsize_t bytes = 0;
    const hid_t made = H5Fget_create_plist(file);
    const bool has = made >= 0 && H5Pget_userblock(made, &bytes) >= 0 && bytes;
    if (made >= 0)
        H5Pclose(made);
    return has;
}

int wr_dataset_count(const char *path, char *text)
{
    int sets = 0;
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0)
        return wr_say_hdf5(text, WEIR_EFORMAT, "HDF5 cannot open the file");
    if (H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, add_one, &sets) < 0 ||
        H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, add_link, &sets) < 0)
        sets = wr_say_hdf5(text, WEIR_EFORMAT, "HDF5 cannot list the file");
    else
        sets += has_user_block(file) ? 2 : 0;
    H5Fclose(file);
    return sets;
}

static herr_t note_minor(unsigned number, const H5E_error2_t *error, void *user)
{
    if (!number)
        *(hid_t *)user = error->min_num;
    return number > 0;
}

/* Why HDF5 could not open a name. */
static int tell_why(hid_t file, const char *name, char *text)
{
    hid_t minor = 0;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, note_minor, &minor);
    if (minor == H5E_NOTFOUND)
        return tell_names(file, name, text);
    if (minor == H5E_CANTOPENFILE)
        return wr_say(text, WEIR_EUNSUPPORTED, "the dataset is a link to another file");
    return wr_say_hdf5(text, WEIR_EFORMAT, "cannot open the dataset");
}

/* A link may lead to another file. */
static bool is_elsewhere(const wr_dataset *d)
{
    H5O_info_t root, own;
    return H5Oget_info_by_name(d->file, "/", &root, H5P_DEFAULT) < 0 ||
           H5Oget_info(d->set, &own) < 0 || root.fileno != own.fileno;
}

static int open_name(wr_dataset *d, const char *name, char *text)
{
    if (!*name)
        return tell_names(d->file, name, text);
    d->set = H5Oopen(d->file, name, H5P_DEFAULT);
    if (d->set < 0)
        return tell_why(d->file, name, text);
    const H5I_type_t kind = H5Iget_type(d->set);
    if (kind != H5I_DATASET)
        return wr_say(text, WEIR_ENOENT, "that is a %s, not a dataset",
                      kind == H5I_GROUP ? "group" : "type");
    if (is_elsewhere(d))
        return wr_say(text, WEIR_EUNSUPPORTED, "the dataset is a link to another file");
    return 0;
}

int wr_dataset_open(hid_t access, unsigned flags, const char *path, const char *name, wr_dataset *d,
                    char *text)
{
    *d = (wr_dataset){0};
    d->file = H5Fopen(path, flags, access);
    if (d->file < 0)
        return wr_say_hdf5(text, WEIR_EFORMAT, "HDF5 cannot open the file");
    const int code = open_name(d, name, text);
    if (code)
        return code;
    d->type = H5Dget_type(d->set);
    d->space = H5Dget_space(d->set);
    d->properties = H5Dget_create_plist(d->set);
    if (d->type < 0 || d->space < 0 || d->properties < 0)
        return wr_say_hdf5(text, WEIR_EFORMAT, "cannot read what the dataset is");
    return 0;
}

void wr_dataset_close(wr_dataset *d)
{
    if (d->properties > 0)
        H5Pclose(d->properties);
    if (d->space > 0)
        H5Sclose(d->space);
    if (d->type > 0)
        H5Tclose(d->type);
    if (d->set > 0)
        H5Oclose(d->set);
    if (d->file > 0)
        H5Fclose(d->file);
    *d = (wr_dataset){0};
}

int wr_dataset_read_shape(const wr_dataset *d, wr_hdf5_facts *f, char *text)
{
    hsize_t shape[WR_HDF5_RANK] = {0}, tile[WR_HDF5_RANK] = {0};
    if (H5Sget_simple_extent_type(d->space) == H5S_NULL)
        return wr_say(text, WEIR_EUNSUPPORTED, "the dataset has no elements, and no shape");
    f->dimensions = H5Sget_simple_extent_ndims(d->space);
    f->tiled = H5Pget_layout(d->properties) == H5D_CHUNKED;
    if (f->dimensions < 0 || f->dimensions > WR_HDF5_RANK ||
        H5Sget_simple_extent_dims(d->space, shape, NULL) < 0)
        return wr_say_hdf5(text, WEIR_EFORMAT, "cannot read the shape");
    if (f->tiled && H5Pget_chunk(d->properties, WR_HDF5_RANK, tile) != f->dimensions)
        return wr_say_hdf5(text, WEIR_EFORMAT, "cannot read the shape of chunks");
    for (int i = 0; i < f->dimensions; i++) {
        if (shape[i] > INT64_MAX || tile[i] > INT64_MAX || (f->tiled && !tile[i]))
            return wr_say(text, WEIR_EFORMAT, "the size of dimension %d is unsound", i);
        f->shape[i] = (int64_t)shape[i];
        f->tile[i] = (int64_t)tile[i];
    }
    return 0;
}
