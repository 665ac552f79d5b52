/* Taking leases, and giving them back in time. */
#include "access/lease.h"

#include "access/handle.h"

static void run(void *user)
{
    wr_handle *handle = user;
    wr_lease_reaper *u = &handle->lease_reaper;
    wr_waiter waiter = {.leaves = true};
    while (!wr_word_get(&u->stopping)) {
        uint32_t called = wr_word_get(&u->call);
        int64_t next = wr_lease_tend(handle->storage);
        if (next)
            wr_task_sleep(&u->stopping, 0, next);
        else
            wr_wait(&u->call, called, &waiter);
    }
}

static int start(wr_handle *handle)
{
    wr_lease_reaper *u = &handle->lease_reaper;
    wr_progress *p = &handle->world->process->progress;
    pthread_mutex_lock(&u->lock);
    if (u->state == WR_REAPER_UNKNOWN) {
        u->job = (wr_job){.by = WR_BY_THREAD, .called = true, .run = run, .user = handle};
        bool running = handle->tunables.progress.which == WR_PROGRESS_THREAD &&
                       wr_progress_thread(p) && !wr_job_start(p, &u->job);
        u->state = running ? WR_REAPER_RUNNING : WR_REAPER_NONE;
    }
    pthread_mutex_unlock(&u->lock);
    return u->state;
}

bool wr_lease_reaper_admit(wr_handle *handle)
{
    wr_lease_reaper *u = &handle->lease_reaper;
    bool fresh;
    int state = u->state;
    if ((state == WR_REAPER_UNKNOWN ? start(handle) : state) != WR_REAPER_RUNNING)
        return false;
    bool may = wr_lease_use(handle->storage, &fresh);
    if (fresh)
        wr_progress_signal(&handle->world->process->progress, &u->call);
    return may;
}

void wr_lease_reaper_stop(wr_handle *handle)
{
    wr_lease_reaper *u = &handle->lease_reaper;
    wr_progress *p = &handle->world->process->progress;
    bool running = u->state == WR_REAPER_RUNNING;
    u->state = WR_REAPER_NONE;
    if (!running)
        return;
    wr_progress_signal(p, &u->stopping);
    wr_progress_signal(p, &u->call);
    wr_world_wait_job(handle->world, &u->job);
    wr_lease_drop(handle->storage); /* others may still modify, while this rank waits for them */
}
