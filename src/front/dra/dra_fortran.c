/* The Fortran names of the interface: integers of 8 bytes by reference, lengths of texts behind the
 * arguments, dimensions the other way round, ranges from 1 that include their ends. */
#include <string.h>

#include "dra_state.h"

/* NOLINTBEGIN(readability-function-size): as programs of Global Arrays call them */

typedef long integer;

void dra_flick_(void);
integer dra_init_(integer *arrays, double *array_size, double *disk, double *memory);
integer dra_terminate_(void);
integer dra_create_(integer *type, integer *dim1, integer *dim2, char *name, char *file,
                    integer *mode, integer *request1, integer *request2, integer *d_a,
                    size_t name_length, size_t file_length);
integer ndra_create_(integer *type, integer *ndim, integer *dims, char *name, char *file,
                     integer *mode, integer *request, integer *d_a, size_t name_length,
                     size_t file_length);
integer ndra_create_config_(integer *type, integer *ndim, integer *dims, char *name, char *file,
                            integer *mode, integer *request, integer *files, integer *io_ranks,
                            integer *d_a, size_t name_length, size_t file_length);
integer dra_open_(char *file, integer *mode, integer *d_a, size_t file_length);
integer dra_close_(integer *d_a);
integer dra_delete_(integer *d_a);
integer dra_inquire_(integer *d_a, integer *type, integer *dim1, integer *dim2, char *name,
                     char *file, size_t name_length, size_t file_length);
integer ndra_inquire_(integer *d_a, integer *type, integer *ndim, integer *dims, char *name,
                      char *file, size_t name_length, size_t file_length);
integer dra_write_(integer *g_a, integer *d_a, integer *request);
integer dra_read_(integer *g_a, integer *d_a, integer *request);
integer ndra_write_(integer *g_a, integer *d_a, integer *request);
integer ndra_read_(integer *g_a, integer *d_a, integer *request);
integer dra_write_section_(integer *transposed, integer *g_a, integer *gilo, integer *gihi,
                           integer *gjlo, integer *gjhi, integer *d_a, integer *dilo, integer *dihi,
                           integer *djlo, integer *djhi, integer *request);
integer dra_read_section_(integer *transposed, integer *g_a, integer *gilo, integer *gihi,
                          integer *gjlo, integer *gjhi, integer *d_a, integer *dilo, integer *dihi,
                          integer *djlo, integer *djhi, integer *request);
integer ndra_write_section_(integer *transposed, integer *g_a, integer *glo, integer *ghi,
                            integer *d_a, integer *dlo, integer *dhi, integer *request);
integer ndra_read_section_(integer *transposed, integer *g_a, integer *glo, integer *ghi,
                           integer *d_a, integer *dlo, integer *dhi, integer *request);
integer dra_wait_(integer *request);
integer dra_probe_(integer *request, integer *status);
void dra_set_debug_(integer *flag);
void dra_print_internals_(integer *d_a);
void dra_set_default_config_(integer *files, integer *io_ranks);
void dra_set_mode_(integer *mode);

int DRA_Probe(int request, int *compl_status);
void DRA_Print_internals(int d_a);
void DRA_Set_default_config(int numfiles, int numioprocs);

/* --- texts --- */

/* Without the blanks at its end; what is too long is refused further on. */
static void take_text(const char *text, size_t length, char *out, size_t room)
{
    while (length && (text[length - 1] == ' ' || !text[length - 1]))
        length--;
    length = length < room ? length : room - 1;
    memcpy(out, text, length);
    out[length] = 0;
}

static void give_text(const char *text, char *out, size_t length)
{
    size_t have = strlen(text);
    have = have < length ? have : length;
    memcpy(out, text, have);
    memset(out + have, ' ', length - have);
}

/* --- starting, creating, opening, closing --- */

integer dra_init_(integer *arrays, double *array_size, double *disk, double *memory)
{
    const double limits[] = {*array_size, *disk, *memory};
    return wr_dra_leave(wr_dra_begin((int)*arrays, limits));
}

integer dra_terminate_(void)
{
    return wr_dra_leave(wr_dra_end());
}

