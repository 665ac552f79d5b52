/* weir info: what an array is. */
#include <stdio.h>
#include <string.h>

#include "array_files.h"
#include "escape.h"
#include "json_items.h"
#include "options.h"
#include "source.h"

typedef struct options {
    int json;
} options;

static const cli_option table[] = {CLI_OPTION_JSON(offsetof(options, json)), {0}};

static void print_grid(const weir_array_info *info)
{
    for (int d = 0; d < info->dimensions; d++)
        printf("%s%d", d ? "," : "", info->distribution.grid[d]);
}

/* What tiles take where they are stored. */
typedef struct stored {
    int64_t bytes, tiles;
} stored;

static void print_stored(const weir_array_info *info, const stored *s)
{
    double all = 1;
    for (int d = 0; d < info->dimensions; d++) {
        const int64_t along = (info->shape[d] + info->tile[d] - 1) / info->tile[d];
        all *= (double)along;
    }
    printf("  stored       ");
    cli_print_bytes(s->bytes);
    if (s->bytes)
        printf(", ratio %.1f", (double)info->bytes / (double)s->bytes);
    printf("; %lld of %.0f chunks\n", (long long)s->tiles, all);
}

static void print_tiles(const weir_array_info *info, const stored *s)
{
    if (!info->tile)
        return;
    printf("  chunks       ");
    cli_print_sizes(info->dimensions, info->tile);
    if (info->shard) {
        printf("\n  shards       ");
        cli_print_sizes(info->dimensions, info->shard);
    }
    printf("\n  codec        %s\n", info->codec ? info->codec : "none");
    print_stored(info, s);
}

static void print_names(const char *text)
{
    cli_json_item item;
    for (int i = 0; cli_json_next(&text, &item); i++) {
        const int quoted = *item.value == '"';
        printf("%s%.*s", i ? "," : "  dimensions   ", item.length - 2 * quoted,
               item.value + quoted);
    }
    printf("\n");
}

/* The first ones, and the beginning of what is long. */
static void print_attributes(const char *text)
{
    enum { SHOWN = 20, LONGEST = 200, NAMED = 60 };
    cli_json_item item;
    int i = 0;
    for (; cli_json_next(&text, &item); i++) {
        if (i >= SHOWN)
            continue;
        const int value = cli_json_cut(item.value, item.length, LONGEST);
        const int key = cli_json_cut(item.key, item.key_length, NAMED);
        printf("%s%.*s%s = %.*s%s\n", i ? "               " : "  attributes   ", key, item.key,
               key < item.key_length ? "..." : "", value, item.value,
               value < item.length ? "..." : "");
    }
    if (i > SHOWN)
        printf("               and %d more\n", i - SHOWN);
}

static void print_labels(const weir_array *array)
{
    const char *names = weir_array_names(array);
    if (strcmp(names, "[]") != 0)
        print_names(names);
    print_attributes(weir_array_attributes(array));
}

static void print_block(const char *path, const weir_array *array, const stored *s)
{
    const weir_array_info *info = weir_array_get_info(array);
    escape_line(stdout, path);
    printf("\n  kind         %s\n  format       %s\n  shape        ",
           info->members                                             ? "local-array set"
           : info->format == WEIR_ZARR || info->format == WEIR_ZARR2 ? "array folder"
                                                                     : "array file",
           cli_format_name(info->format));
    if (!info->dimensions)
        printf("()");
    cli_print_sizes(info->dimensions, info->shape);
    printf("\n  dtype        %s\n  order        %s\n  bytes        ", weir_type_name(info->type),
           info->columns ? "F" : "C");
    cli_print_bytes(info->bytes);
    printf("\n%s", info->swapped ? "  byte order   swapped\n" : "");
    print_tiles(info, s);
    print_labels(array);
    if (!info->members)
        return;
    printf("  grid         ");
    print_grid(info);
    printf("\n  block        ");
    cli_print_sizes(info->dimensions, info->distribution.block);
    printf("\n  local arrays %d\n", info->members);
}

static void print_json(const char *path, const weir_array *array, const stored *s)
{
    const weir_array_info *info = weir_array_get_info(array);
    printf("{\"path\": ");
    escape_json(stdout, path);
    printf(", \"kind\": \"%s\", \"format\": \"%s\", \"shape\": [", info->members ? "set" : "file",
           cli_format_name(info->format));
    cli_print_sizes(info->dimensions, info->shape);
    printf("], \"dtype\": \"%s\", \"order\": \"%s\", \"bytes\": %lld, \"swapped\": %s",
           weir_type_name(info->type), info->columns ? "F" : "C", (long long)info->bytes,
           info->swapped ? "true" : "false");
    if (info->members) {
        printf(", \"grid\": [");
        print_grid(info);
        printf("], \"block\": [");
        cli_print_sizes(info->dimensions, info->distribution.block);
        printf("]");
    } else {
        printf(", \"grid\": null, \"block\": null");
    }
    printf(", \"members\": %d", info->members);
    if (info->tile) {
        printf(", \"chunks\": [");
        cli_print_sizes(info->dimensions, info->tile);
        printf("], \"shards\": %s", info->shard ? "[" : "null");
        if (info->shard)
            cli_print_sizes(info->dimensions, info->shard);
        printf("%s, \"codec\": ", info->shard ? "]" : "");
        escape_json(stdout, info->codec ? info->codec : "none");
    }
    if (info->tile)
        printf(", \"stored\": %lld, \"tiles\": %lld", (long long)s->bytes, (long long)s->tiles);
    printf(", \"names\": ");
    escape_utf8(stdout, weir_array_names(array));
    printf(", \"attributes\": ");
    escape_utf8(stdout, weir_array_attributes(array));
    printf("}\n");
}

static int show(const char *command, const char *path, const char *before, int json)
{
    weir_array *array;
    int status = cli_array_open(command, path, WEIR_READ, NULL, &array);
    if (status)
        return status;
    stored s = {0};
    int code = weir_array_get_info(array)->tile ? weir_array_stored(array, &s.bytes, &s.tiles) : 0;
    if (code) {
        status = cli_settle(command, code);
        weir_array_close(array);
        return status;
    }
    if (cli_rank() == 0 && json)
        print_json(path, array, &s);
    if (cli_rank() == 0 && !json) {
        printf("%s", before);
        print_block(path, array, &s);
    }
    return cli_settle(command, weir_array_close(array));
}

static int run(int argc, char **argv)
{
    int arguments, worst = 0;
    options o = {0};
    const char *problem = cli_options_parse(argc, argv, table, &o, &arguments);
    if (problem || !arguments)
        return cli_usage(argv[0], problem ? problem : "takes the names of arrays");
    for (int i = 1; i <= arguments; i++) {
        int status = show(argv[0], argv[i], i > 1 ? "\n" : "", o.json);
        worst = worst ? worst : status;
    }
    return worst;
}

const cli_command cli_info = {
    .name = "info",
    .group = CLI_LOOK,
    .arguments = "ARRAY...",
    .help = "what arrays are: format, shape, type, order, size, chunks, attributes",
    .about = "Of JSON the keys are path, kind, format, shape, dtype, order, bytes, swapped, grid, "
             "block, members, names (of dimensions), attributes, and of chunks their bytes "
             "(stored) and number (tiles).",
    .options = table,
    .example = {"weir info a.npy set", "weir info x.zarr --json"},
    .run = run};
