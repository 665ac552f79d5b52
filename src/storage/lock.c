/* A table of what this storage's threads hold, and the kernel's locks behind it.
 *
 * The kernel knows one owner per open file description and forgets a lock as a whole: what two
 * threads hold shared must stay locked where they overlap until both have let go. For the same
 * reason a lease that this storage has is never covered by a lease barrier of its own: the kernel
 * would make one of the other without a word. */
#include "storage/lock.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "base/arith.h"
#include "base/clock.h"

typedef struct range {
    int64_t lo, hi;
    enum wr_lock_kind kind;
} range;

typedef struct wr_range_table {
    pthread_mutex_t mutex;
    range *held;
    int64_t count, room;
    int64_t modifies; /* ranges held to be modified */
    bool rung;        /* somebody here waits to do that */
    /* The lease. */
    bool has_lease;
    bool tended;           /* somebody looks at it from time to time */
    int64_t idle;          /* how often he has seen none, since it was taken */
    int64_t number, taken; /* taken: when, in nanoseconds */
    int64_t users, left;   /* threads that write by it now, and how many more may come */
    int64_t refused;       /* writes that do not try to have one */
    int64_t uses;
    uint64_t random;
    bool alone; /* the kernel is not asked: it has no locks for this file */
    int64_t lock_wait;
    /* Who waits to have a range alone. */
    bool claims;
    range claim;
    /* Since when, 0 if not at all, he or another is let go first by somebody who would lock this
     * shared. */
    int64_t lets_since, ignores_until;
    range let;
} wr_range_table;

enum { REFUSED = 16 };

/* Who claims a range may be stopped, or mean no good: he is let go first for so long, and then not
 * for so long. */
enum { LET_NS = 1000000000 };
#define IGNORE_NS (10 * (int64_t)LET_NS)

/* Between one try and the next no more than this counts, nor than a part of lock_wait. */
enum { STEP_NS = 100000000, STEPS = 4 };

wr_range_table *wr_range_table_new(int64_t lock_wait)
{
    wr_range_table *table = wr_alloc(sizeof *table);
    if (table)
        *table = (wr_range_table){.mutex = PTHREAD_MUTEX_INITIALIZER, .lock_wait = lock_wait};
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

static bool meets(const range *a, const range *b)
{
    return a->lo < b->hi && b->lo < a->hi;
}

static bool is_free(const wr_range_table *table, const range *r)
{
    for (int64_t i = 0; i < table->count; i++) {
        const range *other = &table->held[i];
        bool together = r->kind == WR_LOCK_SHARED && other->kind == WR_LOCK_SHARED;
        if (!together && meets(r, other))
            return false;
    }
    return true;
}

/* The kernel's locks. */
static int call(wr_storage *s, enum wr_lock_kind kind, int64_t lo, int64_t hi)
{
    return s->ranges->alone ? 0 : s->ops->lock(s, (int)kind, lo, hi);
}

/* For what is done after something has failed. */
static void call_quietly(wr_storage *s, enum wr_lock_kind kind, int64_t lo, int64_t hi)
{
    weir_error error = *weir_error_last();
    call(s, kind, lo, hi);
    wr_error_raise(&error);
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
        int code = next == lo ? call(s, WR_LOCK_NONE, lo, end) : 0;
        if (code)
            return code;
        lo = next == lo ? end : next;
    }
    return 0;
}

/* Locks what is free by the table. A failure may have come after a part was locked. */
static int lock_outside(wr_storage *s, const range *r)
{
    int code = call(s, r->kind, r->lo, r->hi);
    if (code) {
        weir_error error = *weir_error_last();
        release_uncovered(s, r->lo, r->hi);
        wr_error_raise(&error);
    }
    return code;
}

/* With the mutex held, as are all about leases. What fails to be given back is still had. */
static void drop_lease(wr_storage *s)
{
    wr_range_table *table = s->ranges;
    if (table->has_lease && !table->users &&
        !call(s, WR_LOCK_PASS_NONE, table->number, table->number + 1))
        table->has_lease = false;
}

/* After the range. */
static int enter_lease_barrier(wr_storage *s, const range *r)
{
    wr_range_table *table = s->ranges;
    drop_lease(s);
    int code = table->has_lease ? 1 : call(s, WR_LOCK_BARRIER, r->lo, r->hi);
    table->rung = code == 1;
    table->modifies += !code;
    if (code) {
        weir_error error = *weir_error_last();
        release_uncovered(s, r->lo, r->hi);
        wr_error_raise(&error);
    }
    return code;
}

