/* A section of an array, as an array of its own that can be read. */
#ifndef WR_CLI_SOURCE_H
#define WR_CLI_SOURCE_H

#include "bracket.h"

typedef struct cli_source {
    weir_array *array;
    const weir_array_info *info;
    cli_bracket bracket;
    int dimensions; /* of the section, without those dropped, as its shape */
    int64_t shape[WEIR_MAX_DIMENSIONS];
    int64_t elements;
} cli_source;

/* weir_array_open, and a line if it fails. Returns an exit status. [collective] */
int cli_array_open(const char *command, const char *path, int mode, const char *hints,
                   weir_array **out);

/* Of "A.npy[0:10]". Returns an exit status, and has printed a line if it is not 0. [collective] */
int cli_source_open(const char *command, const char *text, const char *hints, cli_source *out);

/* [collective] */
void cli_source_close(cli_source *source);

/* Indices [lo, hi) of the section, none of them empty; strides in elements. An error code.
 * [local] */
int cli_source_read(const cli_source *source, const int64_t *lo, const int64_t *hi,
                    const int64_t *stride, void *base);

/* Prints all elements by rows, with an empty line between 2-d slices; takes up to `memory` bytes.
 * An error code. Stops where standard output cannot be written. [local] */
int cli_source_print(const cli_source *source, int64_t memory);

#endif
