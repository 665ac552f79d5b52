/* A rank accesses the file for itself. Windows and covers are those of a realm that is the whole
 * request; where the cover is exact, data go between file and user memory without a copy. */
#include <errno.h>

#include "access/direct_read.h"
#include "access/handle.h"
#include "access/readahead.h"
#include "base/arith.h"
#include "base/task.h"
#include "pattern/pack.h"

/* In the background pieces are of a size that the storage copies at once where it can: waking its
 * threads would disturb those who compute more. Few go at a time: ranks that copy into one file all
 * at once spin on its lock. */
enum { BATCHES = 64, PIECE = 4 << 20, BITE = 16 << 20 };

/* The transfers of a request, straight from and to user memory, file and memory walked together. */
typedef struct direct {
    wr_handle *handle;
    const wr_access_request *a;
    wr_cursor file, memory;
    wr_transfer transfers[BATCHES];
    int used;
    int64_t piece, bite; /* most in one run, and most that is moved before other tasks get a turn */
    wr_outcome outcome;
    wr_readahead readahead;
    bool missing; /* a page cannot be had */
} direct;

static void settle(direct *d)
{
    wr_handle_reap_all(d->handle);
    for (int i = 0; i < d->used; i++) {
        wr_transfer *t = &d->transfers[i];
        if (t->done == wr_transfer_bytes(t))
            continue;
        int code = wr_handle_judge(d->handle, t);
        d->outcome.code = d->outcome.code ? d->outcome.code : code;
        if (t->done < wr_transfer_bytes(t))
            d->outcome.stop = wr_min(d->outcome.stop, wr_transfer_missing(t));
    }
    d->used = 0;
}

/* As many runs as file and memory have in common shape; false at the end. */
static bool next_transfer(direct *d, wr_transfer *out)
{
    wr_batch f, m;
    if (!wr_cursor_peek(&d->file, &f) || !wr_cursor_peek(&d->memory, &m))
        return false;
    int64_t run = wr_min(f.run, m.run), count = 1;
    if (f.run == m.run)
        count = wr_min(f.count, m.count);
    else if (m.count == 1 && m.run > f.run) { /* one long run of memory */
        count = wr_min(f.count, m.run / f.run);
        m.stride = f.run;
    } else if (f.count == 1 && f.run > m.run) {
        count = wr_min(m.count, f.run / m.run);
        f.stride = m.run;
    }
    if (run > d->piece) {
        run = d->piece;
        count = 1;
    }
    count = wr_max(1, wr_min(count, d->bite / run));
    *out = (wr_transfer){.direction = d->a->direction,
                         .offset = f.offset,
                         .run = run,
                         .count = count,
                         .stride = f.stride,
                         .memory = wr_at(d->a->base, m.offset),
                         .memory_stride = m.stride};
    wr_cursor_skip(&d->file, run * count);
    wr_cursor_skip(&d->memory, run * count);
    return true;
}

/* As much as is submitted together; false at the end. */
static bool move_some(direct *d)
{
    int64_t bytes = 0, runs = 0;
    bool more = true;
    pthread_mutex_lock(&d->handle->moving);
    const int64_t start = wr_sample_start(&d->handle->samples);
    while (d->used < BATCHES && bytes < d->bite) {
        more = next_transfer(d, &d->transfers[d->used]);
        if (!more)
            break;
        bytes += wr_transfer_bytes(&d->transfers[d->used]);
        runs += d->transfers[d->used].count;
        wr_storage_submit(d->handle->storage, &d->transfers[d->used++]);
    }
    settle(d);
    if (!d->outcome.code && d->outcome.stop == INT64_MAX)
        wr_sample_end(&d->handle->samples, d->a->direction, start, runs, bytes);
    pthread_mutex_unlock(&d->handle->moving);
    return more;
}

static bool hold(void *user, int64_t lo, int64_t hi)
{
    return wr_map_hold(user, lo, hi);
}

/* Some of the small pieces, straight from the pages of the file. */
static void copy_pages(void *user)
{
    direct *d = user;
    wr_handle *handle = d->handle;
    wr_batch b;
    for (int64_t bytes = BITE; bytes > 0 && wr_cursor_peek(&d->file, &b);) {
        wr_batch_cut(&b, false);
        d->missing = !wr_batch_stretches(&b, hold, &handle->map);
        if (d->missing)
            return;
        wr_readahead_move(&d->readahead, wr_batch_span(&b));
        wr_copy_cursors(&d->file, handle->map.base, &d->memory, d->a->base, b.run * b.count);
        bytes -= wr_batch_span(&b);
    }
}

/* False if something could not be had: reading it in another way tells why. */
static bool read_mapped(direct *d, int64_t hi)
{
    wr_handle *handle = d->handle;
    wr_batch b;
    bool good = true;
    while (good && wr_cursor_peek(&d->file, &b)) {
        pthread_mutex_lock(&handle->moving);
        good = wr_map_reach(&handle->map, handle->storage, hi) &&
               wr_map_read(&handle->map, handle->storage, hi, copy_pages, d) && !d->missing;
        wr_map_relax(&handle->map, handle->tunables.map);
        pthread_mutex_unlock(&handle->moving);
        if (wr_task_current())
            wr_task_yield();
    }
    return good;
}

