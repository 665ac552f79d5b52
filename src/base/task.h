/* Straight-line code that can be left where it waits and taken up again later.
 *
 * A task has a stack of its own. Whoever moves it along runs it until it waits or is over; a wait
 * inside (wait.h) leaves it and says what it waits for. So what has to proceed beside the caller's
 * own work, a bit at a time, is written as if it blocked. The error details of weir_error_last are
 * the task's own while it runs, and signals are blocked.
 *
 * A task may be moved by different threads, one at a time. Code that runs in tasks must not leave
 * holding a mutex, nor keep the address of something thread-local (errno) across a wait. */
#ifndef WR_BASE_TASK_H
#define WR_BASE_TASK_H

#include <stdbool.h>

#include "base/wait.h"

typedef struct wr_task wr_task;

/* About 300 KiB of address space, a few pages of memory. */
int wr_task_new(wr_task **out);

/* It must not be in the middle of something that holds resources. NULL is fine. */
void wr_task_free(wr_task *task);

/* From here on it runs `run`, which it has not begun; only for one that is new or over. */
void wr_task_set(wr_task *task, void (*run)(void *user), void *user);

/* Runs it until it waits (false) or is over (true). Not within a task. */
bool wr_task_move(wr_task *task);

/* What it waits for: the word's value to differ from *seen; NULL: it wants to look again soon, and
 * has looked *seen times. */
wr_word *wr_task_awaits(const wr_task *task, uint32_t *seen);

/* How long it wants to wait at most, in microseconds; 0: until there is what it waits for. */
int64_t wr_task_patience(const wr_task *task);

/* The task that calls, or NULL. */
wr_task *wr_task_current(void);

/* Within a task: leaves it; returns when it is moved again, whether the word has changed or not. */
void wr_task_leave(wr_word *word, uint32_t seen);

/* The same, and wants to be moved about so many microseconds later in any case. */
void wr_task_sleep(wr_word *word, uint32_t seen, int64_t microseconds);

/* Within a task: leaves it for a moment, so that others get their turn. */
void wr_task_yield(void);

#endif
