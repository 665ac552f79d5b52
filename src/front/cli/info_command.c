/* weir info: what an array is. */
#include <stdio.h>

#include "command.h"
#include "options.h"
#include "size_text.h"
#include "source.h"

typedef struct options {
    int json;
} options;

static const cli_option table[] = {{"--json", offsetof(options, json), NULL}, {0}};

static const char *format_of(const weir_array_info *info)
{
    static const char *const names[] = {
        [WEIR_NPY] = "npy", [WEIR_SET] = "set", [WEIR_RAW] = "raw", [WEIR_NETCDF] = "netcdf"};
    return names[info->format];
}

static void print_grid(const weir_array_info *info)
{
    for (int d = 0; d < info->dimensions; d++)
        printf("%s%d", d ? "," : "", info->distribution.grid[d]);
}

static void print_block(const char *path, const weir_array_info *info)
{
    printf("%s\n  kind         %s\n  format       %s\n  shape        ", path,
           info->members ? "local-array set" : "array file", format_of(info));
    if (!info->dimensions)
        printf("()");
    cli_print_sizes(info->dimensions, info->shape);
    printf("\n  dtype        %s\n  order        %s\n  bytes        ", weir_type_name(info->type),
           info->columns ? "F" : "C");
    cli_print_bytes(info->bytes);
    printf("\n%s", info->swapped ? "  byte order   swapped\n" : "");
    if (!info->members)
        return;
    printf("  grid         ");
    print_grid(info);
    printf("\n  block        ");
    cli_print_sizes(info->dimensions, info->distribution.block);
    printf("\n  local arrays %d\n", info->members);
}

/* Bytes that are no UTF-8 stay as they are. */
static void print_json_text(const char *text)
{
    putchar('"');
    for (const char *at = text; *at; at++) {
        if (*at == '"' || *at == '\\')
            printf("\\%c", *at);
        else if ((unsigned char)*at < 0x20)
            printf("\\u%04x", (unsigned)*at);
        else
            putchar(*at);
    }
    putchar('"');
}

static void print_json(const char *path, const weir_array_info *info)
{
    printf("{\"path\": ");
    print_json_text(path);
    printf(", \"kind\": \"%s\", \"format\": \"%s\", \"shape\": [", info->members ? "set" : "file",
           format_of(info));
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
    printf(", \"members\": %d}\n", info->members);
}

static int show(const char *command, const char *path, const char *before, int json)
{
    weir_array *array;
    int status = cli_array_open(command, path, WEIR_READ, NULL, &array);
    if (status)
        return status;
    if (cli_rank() == 0 && json)
        print_json(path, weir_array_get_info(array));
    if (cli_rank() == 0 && !json) {
        printf("%s", before);
        print_block(path, weir_array_get_info(array));
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
    int status = cli_flush(argv[0]);
    return worst ? worst : status;
}

const cli_command cli_info = {
    .name = "info",
    .arguments = "ARRAY...",
    .help = "what arrays are: kind, format, shape, type, order, size, local arrays",
    .details =
        "  --json            one object for each, in a line: path, kind, format, shape, dtype,\n"
        "                    order, bytes, swapped, grid, block, members\n",
    .run = run};
