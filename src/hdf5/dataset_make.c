/* New datasets, such as every version of HDF5 reads; and tiles put into them, as they are. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "hdf5/dataset.h"

/* Data from ALIGNED_FROM bytes on begin at multiples of ALIGNMENT, for direct access. */
enum { ALIGNED_FROM = 65536, ALIGNMENT = 4096 };

static hid_t access_build(void)
{
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access < 0 ||
        (H5Pset_fapl_sec2(access) >= 0 && H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0 &&
         H5Pset_file_locking(access, true, true) >= 0 &&
         H5Pset_alignment(access, ALIGNED_FROM, ALIGNMENT) >= 0))
        return access;
    H5Pclose(access);
    return H5I_INVALID_HID;
}

static int fail_write(char *text, int error, const char *what)
{
    return wr_say_hdf5(text, error == ENOSPC || error == EDQUOT ? WEIR_ENOSPC : WEIR_EIO, what);
}

static herr_t add_filter(hid_t properties, const wr_hdf5_filter *filter)
{
    switch (filter->id) {
    case WR_HDF5_DEFLATE:
        return H5Pset_deflate(properties, filter->parameter);
    case WR_HDF5_SHUFFLE:
        return H5Pset_shuffle(properties);
    case WR_HDF5_FLETCHER32:
        return H5Pset_fletcher32(properties);
    default:
        return -1;
    }
}

static herr_t set_tiles(hid_t properties, const wr_hdf5_facts *f)
{
    hsize_t tile[WR_HDF5_RANK];
    for (int i = 0; i < f->dimensions; i++)
        tile[i] = (hsize_t)f->tile[i];
    herr_t code = H5Pset_chunk(properties, f->dimensions, tile);
    for (int i = 0; i < f->filters && code >= 0; i++)
        code = add_filter(properties, &f->filter[i]);
    return code;
}

/* What is written later by others than HDF5 has its place now, and HDF5 does not fill it. */
static herr_t set_allocation(hid_t properties, const wr_hdf5_facts *f)
{
    if (f->filters)
        return H5Pset_alloc_time(properties, H5D_ALLOC_TIME_INCR);
    const herr_t code = H5Pset_alloc_time(properties, H5D_ALLOC_TIME_EARLY);
    return code < 0 ? code : H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER);
}

static herr_t set_fill(hid_t properties, hid_t type, const wr_hdf5_facts *f)
{
    static const char zero[WR_HDF5_ELEMENT];
    char fill[WR_HDF5_ELEMENT];
    if (!memcmp(f->fill, zero, sizeof zero))
        return 0;
    memcpy(fill, f->fill, sizeof fill);
    wr_dataset_type_turn(f, fill);
    return H5Pset_fill_value(properties, type, fill);
}

/* Without times of day in it, so that the same data make the same file. */
static hid_t properties_build(hid_t type, const wr_hdf5_facts *f)
{
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    if (properties < 0 ||
        ((!f->tiled || set_tiles(properties, f) >= 0) && set_allocation(properties, f) >= 0 &&
         set_fill(properties, type, f) >= 0 && H5Pset_obj_track_times(properties, false) >= 0))
        return properties;
    H5Pclose(properties);
    return H5I_INVALID_HID;
}

/* HDF5 wants tiles to be no larger than the dataset can become. */
static hid_t space_build(const wr_hdf5_facts *f)
{
    hsize_t shape[WR_HDF5_RANK], most[WR_HDF5_RANK];
    for (int i = 0; i < f->dimensions; i++) {
        shape[i] = (hsize_t)f->shape[i];
        most[i] = (hsize_t)(f->tiled && f->tile[i] > f->shape[i] ? f->tile[i] : f->shape[i]);
    }
    return f->dimensions ? H5Screate_simple(f->dimensions, shape, most) : H5Screate(H5S_SCALAR);
}

static hid_t links_build(void)
{
    const hid_t links = H5Pcreate(H5P_LINK_CREATE);
    if (links < 0 || H5Pset_create_intermediate_group(links, 1) >= 0)
        return links;
    H5Pclose(links);
    return H5I_INVALID_HID;
}

static int fill_file(wr_dataset *d, const char *name, const wr_hdf5_facts *f, char *text)
{
    const hid_t links = links_build();
    d->type = wr_dataset_type_build(f->type, f->swapped);
    d->space = space_build(f);
    d->properties = properties_build(d->type, f);
    if (links >= 0 && d->type >= 0 && d->space >= 0 && d->properties >= 0)
        d->set = H5Dcreate2(d->file, name, d->type, d->space, links, d->properties, H5P_DEFAULT);
    else
        d->set = H5I_INVALID_HID;
    const int code = d->set < 0 ? wr_say_hdf5(text, WEIR_EINVAL, "HDF5 makes no such dataset") : 0;
    if (links >= 0)
        H5Pclose(links);
    return code;
}

/* What was kept back is written now, or is not. */
static int close_file(wr_dataset *d, char *text)
{
    errno = 0;
    const bool failed = d->file > 0 && H5Fflush(d->file, H5F_SCOPE_LOCAL) < 0;
    const int code = failed ? fail_write(text, errno, "cannot write the file") : 0;
    wr_dataset_close(d);
    return code;
}

