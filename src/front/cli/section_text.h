/* Sections as people write them. */
#ifndef WR_CLI_SECTION_TEXT_H
#define WR_CLI_SECTION_TEXT_H

#include <weir/weir.h>

/* A section of one rank, half-open. */
typedef struct cli_section {
    int64_t lo[WEIR_MAX_DIMENSIONS], hi[WEIR_MAX_DIMENSIONS], step[WEIR_MAX_DIMENSIONS];
} cli_section;

/* Understands the papers' notation, 1-based and inclusive, "1+32p:16+32p:1, 1:4096:1", with p for
 * the rank and P for the number of ranks, and NumPy's in brackets, "[0:10, ::2]", where what is
 * not given is whole. Returns NULL, or
 * what is wrong, valid until the next call. */
const char *cli_section_parse(const char *text, int dimensions, const int64_t *shape, int rank,
                              int ranks, cli_section *out);

#endif
