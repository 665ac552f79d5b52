/* Makes an array of the DRA library one of the door's, of any size, in bands that fit in memory.
 * usage: mpirun -n RANKS dra_convert OLD NEW */
#include <dra.h>
#include <ga.h>
#include <macdecls.h>
#include <mpi.h>
#include <stdio.h>
#include <weir/dra.h>

enum { DIMENSIONS = 7, BAND = 1 << 22 }; /* elements in memory at a time */

static void stop_if(int code)
{
    if (code)
        fprintf(stderr, "%s\n", weir_dra_error()), GA_Error("convert", code);
}

int main(int argc, char **argv)
{
    int from, to, type, n, request, dims[DIMENSIONS], chunk[DIMENSIONS], lo[DIMENSIONS] = {0};
    dra_size_t shape[DIMENSIONS], typical[DIMENSIONS], dlo[DIMENSIONS], dhi[DIMENSIONS];
    char name[100], file[300];
    long row = 1;
    MPI_Init(&argc, &argv);
    GA_Initialize();
    MA_init(C_DBL, 100000, 100000);
    if (argc < 3)
        GA_Error("usage: dra_convert OLD NEW", 0);
    stop_if(DRA_Init(2, -1, -1, -1));
    stop_if(DRA_Open(argv[1], DRA_R, &from));
    stop_if(NDRA_Inquire(from, &type, &n, shape, name, file));
    for (int i = 0; i < n; i++) {
        typical[i] = chunk[i] = -1;
        dlo[i] = 0;
        dhi[i] = shape[i] - 1;
        dims[i] = (int)shape[i];
        row *= i ? shape[i] : 1;
    }
    stop_if(NDRA_Create(type, n, shape, name, argv[2], DRA_W, typical, &to));
    const long most = row < BAND ? BAND / row : 1;
    for (dlo[0] = 0; dlo[0] < shape[0]; dlo[0] += most) {
        int hi[DIMENSIONS];
        dhi[0] = dlo[0] + most < shape[0] ? dlo[0] + most - 1 : shape[0] - 1;
        dims[0] = (int)(dhi[0] - dlo[0]) + 1;
        for (int i = 0; i < n; i++)
            hi[i] = dims[i] - 1;
        int g_a = NGA_Create(type, n, dims, "band", chunk);
        stop_if(NDRA_Read_section(0, g_a, lo, hi, from, dlo, dhi, &request));
        stop_if(DRA_Wait(request));
        stop_if(NDRA_Write_section(0, g_a, lo, hi, to, dlo, dhi, &request));
        stop_if(DRA_Wait(request));
        GA_Destroy(g_a);
    }
    stop_if(DRA_Close(from));
    stop_if(DRA_Close(to));
    stop_if(DRA_Terminate());
    GA_Terminate();
    MPI_Finalize();
    return 0;
}
