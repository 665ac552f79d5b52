/* Advice to the system about reads that are to come. */
#include "access/readahead.h"

#include "base/arith.h"
#include "storage/map.h"

/* So much of a file is told of before it is read; of a batch so much at a time, or so many runs. */
enum { AHEAD = 32 << 20, PART = 1 << 20, RUNS = 1024 };

void wr_batch_cut(wr_batch *b, bool together)
{
    if (b->count > 1 && b->stride - b->run <= WR_NEAR)
        b->count = wr_min(b->count, wr_max(1, PART / wr_max(1, b->stride)));
    else
        b->count = wr_min(b->count, together ? 1 : RUNS);
    if (b->count == 1)
        b->run = wr_min(b->run, PART);
}

int64_t wr_batch_span(const wr_batch *b)
{
    if (b->count == 1)
        return b->run;
    return b->stride - b->run <= WR_NEAR ? (b->count - 1) * b->stride + b->run
                                         : b->count * wr_max(b->run, WR_NEAR / 4);
}

bool wr_batch_stretches(const wr_batch *b, bool (*visit)(void *user, int64_t lo, int64_t hi),
                        void *user)
{
    if (b->count > 1 && b->stride - b->run <= WR_NEAR)
        return visit(user, b->offset, b->offset + (b->count - 1) * b->stride + b->run);
    for (int64_t i = 0; i < b->count; i++)
        if (!visit(user, b->offset + i * b->stride, b->offset + i * b->stride + b->run))
            return false;
    return true;
}

/* Pages that are mapped are there, as far as that can be known without a call. */
static bool is_there(wr_handle *handle, bool look, int64_t at)
{
    return (look && wr_map_holds(&handle->map, at)) || wr_storage_is_cached(handle->storage, at);
}

bool wr_readahead_is_cold(wr_handle *handle, const wr_access_request *a)
{
    enum { SAMPLES = 4, TOGETHER = 64 << 10 }; /* so much comes from the device at once, or more */
    int64_t lo, hi;
    if (handle->storage->plain_fd < 0)
        return false; /* nobody knows */
    wr_pattern_bounds_of(a->file, a->begin, a->end, &lo, &hi);
    const int64_t samples = a->end - a->begin < TOGETHER ? 1 : SAMPLES;
    const int64_t step = wr_max((hi - 1 - lo) / samples + 1, TOGETHER);
    const bool look = !pthread_mutex_trylock(&handle->moving);
    bool there = true;
    for (; lo < hi - 1 && there; lo += step) /* wanted or not: neighbours are read together */
        there = is_there(handle, look, lo);
    there = there && is_there(handle, look, hi - 1);
    if (look)
        pthread_mutex_unlock(&handle->moving);
    return !there;
}

static bool tell(void *user, int64_t lo, int64_t hi)
{
    wr_storage_advise(user, lo, hi);
    return true;
}

void wr_readahead_init(wr_readahead *h, const wr_handle *handle, const wr_access_request *a)
{
    *h = (wr_readahead){.storage = handle->storage};
    wr_cursor_init(&h->cursor, a->file);
    wr_cursor_limit(&h->cursor, a->begin, a->end);
    wr_readahead_move(h, 0);
}

void wr_readahead_move(wr_readahead *h, int64_t bytes)
{
    wr_batch b;
    h->used += bytes;
    while (h->storage && h->told - h->used < AHEAD && wr_cursor_peek(&h->cursor, &b)) {
        wr_batch_cut(&b, false);
        wr_batch_stretches(&b, tell, (void *)h->storage);
        h->told += wr_batch_span(&b);
        wr_cursor_skip(&h->cursor, b.run * b.count);
    }
}
