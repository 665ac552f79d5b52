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

/* Reads or writes in the background, together or alone as the work says; NULL: this rank has
 * nothing to do. */
int wr_work_read(const weir_work *work, weir_array *array, const weir_selection *selection,
                 const weir_layout *layout, void *base, weir_request **out);
int wr_work_write(const weir_work *work, weir_array *array, const weir_selection *selection,
                  const weir_layout *layout, const void *base, weir_request **out);

/* The first error of several steps: a rank that has failed goes on taking part. */
typedef struct wr_first_error {
    weir_error error;
} wr_first_error;

static inline void wr_note_error(wr_first_error *first, int code)
{
    if (code && !first->error.code)
        first->error = *weir_error_last();
}

/* [collective] The code of all ranks; `array` is any of the operator's. */
int wr_work_end(weir_array *array, const wr_first_error *first);

/* The last of an operator that began to work: after an error, which all ranks agree on, none of its
 * new outputs gets its name. Returns the code. */
int wr_work_settle(weir_array *const *outputs, int count, int code);

static inline void wr_work_progress(const weir_work *work, int64_t done, int64_t all)
{
    if (work->progress)
        work->progress(work->user, done, all);
}

#endif
