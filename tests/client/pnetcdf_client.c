/* PnetCDF: blocking and nonblocking calls; strided, mapped and listed accesses; memory with gaps;
 * record variables; fill values; a header that outgrows its room. */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <string.h>

#include "client.h"

enum {
    MARK,
    ROWS,
    STRIDED,
    MAPPED,
    LISTED,
    LOOSE,
    QUEUED,
    BUFFERED,
    FLOWING,
    SERIES,
    HEIGHTS,
    LATE,
    ARRAYS
};

static const client_array arrays[ARRAYS] = {
    {"mark", MARK, CLIENT_BYTE, 1, {64}},
    {"rows", ROWS, CLIENT_DOUBLE, 2, {61, 83}},
    {"strided", STRIDED, CLIENT_INT, 2, {40, 36}},
    {"mapped", MAPPED, CLIENT_FLOAT, 2, {22, 26}},
    {"listed", LISTED, CLIENT_SHORT, 2, {33, 21}},
    {"loose", LOOSE, CLIENT_LONG, 2, {19, 23}},
    {"queued", QUEUED, CLIENT_INT, 2, {24, 50}},
    {"buffered", BUFFERED, CLIENT_DOUBLE, 2, {28, 15}},
    {"flowing", FLOWING, CLIENT_FLOAT, 3, {8, 9, 10}},
    {"series", SERIES, CLIENT_DOUBLE, 3, {5, 6, 14}},
    {"heights", HEIGHTS, CLIENT_SHORT, 2, {5, 13}},
    {"late", LATE, CLIENT_INT, 1, {101}},
};

/* Records: the first dimension is the unlimited one. */
static bool is_record(int number)
{
    return number == SERIES || number == HEIGHTS;
}

static MPI_Datatype item_type(client_kind kind)
{
    const MPI_Datatype types[] = {MPI_SIGNED_CHAR,   MPI_SHORT, MPI_INT,
                                  MPI_LONG_LONG_INT, MPI_FLOAT, MPI_DOUBLE};
    return types[kind];
}

/* A call's arguments and its data. */
typedef struct part {
    client_cells cells;
    MPI_Offset start[CLIENT_DIMS], count[CLIENT_DIMS], stride[CLIENT_DIMS];
    MPI_Datatype type;
    void *items;
} part;

