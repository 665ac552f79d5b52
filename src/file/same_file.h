/* Whether ranks on several hosts have one file open, or each host its own of that name.
 *
 * On one kernel device and number of a file tell. Hosts may number the files they share
 * differently, and their own ones alike; so of several hosts
 *
 *   number, size and times, to the nanosecond, are equal, and
 *   the hosts have clocks of their own:                            the same file
 *   otherwise, open for writing: each host sees a small file that
 *   rank 0 makes for a moment beside it, and number, or size and
 *   time, are equal:                                               the same file
 *   otherwise, or where no file can be made: size and blocks at
 *   begin, middle and end are equal, and, open for writing, the
 *   time it was written:                                           the same file
 *
 * and everything else is an error. Only the last two cost more than a reduction that is made
 * anyway. */
#ifndef WR_FILE_SAME_FILE_H
#define WR_FILE_SAME_FILE_H

#include "file/file.h"

/* What a rank that has the file open knows of it. The same file: `proof` is equal on all ranks, or
 * `look` is and `kernel` is not, because what one kernel makes within a tick has equal times. */
typedef struct wr_likeness {
    int64_t proof, look, kernel;
} wr_likeness;

wr_likeness wr_file_likeness(const weir_file *file);

/* Whether two hosts may have the same: the number, or size and time, are equal. */
bool wr_file_mark_meets(const wr_file_mark *a, const wr_file_mark *b);

/* [collective] What the likenesses, which are not equal, leave open. Those who have it open come
 * with handle.ready. WEIR_EDISAGREE: there are several files. */
int wr_file_compare(weir_file *file, const wr_opening *how);

#endif
