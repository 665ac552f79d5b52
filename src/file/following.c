/* Following the first rank of a node into a file. */
#include "file/following.h"

#include <unistd.h>

#include "file/inside.h"
#include "storage/folder.h"

static uint64_t mix(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 32;
}

int64_t wr_name_hash(const char *path)
{
    char folder[WR_PATH];
    uint64_t hash = mix(UINT64_C(0xcbf29ce484222325), path);
    return (int64_t)(*path != '/' && getcwd(folder, sizeof folder) ? mix(hash, folder) : hash);
}

bool wr_file_opens_later(const weir_file *f)
{
    return f->follows && f->group.handle.world->transport->local_rank;
}

/* What the first rank tells. */
typedef struct told {
    wr_storage_facts facts;
    int64_t process;
} told;

int wr_file_follow(weir_file *f, int code)
{
    wr_handle *handle = &f->group.handle;
    const bool later = wr_file_opens_later(f);
    told first = {.process = getpid()};
    handle->ready = !code && !later;
    if (!f->follows)
        return code;
    if (handle->ready)
        first.facts = handle->storage->facts;
    const weir_error error = *weir_error_last();
    int lost = wr_channel_broadcast(&f->group.inner, &first, sizeof first);
    first.facts.kind = ""; /* it was another process's memory */
    if (!code && !lost && later)
        wr_storage_set_later(handle->storage, &first.facts,
                             &(wr_twin){.process = first.process,
                                        .descriptor = first.facts.descriptor,
                                        .mark = first.facts.mark});
    if (code)
        wr_error_raise(&error);
    return code ? code : lost;
}

/* One fsync covers what all wrote to a file of this kernel, and tells of what went wrong since its
 * descriptor was opened: so it is made by who opened the file first, and after all have come. Weak
 * file systems may keep what was written by the descriptor it went through. */
int wr_file_sync_node(weir_file *f)
{
    wr_handle *handle = &f->group.handle;
    wr_waiter waiter = wr_transport_waiter(handle->world->transport, true);
    const bool others = f->follows && !handle->weak;
    if (others)
        wr_channel_barrier(&f->group.channel, &waiter);
    if (others && handle->world->transport->local_rank)
        return 0;
    return wr_handle_sync(handle, WR_SYNC_STORE);
}
