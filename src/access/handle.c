/* Moving covers between memory and file, and locking them. */
#include "access/handle.h"

#include <errno.h>
#include <string.h>

#include "base/arith.h"
#include "base/timer.h"

enum { BATCHES = 64 };

void wr_handle_init(wr_handle *handle, wr_world *world)
{
    *handle = (wr_handle){.world = world,
                          .watch = {.tally = &world->process->tally,
                                    .profile = world->process->profile,
                                    .timed = world->process->timed}};
    pthread_mutex_init(&handle->moving, NULL);
    pthread_mutex_init(&handle->io_worker.lock, NULL);
    pthread_mutex_init(&handle->lease_reaper.lock, NULL);
}

void wr_handle_release(wr_handle *handle)
{
    pthread_mutex_destroy(&handle->moving);
    pthread_mutex_destroy(&handle->io_worker.lock);
    pthread_mutex_destroy(&handle->lease_reaper.lock);
}

/* With `moving` held. */
static int refresh(wr_handle *handle)
{
    handle->aged = false; /* before: what is written meanwhile counts */
    int code = wr_storage_sync(handle->storage, WR_SYNC_REFRESH);
    if (code)
        handle->aged = true;
    return code;
}

int wr_handle_ready(wr_handle *handle)
{
    if (atomic_load_explicit(&handle->ready, memory_order_acquire))
        return 0;
    pthread_mutex_lock(&handle->moving);
    const wr_visit visit = wr_watch_begin(&handle->watch);
    int code = wr_storage_open_now(handle->storage, handle->open_flags);
    if (!code) {
        wr_log_line(&handle->world->log, WR_LOG_DEBUG, "%s: rank %d opens it now",
                    handle->storage->path, handle->world->transport->rank);
        if (handle->aged)
            code = refresh(handle);
        atomic_store_explicit(&handle->ready, true, memory_order_release);
    }
    wr_watch_end(&handle->watch, visit);
    pthread_mutex_unlock(&handle->moving);
    return code;
}

void wr_handle_input(const wr_handle *handle, wr_plan_input *in)
{
    in->alone = true;
    if (handle->atomic)
        in->write_behind = WR_BEHIND_DISABLE;
    in->blind = in->direction == WR_WRITE && !wr_handle_may_modify(handle);
    const wr_storage_facts *facts = &handle->storage->facts;
    in->granule = facts->granule[in->direction];
    in->coarse = wr_max(facts->granule[0], facts->granule[1]);
    in->batch = facts->batch;
    if (in->granule) { /* there are no bytes of a file to be seen */
        in->map = 0;
        in->direct = WR_SWITCH_NEVER;
    }
    in->weak = handle->weak;
    in->carries = handle->carries;
    in->local = handle->local;
    in->owned = false;
    in->atomic = handle->atomic;
    in->sole = handle->sole;
    in->leased = handle->lease_reaper.state != WR_REAPER_NONE;
}

int wr_handle_demand_all(const wr_handle *handle, int64_t stop)
{
    if (stop == INT64_MAX)
        return 0;
    wr_fail(WEIR_EIO, "the file has ended where there must be data");
    wr_error_note_file(handle->storage->path, stop);
    return WEIR_EIO;
}

/* Zeroes what a read did not bring. */
static void zero_missing(const wr_transfer *t)
{
    int64_t bytes = wr_transfer_bytes(t); /* memory of a cover is contiguous */
    memset(t->memory + t->done, 0, (size_t)(bytes - t->done));
}

/* What is left of a transfer that came back short, as a transfer: the rest of a run, or whole runs.
 * */
static wr_transfer rest_of(const wr_transfer *t)
{
    int64_t runs = t->done / t->run, part = t->done % t->run;
    wr_transfer rest = *t;
    rest.offset += runs * t->stride + part;
    rest.memory += runs * t->memory_stride + part;
    rest.run = t->run - part;
    rest.count = part ? 1 : t->count - runs;
    rest.done = 0;
    rest.error = 0;
    rest.next = NULL;
    return rest;
}

