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

typedef struct weir_file weir_file;

enum weir_mode {
    WEIR_READ = 1,
    WEIR_WRITE = 2,
    WEIR_CREATE = 4,
    WEIR_EXCLUSIVE = 8, /* with CREATE: the file must not exist */
    WEIR_TRUNCATE = 16
};

/* weir_file_open is in weir.h, because it takes a communicator. */

/* The file is not used after it, whatever it returns. [collective] */
WEIR_API int weir_file_close(weir_file *file);

/* *count may be NULL. WEIR_EINVAL, and nothing moved, if the patterns do not fit together, if
 * `where` is not ordered, reaches below 0 or, for writing, has a byte twice. [collective] */
WEIR_API int weir_file_read_all(weir_file *file, const weir_pattern *where,
                                const weir_pattern *memory, void *base, int64_t *count);
WEIR_API int weir_file_write_all(weir_file *file, const weir_pattern *where,
                                 const weir_pattern *memory, const void *base, int64_t *count);

/* The same for this rank alone. [local] */
WEIR_API int weir_file_read(weir_file *file, const weir_pattern *where, const weir_pattern *memory,
                            void *base, int64_t *count);
WEIR_API int weir_file_write(weir_file *file, const weir_pattern *where, const weir_pattern *memory,
                             const void *base, int64_t *count);

/* [local] */
WEIR_API int weir_file_get_size(weir_file *file, int64_t *size);

/* Cuts or extends with zeros. [collective] */
WEIR_API int weir_file_set_size(weir_file *file, int64_t size);

/* Everything written by any rank before is on stable storage, and seen by every rank. [collective]
 * */
WEIR_API int weir_file_sync(weir_file *file);

#ifdef __cplusplus
}
#endif
#endif