static part part_of(int number, client_box box, bool write)
{
    const client_array *a = &arrays[number];
    part p = {.cells = client_cells_of(a, &box), .type = item_type(a->kind)};
    for (int d = 0; d < CLIENT_DIMS; d++) {
        p.start[d] = box.start[d];
        p.count[d] = box.count[d];
        p.stride[d] = box.stride[d];
    }
    /* an empty part may not start behind the end */
    for (int d = 0; d < a->dims; d++)
        if (box.count[d] == 0)
            p.start[d] = 0;
    p.items = write ? client_values(&p.cells, 1)
                    : client_alloc((size_t)p.cells.count * client_kind_bytes(a->kind));
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

static int variable(int nc, int number)
{
    int id;
    MUST(!ncmpi_inq_varid(nc, arrays[number].name, &id));
    return id;
}

static client_box whole(int number)
{
    return client_whole(&arrays[number]);
}

static client_box split(int number, int dim)
{
    return client_split(whole(number), dim, client_rank, client_ranks);
}

static client_box deal(int number, int dim)
{
    return client_deal(whole(number), dim, client_rank, client_ranks);
}

/* --- one access each --- */

static int64_t vara(int nc, int number, client_box box, bool write)
{
    part p = part_of(number, box, write);
    int id = variable(nc, number);
    if (write)
        MUST(!ncmpi_put_vara_all(nc, id, p.start, p.count, p.items, p.cells.count, p.type));
    else
        MUST(!ncmpi_get_vara_all(nc, id, p.start, p.count, p.items, p.cells.count, p.type));
    return finish(&p);
}

static int64_t vars(int nc, int number, client_box box, bool write, bool together)
{
    part p = part_of(number, box, write);
    int id = variable(nc, number), code;
    MPI_Offset n = p.cells.count;
    if (write && together)
        code = ncmpi_put_vars_all(nc, id, p.start, p.count, p.stride, p.items, n, p.type);
    else if (write)
        code = ncmpi_put_vars(nc, id, p.start, p.count, p.stride, p.items, n, p.type);
    else if (together)
        code = ncmpi_get_vars_all(nc, id, p.start, p.count, p.stride, p.items, n, p.type);
    else
        code = ncmpi_get_vars(nc, id, p.start, p.count, p.stride, p.items, n, p.type);
    MUST(!code);
    return finish(&p);
}

/* The array is transposed in memory. */
static int64_t varm(int nc, int number, client_box box, bool write)
{
    part p = part_of(number, box, write);
    int id = variable(nc, number);
    client_kind kind = arrays[number].kind;
    MPI_Offset n = p.cells.count, map[] = {1, p.count[0]};
    void *turned = client_alloc((size_t)n * client_kind_bytes(kind));
    if (write) {
        client_transpose(kind, p.items, turned, p.count[0], p.count[1]);
        MUST(!ncmpi_put_varm_all(nc, id, p.start, p.count, p.stride, map, turned, n, p.type));
    } else {
        MUST(!ncmpi_get_varm_all(nc, id, p.start, p.count, p.stride, map, turned, n, p.type));
        client_transpose(kind, turned, p.items, p.count[1], p.count[0]);
    }
    free(turned);
    return finish(&p);
}

/* Row by row in one call. */
static int64_t varn(int nc, int number, client_box box, bool write)
{
    part p = part_of(number, box, write);
    int id = variable(nc, number), rows = (int)p.count[0];
    MPI_Offset places[64][2], counts[64][2], *starts[64], *lengths[64];
    MUST(rows <= 64);
    for (int k = 0; k < rows; k++) {
        places[k][0] = p.start[0] + k * p.stride[0];
        places[k][1] = p.start[1];
        counts[k][0] = 1;
        counts[k][1] = p.count[1];
        starts[k] = places[k];
        lengths[k] = counts[k];
    }
    MPI_Offset n = p.cells.count;
    if (write)
        MUST(!ncmpi_put_varn_all(nc, id, rows, starts, lengths, p.items, n, p.type));
    else
        MUST(!ncmpi_get_varn_all(nc, id, rows, starts, lengths, p.items, n, p.type));
    return finish(&p);
}

/* Items two apart in memory. */
static int64_t gaps(int nc, int number, client_box box, bool write)
{
    part p = part_of(number, box, false);
    int id = variable(nc, number);
    MPI_Offset n = p.cells.count;
    MPI_Datatype every_second;
    MPI_Type_vector((int)n, 1, 2, p.type, &every_second);
    MPI_Type_commit(&every_second);
    free(p.items);
    p.items = client_values(&p.cells, 2);
    int64_t wrong = 0;
    if (write) {
        MUST(!ncmpi_put_vara_all(nc, id, p.start, p.count, p.items, 1, every_second));
    } else {
        memset(p.items, 0, (size_t)n * 2 * client_kind_bytes(arrays[number].kind));
        MUST(!ncmpi_get_vara_all(nc, id, p.start, p.count, p.items, 1, every_second));
        wrong = client_count_wrong(&p.cells, p.items, 2);
    }
    MPI_Type_free(&every_second);
    free(p.items);
    client_cells_release(&p.cells);
    return wrong;
}

/* --- several at once --- */

enum { QUEUE = 6 };

/* What waits for ncmpi_wait_all. */
typedef struct queue {
    int length, request[QUEUE];
    part part[QUEUE];
} queue;

static part *enqueue(queue *q, int number, client_box box, bool write)
{
    MUST(q->length < QUEUE);
    q->part[q->length] = part_of(number, box, write);
    return &q->part[q->length];
}

static int64_t drain(int nc, queue *q)
{
    int status[QUEUE];
    int64_t wrong = 0;
    MUST(!ncmpi_wait_all(nc, q->length, q->request, status));
    for (int k = 0; k < q->length; k++) {
        MUST(!status[k]);
        wrong += finish(&q->part[k]);
    }
    return wrong;
}

static void iput(int nc, queue *q, int number, client_box box)
{
    part *p = enqueue(q, number, box, true);
    MUST(!ncmpi_iput_vars(nc, variable(nc, number), p->start, p->count, p->stride, p->items,
                          p->cells.count, p->type, &q->request[q->length++]));
}

static void iget(int nc, queue *q, int number, client_box box)
{
    part *p = enqueue(q, number, box, false);
    MUST(!ncmpi_iget_vars(nc, variable(nc, number), p->start, p->count, p->stride, p->items,
                          p->cells.count, p->type, &q->request[q->length++]));
}

static void bput(int nc, queue *q, int number, client_box box)
{
    part *p = enqueue(q, number, box, true);
    MUST(!ncmpi_bput_vara(nc, variable(nc, number), p->start, p->count, p->items, p->cells.count,
                          p->type, &q->request[q->length++]));
    memset(p->items, 0, (size_t)p->cells.count * client_kind_bytes(arrays[number].kind));
}

/* Two halves of a strided variable, a buffered one, and records of two variables. */
static void write_queued(int nc)
{
    queue q = {0};
    MUST(!ncmpi_buffer_attach(nc, 1 << 16));
    iput(nc, &q, QUEUED, client_deal(deal(QUEUED, 0), 1, 1, 2));
    iput(nc, &q, QUEUED, client_deal(deal(QUEUED, 0), 1, 0, 2));
    bput(nc, &q, BUFFERED, split(BUFFERED, 1));
    iput(nc, &q, FLOWING, deal(FLOWING, 2));
    iput(nc, &q, SERIES, split(SERIES, 2));
    iput(nc, &q, HEIGHTS, split(HEIGHTS, 1));
    int status[QUEUE];
    MUST(!ncmpi_wait_all(nc, q.length, q.request, status));
    for (int k = 0; k < q.length; k++) {
        MUST(!status[k]);
        free(q.part[k].items);
        client_cells_release(&q.part[k].cells);
    }
    MUST(!ncmpi_buffer_detach(nc));
}

static int64_t read_queued(int nc)
{
    queue q = {0};
    iget(nc, &q, QUEUED, split(QUEUED, 1));
    iget(nc, &q, BUFFERED, deal(BUFFERED, 0));
    iget(nc, &q, FLOWING, client_deal(split(FLOWING, 0), 1, 1, 3));
    iget(nc, &q, SERIES, deal(SERIES, 1));
    iget(nc, &q, HEIGHTS, whole(HEIGHTS));
    return drain(nc, &q);
}

/* --- the file --- */

static void define(int nc, int number)
{
    static const nc_type types[] = {NC_BYTE, NC_SHORT, NC_INT, NC_INT64, NC_FLOAT, NC_DOUBLE};
    const client_array *a = &arrays[number];
    int dims[CLIENT_DIMS], id;
    for (int d = 0; d < a->dims; d++) {
        char name[32];
        bool unlimited = d == 0 && is_record(number);
        snprintf(name, sizeof name, unlimited ? "time" : "%s%d", a->name, d);
        if (unlimited && !ncmpi_inq_dimid(nc, name, &dims[d]))
            continue;
        MUST(!ncmpi_def_dim(nc, name, unlimited ? NC_UNLIMITED : a->shape[d], &dims[d]));
    }
    MUST(!ncmpi_def_var(nc, a->name, types[a->kind], a->dims, dims, &id));
    MUST(!ncmpi_put_att_text(nc, id, "units", 5, "metre"));
}

/* Filled and then written in part: every other record, half of a variable. */
static void write_filled(int nc)
{
    int dims[2], filled, gaps_in_time, four = 4, value = 77;
    MUST(!ncmpi_redef(nc));
    MUST(!ncmpi_inq_dimid(nc, "time", &dims[0]));
    MUST(!ncmpi_def_dim(nc, "width", 30, &dims[1]));
    MUST(!ncmpi_def_var(nc, "filled", NC_INT, 1, &dims[1], &filled));
    MUST(!ncmpi_def_var(nc, "gaps", NC_INT, 2, dims, &gaps_in_time));
    MUST(!ncmpi_def_var_fill(nc, filled, 0, &value));
    MUST(!ncmpi_def_var_fill(nc, gaps_in_time, 0, &four));
    MUST(!ncmpi_enddef(nc));
    MPI_Offset at[] = {1, client_rank}, one[] = {1, 1};
    MUST(!ncmpi_fill_var_rec(nc, gaps_in_time, 1));
    MUST(!ncmpi_put_var1_int_all(nc, filled, &at[1], &client_rank));
    MUST(!ncmpi_put_vara_int_all(nc, gaps_in_time, at, one, &client_rank));
}

/* A long attribute and one more variable move all data. */
static void write_late(int nc)
{
    char text[3000];
    memset(text, 'x', sizeof text);
    MUST(!ncmpi_redef(nc));
    MUST(!ncmpi_put_att_text(nc, NC_GLOBAL, "history", sizeof text, text));
    define(nc, LATE);
    MUST(!ncmpi_enddef(nc));
    vars(nc, LATE, deal(LATE, 0), true, true);
}

void client_write(const char *path)
{
    int nc;
    MUST(!ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &nc));
    for (int k = 0; k < LATE; k++)
        define(nc, k);
    MUST(!ncmpi_enddef(nc));
    vars(nc, MARK, deal(MARK, 0), true, true);
    vara(nc, ROWS, split(ROWS, 0), true);
    vars(nc, STRIDED, client_deal(deal(STRIDED, 0), 1, 0, 3), true, true);
    MUST(!ncmpi_begin_indep_data(nc));
    vars(nc, STRIDED, client_deal(deal(STRIDED, 0), 1, 1, 3), true, false);
    vars(nc, STRIDED, client_deal(deal(STRIDED, 0), 1, 2, 3), true, false);
    MUST(!ncmpi_end_indep_data(nc));
    varm(nc, MAPPED, split(MAPPED, 1), true);
    varn(nc, LISTED, deal(LISTED, 0), true);
    gaps(nc, LOOSE, split(LOOSE, 0), true);
    write_queued(nc);
    MUST(!ncmpi_sync(nc));
    write_filled(nc);
    write_late(nc);
    MUST(!ncmpi_close(nc));
}

/* Each variable by other parts than it was written. */
int64_t client_read(const char *path)
{
    int nc;
    MUST(!ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &nc));
    int64_t wrong = vara(nc, MARK, split(MARK, 0), false);
    wrong += vars(nc, ROWS, deal(ROWS, 1), false, true);
    wrong += varm(nc, MAPPED, client_deal(split(MAPPED, 0), 1, 0, 2), false);
    wrong += varn(nc, LISTED, split(LISTED, 1), false);
    wrong += gaps(nc, LOOSE, split(LOOSE, 1), false);
    MUST(!ncmpi_begin_indep_data(nc));
    wrong += vars(nc, STRIDED, split(STRIDED, 1), false, false);
    MUST(!ncmpi_end_indep_data(nc));
    wrong += read_queued(nc);
    wrong += vara(nc, LATE, split(LATE, 0), false);
    MUST(!ncmpi_close(nc));
    return wrong;
}
