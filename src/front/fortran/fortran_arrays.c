/* Arrays of a Fortran program: opening, creating, closing, and what is known of them. Arrays made
 * here are stored by columns where their format can: u(i, j) is next to u(i + 1, j), and is element
 * [i - 1, j - 1] for everybody else. */
#include <string.h>

#include "front/fortran/entries.h"

enum { TEXT = 4096 };

MPI_Comm wr_fortran_comm(MPI_Fint comm)
{
    int begun;
    MPI_Initialized(&begun);
    if (comm == weir_fortran_comm_null())
        return MPI_COMM_NULL;
    return begun ? MPI_Comm_f2c(comm)
                 : MPI_COMM_WORLD; /* of which the library says what is wrong */
}

/* --- opening --- */

static int parse_action(const CFI_cdesc_t *action, int *mode)
{
    char text[16];
    int code = wr_fortran_text(action, text, sizeof text);
    *mode = WEIR_READ;
    if (!code && (!strcmp(text, "readwrite") || !strcmp(text, "write")))
        *mode |= WEIR_WRITE;
    else if (!code && *text && strcmp(text, "read") != 0)
        code = wr_fortran_fail(WEIR_EINVAL, "action is '%s', not 'read' or 'readwrite'", text);
    return code;
}

/* A rank whose own arguments are wrong makes the call with some that are wrong for everybody, so
 * that no other waits for it, and returns its error. */
void weir_fortran_open(const MPI_Fint *comm, const CFI_cdesc_t *path, wr_fortran_array *array,
                       const CFI_cdesc_t *action, const CFI_cdesc_t *hints, int *ierr)
{
    char name[TEXT], tuned[TEXT];
    int mode = 0;
    *array = (wr_fortran_array){NULL, *comm};
    int wrong = wr_fortran_text(path, name, sizeof name);
    if (!wrong)
        wrong = wr_fortran_text(hints, tuned, sizeof tuned);
    if (!wrong)
        wrong = parse_action(action, &mode);
    const weir_error error = *weir_error_last();
    int code = weir_array_open(wr_fortran_comm(*comm), name, wrong ? 0 : mode,
                               hints && !wrong ? tuned : NULL, &array->handle);
    wr_fortran_end(wrong ? weir_error_raise(&error) : code, ierr, comm);
}

/* --- creating --- */

typedef struct creation {
    weir_array_info info;
    weir_array_options options;
    char path[TEXT], hints[TEXT], codec[256];
    int64_t tile[WEIR_MAX_DIMENSIONS], shard[WEIR_MAX_DIMENSIONS];
    char fill[16];
    MPI_Comm comm;
} creation;

static int take_shape(const CFI_cdesc_t *shape, weir_array_info *info)
{
    if (shape->dim[0].extent > WEIR_MAX_DIMENSIONS)
        return wr_fortran_fail(WEIR_EINVAL, "%lld dimensions, at most %d",
                               (long long)shape->dim[0].extent, WEIR_MAX_DIMENSIONS);
    info->dimensions = (int)shape->dim[0].extent;
    return wr_fortran_numbers(shape, "shape", info->dimensions, info->shape);
}

static int take_grid(const CFI_cdesc_t *grid, const CFI_cdesc_t *block, weir_array_info *info)
{
    int64_t places[WEIR_MAX_DIMENSIONS] = {0}, members = 1;
    int code = wr_fortran_numbers(grid, "grid", info->dimensions, places);
    if (!code)
        code = wr_fortran_numbers(block, "block", info->dimensions, info->distribution.block);
    for (int d = 0; grid && d < info->dimensions && !code; d++) {
        if (places[d] < 1 || __builtin_mul_overflow(members, places[d], &members) ||
            members > INT32_MAX)
            code = wr_fortran_fail(WEIR_EINVAL, "the grid has %lld places in dimension %d",
                                   (long long)places[d], d + 1);
        info->distribution.grid[d] = (int)places[d];
    }
    info->members = grid && !code ? (int)members : 0;
    return code;
}

static int take_tiles(creation *c, const CFI_cdesc_t *tile, const CFI_cdesc_t *shard,
                      const CFI_cdesc_t *codec)
{
    int code = wr_fortran_numbers(tile, "tile", c->info.dimensions, c->tile);
    if (!code)
        code = wr_fortran_numbers(shard, "shard", c->info.dimensions, c->shard);
    if (!code)
        code = wr_fortran_text(codec, c->codec, sizeof c->codec);
    c->info.tile = tile ? c->tile : NULL;
    c->info.shard = shard ? c->shard : NULL;
    c->info.codec = *c->codec ? c->codec : NULL;
    return code;
}

/* The name of a raw file tells how it is stored; others are by columns unless they cannot be. */
static int create(creation *c, const int *columns, int hinted, weir_array **out)
{
    const size_t length = strlen(c->path);
    const char *hints = hinted ? c->hints : NULL;
    c->info.columns = columns ? *columns != 0 : 1;
    if (!columns && !strncmp(c->path, "raw:", 4))
        c->info.columns = !strcmp(c->path + length - 2, ":F");
    int code = weir_array_create(c->comm, c->path, &c->info, &c->options, hints, out);
    if (code != WEIR_EUNSUPPORTED || columns || !c->info.columns)
        return code;
    c->info.columns = 0; /* NetCDF and HDF5 */
    return weir_array_create(c->comm, c->path, &c->info, &c->options, hints, out);
}

