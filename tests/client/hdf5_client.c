/* HDF5: contiguous, chunked, growing and packed datasets; unions of hyperslabs, points, nothing at
 * all; memory with gaps; collective metadata. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>

#include "client.h"

enum { MARK, ROWS, SWAPPED, JOINED, ONE, MANY, CUBE, GROWN, PACKED, POINTS, PART, ARRAYS };

static const client_array arrays[ARRAYS] = {
    {"mark", MARK, CLIENT_BYTE, 1, {64}},           {"rows", ROWS, CLIENT_DOUBLE, 2, {61, 83}},
    {"swapped", SWAPPED, CLIENT_INT, 2, {40, 36}},  {"joined", JOINED, CLIENT_FLOAT, 2, {44, 64}},
    {"one", ONE, CLIENT_SHORT, 2, {50, 47}},        {"many", MANY, CLIENT_LONG, 2, {50, 47}},
    {"cube", CUBE, CLIENT_DOUBLE, 3, {12, 13, 14}}, {"grown", GROWN, CLIENT_INT, 2, {30, 20}},
    {"packed", PACKED, CLIENT_INT, 2, {32, 40}},    {"points", POINTS, CLIENT_FLOAT, 2, {20, 30}},
    {"part", PART, CLIENT_BYTE, 2, {30, 17}},
};

/* How a dataset is accessed. */
typedef struct access {
    bool write, together, points;
    int64_t gap; /* items from one to the next in memory; 0 is 1 */
    H5FD_mpio_chunk_opt_t chunks;
} access;

static const access put = {.write = true}, put_together = {.write = true, .together = true};
static const access get = {0}, get_together = {.together = true};

static hid_t memory_type(client_kind kind)
{
    const hid_t types[] = {H5T_NATIVE_SCHAR, H5T_NATIVE_SHORT, H5T_NATIVE_INT,
                           H5T_NATIVE_LLONG, H5T_NATIVE_FLOAT, H5T_NATIVE_DOUBLE};
    return types[kind];
}

static hid_t open_file(const char *path, bool create)
{
    hid_t how = H5Pcreate(H5P_FILE_ACCESS);
    MUST(H5Pset_fapl_mpio(how, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0);
    MUST(H5Pset_coll_metadata_write(how, true) >= 0);
    MUST(H5Pset_all_coll_metadata_ops(how, !create) >= 0);
    hid_t file = create ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, how)
                        : H5Fopen(path, H5F_ACC_RDONLY, how);
    MUST(file >= 0);
    H5Pclose(how);
    return file;
}

