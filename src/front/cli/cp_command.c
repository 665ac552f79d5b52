/* weir cp and weir mv: arrays copied and moved as files. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "account.h"
#include "array_files.h"
#include "failure.h"
#include "interrupt.h"

enum { MOST_DISKS = 512 };

typedef struct options {
    int overwrite, whole;
    const char *disks;
    cli_manner manner;
} options;

#define OVERWRITE                                                                                  \
    {                                                                                              \
        "--overwrite", 0, NULL, offsetof(options, overwrite), NULL,                                \
            "replaces an array of that name, once the new one is whole", NULL                      \
    }

static const cli_option copy_table[] = {
    OVERWRITE,
    {"--disks", 0, "A:B", offsetof(options, disks), cli_parse_text,
     "folders for local arrays that are outside the set's folder, round-robin, and for the parts "
     "of a striped file",
     "the new set's own folder; the old disks of a striped file"},
    CLI_OPTION_WHOLE('r', offsetof(options, whole)),
    CLI_MANNER(offsetof(options, manner)),
    {0}};

static const cli_option move_table[] = {
    OVERWRITE,
    {"--disks", 0, "A:B", offsetof(options, disks), cli_parse_text,
     "folders to which local arrays outside the set's folder move, round-robin",
     "they stay on their disks"},
    CLI_MANNER(offsetof(options, manner)),
    {0}};

typedef int transfer_function(const char *from, const char *to, const weir_parts_options *options);

/* Several are copied or moved one after the other. */
typedef struct job {
    transfer_function *transfer;
    weir_parts_options how;
    cli_account account;
    cli_progress *draw;     /* NULL: nobody looks */
    int64_t copied, before; /* bytes, of this array and of those before it */
} job;

static int go_on(void *user, int64_t done, int64_t all)
{
    job *j = user;
    j->copied = done;
    j->account.bar.bytes = all;
    if (j->draw && all)
        j->draw(&j->account.bar, done, all);
    return cli_interrupt_waits();
}

static int note_path(void *user, const weir_part *part)
{
    char *path = user;
    if (strlen(part->path) < PATH_MAX)
        memcpy(path, part->path, strlen(part->path) + 1);
    return 1;
}

/* What an array is called in a folder that it goes into. To be freed. */
static char *name_in(const char *folder, const char *array)
{
    char path[PATH_MAX] = "";
    if (!strncmp(array, "raw:", 4))
        weir_array_parts(array, note_path, path);
    const char *whole = *path ? path : array, *start = whole + strlen(whole);
    while (start > whole && start[-1] == '/')
        start--;
    const char *end = start;
    while (start > whole && start[-1] != '/')
        start--;
    char *name = strndup(start, (size_t)(end - start)), *joined = NULL;
    if (name)
        joined = cli_join(folder, name);
    free(name);
    return joined;
}

/* A name with a slash at its end, which a file would get without it. */
static bool is_missing_folder(const char *from, const char *to)
{
    struct stat s;
    const size_t length = strlen(to);
    return length && to[length - 1] == '/' && stat(to, &s) &&
           (stat(from, &s) || !S_ISDIR(s.st_mode));
}

/* By which a name says its format; NULL: by none. */
static const char *ending_of(const char *name)
{
    static const char *const endings[] = {".npy", ".zarr", ".nc", ".h5"};
    const size_t length = strcspn(name, ":");
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t end = strlen(endings[i]);
        if (length > end && !strncmp(name + length - end, endings[i], end))
            return endings[i];
    }
    return NULL;
}

/* Nobody would find an array by a name that says something else. */
static bool is_misnamed(const char *from, const char *to)
{
    const char *is = ending_of(from), *says = ending_of(to);
    struct stat s;
    return is && says && is != says && (stat(to, &s) || !S_ISDIR(s.st_mode) || cli_is_array(to));
}

static int run_one(job *j, const char *from, const char *to)
{
    char *inside = NULL;
    struct stat s;
    if (is_missing_folder(from, to)) {
        cli_tell("weir %s: %s: there is no such folder", j->account.command, to);
        return CLI_USAGE;
    }
    if (is_misnamed(from, to)) {
        cli_tell("weir %s: %s: that names another format; weir copy converts", j->account.command,
                 to);
        return CLI_USAGE;
    }
    if (!stat(to, &s) && S_ISDIR(s.st_mode) && !cli_is_array(to)) {
        inside = name_in(to, from);
        if (!inside)
            return cli_tell("weir %s: out of memory", j->account.command), CLI_FAILED;
    }
    j->draw = cli_account_progress(&j->account, 0);
    j->before += j->copied;
    j->copied = 0;
    const int code = j->transfer(from, inside ? inside : to, &j->how);
    cli_account_quiet(&j->account);
    free(inside);
    if (code == WEIR_EINTERRUPTED)
        cli_interrupt_obey();
    return code ? cli_report_files(j->account.command, from, "weir copy copies its elements") : 0;
}

