/* Opening and closing, and what concerns the file as a whole. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/arith.h"
#include "base/log.h"
#include "file/pointer.h"
#include "front/mpiio/tokens.h"
#include "transport/mpi_transport.h"
#include "weir/weir.h"
#include "weir_mpi.h"

static const uint64_t MARK = UINT64_C(0x776569722d66696c);

/* Closed files. Their memory is used again for files only, so that a copy of the handle of a closed
 * file is told from an open one. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static wr_mpi_file *closed;

static wr_mpi_file *new_file(void)
{
    pthread_mutex_lock(&lock);
    wr_mpi_file *mf = closed;
    if (mf)
        closed = mf->next;
    pthread_mutex_unlock(&lock);
    return mf ? mf : wr_alloc(sizeof *mf);
}

static void retire(wr_mpi_file *mf)
{
    pthread_mutex_lock(&lock);
    *mf = (wr_mpi_file){.next = closed};
    closed = mf;
    pthread_mutex_unlock(&lock);
}

wr_mpi_file *wr_mpi_file_of(MPI_File fh)
{
    wr_mpi_file *mf = (wr_mpi_file *)(void *)fh;
    if (fh != MPI_FILE_NULL && mf && mf->mark == MARK)
        return mf;
    wr_misuse(MPI_ERR_FILE, "not an open file");
    return NULL;
}

const char *wr_mpi_file_path(const char *name)
{
    static const char *const prefixes[] = {
        "ufs:", "nfs:", "xfs:", "lustre:", "gpfs:", "panfs:", "daos:", "pvfs2:", "testfs:", NULL};
    for (const char *const *p = prefixes; *p; p++)
        if (!strncmp(name, *p, strlen(*p)))
            return name + strlen(*p);
    return name;
}

static int check_amode(int amode)
{
    int how = amode & (MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY);
    int known = MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY | MPI_MODE_CREATE |
                MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN |
                MPI_MODE_SEQUENTIAL | MPI_MODE_APPEND;
    if (how != MPI_MODE_RDONLY && how != MPI_MODE_RDWR && how != MPI_MODE_WRONLY)
        return wr_misuse(MPI_ERR_AMODE, "exactly one of MPI_MODE_RDONLY, _WRONLY, _RDWR is needed");
    if (how == MPI_MODE_RDONLY && amode & (MPI_MODE_CREATE | MPI_MODE_EXCL))
        return wr_misuse(MPI_ERR_AMODE, "MPI_MODE_CREATE or _EXCL with MPI_MODE_RDONLY");
    if (how == MPI_MODE_RDWR && amode & MPI_MODE_SEQUENTIAL)
        return wr_misuse(MPI_ERR_AMODE, "MPI_MODE_SEQUENTIAL with MPI_MODE_RDWR");
    if (amode & ~known)
        return wr_misuse(MPI_ERR_AMODE, "unknown bits in mode %d", amode);
    return 0;
}

static int mode_of(int amode)
{
    return (amode & (MPI_MODE_RDONLY | MPI_MODE_RDWR) ? WEIR_READ : 0) |
           (amode & (MPI_MODE_WRONLY | MPI_MODE_RDWR) ? WEIR_WRITE : 0) |
           (amode & MPI_MODE_CREATE ? WEIR_CREATE : 0) |
           (amode & MPI_MODE_EXCL ? WEIR_EXCLUSIVE : 0) |
           (amode & MPI_MODE_UNIQUE_OPEN ? WEIR_SOLE : 0);
}

/* The parts of a file that need no other rank. */
static int init_local(wr_mpi_file *mf, MPI_Comm comm, const char *path, int amode, MPI_Info info)
{
    *mf = (wr_mpi_file){.amode = amode,
                        .name = wr_file_name_none,
                        .etype = MPI_DATATYPE_NULL,
                        .filetype = MPI_DATATYPE_NULL,
                        .group = MPI_GROUP_NULL,
                        .info = MPI_INFO_NULL,
                        .on_error.handle = MPI_ERRHANDLER_NULL};
    pthread_mutex_init(&mf->lock, NULL);
    size_t length = strlen(path) + 1;
    mf->path = wr_alloc((int64_t)length);
    if (!mf->path)
        return WEIR_ENOMEM;
    memcpy(mf->path, path, length);
    int result =
        info == MPI_INFO_NULL ? PMPI_Info_create(&mf->info) : PMPI_Info_dup(info, &mf->info);
    if (result != MPI_SUCCESS || PMPI_Comm_group(comm, &mf->group) != MPI_SUCCESS)
        return wr_misuse(MPI_ERR_OTHER, "the MPI library makes no info or group");
    return wr_view_reset(mf);
}

