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

/* EAGAIN: somebody holds it. */
static int try_lock(wr_storage *s, const range *r)
{
    wr_range_table *table = s->ranges;
    int error = EAGAIN;
    pthread_mutex_lock(&table->mutex);
    if (wr_grow((void **)&table->held, &table->room, table->count + 1, sizeof *table->held))
        error = ENOMEM;
    else if (is_free(table, r))
        error = s->ops->lock(s, (int)r->kind, r->lo, r->hi);
    if (!error)
        table->held[table->count++] = *r;
    pthread_mutex_unlock(&table->mutex);
    return error;
}

int wr_range_try(wr_storage *s, enum wr_lock_kind kind, int64_t lo, int64_t hi)
{
    if (lo < 0 || hi <= lo)
        return wr_fail(WEIR_EINVAL, "range to lock is empty or negative");
    int error = try_lock(s, &(range){lo, hi, kind});
    if (error == EAGAIN)
        return 1;
    return error ? wr_fail_system(error, s->path, lo, "lock") : 0;
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
        int error = next == lo ? s->ops->lock(s, WR_LOCK_NONE, lo, end) : 0;
        if (error)
            return error;
        lo = next == lo ? end : next;
    }
    return 0;
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
    int error = 0;
    if (known) {
        table->held[i] = table->held[--table->count];
        error = release_uncovered(s, lo, hi);
    }
    pthread_mutex_unlock(&table->mutex);
    if (!known)
        return wr_fail(WEIR_EINVAL, "range to unlock is not locked");
    return error ? wr_fail_system(error, s->path, lo, "unlock") : 0;
}
