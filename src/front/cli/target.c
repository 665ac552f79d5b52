/* Makes the array a subcommand was asked for, and ends it: published, or removed after an error. */
#include "target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "foreign.h"
#include "interrupt.h"

enum { MOST_MEMBERS = 1 << 24, MOST_DISKS = 256 };

const char *cli_target_deal(const cli_target *target, weir_array_info *info)
{
    const cli_sizes *grid = &target->grid, *block = &target->block;
    int64_t members = 1;
    info->members = 0;
    info->distribution = (weir_distribution){0};
    if (!grid->given)
        return block->given || target->disks ? "--block and --disks need --grid" : NULL;
    if (grid->count != info->dimensions || (block->given && block->count != grid->count))
        return "--grid and --block must have a size for each dimension";
    for (int d = 0; d < grid->count; d++) {
        if (grid->size[d] < 1 || grid->size[d] > MOST_MEMBERS / members)
            return "--grid must be counts of 1 or more, of at most 16 Mi local arrays";
        members *= grid->size[d];
        info->distribution.grid[d] = (int)grid->size[d];
        info->distribution.block[d] = block->given ? block->size[d] : 0;
    }
    info->members = (int)members;
    return NULL;
}

/* A list of folders; the library takes them relative to the array, people to where they are. */
typedef struct folders {
    char *text;
    int count;
    const char *path[MOST_DISKS];
} folders;

static int folders_init(folders *f, const char *list)
{
    char *here = getcwd(NULL, 0);
    size_t room = 1, extra = here ? strlen(here) + 2 : 0;
    *f = (folders){0};
    for (const char *at = list; *at; at++)
        room += 1 + (at == list || *at == ':' ? extra : 0);
    f->text = here ? malloc(room) : NULL;
    char *to = f->text;
    for (const char *at = list; to && *at; at += *at == ':') {
        int length = (int)strcspn(at, ":");
        if (f->count == MOST_DISKS || !length)
            to = NULL;
        if (!to)
            break;
        f->path[f->count++] = to;
        to +=
            sprintf(to, "%s%s%.*s", *at == '/' ? "" : here, *at == '/' ? "" : "/", length, at) + 1;
        at += length;
    }
    free(here);
    return to && f->count ? 0 : -1;
}

static int check_name(const char *command, const char *path)
{
    char text[200];
    const char *format = cli_foreign_format(path);
    if (!format || !strncmp(path, "raw:", 4) || strstr(path, ":/"))
        return 0;
    snprintf(text, sizeof text, "\"%.80s\": weir does not write %s, only " CLI_FORMATS, path,
             format);
    return cli_usage(command, text);
}

int cli_target_create(const char *command, const cli_target *target, const char *path,
                      const weir_array_info *info, weir_array **out)
{
    folders disks = {0};
    int status = check_name(command, path);
    if (status)
        return status;
    if (!info->members && *path && path[strlen(path) - 1] == '/')
        status = cli_usage(command, "a .npy file is no folder");
    if (!status && target->disks && folders_init(&disks, target->disks))
        status = cli_usage(command, "--disks must be folders with colons between them");
    if (!status) {
        weir_array_options options = {
            .overwrite = target->overwrite, .disks = disks.count, .disk = disks.path};
        cli_interrupt_hold(command);
        int code = weir_array_create(MPI_COMM_WORLD, path, info, &options, target->hints, out);
        status = cli_settle(command, code);
        cli_interrupt_guard(status ? NULL : weir_array_where(*out));
    }
    free(disks.text);
    return status;
}

int cli_target_finish(const char *command, weir_array *array, int code)
{
    cli_interrupt_hold(command);
    int status = cli_settle(command, code);
    if (status)
        weir_array_discard(array);
    else
        status = cli_settle(command, weir_array_close(array));
    cli_interrupt_release();
    return status;
}
