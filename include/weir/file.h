/* Byte files that the ranks of a communicator open together.
 *
 * What is read or written is said by two patterns of equal bytes: `where`, ordered, in the file,
 * and `memory`, relative to `base`. Data position k of the one goes with data position k of the
 * other. A rank with nothing to do gives NULL for both. Counts are true: how many bytes, from the
 * first data position on, are known to be moved; a read that meets the end of the file is cut
 * there, and is no error.
 *
 * Collective calls return the same code on every rank; the error details name the rank, the file
 * and the cause. Where several ranks write a byte in one collective call, the highest rank's is in
 * the file. After an error the handle can be used on; what was not written holds its old bytes. */
#ifndef WEIR_FILE_H
#define WEIR_FILE_H

#include "weir/pattern.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Several threads may make [local] calls on a file at a time, also beside a [collective] one other
 * than close and set_atomic, which no other call may overlap. [collective] calls are made by one
 * thread at a time, because their order must be the same on all ranks. */
typedef struct weir_file weir_file;

enum weir_mode {
    WEIR_READ = 1,
    WEIR_WRITE = 2,
    WEIR_CREATE = 4,
    WEIR_EXCLUSIVE = 8, /* with CREATE: the file must not exist */
    WEIR_TRUNCATE = 16,
    /* Nobody else writes to the file around holes, so that writes of a communicator of one rank
     * need no lock. */
    WEIR_SOLE = 32
};

/* weir_file_open is in weir.h, because it takes a communicator. */

/* Removes a file by its name, a striped one with all its parts. WEIR_ENOENT if there is none.
 * [local] */
WEIR_API int weir_file_remove(const char *path);

/* Waits for everything started on the file; requests are still to be waited for, to free them and
 * for their errors. The file is not used after it, whatever it returns. [collective] */
WEIR_API int weir_file_close(weir_file *file);

/* An access under way. Any thread may wait for it, but one thread at a time may use a request. */
typedef struct weir_request weir_request;

/* Moves data between the file and memory.
 *
 * request NULL: the call blocks, and *count, unless count is NULL, is set.
 *
 * Otherwise it returns without waiting for another rank, and the access goes on while the caller
 * computes, as the tunable `overlap` says; count is not looked at. `base` is the library's until
 * the request is over; the patterns are the caller's again at once. Of collective ones, each rank
 * starts the same in the same order on each file, all in this form; different files do not matter
 * to each other, and requests can be waited for in any order. Between nodes a program that starts
 * collective ones needs MPI_THREAD_MULTIPLE: with less they advance only within calls of the
 * library, and ranks in MPI keep others waiting (docs/overlap.md).
 *
 * Errors of a nonblocking access: a [local] call returns those of its arguments itself and sets
 * *request to NULL. A [collective] one returns them, like everything that goes wrong on any rank,
 * from weir_request_wait or _test on every rank; the call itself fails only with WEIR_ENOMEM.
 *
 * WEIR_EINVAL, and nothing moved, if the patterns do not fit together, if `where` is not ordered,
 * reaches below 0 or, for writing, has a byte twice. [collective] */
WEIR_API int weir_file_read_all(weir_file *file, const weir_pattern *where,
                                const weir_pattern *memory, void *base, int64_t *count,
                                weir_request **request);
WEIR_API int weir_file_write_all(weir_file *file, const weir_pattern *where,
                                 const weir_pattern *memory, const void *base, int64_t *count,
                                 weir_request **request);

/* The same for this rank alone. [local] */
WEIR_API int weir_file_read(weir_file *file, const weir_pattern *where, const weir_pattern *memory,
                            void *base, int64_t *count, weir_request **request);
WEIR_API int weir_file_write(weir_file *file, const weir_pattern *where, const weir_pattern *memory,
                             const void *base, int64_t *count, weir_request **request);

/* Waits for a request, frees it, sets it to NULL, and returns what the blocking call would have. Of
 * a NULL request nothing is waited for; count may be NULL. [local, but of a collective request all
 * ranks must have started it] */
WEIR_API int weir_request_wait(weir_request **request, int64_t *count);

/* The same if it is over; *over tells. [local] */
WEIR_API int weir_request_test(weir_request **request, int *over, int64_t *count);

/* The same, once it is over or so much time has passed. [local] */
WEIR_API int weir_request_wait_for(weir_request **request, double seconds, int *over,
                                   int64_t *count);

/* Waits for all, whatever errors there are; counts may be NULL. The first error, in the order
 * given. [local, as weir_request_wait] */
WEIR_API int weir_request_wait_all(int number, weir_request **requests, int64_t *counts);

/* In atomic mode accesses of the file by the ranks that opened it together are as if one came after
 * the other, gaps within them included: a read sees all or nothing of a write, and what overlapping
 * writes leave is one writer's. A write is seen by all ranks once its call, or its wait, has
 * returned. Nonblocking collective accesses then count as one of each rank. At first the
 * mode is off. WEIR_EDISAGREE if ranks differ, WEIR_EUNSUPPORTED if the file cannot be locked, and
 * nothing changed. [collective] */
WEIR_API int weir_file_set_atomic(weir_file *file, int atomic);

/* [local] */
WEIR_API int weir_file_get_atomic(const weir_file *file, int *atomic);

/* [local] */
WEIR_API int weir_file_get_size(weir_file *file, int64_t *size);

/* Cuts or extends with zeros. WEIR_EDISAGREE if ranks differ. [collective] */
WEIR_API int weir_file_set_size(weir_file *file, int64_t size);

/* Everything written by any rank before is on stable storage, and seen by every rank, collective
 * operations in flight included. [collective] */
WEIR_API int weir_file_sync(weir_file *file);

/* Collective accesses use these realms from now on: realm i, an ordered pattern, is what the i-th
 * aggregator is responsible for, again every `period` bytes; with period 0 accesses stay within the
 * realms. Patterns are copied. WEIR_EINVAL, and nothing changed, if realms overlap, leave a gap in
 * a period (or, with period 0, between their first byte and their last), or are more than ranks;
 * WEIR_EDISAGREE if they differ between ranks. count 0: as the tunable `realms` says. [collective]
 */
WEIR_API int weir_file_set_realms(weir_file *file, int count, const weir_pattern *const *realms,
                                  int64_t period);

#ifdef __cplusplus
}
#endif
#endif
