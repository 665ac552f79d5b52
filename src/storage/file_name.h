/* The name a file was opened by, so that it can be removed later: wherever the program has gone by
 * then, and only if it is still the name of that file. */
#ifndef WR_STORAGE_FILE_NAME_H
#define WR_STORAGE_FILE_NAME_H

#include <sys/types.h>

#include "storage/storage.h"

/* wr_file_name_none is closed. */
typedef struct wr_file_name {
    int folder; /* a descriptor, or -1 */
    char *name; /* there */
    dev_t device;
    ino_t number; /* of the file that has it, while `error` is 0 */
    int error;    /* an errno: why it cannot be removed */
} wr_file_name;

extern const wr_file_name wr_file_name_none;

/* Of a file that s has just opened at `path`. What goes wrong is told when it is removed. */
void wr_file_name_open(wr_file_name *n, const char *path, const wr_storage *s);
void wr_file_name_close(wr_file_name *n);

/* Removes it, and the parts if s, still open, is striped. WEIR_ENOENT if the file has that name no
 * more; a file that has it by now is left alone. Errors name s->path, or the part. */
int wr_file_name_remove(const wr_file_name *n, const wr_storage *s);

#endif