/* Whether nothing has the name, nor a link that leads nowhere. */
static bool is_free(hid_t file, const char *name)
{
    char part[1024];
    for (size_t end = strcspn(name, "/"); end < sizeof part; end += strcspn(name + end, "/")) {
        memcpy(part, name, end);
        part[end] = 0;
        if (end && H5Lexists(file, part, H5P_DEFAULT) <= 0)
            return true;
        if (!name[end])
            return false;
        end += strspn(name + end, "/");
    }
    return true; /* too long to know: then HDF5 refuses to name it */
}

/* A file that has other data, and has room for one of that name. */
static int open_room(hid_t access, const char *path, const char *room, hid_t *file, char *text)
{
    *file = H5Fopen(path, H5F_ACC_RDWR, access);
    if (*file < 0)
        return wr_say_hdf5(text, WEIR_EFORMAT, "HDF5 cannot open the file to write");
    return is_free(*file, room) ? 0
                                : wr_say(text, WEIR_EEXIST, "the file has something of that name");
}

int wr_dataset_make(const char *path, const char *name, const char *room,
                    const wr_hdf5_facts *facts, char *text)
{
    wr_dataset d = {0};
    int code = 0;
    const hid_t access = access_build();
    if (access < 0)
        return wr_say_hdf5(text, WEIR_ENOMEM, "HDF5 does not start");
    errno = 0;
    if (room)
        code = open_room(access, path, room, &d.file, text);
    else if ((d.file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access)) < 0)
        code = fail_write(text, errno, "cannot create the file");
    if (!code)
        code = fill_file(&d, name, facts, text);
    errno = 0;
    if (!code && H5Fflush(d.file, H5F_SCOPE_LOCAL) < 0) {
        code = fail_write(text, errno, "cannot write the file");
        H5Ldelete(d.file, name, H5P_DEFAULT);
    }
    wr_dataset_close(&d);
    H5Pclose(access);
    return code;
}

/* A dataset of a file, to change; to be closed whatever comes of it. */
static int open_to_change(const char *path, const char *name, wr_dataset *d, char *text)
{
    *d = (wr_dataset){0};
    const hid_t access = access_build();
    if (access < 0)
        return wr_say_hdf5(text, WEIR_ENOMEM, "HDF5 does not start");
    const int code = wr_dataset_open(access, H5F_ACC_RDWR, path, name, d, text);
    H5Pclose(access);
    return code;
}

static int move_link(const wr_dataset *d, const char *from, const char *to, char *text)
{
    const hid_t links = links_build();
    if (links < 0 || H5Lmove(d->file, from, d->file, to, links, H5P_DEFAULT) < 0) {
        if (links >= 0)
            H5Pclose(links);
        return wr_say_hdf5(text, WEIR_EEXIST, "the dataset cannot have its name");
    }
    H5Pclose(links);
    return 0;
}

int wr_dataset_finish(const char *path, const char *name, const char *other,
                      const wr_hdf5_labels *labels, char *text)
{
    wr_dataset d;
    wr_hdf5_facts f = {0};
    int code = open_to_change(path, name, &d, text);
    if (!code)
        code = wr_dataset_read_shape(&d, &f, text);
    if (!code && other)
        code = move_link(&d, name, other, text);
    if (!code)
        wr_dataset_labels_put(&d, other ? other : name, &f, labels);
    if (!code)
        code = close_file(&d, text);
    wr_dataset_close(&d);
    return code;
}

int wr_dataset_remove(const char *path, const char *name, char *text)
{
    wr_dataset d;
    int code = open_to_change(path, name, &d, text);
    if (!code && H5Ldelete(d.file, name, H5P_DEFAULT) < 0)
        code = wr_say_hdf5(text, WEIR_EIO, "cannot remove the dataset");
    if (!code)
        code = close_file(&d, text);
    wr_dataset_close(&d);
    return code;
}

/* Where tile `number` begins; false if there is none. */
static bool find_tile(const wr_hdf5_facts *f, int64_t number, hsize_t *at)
{
    int64_t rest = number;
    for (int i = f->dimensions - 1; i >= 0 && rest >= 0; i--) {
        const int64_t tiles = f->shape[i] / f->tile[i] + (f->shape[i] % f->tile[i] > 0);
        if (!tiles)
            return false;
        at[i] = (hsize_t)(rest % tiles) * (hsize_t)f->tile[i];
        rest /= tiles;
    }
    return rest == 0;
}

static int put_tiles(const wr_dataset *d, wr_hdf5_source *source, void *user, char *text)
{
    wr_hdf5_facts f = {0};
    hsize_t at[WR_HDF5_RANK];
    int64_t number = 0, bytes = 0;
    const void *data = NULL;
    int code = wr_dataset_read_shape(d, &f, text);
    if (!code && !f.tiled)
        code = wr_say(text, WEIR_EINVAL, "the dataset has no chunks");
    while (!code) {
        const int more = source(user, &number, &data, &bytes);
        if (more <= 0)
            return more;
        if (bytes < 1 || !find_tile(&f, number, at))
            return wr_say(text, WEIR_EINVAL, "%lld bytes for chunk %lld", (long long)bytes,
                          (long long)number);
        errno = 0;
        if (H5Dwrite_chunk(d->set, H5P_DEFAULT, 0, at, (size_t)bytes, data) < 0)
            code = fail_write(text, errno, "cannot write a chunk");
    }
    return code;
}

int wr_dataset_pack(const char *path, const char *name, wr_hdf5_source *source, void *user,
                    char *text)
{
    wr_dataset d;
    int code = open_to_change(path, name, &d, text);
    if (!code)
        code = put_tiles(&d, source, user, text);
    if (!code)
        code = close_file(&d, text);
    wr_dataset_close(&d);
    return code;
}
