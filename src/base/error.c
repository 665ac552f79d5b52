/* Error codes, their names, and one record of details per thread: a failure overwrites the one
 * before. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local weir_error last = {.rank = -1, .offset = -1};

/* By code, which is 0 or below. */
static const char *const names[] = {
    [-WEIR_OK] = "no error",
    [-WEIR_EINVAL] = "invalid argument",
    [-WEIR_ENOMEM] = "out of memory",
    [-WEIR_EBUDGET] = "memory budget exceeded",
    [-WEIR_ERANGE] = "number does not fit 64 bits",
    [-WEIR_EFORMAT] = "malformed data",
    [-WEIR_ENOENT] = "no such file or folder",
    [-WEIR_EEXIST] = "file exists",
    [-WEIR_EACCESS] = "permission denied",
    [-WEIR_ENOSPC] = "no space left",
    [-WEIR_EIO] = "transfer failed",
    [-WEIR_ETRANSPORT] = "exchange between ranks failed",
    [-WEIR_EDISAGREE] = "ranks disagree",
    [-WEIR_EUNSUPPORTED] = "not supported here",
    [-WEIR_EINTERRUPTED] = "stopped by the caller",
};

/* Any errno that is not listed is a failed transfer. */
static const struct {
    int errnum;
    int code;
} system_codes[] = {
    {EINVAL, WEIR_EINVAL},       {ENOMEM, WEIR_ENOMEM},
    {ENOENT, WEIR_ENOENT},       {ENOTDIR, WEIR_ENOENT},
    {EEXIST, WEIR_EEXIST},       {EACCES, WEIR_EACCESS},
    {EPERM, WEIR_EACCESS},       {EROFS, WEIR_EACCESS},
    {ENOSPC, WEIR_ENOSPC},       {EDQUOT, WEIR_ENOSPC},
    {EFBIG, WEIR_ENOSPC},        {EOVERFLOW, WEIR_ERANGE},
    {ENOSYS, WEIR_EUNSUPPORTED}, {EOPNOTSUPP, WEIR_EUNSUPPORTED},
};

const char *weir_error_name(int code)
{
    const int count = sizeof names / sizeof *names;
    return code <= 0 && code > -count ? names[-code] : "unknown error";
}

const weir_error *weir_error_last(void)
{
    return &last;
}

int wr_fail(int code, const char *format, ...)
{
    last = (weir_error){.code = code, .rank = -1, .offset = -1};
    va_list args;
    va_start(args, format);
    vsnprintf(last.text, sizeof last.text, format, args);
    va_end(args);
    return code;
}

int wr_fail_system(int errnum, const char *file, int64_t offset, const char *what)
{
    int code = WEIR_EIO;
    for (size_t i = 0; i < sizeof system_codes / sizeof *system_codes; i++)
        if (system_codes[i].errnum == errnum)
            code = system_codes[i].code;
    wr_fail(code, "cannot %s", what);
    last.errnum = errnum;
    wr_error_note_file(file, offset);
    return code;
}

void wr_error_note_rank(int rank)
{
    last.rank = rank;
}

void wr_error_note_file(const char *file, int64_t offset)
{
    size_t length = strlen(file);
    if (length < sizeof last.file)
        memcpy(last.file, file, length + 1);
    else /* the tail of a path says more than its head */
        snprintf(last.file, sizeof last.file, "...%s", file + length - (sizeof last.file - 4));
    last.offset = offset;
}

int wr_check_reserved(const int64_t reserved[4], const char *struct_name)
{
    if (reserved[0] | reserved[1] | reserved[2] | reserved[3])
        return wr_fail(WEIR_EINVAL, "the reserve of a %s is not 0", struct_name);
    return 0;
}

void wr_error_prefix(const char *what)
{
    char text[WEIR_ERROR_TEXT];
    memcpy(text, last.text, sizeof text);
    snprintf(last.text, sizeof last.text, "%s: %.*s", what,
             (int)(sizeof text - strlen(what) % sizeof text - 3), text);
}

void wr_error_take(weir_error *out)
{
    *out = last;
    last = (weir_error){.rank = -1, .offset = -1};
}

int wr_error_raise(const weir_error *error)
{
    last = *error;
    return last.code;
}

int weir_error_raise(const weir_error *error)
{
    return wr_error_raise(error);
}

int weir_error_format(const weir_error *error, char *text, size_t size)
{
    char rank[32] = "", offset[40] = "", reason[128] = "";
    if (error->rank >= 0)
        snprintf(rank, sizeof rank, "rank %d: ", error->rank);
    if (error->offset >= 0)
        snprintf(offset, sizeof offset, " at byte %lld", (long long)error->offset);
    if (error->errnum) {
        char buffer[96];
        snprintf(reason, sizeof reason, ": %s", strerror_r(error->errnum, buffer, sizeof buffer));
    }
    return snprintf(text, size, "%s%s%s%s%s%s", rank, error->file, *error->file ? ": " : "",
                    *error->text ? error->text : weir_error_name(error->code), offset, reason);
}
