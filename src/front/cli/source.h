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

/* The same, to be written as well. */
int cli_source_open_writing(const char *command, const char *text, const char *hints,
                            cli_source *out);

/* [collective] */
void cli_source_close(cli_source *source);

/* What of the array a part of the section is; pointers are into it, and into the source. */
typedef struct cli_chosen {
    weir_selection selection;
    cli_section part;
    const int64_t *index[WEIR_MAX_DIMENSIONS];
    int64_t count[WEIR_MAX_DIMENSIONS];
} cli_chosen;

/* Indices [lo, hi) of the section; NULL: all. */
void cli_source_choose(const cli_source *source, const int64_t *lo, const int64_t *hi,
                       cli_chosen *out);

/* Indices [lo, hi) of the section, none of them empty; strides in elements. An error code.
 * [local] */
int cli_source_read(const cli_source *source, const int64_t *lo, const int64_t *hi,
                    const int64_t *stride, void *base);
int cli_source_write(const cli_source *source, const int64_t *lo, const int64_t *hi,
                     const int64_t *stride, const void *base);

/* How memory with strides in elements of `type` lies, by dimension of the array; `bytes` has room
 * for as many. */
weir_layout cli_source_layout(const cli_source *source, const int64_t *stride, int type,
                              int64_t *bytes);

#endif
