/* The elements of a section by rows, one after the other: all of them, or those at its corners. */
#ifndef WR_CLI_STREAM_H
#define WR_CLI_STREAM_H

#include "account.h"
#include "source.h"

enum { CLI_CORNER = 3, CLI_CORNERS = 6 }; /* indices at an end of a dimension; at both */

typedef struct cli_stream {
    const cli_source *source;
    int64_t shown[WEIR_MAX_DIMENSIONS]; /* indices along each dimension */
    int64_t elements;                   /* of these */
    int64_t at;                         /* the next of them */
    int64_t first, held;                /* what is in the buffer */
    int64_t block; /* indices of dimension `split` that are read at a time; whole behind it */
    int split;
    int64_t inner;      /* elements of one of these */
    char *buffer;       /* owned */
    int code;           /* of what failed */
    cli_progress *tell; /* NULL, or called with `user` at each box */
    void *user;
    int passes,
        passed; /* how often all elements are gone through, for `tell`; how often they were */
} cli_stream;

/* Takes up to `memory` bytes; corners are read at once, and WEIR_EBUDGET if they do not fit. An
 * error code; to be closed either way. */
int cli_stream_open(cli_stream *stream, const cli_source *source, bool corners, int64_t memory);

/* NULL after the last, or if reading fails. [local] */
const char *cli_stream_next(cli_stream *stream);

/* Stores the next element instead; each box is written when it is full. An error code. [local] */
int cli_stream_put(cli_stream *stream, const void *element);

void cli_stream_rewind(cli_stream *stream);
void cli_stream_close(cli_stream *stream);

/* Whether of that dimension only the ends are there. */
bool cli_stream_is_cut(const cli_stream *stream, int dimension);

#endif