/* Dimensions come in Fortran's order. */
static integer create(wr_dra_order *order, const integer *dims, const integer *request,
                      integer *d_a)
{
    int handle = 0;
    for (int i = 0; i < order->dimensions && i < WR_DRA_DIMENSIONS; i++) {
        order->shape[i] = dims[order->dimensions - 1 - i];
        order->request[i] = request[order->dimensions - 1 - i];
    }
    int code = wr_dra_leave(wr_dra_create(order, &handle));
    if (!code)
        *d_a = handle;
    return code;
}

/* Room for one character more than may be, so that too long a text is seen. */
typedef struct texts {
    char name[WR_DRA_NAME + 2], file[WR_DRA_FILE + 2];
} texts;

integer ndra_create_config_(integer *type, integer *ndim, integer *dims, char *name, char *file,
                            integer *mode, integer *request, integer *files, integer *io_ranks,
                            integer *d_a, size_t name_length, size_t file_length)
{
    texts t;
    take_text(name, name_length, t.name, sizeof t.name);
    take_text(file, file_length, t.file, sizeof t.file);
    wr_dra_order order = {.ga_type = (int)*type,
                          .dimensions = (int)*ndim,
                          .name = t.name,
                          .file = t.file,
                          .mode = (int)*mode,
                          .files = *files > 0 ? (int)*files : wr_dra_state.files,
                          .io_ranks = *io_ranks > 0 ? (int)*io_ranks : wr_dra_state.io_ranks};
    return create(&order, dims, request, d_a);
}

integer ndra_create_(integer *type, integer *ndim, integer *dims, char *name, char *file,
                     integer *mode, integer *request, integer *d_a, size_t name_length,
                     size_t file_length)
{
    integer none = 0;
    return ndra_create_config_(type, ndim, dims, name, file, mode, request, &none, &none, d_a,
                               name_length, file_length);
}

integer dra_create_(integer *type, integer *dim1, integer *dim2, char *name, char *file,
                    integer *mode, integer *request1, integer *request2, integer *d_a,
                    size_t name_length, size_t file_length)
{
    integer two = 2, dims[] = {*dim1, *dim2}, request[] = {*request1, *request2};
    return ndra_create_(type, &two, dims, name, file, mode, request, d_a, name_length, file_length);
}

integer dra_open_(char *file, integer *mode, integer *d_a, size_t file_length)
{
    texts t;
    int handle = 0;
    take_text(file, file_length, t.file, sizeof t.file);
    int code = wr_dra_leave(wr_dra_open(t.file, (int)*mode, &handle));
    if (!code)
        *d_a = handle;
    return code;
}

integer dra_close_(integer *d_a)
{
    int code = wr_dra_leave(wr_dra_close((int)*d_a));
    *d_a = 0;
    return code;
}

integer dra_delete_(integer *d_a)
{
    int code = wr_dra_leave(wr_dra_delete((int)*d_a));
    *d_a = 0;
    return code;
}

integer ndra_inquire_(integer *d_a, integer *type, integer *ndim, integer *dims, char *name,
                      char *file, size_t name_length, size_t file_length)
{
    const wr_dra *a = wr_dra_find((int)*d_a);
    if (!a)
        return wr_dra_leave(weir_error_last()->code);
    *type = wr_dra_fortran_type(a->ga_type);
    *ndim = a->dimensions;
    for (int i = 0; i < a->dimensions; i++)
        dims[i] = a->shape[a->dimensions - 1 - i];
    give_text(a->name, name, name_length);
    give_text(a->given, file, file_length);
    return 0;
}

integer dra_inquire_(integer *d_a, integer *type, integer *dim1, integer *dim2, char *name,
                     char *file, size_t name_length, size_t file_length)
{
    integer dimensions, dims[WR_DRA_DIMENSIONS] = {1, 1};
    integer code =
        ndra_inquire_(d_a, type, &dimensions, dims, name, file, name_length, file_length);
    if (!code) {
        *dim1 = dims[0];
        *dim2 = dims[1];
    }
    return code;
}

/* --- transfers --- */

static integer start(wr_dra_transfer *t, integer *request)
{
    int id = WR_DRA_INVALID;
    int code = wr_dra_leave(wr_dra_start(t, &id));
    *request = id;
    return code;
}

static integer start_whole(bool write, const integer *g_a, const integer *d_a, integer *request)
{
    wr_dra_transfer t = {.write = write, .whole = true, .g_a = (int)*g_a, .d_a = (int)*d_a};
    return start(&t, request);
}

