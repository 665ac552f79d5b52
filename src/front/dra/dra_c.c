/* The C names of the interface: indices are those of dra_state.h, but for ranges that include their
 * ends. */
#include <dra.h>
#include <stdio.h>
#include <string.h>

#include "dra_state.h"

/* NOLINTBEGIN(readability-function-size): as programs of Global Arrays call them */

int NDRA_Create_config(int type, int ndim, dra_size_t dims[], char *name, char *filename, int mode,
                       dra_size_t reqdims[], int numfiles, int ioprocs, int *d_a);
int DRA_uses_fapi(void);
int DRA_Terminate(void);
void DRA_Flick(void);

int DRA_Init(int max_arrays, double max_array_size, double total_disk_space, double max_memory)
{
    const double limits[] = {max_array_size, total_disk_space, max_memory};
    return wr_dra_leave(wr_dra_begin(max_arrays, limits));
}

int DRA_Terminate(void)
{
    return wr_dra_leave(wr_dra_end());
}

int NDRA_Create_config(int type, int ndim, dra_size_t dims[], char *name, char *filename, int mode,
                       dra_size_t reqdims[], int numfiles, int ioprocs, int *d_a)
{
    wr_dra_order order = {.ga_type = type,
                          .dimensions = ndim,
                          .name = name,
                          .file = filename,
                          .mode = mode,
                          .files = numfiles > 0 ? numfiles : wr_dra_state.files,
                          .io_ranks = ioprocs > 0 ? ioprocs : wr_dra_state.io_ranks};
    for (int i = 0; i < ndim && i < WR_DRA_DIMENSIONS; i++) {
        order.shape[i] = dims[i];
        order.request[i] = reqdims[i];
    }
    return wr_dra_leave(wr_dra_create(&order, d_a));
}

int NDRA_Create(int type, int ndim, dra_size_t dims[], char *name, char *filename, int mode,
                dra_size_t reqdims[], int *d_a)
{
    return NDRA_Create_config(type, ndim, dims, name, filename, mode, reqdims, 0, 0, d_a);
}

int DRA_Open(char *filename, int mode, int *d_a)
{
    return wr_dra_leave(wr_dra_open(filename, mode, d_a));
}

int DRA_Close(int d_a)
{
    return wr_dra_leave(wr_dra_close(d_a));
}

int DRA_Delete(int d_a)
{
    return wr_dra_leave(wr_dra_delete(d_a));
}

int NDRA_Inquire(int d_a, int *type, int *ndim, dra_size_t dims[], char *name, char *filename)
{
    const wr_dra *a = wr_dra_find(d_a);
    if (!a)
        return wr_dra_leave(weir_error_last()->code);
    *type = a->ga_type;
    *ndim = a->dimensions;
    for (int i = 0; i < a->dimensions; i++)
        dims[i] = a->shape[i];
    memcpy(name, a->name, strlen(a->name) + 1);
    memcpy(filename, a->given, strlen(a->given) + 1);
    return 0;
}

static int transfer_whole(bool write, int g_a, int d_a, int *request)
{
    wr_dra_transfer t = {.write = write, .whole = true, .g_a = g_a, .d_a = d_a};
    return wr_dra_leave(wr_dra_start(&t, request));
}

int NDRA_Write(int g_a, int d_a, int *request)
{
    return transfer_whole(true, g_a, d_a, request);
}

int NDRA_Read(int g_a, int d_a, int *request)
{
    return transfer_whole(false, g_a, d_a, request);
}

/* As many indices as each array has dimensions; without an array none: the call fails. */
static void set_boxes(wr_dra_transfer *t, const int *glo, const int *ghi, const dra_size_t *dlo,
                      const dra_size_t *dhi)
{
    const wr_dra *a = wr_dra_find(t->d_a);
    const int global = wr_dra_global_dimensions(t->g_a);
    for (int i = 0; i < global && i < WR_DRA_DIMENSIONS; i++) {
        t->global.lo[i] = glo[i];
        t->global.hi[i] = (int64_t)ghi[i] + 1;
    }
    for (int i = 0; a && i < a->dimensions; i++) {
        t->disk.lo[i] = dlo[i];
        t->disk.hi[i] = dhi[i] + 1;
    }
}

int NDRA_Write_section(logical transp, int g_a, int glo[], int ghi[], int d_a, dra_size_t dlo[],
                       dra_size_t dhi[], int *request)
{
    wr_dra_transfer t = {.write = true, .transposed = transp != 0, .g_a = g_a, .d_a = d_a};
    set_boxes(&t, glo, ghi, dlo, dhi);
    return wr_dra_leave(wr_dra_start(&t, request));
}

int NDRA_Read_section(logical transp, int g_a, int glo[], int ghi[], int d_a, dra_size_t dlo[],
                      dra_size_t dhi[], int *request)
{
    wr_dra_transfer t = {.transposed = transp != 0, .g_a = g_a, .d_a = d_a};
    set_boxes(&t, glo, ghi, dlo, dhi);
    return wr_dra_leave(wr_dra_start(&t, request));
}

int DRA_Wait(int request)
{
    return wr_dra_leave(wr_dra_wait(request));
}

/* -1 is done and 0 is not: what the DRA library does, whatever its documents say. */
int DRA_Probe(int request, int *compl_status)
{
    int done, code = wr_dra_probe(request, &done);
    *compl_status = done ? -1 : 0;
    return wr_dra_leave(code);
}

void DRA_Flick(void)
{
    wr_dra_flick();
}

void DRA_Set_default_config(int numfiles, int numioprocs)
{
    wr_dra_state.files = numfiles > 0 ? numfiles : 0;
    wr_dra_state.io_ranks = numioprocs > 0 ? numioprocs : 0;
}

void DRA_Set_debug(logical flag)
{
    (void)flag; /* the tunables `log` and `trace` are for that */
}

void DRA_Print_internals(int d_a)
{
    char line[512];
    const wr_dra *a = wr_dra_find(d_a);
    if (!a || wr_dra_state.rank)
        return;
    const weir_array_info *info = a->array ? weir_array_get_info(a->array) : NULL;
    snprintf(line, sizeof line, "%s: \"%s\", %s, %d dimensions, %s, %d local arrays", a->given,
             a->name, weir_type_name(a->type), a->dimensions,
             !info           ? "files of the DRA library"
             : info->columns ? "by columns"
                             : "by rows",
             info ? info->members : 0);
    weir_log("info", line);
}

int DRA_uses_fapi(void)
{
    return 0;
}

/* NOLINTEND(readability-function-size) */
