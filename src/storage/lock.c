/* A table of what this storage's threads hold, and the kernel's locks behind it.
 *
 * The kernel knows one owner per open file description and forgets a lock as a whole: what two
 * threads hold shared must stay locked where they overlap until both have let go. */
#include "storage/lock.h"

#include <errno.h>
#include <pthread.h>

#include "base/arith.h"

typedef struct range {
    int64_t lo, hi;
    enum wr_lock_kind kind;
} range;

typedef struct wr_range_table {
    pthread_mutex_t mutex;
    range *held;
    int64_t count, room;
} wr_range_table;

wr_range_table *wr_range_table_new(void)
{
    wr_range_table *table = wr_alloc(sizeof *table);
    if (table)
        *table = (wr_range_table){.mutex = PTHREAD_MUTEX_INITIALIZER};
    return table;
}

void wr_range_table_free(wr_range_table *table)
{
    if (!table)
        return;
    pthread_mutex_destroy(&table->mutex);
    wr_free(table->held);
    wr_free(table);
}

static bool is_free(const wr_range_table *table, const range *r)
{
    for (int64_t i = 0; i < table->count; i++) {
        const range *other = &table->held[i];
        bool together = r->kind == WR_LOCK_SHARED && other->kind == WR_LOCK_SHARED;
        if (!together && r->lo < other->hi && other->lo < r->hi)
            return false;
    }
    return true;
}

bool wr_range_table_meets(const wr_range_table *table, int64_t lo, int64_t hi)
{
    return !is_free(table, &(range){lo, hi, WR_LOCK_EXCLUSIVE});
}

/* Unlocks the parts of [lo, hi) that nobody else in the table covers. */
static int release_uncovered(wr_storage *s, int64_t lo, int64_t hi)
{
    const wr_range_table *table = s->ranges;
    while (lo < hi) {
        int64_t end = hi, next = lo;
        for (int64_t i = 0; i < table->count; i++) {
            const range *r = &table->held[i];
            if (r->lo <= lo && r->hi > lo)
                next = wr_max(next, wr_min(r->hi, hi));
            else if (r->lo > lo)
                end = wr_min(end, r->lo);
        }
        int code = next == lo ? s->ops->lock(s, WR_LOCK_NONE, lo, end) : 0;
        if (code)
            return code;
        lo = next == lo ? end : next;
    }
    return 0;
}

/* Locks what is free by the table. A failure may have come after a part was locked. */
static int lock_outside(wr_storage *s, const range *r)
{
    int code = s->ops->lock(s, (int)r->kind, r->lo, r->hi);
    if (code) {
        weir_error error = *weir_error_last();
        release_uncovered(s, r->lo, r->hi);
        wr_error_raise(&error);
    }
    return code;
}

int wr_range_try(wr_storage *s, enum wr_lock_kind kind, int64_t lo, int64_t hi)
{
    const range r = {lo, hi, kind};
    wr_range_table *table = s->ranges;
    int code = 1;
    if (lo < 0 || hi <= lo)
        return wr_fail(WEIR_EINVAL, "range to lock is empty or negative");
    pthread_mutex_lock(&table->mutex);
    if (wr_grow((void **)&table->held, &table->room, table->count + 1, sizeof *table->held))
        code = wr_fail_system(ENOMEM, s->path, lo, "lock");
    else if (is_free(table, &r))
        code = lock_outside(s, &r);
    if (!code)
        table->held[table->count++] = r;
    pthread_mutex_unlock(&table->mutex);
    return code;
}

int wr_range_lock(wr_storage *s, enum wr_lock_kind kind, int64_t lo, int64_t hi,
                  const wr_waiter *waiter)
{
    int code, tries = 0;
    while ((code = wr_range_try(s, kind, lo, hi)) == 1) {
        wr_backoff(&tries);
        if (waiter && waiter->poke)
            waiter->poke(waiter->user);
    }
    return code;
}

static int64_t find(const wr_range_table *table, int64_t lo, int64_t hi)
{
    int64_t i = 0;
    while (i < table->count && (table->held[i].lo != lo || table->held[i].hi != hi))
        i++;
    return i;
}

int wr_range_unlock(wr_storage *s, int64_t lo, int64_t hi)
{
    wr_range_table *table = s->ranges;
    pthread_mutex_lock(&table->mutex);
    int64_t i = find(table, lo, hi);
    bool known = i < table->count;
    int code = 0;
    if (known) {
        table->held[i] = table->held[--table->count];
        code = release_uncovered(s, lo, hi);
    }
    pthread_mutex_unlock(&table->mutex);
    if (!known)
        return wr_fail(WEIR_EINVAL, "range to unlock is not locked");
    return code;
}
