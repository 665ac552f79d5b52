/* A file that is memory: up to a capacity, zero where nothing was written. Zeroed is one without
 * capacity. Codes are those of io_code.h. */
#ifndef WR_FRONT_EAF_MEMORY_FILE_H
#define WR_FRONT_EAF_MEMORY_FILE_H

#include "front/eaf/own_file.h"

typedef struct wr_memory_file {
    char *bytes; /* owned; those past `length` are zero */
    size_t capacity, length;
} wr_memory_file;

/* At least so much from now on; WR_IO_MEMORY, and nothing changed, if there is not. */
int wr_memory_file_reserve(wr_memory_file *m, size_t capacity);
void wr_memory_file_release(wr_memory_file *m);

/* WR_IO_FULL, and nothing written, past the capacity; WR_IO_EOF past the end, what there is having
 * been read. */
int wr_memory_file_move(wr_memory_file *m, const wr_own_access *a);
int wr_memory_file_set_length(wr_memory_file *m, double length);

#endif