static void set_box(int dimensions, const integer *lo, const integer *hi, wr_dra_box *out)
{
    for (int i = 0; i < dimensions; i++) {
        out->lo[i] = lo[dimensions - 1 - i] - 1;
        out->hi[i] = hi[dimensions - 1 - i];
    }
}

integer dra_write_(integer *g_a, integer *d_a, integer *request)
{
    return start_whole(true, g_a, d_a, request);
}

integer dra_read_(integer *g_a, integer *d_a, integer *request)
{
    return start_whole(false, g_a, d_a, request);
}

integer ndra_write_(integer *g_a, integer *d_a, integer *request)
{
    return start_whole(true, g_a, d_a, request);
}

integer ndra_read_(integer *g_a, integer *d_a, integer *request)
{
    return start_whole(false, g_a, d_a, request);
}

integer dra_write_section_(integer *transposed, integer *g_a, integer *gilo, integer *gihi,
                           integer *gjlo, integer *gjhi, integer *d_a, integer *dilo, integer *dihi,
                           integer *djlo, integer *djhi, integer *request)
{
    integer glo[] = {*gilo, *gjlo}, ghi[] = {*gihi, *gjhi};
    integer dlo[] = {*dilo, *djlo}, dhi[] = {*dihi, *djhi};
    wr_dra_transfer t = {
        .write = true, .transposed = *transposed != 0, .g_a = (int)*g_a, .d_a = (int)*d_a};
    set_box(2, glo, ghi, &t.global);
    set_box(2, dlo, dhi, &t.disk);
    return start(&t, request);
}

integer dra_read_section_(integer *transposed, integer *g_a, integer *gilo, integer *gihi,
                          integer *gjlo, integer *gjhi, integer *d_a, integer *dilo, integer *dihi,
                          integer *djlo, integer *djhi, integer *request)
{
    integer glo[] = {*gilo, *gjlo}, ghi[] = {*gihi, *gjhi};
    integer dlo[] = {*dilo, *djlo}, dhi[] = {*dihi, *djhi};
    wr_dra_transfer t = {.transposed = *transposed != 0, .g_a = (int)*g_a, .d_a = (int)*d_a};
    set_box(2, glo, ghi, &t.global);
    set_box(2, dlo, dhi, &t.disk);
    return start(&t, request);
}

static void set_boxes(wr_dra_transfer *t, const integer *glo, const integer *ghi,
                      const integer *dlo, const integer *dhi)
{
    const wr_dra *a = wr_dra_find(t->d_a);
    const int global = wr_dra_global_dimensions(t->g_a);
    if (global <= WR_DRA_DIMENSIONS)
        set_box(global, glo, ghi, &t->global);
    if (a)
        set_box(a->dimensions, dlo, dhi, &t->disk);
}

integer ndra_write_section_(integer *transposed, integer *g_a, integer *glo, integer *ghi,
                            integer *d_a, integer *dlo, integer *dhi, integer *request)
{
    wr_dra_transfer t = {
        .write = true, .transposed = *transposed != 0, .g_a = (int)*g_a, .d_a = (int)*d_a};
    set_boxes(&t, glo, ghi, dlo, dhi);
    return start(&t, request);
}

integer ndra_read_section_(integer *transposed, integer *g_a, integer *glo, integer *ghi,
                           integer *d_a, integer *dlo, integer *dhi, integer *request)
{
    wr_dra_transfer t = {.transposed = *transposed != 0, .g_a = (int)*g_a, .d_a = (int)*d_a};
    set_boxes(&t, glo, ghi, dlo, dhi);
    return start(&t, request);
}

integer dra_wait_(integer *request)
{
    return wr_dra_leave(wr_dra_wait((int)*request));
}

integer dra_probe_(integer *request, integer *status)
{
    int done;
    integer code = DRA_Probe((int)*request, &done);
    *status = done;
    return code;
}

void dra_flick_(void)
{
    wr_dra_flick();
}

void dra_set_debug_(integer *flag)
{
    (void)flag;
}

void dra_print_internals_(integer *d_a)
{
    DRA_Print_internals((int)*d_a);
}

void dra_set_default_config_(integer *files, integer *io_ranks)
{
    DRA_Set_default_config((int)*files, (int)*io_ranks);
}

/* Empty in the DRA library, too. */
void dra_set_mode_(integer *mode)
{
    (void)mode;
}

/* NOLINTEND(readability-function-size) */
