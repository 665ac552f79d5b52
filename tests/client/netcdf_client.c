/* NetCDF-4: contiguous, chunked and packed variables by collective and independent calls; strided
 * and mapped accesses; an unlimited dimension; definitions after data. */
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <stdio.h>

#include "client.h"

enum { MARK, ROWS, STRIDED, CHUNKED, MAPPED, SERIES, PACKED, LATE, ARRAYS };

static const client_array arrays[ARRAYS] = {
    {"mark", MARK, CLIENT_BYTE, 1, {64}},
    {"rows", ROWS, CLIENT_DOUBLE, 2, {61, 83}},
    {"strided", STRIDED, CLIENT_INT, 2, {40, 36}},
    {"chunked", CHUNKED, CLIENT_SHORT, 2, {50, 47}},
    {"mapped", MAPPED, CLIENT_FLOAT, 2, {22, 26}},
    {"series", SERIES, CLIENT_DOUBLE, 3, {4, 12, 14}},
    {"packed", PACKED, CLIENT_INT, 2, {32, 40}},
    {"late", LATE, CLIENT_LONG, 2, {19, 23}},
};

typedef enum access { PUT, PUT_TOGETHER, GET, GET_TOGETHER } access;

/* A call's arguments and its data. */
typedef struct part {
    client_cells cells;
    size_t start[CLIENT_DIMS], count[CLIENT_DIMS];
    ptrdiff_t stride[CLIENT_DIMS];
    void *items;
    int id;
} part;

static part part_of(int nc, int number, client_box box, access how)
{
    const client_array *a = &arrays[number];
    bool write = how == PUT || how == PUT_TOGETHER;
    bool together = how == PUT_TOGETHER || how == GET_TOGETHER;
    part p = {.cells = client_cells_of(a, &box)};
    for (int d = 0; d < CLIENT_DIMS; d++) {
        p.start[d] = (size_t)(box.count[d] ? box.start[d] : 0);
        p.count[d] = (size_t)box.count[d];
        p.stride[d] = box.stride[d];
    }
    p.items = write ? client_values(&p.cells, 1)
                    : client_alloc((size_t)p.cells.count * client_kind_bytes(a->kind));
    MUST(!nc_inq_varid(nc, a->name, &p.id));
    MUST(!nc_var_par_access(nc, p.id, together ? NC_COLLECTIVE : NC_INDEPENDENT));
    return p;
}

/* Returns how many items of what was read are wrong; 0 for what was written. */
static int64_t finish(part *p)
{
    int64_t wrong = client_count_wrong(&p->cells, p->items, 1);
    free(p->items);
    client_cells_release(&p->cells);
    return wrong;
}

static client_box split(int number, int dim)
{
    return client_split(client_whole(&arrays[number]), dim, client_rank, client_ranks);
}

static client_box deal(int number, int dim)
{
    return client_deal(client_whole(&arrays[number]), dim, client_rank, client_ranks);
}

/* --- one access each --- */

static int64_t vara(int nc, int number, client_box box, access how)
{
    part p = part_of(nc, number, box, how);
    if (how == PUT || how == PUT_TOGETHER)
        MUST(!nc_put_vara(nc, p.id, p.start, p.count, p.items));
    else
        MUST(!nc_get_vara(nc, p.id, p.start, p.count, p.items));
    return finish(&p);
}

static int64_t vars(int nc, int number, client_box box, access how)
{
    part p = part_of(nc, number, box, how);
    if (how == PUT || how == PUT_TOGETHER)
        MUST(!nc_put_vars(nc, p.id, p.start, p.count, p.stride, p.items));
    else
        MUST(!nc_get_vars(nc, p.id, p.start, p.count, p.stride, p.items));
    return finish(&p);
}

/* The array is transposed in memory. NetCDF makes a call for each item: independent ones, because
 * ranks have different numbers of them. */
static int64_t varm(int nc, int number, client_box box, bool write)
{
    part p = part_of(nc, number, box, write ? PUT : GET);
    client_kind kind = arrays[number].kind;
    int64_t rows = box.count[0], columns = box.count[1];
    ptrdiff_t map[] = {1, rows};
    void *turned = client_alloc((size_t)p.cells.count * client_kind_bytes(kind));
    if (write) {
        client_transpose(kind, p.items, turned, rows, columns);
        MUST(!nc_put_varm(nc, p.id, p.start, p.count, p.stride, map, turned));
    } else {
        MUST(!nc_get_varm(nc, p.id, p.start, p.count, p.stride, map, turned));
        client_transpose(kind, turned, p.items, columns, rows);
    }
    free(turned);
    return finish(&p);
}

