/* Options of subcommands. A subcommand has a struct of its own for them, and a table that says by
 * which function each is read into which member. */
#ifndef WR_CLI_OPTIONS_H
#define WR_CLI_OPTIONS_H

#include <weir/weir.h>

/* Returns NULL, or what is wrong with `text`; `out` is the member. */
typedef const char *cli_parse(const char *text, void *out);

typedef struct cli_option {
    const char *name; /* NULL ends a table */
    size_t at;        /* of the member */
    cli_parse *parse; /* NULL: takes no value, sets an int to 1 */
} cli_option;

typedef struct cli_sizes {
    int given, count;
    int64_t size[WEIR_MAX_DIMENSIONS];
} cli_sizes;

typedef struct cli_seed {
    int given;
    uint64_t value;
} cli_seed;

/* Sets members of `out`, and moves what is no option, such as negative numbers, to argv[1] and on;
 * `arguments` says how many these are. Returns NULL, or what is wrong, valid until the next
 * call. */
const char *cli_options_parse(int argc, char **argv, const cli_option *table, void *out,
                              int *arguments);

const char *cli_parse_text(const char *text, void *out);    /* const char *, borrowed */
const char *cli_parse_count(const char *text, void *out);   /* int, 1 to 1000000 */
const char *cli_parse_seed(const char *text, void *out);    /* cli_seed */
const char *cli_parse_bytes(const char *text, void *out);   /* int64_t: 64M */
const char *cli_parse_sizes(const char *text, void *out);   /* cli_sizes: 4096,4096, or () */
const char *cli_parse_whole(const char *text, void *out);   /* the same, or all: count is -1 */
const char *cli_parse_type(const char *text, void *out);    /* int, enum weir_type: f4 */
const char *cli_parse_columns(const char *text, void *out); /* int: C is 0, F is 1 */

#endif