/* Past the page cache, if nobody does that now and it pays. */
static bool read_past_cache(wr_handle *handle, const wr_access_request *a)
{
    pthread_mutex_lock(&handle->moving);
    bool mine = !handle->direct_reader_busy && !wr_direct_reader_is_over(handle->direct_reader) &&
                wr_direct_reader_open(&handle->direct_reader, handle->storage);
    handle->direct_reader_busy = handle->direct_reader_busy || mine;
    pthread_mutex_unlock(&handle->moving);
    if (!mine)
        return false;
    bool good = wr_direct_reader_read(handle->direct_reader, a);
    pthread_mutex_lock(&handle->moving);
    handle->direct_reader_busy = false;
    pthread_mutex_unlock(&handle->moving);
    return good;
}

/* The transfers are left as they are: to set them would take a small access longer than itself. */
static void direct_init(direct *d, wr_handle *handle, const wr_access_request *a)
{
    d->handle = handle;
    d->a = a;
    d->used = 0;
    d->piece = wr_task_current() ? PIECE : INT64_MAX;
    d->bite = wr_task_current() ? BITE : INT64_MAX;
    d->outcome = (wr_outcome){.stop = INT64_MAX};
    d->readahead = (wr_readahead){0};
    d->missing = false;
    wr_cursor_init(&d->file, a->file);
    wr_cursor_limit(&d->file, a->begin, a->end);
    wr_cursor_init(&d->memory, a->memory);
}

static wr_outcome move_directly(wr_handle *handle, const wr_access_request *a)
{
    direct d;
    direct_init(&d, handle, a);
    while (!d.outcome.code && move_some(&d))
        if (wr_task_current() && !a->unbroken)
            wr_task_yield();
    return d.outcome;
}

/* Arrays, whose files seldom shrink while they are read, can be read by other ways than calls. */
static bool read_array(wr_handle *handle, const wr_access_request *a, const wr_plan_input *in)
{
    bool cold = wr_readahead_is_cold(handle, a);
    if (cold && handle->tunables.direct.which != WR_SWITCH_NEVER && read_past_cache(handle, a))
        return true;
    if (!handle->tunables.map || a->frugal || !wr_plan_may_map(in))
        return false;
    direct d;
    direct_init(&d, handle, a);
    if (cold)
        wr_readahead_init(&d.readahead, handle, a);
    return read_mapped(&d, in->wanted.hi);
}

/* One window through a buffer. */
static int move_window(wr_handle *handle, const wr_access_request *a, const wr_window *w,
                       char *buffer, int64_t *stop)
{
    int64_t valid = INT64_MAX;
    bool write = a->direction == WR_WRITE, locked = false;
    int code = 0;
    if (write && !a->held && (w->holes || !handle->sole)) {
        enum wr_lock_kind kind = handle->sole ? WR_LOCK_EXCLUSIVE : WR_LOCK_MODIFY;
        code = wr_handle_lock(handle, w->holes ? kind : WR_LOCK_SHARED, w->lo, w->hi);
        locked = !code;
    }
    if (!code && (!write || w->holes))
        code = wr_handle_move(handle, WR_READ, w->cover, buffer, &valid);
    if (!code) {
        wr_access_copy(a, w->cover, buffer, w->lo, write ? w->hi : wr_min(w->hi, valid));
        if (write)
            code = wr_handle_move(handle, WR_WRITE, w->cover, buffer, &valid);
    }
    if (locked)
        wr_handle_unlock(handle, w->lo, w->hi);
    if (code || (!write && valid < INT64_MAX))
        *stop = code ? w->lo : valid;
    return code;
}

static wr_outcome move_windows(wr_handle *handle, const wr_access_request *a,
                               const wr_plan_input *in)
{
    const wr_summary *wanted = &in->wanted;
    wr_plan plan = wr_plan_alone(wanted, handle->tunables.sieve_buffer[a->direction]);
    wr_want want = {a->file, a->begin, a->end, 0};
    wr_windows walk;
    wr_window w;
    wr_outcome o = {.stop = INT64_MAX};
    weir_pattern *realm = NULL;
    char *buffer = wr_alloc(wr_min(plan.window, wanted->hi - wanted->lo));
    o.code = buffer ? wr_plan_realm(&plan, 0, &realm) : WEIR_ENOMEM;
    wr_windows_init(&walk, in, &plan, realm, 1, &want);
    for (int more = 1; !o.code && more && o.stop == INT64_MAX;) {
        more = wr_windows_next(&walk, &w);
        if (more < 0)
            o.code = more;
        if (more == 1) {
            o.code = move_window(handle, a, &w, buffer, &o.stop);
            wr_window_release(&w);
        }
    }
    if (o.code && o.stop == INT64_MAX)
        o.stop = walk.at;
    wr_windows_release(&walk);
    weir_pattern_free(realm);
    wr_free(buffer);
    return o;
}

