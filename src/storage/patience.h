/* Patience with a file that another host has just found or made: this host may remember for a
 * while that there is none of that name, or what had the name before. */
#ifndef WR_STORAGE_PATIENCE_H
#define WR_STORAGE_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed there is none. */
typedef struct wr_patience {
    int64_t left; /* microseconds */
    int64_t pause;
} wr_patience;

/* `elsewhere`: another host has found the file. */
wr_patience wr_patience_start(bool elsewhere);

/* Whether what has just failed is to be tried again: not if there is another reason than ENOENT or
 * ESTALE, or no patience is left. Looks into the folder of `path`, so that the system asks anew
 * what is there, and pauses, longer each time. */
bool wr_patience_again(wr_patience *patience, const char *path);

#endif
