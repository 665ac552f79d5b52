/* A program of another MPI: through the door it gets what that MPI gives it. */
#include <stdio.h>

#include "other_mpi.h"

#define CHECK(truth)                                                                               \
    do {                                                                                           \
        if (!(truth))                                                                              \
            return printf("line %d: not true: %s\n", __LINE__, #truth), 1;                         \
    } while (0)

int main(int argc, char **argv)
{
    int64_t file = 0, state = 5;
    int result = 0;
    CHECK(MPI_Init(&argc, &argv) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(MPI_File_open(OTHER_COMM, "name", -5, OTHER_NULL, &file) == OPENED);
    CHECK(file == OTHER_FILE);
    CHECK(MPI_File_write_at(file, INT64_MAX, "data", -7, INT64_MIN, NULL) == WRITTEN);
    CHECK(MPI_File_f2c(-3) == OTHER_FILE);
    CHECK(MPI_Wait(&file, NULL) == WAITED);
    mpi_register_datarep_("rep", NULL, NULL, NULL, &state, &result, 3);
    CHECK(result == REGISTERED);
    return puts("served") < 0;
}