/* --- the file --- */

static void define(int nc, int number, const size_t *chunk)
{
    static const nc_type types[] = {NC_BYTE, NC_SHORT, NC_INT, NC_INT64, NC_FLOAT, NC_DOUBLE};
    const client_array *a = &arrays[number];
    int dims[CLIENT_DIMS], id;
    for (int d = 0; d < a->dims; d++) {
        char name[32];
        snprintf(name, sizeof name, "%s%d", a->name, d);
        bool unlimited = number == SERIES && d == 0;
        MUST(!nc_def_dim(nc, name, unlimited ? NC_UNLIMITED : (size_t)a->shape[d], &dims[d]));
    }
    MUST(!nc_def_var(nc, a->name, types[a->kind], a->dims, dims, &id));
    MUST(!nc_def_var_chunking(nc, id, chunk ? NC_CHUNKED : NC_CONTIGUOUS, chunk));
    if (number == PACKED)
        MUST(!nc_def_var_deflate(nc, id, 1, 1, 1));
    MUST(!nc_put_att_text(nc, id, "units", 5, "metre"));
}

static void define_all(int nc)
{
    define(nc, MARK, NULL);
    define(nc, ROWS, NULL);
    define(nc, STRIDED, NULL);
    define(nc, CHUNKED, (size_t[]){7, 11});
    define(nc, MAPPED, NULL);
    define(nc, SERIES, (size_t[]){1, 5, 14});
    define(nc, PACKED, (size_t[]){8, 10});
    MUST(!nc_enddef(nc));
}

/* The unlimited dimension grows by one record at a time. */
static void write_series(int nc)
{
    for (int64_t time = 0; time < arrays[SERIES].shape[0]; time++) {
        client_box box = split(SERIES, 1);
        box.start[0] = time;
        box.count[0] = 1;
        vara(nc, SERIES, box, PUT_TOGETHER);
    }
}

void client_write(const char *path)
{
    int nc;
    MUST(!nc_create_par(path, NC_CLOBBER | NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &nc));
    define_all(nc);
    vars(nc, MARK, deal(MARK, 0), PUT_TOGETHER);
    vara(nc, ROWS, split(ROWS, 0), PUT_TOGETHER);
    for (int phase = 0; phase < 3; phase++)
        vars(nc, STRIDED, client_deal(deal(STRIDED, 0), 1, phase, 3), phase ? PUT : PUT_TOGETHER);
    vara(nc, CHUNKED, split(CHUNKED, 1), PUT_TOGETHER);
    varm(nc, MAPPED, split(MAPPED, 1), true);
    write_series(nc);
    vara(nc, PACKED, split(PACKED, 1), PUT_TOGETHER);
    MUST(!nc_sync(nc));
    MUST(!nc_redef(nc));
    define(nc, LATE, NULL);
    MUST(!nc_enddef(nc));
    vara(nc, LATE, split(LATE, 1), PUT);
    MUST(!nc_close(nc));
}

/* Each variable by other parts than it was written. */
int64_t client_read(const char *path)
{
    int nc;
    MUST(!nc_open_par(path, NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &nc));
    int64_t wrong = vara(nc, MARK, split(MARK, 0), GET);
    wrong += vars(nc, ROWS, deal(ROWS, 1), GET_TOGETHER);
    wrong += vara(nc, STRIDED, split(STRIDED, 1), GET);
    wrong += vars(nc, CHUNKED, deal(CHUNKED, 0), GET_TOGETHER);
    wrong += varm(nc, MAPPED, split(MAPPED, 0), false);
    wrong += vara(nc, SERIES, split(SERIES, 2), GET);
    wrong += vars(nc, PACKED, deal(PACKED, 1), GET_TOGETHER);
    wrong += vars(nc, LATE, deal(LATE, 0), GET_TOGETHER);
    MUST(!nc_close(nc));
    return wrong;
}
