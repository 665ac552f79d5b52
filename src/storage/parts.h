/* What backends share that do not finish a transfer in one go: lists of transfers, and transfers
 * whose parts run at the same time.
 *
 * Parts are claimed in order and end in any order; where one stops short nothing more is claimed,
 * and the attempt has come as far as the lowest such place (S1). Callers serialise. */
#ifndef WR_STORAGE_PARTS_H
#define WR_STORAGE_PARTS_H

#include "base/arith.h"
#include "storage/storage.h"

enum { WR_PART = 1 << 20 };

static inline void wr_transfers_add(wr_transfers *list, wr_transfer *t)
{
    t->next = NULL;
    if (list->first)
        list->last->next = t;
    else
        list->first = t;
    list->last = t;
}

static inline wr_transfer *wr_transfers_take(wr_transfers *list)
{
    wr_transfer *t = list->first;
    if (t) {
        list->first = t->next;
        t->next = NULL;
    }
    return t;
}

/* One extent in the file and one in memory. */
static inline bool wr_transfer_is_flat(const wr_transfer *t)
{
    return t->count == 1 || (t->stride == t->run && t->memory_stride == t->run);
}

/* Where in the file the byte at data position `at` lies. */
static inline int64_t wr_transfer_offset(const wr_transfer *t, int64_t at)
{
    if (at == 0 || at < t->run || t->stride == t->run)
        return t->offset + at;
    return t->offset + at / t->run * t->stride + at % t->run;
}

/* Where in memory it lies. */
static inline char *wr_transfer_memory(const wr_transfer *t, int64_t at)
{
    return at < t->run ? t->memory + at : t->memory + at / t->run * t->memory_stride + at % t->run;
}

/* Where a part that starts at data position `at` ends: at a multiple of WR_PART in the file, so
 * that parts stay aligned, or after whole runs where these are smaller. */
static inline int64_t wr_part_end(const wr_transfer *t, int64_t at)
{
    int64_t bytes = wr_transfer_bytes(t);
    int64_t end = at + WR_PART - wr_transfer_offset(t, at) % WR_PART;
    if (t->count > 1 && t->stride != t->run) {
        int64_t runs = wr_max(WR_PART / t->run, 1);
        int64_t whole = (at / t->run + runs) * t->run;
        end = t->run > WR_PART ? wr_min(end, whole) : whole;
    }
    return wr_min(end, bytes);
}

typedef struct wr_part {
    wr_transfer *transfer;
    int64_t at, bytes; /* in data positions */
} wr_part;

/* The attempts a backend has taken on. Only the first of the queue is partly claimed. */
typedef struct wr_attempts {
    wr_transfers queue; /* with parts to claim */
    wr_transfers over;
    int64_t active; /* taken on and not handed back */
} wr_attempts;

static inline void wr_attempts_add(wr_attempts *a, wr_transfer *t)
{
    t->claimed = t->done;
    t->pending = 0;
    t->reached = wr_transfer_bytes(t);
    a->active++;
    wr_transfers_add(&a->queue, t);
}

static inline void drop_if_claimed(wr_attempts *a, const wr_transfer *t)
{
    if (a->queue.first == t && t->claimed == wr_transfer_bytes(t))
        wr_transfers_take(&a->queue);
}

/* Claims part->bytes more of part->transfer, which is the first of the queue. */
static inline void wr_attempts_claim(wr_attempts *a, const wr_part *part)
{
    part->transfer->claimed += part->bytes;
    part->transfer->pending++;
    drop_if_claimed(a, part->transfer);
}

/* The part moved `moved` bytes and stopped with `error`. True if that was the last of its attempt.
 */
static inline bool wr_attempts_end(wr_attempts *a, const wr_part *part, int64_t moved, int error)
{
    wr_transfer *t = part->transfer;
    if (moved < part->bytes && part->at + moved < t->reached) {
        t->reached = part->at + moved;
        t->error = error;
        t->claimed = wr_transfer_bytes(t);
        drop_if_claimed(a, t);
    }
    if (--t->pending || t->claimed < wr_transfer_bytes(t))
        return false;
    t->done = t->reached;
    wr_transfers_add(&a->over, t);
    return true;
}

static inline wr_transfer *wr_attempts_take(wr_attempts *a)
{
    wr_transfer *t = wr_transfers_take(&a->over);
    a->active -= t != NULL;
    return t;
}

#endif