/* Chunks of that size, unless it is NULL; times would differ between two files. */
static void create(hid_t file, int number, const hsize_t *chunk)
{
    const client_array *a = &arrays[number];
    hsize_t shape[CLIENT_DIMS], most[CLIENT_DIMS];
    hid_t how = H5Pcreate(H5P_DATASET_CREATE);
    hid_t type = number == SWAPPED ? H5T_STD_I32BE : memory_type(a->kind);
    for (int d = 0; d < a->dims; d++)
        most[d] = shape[d] = (hsize_t)a->shape[d];
    if (number == GROWN) {
        shape[0] = 0;
        most[0] = H5S_UNLIMITED;
    }
    MUST(H5Pset_obj_track_times(how, false) >= 0);
    if (chunk)
        MUST(H5Pset_chunk(how, a->dims, chunk) >= 0);
    if (number == PACKED)
        MUST(H5Pset_deflate(how, 1) >= 0);
    hid_t space = H5Screate_simple(a->dims, shape, most);
    hid_t set = H5Dcreate2(file, a->name, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
    MUST(set >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(how);
}

static void select_box(hid_t space, const client_box *box, H5S_seloper_t operation)
{
    hsize_t start[CLIENT_DIMS], stride[CLIENT_DIMS], count[CLIENT_DIMS], block[CLIENT_DIMS];
    for (int d = 0; d < CLIENT_DIMS; d++) {
        start[d] = (hsize_t)box->start[d];
        stride[d] = (hsize_t)box->stride[d];
        count[d] = (hsize_t)box->count[d];
        block[d] = (hsize_t)box->block[d];
    }
    MUST(H5Sselect_hyperslab(space, operation, start, stride, count, block) >= 0);
}

static void select_points(hid_t space, const client_cells *cells)
{
    int64_t columns = cells->array->shape[1], n = cells->array->shape[0] * columns;
    hsize_t *points = client_alloc((size_t)cells->count * 2 * sizeof *points), *next = points;
    for (int64_t i = 0; i < n; i++)
        if (cells->chosen[i]) {
            *next++ = (hsize_t)(i / columns);
            *next++ = (hsize_t)(i % columns);
        }
    MUST(H5Sselect_elements(space, H5S_SELECT_SET, (size_t)cells->count, points) >= 0);
    free(points);
}

/* The first box and the second; of the others what is chosen already leaves, what is not joins. */
static client_cells choose(hid_t space, int number, int boxes, const client_box *box)
{
    static const H5S_seloper_t operation[] = {H5S_SELECT_SET, H5S_SELECT_OR, H5S_SELECT_XOR,
                                              H5S_SELECT_XOR};
    static const client_box none = {.stride = {1, 1, 1}, .block = {1, 1, 1}};
    client_cells cells = client_cells_of(&arrays[number], &none);
    MUST(H5Sselect_none(space) >= 0);
    for (int k = 0; k < boxes; k++) {
        select_box(space, &box[k], operation[k]);
        client_cells_add(&cells, &box[k], k > 1);
    }
    MUST(H5Sget_select_npoints(space) == cells.count);
    return cells;
}

static hid_t transfer_list(const access *how)
{
    hid_t list = H5Pcreate(H5P_DATASET_XFER);
    MUST(H5Pset_dxpl_mpio(list, how->together ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT) >= 0);
    if (how->together && how->chunks)
        MUST(H5Pset_dxpl_mpio_chunk_opt(list, how->chunks) >= 0);
    return list;
}

/* Conversion of types makes HDF5 go alone, and so do points. */
static void check_mode(hid_t list, const access *how, int number)
{
    H5D_mpio_actual_io_mode_t mode;
    MUST(H5Pget_mpio_actual_io_mode(list, &mode) >= 0);
    if (how->together && !how->points && number != SWAPPED)
        MUST(mode != H5D_MPIO_NO_COLLECTIVE);
}

/* Writes or reads the cells of some boxes; returns how many were wrong. */
static int64_t transfer(hid_t file, int number, const access *how, int boxes, const client_box *box)
{
    const client_array *a = &arrays[number];
    hid_t set = H5Dopen2(file, a->name, H5P_DEFAULT), space = H5Dget_space(set);
    client_cells cells = choose(space, number, boxes, box);
    int64_t gap = how->gap ? how->gap : 1, wrong = 0;
    hsize_t items = (hsize_t)(cells.count * gap), step = (hsize_t)gap;
    hid_t memory = H5Screate_simple(1, &items, NULL), list = transfer_list(how);
    void *buffer = how->write ? client_values(&cells, gap)
                              : client_alloc(client_kind_bytes(a->kind) * (size_t)items);
    if (how->points)
        select_points(space, &cells);
    if (cells.count)
        H5Sselect_hyperslab(memory, H5S_SELECT_SET, &(hsize_t){0}, &step, &(hsize_t){items / step},
                            NULL);
    if (how->write) {
        MUST(H5Dwrite(set, memory_type(a->kind), memory, space, list, buffer) >= 0);
    } else {
        MUST(H5Dread(set, memory_type(a->kind), memory, space, list, buffer) >= 0);
        wrong = client_count_wrong(&cells, buffer, gap);
    }
    check_mode(list, how, number);
    free(buffer);
    client_cells_release(&cells);
    H5Pclose(list);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(set);
    return wrong;
}

/* This rank's part of one dimension. */
static client_box split(int number, int dim)
{
    return client_split(client_whole(&arrays[number]), dim, client_rank, client_ranks);
}

static client_box deal(int number, int dim)
{
    return client_deal(client_whole(&arrays[number]), dim, client_rank, client_ranks);
}

static void write_strided(hid_t file, int number)
{
    for (int phase = 0; phase < 3; phase++) {
        client_box box = client_deal(deal(number, 0), 1, phase, 3);
        transfer(file, number, phase ? &put : &put_together, 1, &box);
    }
}

/* Of this rank's rows a union, then what is left. */
static void write_joined(hid_t file)
{
    client_box all = deal(JOINED, 0);
    client_box box[4] = {all, all, all, all};
    box[0].start[1] = 1;
    box[0].stride[1] = 8;
    box[0].count[1] = 7;
    box[0].block[1] = 3;
    box[1].start[1] = 10;
    box[1].count[1] = 20;
    box[2].start[1] = 22;
    box[2].count[1] = 30;
    transfer(file, JOINED, &put_together, 3, box);
    transfer(file, JOINED, &put, 4, box);
}

/* A record of ten rows at a time. */
static void write_grown(hid_t file)
{
    for (int64_t rows = 10; rows <= arrays[GROWN].shape[0]; rows += 10) {
        hid_t set = H5Dopen2(file, arrays[GROWN].name, H5P_DEFAULT);
        MUST(H5Dset_extent(set, (hsize_t[]){(hsize_t)rows, 20}) >= 0);
        H5Dclose(set);
        client_box box = split(GROWN, 1);
        box.start[0] = rows - 10;
        box.count[0] = 10;
        transfer(file, GROWN, &put_together, 1, &box);
    }
}

/* All but rank 0, if there are others. */
static int part_of_others(client_box *box)
{
    int others = client_ranks > 1 ? client_ranks - 1 : 1;
    int part = client_ranks > 1 ? client_rank - 1 : 0;
    if (part < 0)
        return 0;
    *box = client_split(client_whole(&arrays[PART]), 0, part, others);
    return 1;
}

static void create_all(hid_t file)
{
    char name[16];
    for (int k = 0; k < 24; k++) {
        snprintf(name, sizeof name, "group%d", k);
        H5Gclose(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    }
    create(file, MARK, NULL);
    create(file, ROWS, NULL);
    create(file, SWAPPED, NULL);
    create(file, JOINED, NULL);
    create(file, ONE, (hsize_t[]){7, 11});
    create(file, MANY, (hsize_t[]){9, 5});
    create(file, CUBE, (hsize_t[]){5, 4, 6});
    create(file, GROWN, (hsize_t[]){4, 6});
    create(file, PACKED, (hsize_t[]){8, 10});
    create(file, POINTS, NULL);
    create(file, PART, NULL);
}

void client_write(const char *path)
{
    const access one = {.write = true, .together = true, .chunks = H5FD_MPIO_CHUNK_ONE_IO};
    const access many = {.write = true, .together = true, .chunks = H5FD_MPIO_CHUNK_MULTI_IO};
    const access loose = {.write = true, .together = true, .gap = 3};
    const access points = {.write = true, .together = true, .points = true};
    hid_t file = open_file(path, true);
    client_box box;
    create_all(file);
    transfer(file, MARK, &put_together, 1, (box = deal(MARK, 0), &box));
    transfer(file, ROWS, &loose, 1, (box = split(ROWS, 0), &box));
    write_strided(file, SWAPPED);
    write_joined(file);
    transfer(file, ONE, &one, 1, (box = split(ONE, 1), &box));
    transfer(file, MANY, &many, 1, (box = deal(MANY, 0), &box));
    transfer(file, CUBE, &put, 1, (box = split(CUBE, 2), &box));
    MUST(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
    write_grown(file);
    transfer(file, PACKED, &put_together, 1, (box = split(PACKED, 1), &box));
    transfer(file, POINTS, &points, 1, (box = deal(POINTS, 1), &box));
    int boxes = part_of_others(&box);
    transfer(file, PART, &put_together, boxes, &box);
    MUST(H5Fclose(file) >= 0);
}

/* Each array by other parts than it was written. */
int64_t client_read(const char *path)
{
    static const access loose = {.gap = 2}, points = {.points = true};
    static const access one = {.together = true, .chunks = H5FD_MPIO_CHUNK_ONE_IO};
    static const access many = {.together = true, .chunks = H5FD_MPIO_CHUNK_MULTI_IO};
    hid_t file = open_file(path, false);
    client_box box, whole = client_whole(&arrays[JOINED]);
    int64_t wrong = transfer(file, MARK, &get, 1, (box = split(MARK, 0), &box));
    wrong += transfer(file, ROWS, &get_together, 1, (box = deal(ROWS, 1), &box));
    wrong += transfer(file, SWAPPED, &loose, 1, (box = split(SWAPPED, 1), &box));
    client_box pair[] = {deal(JOINED, 1), client_deal(whole, 0, client_rank, 2 * client_ranks)};
    wrong += transfer(file, JOINED, &get_together, 2, pair);
    wrong += transfer(file, ONE, &many, 1, (box = deal(ONE, 0), &box));
    wrong += transfer(file, MANY, &one, 1, (box = split(MANY, 1), &box));
    wrong += transfer(file, CUBE, &get_together, 1, (box = deal(CUBE, 1), &box));
    wrong += transfer(file, GROWN, &get, 1, (box = split(GROWN, 0), &box));
    wrong += transfer(file, PACKED, &get_together, 1, (box = deal(PACKED, 0), &box));
    wrong += transfer(file, POINTS, &points, 1, (box = split(POINTS, 0), &box));
    wrong += transfer(file, PART, &get_together, 1, (box = split(PART, 1), &box));
    MUST(H5Fclose(file) >= 0);
    return wrong;
}
