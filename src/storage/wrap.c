/* The operations a wrapper (fault, events) passes to the storage inside unchanged. */
#include "storage/backends.h"

int wr_inner_get_size(wr_storage *s, int64_t *size)
{
    return s->inner->ops->get_size(s->inner, size);
}

int wr_inner_set_size(wr_storage *s, int64_t size)
{
    return s->inner->ops->set_size(s->inner, size);
}

int wr_inner_sync(wr_storage *s, enum wr_sync how)
{
    return s->inner->ops->sync(s->inner, how);
}

int wr_inner_lock(wr_storage *s, int kind, int64_t lo, int64_t hi)
{
    return s->inner->ops->lock(s->inner, kind, lo, hi);
}
