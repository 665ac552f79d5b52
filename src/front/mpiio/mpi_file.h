/* What an MPI_File is, and what the functions on it share.
 *
 * An MPI_File is a pointer to a wr_mpi_file. Every function of the MPI library that takes one is
 * defined here under both of its names, MPI_ and PMPI_: Fortran bindings and tools use either. */
#ifndef WR_FRONT_MPIIO_MPI_FILE_H
#define WR_FRONT_MPIIO_MPI_FILE_H

#include <mpi.h>
#include <pthread.h>

#include "file/file.h"
#include "front/mpiio/types.h"
#include "storage/file_name.h"

/* What a user's error handler calls, in the language it was made in. */
enum wr_language { WR_LANGUAGE_C, WR_LANGUAGE_FORTRAN, WR_LANGUAGE_CXX };

typedef struct wr_reaction {
    MPI_File_errhandler_function *function; /* or NULL */
    enum wr_language language;
} wr_reaction;

/* A handler as a file has it. */
typedef struct wr_handler {
    MPI_Errhandler handle; /* with a reference that is ours, or MPI_ERRHANDLER_NULL */
    wr_reaction reaction;  /* of one that the user made */
} wr_handler;

typedef struct wr_mpi_file {
    uint64_t mark;            /* tells an open file from a closed one */
    struct wr_mpi_file *next; /* of those that are closed */
    weir_file *file;
    char *path;
    wr_file_name name; /* on rank 0 with MPI_MODE_DELETE_ON_CLOSE */
    int amode;
    int fortran; /* its number there, or 0 */
    MPI_Group group;
    MPI_Info info;       /* what the user has given so far */
    wr_handler on_error; /* MPI_ERRHANDLER_NULL: MPI_ERRORS_RETURN */
    /* the view */
    int64_t displacement;
    MPI_Datatype etype, filetype; /* ours */
    const wr_datarep *datarep;
    int64_t unit;       /* bytes of an etype in the file */
    weir_pattern *view; /* from the displacement on, for ever; NULL: no data at all */
    int64_t position;   /* of the individual pointer, in data of the view */
    int64_t views;      /* set so far: the shared pointer knows them by number */
    struct wr_split {
        weir_request *request; /* begun, or NULL */
        bool write;
        int pointer; /* a wr_pointer_kind */
    } split;
    pthread_mutex_t lock; /* of the individual pointer and what follows */
    /* the memory pattern of the latest access */
    weir_pattern *memory;
    wr_hash memory_of;
    int64_t memory_count, memory_extent;
} wr_mpi_file;

/* Defines MPI_name as another name of PMPI_name. */
#define WR_BOTH_NAMES(name)                                                                        \
    __attribute__((alias("PMPI_" #name), visibility("default"))) __typeof__(PMPI_##name) MPI_##name;

#define WR_EXPORT __attribute__((visibility("default")))

/* The file of a handle, or NULL with the error raised (class MPI_ERR_FILE). */
wr_mpi_file *wr_mpi_file_of(MPI_File fh);

/* --- start.c --- */

/* Why MPI runs with MPI_THREAD_MULTIPLE although the program asked for less; "": it does not. */
const char *wr_start_reason(void);

/* --- errors.c --- */

/* Raises an error of that MPI class in this thread, for the functions below; returns a code. */
int wr_misuse(int mpi_class, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* MPI_SUCCESS for 0. Otherwise an MPI error code whose string is this thread's error, given to the
 * handler of the file (NULL: of MPI_FILE_NULL) first, which may change it. */
int wr_mpi_file_result(wr_mpi_file *mf, int code);

/* As MPI itself would: by the handler of a communicator, which prints the text it knows. */
void wr_mpi_file_end_program(int code);

/* --- handlers.c --- */

/* Gives a code to the handler of the file, or of MPI_FILE_NULL; returns what that makes of it. */
int wr_mpi_file_handle(wr_mpi_file *mf, int code);

/* The handler of files opened from now on becomes the file's. */
void wr_mpi_file_inherit(wr_mpi_file *mf);

/* The file needs its handler no more. */
void wr_mpi_file_release_handler(wr_mpi_file *mf);

/* A handler of the MPI library, whose function we know. */
int wr_mpi_file_create_handler(wr_reaction reaction, MPI_Errhandler *out);

/* --- open.c --- */

/* Raises an error if the file was opened with MPI_MODE_SEQUENTIAL. */
int wr_mpi_file_refuse_sequential(const wr_mpi_file *mf);

/* The name of a file without a prefix such as "ufs:". */
const char *wr_mpi_file_path(const char *name);

/* --- fortran.c --- */

/* Gives a file its number, or takes it away. */
void wr_mpi_file_number(wr_mpi_file *mf, bool wanted);

/* --- hints.c --- */

/* Those pairs of an info that are ours, as hints; to be freed. NULL: no memory. For the rank whose
 * hints count also those of the hint file, which are weaker. */
char *wr_hints_of(MPI_Info info, bool counts);

/* Keeps pairs of an info that the file was not given before. Local: what they say comes to all
 * ranks with their next collective transfer that blocks, after which they agree. */
void wr_hints_note(wr_mpi_file *mf, MPI_Info info);

/* [collective] After such a transfer; rank 0's count. */
void wr_hints_agree(wr_mpi_file *mf);

/* [collective] Adds those of an info to what the file was given. */
int wr_hints_take(wr_mpi_file *mf, MPI_Info info);

/* --- hint_file.c --- */

/* Adds what ROMIO's file of hints has to an info. */
void wr_hint_file_read(MPI_Info info);

/* --- view.c --- */

/* The file as bytes, from its start. */
int wr_view_reset(wr_mpi_file *mf);
void wr_view_release(wr_mpi_file *mf);

/* Where a seek leads, in data of the view; `from` is for MPI_SEEK_CUR. */
int wr_view_seek(wr_mpi_file *mf, int64_t from, int64_t offset, int whence, int64_t *position);

#endif
