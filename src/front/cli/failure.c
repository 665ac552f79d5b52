/* Errors as the library has them, so that one function prints them all. */
#include "failure.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"

int cli_fail(int code, const char *file, int errnum, const char *format, ...)
{
    va_list arguments;
    weir_error error = {.code = code, .errnum = errnum, .rank = -1, .offset = -1};
    snprintf(error.file, sizeof error.file, "%s", file);
    va_start(arguments, format);
    vsnprintf(error.text, sizeof error.text, format, arguments);
    va_end(arguments);
    return weir_error_raise(&error);
}

int cli_fail_inside(const char *array, int code)
{
    weir_error e = *weir_error_last();
    const size_t length = strlen(e.file);
    if (!code || e.errnum || strncmp(array, e.file, length) != 0 ||
        strncmp(array + length, ":/", 2) != 0)
        return code;
    snprintf(e.file, sizeof e.file, "%s", array);
    return weir_error_raise(&e);
}

void cli_tell(const char *format, ...)
{
    char line[3 * PATH_MAX], *shown = NULL;
    size_t size;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    FILE *text = open_memstream(&shown, &size);
    escape_line(text ? text : stderr, line);
    fputc('\n', text ? text : stderr);
    if (text && !fclose(text))
        fputs(shown, stderr); /* in one piece: other processes print, too */
    free(shown);
}

int cli_fail_errno(const char *file, const char *text)
{
    const int number = errno;
    const int code = number == ENOENT                       ? WEIR_ENOENT
                     : number == EACCES || number == EPERM  ? WEIR_EACCESS
                     : number == ENOSPC || number == EDQUOT ? WEIR_ENOSPC
                     : number == ENOMEM                     ? WEIR_ENOMEM
                                                            : WEIR_EIO;
    return cli_fail(code, file, number, "%s", text);
}