int wr_handle_sync(wr_handle *handle, enum wr_sync how)
{
    int code = 0;
    pthread_mutex_lock(&handle->moving);
    const wr_visit visit = wr_watch_begin(&handle->watch);
    if (!handle->ready) /* it has written nothing, and looks when it opens the file */
        handle->aged = handle->aged || how == WR_SYNC_REFRESH;
    else if (how == WR_SYNC_REFRESH)
        code = refresh(handle);
    else
        code = wr_storage_sync(handle->storage, how);
    wr_watch_end(&handle->watch, visit);
    pthread_mutex_unlock(&handle->moving);
    return code;
}

int wr_handle_catch_up(wr_handle *handle)
{
    if (!handle->aged)
        return 0;
    pthread_mutex_lock(&handle->moving);
    int code = handle->aged && handle->ready ? refresh(handle) : 0;
    pthread_mutex_unlock(&handle->moving);
    return code;
}

/* What lies between what this host knows of and the end that others have told is a hole. */
static bool fill_hole(const wr_handle *handle, wr_transfer *t)
{
    int64_t missing = wr_transfer_missing(t);
    if (missing >= handle->reach)
        return false;
    int64_t in = t->done % t->run;
    int64_t bytes = wr_min(t->run - in, handle->reach - missing);
    memset(t->memory + t->done / t->run * t->memory_stride + in, 0, (size_t)bytes);
    t->done += bytes;
    return true;
}

int wr_handle_judge(wr_handle *handle, wr_transfer *t)
{
    while (!t->error && t->direction == WR_READ && t->done < wr_transfer_bytes(t)) {
        int64_t size, missing = wr_transfer_missing(t);
        int code = wr_storage_get_size(handle->storage, &size);
        if (!code && missing >= size && fill_hole(handle, t))
            continue;
        if (code || missing >= size)
            return code;
        /* the file has grown since, or more is wrong: what is there must be read */
        wr_transfer rest = rest_of(t);
        rest.user = NULL;
        wr_storage_submit(handle->storage, &rest);
        wr_storage_reap(handle->storage, true);
        t->done += rest.done;
        t->error = rest.error ? rest.error : rest.done ? 0 : EIO;
    }
    return t->done < wr_transfer_bytes(t) ? wr_transfer_check(handle->storage, t) : 0;
}

void wr_handle_reap_all(wr_handle *handle)
{
    const wr_transfer *t;
    while ((t = wr_storage_reap(handle->storage, true)))
        wr_async_window_note(t);
}

int wr_handle_look(wr_handle *handle, int count, wr_transfer *transfers, int64_t *valid)
{
    int code = 0;
    for (int i = 0; i < count; i++) {
        wr_transfer *t = &transfers[i];
        if (t->done == wr_transfer_bytes(t))
            continue;
        int one = wr_handle_judge(handle, t);
        code = code ? code : one;
        if (t->done == wr_transfer_bytes(t))
            continue;
        *valid = wr_min(*valid, wr_transfer_missing(t));
        if (t->direction == WR_READ)
            zero_missing(t);
    }
    return code;
}

int wr_handle_move_held(wr_handle *handle, enum wr_direction direction, const weir_pattern *cover,
                        char *buffer, int64_t *valid)
{
    wr_transfer transfers[BATCHES];
    wr_cursor c;
    wr_batch b;
    int used = 0, code = 0;
    int64_t start = wr_sample_start(wr_pattern_root(cover)->runs, weir_pattern_bytes(cover)),
            runs = 0;
    wr_cursor_init(&c, cover);
    *valid = INT64_MAX;
    while (!code && wr_cursor_next(&c, INT64_MAX, &b)) {
        runs += b.count;
        transfers[used] = wr_handle_transfer(direction, &b, buffer);
        wr_storage_submit(handle->storage, &transfers[used++]);
        if (used == BATCHES) {
            wr_handle_reap_all(handle);
            code = wr_handle_look(handle, used, transfers, valid);
            used = 0;
        }
    }
    wr_handle_reap_all(handle);
    int last = wr_handle_look(handle, used, transfers, valid);
    code = code ? code : last;
    if (!code && *valid == INT64_MAX)
        wr_sample_end(&handle->samples, direction, start, runs, weir_pattern_bytes(cover));
    return code;
}

