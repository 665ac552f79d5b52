/* Errors of the command's own, raised as the library raises its, and how all are printed. */
#ifndef WR_CLI_FAILURE_H
#define WR_CLI_FAILURE_H

#include <weir/weir.h>

/* `file` may be "", `errnum` 0. Returns `code`. [local] */
int cli_fail(int code, const char *file, int errnum, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same, with errno and the code that suits it. */
int cli_fail_errno(const char *file, const char *text);

/* An error about FILE, of an array FILE:/NAME, becomes one about the array, unless it is the
 * system's. Returns `code`. [local] */
int cli_fail_inside(const char *array, int code);

/* One line on standard error; the format has no end of it. What a terminal might obey becomes "?".
 */
void cli_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
