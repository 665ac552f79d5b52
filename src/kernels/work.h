/* What operators share: how they work, what they would take, and how they end. */
#ifndef WR_KERNELS_WORK_H
#define WR_KERNELS_WORK_H

#include "array/array.h"
#include "weir/kernels.h"

enum { WR_WORK_MEMORY = 64 << 20 };

/* `work` with nothing left open; NULL is all-zero. */
weir_work wr_work_of(const weir_work *work);

/* WEIR_EINVAL if nobody could work so. */
int wr_work_check(const weir_work *work);

/* 0, or WEIR_EINTERRUPTED if the caller asks for that now. */
int wr_work_stop(const weir_work *work);

/* An operator at work, and the first error of its steps: a rank that has failed goes on taking
 * part, and takes the error along, so that all learn. */
typedef struct wr_task {
    weir_work work;
    weir_error error;
} wr_task;

static inline void wr_task_note(wr_task *task, int code)
{
    if (code && !task->error.code)
        task->error = *weir_error_last();
}

/* Reads or writes in the background, together or alone as the work says; NULL: this rank has
 * nothing to do. Errors are noted. */
void wr_task_read(wr_task *task, weir_array *array, const weir_selection *selection,
                  const weir_layout *layout, void *base, weir_request **out);
void wr_task_write(wr_task *task, weir_array *array, const weir_selection *selection,
                   const weir_layout *layout, const void *base, weir_request **out);
void wr_task_wait(wr_task *task, weir_request **request);

/* Tells the caller how far it is, who may ask for a stop. */
void wr_task_tell(wr_task *task, int64_t done, int64_t all);

/* [collective] The code of all ranks; `array` is any of the operator's. */
int wr_task_end(const wr_task *task, weir_array *array);

/* The last of an operator that began to work: after an error, which all ranks agree on, none of its
 * new outputs gets its name. Returns the code. */
int wr_work_settle(weir_array *const *outputs, int count, int code);

#endif
