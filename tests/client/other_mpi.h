/* A few functions of an MPI that is neither of those the door is for: its handles are 64-bit
 * numbers. Each returns a number of its own if it got the arguments of other_client.c, otherwise 1.
 */
#ifndef WR_TESTS_OTHER_MPI_H
#define WR_TESTS_OTHER_MPI_H

#include <stdint.h>

#define OTHER_COMM INT64_C(0x123456789abcdef0)
#define OTHER_FILE INT64_C(0x0fedcba987654321)
#define OTHER_NULL INT64_C(-1)

enum { OPENED = 1001, WRITTEN, WAITED, REGISTERED };

int MPI_Init(int *argc, char ***argv);
int MPI_File_open(int64_t comm, const char *name, int amode, int64_t info, int64_t *fh);
int MPI_File_write_at(int64_t fh, int64_t offset, const void *data, int count, int64_t type,
                      void *status);
int64_t MPI_File_f2c(int number);
int MPI_Wait(int64_t *request, void *status);

/* As Fortran calls it. */
#define OTHER_DATAREP                                                                              \
    (const char *name, void *read, void *write, void *extent, int64_t *state, int *result,         \
     int64_t length)
void mpi_register_datarep_ OTHER_DATAREP;

#endif
