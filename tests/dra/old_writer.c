/* Writes disk resident arrays with GA's own library: this program is linked without the door.
 * usage: old_writer NAME DIMENSION... [-f FILES]
 * Element i, counted by rows, is i + 0.5. */
#include <dra.h>
#include <ga.h>
#include <macdecls.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIMENSIONS = 7 };

int NDRA_Create_config(int type, int ndim, dra_size_t dims[], char *name, char *filename, int mode,
                       dra_size_t reqdims[], int numfiles, int ioprocs, int *d_a);

static int make(int n, int *dims)
{
    int chunk[DIMENSIONS], lo[DIMENSIONS], hi[DIMENSIONS], ld[DIMENSIONS] = {1};
    long count = 1;
    for (int i = 0; i < n; i++) {
        chunk[i] = -1;
        lo[i] = 0;
        hi[i] = dims[i] - 1;
        if (i)
            ld[i - 1] = dims[i];
        count *= dims[i];
    }
    int g_a = NGA_Create(C_DBL, n, dims, "old", chunk);
    double *values = GA_Nodeid() == 0 ? malloc((size_t)count * sizeof *values) : NULL;
    for (long i = 0; values && i < count; i++)
        values[i] = (double)i + 0.5;
    if (values)
        NGA_Put(g_a, lo, hi, values, ld);
    free(values);
    GA_Sync();
    return g_a;
}

int main(int argc, char **argv)
{
    int dims[DIMENSIONS], n = 0, files = 1, d_a, request;
    dra_size_t shape[DIMENSIONS], typical[DIMENSIONS];
    MPI_Init(&argc, &argv);
    GA_Initialize();
    MA_init(C_DBL, 1000000, 1000000);
    for (int i = 2; i < argc; i++) {
        if (!strcmp(argv[i], "-f")) {
            files = atoi(argv[++i]);
        } else if (n < DIMENSIONS) {
            dims[n] = atoi(argv[i]);
            shape[n] = dims[n];
            typical[n] = dims[n] / 3 + 1; /* so that all dimensions are cut */
            n++;
        }
    }
    int g_a = make(n, dims), code = DRA_Init(4, -1, -1, -1);
    code += NDRA_Create_config(C_DBL, n, shape, "an old array", argv[1], DRA_RW, typical, files,
                               files, &d_a);
    code += NDRA_Write(g_a, d_a, &request);
    code += DRA_Wait(request);
    code += DRA_Close(d_a);
    GA_Destroy(g_a);
    DRA_Terminate();
    GA_Terminate();
    MPI_Finalize();
    return code != 0;
}
