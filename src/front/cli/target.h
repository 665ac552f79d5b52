/* The array that a subcommand makes: its options, its making, its end. */
#ifndef WR_CLI_TARGET_H
#define WR_CLI_TARGET_H

#include "options.h"

typedef struct cli_target {
    cli_sizes grid, block; /* grid not given: one file */
    const char *disks;     /* folders with colons between them, or NULL */
    cli_sizes chunk, shard;
    const char *codec;
    int format; /* enum weir_format; -1: it must be a .npy file; 0: as its name says */
    int overwrite;
    const char *hints;
    int64_t memory; /* 0: the library's default */
} cli_target;

/* What an array is made as, and, or NULL, the one whose attributes it gets. */
typedef struct cli_model {
    const weir_array_info *info;
    weir_array *like;
} cli_model;

/* Entries of a table of options; `at` is where the cli_target is. */
#define CLI_TARGET_OVERWRITE(at)                                                                   \
    {"--overwrite", (at) + offsetof(cli_target, overwrite), NULL},                                 \
        {"--chunk", (at) + offsetof(cli_target, chunk), cli_parse_sizes},                          \
        {"--shard", (at) + offsetof(cli_target, shard), cli_parse_whole},                          \
        {"--codec", (at) + offsetof(cli_target, codec), cli_parse_text},                           \
    {                                                                                              \
        "--format", (at) + offsetof(cli_target, format), cli_parse_format                          \
    }
#define CLI_TARGET_MEANS(at)                                                                       \
    {"--memory", (at) + offsetof(cli_target, memory), cli_parse_bytes},                            \
    {                                                                                              \
        "--hints", (at) + offsetof(cli_target, hints), cli_parse_text                              \
    }
#define CLI_TARGET_FILE(at) CLI_TARGET_OVERWRITE(at), CLI_TARGET_MEANS(at)
#define CLI_TARGET_SET(at)                                                                         \
    {"--grid", (at) + offsetof(cli_target, grid), cli_parse_sizes},                                \
        {"--block", (at) + offsetof(cli_target, block), cli_parse_sizes},                          \
    {                                                                                              \
        "--disks", (at) + offsetof(cli_target, disks), cli_parse_text                              \
    }

const char *cli_parse_format(const char *text, void *out); /* int: npy, zarr, zarr2 */

/* Sets members and distribution of `info` as the target has them. Returns NULL, or what is
 * wrong. */
const char *cli_target_deal(const cli_target *target, weir_array_info *info);

/* All elements are 0. Returns an exit status, and has printed a line if it is not 0; so does the
 * next. [collective] */
int cli_target_create(const char *command, const cli_target *target, const char *path,
                      const cli_model *model, weir_array **out);

/* Closes the new array, or, if `code` is an error on some rank, discards it. [collective] */
int cli_target_finish(const char *command, weir_array *array, int code);

#endif