int wr_handle_move(wr_handle *handle, enum wr_direction direction, const weir_pattern *cover,
                   char *buffer, int64_t *valid)
{
    pthread_mutex_lock(&handle->moving);
    const wr_visit visit = wr_watch_begin(&handle->watch);
    int code = wr_handle_move_held(handle, direction, cover, buffer, valid);
    wr_watch_end(&handle->watch, visit);
    pthread_mutex_unlock(&handle->moving);
    return code;
}

/* Where locks have run out, writes without holes go on without: nobody reads before writing there,
 * because that is refused. Atomic mode promises more. */
static int forgive(const wr_handle *handle, int code, enum wr_lock_kind kind)
{
    const bool may = code < 0 && kind == WR_LOCK_SHARED && !handle->atomic;
    int errnum = may ? weir_error_last()->errnum : 0;
    return wr_range_is_unsupported(errnum) ? 0 : code;
}

/* A file that cannot be read cannot be locked shared, and is not modified. */
static enum wr_lock_kind kind_for(const wr_handle *handle, enum wr_lock_kind kind)
{
    return handle->can_read ? kind : WR_LOCK_EXCLUSIVE;
}

int wr_handle_lock(wr_handle *handle, enum wr_lock_kind kind, int64_t lo, int64_t hi)
{
    wr_waiter waiter = wr_transport_waiter(handle->world->transport, true);
    int code = wr_range_lock(handle->storage, kind_for(handle, kind), lo, hi, &waiter);
    return forgive(handle, code, kind);
}

int wr_handle_try(wr_handle *handle, enum wr_lock_kind kind, int64_t lo, int64_t hi)
{
    int code = wr_range_try(handle->storage, kind_for(handle, kind), lo, hi);
    return code == 1 ? WR_BUSY : forgive(handle, code, kind);
}

int wr_handle_fail_late(wr_handle *handle, enum wr_lock_kind kind, int64_t lo, int64_t hi)
{
    return wr_range_fail_late(handle->storage, kind_for(handle, kind), lo, hi);
}

void wr_handle_unlock(wr_handle *handle, int64_t lo, int64_t hi)
{
    wr_range_unlock(handle->storage, lo, hi);
}

/* Unlocks the cover's runs below offset `end`. */
static void unlock_runs(wr_handle *handle, const weir_pattern *cover, int64_t end)
{
    wr_cursor c;
    wr_batch b;
    for (wr_cursor_init(&c, cover); wr_cursor_next_run(&c, INT64_MAX, &b) && b.offset < end;)
        wr_handle_unlock(handle, b.offset, b.offset + b.run);
}

int wr_handle_try_window(wr_handle *handle, const wr_window *w, enum wr_lock_kind kind,
                         bool scattered)
{
    int code = 0;
    wr_cursor c;
    wr_batch b;
    if (!scattered)
        return wr_handle_try(handle, kind, w->lo, w->hi);
    wr_cursor_init(&c, w->cover);
    while (!code && wr_cursor_next_run(&c, INT64_MAX, &b)) {
        code = wr_handle_try(handle, kind, b.offset, b.offset + b.run);
        if (code)
            unlock_runs(handle, w->cover, b.offset);
    }
    return code;
}

void wr_handle_unlock_window(wr_handle *handle, const wr_window *w, bool scattered)
{
    if (scattered)
        unlock_runs(handle, w->cover, INT64_MAX);
    else
        wr_handle_unlock(handle, w->lo, w->hi);
}
