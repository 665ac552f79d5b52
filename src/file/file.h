/* An open file: what it has besides transfers. Opening and closing agree on everything that must be
 * equal on all ranks: tunables, costs, errors. */
#ifndef WR_FILE_FILE_H
#define WR_FILE_FILE_H

#include "engine/port.h"
#include "weir/file.h"

struct weir_file {
    wr_port port;
    int mode;
};

/* [collective] The world is borrowed until close. `hints` is NULL or NAME=VALUE;..., weaker than
 * the environment; rank 0's count. */
int wr_file_open(wr_world *world, const char *path, int mode, const char *hints, weir_file **out);

#endif
