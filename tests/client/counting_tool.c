/* A tool as profilers are: it defines MPI_ functions, counts, and calls the PMPI_ ones. */
#include <mpi.h>
#include <stdio.h>

enum { OPEN, WRITE_AT, READ_AT_ALL, IWRITE_AT, IWRITE_ALL, WRITE_ORDERED, CLOSE, KINDS };

static const char *const names[KINDS] = {"open",       "write_at",      "read_at_all", "iwrite_at",
                                         "iwrite_all", "write_ordered", "close"};
static long counts[KINDS];

#define TOOL __attribute__((visibility("default")))

TOOL int MPI_File_open(MPI_Comm comm, const char *name, int amode, MPI_Info info, MPI_File *fh)
{
    counts[OPEN]++;
    return PMPI_File_open(comm, name, amode, info, fh);
}

TOOL int MPI_File_write_at(MPI_File fh, MPI_Offset at, const void *buffer, int count,
                           MPI_Datatype type, MPI_Status *status)
{
    counts[WRITE_AT]++;
    return PMPI_File_write_at(fh, at, buffer, count, type, status);
}

TOOL int MPI_File_read_at_all(MPI_File fh, MPI_Offset at, void *buffer, int count,
                              MPI_Datatype type, MPI_Status *status)
{
    counts[READ_AT_ALL]++;
    return PMPI_File_read_at_all(fh, at, buffer, count, type, status);
}

TOOL int MPI_File_iwrite_at(MPI_File fh, MPI_Offset at, const void *buffer, int count,
                            MPI_Datatype type, MPI_Request *request)
{
    counts[IWRITE_AT]++;
    return PMPI_File_iwrite_at(fh, at, buffer, count, type, request);
}

TOOL int MPI_File_iwrite_all(MPI_File fh, const void *buffer, int count, MPI_Datatype type,
                             MPI_Request *request)
{
    counts[IWRITE_ALL]++;
    return PMPI_File_iwrite_all(fh, buffer, count, type, request);
}

TOOL int MPI_File_write_ordered(MPI_File fh, const void *buffer, int count, MPI_Datatype type,
                                MPI_Status *status)
{
    counts[WRITE_ORDERED]++;
    return PMPI_File_write_ordered(fh, buffer, count, type, status);
}

TOOL int MPI_File_close(MPI_File *fh)
{
    counts[CLOSE]++;
    return PMPI_File_close(fh);
}

TOOL int MPI_Finalize(void)
{
    long all[KINDS];
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Reduce(counts, all, KINDS, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("tool:");
        for (int i = 0; i < KINDS; i++)
            printf(" %s %ld", names[i], all[i]);
        printf("\n");
    }
    return PMPI_Finalize();
}
