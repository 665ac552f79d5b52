/* weir du: what arrays take on disks. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "array_files.h"
#include "escape.h"
#include "failure.h"

typedef struct options {
    int bytes, json;
} options;

static const cli_option table[] = {
    {"--bytes", 'b', NULL, offsetof(options, bytes), NULL, "sizes as numbers of bytes", NULL},
    CLI_OPTION_JSON(offsetof(options, json)),
    {0}};

typedef struct usage {
    int64_t disk, size, files;
    char away[300]; /* the first disk that cannot be looked at, and why */
} usage;

typedef struct report {
    const options *o;
    const char *command;
    usage all;
    int arrays, status;
} report;

enum { BLOCK = 512 };

static int add(void *user, const weir_part *part)
{
    usage *u = user;
    struct stat s;
    if (part->kind == WEIR_PART_AWAY && !*u->away)
        snprintf(u->away, sizeof u->away, "%.200s: %.80s", part->path,
                 strerror(weir_error_last()->errnum));
    if (part->owner == WEIR_PART_FOREIGN || part->kind == WEIR_PART_END ||
        fstatat(part->folder, part->name, &s, AT_SYMLINK_NOFOLLOW))
        return 0;
    u->disk += (int64_t)s.st_blocks * BLOCK;
    if (part->kind == WEIR_PART_FILE) {
        u->size += (int64_t)s.st_size;
        u->files++;
    }
    return 0;
}

static void print(const report *r, const usage *u, const char *name)
{
    char disk[CLI_SIZE], size[CLI_SIZE];
    if (r->o->json) {
        printf("%s{\"name\": ", r->arrays ? ", " : "");
        escape_json(stdout, name);
        printf(", \"disk\": %lld, \"size\": %lld, \"files\": %lld}", (long long)u->disk,
               (long long)u->size, (long long)u->files);
        return;
    }
    cli_size_text(u->disk, r->o->bytes, disk);
    cli_size_text(u->size, r->o->bytes, size);
    const int width = r->o->bytes ? 15 : 10;
    printf("%*s  %*s  %7lld file%s  ", width, disk, width, size, (long long)u->files,
           u->files == 1 ? " " : "s");
    escape_line(stdout, name);
    putchar('\n');
}

/* In a folder what is no array does not count. */
static void measure(report *r, const char *name, bool within)
{
    usage u = {0};
    const int code = weir_array_parts(name, add, &u);
    if (code && within && (code == WEIR_EFORMAT || code == WEIR_ENOENT))
        return;
    if (code) {
        const int status = cli_report_files(r->command, name, "weir info tells what it takes");
        r->status = r->status ? r->status : status;
        return;
    }
    print(r, &u, name);
    if (*u.away) {
        cli_tell("weir %s: %s: on %s: what is there is not counted", r->command, name, u.away);
        r->status = r->status ? r->status : CLI_FAILED;
    }
    r->arrays++;
    r->all.disk += u.disk;
    r->all.size += u.size;
    r->all.files += u.files;
}

static void measure_folder(report *r, const char *folder)
{
    cli_names names;
    if (cli_names_read(folder, &names)) {
        cli_tell("weir %s: %s: %s", r->command, folder, strerror(errno));
        r->status = CLI_FAILED;
        return;
    }
    for (size_t i = 0; i < names.count; i++) {
        char *path = cli_join(folder, names.name[i]);
        if (path && !weir_leftover_kind(names.name[i]))
            measure(r, path, true);
        free(path);
    }
    cli_names_free(&names);
}

static void measure_all(report *r, int arguments, char **argv)
{
    char here[] = ".";
    for (int i = 1; i <= arguments || i == 1; i++) {
        char *name = arguments ? argv[i] : here;
        struct stat s;
        if (!stat(name, &s) && S_ISDIR(s.st_mode) && !cli_is_array(name))
            measure_folder(r, name);
        else
            measure(r, name, false);
    }
    if (!r->o->json && r->arrays > 1)
        print(r, &r->all, "total");
}

static int run(int argc, char **argv)
{
    int arguments;
    options o = {0};
    report r = {.o = &o, .command = argv[0]};
    const char *problem = cli_options_parse(argc, argv, table, &o, &arguments);
    if (problem)
        return cli_usage(argv[0], problem);
    if (cli_rank() == 0) {
        printf("%s", o.json ? "{\"arrays\": [" : "");
        measure_all(&r, arguments, argv);
        if (o.json)
            printf("], \"disk\": %lld, \"size\": %lld, \"files\": %lld}\n", (long long)r.all.disk,
                   (long long)r.all.size, (long long)r.all.files);
    }
    return r.status;
}

const cli_command cli_du = {
    .name = "du",
    .group = CLI_LOOK,
    .arguments = "[ARRAY|FOLDER...]",
    .help = "what arrays take on disks, and how large their files are",
    .about =
        "A line has the bytes on the disk, the bytes of the files, the number of files, and the "
        "array; the last one is the total. All files of an array count, wherever they are. Of a "
        "folder, all arrays in it, but not those in its folders; without a name, of this one.",
    .options = table,
    .example = {"weir du", "weir du --bytes set x.zarr"},
    .run = run};