/* Whole columns, wanted or not, as many at a time as the buffer takes: "PASSION Runtime Library for
 * Parallel I/O", section 5.1. */
static wr_outcome move_columns(wr_handle *handle, const wr_access_request *a)
{
    int64_t columns = wr_max(1, handle->tunables.sieve_buffer[a->direction] / a->column);
    int64_t step = wr_min(columns * a->column, a->hi - a->lo);
    wr_outcome o = {.stop = INT64_MAX};
    char *buffer = wr_alloc(step);
    o.code = buffer ? 0 : WEIR_ENOMEM;
    for (int64_t lo = a->lo; lo < a->hi && !o.code && o.stop == INT64_MAX; lo += step) {
        wr_run_pattern cover;
        int64_t hi = wr_min(lo + step, a->hi);
        int64_t wanted = wr_pattern_data_below(a->file, hi) - wr_pattern_data_below(a->file, lo);
        wr_window w = {.lo = lo, .hi = hi, .holes = wanted < hi - lo};
        w.cover = (weir_pattern *)wr_run_pattern_set(&cover, lo, hi - lo);
        o.code = move_window(handle, a, &w, buffer, &o.stop);
    }
    wr_free(buffer);
    return o;
}

/* So that it does not fall between another's reading and writing. */
static wr_outcome write_plainly(wr_handle *handle, const wr_access_request *a,
                                const wr_summary *wanted)
{
    bool lease = wr_lease_reaper_admit(handle, wanted->bytes);
    int code = lease ? 0 : wr_handle_lock(handle, WR_LOCK_SHARED, wanted->lo, wanted->hi);
    if (code)
        return (wr_outcome){code, wanted->lo};
    wr_outcome o = move_directly(handle, a);
    if (lease)
        wr_lease_give(handle->storage);
    else
        wr_handle_unlock(handle, wanted->lo, wanted->hi);
    return o;
}

/* `o`; but where others have locked for too long what was to be modified, without reading it. */
static wr_outcome or_plainly(wr_handle *handle, const wr_access_request *a,
                             const wr_summary *wanted, wr_outcome o)
{
    if (!o.code || a->direction == WR_READ || a->held || weir_error_last()->errnum != EAGAIN)
        return o;
    wr_log_line(&handle->world->log, WR_LOG_WARN, "%s; writing without reading what lies between",
                weir_error_last()->text);
    return write_plainly(handle, a, wanted);
}

static wr_outcome run(wr_handle *handle, const wr_access_request *a)
{
    wr_summary wanted = wr_summary_of(a->file, a->begin, a->end);
    if (!wanted.active)
        return (wr_outcome){.stop = INT64_MAX};
    bool sieve = handle->tunables.access[a->direction].which == WR_ACCESS_SIEVE;
    if (sieve && a->column && handle->tunables.sieve_unit.which == WR_SIEVE_COLUMN &&
        (a->direction == WR_READ || wr_handle_may_modify(handle)))
        return or_plainly(handle, a, &wanted, move_columns(handle, a));
    if (wanted.hi - wanted.lo != wanted.bytes || a->whole) {
        wr_plan_input in = wr_handle_input(handle, a->direction, &wanted);
        if (a->whole && wr_plan_may_look(&in) && read_array(handle, a, &in))
            return (wr_outcome){.stop = INT64_MAX};
        if (wanted.hi - wanted.lo != wanted.bytes && wr_plan_may_sieve(&in))
            return or_plainly(handle, a, &wanted, move_windows(handle, a, &in));
    }
    return a->direction == WR_READ || handle->sole || a->held ? move_directly(handle, a)
                                                              : write_plainly(handle, a, &wanted);
}

/* Atomic mode: from the first byte to the last, gaps included, and as long as it takes (K3). */
static wr_outcome run_atomic(wr_handle *handle, const wr_access_request *a)
{
    wr_access_request held = *a;
    int64_t lo, hi;
    if (a->begin == a->end)
        return run(handle, a);
    wr_pattern_bounds_of(a->file, a->begin, a->end, &lo, &hi);
    bool exact = hi - lo == a->end - a->begin && !a->column;
    enum wr_lock_kind kind = exact ? WR_LOCK_EXCLUSIVE : WR_LOCK_MODIFY;
    int code = wr_handle_lock(handle, a->direction == WR_READ ? WR_LOCK_SHARED : kind, lo, hi);
    if (code)
        return (wr_outcome){code, lo};
    held.held = true;
    wr_outcome o = run(handle, &held);
    wr_handle_unlock(handle, lo, hi);
    return o;
}

wr_outcome wr_alone_run(wr_handle *handle, const wr_access_request *a)
{
    wr_outcome o = {.code = wr_write_behind_flush(handle)};
    if (!o.code)
        o = handle->atomic ? run_atomic(handle, a) : run(handle, a);
    if (!o.code && a->whole)
        o.code = wr_handle_demand_all(handle, o.stop);
    return o;
}
