/* Each transfer is cut in file order, one piece at a time, until all slots for pieces are in use.
 * Pieces come back in any order; parts.h finds out how far the transfer has come. */
#include "storage/spread.h"

#include <errno.h>

/* How many runs from the one at `offset` on lie in [lo, hi) as a whole, that one included. */
static int64_t count_runs(const wr_transfer *t, int64_t offset, int64_t lo, int64_t hi)
{
    if (t->stride > 0)
        return 1 + (hi - offset - t->run) / t->stride;
    return t->stride ? 1 + (offset - lo) / -t->stride : INT64_MAX;
}

void wr_spread_cut(wr_spread_piece *x, int64_t lo, int64_t hi)
{
    const wr_transfer *t = x->part.transfer;
    const int64_t bytes = wr_transfer_bytes(t), run = wr_transfer_is_flat(t) ? bytes : t->run;
    const int64_t at = x->part.at, offset = wr_transfer_offset(t, at), into = at % run;
    const bool whole = !into && run <= hi - offset;
    x->inner = (wr_transfer){.direction = t->direction,
                             .offset = offset,
                             .run = wr_min(run - into, hi - offset),
                             .count = 1,
                             .stride = t->stride,
                             .memory = wr_transfer_memory(t, at),
                             .memory_stride = t->memory_stride};
    if (whole && run < bytes)
        x->inner.count = wr_min(t->count - at / run, count_runs(t, offset, lo, hi));
    x->part.bytes = wr_transfer_bytes(&x->inner);
}

static wr_spread_piece *find_free(wr_spread *p)
{
    wr_spread_piece *x = p->piece;
    while (x->storage)
        x++;
    return x;
}

static void fill(wr_storage *s, wr_spread *p)
{
    while (p->attempts.queue.first && p->used < WR_SPREAD) {
        wr_transfer *t = p->attempts.queue.first;
        wr_spread_piece *x = find_free(p);
        *x = (wr_spread_piece){.part = {.transfer = t, .at = t->claimed}};
        int error = p->begin(s, x);
        wr_attempts_claim(&p->attempts, &x->part);
        if (!x->storage) {
            wr_attempts_end(&p->attempts, &x->part, 0, error);
            continue;
        }
        x->inner.user = x;
        x->number = ++p->pieces;
        p->used++;
        wr_storage_submit(x->storage, &x->inner);
    }
}

/* What was interrupted too often is not tried as often again. */
static void finish(wr_storage *s, wr_spread *p, const wr_transfer *inner)
{
    wr_spread_piece *x = inner->user;
    p->end(s, x);
    int error = inner->error == EINTR || inner->error == EAGAIN ? EIO : inner->error;
    wr_attempts_end(&p->attempts, &x->part, inner->done, error);
    x->storage = NULL;
    p->used--;
}

/* Takes in what is over, without waiting. */
static void collect(wr_storage *s, wr_spread *p)
{
    for (int i = 0; i < WR_SPREAD; i++)
        while (p->piece[i].storage) {
            wr_storage *inner = p->piece[i].storage;
            const wr_transfer *t = wr_storage_reap(inner, false);
            if (!t)
                break;
            finish(s, p, t);
        }
}

/* Whatever its storage has over first; what others have meanwhile is found afterwards. */
static void wait_for_oldest(wr_storage *s, wr_spread *p)
{
    const wr_spread_piece *oldest = NULL;
    for (const wr_spread_piece *x = p->piece; x < p->piece + WR_SPREAD; x++)
        if (x->storage && (!oldest || x->number < oldest->number))
            oldest = x;
    if (oldest)
        finish(s, p, wr_storage_reap(oldest->storage, true));
}

void wr_spread_submit(wr_storage *s, wr_spread *p, wr_transfer *t)
{
    for (wr_transfer *next; t; t = next) {
        next = t->next;
        wr_attempts_add(&p->attempts, t);
    }
    fill(s, p);
}

wr_transfer *wr_spread_reap(wr_storage *s, wr_spread *p, bool wait)
{
    wr_transfer *t = wr_attempts_take(&p->attempts);
    while (!t && p->attempts.active) {
        collect(s, p);
        fill(s, p);
        t = wr_attempts_take(&p->attempts);
        if (t || !wait)
            break;
        wait_for_oldest(s, p);
    }
    return t;
}
