/* Errors as MPI knows them: classes, and codes whose strings name file, rank and cause. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "front/mpiio/mpi_file.h"
#include "weir/weir.h"

/* A code lasts as long as the program, so each class has a few of them, whose texts are set in
 * turn. A class rides in the details as a negative errno. */
enum { CLASSES = 64, CODES = 8, TEXT = 512 };

_Static_assert(MPI_MAX_ERROR_STRING <= 2 * TEXT, "a text fills most of what MPI has room for");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    int code[CODES];
    char text[CODES][TEXT];
    int next;
} rings[CLASSES];

int wr_misuse(int mpi_class, const char *format, ...)
{
    weir_error error = {.code = WEIR_EINVAL, .errnum = -mpi_class, .rank = -1, .offset = -1};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error.text, sizeof error.text, format, arguments);
    va_end(arguments);
    return wr_error_raise(&error);
}

static int class_of(const weir_error *e)
{
    if (e->errnum < 0)
        return -e->errnum;
    switch (e->errnum) {
    case EROFS:
        return MPI_ERR_READ_ONLY;
    case EDQUOT:
        return MPI_ERR_QUOTA;
    case EISDIR:
    case ENAMETOOLONG:
    case ENOTDIR:
        return MPI_ERR_BAD_FILE;
    case EFBIG:
        return MPI_ERR_NO_SPACE;
    default:
        break;
    }
    switch (e->code) {
    case WEIR_ENOMEM:
    case WEIR_EBUDGET:
        return MPI_ERR_NO_MEM;
    case WEIR_ENOENT:
        return MPI_ERR_NO_SUCH_FILE;
    case WEIR_EEXIST:
        return MPI_ERR_FILE_EXISTS;
    case WEIR_EACCESS:
        return MPI_ERR_ACCESS;
    case WEIR_ENOSPC:
        return MPI_ERR_NO_SPACE;
    case WEIR_EIO:
    case WEIR_EFORMAT:
        return MPI_ERR_IO;
    case WEIR_EDISAGREE:
        return MPI_ERR_NOT_SAME;
    case WEIR_EUNSUPPORTED:
        return MPI_ERR_UNSUPPORTED_OPERATION;
    case WEIR_ETRANSPORT:
    case WEIR_EINTERRUPTED:
        return MPI_ERR_OTHER;
    default:
        return MPI_ERR_ARG;
    }
}

/* The details as one line, without the class that may ride in them. */
static void describe(const weir_error *e, char *text, size_t size)
{
    weir_error plain = *e;
    plain.errnum = plain.errnum < 0 ? 0 : plain.errnum;
    weir_error_format(&plain, text, size);
}

static int code_for(int mpi_class, const char *text)
{
    int code = mpi_class;
    if (mpi_class <= 0 || mpi_class >= CLASSES)
        return code;
    pthread_mutex_lock(&lock);
    int i = rings[mpi_class].next;
    int *ring = &rings[mpi_class].code[i];
    rings[mpi_class].next = (i + 1) % CODES;
    if (*ring || PMPI_Add_error_code(mpi_class, ring) == MPI_SUCCESS) {
        snprintf(rings[mpi_class].text[i], TEXT, "%s", text);
        code = *ring;
    }
    pthread_mutex_unlock(&lock);
    return code;
}

/* Our text for a code; false if it is not ours. */
static bool find_text(int code, char *text)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (int k = 0; k < CLASSES && !found; k++)
        for (int i = 0; i < CODES && rings[k].code[i] && !found; i++)
            if (rings[k].code[i] == code) {
                snprintf(text, MPI_MAX_ERROR_STRING, "%s", rings[k].text[i]);
                found = true;
            }
    pthread_mutex_unlock(&lock);
    return found;
}

/* MPICH has no strings for new codes of its own classes, so both MPIs are asked only for theirs. */
WR_EXPORT int PMPI_Error_string(int code, char *text, int *length)
{
    int (*theirs)(int, char *, int *) = NULL;
    if (find_text(code, text)) {
        *length = (int)strlen(text);
        return MPI_SUCCESS;
    }
    *(void **)(void *)&theirs = dlsym(RTLD_NEXT, "PMPI_Error_string");
    return theirs ? theirs(code, text, length) : MPI_ERR_INTERN;
}
WR_BOTH_NAMES(Error_string)

void wr_mpi_file_end_program(int code)
{
    char text[MPI_MAX_ERROR_STRING];
    if (find_text(code, text))
        PMPI_Add_error_string(code, text);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    PMPI_Comm_call_errhandler(MPI_COMM_SELF, code);
}

int wr_mpi_file_result(wr_mpi_file *mf, int code)
{
    char text[TEXT];
    if (!code)
        return MPI_SUCCESS;
    if (mf && !*weir_error_last()->file)
        wr_error_note_file(mf->path, weir_error_last()->offset);
    describe(weir_error_last(), text, sizeof text);
    int result = code_for(class_of(weir_error_last()), text);
    weir_log("error", text);
    return wr_mpi_file_handle(mf, result);
}
