/* Errors as MPI knows them: classes, codes whose strings name file, rank and cause, handlers. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "front/mpiio/door.h"
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

/* Handlers that users made, to find their functions. */
static struct made {
    MPI_Errhandler handler;
    wr_reaction reaction;
} * made;
static int64_t made_count, made_room;

/* Of files opened later; MPI_ERRORS_RETURN at first. */
static struct {
    bool set;
    MPI_Errhandler handler;
    wr_reaction reaction;
} standard;

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
WR_DOOR int PMPI_Error_string(int code, char *text, int *length)
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

/* As MPI itself would: by the handler of a communicator, which prints the text it knows. */
static void end_program(int code)
{
    char text[MPI_MAX_ERROR_STRING];
    if (find_text(code, text))
        PMPI_Add_error_string(code, text);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    PMPI_Comm_call_errhandler(MPI_COMM_SELF, code);
}

static bool is_fatal(MPI_Errhandler handler)
{
#ifdef MPI_ERRORS_ABORT
    if (handler == MPI_ERRORS_ABORT)
        return true;
#endif
    return handler == MPI_ERRORS_ARE_FATAL;
}

static void react(wr_reaction reaction, MPI_File fh, int code)
{
    MPI_Fint number = PMPI_File_c2f(fh), fortran_code = code;
    if (reaction.fortran)
        ((void (*)(MPI_Fint *, MPI_Fint *))reaction.function)(&number, &fortran_code);
    else
        reaction.function(&fh, &code);
}

static void handle(wr_door *door, int code)
{
    MPI_Errhandler handler = door ? door->errors : standard.handler;
    wr_reaction reaction = door ? door->on_error : standard.reaction;
    if (!door && !standard.set)
        return;
    if (reaction.function)
        react(reaction, door ? (MPI_File)(void *)door : MPI_FILE_NULL, code);
    else if (is_fatal(handler))
        end_program(code);
}

int wr_door_result(wr_door *door, int code)
{
    char text[TEXT];
    if (!code)
        return MPI_SUCCESS;
    if (door && !*weir_error_last()->file)
        wr_error_note_file(door->path, weir_error_last()->offset);
    describe(weir_error_last(), text, sizeof text);
    int result = code_for(class_of(weir_error_last()), text);
    weir_log("error", text);
    handle(door, result);
    return result;
}

void wr_door_inherit(wr_door *door)
{
    if (!standard.set)
        return;
    door->errors = standard.handler;
    door->on_error = standard.reaction;
}

static wr_reaction reaction_of(MPI_Errhandler handler)
{
    wr_reaction found = {0};
    pthread_mutex_lock(&lock);
    for (int64_t i = made_count - 1; i >= 0 && !found.function; i--)
        if (made[i].handler == handler)
            found = made[i].reaction;
    pthread_mutex_unlock(&lock);
    return found;
}

int wr_door_set_handler(wr_door *door, MPI_Errhandler handler)
{
    wr_reaction reaction = reaction_of(handler);
    if (handler == MPI_ERRHANDLER_NULL)
        return wr_misuse(MPI_ERR_ARG, "MPI_ERRHANDLER_NULL as the handler of a file");
    if (door) {
        door->errors = handler;
        door->on_error = reaction;
        return 0;
    }
    standard.set = true;
    standard.handler = handler;
    standard.reaction = reaction;
    return 0;
}

/* The MPI library's own function makes real handlers. */
int wr_door_create_handler(wr_reaction reaction, MPI_Errhandler *out)
{
    int (*create)(MPI_File_errhandler_function *, MPI_Errhandler *) = NULL;
    *(void **)(void *)&create = dlsym(RTLD_NEXT, "PMPI_File_create_errhandler");
    if (!create || create(reaction.function, out) != MPI_SUCCESS)
        return wr_misuse(MPI_ERR_OTHER, "the MPI library makes no error handler");
    pthread_mutex_lock(&lock);
    int code = wr_grow((void **)&made, &made_room, made_count + 1, sizeof *made);
    if (!code)
        made[made_count++] = (struct made){*out, reaction};
    pthread_mutex_unlock(&lock);
    return code;
}

WR_DOOR int PMPI_File_create_errhandler(MPI_File_errhandler_function *function, MPI_Errhandler *out)
{
    return wr_door_result(NULL, wr_door_create_handler((wr_reaction){function, false}, out));
}
WR_BOTH_NAMES(File_create_errhandler)

WR_DOOR int PMPI_File_set_errhandler(MPI_File fh, MPI_Errhandler handler)
{
    wr_door *door = fh == MPI_FILE_NULL ? NULL : wr_door_of(fh);
    if (fh != MPI_FILE_NULL && !door)
        return wr_door_result(NULL, WEIR_EINVAL);
    return wr_door_result(door, wr_door_set_handler(door, handler));
}
WR_BOTH_NAMES(File_set_errhandler)

/* The caller frees what it gets, so of a user's handler it gets another one. */
WR_DOOR int PMPI_File_get_errhandler(MPI_File fh, MPI_Errhandler *out)
{
    wr_door *door = fh == MPI_FILE_NULL ? NULL : wr_door_of(fh);
    if (fh != MPI_FILE_NULL && !door)
        return wr_door_result(NULL, WEIR_EINVAL);
    wr_reaction reaction = door ? door->on_error : standard.reaction;
    if (reaction.function)
        return wr_door_result(door, wr_door_create_handler(reaction, out));
    *out = door ? door->errors : standard.set ? standard.handler : MPI_ERRORS_RETURN;
    return MPI_SUCCESS;
}
WR_BOTH_NAMES(File_get_errhandler)

WR_DOOR int PMPI_File_call_errhandler(MPI_File fh, int code)
{
    wr_door *door = wr_door_of(fh);
    if (!door)
        return wr_door_result(NULL, WEIR_EINVAL);
    handle(door, code);
    return MPI_SUCCESS;
}
WR_BOTH_NAMES(File_call_errhandler)
