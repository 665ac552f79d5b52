/* Reads, through the door, what old_writer wrote without it, and converts it.
 * usage: dra_old_check NAME DIMENSION... */
#include <dra.h>
#include <ga.h>
#include <macdecls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "dra/dra_support.h"
#include "weir/error.h"

enum { DIMENSIONS = 7 };

static int n, dims[DIMENSIONS];
static dra_size_t shape[DIMENSIONS];
static long count = 1;

static int make(int dimensions, int *extent)
{
    int chunk[DIMENSIONS];
    for (int i = 0; i < dimensions; i++)
        chunk[i] = -1;
    int g_a = NGA_Create(C_DBL, dimensions, extent, "new", chunk);
    GA_Zero(g_a);
    return g_a;
}

/* A box of a global array, on every rank; to be freed. */
static double *get(int g_a, int dimensions, int *lo, int *hi)
{
    int ld[DIMENSIONS] = {1};
    long all = 1;
    for (int i = 0; i < dimensions; i++) {
        all *= hi[i] - lo[i] + 1;
        if (i)
            ld[i - 1] = hi[i] - lo[i] + 1;
    }
    double *values = malloc((size_t)all * sizeof *values);
    CHECK(values != NULL);
    NGA_Get(g_a, lo, hi, values, ld);
    return values;
}

static void check_whole(char *name)
{
    int d_a, request, type, found, lo[DIMENSIONS] = {0}, hi[DIMENSIONS];
    dra_size_t got[DIMENSIONS];
    char title[100], file[300];
    for (int i = 0; i < n; i++)
        hi[i] = dims[i] - 1;
    DRA_OK(DRA_Open(name, DRA_R, &d_a));
    DRA_OK(NDRA_Inquire(d_a, &type, &found, got, title, file));
    CHECK_EQUAL(type, C_DBL);
    CHECK_EQUAL(found, n);
    CHECK(!strcmp(title, "an old array"));
    for (int i = 0; i < n; i++)
        CHECK_EQUAL(got[i], dims[i]);
    int g_a = make(n, dims);
    DRA_OK(NDRA_Read(g_a, d_a, &request));
    DRA_OK(DRA_Wait(request));
    double *values = get(g_a, n, lo, hi);
    for (long i = 0; i < count; i++)
        CHECK(values[i] == (double)i + 0.5);
    free(values);
    GA_Destroy(g_a);
    DRA_OK(DRA_Close(d_a));
}

static double value_at(const long *index)
{
    long at = 0;
    for (int i = 0; i < n; i++)
        at = at * dims[i] + index[i];
    return (double)at + 0.5;
}

/* The inner part of the array, transposed or as one dimension. */
static void check_section(char *name, int transposed)
{
    int d_a, request, extent[DIMENSIONS], lo[DIMENSIONS] = {0}, hi[DIMENSIONS];
    dra_size_t dlo[DIMENSIONS], dhi[DIMENSIONS];
    long all = 1, index[DIMENSIONS];
    for (int i = 0; i < n; i++) {
        dlo[i] = dims[i] > 4 ? 1 : 0;
        dhi[i] = dims[i] > 4 ? dims[i] - 3 : dims[i] - 1;
        extent[n - 1 - i] = (int)(dhi[i] - dlo[i]) + 1;
        hi[n - 1 - i] = extent[n - 1 - i] - 1;
        all *= extent[n - 1 - i];
    }
    const int m = transposed ? n : 1;
    if (!transposed) {
        extent[0] = (int)all;
        hi[0] = extent[0] - 1;
    }
    int g_a = make(m, extent);
    DRA_OK(DRA_Open(name, DRA_R, &d_a));
    DRA_OK(NDRA_Read_section(transposed, g_a, lo, hi, d_a, dlo, dhi, &request));
    DRA_OK(DRA_Wait(request));
    double *values = get(g_a, m, lo, hi);
    for (long k = 0; k < all; k++) {
        long rest = k;
        for (int j = 0; j < n; j++) { /* the fastest first */
            const int i = transposed ? j : n - 1 - j;
            const long many = dhi[i] - dlo[i] + 1;
            index[i] = dlo[i] + rest % many;
            rest /= many;
        }
        CHECK(values[k] == value_at(index));
    }
    free(values);
    GA_Destroy(g_a);
    DRA_OK(DRA_Close(d_a));
}

/* Through memory, and in place of the old one. */
static void convert(char *name)
{
    int from, to, request, g_a = make(n, dims);
    char info[300];
    snprintf(info, sizeof info, "%s.info", name);
    const int old = access(info, F_OK) == 0;
    DRA_OK(DRA_Open(name, DRA_R, &from));
    DRA_OK(NDRA_Read(g_a, from, &request));
    DRA_OK(DRA_Wait(request));
    DRA_OK(DRA_Close(from));
    DRA_OK(NDRA_Create(C_DBL, n, shape, "an old array", name, DRA_RW, shape, &to));
    DRA_OK(NDRA_Write(g_a, to, &request));
    DRA_OK(DRA_Wait(request));
    CHECK_EQUAL(access(info, F_OK) == 0, old); /* the old one stays until the new one is whole */
    GA_Sync();
    DRA_OK(DRA_Close(to));
    CHECK(access(info, F_OK) != 0);
    GA_Destroy(g_a);
    check_whole(name);
}

int main(int argc, char **argv)
{
    int d_a;
    dra_begin(&argc, &argv);
    for (int i = 2; i < argc && n < DIMENSIONS; i++) {
        shape[n] = dims[n] = atoi(argv[i]);
        count *= dims[n++];
    }
    check_within(60);
    DRA_OK(DRA_Init(4, -1, -1, -1));
    check_whole(argv[1]);
    check_section(argv[1], 1);
    check_section(argv[1], 0);
    convert(argv[1]);
    DRA_OK(DRA_Open(argv[1], DRA_RW, &d_a));
    DRA_OK(DRA_Delete(d_a));
    DRA_FAILS(DRA_Open(argv[1], DRA_RW, &d_a), WEIR_ENOENT, argv[1]);
    DRA_OK(DRA_Terminate());
    check_within(0);
    dra_end();
    return 0;
}
