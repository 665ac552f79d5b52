/* A file in memory. Its whole capacity is reserved at once: pages that are never touched cost
 * nothing. */
#include "front/eaf/memory_file.h"

#include <stdlib.h>
#include <string.h>

#include "front/eaf/io_code.h"

int wr_memory_file_reserve(wr_memory_file *m, size_t capacity)
{
    if (capacity <= m->capacity)
        return 0;
    char *bytes = calloc(capacity, 1); /* pages that are never touched cost nothing */
    if (!bytes)
        return wr_io_refuse(WR_IO_MEMORY, "for a file in memory", NULL);
    if (m->length)
        memcpy(bytes, m->bytes, m->length);
    free(m->bytes);
    m->bytes = bytes;
    m->capacity = capacity;
    return 0;
}

void wr_memory_file_release(wr_memory_file *m)
{
    free(m->bytes);
    *m = (wr_memory_file){0};
}

static int read_some(const wr_memory_file *m, size_t at, char *memory, size_t bytes)
{
    size_t there = at < m->length ? m->length - at : 0;
    bool whole = bytes <= there;
    if (whole || there)
        memcpy(memory, m->bytes + at, whole ? bytes : there);
    return whole ? 0 : wr_io_refuse(WR_IO_EOF, "the file is shorter", NULL);
}

int wr_memory_file_move(wr_memory_file *m, const wr_own_access *a)
{
    int code = wr_own_check_range(a->offset, a->bytes);
    if (code || !a->bytes)
        return code;
    size_t at = (size_t)a->offset;
    if (!a->write)
        return read_some(m, at, a->memory, a->bytes);
    if (at > m->capacity || a->bytes > m->capacity - at)
        return wr_io_refuse(WR_IO_FULL, "its size was given when it was opened", NULL);
    memcpy(m->bytes + at, a->memory, a->bytes);
    if (at + a->bytes > m->length)
        m->length = at + a->bytes;
    return 0;
}

int wr_memory_file_set_length(wr_memory_file *m, double length)
{
    int code = wr_own_check_range(length, 0);
    if (code)
        return code;
    size_t wanted = (size_t)length;
    if (wanted > m->capacity)
        return wr_io_refuse(WR_IO_RESIZE, "its size was given when it was opened", NULL);
    if (wanted < m->length)
        memset(m->bytes + wanted, 0, m->length - wanted);
    m->length = wanted;
    return 0;
}
