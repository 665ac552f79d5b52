/* The array that a subcommand makes: its options, its making, its end. */
#ifndef WR_CLI_TARGET_H
#define WR_CLI_TARGET_H

#include <stdbool.h>

#include "options.h"

typedef struct cli_target {
    cli_sizes grid, block; /* grid not given: one file */
    const char *disks;     /* folders with colons between them, or NULL */
    cli_sizes chunk, shard;
    const char *codec;
    int format; /* auto, npy, zarr, zarr2 */
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
    {"--overwrite", 0,                                                                             \
     NULL,          (at) + offsetof(cli_target, overwrite),                                        \
     NULL,          "replaces an array of that name, once the new one is whole",                   \
     NULL},                                                                                        \
        {"--chunk",       0,                                                                       \
         "SIZES",         (at) + offsetof(cli_target, chunk),                                      \
         cli_parse_sizes, "of Zarr (NAME.zarr) and HDF5 (FILE.h5:/NAME): in chunks",               \
         "of up to 1 MiB"},                                                                        \
        {"--shard",       0,                                                                       \
         "SIZES",         (at) + offsetof(cli_target, shard),                                      \
         cli_parse_whole, "of Zarr: so much in a file, or all",                                    \
         "a chunk"},                                                                               \
        {"--codec",      0,                                                                        \
         "CODEC",        (at) + offsetof(cli_target, codec),                                       \
         cli_parse_text, "such as zstd:3, gzip:6, blosc:lz4:5:shuffle (docs/formats.md)",          \
         "none"},                                                                                  \
    {                                                                                              \
        "--format", 0, "auto|npy|zarr|zarr2", (at) + offsetof(cli_target, format), NULL,           \
            "auto: as the name says, for .zarr version 3, which zarr-python reads from 3 on; "     \
            "otherwise whatever it says",                                                          \
            "auto"                                                                                 \
    }
#define CLI_TARGET_MEANS(at)                                                                       \
    CLI_OPTION_MEMORY((at) + offsetof(cli_target, memory)),                                        \
        CLI_OPTION_HINTS((at) + offsetof(cli_target, hints))
#define CLI_TARGET_FILE(at) CLI_TARGET_OVERWRITE(at), CLI_TARGET_MEANS(at)
#define CLI_TARGET_SET(at)                                                                         \
    {"--grid",                                                                                     \
     0,                                                                                            \
     "SIZES",                                                                                      \
     (at) + offsetof(cli_target, grid),                                                            \
     cli_parse_sizes,                                                                              \
     "a folder of local arrays, so many along each dimension",                                     \
     NULL},                                                                                        \
        {"--block",                                                                                \
         0,                                                                                        \
         "SIZES",                                                                                  \
         (at) + offsetof(cli_target, block),                                                       \
         cli_parse_sizes,                                                                          \
         "with --grid, indices dealt at a time; 0: one block for each place of the grid",          \
         "0"},                                                                                     \
    {                                                                                              \
        "--disks", 0, "A:B", (at) + offsetof(cli_target, disks), cli_parse_text,                   \
            "with --grid, folders for the local arrays, round-robin; with --overwrite, local "     \
            "arrays outside the set's folder are removed only if they are named here",             \
            "the array's own"                                                                      \
    }

/* Sets members and distribution of `info` as the target has them. Returns NULL, or what is
 * wrong. */
const char *cli_target_deal(const cli_target *target, weir_array_info *info);

/* Whether an array of that name can be stored by rows only: it is a variable of NetCDF or HDF5. So
 * it is made, then, where the order of another array is the default. */
bool cli_target_is_by_rows(const cli_target *target, const char *path);

/* All elements are 0. Returns an exit status, and has printed a line if it is not 0; so does the
 * next. [collective] */
int cli_target_create(const char *command, const cli_target *target, const char *path,
                      const cli_model *model, weir_array **out);

/* Of a dataset that an HDF5 file is to get: the same name in a file that is not there, for the
 * caller to free. NULL: it is another case, or there is no memory. [collective] */
char *cli_target_beside(const char *path, const char *hints);

/* Closes the new array, or, if `code` is an error on some rank, discards it. [collective] */
int cli_target_finish(const char *command, weir_array *array, int code);

#endif
