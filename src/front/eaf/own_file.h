/* A file that this process reads and writes by itself, at once or in the background.
 *
 * Accesses in the background have numbers. Those that touch what another one of the same file
 * writes wait for it, so that the outcome is that of the calls in order. The memory of an access is
 * the library's until it is over. One thread at a time; codes are those of io_code.h. */
#ifndef WR_FRONT_EAF_OWN_FILE_H
#define WR_FRONT_EAF_OWN_FILE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct wr_own_file wr_own_file;

/* The number of an access that is over. */
enum { WR_OWN_DONE = -1 };

/* `type` is -1 for both, -2 for writing into a new file, -3 for reading. */
int wr_own_file_open(const char *path, int type, wr_own_file **out);

/* Waits for what is under way, and forgets the numbers. The first error of a write that nobody has
 * waited for is returned. The file is gone, whatever it returns. NULL is fine. */
int wr_own_file_close(wr_own_file *file);

/* What is to be moved: `bytes` between memory, which is only read when writing, and the file. */
typedef struct wr_own_access {
    bool write;
    double offset;
    void *memory;
    size_t bytes;
} wr_own_access;

/* WR_IO_EOF if the file ends before; what there is has been read. */
int wr_own_file_move(wr_own_file *file, const wr_own_access *a);

/* Starts it, and gives its number. */
int wr_own_file_start(wr_own_file *file, const wr_own_access *a, int *number);

/* Returns what the access came to, and forgets the number. 0 for one that was forgotten already. */
int wr_own_file_wait(int number);

/* *over tells; then, what the access came to. A failure is kept for who waits. */
int wr_own_file_probe(int number, bool *over);

/* After what is under way. */
int wr_own_file_get_length(wr_own_file *file, double *length);
int wr_own_file_set_length(wr_own_file *file, double length);
int wr_own_file_sync(wr_own_file *file);

/* WR_IO_OFFSET or WR_IO_FRACTION unless these are `bytes` from a place that a file can have. */
int wr_own_check_range(double offset, size_t bytes);

#endif
