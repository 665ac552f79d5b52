/* Makes the array a subcommand was asked for, and ends it: published, or removed after an error. */
#include "target.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "failure.h"
#include "foreign.h"
#include "interrupt.h"
#include "text_file.h"

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

static int ends_with(const char *text, size_t length, const char *end)
{
    return length > strlen(end) && !strncmp(text + length - strlen(end), end, strlen(end));
}

/* By number of the word of --format. */
enum { AUTO, NPY, ZARR, ZARR2 };
static const int formats[] = {[ZARR] = WEIR_ZARR, [ZARR2] = WEIR_ZARR2};

/* What a new array of that name will be, of those that have tiles; 0: something else. */
static int format_of(const cli_target *target, const char *path)
{
    static const char *const hdf5[] = {".h5", ".hdf5", ".he5", ".nc4"};
    const char *inside = strstr(path, ":/");
    size_t length = inside ? (size_t)(inside - path) : strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    if (target->format != AUTO)
        return formats[target->format];
    if (!inside)
        return ends_with(path, length, ".zarr") ? WEIR_ZARR : 0;
    for (size_t i = 0; i < sizeof hdf5 / sizeof *hdf5; i++)
        if (ends_with(path, length, hdf5[i]))
            return WEIR_HDF5;
    return 0;
}

bool cli_target_is_by_rows(const cli_target *target, const char *path)
{
    const char *inside = strncmp(path, "raw:", 4) != 0 ? strstr(path, ":/") : NULL;
    char folder[PATH_MAX];
    struct stat found;
    if (!inside || formats[target->format])
        return false;
    snprintf(folder, sizeof folder, "%.*s:", (int)(inside - path), path);
    return stat(folder, &found) || !S_ISDIR(found.st_mode);
}

/* Tiles as the target has them; what came with `info` stays where it can. */
static const char *set_tiles(const cli_target *target, const char *path, weir_array_info *info)
{
    const cli_sizes *chunk = &target->chunk, *shard = &target->shard;
    const int format = format_of(target, path), same = format == info->format;
    const cli_target by_name = {0};
    if (target->format == NPY && format_of(&by_name, path))
        return "--format npy: a name that ends with .npy, or at least not so";
    info->format = formats[target->format];
    if (!format) {
        info->tile = info->shard = NULL;
        info->codec = NULL;
        return chunk->given || shard->given || target->codec
                   ? "--chunk, --shard and --codec are for Zarr and HDF5: NAME.zarr, FILE.h5:/NAME"
                   : NULL;
    }
    if ((chunk->given && chunk->count != info->dimensions) ||
        (shard->given && shard->count >= 0 && shard->count != info->dimensions))
        return "--chunk and --shard must have a size for each dimension";
    info->codec = same ? info->codec : NULL;
    info->shard = same && !chunk->given ? info->shard : NULL;
    if (target->codec)
        info->codec = strcmp(target->codec, "none") ? target->codec : NULL;
    if (chunk->given)
        info->tile = chunk->size;
    if (shard->given)
        info->shard = shard->size;
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
    char text[300];
    const char *format = cli_foreign_format(path);
    if (!strcmp(path, "-"))
        return cli_usage(command, "\"-\": an array needs a name");
    if (!format || !strncmp(path, "raw:", 4) || strstr(path, ":/"))
        return 0;
    if (!strcmp(format, "HDF5") || !strcmp(format, "netCDF"))
        snprintf(text, sizeof text,
                 "\"%.80s\": weir does not write %s files, but arrays in them, as %.80s:/NAME",
                 path, format, path);
    else
        snprintf(text, sizeof text, "\"%.80s\": weir does not write %s, only " CLI_FORMATS, path,
                 format);
    return cli_usage(command, text);
}

/* What an interrupted command removes: not the file that a dataset is added to. */
static const char *removable(const char *path, const char *where)
{
    const size_t length = strlen(where);
    return !strncmp(path, where, length) && path[length] == ':' ? "" : where;
}

int cli_target_create(const char *command, const cli_target *target, const char *path,
                      const cli_model *model, weir_array **out)
{
    folders disks = {0};
    weir_array_info made = *model->info, *info = &made;
    int status = check_name(command, path);
    const char *problem = status ? NULL : set_tiles(target, path, info);
    if (!problem && info->columns && info->dimensions > 1 && cli_target_is_by_rows(target, path))
        problem = "NetCDF and HDF5 store by rows: --order C";
    if (status || problem)
        return status ? status : cli_usage(command, problem);
    if (!info->members && *path && path[strlen(path) - 1] == '/' && !format_of(target, path))
        status = cli_usage(command, "a .npy file is no folder");
    if (!status && target->disks && folders_init(&disks, target->disks))
        status = cli_usage(command, "--disks must be folders with colons between them");
    if (!status) {
        weir_array_options options = {.overwrite = target->overwrite,
                                      .disks = disks.count,
                                      .disk = disks.path,
                                      .like = model->like};
        cli_interrupt_hold(command);
        int code = weir_array_create(MPI_COMM_WORLD, path, info, &options, target->hints, out);
        status = cli_settle(command, cli_fail_inside(path, code));
        cli_interrupt_guard(status ? NULL : removable(path, weir_array_where(*out)));
    }
    free(disks.text);
    return status;
}

/* Whether the file of "FILE:/NAME" is HDF5 and may be written. */
static bool takes_datasets(const char *path, int length)
{
    char name[PATH_MAX];
    return snprintf(name, sizeof name, "%.*s", length, path) < PATH_MAX && !access(name, W_OK) &&
           cli_file_begins(name, "\211HDF\r\n\032\n");
}

char *cli_target_beside(const char *path, const char *hints)
{
    const char *inside = strstr(path, ":/");
    const int length = inside ? (int)(inside - path) : 0;
    char *beside = NULL;
    weir_array *array;
    unsigned there[2] = {0}; /* whether it is, and a number that no file has */
    if (!inside || format_of(&(cli_target){0}, path) != WEIR_HDF5)
        return NULL;
    if (cli_rank() == 0)
        there[0] = takes_datasets(path, length) && getrandom(&there[1], sizeof *there, 0) > 0;
    MPI_Bcast(there, 2, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
    if (!there[0])
        return NULL;
    const int code = weir_array_open(MPI_COMM_WORLD, path, WEIR_READ, hints, &array);
    if (!code)
        weir_array_close(array);
    if (code != WEIR_ENOENT || weir_error_last()->errnum)
        return NULL;
    return asprintf(&beside, "%.*s.dry-run-%08x.h5%s", length, path, there[1], inside) < 0 ? NULL
                                                                                           : beside;
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
