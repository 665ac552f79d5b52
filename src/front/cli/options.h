/* Options of subcommands. A subcommand has a struct of its own for them, and a table that says by
 * which function each is read into which member, and what to tell of it: help, manual pages and
 * completion come from there. */
#ifndef WR_CLI_OPTIONS_H
#define WR_CLI_OPTIONS_H

#include <weir/weir.h>

/* Returns NULL, or what is wrong with `text`; `out` is the member. */
typedef const char *cli_parse(const char *text, void *out);

typedef struct cli_option {
    const char *name; /* "--output"; NULL ends a table */
    char letter;      /* 'o' for -o; 0: none */
    const char
        *value;       /* what it is called: "SIZE", "FILE", or, to choose from, "C|F"; NULL: none */
    size_t at;        /* of the member */
    cli_parse *parse; /* NULL: sets an int, to 1, or to the number of the word, the first of which
                          is 0 */
    const char *help;
    const char *otherwise; /* what holds without it; NULL: not so */
} cli_option;

typedef struct cli_sizes {
    int given, count;
    int64_t size[WEIR_MAX_DIMENSIONS];
} cli_sizes;

typedef struct cli_seed {
    int given;
    uint64_t value;
} cli_seed;

/* Sets members of `out`, and moves what is no option to argv[1] and on, such as all behind "--",
 * and, of a subcommand that takes a VALUE, negative numbers; `arguments` says how many these are.
 * "--name=value" is "--name value". Returns NULL, or what is wrong, valid until the next call. */
const char *cli_options_parse(int argc, char **argv, const cli_option *table, void *out,
                              int *arguments);

const char *cli_parse_text(const char *text, void *out);  /* const char *, borrowed */
const char *cli_parse_count(const char *text, void *out); /* int, 1 to 1000000 */
const char *cli_parse_seed(const char *text, void *out);  /* cli_seed */
const char *cli_parse_bytes(const char *text, void *out); /* int64_t: 64M, 64MiB; 64MB is less */
const char *cli_parse_sizes(const char *text, void *out); /* cli_sizes: 40,50, or 40x50, or () */
const char *cli_parse_whole(const char *text, void *out); /* the same, or all: count is -1 */
const char *cli_parse_type(const char *text, void *out);  /* int, enum weir_type: f4 */
const char *cli_parse_tolerance(const char *text, void *out); /* double, from 0 up */

/* Entries that several tables have. */
#define CLI_TYPES "bool|i1|i2|i4|i8|u1|u2|u4|u8|f2|f4|f8|c8|c16"
#define CLI_OPTION_TYPE(at, otherwise)                                                             \
    {                                                                                              \
        "--dtype", 0, "TYPE", at, cli_parse_type,                                                  \
            "of elements: bool, i1 to i8, u1 to u8, f2, f4, f8, c8, c16, or as in NumPy, float64", \
            otherwise                                                                              \
    }
#define CLI_OPTION_ORDER(at, otherwise)                                                            \
    {                                                                                              \
        "--order", 0, "C|F", at, NULL, "stored by rows or by columns", otherwise                   \
    }
#define CLI_OPTION_MEMORY(at)                                                                      \
    {                                                                                              \
        "--memory", 0, "SIZE", at, cli_parse_bytes,                                                \
            "of buffers of each rank, with K, M, G or T, or as MiB and MB", "64M"                  \
    }
#define CLI_OPTION_HINTS(at)                                                                       \
    {                                                                                              \
        "--hints", 0, "NAME=VALUE;...", at, cli_parse_text,                                        \
            "tunables (docs/tunables.md); WEIR_HINTS is stronger", NULL                            \
    }
#define CLI_OPTION_WHOLE(letter, at)                                                               \
    {                                                                                              \
        "--recursive", letter, NULL, at, NULL, "nothing more: arrays that are folders go whole",   \
            NULL                                                                                   \
    }
#define CLI_OPTION_JSON(at)                                                                        \
    {                                                                                              \
        "--json", 0, NULL, at, NULL, "the result as JSON, one object in a line", NULL              \
    }

#endif
