/* Opening and closing, and what concerns the file as a whole. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/arith.h"
#include "base/log.h"
#include "engine/council.h"
#include "file/pointer.h"
#include "front/mpiio/tokens.h"
#include "transport/mpi_transport.h"
#include "weir/weir.h"
#include "weir_mpi.h"

static const uint64_t MARK = UINT64_C(0x776569722d66696c);

/* Closed doors. Their memory is used again for doors only, so that a copy of the handle of a closed
 * file is told from an open one. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static wr_door *closed;

static wr_door *new_door(void)
{
    pthread_mutex_lock(&lock);
    wr_door *door = closed;
    if (door)
        closed = door->next;
    pthread_mutex_unlock(&lock);
    return door ? door : wr_alloc(sizeof *door);
}

static void retire(wr_door *door)
{
    pthread_mutex_lock(&lock);
    *door = (wr_door){.next = closed};
    closed = door;
    pthread_mutex_unlock(&lock);
}

wr_door *wr_door_of(MPI_File fh)
{
    wr_door *door = (wr_door *)(void *)fh;
    if (fh != MPI_FILE_NULL && door && door->mark == MARK)
        return door;
    wr_misuse(MPI_ERR_FILE, "not an open file");
    return NULL;
}

const char *wr_door_path(const char *name)
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

/* The parts of a door that need no other rank. */
static int furnish(wr_door *door, MPI_Comm comm, const char *path, int amode, MPI_Info info)
{
    *door = (wr_door){.amode = amode,
                      .name = wr_file_name_none,
                      .etype = MPI_DATATYPE_NULL,
                      .filetype = MPI_DATATYPE_NULL,
                      .group = MPI_GROUP_NULL,
                      .info = MPI_INFO_NULL,
                      .on_error.handle = MPI_ERRHANDLER_NULL};
    pthread_mutex_init(&door->lock, NULL);
    size_t length = strlen(path) + 1;
    door->path = wr_alloc((int64_t)length);
    if (!door->path)
        return WEIR_ENOMEM;
    memcpy(door->path, path, length);
    int result =
        info == MPI_INFO_NULL ? PMPI_Info_create(&door->info) : PMPI_Info_dup(info, &door->info);
    if (result != MPI_SUCCESS || PMPI_Comm_group(comm, &door->group) != MPI_SUCCESS)
        return wr_misuse(MPI_ERR_OTHER, "the MPI library makes no info or group");
    return wr_view_reset(door);
}

static void dismantle(wr_door *door)
{
    if (!door)
        return;
    bool alive = wr_mpi_alive();
    if (alive)
        wr_view_release(door);
    if (alive)
        wr_door_release_handler(door);
    weir_pattern_free(door->memory);
    if (alive && door->group != MPI_GROUP_NULL)
        PMPI_Group_free(&door->group);
    if (alive && door->info != MPI_INFO_NULL)
        PMPI_Info_free(&door->info);
    wr_file_name_close(&door->name);
    wr_free(door->path);
    wr_door_number(door, false);
    wr_tokens_forget(door);
    pthread_mutex_destroy(&door->lock);
    retire(door);
}

/* Once in a process: who serves it. */
static void announce(const wr_world *world)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&said) && world->transport->rank == 0)
        wr_log_line(&world->log, WR_LOG_INFO, "MPI-IO by weir %s", weir_version());
}

/* [collective] */
static int append_position(wr_door *door)
{
    wr_port *port = &door->file->port;
    int64_t size = 0;
    int code = 0;
    if (port->world->transport->rank == 0)
        code = weir_file_get_size(door->file, &size);
    if (!code && port->world->transport->rank == 0)
        code = wr_pointer_set(door->file, door->views, size);
    code = wr_council_agree(&port->channel, code);
    if (!code)
        code = wr_council_tell(&port->channel, &size, sizeof size);
    door->position = size;
    return code;
}

static int open_file(MPI_Comm comm, const char *name, int amode, MPI_Info info, wr_door **out)
{
    wr_world *world;
    int code = wr_world_get(comm, &world);
    if (code)
        return code;
    wr_door *door = new_door();
    int own = door ? 0 : WEIR_ENOMEM;
    if (door)
        own = furnish(door, comm, wr_door_path(name ? name : ""), amode, info);
    if (!own)
        own = check_amode(amode);
    if (!own && (!name || !*name))
        own = wr_misuse(MPI_ERR_BAD_FILE, "a file without a name");
    char *hints = own ? NULL : wr_hints_of(door->info, world->transport->rank == 0);
    own = own || hints ? own : WEIR_ENOMEM;
    weir_file *file = NULL;
    code = wr_file_open_as(world,
                           &(wr_opening){.path = door ? door->path : "",
                                         .mode = mode_of(amode),
                                         .hints = hints,
                                         .same = amode,
                                         .code = own},
                           &file);
    wr_free(hints);
    if (!code && door) {
        door->file = file;
        announce(world);
        if (amode & MPI_MODE_DELETE_ON_CLOSE && world->transport->rank == 0)
            wr_file_name_open(&door->name, door->path, file->port.storage);
        code = amode & MPI_MODE_APPEND ? append_position(door) : 0;
        if (code)
            weir_file_close(door->file);
    }
    if (code) {
        dismantle(door);
        return code;
    }
    if (door)
        door->mark = MARK;
    *out = door;
    return 0;
}

