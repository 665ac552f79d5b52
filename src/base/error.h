/* Raising errors inside the library.
 *
 * Invariant I1: whoever returns a negative code has set the thread's error details, so that
 * weir_error_last()->code is the code returned. Work done by another thread hands its details over
 * by value: wr_error_take() there, wr_error_raise() in the thread that answers to the caller. */
#ifndef WR_BASE_ERROR_H
#define WR_BASE_ERROR_H

#include "weir/error.h"

/* Sets the thread's details and returns `code`, so that a failure reads `return wr_fail(...)`. */
int wr_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As wr_fail, for a system call on `file` at `offset` (-1: none) that set errno to `errnum`; the
 * code follows from errnum. `what` says what was attempted: "read", "open". */
int wr_fail_system(int errnum, const char *file, int64_t offset, const char *what);

/* WEIR_EINVAL unless the reserve of a public struct is 0: so that a later version can give it a
 * meaning. */
int wr_check_reserved(const int64_t reserved[4], const char *struct_name);

/* Adds what the raiser could not know to the thread's details. */
void wr_error_note_rank(int rank);
void wr_error_note_file(const char *file, int64_t offset);

/* Puts "what: " before the text. */
void wr_error_prefix(const char *what);

/* Moves the thread's details out: the thread is left without an error. */
void wr_error_take(weir_error *out);

/* Makes *error the thread's details and returns its code. */
int wr_error_raise(const weir_error *error);

#endif
