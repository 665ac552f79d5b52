/* Reading and writing: one path for all of them. */
#include <string.h>

#include "base/arith.h"
#include "front/mpiio/door.h"

/* What a call asks for. */
typedef struct order {
    bool write, together;
    bool at; /* at `offset`, in etypes; otherwise at the individual pointer */
    MPI_Offset offset;
    char *buffer;
    MPI_Count count;
    MPI_Datatype datatype;
} order;

static int check_order(const wr_door *door, const order *o)
{
    if (o->count < 0)
        return wr_misuse(MPI_ERR_COUNT, "count %lld", (long long)o->count);
    if (o->datatype == MPI_DATATYPE_NULL)
        return wr_misuse(MPI_ERR_TYPE, "MPI_DATATYPE_NULL in a transfer");
    if (o->at && o->offset < 0)
        return wr_misuse(MPI_ERR_ARG, "offset %lld", (long long)o->offset);
    if (o->write && door->amode & MPI_MODE_RDONLY)
        return wr_misuse(MPI_ERR_READ_ONLY, "the file is open for reading only");
    if (!o->write && door->amode & MPI_MODE_WRONLY)
        return wr_misuse(MPI_ERR_ACCESS, "the file is open for writing only");
    return wr_door_refuse_sequential(door);
}

/* The pattern of `count` items in memory: kept, because programs repeat themselves. */
static int memory_of(wr_door *door, const wr_type *type, int64_t count, const weir_pattern **out)
{
    wr_hash hash = type->pattern->hash;
    if (!door->memory || door->memory_count != count || door->memory_extent != type->extent ||
        !wr_hash_equal(door->memory_of, hash)) {
        weir_pattern *made;
        int code = wr_type_repeat(type, count, &made);
        if (code)
            return code;
        weir_pattern_free(door->memory);
        door->memory = made;
        door->memory_of = hash;
        door->memory_count = count;
        door->memory_extent = type->extent;
    }
    *out = door->memory;
    return 0;
}

/* Fills in the access; its end too. */
static int prepare(wr_door *door, const order *o, wr_access_request *a, wr_run_pattern *run)
{
    const wr_type *type;
    int64_t bytes, lo, hi;
    int code = check_order(door, o);
    if (!code)
        code = wr_type_get(o->datatype, &type);
    if (code)
        return code;
    if (!wr_mul(o->count, type->size, &bytes) ||
        (o->at && !wr_mul(o->offset, door->unit, &a->begin)) || !wr_add(a->begin, bytes, &a->end))
        return wr_misuse(MPI_ERR_ARG, "an access beyond 2^63 bytes");
    if (bytes % door->unit)
        return wr_misuse(MPI_ERR_IO, "%lld bytes are not a whole number of etypes of %lld",
                         (long long)bytes, (long long)door->unit);
    if (bytes && !door->view)
        return wr_misuse(MPI_ERR_IO, "an access through a view without data");
    if (!bytes)
        return 0;
    a->file = door->view;
    if (!type->dense)
        return memory_of(door, type, o->count, &a->memory);
    weir_pattern_bounds(type->pattern, &lo, &hi);
    a->memory = wr_run_pattern_set(run, lo, bytes);
    return 0;
}

static void set_status(MPI_Status *status, int64_t bytes)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    PMPI_Status_set_elements_x(status, MPI_BYTE, bytes);
    PMPI_Status_set_cancelled(status, 0);
}

static int transfer(MPI_File fh, const order *o, MPI_Status *status)
{
    wr_door *door = wr_door_of(fh);
    if (!door)
        return wr_door_result(NULL, WEIR_EINVAL);
    wr_run_pattern run, nothing;
    wr_access_request a = {
        .direction = o->write ? WR_WRITE : WR_READ, .base = o->buffer, .begin = door->position};
    int64_t count = 0;
    int code = prepare(door, o, &a, &run);
    if (code || !a.file) {
        a.file = a.memory = wr_run_pattern_set(&nothing, 0, 0);
        a.begin = a.end = 0;
    } else if (!o->at) {
        door->position = a.end;
    }
    if (!code || o->together)
        code = wr_file_access(door->file, &a, o->together, code, &count);
    set_status(status, count);
    return wr_door_result(door, code);
}

typedef void *into;
typedef const void *from;

/* One MPI function; the count is an int, or with _c an MPI_Count. */
#define AT_INDIVIDUAL(name, suffix, TYPE, BUFFER, is_write, all)                                   \
    WR_DOOR int PMPI_File_##name##suffix(MPI_File fh, BUFFER buffer, TYPE count,                   \
                                         MPI_Datatype datatype, MPI_Status *status)                \
    {                                                                                              \
        const order o = {(is_write), (all), false, 0, (char *)buffer, count, datatype};            \
        return transfer(fh, &o, status);                                                           \
    }                                                                                              \
    WR_BOTH_NAMES(File_##name##suffix)

#define AT_OFFSET(name, suffix, TYPE, BUFFER, is_write, all)                                       \
    WR_DOOR int PMPI_File_##name##suffix(MPI_File fh, MPI_Offset offset, BUFFER buffer,            \
                                         TYPE count, MPI_Datatype datatype, MPI_Status *status)    \
    {                                                                                              \
        const order o = {(is_write), (all), true, offset, (char *)buffer, count, datatype};        \
        return transfer(fh, &o, status);                                                           \
    }                                                                                              \
    WR_BOTH_NAMES(File_##name##suffix)

#define TRANSFERS(suffix, TYPE)                                                                    \
    AT_INDIVIDUAL(read, suffix, TYPE, into, false, false)                                          \
    AT_INDIVIDUAL(read_all, suffix, TYPE, into, false, true)                                       \
    AT_INDIVIDUAL(write, suffix, TYPE, from, true, false)                                          \
    AT_INDIVIDUAL(write_all, suffix, TYPE, from, true, true)                                       \
    AT_OFFSET(read_at, suffix, TYPE, into, false, false)                                           \
    AT_OFFSET(read_at_all, suffix, TYPE, into, false, true)                                        \
    AT_OFFSET(write_at, suffix, TYPE, from, true, false)                                           \
    AT_OFFSET(write_at_all, suffix, TYPE, from, true, true)

TRANSFERS(, int)
#if MPI_VERSION >= 4
TRANSFERS(_c, MPI_Count)
#endif
