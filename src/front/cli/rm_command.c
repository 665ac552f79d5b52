/* weir rm: arrays removed, all their files and nothing else. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array_files.h"
#include "failure.h"
#include "launched.h"

typedef struct options {
    int force, whole;
    const char *disks;
} options;

static const cli_option table[] = {
    {"--force", 'f', NULL, offsetof(options, force), NULL,
     "does not ask, and does not mind what is not there, or not named", NULL},
    {"--disks", 0, "A:B", offsetof(options, disks), cli_parse_text,
     "folders outside the set's own from which its local arrays are removed, and of parts of "
     "striped files that older versions made",
     "those of WEIR_DISKS"},
    CLI_OPTION_WHOLE('r', offsetof(options, whole)),
    {0}};

/* What goes, and what stays. */
typedef struct tally {
    const char *array, *disks;
    int64_t files, bytes, foreign, claimed;
    char foreign_name[200], unnamed[200]; /* a disk that nobody has named, */
    char away[300];                       /* or that cannot be looked at, and why */
    int force;
    int failed; /* errno of what could not be removed */
    char failed_path[256];
} tally;

static void note(char *out, size_t size, const char *text)
{
    if (!*out)
        snprintf(out, size, "%s", text);
}

static bool is_folder(const char *path, const struct stat *folder)
{
    struct stat s;
    return !stat(path, &s) && s.st_dev == folder->st_dev && s.st_ino == folder->st_ino;
}

/* Whether a list has the folder that a part is in, by a name from here or from the array. A disk
 * that is away has only its name. */
static bool is_named(const tally *t, const char *list, const weir_part *part)
{
    const bool away = part->kind == WEIR_PART_AWAY;
    struct stat s = {0};
    bool found = false;
    char *copy = strdup(list && (away || !fstat(part->folder, &s)) ? list : ""), *rest = NULL;
    for (char *d = copy ? strtok_r(copy, ":", &rest) : NULL; d && !found;
         d = strtok_r(NULL, ":", &rest)) {
        char *inside = cli_join(t->array, d);
        found = away ? !strcmp(d, part->name) || !strcmp(d, part->path)
                     : is_folder(d, &s) || (inside && is_folder(inside, &s));
        free(inside);
    }
    free(copy);
    return found;
}

/* Its files may be there once more when those that lead to them are gone. */
static void check_away(tally *t, const weir_part *part)
{
    if (!*t->away && !(t->force && is_named(t, t->disks, part)))
        snprintf(t->away, sizeof t->away, "%.200s: %.80s", part->path,
                 strerror(weir_error_last()->errnum));
}

static bool stays(const tally *t, const weir_part *part)
{
    return part->owner == WEIR_PART_FOREIGN || part->owner == WEIR_PART_CLAIMED ||
           (part->owner == WEIR_PART_UNPROVEN && !is_named(t, t->disks, part));
}

static void check_disk(tally *t, const weir_part *part)
{
    char listed[1024] = "";
    weir_tunable_get(NULL, "disks", listed, sizeof listed);
    if (is_named(t, t->disks, part) || is_named(t, listed, part))
        return;
    const char *slash = strrchr(part->path, '/');
    if (!*t->unnamed && slash)
        snprintf(t->unnamed, sizeof t->unnamed, "%.*s", (int)(slash - part->path), part->path);
}

static int count(void *user, const weir_part *part)
{
    tally *t = user;
    struct stat s;
    if (part->kind == WEIR_PART_AWAY) {
        check_away(t, part);
        return 0;
    }
    if (part->owner == WEIR_PART_FOREIGN) {
        t->foreign++;
        note(t->foreign_name, sizeof t->foreign_name, part->name);
        return 0;
    }
    if (stays(t, part)) {
        t->claimed++;
        return 0;
    }
    if (part->owner == WEIR_PART_ELSEWHERE)
        check_disk(t, part);
    if (part->kind == WEIR_PART_FILE &&
        !fstatat(part->folder, part->name, &s, AT_SYMLINK_NOFOLLOW)) {
        t->files++;
        t->bytes += (int64_t)s.st_size;
    }
    return 0;
}

/* Folders that still hold something stay. */
static int drop(void *user, const weir_part *part)
{
    tally *t = user;
    const bool folder = part->kind == WEIR_PART_END;
    if (part->kind == WEIR_PART_FOLDER || stays(t, part))
        return 0;
    if (!unlinkat(part->folder, part->name, folder ? AT_REMOVEDIR : 0) || errno == ENOENT)
        return 0;
    if (!(folder && (errno == ENOTEMPTY || errno == EEXIST) && t->foreign) && !t->failed) {
        t->failed = errno;
        note(t->failed_path, sizeof t->failed_path, part->path);
    }
    return t->failed; /* what says that it is an array comes last, and stays then */
}