/* NOLINTNEXTLINE(readability-function-size): as Fortran calls it */
void weir_fortran_create(const MPI_Fint *comm, const CFI_cdesc_t *path, wr_fortran_array *array,
                         const CFI_cdesc_t *shape, const int *type, const CFI_cdesc_t *fill,
                         const int *overwrite, const int *columns, const CFI_cdesc_t *grid,
                         const CFI_cdesc_t *block, const CFI_cdesc_t *tile,
                         const CFI_cdesc_t *shard, const CFI_cdesc_t *codec, const int *format,
                         const wr_fortran_array *like, const CFI_cdesc_t *hints, int *ierr)
{
    creation c = {.info = {.type = *type, .format = format ? *format : 0},
                  .options = {.overwrite = overwrite && *overwrite},
                  .comm = wr_fortran_comm(*comm)};
    *array = (wr_fortran_array){NULL, *comm};
    int wrong = wr_fortran_text(path, c.path, sizeof c.path);
    if (!wrong)
        wrong = wr_fortran_text(hints, c.hints, sizeof c.hints);
    if (!wrong)
        wrong = take_shape(shape, &c.info);
    if (!wrong)
        wrong = take_grid(grid, block, &c.info);
    if (!wrong)
        wrong = take_tiles(&c, tile, shard, codec);
    if (!wrong && fill)
        wrong = wr_fortran_element(fill, *type, c.fill);
    if (!wrong && like)
        wrong = wr_fortran_check_open(like);
    c.options.fill = fill ? c.fill : NULL;
    c.options.like = like ? like->handle : NULL;
    const weir_error error = *weir_error_last();
    if (wrong)
        c.info = (weir_array_info){0}; /* as in opening */
    int code = create(&c, columns, hints && !wrong, &array->handle);
    wr_fortran_end(wrong ? weir_error_raise(&error) : code, ierr, comm);
}

void weir_fortran_remove(const MPI_Fint *comm, const CFI_cdesc_t *path, int *ierr)
{
    char name[TEXT];
    const int wrong = wr_fortran_text(path, name, sizeof name);
    const weir_error error = *weir_error_last();
    const int code = weir_array_remove(wr_fortran_comm(*comm), name);
    wr_fortran_end(wrong ? weir_error_raise(&error) : code, ierr, comm);
}

__typeof__(weir_fortran_open) weir_fortran_open_f08 __attribute__((alias("weir_fortran_open")));
__typeof__(weir_fortran_create) weir_fortran_create_f08
    __attribute__((alias("weir_fortran_create")));
__typeof__(weir_fortran_remove) weir_fortran_remove_f08
    __attribute__((alias("weir_fortran_remove")));

/* --- closing --- */

void weir_fortran_close(wr_fortran_array *array, int *ierr)
{
    int code = wr_fortran_check_open(array);
    if (!code)
        code = weir_array_close(array->handle);
    array->handle = NULL;
    wr_fortran_end(code, ierr, &array->comm);
}

void weir_fortran_discard(wr_fortran_array *array, int *ierr)
{
    int code = wr_fortran_check_open(array);
    if (!code)
        code = weir_array_discard(array->handle);
    array->handle = NULL;
    wr_fortran_end(code, ierr, &array->comm);
}

void weir_fortran_sync(const wr_fortran_array *array, int *ierr)
{
    const int code = wr_fortran_check_open(array);
    wr_fortran_end(code ? code : weir_array_sync(array->handle), ierr, &array->comm);
}

/* --- asking --- */

static void set(int *to, int value)
{
    if (to)
        *to = value;
}

/* NOLINTNEXTLINE(readability-function-size): as Fortran calls it */
void weir_fortran_inquire(const wr_fortran_array *array, int *rank, const CFI_cdesc_t *shape,
                          int *type, int *columns, int64_t *bytes, int *format, int *members,
                          int *ierr)
{
    int code = wr_fortran_check_open(array);
    if (!code) {
        const weir_array_info *info = weir_array_get_info(array->handle);
        code = wr_fortran_give(shape, "shape", info->dimensions, info->shape);
        set(rank, info->dimensions);
        set(type, info->type);
        set(columns, info->columns);
        set(format, info->format);
        set(members, info->members);
        if (bytes)
            *bytes = info->bytes;
    }
    wr_fortran_end(code, ierr, NULL);
}

int weir_fortran_type_of(const CFI_cdesc_t *u)
{
    return wr_fortran_type(u);
}

const char *weir_fortran_said(const wr_fortran_array *array, int what)
{
    if (!array->handle)
        return "";
    return what == 0   ? weir_array_where(array->handle)
           : what == 1 ? weir_array_attributes(array->handle)
                       : weir_array_names(array->handle);
}
