/* The datasets of a file, told one by one. */
#include <string.h>

#include "hdf5/dataset.h"

typedef struct lister {
    wr_hdf5_told *each;
    void *user;
    int code; /* what it returned */
} lister;

static int read_facts(wr_dataset *d, wr_hdf5_facts *f, char *text)
{
    d->type = H5Dget_type(d->set);
    d->space = H5Dget_space(d->set);
    d->properties = H5Dget_create_plist(d->set);
    if (d->type < 0 || d->space < 0 || d->properties < 0)
        return wr_say_hdf5(text, WEIR_EFORMAT, "cannot read what the dataset is");
    const int code = wr_dataset_read_shape(d, f, text);
    return code ? code : wr_dataset_type_find(d->type, f, text);
}

static herr_t tell_one(hid_t group, const char *name, const H5O_info_t *info, void *user)
{
    lister *l = user;
    char text[WR_HDF5_TEXT] = "";
    wr_hdf5_facts facts = {0};
    wr_dataset d = {0};
    if (info->type != H5O_TYPE_DATASET)
        return 0;
    d.set = H5Oopen(group, name, H5P_DEFAULT);
    if (d.set < 0 || !wr_dataset_is_name(d.set)) {
        const int code = d.set < 0 ? wr_say_hdf5(text, WEIR_EFORMAT, "cannot open the dataset")
                                   : read_facts(&d, &facts, text);
        l->code = l->each(l->user, name, code ? NULL : &facts, text);
    }
    wr_dataset_close(&d);
    return l->code != 0;
}

int wr_dataset_list(const char *path, wr_hdf5_told *each, void *user, char *text)
{
    lister l = {.each = each, .user = user};
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0)
        return wr_say_hdf5(text, WEIR_EFORMAT, "HDF5 cannot open the file");
    if (H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, tell_one, &l) < 0 && !l.code)
        l.code = wr_say_hdf5(text, WEIR_EFORMAT, "HDF5 cannot list the file");
    H5Fclose(file);
    return l.code;
}
