/* What encoded arrays are compared with: collective calls of HDF5 itself. */
#include "bench_tiles.h"

#ifdef WR_HAVE_HDF5
#include <hdf5.h>
#include <mpi.h>

static void must(bool good, const char *what)
{
    if (!good)
        contest_stop(what);
}

static hid_t open_file(const char *path, bool create)
{
    hid_t how = H5Pcreate(H5P_FILE_ACCESS);
    must(H5Pset_fapl_mpio(how, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0, "HDF5: file access");
    H5Pset_coll_metadata_write(how, true);
    H5Pset_all_coll_metadata_ops(how, true);
    hid_t file = create ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, how)
                        : H5Fopen(path, H5F_ACC_RDONLY, how);
    must(file >= 0, path);
    H5Pclose(how);
    return file;
}

static hid_t create_set(hid_t file, const tiles_box *box, const int64_t *tile, int level)
{
    hsize_t shape[3], chunk[3];
    for (int d = 0; d < 3; d++) {
        shape[d] = (hsize_t)box->shape[d];
        chunk[d] = (hsize_t)tile[d];
    }
    hid_t how = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(3, shape, NULL);
    H5Pset_fill_time(how, H5D_FILL_TIME_NEVER);
    H5Pset_chunk(how, 3, chunk);
    H5Pset_shuffle(how);
    H5Pset_deflate(how, (unsigned)level);
    hid_t set = H5Dcreate2(file, "x", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, how, H5P_DEFAULT);
    must(set >= 0, "HDF5: dataset");
    H5Sclose(space);
    H5Pclose(how);
    return set;
}

/* Moves this rank's box between the dataset and dense memory. */
static void move(hid_t set, const tiles_box *box, float *in, const float *out)
{
    hsize_t start[3], count[3];
    for (int d = 0; d < 3; d++) {
        start[d] = (hsize_t)box->lo[d];
        count[d] = (hsize_t)(box->hi[d] - box->lo[d]);
    }
    hid_t there = H5Dget_space(set), here = H5Screate_simple(3, count, NULL);
    hid_t how = H5Pcreate(H5P_DATASET_XFER);
    H5Sselect_hyperslab(there, H5S_SELECT_SET, start, NULL, count, NULL);
    H5Pset_dxpl_mpio(how, H5FD_MPIO_COLLECTIVE);
    must((in ? H5Dread(set, H5T_NATIVE_FLOAT, here, there, how, in)
             : H5Dwrite(set, H5T_NATIVE_FLOAT, here, there, how, out)) >= 0,
         "HDF5: transfer");
    H5Pclose(how);
    H5Sclose(here);
    H5Sclose(there);
}

bool tiles_hdf5_write(const char *path, const tiles_box *box, const int64_t *tile, int level,
                      const float *data)
{
    hid_t file = open_file(path, true), set = create_set(file, box, tile, level);
    move(set, box, NULL, data);
    H5Dclose(set);
    must(H5Fclose(file) >= 0, "HDF5: close");
    return true;
}

bool tiles_hdf5_read(const char *path, const tiles_box *box, float *data)
{
    hid_t file = open_file(path, false), set = H5Dopen2(file, "x", H5P_DEFAULT);
    must(set >= 0, "HDF5: open");
    move(set, box, data, NULL);
    H5Dclose(set);
    H5Fclose(file);
    return true;
}
#else
bool tiles_hdf5_write(const char *path, const tiles_box *box, const int64_t *tile, int level,
                      const float *data)
{
    (void)path, (void)box, (void)tile, (void)level, (void)data;
    return false;
}

bool tiles_hdf5_read(const char *path, const tiles_box *box, float *data)
{
    (void)path, (void)box, (void)data;
    return false;
}
#endif
