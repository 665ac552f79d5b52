/* What can go wrong, and how a caller learns of it.
 *
 * A fallible function returns 0 or one of the negative codes below. The calling thread can then
 * ask weir_error_last() for the details: text, file, offset, errno and rank. The details stay
 * until the next failure on the same thread; success does not clear them. */
#ifndef WEIR_ERROR_H
#define WEIR_ERROR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_API __attribute__((visibility("default")))

enum weir_code {
    WEIR_OK = 0,
    WEIR_EINVAL = -1,        /* an argument is outside what the function accepts */
    WEIR_ENOMEM = -2,        /* the system gave no memory */
    WEIR_EBUDGET = -3,       /* the memory budget set by the user would be exceeded */
    WEIR_ERANGE = -4,        /* an offset, count or product does not fit 64 bits */
    WEIR_EFORMAT = -5,       /* bytes read or received are malformed */
    WEIR_ENOENT = -6,        /* a file or folder does not exist */
    WEIR_EEXIST = -7,        /* a file exists and must not */
    WEIR_EACCESS = -8,       /* the system refuses permission */
    WEIR_ENOSPC = -9,        /* the storage or a quota is full */
    WEIR_EIO = -10,          /* a transfer failed or was cut short */
    WEIR_ETRANSPORT = -11,   /* ranks could not exchange data */
    WEIR_EDISAGREE = -12,    /* ranks made calls that do not fit together */
    WEIR_EUNSUPPORTED = -13, /* valid, but this build or system cannot do it */
    WEIR_EINTERRUPTED = -14  /* the caller asked for it to stop */
};

enum { WEIR_ERROR_TEXT = 256, WEIR_ERROR_FILE = 256 };

/* Everything known about a failure; plain data, may be copied freely. */
typedef struct weir_error {
    int code;                   /* enum weir_code */
    int errnum;                 /* errno of the system call behind it, or 0 */
    int rank;                   /* rank on which it arose, or -1 */
    int64_t offset;             /* file offset concerned, or -1 */
    char file[WEIR_ERROR_FILE]; /* path, its head replaced by "..." if too long, or "" */
    char text[WEIR_ERROR_TEXT]; /* one line, without file, offset, errno and rank */
    int64_t reserved[4];        /* 0 */
} weir_error;

/* One short sentence for a code; "unknown error" for any other number. [local] */
WEIR_API const char *weir_error_name(int code);

/* Details of this thread's latest failure; code WEIR_OK if there was none. Borrowed: valid until
 * the next failure on this thread. [local] */
WEIR_API const weir_error *weir_error_last(void);

/* Writes `error` as one line into text[0, size), cut to fit and always terminated. Returns the
 * length of the whole line. [local] */
WEIR_API int weir_error_format(const weir_error *error, char *text, size_t size);

/* Makes *error this thread's latest failure and returns its code: for libraries on top of this one.
 * [local] */
WEIR_API int weir_error_raise(const weir_error *error);

#ifdef __cplusplus
}
#endif
#endif