WR_DOOR int PMPI_File_open(MPI_Comm comm, const char *name, int amode, MPI_Info info, MPI_File *fh)
{
    wr_door *door = NULL;
    int between = 0, code = 0;
    *fh = MPI_FILE_NULL;
    if (!wr_mpi_alive()) /* before anything is done with a handle */
        return wr_door_result(NULL, wr_misuse(MPI_ERR_OTHER, "MPI is not running"));
    if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &between) || between)
        code = wr_misuse(MPI_ERR_COMM, "a file needs an intracommunicator");
    if (!code)
        code = open_file(comm, name, amode, info, &door);
    if (!code) {
        wr_door_inherit(door);
        *fh = (MPI_File)(void *)door;
    }
    if (code && name && !*weir_error_last()->file)
        wr_error_note_file(wr_door_path(name), weir_error_last()->offset);
    return wr_door_result(NULL, code);
}
WR_BOTH_NAMES(File_open)

/* [collective] Before it is closed, so that all ranks can be told. */
static int remove_file(wr_door *door)
{
    wr_port *port = &door->file->port;
    int code = 0;
    if (!port->world)
        return 0;
    wr_port_settle(port);
    if (port->world->transport->rank == 0)
        code = wr_file_name_remove(&door->name, port->storage);
    return wr_council_agree(&port->channel, code);
}

WR_DOOR int PMPI_File_close(MPI_File *fh)
{
    wr_door *door = wr_door_of(fh ? *fh : MPI_FILE_NULL);
    if (!door)
        return wr_door_result(NULL, WEIR_EINVAL);
    int removed = door->amode & MPI_MODE_DELETE_ON_CLOSE ? remove_file(door) : 0;
    int code = weir_file_close(door->file);
    int result = wr_door_result(door, code ? code : removed);
    dismantle(door);
    *fh = MPI_FILE_NULL;
    return result;
}
WR_BOTH_NAMES(File_close)

WR_DOOR int PMPI_File_delete(const char *name, MPI_Info info)
{
    (void)info;
    int code = 0;
    if (!name || !*name)
        code = wr_misuse(MPI_ERR_BAD_FILE, "a file without a name");
    else
        code = wr_storage_remove(wr_door_path(name));
    return wr_door_result(NULL, code);
}
WR_BOTH_NAMES(File_delete)

WR_DOOR int PMPI_File_get_size(MPI_File fh, MPI_Offset *size)
{
    wr_door *door = wr_door_of(fh);
    int64_t bytes = 0;
    int code = door ? weir_file_get_size(door->file, &bytes) : WEIR_EINVAL;
    if (!code)
        *size = bytes;
    return wr_door_result(door, code);
}
WR_BOTH_NAMES(File_get_size)

int wr_door_refuse_sequential(const wr_door *door)
{
    if (door->amode & MPI_MODE_SEQUENTIAL)
        return wr_misuse(MPI_ERR_UNSUPPORTED_OPERATION, "a file opened with MPI_MODE_SEQUENTIAL");
    return 0;
}

/* [collective] */
static int resize(MPI_File fh, int64_t size, int (*how)(weir_file *file, int64_t size))
{
    wr_door *door = wr_door_of(fh);
    if (!door)
        return wr_door_result(NULL, WEIR_EINVAL);
    int code = wr_door_refuse_sequential(door);
    if (!code && door->amode & MPI_MODE_RDONLY)
        code = wr_misuse(MPI_ERR_READ_ONLY, "the file is open for reading only");
    if (!code)
        code = how(door->file, size);
    return wr_door_result(door, code);
}

WR_DOOR int PMPI_File_set_size(MPI_File fh, MPI_Offset size)
{
    return resize(fh, size, weir_file_set_size);
}
WR_BOTH_NAMES(File_set_size)

WR_DOOR int PMPI_File_preallocate(MPI_File fh, MPI_Offset size)
{
    return resize(fh, size, wr_file_preallocate);
}
WR_BOTH_NAMES(File_preallocate)

WR_DOOR int PMPI_File_get_group(MPI_File fh, MPI_Group *group)
{
    wr_door *door = wr_door_of(fh);
    int code = door ? 0 : WEIR_EINVAL;
    if (door && PMPI_Group_union(door->group, MPI_GROUP_EMPTY, group) != MPI_SUCCESS)
        code = wr_misuse(MPI_ERR_OTHER, "the MPI library makes no group");
    return wr_door_result(door, code);
}
WR_BOTH_NAMES(File_get_group)

WR_DOOR int PMPI_File_get_amode(MPI_File fh, int *amode)
{
    wr_door *door = wr_door_of(fh);
    if (door)
        *amode = door->amode;
    return wr_door_result(door, door ? 0 : WEIR_EINVAL);
}
WR_BOTH_NAMES(File_get_amode)

WR_DOOR int PMPI_File_sync(MPI_File fh)
{
    wr_door *door = wr_door_of(fh);
    return wr_door_result(door, door ? weir_file_sync(door->file) : WEIR_EINVAL);
}
WR_BOTH_NAMES(File_sync)

WR_DOOR int PMPI_File_set_atomicity(MPI_File fh, int flag)
{
    wr_door *door = wr_door_of(fh);
    return wr_door_result(door, door ? weir_file_set_atomic(door->file, flag) : WEIR_EINVAL);
}
WR_BOTH_NAMES(File_set_atomicity)

WR_DOOR int PMPI_File_get_atomicity(MPI_File fh, int *flag)
{
    wr_door *door = wr_door_of(fh);
    return wr_door_result(door, door ? weir_file_get_atomic(door->file, flag) : WEIR_EINVAL);
}
WR_BOTH_NAMES(File_get_atomicity)