static void release(wr_mpi_file *mf)
{
    if (!mf)
        return;
    bool alive = wr_mpi_alive();
    if (alive)
        wr_view_release(mf);
    if (alive)
        wr_mpi_file_release_handler(mf);
    weir_pattern_free(mf->memory);
    if (alive && mf->group != MPI_GROUP_NULL)
        PMPI_Group_free(&mf->group);
    if (alive && mf->info != MPI_INFO_NULL)
        PMPI_Info_free(&mf->info);
    wr_file_name_close(&mf->name);
    wr_free(mf->path);
    wr_mpi_file_number(mf, false);
    wr_tokens_forget(mf);
    pthread_mutex_destroy(&mf->lock);
    retire(mf);
}

/* Once in a process: who serves it. */
static void announce(const wr_world *world)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    const char *reason = wr_start_reason();
    if (atomic_flag_test_and_set(&said) || world->transport->rank != 0)
        return;
    wr_log_line(&world->log, WR_LOG_INFO, "MPI-IO by weir %s", weir_version());
    if (*reason)
        wr_log_line(&world->log, WR_LOG_INFO, "MPI_THREAD_MULTIPLE, as %s", reason);
}

/* [collective] */
static int append_position(wr_mpi_file *mf)
{
    weir_file *file = mf->file;
    int64_t size = 0;
    int code = 0;
    if (wr_file_ranks(file)->rank == 0)
        code = weir_file_get_size(mf->file, &size);
    if (!code && wr_file_ranks(file)->rank == 0)
        code = wr_pointer_set(mf->file, mf->views, size);
    code = wr_file_agree(file, code);
    if (!code)
        code = wr_file_tell(file, &size, sizeof size);
    mf->position = size;
    return code;
}

static int open_file(MPI_Comm comm, const char *name, int amode, MPI_Info info, wr_mpi_file **out)
{
    wr_world *world;
    int code = wr_world_get(comm, &world);
    if (code)
        return code;
    wr_mpi_file *mf = new_file();
    int own = mf ? 0 : WEIR_ENOMEM;
    if (mf)
        own = init_local(mf, comm, wr_mpi_file_path(name ? name : ""), amode, info);
    if (!own)
        own = check_amode(amode);
    if (!own && (!name || !*name))
        own = wr_misuse(MPI_ERR_BAD_FILE, "a file without a name");
    char *hints = own ? NULL : wr_hints_of(mf->info, world->transport->rank == 0);
    own = own || hints ? own : WEIR_ENOMEM;
    weir_file *file = NULL;
    code = wr_file_open_as(world,
                           &(wr_opening){.path = mf ? mf->path : "",
                                         .mode = mode_of(amode),
                                         .hints = hints,
                                         .same = amode,
                                         .code = own},
                           &file);
    wr_free(hints);
    if (!code && mf) {
        mf->file = file;
        announce(world);
        if (amode & MPI_MODE_DELETE_ON_CLOSE && world->transport->rank == 0)
            wr_file_name_open(&mf->name, mf->path, wr_file_storage(file));
        code = amode & MPI_MODE_APPEND ? append_position(mf) : 0;
        if (code)
            weir_file_close(mf->file);
    }
    if (code) {
        release(mf);
        return code;
    }
    if (mf)
        mf->mark = MARK;
    *out = mf;
    return 0;
}

WR_EXPORT int PMPI_File_open(MPI_Comm comm, const char *name, int amode, MPI_Info info,
                             MPI_File *fh)
{
    wr_mpi_file *mf = NULL;
    int between = 0, code = 0;
    *fh = MPI_FILE_NULL;
    if (!wr_mpi_alive()) /* before anything is done with a handle */
        return wr_mpi_file_result(NULL, wr_misuse(MPI_ERR_OTHER, "MPI is not running"));
    if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &between) || between)
        code = wr_misuse(MPI_ERR_COMM, "a file needs an intracommunicator");
    if (!code)
        code = open_file(comm, name, amode, info, &mf);
    if (!code) {
        wr_mpi_file_inherit(mf);
        *fh = (MPI_File)(void *)mf;
    }
    if (code && name && !*weir_error_last()->file)
        wr_error_note_file(wr_mpi_file_path(name), weir_error_last()->offset);
    return wr_mpi_file_result(NULL, code);
}
WR_BOTH_NAMES(File_open)

/* [collective] Before it is closed, so that all ranks can be told. */
static int remove_file(wr_mpi_file *mf)
{
    weir_file *file = mf->file;
    int code = 0;
    if (!wr_file_is_alive(file))
        return 0;
    wr_file_settle(file);
    if (wr_file_ranks(file)->rank == 0)
        code = wr_file_name_remove(&mf->name, wr_file_storage(file));
    code = wr_file_agree(file, code);
    if (!code)
        wr_file_note_removed(file);
    return code;
}