/* Rank 0. */
static int run_all(job *j, int arguments, char **argv)
{
    const char *to = argv[arguments];
    struct stat s;
    int status = 0;
    if (arguments > 2 && (stat(to, &s) || !S_ISDIR(s.st_mode) || cli_is_array(to))) {
        cli_tell("weir %s: %s: several arrays go into a folder, and this is none",
                 j->account.command, to);
        return CLI_USAGE;
    }
    if (!strcmp(to, "-")) {
        cli_tell("weir %s: an array needs a name, \"-\" is none", j->account.command);
        return CLI_USAGE;
    }
    for (int i = 1; i < arguments; i++) {
        if (cli_interrupt_waits())
            cli_interrupt_obey();
        const int one = run_one(j, argv[i], to);
        status = status ? status : one;
    }
    return status;
}

/* Folders by their whole names: the new array may be elsewhere. Returns how many there are. */
static int split(const char *text, char **disk)
{
    char here[PATH_MAX];
    int count = 0;
    char *copy = getcwd(here, sizeof here) ? strdup(text) : NULL, *rest = NULL;
    for (char *d = copy ? strtok_r(copy, ":", &rest) : NULL; d && count < MOST_DISKS;
         d = strtok_r(NULL, ":", &rest)) {
        disk[count] = *d == '/' ? strdup(d) : cli_join(here, d);
        count += disk[count] != NULL;
    }
    free(copy);
    return count;
}

static void print(const void *user, int json)
{
    if (json)
        printf(", \"copied\": %lld", (long long)*(const int64_t *)user);
}

/* What it took; nothing is copied where a name is enough. The library does not count it. */
static void tell(job *j)
{
    const int64_t copied = j->before + j->copied;
    weir_totals *t = &j->account.before;
    t->wanted_read -= copied;
    t->wanted_written -= copied;
    t->moved_read -= copied;
    t->moved_written -= copied;
    cli_account_end(&j->account, &(cli_outcome){.plan = "", .print = print, .user = &copied});
}

static int run(int argc, char **argv, const cli_option *table, transfer_function *how)
{
    int arguments, status = 0;
    options o = {0};
    char *disk[MOST_DISKS];
    job j = {.transfer = how};
    const char *problem = cli_options_parse(argc, argv, table, &o, &arguments);
    if (!problem && arguments < 2)
        problem = "takes an array, or several, and where to";
    if (!problem && o.disks && !(j.how.disks = split(o.disks, disk)))
        problem = "--disks: no folders";
    if (problem)
        return cli_usage(argv[0], problem);
    j.how.disk = (const char *const *)disk;
    j.how.overwrite = o.overwrite;
    j.how.progress = go_on;
    j.how.user = &j;
    cli_account_begin(&j.account, argv[0], &o.manner);
    cli_interrupt_hold(argv[0]);
    if (cli_rank() == 0)
        status = run_all(&j, arguments, argv);
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!status)
        tell(&j);
    cli_interrupt_release();
    for (int i = 0; i < j.how.disks; i++)
        free(disk[i]);
    return status;
}

static int run_copy(int argc, char **argv)
{
    return run(argc, argv, copy_table, weir_parts_copy);
}

static int run_move(int argc, char **argv)
{
    return run(argc, argv, move_table, weir_parts_move);
}

const cli_command cli_cp = {
    .name = "cp",
    .group = CLI_FILES,
    .arguments = "ARRAY... NEW",
    .help = "copies the files of an array, however many, as they are",
    .about =
        "Bytes, holes, permissions and times stay; blocks are shared where the file system can do "
        "that. The copy has its name once it is whole and on the disk; a copy that fails or is "
        "interrupted leaves nothing. If NEW is a folder and no array, the copy goes into it. Local "
        "arrays that a set has on other disks come into the copy's own folder. Rank 0 does the "
        "work.\n"
        "A dataset of a file, and another format: weir copy, weir convert.",
    .options = copy_table,
    .example = {"weir cp set copy", "weir cp a.npy b.npy --overwrite"},
    .run = run_copy};

const cli_command cli_mv = {
    .name = "mv",
    .group = CLI_FILES,
    .arguments = "ARRAY... NEW",
    .help = "renames an array, or moves it to another folder or file system",
    .about =
        "At once where both names are on one file system. Otherwise the array is copied, and "
        "removed when the copy is whole and on the disk. A set with local arrays on other disks is "
        "described anew where it would not find them any more; they get new names on their disks. "
        "A link is moved itself. Rank 0 does the work.",
    .options = move_table,
    .example = {"weir mv set renamed", "weir mv a.npy b.npy --overwrite"},
    .run = run_move};
