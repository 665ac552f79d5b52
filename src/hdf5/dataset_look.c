/* What a dataset is, and where its bytes lie. */
#include <stdbool.h>
#include <stdio.h>

#include "hdf5/dataset.h"
#include "hdf5/noting_driver.h"

static int read_layout(const wr_dataset *d, char *text)
{
    const H5D_layout_t layout = H5Pget_layout(d->properties);
    if (layout == H5D_COMPACT)
        return wr_say(text, WEIR_EUNSUPPORTED,
                      "the dataset is compact: its data are in its header");
    if (layout == H5D_VIRTUAL)
        return wr_say(text, WEIR_EUNSUPPORTED, "the dataset is virtual: its data are others'");
    if (layout != H5D_CHUNKED && layout != H5D_CONTIGUOUS)
        return wr_say(text, WEIR_EUNSUPPORTED, "the dataset has a layout that is unknown here");
    if (H5Pget_external_count(d->properties) != 0)
        return wr_say(text, WEIR_EUNSUPPORTED,
                      "the dataset is external: other files have its data");
    return 0;
}

static int read_filters(const wr_dataset *d, wr_hdf5_facts *f, char *text)
{
    unsigned flags, config, options = 0;
    f->filters = H5Pget_nfilters(d->properties);
    if (f->filters < 0 || f->filters > WR_HDF5_FILTERS)
        return wr_say_hdf5(text, WEIR_EFORMAT, "cannot read the filters");
    for (int i = 0; i < f->filters; i++) {
        wr_hdf5_filter *filter = &f->filter[i];
        unsigned values[1] = {0};
        size_t count = 1;
        filter->id = H5Pget_filter2(d->properties, (unsigned)i, &flags, &count, values,
                                    sizeof filter->name, filter->name, &config);
        if (filter->id < 0)
            return wr_say_hdf5(text, WEIR_EFORMAT, "cannot read a filter");
        filter->name[sizeof filter->name - 1] = 0;
        filter->parameter = values[0];
    }
    if (f->tiled && f->filters && (H5Pget_chunk_opts(d->properties, &options) < 0 || options))
        return wr_say(text, WEIR_EUNSUPPORTED, "chunks at the dataset's end have no filters");
    return 0;
}

/* Without one it is 0. */
static int read_fill(const wr_dataset *d, wr_hdf5_facts *f, char *text)
{
    H5D_fill_value_t kind;
    if (H5Pfill_value_defined(d->properties, &kind) < 0)
        return wr_say_hdf5(text, WEIR_EFORMAT, "cannot read the fill value");
    if (kind != H5D_FILL_VALUE_USER_DEFINED)
        return 0;
    if (H5Pget_fill_value(d->properties, d->type, f->fill) < 0)
        return wr_say_hdf5(text, WEIR_EFORMAT, "cannot read the fill value");
    wr_dataset_type_turn(f, f->fill);
    return 0;
}

static int read_facts(const wr_dataset *d, wr_hdf5_facts *f, char *text)
{
    int code = read_layout(d, text);
    if (!code)
        code = wr_dataset_read_shape(d, f, text);
    if (!code)
        code = wr_dataset_type_find(d->type, f, text);
    if (!code)
        code = read_filters(d, f, text);
    if (!code)
        code = read_fill(d, f, text);
    if (code || f->tiled)
        return code;
    const haddr_t offset = H5Dget_offset(d->set);
    if (offset != HADDR_UNDEF && offset > INT64_MAX)
        return wr_say(text, WEIR_EFORMAT, "the data's place is unsound");
    f->offset = offset == HADDR_UNDEF ? -1 : (int64_t)offset;
    return 0;
}

/* Sets where HDF5 would read a chunk; false if it cannot, for there is none, or the file is
 * damaged, which its errors do not tell apart. */
static bool note_tile(const wr_dataset *d, const hsize_t *at, wr_notes *notes, uint32_t *skipped)
{
    char nothing; /* as nothing is read */
    notes->reads = 0;
    notes->active = true;
    const herr_t code = H5Dread_chunk(d->set, H5P_DEFAULT, at, skipped, &nothing);
    notes->active = false;
    return code >= 0 && notes->reads == 1;
}

/* By rows; false behind the last one. */
static bool advance(const wr_hdf5_facts *f, hsize_t *at)
{
    for (int i = f->dimensions - 1; i >= 0; at[i--] = 0) {
        at[i] += (hsize_t)f->tile[i];
        if (at[i] < (hsize_t)f->shape[i])
            return true;
    }
    return false;
}

/* There are as many as HDF5 counts, or the file is damaged. */
static int tell_tiles(const wr_dataset *d, const wr_hdf5_facts *f, wr_notes *notes,
                      const wr_hdf5_listener *listener, char *text)
{
    hsize_t at[WR_HDF5_RANK] = {0}, left = 0;
    int64_t number = 0;
    if (H5Dget_num_chunks(d->set, d->space, &left) < 0)
        return wr_say_hdf5(text, WEIR_EFORMAT, "cannot count the chunks");
    for (bool more = left > 0; more && left; more = advance(f, at), number++) {
        uint32_t skipped = 0;
        if (!note_tile(d, at, notes, &skipped))
            continue;
        const int code =
            listener->tile(listener->user, number, notes->offset, notes->bytes, skipped);
        if (code)
            return code;
        left--;
    }
    return left ? wr_say(text, WEIR_EFORMAT, "%llu chunks are not where they should be",
                         (unsigned long long)left)
                : 0;
}

static int look(hid_t access, wr_notes *notes, const char *path, const char *name,
                const wr_hdf5_listener *listener, char *text)
{
    wr_dataset d;
    wr_hdf5_facts f = {0};
    int code = wr_dataset_open(access, H5F_ACC_RDONLY, path, name, &d, text);
    if (code && notes->busy)
        code = wr_say(text, WEIR_EACCESS, "somebody has the file open for writing, by HDF5");
    if (!code)
        code = read_facts(&d, &f, text);
    if (!code)
        code = listener->facts(listener->user, &f);
    if (!code && listener->attribute)
        code = wr_dataset_labels_tell(&d, f.dimensions, listener);
    if (!code && f.tiled)
        code = tell_tiles(&d, &f, notes, listener, text);
    wr_dataset_close(&d);
    return code;
}

int wr_dataset_look(const char *path, const char *name, const wr_hdf5_listener *listener,
                    char *text)
{
    wr_notes notes = {0};
    int code = 0;
    const hid_t driver = wr_noting_driver_register(), access = H5Pcreate(H5P_FILE_ACCESS);
    if (driver < 0 || access < 0 || wr_noting_driver_set(access, driver, &notes) < 0 ||
        H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) < 0)
        code = wr_say_hdf5(text, WEIR_ENOMEM, "HDF5 does not start");
    else
        code = look(access, &notes, path, name, listener, text);
    if (access >= 0)
        H5Pclose(access);
    if (driver >= 0)
        H5FDunregister(driver);
    return code;
}
