/* Error handlers of files.
 *
 * A handler is the MPI library's own, which counts references to it but says nothing of the
 * function behind it; so we note functions as handlers are made. References are counted by the only
 * file that the MPI library has beside ours, its MPI_FILE_NULL: what that is given and asked for
 * has one more, and stays the same handle. */
#include <dlfcn.h>
#include <pthread.h>

#include "front/mpiio/mpi_file.h"

/* The MPI library's own. */
typedef struct functions {
    __typeof__(PMPI_File_create_errhandler) *create;
    __typeof__(PMPI_File_set_errhandler) *set;
    __typeof__(PMPI_File_get_errhandler) *get;
} functions;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Handlers that users made, to find their functions. */
static struct made {
    MPI_Errhandler handle;
    wr_reaction reaction;
} * made;
static int64_t made_count, made_room;

/* Of files opened later, and of what is done without one. */
static wr_handler standard;
static bool standard_set; /* otherwise MPI_ERRORS_RETURN */

static const functions *theirs(void)
{
    static functions found;
#define FIND(member, name)                                                                         \
    *(void **)(void *)&found.member = dlsym(RTLD_NEXT, "PMPI_File_" #name "_errhandler")
    if (!found.get) {
        FIND(create, create);
        FIND(set, set);
        FIND(get, get);
    }
    return &found;
}

static int unusable(void)
{
    return wr_misuse(MPI_ERR_OTHER, "the MPI library makes nothing of an error handler");
}

/* MPICH 4.0 ends the program when it is asked about its MPI_ERRORS_ABORT. */
static bool is_counted(MPI_Errhandler handle)
{
#if defined MPICH && defined MPI_ERRORS_ABORT
    if (handle == MPI_ERRORS_ABORT)
        return false;
#endif
    return handle != MPI_ERRHANDLER_NULL;
}

static void release(MPI_Errhandler handle)
{
    if (is_counted(handle))
        PMPI_Errhandler_free(&handle);
}

/* One more reference, as *out; the same handle. */
static int refer(MPI_Errhandler handle, MPI_Errhandler *out)
{
    MPI_Errhandler before;
    *out = handle;
    if (!is_counted(handle))
        return 0;
    pthread_mutex_lock(&lock);
    const functions *f = theirs();
    int result = f->get && f->set ? f->get(MPI_FILE_NULL, &before) : MPI_ERR_INTERN;
    if (result == MPI_SUCCESS) {
        result = f->set(MPI_FILE_NULL, handle);
        if (result == MPI_SUCCESS)
            result = f->get(MPI_FILE_NULL, out);
        f->set(MPI_FILE_NULL, before);
        release(before);
    }
    pthread_mutex_unlock(&lock);
    return result == MPI_SUCCESS ? 0 : unusable();
}

static bool is_fatal(MPI_Errhandler handler)
{
#ifdef MPI_ERRORS_ABORT
    if (handler == MPI_ERRORS_ABORT)
        return true;
#endif
    return handler == MPI_ERRORS_ARE_FATAL;
}

static int react_in_fortran(wr_reaction reaction, MPI_File fh, int code)
{
    MPI_Fint number = PMPI_File_c2f(fh), fortran_code = code;
    ((void (*)(MPI_Fint *, MPI_Fint *))reaction.function)(&number, &fortran_code);
    return fortran_code;
}

/* Open MPI 4 makes a C++ object of the file. */
static int react_in_cxx(wr_reaction reaction, MPI_File fh, int code)
{
    void (*invoke)(MPI_File *, int *, const char *, MPI_File_errhandler_function *) = NULL;
    *(void **)(void *)&invoke = dlsym(RTLD_DEFAULT, "ompi_mpi_cxx_file_errhandler_invoke");
    if (invoke)
        invoke(&fh, &code, "", reaction.function);
    return code;
}

static int react_in_c(wr_reaction reaction, MPI_File fh, int code)
{
    reaction.function(&fh, &code);
    return code;
}

int wr_mpi_file_handle(wr_mpi_file *mf, int code)
{
    static int (*const react[])(wr_reaction, MPI_File, int) = {react_in_c, react_in_fortran,
                                                               react_in_cxx};
    const wr_handler h = mf ? mf->on_error : standard;
    if (h.reaction.function)
        return react[h.reaction.language](h.reaction, mf ? (MPI_File)(void *)mf : MPI_FILE_NULL,
                                          code);
    if ((mf ? h.handle != MPI_ERRHANDLER_NULL : standard_set) && is_fatal(h.handle))
        wr_mpi_file_end_program(code);
    return code;
}

static wr_reaction reaction_of(MPI_Errhandler handle)
{
    wr_reaction found = {0};
    pthread_mutex_lock(&lock);
    for (int64_t i = 0; i < made_count; i++)
        if (made[i].handle == handle)
            found = made[i].reaction;
    pthread_mutex_unlock(&lock);
    return found;
}

void wr_mpi_file_release_handler(wr_mpi_file *mf)
{
    release(mf->on_error.handle);
    mf->on_error = (wr_handler){.handle = MPI_ERRHANDLER_NULL};
}

void wr_mpi_file_inherit(wr_mpi_file *mf)
{
    if (standard_set && !refer(standard.handle, &mf->on_error.handle))
        mf->on_error.reaction = standard.reaction;
}

static int set_handler(wr_mpi_file *mf, MPI_Errhandler handle)
{
    wr_handler new = {.reaction = reaction_of(handle)};
    if (handle == MPI_ERRHANDLER_NULL)
        return wr_misuse(MPI_ERR_ARG, "MPI_ERRHANDLER_NULL as the handler of a file");
    int code = refer(handle, &new.handle);
    if (code)
        return code;
    if (mf)
        wr_mpi_file_release_handler(mf);
    else if (standard_set)
        release(standard.handle);
    *(mf ? &mf->on_error : &standard) = new;
    standard_set = standard_set || !mf;
    return 0;
}

/* MPI gives the number of a handler that is gone to another one. */
static int note(MPI_Errhandler handle, wr_reaction reaction)
{
    int64_t i = 0;
    while (i < made_count && made[i].handle != handle)
        i++;
    int code = wr_grow((void **)&made, &made_room, i + 1, sizeof *made);
    if (code)
        return code;
    made[i] = (struct made){handle, reaction};
    made_count += i == made_count;
    return 0;
}

/* The MPI library's own function makes real handlers. */
int wr_mpi_file_create_handler(wr_reaction reaction, MPI_Errhandler *out)
{
    pthread_mutex_lock(&lock);
    const functions *f = theirs();
    int code = 0;
    if (!f->create || f->create(reaction.function, out) != MPI_SUCCESS)
        code = unusable();
    else
        code = note(*out, reaction);
    pthread_mutex_unlock(&lock);
    return code;
}

WR_EXPORT int PMPI_File_create_errhandler(MPI_File_errhandler_function *function,
                                          MPI_Errhandler *out)
{
    return wr_mpi_file_result(
        NULL, wr_mpi_file_create_handler((wr_reaction){function, WR_LANGUAGE_C}, out));
}
WR_BOTH_NAMES(File_create_errhandler)

#ifdef OPEN_MPI
/* What its C++ bindings have instead, which come with version 4. */
WR_EXPORT MPI_Errhandler ompi_cxx_errhandler_create_file(MPI_File_errhandler_function *function);

MPI_Errhandler ompi_cxx_errhandler_create_file(MPI_File_errhandler_function *function)
{
    MPI_Errhandler out = MPI_ERRHANDLER_NULL;
    wr_mpi_file_result(NULL,
                       wr_mpi_file_create_handler((wr_reaction){function, WR_LANGUAGE_CXX}, &out));
    return out;
}
#endif

/* The file of a handle, which may be MPI_FILE_NULL; false, with the error raised: neither. */
static bool find_file(MPI_File fh, wr_mpi_file **out)
{
    *out = fh == MPI_FILE_NULL ? NULL : wr_mpi_file_of(fh);
    return *out || fh == MPI_FILE_NULL;
}

WR_EXPORT int PMPI_File_set_errhandler(MPI_File fh, MPI_Errhandler handler)
{
    wr_mpi_file *mf;
    if (!find_file(fh, &mf))
        return wr_mpi_file_result(NULL, WEIR_EINVAL);
    return wr_mpi_file_result(mf, set_handler(mf, handler));
}
WR_BOTH_NAMES(File_set_errhandler)

/* The caller frees what it gets. */
WR_EXPORT int PMPI_File_get_errhandler(MPI_File fh, MPI_Errhandler *out)
{
    wr_mpi_file *mf;
    if (!find_file(fh, &mf))
        return wr_mpi_file_result(NULL, WEIR_EINVAL);
    bool own = mf ? mf->on_error.handle != MPI_ERRHANDLER_NULL : standard_set;
    MPI_Errhandler handle = mf ? mf->on_error.handle : standard.handle;
    return wr_mpi_file_result(mf, refer(own ? handle : MPI_ERRORS_RETURN, out));
}
WR_BOTH_NAMES(File_get_errhandler)

WR_EXPORT int PMPI_File_call_errhandler(MPI_File fh, int code)
{
    wr_mpi_file *mf;
    if (!find_file(fh, &mf))
        return wr_mpi_file_result(NULL, WEIR_EINVAL);
    wr_mpi_file_handle(mf, code);
    return MPI_SUCCESS;
}
WR_BOTH_NAMES(File_call_errhandler)