/* Whether who would lock shared lets another go first who waits to have some of the range alone:
 * those who come and go together would keep him out for ever. Only he who began to let others go
 * first ends that by having what he tried for, because many try for several ranges in turn, not all
 * of them claimed; if he is never seen again it is forgotten after a while. */
static bool lets_go_first(wr_storage *s, const range *r)
{
    wr_range_table *table = s->ranges;
    bool claimed =
        (table->claims && meets(&table->claim, r)) || call(s, WR_LOCK_CLAIMED, r->lo, r->hi) == 1;
    if (!claimed) {
        if (r->lo <= table->let.lo && r->hi >= table->let.hi)
            table->lets_since = 0;
        return false;
    }
    const int64_t now = wr_clock_ns();
    if (now < table->ignores_until)
        return false;
    if (!table->lets_since || now - table->lets_since > IGNORE_NS) {
        table->lets_since = now;
        table->let = *r;
    }
    if (now - table->lets_since < LET_NS)
        return true;
    table->lets_since = 0;
    table->ignores_until = now + IGNORE_NS;
    return false;
}

/* One claim a storage: it is of whoever waits first. */
static void claim(wr_storage *s, const range *r)
{
    wr_range_table *table = s->ranges;
    if (table->claims)
        return;
    table->claims = true;
    table->claim = *r;
    call(s, WR_LOCK_CLAIM, r->lo, r->hi);
}

static void drop_claim(wr_storage *s, int64_t lo, int64_t hi)
{
    wr_range_table *table = s->ranges;
    if (!table->claims || table->claim.lo < lo || table->claim.hi > hi)
        return;
    table->claims = false;
    call_quietly(s, WR_LOCK_CLAIM_NONE, table->claim.lo, table->claim.hi);
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
    else if (is_free(table, &r) && (kind != WR_LOCK_SHARED || !lets_go_first(s, &r)))
        code = lock_outside(s, &r);
    if (!code && kind == WR_LOCK_MODIFY)
        code = enter_lease_barrier(s, &r);
    if (code == 1 && kind != WR_LOCK_SHARED)
        claim(s, &r);
    else if (kind != WR_LOCK_SHARED)
        drop_claim(s, lo, hi);
    if (!code)
        table->held[table->count++] = r;
    pthread_mutex_unlock(&table->mutex);
    return code;
}

int wr_range_lock(wr_storage *s, enum wr_lock_kind kind, int64_t lo, int64_t hi,
                  const wr_waiter *waiter)
{
    int code, tries = 0;
    wr_range_wait wait = {0};
    while ((code = wr_range_try(s, kind, lo, hi)) == 1) {
        if (wr_range_is_late(s, &wait)) {
            code = wr_range_fail_late(s, kind, lo, hi);
            break;
        }
        wr_backoff(&tries);
        if (waiter && waiter->poke)
            waiter->poke(waiter->user);
    }
    if (code && kind != WR_LOCK_SHARED)
        wr_range_give_up(s, lo, hi);
    return code;
}

bool wr_range_is_late(const wr_storage *s, wr_range_wait *wait)
{
    const int64_t now = wr_clock_ns(), limit = s->ranges->lock_wait * 1000000;
    if (wait->last)
        wait->waited += wr_min(now - wait->last, wr_min(STEP_NS, limit / STEPS));
    wait->last = now;
    return limit && wait->waited >= limit;
}

void wr_range_set_wait(wr_storage *s, int64_t lock_wait)
{
    s->ranges->lock_wait = lock_wait;
}

int wr_range_fail_late(wr_storage *s, enum wr_lock_kind kind, int64_t lo, int64_t hi)
{
    wr_range_table *table = s->ranges;
    pthread_mutex_lock(&table->mutex);
    const bool own = !is_free(table, &(range){lo, hi, kind});
    int code = own ? 0 : call(s, WR_LOCK_HOLDER, lo, hi);
    pthread_mutex_unlock(&table->mutex);
    if (code < 0)
        return code;
    wr_fail_system(EAGAIN, s->path, lo,
                   own ? "lock: another thread of this process has it"
                       : "lock: others were always faster");
    return WEIR_EIO;
}

bool wr_range_is_unsupported(int errnum)
{
    return errnum == ENOSYS || errnum == EOPNOTSUPP || errnum == ENOLCK;
}

/* Nor by open file: before Linux 3.15 and elsewhere. */
static bool has_no_locks(int code)
{
    int error = code < 0 ? weir_error_last()->errnum : 0;
    return error == EINVAL || wr_range_is_unsupported(error);
}

