/* How errors reach a Fortran program: as codes if it asks for them, otherwise as its end. */
#include <stdarg.h>
#include <stdio.h>

#include "front/fortran/entries.h"

int wr_fortran_fail(int code, const char *format, ...)
{
    weir_error error = {.code = code, .rank = -1, .offset = -1};
    va_list args;
    va_start(args, format);
    vsnprintf(error.text, sizeof error.text, format, args);
    va_end(args);
    return weir_error_raise(&error);
}

int wr_fortran_blame(const wr_fortran_array *array, int code)
{
    weir_error error = *weir_error_last();
    if (!code || *error.file)
        return code;
    snprintf(error.file, sizeof error.file, "%s", weir_array_where(array->handle));
    return weir_error_raise(&error);
}

int wr_fortran_check_open(const wr_fortran_array *array)
{
    return array->handle ? 0 : wr_fortran_fail(WEIR_EINVAL, "the array is not open");
}

/* Whether another rank says the latest error. */
static int is_said_elsewhere(MPI_Comm comm)
{
    const int culprit = weir_error_last()->rank;
    int over, rank;
    MPI_Finalized(&over);
    if (culprit < 0 || over || comm == MPI_COMM_NULL)
        return 0;
    return !MPI_Comm_rank(comm, &rank) && rank != culprit;
}

void wr_fortran_end(int code, int *ierr, const MPI_Fint *comm)
{
    if (ierr)
        *ierr = code;
    else if (code)
        weir_fortran_stop(comm && is_said_elsewhere(wr_fortran_comm(*comm)));
}

int weir_fortran_error_text(char *text, int size)
{
    const int length = weir_error_format(weir_error_last(), text, (size_t)size);
    return length < size ? length : size - 1;
}
