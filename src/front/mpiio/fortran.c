/* Files as numbers, for Fortran: 0 is MPI_FILE_NULL; and Fortran's error handlers. */
#include <pthread.h>

#include "front/mpiio/mpi_file.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static wr_mpi_file **numbered; /* place i has number i + 1 */
static int64_t room, count;

/* The lowest free number. */
static int find_number(wr_mpi_file *mf)
{
    int64_t i = 0;
    while (i < count && numbered[i])
        i++;
    if (i == count && wr_grow((void **)&numbered, &room, count + 1, sizeof(wr_mpi_file *)))
        return 0;
    count += i == count;
    numbered[i] = mf;
    return (int)i + 1;
}

void wr_mpi_file_number(wr_mpi_file *mf, bool wanted)
{
    pthread_mutex_lock(&lock);
    if (wanted && !mf->fortran)
        mf->fortran = find_number(mf);
    if (!wanted && mf->fortran) {
        numbered[mf->fortran - 1] = NULL;
        mf->fortran = 0;
    }
    pthread_mutex_unlock(&lock);
}

WR_EXPORT MPI_Fint PMPI_File_c2f(MPI_File fh)
{
    wr_mpi_file *mf = fh == MPI_FILE_NULL ? NULL : wr_mpi_file_of(fh);
    if (!mf)
        return fh == MPI_FILE_NULL ? 0 : -1;
    wr_mpi_file_number(mf, true);
    return mf->fortran;
}
WR_BOTH_NAMES(File_c2f)

#if MPI_VERSION >= 5
WR_EXPORT int PMPI_File_toint(MPI_File fh)
{
    return PMPI_File_c2f(fh);
}
WR_BOTH_NAMES(File_toint)

WR_EXPORT MPI_File PMPI_File_fromint(int number)
{
    return PMPI_File_f2c(number);
}
WR_BOTH_NAMES(File_fromint)
#endif

WR_EXPORT MPI_File PMPI_File_f2c(MPI_Fint number)
{
    MPI_File fh = MPI_FILE_NULL;
    pthread_mutex_lock(&lock);
    if (number > 0 && number <= count && numbered[number - 1])
        fh = (MPI_File)(void *)numbered[number - 1];
    pthread_mutex_unlock(&lock);
    return fh;
}
WR_BOTH_NAMES(File_f2c)

/* Handlers made from Fortran, under gfortran's names of the function in mpif.h and `use mpi`, and
 * in `use mpi_f08`: the MPI library would not tell us that they take a number. */
WR_EXPORT void mpi_file_create_errhandler_(void (*function)(MPI_Fint *, MPI_Fint *), MPI_Fint *out,
                                           MPI_Fint *result);
WR_EXPORT void mpi_file_create_errhandler_f08_(void (*function)(MPI_Fint *, MPI_Fint *),
                                               MPI_Fint *out, MPI_Fint *result);

void mpi_file_create_errhandler_(void (*function)(MPI_Fint *, MPI_Fint *), MPI_Fint *out,
                                 MPI_Fint *result)
{
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    wr_reaction reaction = {(MPI_File_errhandler_function *)function, WR_LANGUAGE_FORTRAN};
    int code = wr_mpi_file_create_handler(reaction, &handler);
    *out = PMPI_Errhandler_c2f(handler);
    int done = wr_mpi_file_result(NULL, code);
    if (result) /* may be left out in mpi_f08 */
        *result = done;
}

void mpi_file_create_errhandler_f08_(void (*function)(MPI_Fint *, MPI_Fint *), MPI_Fint *out,
                                     MPI_Fint *result)
{
    mpi_file_create_errhandler_(function, out, result);
}
