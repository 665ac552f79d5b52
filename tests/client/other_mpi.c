#include "other_mpi.h"

#include <string.h>

#define BOTH_NAMES(name) __attribute__((alias("PMPI_" #name))) __typeof__(PMPI_##name) MPI_##name;

int PMPI_Init(int *argc, char ***argv);
int PMPI_Get_library_version(char *text, int *length);
int PMPI_Comm_rank(int64_t comm, int *rank);
__typeof__(MPI_File_open) PMPI_File_open;
__typeof__(MPI_File_write_at) PMPI_File_write_at;
__typeof__(MPI_File_f2c) PMPI_File_f2c;
__typeof__(MPI_Wait) PMPI_Wait;

int PMPI_Init(int *argc, char ***argv)
{
    return !argc || !argv;
}
BOTH_NAMES(Init)

int PMPI_Get_library_version(char *text, int *length)
{
    strcpy(text, "Some Other 1.0");
    *length = (int)strlen(text);
    return 0;
}

int PMPI_Comm_rank(int64_t comm, int *rank)
{
    *rank = comm == OTHER_COMM ? 0 : 1;
    return 0;
}

int PMPI_File_open(int64_t comm, const char *name, int amode, int64_t info, int64_t *fh)
{
    *fh = OTHER_FILE;
    return comm == OTHER_COMM && !strcmp(name, "name") && amode == -5 && info == OTHER_NULL ? OPENED
                                                                                            : 1;
}
BOTH_NAMES(File_open)

int PMPI_File_write_at(int64_t fh, int64_t offset, const void *data, int count, int64_t type,
                       void *status)
{
    return fh == OTHER_FILE && offset == INT64_MAX && !strcmp(data, "data") && count == -7 &&
                   type == INT64_MIN && !status
               ? WRITTEN
               : 1;
}
BOTH_NAMES(File_write_at)

int64_t PMPI_File_f2c(int number)
{
    return number == -3 ? OTHER_FILE : 0;
}
BOTH_NAMES(File_f2c)

int PMPI_Wait(int64_t *request, void *status)
{
    return *request == OTHER_FILE && !status ? WAITED : 1;
}
BOTH_NAMES(Wait)

void mpi_register_datarep_ OTHER_DATAREP
{
    *result = !strcmp(name, "rep") && !read && !write && !extent && *state == 5 && length == 3
                  ? REGISTERED
                  : 1;
}
