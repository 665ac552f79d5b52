/* Data representations whose functions are Fortran's: they take everything by reference, and MPICH
 * passes them on as if they were C's. So this library has gfortran's names of MPI_Register_datarep,
 * in mpif.h and `use mpi`, and in `use mpi_f08`. */
#include <dlfcn.h>
#include <string.h>

#include "base/arith.h"
#include "front/mpiio/mpi_file.h"

typedef void conversion(void *user, MPI_Fint *type, MPI_Fint *count, void *file,
                        MPI_Offset *position, MPI_Aint *state, MPI_Fint *error);
typedef void measure(MPI_Fint *type, MPI_Aint *extent, MPI_Aint *state, MPI_Fint *error);

/* What was registered; lasts as long as the program, as a representation does. */
typedef struct trio {
    conversion *read, *write;
    measure *extent;
    MPI_Aint state;
} trio;

static int read_by(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position,
                   void *state)
{
    trio *t = state;
    MPI_Fint number = PMPI_Type_c2f(type), items = count, error = MPI_SUCCESS;
    t->read(user, &number, &items, file, &position, &t->state, &error);
    return error;
}

static int write_by(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position,
                    void *state)
{
    trio *t = state;
    MPI_Fint number = PMPI_Type_c2f(type), items = count, error = MPI_SUCCESS;
    t->write(user, &number, &items, file, &position, &t->state, &error);
    return error;
}

static int extent_by(MPI_Datatype type, MPI_Aint *extent, void *state)
{
    trio *t = state;
    MPI_Fint number = PMPI_Type_c2f(type), error = MPI_SUCCESS;
    t->extent(&number, extent, &t->state, &error);
    return error;
}

/* Fortran's MPI_CONVERSION_FN_NULL is a function. */
static bool is_null(conversion *function)
{
    void *null = dlsym(RTLD_DEFAULT, "mpi_conversion_fn_null_");
    return !function || (null && null == *(void **)(void *)&function);
}

static int register_trio(const char *name, size_t length, const trio *given)
{
    char text[MPI_MAX_DATAREP_STRING + 2] = ""; /* one that is too long stays too long */
    while (length && name[length - 1] == ' ')
        length--;
    memcpy(text, name, (size_t)wr_min((int64_t)length, MPI_MAX_DATAREP_STRING + 1));
    trio *t = wr_alloc(sizeof *t);
    if (!t)
        return wr_mpi_file_result(NULL, WEIR_ENOMEM);
    *t = *given;
    int result =
        PMPI_Register_datarep(text, is_null(t->read) ? MPI_CONVERSION_FN_NULL : read_by,
                              is_null(t->write) ? MPI_CONVERSION_FN_NULL : write_by, extent_by, t);
    if (result != MPI_SUCCESS)
        wr_free(t);
    return result;
}

/* Fortran adds the length of the name at the end. */
#define REGISTER(name_of_it)                                                                       \
    WR_EXPORT void name_of_it(const char *name, conversion *read, conversion *write,               \
                              measure *extent, const MPI_Aint *state, MPI_Fint *result,            \
                              size_t length);                                                      \
    void name_of_it(const char *name, conversion *read, conversion *write, measure *extent,        \
                    const MPI_Aint *state, MPI_Fint *result, size_t length)                        \
    {                                                                                              \
        int done = register_trio(name, length, &(trio){read, write, extent, *state});              \
        if (result)                                                                                \
            *result = done;                                                                        \
    }

/* NOLINTNEXTLINE(readability-function-size): as Fortran calls it */
REGISTER(mpi_register_datarep_)
/* NOLINTNEXTLINE(readability-function-size) */
REGISTER(mpi_register_datarep_f08_)
