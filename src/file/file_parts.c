/* What rooms above see of an open file. */
#include "file/inside.h"

void wr_file_note_removed(weir_file *file)
{
    file->removed = true;
}

bool wr_file_is_alive(const weir_file *file)
{
    return file->group.handle.world;
}

const wr_transport *wr_file_ranks(const weir_file *file)
{
    return file->group.handle.world->transport;
}

const wr_tunables *wr_file_tunables(const weir_file *file)
{
    return &file->group.handle.tunables;
}

wr_storage *wr_file_storage(const weir_file *file)
{
    return file->group.handle.storage;
}

int64_t wr_file_identity(const weir_file *file)
{
    return file->identity;
}

int64_t wr_file_aggregators(const weir_file *file)
{
    wr_plan_input in;
    wr_group_input(&file->group, WR_WRITE, &in);
    in.wanted = (wr_summary){0};
    in.realms = WR_REALMS_PERSISTENT; /* which do not depend on what is wanted */
    return wr_plan_aggregators(&in);
}

int wr_file_agree(weir_file *file, int code)
{
    return wr_channel_agree(&file->group.channel, code);
}

int wr_file_reduce(weir_file *file, enum wr_reduction reduction, int count, int64_t *values)
{
    return wr_channel_reduce(&file->group.channel, reduction, count, values);
}

int wr_file_tell(weir_file *file, void *data, int64_t bytes)
{
    return wr_channel_broadcast(&file->group.channel, data, bytes);
}

void wr_file_set_unit(weir_file *file, int64_t unit, int64_t origin)
{
    file->group.unit = unit;
    file->group.origin = origin;
}

void wr_file_note_news(weir_file *file)
{
    file->group.news = true;
}

bool wr_file_take_news(weir_file *file)
{
    wr_group *group = &file->group;
    bool any = group->has_news;
    if (any)
        group->news = group->has_news = false;
    return any;
}

int wr_file_fail_short(const weir_file *file, int64_t stop)
{
    return wr_handle_demand_all(&file->group.handle, stop);
}