static int fail(const char *command, const char *array, const char *text)
{
    cli_tell("weir %s: %s: %s", command, array, text);
    return CLI_FAILED;
}

/* 1: go on; 0: it stays. */
static int is_wanted(const char *command, const options *o, tally *t, int *status)
{
    char size[CLI_SIZE];
    cli_size_text(t->bytes, false, size);
    if (!o->force && cli_can_ask())
        return cli_ask("remove %s, %lld file%s of %s%s%s?", t->array, (long long)t->files,
                       t->files == 1 ? "" : "s", size, *t->unnamed ? ", also in " : "", t->unnamed);
    if (!*t->unnamed)
        return 1;
    cli_tell("weir %s: %s: it has local arrays in %s; name that with --disks", command, t->array,
             t->unnamed);
    *status = CLI_FAILED;
    return 0;
}

static int remove_link(const char *command, const options *o, const char *array)
{
    if (!o->force && cli_can_ask() && !cli_ask("remove the link %s?", array))
        return 0;
    return unlink(array) ? fail(command, array, strerror(errno)) : 0;
}

/* A slash behind a link would be followed. */
static int remove_one(const char *command, const options *o, char *array)
{
    struct stat s;
    if (!o->force && cli_launcher_has_terminal(STDIN_FILENO))
        return fail(command, array, "nobody can be asked through a launcher; --force removes it");
    for (size_t end = strlen(array); end > 1 && array[end - 1] == '/'; end--)
        array[end - 1] = 0;
    int status = 0;
    tally t = {.array = array, .disks = o->disks, .force = o->force};
    if (!lstat(array, &s) && S_ISLNK(s.st_mode))
        return cli_is_array(array)
                   ? remove_link(command, o, array)
                   : fail(command, array, "a link that leads to no array: left alone");
    const int code = weir_array_parts(array, count, &t);
    if (code == WEIR_ENOENT && o->force)
        return 0;
    if (code)
        return cli_report_files(command, array, "name the file");
    if (*t.away) {
        cli_tell("weir %s: %s: on %s: left alone", command, array, t.away);
        return CLI_FAILED;
    }
    if (!t.files)
        return fail(command, array, "the file has more than this array: left alone");
    if (!is_wanted(command, o, &t, &status))
        return status;
    if (weir_array_parts(array, drop, &t) < 0)
        return cli_report(command);
    if (t.failed)
        return fail(command, t.failed_path, strerror(t.failed));
    if (t.foreign)
        cli_tell("weir %s: %s: left %lld that %s not the array's: %s%s", command, array,
                 (long long)t.foreign, t.foreign == 1 ? "is" : "are", t.foreign_name,
                 t.foreign > 1 ? ", ..." : "");
    if (t.claimed)
        cli_tell("weir %s: %s: left %lld files on other disks that may be another's", command,
                 array, (long long)t.claimed);
    return 0;
}

static int run(int argc, char **argv)
{
    int arguments, status = 0;
    options o = {0};
    const char *problem = cli_options_parse(argc, argv, table, &o, &arguments);
    if (problem || (!arguments && !o.force))
        return cli_usage(argv[0], problem ? problem : "takes arrays");
    for (int i = 1; i <= arguments && cli_rank() == 0; i++) {
        const int one = remove_one(argv[0], &o, argv[i]);
        status = status ? status : one;
    }
    return cli_lead(argv[0], status);
}

const cli_command cli_rm = {
    .name = "rm",
    .group = CLI_FILES,
    .arguments = "ARRAY...",
    .help = "removes arrays: all their files, and nothing else",
    .about =
        "Asks on a terminal, and needs --force where a launcher is between. What lies in an "
        "array's folder and is not its own stays, and a line "
        "says so; of a link only the link goes. Local arrays on disks outside a set's folder go if "
        "they are provably the set's, and if --disks, WEIR_DISKS or the answer names the disk; "
        "of a copied description of a striped file, only that. If a disk is away the array stays, "
        "unless --force and --disks name it, as the description does. "
        "Rank 0 does the work.",
    .options = table,
    .example = {"weir rm set x.zarr", "weir rm -f a.npy not-there.npy"},
    .run = run};
