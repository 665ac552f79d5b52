/* Windows that move between memory and file in the background.
 *
 * Each open file has an I/O worker, a job of the progress thread, that keeps a few windows
 * submitted at a time: the storage stays busy even when the thread, which shares its core with the
 * program's own computation, is slow to run. The worker starts with the first window and stops when
 * the file is closed. */
#ifndef WR_ACCESS_IO_WORKER_H
#define WR_ACCESS_IO_WORKER_H

#include "plan/cover.h"
#include "runtime/progress.h"
#include "storage/storage.h"

struct wr_handle;

enum { WR_ASYNC_TRANSFERS = 4 }; /* with more of them a window goes by itself */

typedef struct wr_async_window {
    enum wr_direction direction;
    const weir_pattern *cover; /* borrowed until it is over, as is the next */
    char *buffer;
    wr_word *wakeup;         /* signalled when it is over */
    const wr_window *locked; /* unlocked when it is over, or NULL */
    bool scattered;          /* as wr_handle_unlock_window has it */
    /* how it went, as wr_handle_move says */
    int code;
    weir_error error;
    int64_t valid;
    /* the I/O worker's */
    wr_word over;
    struct wr_async_window *next;
    int used, pending; /* transfers, and those that have not come back */
    wr_transfer transfers[WR_ASYNC_TRANSFERS];
} wr_async_window;

typedef struct wr_io_worker {
    wr_job job;
    bool running;
    wr_word call;         /* changes when there is something to do */
    pthread_mutex_t lock; /* of what follows */
    wr_async_window *first, *last;
    bool stopping;
} wr_io_worker;

/* Without the worker, with the storage held: gives the window to the storage, false if it has too
 * many transfers; and waits until it is over. Others may reap what belongs to it between. */
bool wr_async_window_submit(struct wr_handle *handle, wr_async_window *p);
void wr_async_window_wait(struct wr_handle *handle, wr_async_window *p);

/* WEIR_ENOMEM: it cannot be done in the background. */
int wr_async_window_start(struct wr_handle *handle, wr_async_window *p);

/* Once it is, its memory is the owner's again. */
bool wr_async_window_is_over(struct wr_handle *handle, wr_async_window *p);

/* One of its transfers has come back; with the storage held. */
static inline void wr_async_window_note(const wr_transfer *t)
{
    wr_async_window *p = t->user;
    if (p)
        p->pending--;
}

/* When nothing is under way any more. */
void wr_io_worker_stop(struct wr_handle *handle);

#endif