WR_EXPORT int PMPI_File_close(MPI_File *fh)
{
    wr_mpi_file *mf = wr_mpi_file_of(fh ? *fh : MPI_FILE_NULL);
    if (!mf)
        return wr_mpi_file_result(NULL, WEIR_EINVAL);
    int removed = mf->amode & MPI_MODE_DELETE_ON_CLOSE ? remove_file(mf) : 0;
    int lost = weir_request_wait(&mf->split.request, NULL); /* nobody will end it any more */
    weir_error error = *weir_error_last();
    int code = weir_file_close(mf->file);
    if (lost)
        code = wr_error_raise(&error);
    int result = wr_mpi_file_result(mf, code ? code : removed);
    release(mf);
    *fh = MPI_FILE_NULL;
    return result;
}
WR_BOTH_NAMES(File_close)

WR_EXPORT int PMPI_File_delete(const char *name, MPI_Info info)
{
    (void)info;
    int code = 0;
    if (!name || !*name)
        code = wr_misuse(MPI_ERR_BAD_FILE, "a file without a name");
    else
        code = wr_storage_remove(wr_mpi_file_path(name));
    return wr_mpi_file_result(NULL, code);
}
WR_BOTH_NAMES(File_delete)

WR_EXPORT int PMPI_File_get_size(MPI_File fh, MPI_Offset *size)
{
    wr_mpi_file *mf = wr_mpi_file_of(fh);
    int64_t bytes = 0;
    int code = mf ? weir_file_get_size(mf->file, &bytes) : WEIR_EINVAL;
    if (!code)
        *size = bytes;
    return wr_mpi_file_result(mf, code);
}
WR_BOTH_NAMES(File_get_size)

int wr_mpi_file_refuse_sequential(const wr_mpi_file *mf)
{
    if (mf->amode & MPI_MODE_SEQUENTIAL)
        return wr_misuse(MPI_ERR_UNSUPPORTED_OPERATION, "a file opened with MPI_MODE_SEQUENTIAL");
    return 0;
}

/* [collective] */
static int resize(MPI_File fh, int64_t size, int (*how)(weir_file *file, int64_t size))
{
    wr_mpi_file *mf = wr_mpi_file_of(fh);
    if (!mf)
        return wr_mpi_file_result(NULL, WEIR_EINVAL);
    int code = wr_mpi_file_refuse_sequential(mf);
    if (!code && mf->amode & MPI_MODE_RDONLY)
        code = wr_misuse(MPI_ERR_READ_ONLY, "the file is open for reading only");
    if (!code)
        code = how(mf->file, size);
    return wr_mpi_file_result(mf, code);
}

WR_EXPORT int PMPI_File_set_size(MPI_File fh, MPI_Offset size)
{
    return resize(fh, size, weir_file_set_size);
}
WR_BOTH_NAMES(File_set_size)

WR_EXPORT int PMPI_File_preallocate(MPI_File fh, MPI_Offset size)
{
    return resize(fh, size, wr_file_preallocate);
}
WR_BOTH_NAMES(File_preallocate)

WR_EXPORT int PMPI_File_get_group(MPI_File fh, MPI_Group *group)
{
    wr_mpi_file *mf = wr_mpi_file_of(fh);
    int code = mf ? 0 : WEIR_EINVAL;
    if (mf && PMPI_Group_union(mf->group, MPI_GROUP_EMPTY, group) != MPI_SUCCESS)
        code = wr_misuse(MPI_ERR_OTHER, "the MPI library makes no group");
    return wr_mpi_file_result(mf, code);
}
WR_BOTH_NAMES(File_get_group)

WR_EXPORT int PMPI_File_get_amode(MPI_File fh, int *amode)
{
    wr_mpi_file *mf = wr_mpi_file_of(fh);
    if (mf)
        *amode = mf->amode;
    return wr_mpi_file_result(mf, mf ? 0 : WEIR_EINVAL);
}
WR_BOTH_NAMES(File_get_amode)

WR_EXPORT int PMPI_File_sync(MPI_File fh)
{
    wr_mpi_file *mf = wr_mpi_file_of(fh);
    return wr_mpi_file_result(mf, mf ? weir_file_sync(mf->file) : WEIR_EINVAL);
}
WR_BOTH_NAMES(File_sync)

WR_EXPORT int PMPI_File_set_atomicity(MPI_File fh, int flag)
{
    wr_mpi_file *mf = wr_mpi_file_of(fh);
    return wr_mpi_file_result(mf, mf ? weir_file_set_atomic(mf->file, flag) : WEIR_EINVAL);
}
WR_BOTH_NAMES(File_set_atomicity)

WR_EXPORT int PMPI_File_get_atomicity(MPI_File fh, int *flag)
{
    wr_mpi_file *mf = wr_mpi_file_of(fh);
    return wr_mpi_file_result(mf, mf ? weir_file_get_atomic(mf->file, flag) : WEIR_EINVAL);
}
WR_BOTH_NAMES(File_get_atomicity)
