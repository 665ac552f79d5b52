/* What NumPy's brackets take of an array. */
#ifndef WR_CLI_BRACKET_H
#define WR_CLI_BRACKET_H

#include <stdbool.h>

#include "section_text.h"

/* Per dimension of the array `count` indices from `lo` on, `step` apart, of one perhaps those of a
 * list. A dimension for which an index alone was given is dropped from the result. */
typedef struct cli_bracket {
    int dimensions;
    int64_t lo[WEIR_MAX_DIMENSIONS], step[WEIR_MAX_DIMENSIONS], count[WEIR_MAX_DIMENSIONS];
    bool dropped[WEIR_MAX_DIMENSIONS];
    int64_t *list; /* owned; or NULL */
    int listed;    /* whose it is */
} cli_bracket;

/* Where the bracket of "A.npy[0:10, ::2]" begins; at the end if there is none. */
const char *cli_bracket_find(const char *text);

/* Behind the first "[" of the text, the "]" that closes nothing; NULL if there is none. */
const char *cli_bracket_extra(const char *text);

/* Understands indices and slices, negative ones too, a list of indices and one "...", as NumPy
 * does; "[()]" and "" take everything. Returns NULL, or what is wrong, valid until the next call;
 * the bracket is to be released either way. */
const char *cli_bracket_parse(const char *text, int dimensions, const int64_t *shape,
                              cli_bracket *out);

void cli_bracket_release(cli_bracket *bracket);

/* The result's shape; returns its dimensions. */
int cli_bracket_shape(const cli_bracket *bracket, int64_t *shape);

/* The section of the array that is the box [lo, hi) of the result; of the listed dimension it is
 * places in the list. */
void cli_bracket_map(const cli_bracket *bracket, const int64_t *lo, const int64_t *hi,
                     cli_section *out);

#endif
