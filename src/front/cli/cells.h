/* A section of one or two dimensions, as many numbers as a picture has places for. */
#ifndef WR_CLI_CELLS_H
#define WR_CLI_CELLS_H

#include "account.h"
#include "source.h"

enum cli_reduce { CLI_MEAN, CLI_MIN, CLI_MAX, CLI_NEAREST };

/* Cell i of n along a dimension of `size` indices stands for those from i * size / n on. */
typedef struct cli_cells {
    enum cli_reduce reduce;
    int rows, columns;     /* at most the section's; of one dimension there is one row */
    int64_t height, width; /* of the section */
    double *value;         /* by rows, owned */
    cli_progress *tell;    /* NULL, or called with `user` after each box of this rank */
    void *user;
} cli_cells;

/* The first index of a cell. */
int64_t cli_cell_first(int64_t size, int cells, int64_t cell);

/* Sets value, complete on rank 0 only, from the other members: mean, least or greatest of the
 * elements of a cell, which is not a number if one of them is not; or the element in its middle,
 * and nothing else is read. Of complex numbers the magnitude. A cell is computed by one rank, in an
 * order that depends on `memory` alone, so that all numbers of ranks give the same. Takes up to
 * `memory` bytes besides. Returns an error code, the same on all ranks. [collective] */
int cli_cells_read(const cli_source *source, int64_t memory, cli_cells *cells);

void cli_cells_release(cli_cells *cells);

#endif