bool wr_range_probe(wr_storage *s)
{
    wr_range_table *table = s->ranges;
    weir_error before = *weir_error_last();
    pthread_mutex_lock(&table->mutex);
    bool can = !table->alone;
    if (can && !table->count) { /* what is held was locked, and must stay so */
        int code = call(s, WR_LOCK_SHARED, 0, 1);
        can = !has_no_locks(code);
        if (!code)
            call(s, WR_LOCK_NONE, 0, 1);
    }
    pthread_mutex_unlock(&table->mutex);
    wr_error_raise(&before);
    return can;
}

void wr_range_go_without(wr_storage *s)
{
    s->ranges->alone = true;
}

void wr_range_give_up(wr_storage *s, int64_t lo, int64_t hi)
{
    wr_range_table *table = s->ranges;
    pthread_mutex_lock(&table->mutex);
    if (table->rung)
        call_quietly(s, WR_LOCK_BELL_NONE, lo, hi);
    table->rung = false;
    drop_claim(s, lo, hi);
    pthread_mutex_unlock(&table->mutex);
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
        if (table->held[i].kind == WR_LOCK_MODIFY) {
            table->modifies--;
            code = call(s, WR_LOCK_GATE_NONE, lo, hi);
        }
        table->held[i] = table->held[--table->count];
        int left = release_uncovered(s, lo, hi);
        code = code ? code : left;
    }
    pthread_mutex_unlock(&table->mutex);
    if (!known)
        return wr_fail(WEIR_EINVAL, "range to unlock is not locked");
    return code;
}

/* Another number each time, so that two who meet do not meet again. */
static int64_t next_number(wr_range_table *table)
{
    if (!table->random)
        table->random =
            (uint64_t)wr_clock_ns() ^ (uint64_t)getpid() << 40 ^ (uint64_t)(uintptr_t)table;
    table->random = table->random * 6364136223846793005U + 1442695040888963407U;
    return (int64_t)(table->random >> 33) % WR_LEASES;
}

static bool take_lease(wr_storage *s)
{
    wr_range_table *table = s->ranges;
    if (table->refused > 0) {
        table->refused--;
        return false;
    }
    table->number = next_number(table);
    int code = call(s, WR_LOCK_PASS, table->number, table->number + 1);
    table->has_lease = !code;
    table->refused = code < 0 ? INT64_MAX : code ? REFUSED : 0;
    table->left = WR_LEASE_USES;
    table->taken = wr_clock_ns();
    return !code;
}

bool wr_lease_use(wr_storage *s, bool *fresh)
{
    wr_range_table *table = s->ranges;
    pthread_mutex_lock(&table->mutex);
    bool may = !table->rung && !table->modifies;
    if (may && !table->has_lease && take_lease(s))
        table->idle = 0;
    may = may && table->has_lease && table->left > 0;
    *fresh = may && !table->tended;
    table->tended |= *fresh;
    if (may) {
        table->users++;
        table->left--;
        table->uses++;
    }
    pthread_mutex_unlock(&table->mutex);
    return may;
}

void wr_lease_give(wr_storage *s)
{
    wr_range_table *table = s->ranges;
    pthread_mutex_lock(&table->mutex);
    table->users--;
    if (table->left <= 0 || table->rung)
        drop_lease(s);
    pthread_mutex_unlock(&table->mutex);
}

void wr_lease_drop(wr_storage *s)
{
    wr_range_table *table = s->ranges;
    pthread_mutex_lock(&table->mutex);
    drop_lease(s);
    pthread_mutex_unlock(&table->mutex);
}

int64_t wr_lease_tend(wr_storage *s)
{
    wr_range_table *table = s->ranges;
    pthread_mutex_lock(&table->mutex);
    int64_t age = (wr_clock_ns() - table->taken) / 1000, next = WR_LEASE_US;
    if (table->has_lease && age < WR_LEASE_US) {
        next -= age;
    } else if (table->has_lease) {
        table->left = 0;
        drop_lease(s);
    } else if (++table->idle > WR_LEASE_IDLE) {
        table->tended = false;
        next = 0;
    }
    pthread_mutex_unlock(&table->mutex);
    return next;
}

int64_t wr_lease_uses(wr_storage *s)
{
    wr_range_table *table = s->ranges;
    pthread_mutex_lock(&table->mutex);
    int64_t uses = table->uses;
    pthread_mutex_unlock(&table->mutex);
    return uses;
}
